"""Series without rows, which only the names of folders tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from closecall.tables.sources.paths import DataFile
    from closecall.tables.sources.unit import Key, Unit


@dataclass(frozen=True, eq=False)
class VacantUnit:
    """Keys of series that have no rows, so that they are accounted for all the same."""

    keys: tuple[Key, ...]
    schema: pa.Schema
    key: str = "series without rows"
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each key, with a table that has no rows."""
        for key in self.keys:
            yield key, self.schema.empty_table()


def vacant_units(
    vacant: Iterable[DataFile], filled: Iterable[DataFile], schema: pa.Schema, by: tuple[str, ...]
) -> list[Unit]:
    """Make a unit of the series that only files without rows name, if there are any.

    Parameters
    ----------
    vacant, filled
        Files without rows, and those with.
    schema
        The columns that are read.
    by
        The key columns; where folders do not name all of them, nobody knows the series.
    """
    present = {file.key(by) for file in filled}
    keys = dict.fromkeys(key for file in vacant if (key := file.key(by)) not in present)
    known = tuple(key for key in keys if key is not None)
    return [VacantUnit(known, schema)] if known else []

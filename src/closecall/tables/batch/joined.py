"""One series that a source gives in several parts, joined where it must be seen as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from closecall.tables.sources.unit import Key, Unit


@dataclass(frozen=True, slots=True)
class Joined:
    """All parts of one series, as one unit with one group; memory holds the whole series."""

    parts: tuple[Unit, ...]

    @property
    def key(self) -> str:
        """The key of the first part."""
        return self.parts[0].key

    @property
    def rows(self) -> int:
        """About how many rows there are in all."""
        return sum(part.rows for part in self.parts)

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield the whole series."""
        import pyarrow as pa

        tables = [table for part in self.parts for _, table in part.groups()]
        yield (), pa.concat_tables(tables, promote_options="permissive")

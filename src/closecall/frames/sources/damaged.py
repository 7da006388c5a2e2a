"""Files that cannot be read, where it is known which series they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from closecall.errors import InputError
from closecall.frames.sources.paths import place_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.frames.sources.paths import DataFile
    from closecall.frames.sources.unit import Key


@dataclass(frozen=True)
class DamagedUnit:
    """A file that could not be opened; whoever evaluates it is told why."""

    key: str
    reason: str
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Refuse."""
        raise InputError(self.reason)


def damaged_units(damaged: Mapping[DataFile, str], files: Sequence[DataFile]) -> list[DamagedUnit]:
    """Make a unit of each damaged one of the files."""
    place = place_in(files)
    return [DamagedUnit(f"all of {place(file)}", reason) for file, reason in damaged.items()]

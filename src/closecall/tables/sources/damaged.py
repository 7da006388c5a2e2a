"""Files that cannot be read, where it is known which series they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from closecall.errors import InputError
from closecall.tables.sources.paths import place_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.sources.paths import DataFile
    from closecall.tables.sources.unit import Key


@dataclass(frozen=True)
class DamagedUnit:
    """A file that could not be opened; whoever evaluates it is told why."""

    key: str
    reason: str
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Refuse."""
        raise InputError(self.reason)


@dataclass(frozen=True)
class Damage:
    """The damaged ones of some files, and so which series are lost."""

    by: tuple[str, ...]
    reasons: dict[DataFile, str] = field(default_factory=dict)

    def note(self, file: DataFile, reason: str) -> None:
        """Note a file; refuse it where other files may hold the rest of its series."""
        if file.key(self.by) is None:
            raise InputError(reason)
        self.reasons[file] = reason

    def spared(self, files: Iterable[DataFile]) -> set[DataFile]:
        """Give the files that can be used: no file of their series is damaged."""
        lost = {file.key(self.by) for file in self.reasons}
        return {file for file in files if file.key(self.by) not in lost}

    def refusal(self) -> InputError:
        """Say what is wrong with the first file, where nothing else is left."""
        return InputError(next(iter(self.reasons.values())))

    def units(self, files: Sequence[DataFile]) -> list[DamagedUnit]:
        """Make a unit of each of them."""
        place = place_in(files)
        return [DamagedUnit(f"all of {place(file)}", why) for file, why in self.reasons.items()]

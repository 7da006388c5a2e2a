"""A part of the data that one worker evaluates: whole series, and about how many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

Key = tuple[Any, ...]


class Unit(Protocol):
    """Whole series that are evaluated together, in this process or in another.

    A unit can be pickled. Of a file it holds the path and which row groups to read, never data,
    so it works on every machine that sees the file; of a table in memory it holds the rows.
    """

    @property
    def key(self) -> str:
        """Stable text that tells the unit from the others of its source."""

    @property
    def rows(self) -> int:
        """About how many rows the unit has."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series: its values of the `by` columns, and its rows in their order.

        Without `by` columns there is one group, with the key ``()``: the whole unit. A giant
        series has several units then, in time order.
        """


@dataclass(frozen=True)
class UnitSize:
    """How many values (rows times columns that are read) are put in a unit.

    Examples
    --------
    >>> UnitSize().rows(columns=5)
    200000
    """

    smallest: int = 1_000_000
    """A unit ends at the first border between series after this many."""
    largest: int = 4_000_000
    """After this many, a unit also ends where a series crosses from one row group to the next."""
    held: int = 16_000_000
    """So many are kept in memory where that is simpler than a temporary file."""
    readable: int = 64_000_000
    """A row group of more is cut anew, into a temporary file."""

    def rows(self, *, columns: int) -> int:
        """Return how many rows of so many columns the smallest unit has."""
        return max(1, self.smallest // max(1, columns))

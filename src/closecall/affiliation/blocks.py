"""Rows that only ever grow at their end, kept in few arrays that streams can share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Arrays of rows, one after the other; what is built on an array never changes it.

    An array is longer than all that follow it, so there are few, and a row is copied only as often
    as the number of rows has doubled since it came.
    """

    arrays: tuple[NDArray[Any], ...] = ()

    @classmethod
    def of(cls, *arrays: NDArray[Any]) -> Blocks:
        """Put arrays one after the other."""
        kept: list[NDArray[Any]] = []
        for array in arrays:
            if len(array):
                kept.append(array)
            while len(kept) > 1 and len(kept[-2]) <= len(kept[-1]):
                kept[-2:] = [np.concatenate(kept[-2:])]
        return cls(tuple(kept))

    def followed_by(self, other: Blocks) -> Blocks:
        """Put the rows of another after these."""
        return Blocks.of(*self.arrays, *other.arrays) if other.arrays else self

    def without_first(self) -> Blocks:
        """Leave out the first row."""
        return Blocks.of(self.arrays[0][1:], *self.arrays[1:])

    def without_last(self) -> Blocks:
        """Leave out the last row."""
        return Blocks.of(*self.arrays[:-1], self.arrays[-1][:-1])

    def whole(self) -> NDArray[Any]:
        """Give all rows as one array; there must be one."""
        return self.arrays[0] if len(self.arrays) == 1 else np.concatenate(self.arrays)

    def first(self, count: int) -> NDArray[Any]:
        """Give up to that many of the first rows; there must be one."""
        parts: list[NDArray[Any]] = []
        for array in self.arrays:
            parts.append(array[:count])
            count -= len(parts[-1])
            if not count:
                break
        return np.concatenate(parts)

    def last(self, count: int) -> NDArray[Any]:
        """Give up to that many of the last rows; there must be one."""
        parts: list[NDArray[Any]] = []
        for array in reversed(self.arrays):
            parts.append(array[-count:])
            count -= len(parts[-1])
            if not count:
                break
        return np.concatenate(parts[::-1])

    def __len__(self) -> int:
        return sum(map(len, self.arrays))

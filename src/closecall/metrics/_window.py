"""Compiled matching; plain arrays in and out, nothing is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.compiled import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def match(first: NDArray[np.int64], after: NDArray[np.int64]) -> int:
    """Pair each range [first, after) with an index of its own; give how many can be.

    Both ends must not fall from one range to the next. Then the earliest index left is always a
    best choice, since whatever could still use it could use a later one instead.
    """
    matched = 0
    free = 0
    for index in range(first.size):
        free = max(free, first[index])
        if free < after[index]:
            matched += 1
            free += 1
    return matched

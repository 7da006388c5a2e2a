"""Compiled passes over samples and their scores; plain arrays in and out, nothing is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

_BLOCK = 512  # samples, few enough for the fastest memory


@kernel
def zero_between(values: Ticks, first: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Set the values of ranges to zero; a range may be empty."""
    for k in range(len(first)):
        values[first[k] : max(first[k], after[k])] = 0


@kernel
def add_in_order(
    order: NDArray[np.int64],
    scores: NDArray[Any],
    lengths: Ticks,
    levels: NDArray[Any],
    sums: NDArray[np.float64],
    total: Tick,
) -> None:
    """Put the scores in order, each with the length of all samples down to it, from `total` on."""
    for i in range(len(order)):
        total += lengths[order[i]]
        levels[i], sums[i] = scores[order[i]], total


@kernel
def keep_last(levels: NDArray[Any], sums: NDArray[np.float64]) -> int:
    """Keep the last of every run of equal levels, in place; say how many there are."""
    count = 1
    while count < len(levels) and levels[count] != levels[count - 1]:
        count += 1
    for i in range(count, len(levels)):
        if levels[i] != levels[count - 1]:
            levels[count] = levels[i]
            count += 1
        sums[count - 1] = sums[i]
    return count


@kernel(error_model="numpy")
def divide_found(
    found: NDArray[np.float64],
    counts: NDArray[np.int64],
    false: NDArray[np.float64],
    share: float,
    rest: float,
    values: NDArray[np.float64],
) -> None:
    """Divide each found time, which so many false times share, by its part of both and the rest."""
    first = 0
    for j in range(len(found)):
        base = share * found[j] + rest
        for i in range(first, first + counts[j]):
            values[i] = min(found[j] / (share * false[i] + base), 1.0)
        first += counts[j]


@kernel
def add_at_levels(scores: NDArray[Any], lengths: Ticks, levels: NDArray[Any], sums: Ticks) -> None:
    """Add the length of each sample to the sum of the highest level that its score reaches.

    Levels are ascending. A block of samples is searched for in steps, all samples at each step:
    one after the other, a search would wait at each of its steps for a branch nobody can foresee.
    """
    reached = np.empty(_BLOCK, dtype=np.int64)
    chosen = np.empty(_BLOCK, dtype=np.int64)
    for start in range(0, len(scores), _BLOCK):
        count = 0
        for k in range(start, min(start + _BLOCK, len(scores))):
            chosen[count] = k  # the next one replaces it if it adds nothing
            count += (lengths[k] > 0) & (scores[k] >= levels[0])
        reached[:count] = 0
        size = len(levels)
        while size > 1:
            half = size // 2
            for i in range(count):
                level = reached[i] + half
                reached[i] = level if levels[level] <= scores[chosen[i]] else reached[i]
            size -= half
        for i in range(count):
            sums[reached[i]] += lengths[chosen[i]]

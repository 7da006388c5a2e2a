"""How intervals of one set overlap those of another: the primitive that the families share.

Everything is found with binary searches in sorted, disjoint intervals, so it costs
O((n + m) log(n + m)) and nothing is quadratic. A point overlaps the interval that holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.events import Intervals


def covered_before(intervals: Intervals, times: Ticks) -> Ticks:
    """Give the length of the intervals' part before each time."""
    lengths = intervals.stops - intervals.starts
    before = np.concatenate((np.zeros(1, dtype=lengths.dtype), np.cumsum(lengths)))
    index = np.searchsorted(intervals.starts, times, side="right")
    last = np.maximum(index - 1, 0)
    if len(intervals) == 0:
        return np.zeros_like(times)
    beyond = np.where(index > 0, np.maximum(intervals.stops[last] - times, 0), 0)
    return before[index] - beyond


def overlap_lengths(of: Intervals, by: Intervals) -> Ticks:
    """Give how much of each interval the other set covers."""
    return covered_before(by, of.stops) - covered_before(by, of.starts)


def overlapping(of: Intervals, by: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give, for each interval, the range [first, after) of those it overlaps in the other set."""
    points = of.starts == of.stops
    after = np.where(
        points,
        np.searchsorted(by.starts, of.starts, side="right"),
        np.searchsorted(by.starts, of.stops, side="left"),
    )
    first = np.searchsorted(by.stops, of.starts, side="right")
    # A point of the other set that lies on the start is inside, though it stops there.
    at_start = np.searchsorted(by.starts, of.starts, side="left")
    return np.minimum(np.minimum(first, at_start), after), after


def overlap_counts(of: Intervals, by: Intervals) -> NDArray[np.int64]:
    """Give how many intervals of the other set each interval overlaps."""
    first, after = overlapping(of, by)
    return after - first

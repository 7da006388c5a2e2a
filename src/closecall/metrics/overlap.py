"""How intervals of one set overlap those of another: what the families share.

Everything is found with binary searches in sorted, disjoint intervals, so it costs
O((n + m) log(n + m)) and nothing is quadratic. A point overlaps the interval that holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closecall.metrics.result import ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.events import Intervals


def lengths(intervals: Intervals) -> Ticks:
    """Return how long each interval is."""
    return intervals.stops - intervals.starts


def total_length(intervals: Intervals) -> float:
    """Return how long all intervals are together."""
    return float(lengths(intervals).sum())


def covered_before(intervals: Intervals, times: Ticks) -> Ticks:
    """Return the length of the intervals' part before each time."""
    if len(intervals) == 0:
        return np.zeros_like(times)
    durations = lengths(intervals)
    before = np.concatenate((np.zeros(1, dtype=durations.dtype), np.cumsum(durations)))
    index = np.searchsorted(intervals.starts, times, side="right")
    last = np.maximum(index - 1, 0)
    return before[index] - np.where(index > 0, np.maximum(intervals.stops[last] - times, 0), 0)


def overlap_lengths(of: Intervals, by: Intervals) -> Ticks:
    """Return how much of each interval the other set covers."""
    return covered_before(by, of.stops) - covered_before(by, of.starts)


def overlapping(of: Intervals, by: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each interval, the range [first, after) of those it overlaps in the other set."""
    after = np.where(
        of.starts == of.stops,
        np.searchsorted(by.starts, of.starts, side="right"),
        np.searchsorted(by.starts, of.stops, side="left"),
    )
    first = np.searchsorted(by.stops, of.starts, side="right")
    # A point of the other set that lies on the start is inside, though it stops there.
    at_start = np.searchsorted(by.starts, of.starts, side="left")
    return np.minimum(np.minimum(first, at_start), after), after


def overlap_counts(of: Intervals, by: Intervals) -> NDArray[np.int64]:
    """Return how many intervals of the other set each interval overlaps."""
    first, after = overlapping(of, by)
    return after - first


def found_share(of: Intervals, by: Intervals) -> float:
    """Return the share of intervals that overlap one of the other set."""
    return ratio(float((overlap_counts(of, by) > 0).sum()), len(of))


@dataclass(frozen=True, slots=True)
class CommonParts:
    """The parts that two sets of disjoint intervals share, in the order of time.

    There are fewer parts than intervals, since every interval of either set ends at most one.
    """

    first: NDArray[np.int64]
    """Index of the interval of the first set."""
    second: NDArray[np.int64]
    """Index of the interval of the second set."""
    starts: Ticks
    stops: Ticks

    @property
    def lengths(self) -> NDArray[np.float64]:
        """How long each part is."""
        return (self.stops - self.starts).astype(np.float64)


def common_parts(first: Intervals, second: Intervals) -> CommonParts:
    """Cut the intervals of two sets with each other; a point meets the interval that holds it."""
    begin, after = overlapping(first, second)
    counts = after - begin
    owner = np.repeat(np.arange(counts.size), counts)
    partner = count_up(begin, counts)
    starts = np.maximum(first.starts[owner], second.starts[partner])
    stops = np.minimum(first.stops[owner], second.stops[partner])
    return CommonParts(owner, partner, starts, stops)


def count_up(starts: Ticks, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count up from each start, that many steps, one after the other.

    Examples
    --------
    >>> count_up(np.array([5, 20]), np.array([3, 2]))
    array([ 5,  6,  7, 20, 21])
    """
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())

"""Compiled pass behind VUS: every threshold of every window; nothing is checked here.

For one window, a sample within half a window of a true event has a label between 0.7 and 1, so
with the samples in the order of their scores everything at a threshold is a running sum. Samples
that no window reaches leave the true positive rate as it is; what happens between two others is
known from how many samples score higher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Places = NDArray[np.int32]
    Floats = NDArray[np.float64]

# What is known of a group of equal scores: how many samples score higher, how many score at
# least as high, and how many of the latter are true.
ABOVE, REACH, FOUND = range(3)


@kernel
def widen(places: Places, starts: Counts, stops: Counts, half: int, best: Places) -> None:
    """Keep the place of the best sample within `half` of each event; half grows by one a call."""
    for event in range(len(starts)):
        left, right = starts[event] - half, stops[event] - 1 + half
        if left >= 0:
            best[event] = min(best[event], places[left])
        if right < len(places):
            best[event] = min(best[event], places[right])


@kernel
def open_segments(
    starts: Counts, stops: Counts, half: int, best: Places, opens: NDArray[np.uint8]
) -> int:
    """Mark the best sample of each segment, events joined where buffers overlap; count them."""
    opens[:] = 0
    segments = 0
    place = best[0]
    for event in range(len(starts)):
        place = min(place, best[event])
        if event + 1 < len(starts):
            if stops[event] - 1 + half >= starts[event + 1] - half:
                continue
            opens[place] = 1
            place = best[event + 1]
        else:
            opens[place] = 1
        segments += 1
    return segments


@kernel
def areas(
    distances: Places,
    opens: NDArray[np.uint8],
    bounds: Counts,
    groups: Floats,
    roots: Floats,
    half: int,
    segments: int,
    true: float,
    length: float,
) -> tuple[float, float]:
    """Return the areas under both curves of one window."""
    # There is no false positive rate without a normal sample; the caller knows.
    normal = max(length - true, 1.0)
    hits, existence, found, buffer, hit, share = 0, 0.0, 0.0, 0.0, 0.0, 1.0 / normal
    roc = average = rate = false_rate = 0.0
    for group in range(len(groups)):
        gain, opened = 0.0, 0
        for place in range(bounds[group], bounds[group + 1]):
            gain += 1.0 if distances[place, 1] <= half else roots[distances[place, 0]]
            opened += opens[place]
        if gain == 0.0 and groups[group, FOUND] == found:
            continue
        if opened:
            hits += opened
            existence = hits / segments
        # Higher scores of samples without a label only moved the curve to the right.
        false_before = (groups[group, ABOVE] - hit) * share
        found, buffer = groups[group, FOUND], buffer + gain
        hit = found + buffer
        share = 1.0 / (normal - 0.5 * buffer)
        new_rate = min(hit / (true + 0.5 * buffer), 1.0) * existence
        new_false = (groups[group, REACH] - hit) * share
        right = (false_before - false_rate) * rate
        roc += right + 0.5 * (new_false - false_before) * (new_rate + rate)
        average += (new_rate - rate) * hit / groups[group, REACH]
        rate, false_rate = new_rate, new_false
    false_before = (length - hit) * share
    roc += (false_before - false_rate) * rate + 0.5 * (1.0 - false_before) * (1.0 + rate)
    return min(roc, 1.0), min(average, 1.0)


@kernel
def best_places(starts: Counts, stops: Counts, places: Places, best: Places) -> None:
    """Keep the place of the best sample of each event."""
    for event in range(len(starts)):
        for sample in range(starts[event], stops[event]):
            best[event] = min(best[event], places[sample])


@kernel
def volumes(
    starts: Counts,
    stops: Counts,
    places: Places,
    distances: Places,
    bounds: Counts,
    groups: Floats,
    best: Places,
    opens: NDArray[np.uint8],
    roots: Floats,
    segments: int,
    first: int,
    roc: Floats,
    average: Floats,
) -> int:
    """Fill in the areas of some windows from the first on, and return the number of segments.

    `best`, `opens`, `roots` and `segments` are what the windows before have left.
    """
    true, length = np.float64((stops - starts).sum()), np.float64(len(places))
    reach = len(roots) - 2  # the last entry stands for samples that no window reaches
    for window in range(first, first + len(roc)):
        half = min(window // 2, reach)
        if window % 2 == 0 and window // 2 <= reach:
            widen(places, starts, stops, half, best)
            segments = open_segments(starts, stops, half, best, opens)
        for distance in range(1, half + 1):
            roots[distance] = np.sqrt(1.0 - distance / window)
        roc[window - first], average[window - first] = areas(
            distances, opens, bounds, groups, roots, half, segments, true, length
        )
    return segments

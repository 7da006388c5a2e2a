"""Compiled passes behind VUS and PATE: every threshold in one sweep; nothing is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation._curve_kernels import add
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Places = NDArray[np.int32]
    Floats = NDArray[np.float64]

# VUS. For one window, a sample within half a window of a true event has a label between 0.7 and 1,
# so with the samples in the order of their scores everything at a threshold is a running sum.
# Samples that no window reaches leave the true positive rate as it is; what happens between two
# others is known from how many samples score higher.

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


def volume_elements(*arguments: Any) -> int:
    """Count what `volumes` goes through: every window passes over the samples near events."""
    _, _, _, distances, *_, roc, _ = arguments
    return len(distances) * len(roc)


@kernel(elements=volume_elements)
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


# PATE. As the threshold falls, samples enter. A sample in a buffer adds a constant to the true
# positives, before an event only once the event itself is found. What a partly found event misses
# depends on the length of its first found run, which can also shrink; two Fenwick trees over the
# event's samples give the count and the sum of the positions of what is missed beyond it.

# Buffers in use: none, the one before events, the one behind them, both.
CURVES = 4
# What is known of a sample: its weight behind an event; before one, without and with the former.
BEHIND, BEFORE, BEFORE_BESIDE = range(3)
WEIGHTS = 3
# A recall that falls by less than this share has only been rounded.
_ROUNDING = 1e-12


@kernel
def enter(trees: Counts, base: int, length: int, offset: int) -> None:
    """Note in the trees of one event that the sample at this offset is found."""
    node = offset + 1
    while node <= length:
        trees[base + node - 1, 0] += 1
        trees[base + node - 1, 1] += offset
        node += node & -node


@kernel
def found_among(trees: Counts, base: int, count: int) -> tuple[int, int]:
    """Return how many of an event's first samples are found, and the sum of their offsets."""
    number, offsets, node = 0, 0, count
    while node > 0:
        number += trees[base + node - 1, 0]
        offsets += trees[base + node - 1, 1]
        node -= node & -node
    return number, offsets


@kernel
def join_runs(other_end: Counts, base: int, length: int, offset: int) -> None:
    """Add a sample to the runs of an event; the ends of a run know each other, others are -1."""
    left, right = offset, offset
    if offset > 0 and other_end[base + offset - 1] >= 0:
        left = other_end[base + offset - 1]
    if offset + 1 < length and other_end[base + offset + 1] >= 0:
        right = other_end[base + offset + 1]
    other_end[base + offset] = offset
    other_end[base + left] = right
    other_end[base + right] = left


@kernel
def missed(trees: Counts, base: int, length: int, run: int) -> float:
    """Weigh what a found event misses, when its first found run has that many samples."""
    number, offsets = found_among(trees, base, length)
    lost = np.float64(length - number)
    if lost == 0.0 or run >= length - 1:
        return lost
    number_near, offsets_near = found_among(trees, base, run + 1)
    beyond = (length - 1 - run) - (number - number_near)
    sum_beyond = length * (length - 1) // 2 - run * (run + 1) // 2 - (offsets - offsets_near)
    scale = np.float64(length) * np.float64(length - 1)
    return lost - np.float64(run + 1) * np.float64(2 * sum_beyond - run * beyond) / scale


@kernel
def draw(
    found: int, sums: Floats, lost: float, above: int, reach: int, before: Floats, curves: Floats
) -> None:
    """Lead each curve on to a new threshold, unless its recall falls.

    A curve: its area, the recall and precision of its last point, its highest recall, and
    whether the last threshold was a point of it.
    """
    both = sums[BEHIND] + sums[BEFORE_BESIDE]
    for index, buffer in enumerate((0.0, sums[BEFORE], sums[BEHIND], both)):
        curve = curves[index]
        if curve[4] == 1.0 and above > 0:
            # Samples without a weight entered since, and only lowered the precision.
            curve[2] = before[index] / above
        hits = found + buffer
        recall, precision = hits / (hits + lost), hits / reach
        kept = recall >= curve[3] * (1.0 - _ROUNDING)
        if kept:
            curve[0] += 0.5 * (recall - curve[1]) * (precision + curve[2])
            curve[1], curve[2], curve[3] = recall, precision, max(recall, curve[3])
        curve[4] = 1.0 if kept else 0.0
        before[index] = hits


@kernel
def find(
    event: int,
    offset: int,
    bases: Counts,
    lengths: Counts,
    first: Counts,
    trees: Counts,
    other_end: Counts,
) -> float:
    """Let a true sample enter, and weigh what its event still misses."""
    base, length = bases[event], lengths[event]
    first[event] = min(first[event], offset)
    enter(trees, base, length, offset)
    join_runs(other_end, base, length, offset)
    run = other_end[base + first[event]] - first[event] + 1
    return missed(trees, base, length, run)


@kernel
def sweep(
    bounds: Counts,
    above: Counts,
    reach: Counts,
    events: Counts,
    offsets: Counts,
    weights: Floats,
    lengths: Counts,
) -> Floats:
    """Let samples enter from the highest score down; return the area under each curve.

    An offset of -1 marks a sample that is not true; its event is then the one that follows.
    """
    bases, total = np.cumsum(lengths) - lengths, lengths.sum()
    trees, other_end = np.zeros((total, 2), dtype=np.int64), np.full(total, -1, dtype=np.int64)
    # An event whose first found sample lies at its stop is not found yet.
    first, losses = lengths.copy(), lengths.astype(np.float64)
    waiting, sums = np.zeros((len(lengths), WEIGHTS)), np.zeros(WEIGHTS)
    lost, rest = float(total), 0.0
    found: Any = np.int64(0)  # typed: kernels are compiled once more for a bare constant
    before, curves = np.zeros(CURVES), np.zeros((CURVES, 5))
    curves[:, 2], curves[:, 4] = 1.0, 1.0
    for group in range(len(above)):
        for place in range(bounds[group], bounds[group + 1]):
            event, offset = events[place], offsets[place]
            unseen = first[event] == lengths[event]
            if offset < 0:
                sums[BEHIND] += weights[place, BEHIND]
                held = waiting[event] if unseen else sums
                held[BEFORE:] += weights[place, BEFORE:]
                continue
            if unseen:
                sums += waiting[event]
            found += 1
            lost, rest = add(lost, rest, -losses[event])
            losses[event] = find(event, offset, bases, lengths, first, trees, other_end)
            lost, rest = add(lost, rest, losses[event])
        draw(found, sums, lost + rest, above[group], reach[group], before, curves)
    return curves[:, 0]

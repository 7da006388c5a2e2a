"""Compiled passes behind the metrics; plain arrays in and out, nothing is checked here."""

from __future__ import annotations

from math import expm1, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation._kernels import outside, point_losses
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

# The curve of point adjustment: samples and their scores.

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
    """Keep the last of every run of equal levels, in place; return how many there are."""
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


# Distances from one set of intervals to another. The distance of a moment to a set is 0 inside the
# set's intervals; in the gap between two of them it rises from the left one to halfway, and falls
# to the right one after that. So each part of the first set that lies in one gap has at most two
# straight pieces, whose largest value and whose integral are closed forms. Both sets are sorted and
# walked along once. Times only enter as differences, which are exact for integers.


@kernel
def straight_integral(nearer: float, farther: float, power: float) -> float:
    """Integrate a power of a distance that goes evenly from one value to the other."""
    if nearer >= farther:
        return 0.0
    if power == 1:
        return (nearer + farther) / 2 * (farther - nearer)
    whole: float = farther ** (power + 1) / (power + 1)
    if nearer <= 0:
        return whole
    # farther^q - nearer^q, without taking nearly equal powers from each other.
    return whole * -expm1((power + 1) * log1p((nearer - farther) / farther))


@kernel
def gap_part(
    length: float, left: float, right: float, power: float, unit: float
) -> tuple[float, float]:
    """Return the largest distance along a part of a gap, and the integral of its power.

    The part starts at these distances from the ends of the gap; inf stands for no such end.
    """
    rising = length
    if right < np.inf:
        rising = min(length, max(0.0, (right - left) / 2)) if left < np.inf else 0.0
    falling = length - rising
    total, largest = 0.0, 0.0
    if rising > 0:
        largest = left + rising
        total += straight_integral(left / unit, largest / unit, power)
    if falling > 0:
        last = right - length
        peak = last + falling
        largest = max(largest, peak)
        total += straight_integral(last / unit, peak / unit, power)
    return largest, total


@kernel
def ends_of_gap(time: Tick, starts: Ticks, stops: Ticks, after: int) -> tuple[float, float]:
    """Return the distances of a moment to the interval that starts before it and the next one."""
    left, right = np.inf, np.inf
    if after > 0:
        left = np.float64(max(time - stops[after - 1], 0))
    if after < len(starts):
        right = np.float64(starts[after] - time)
    return left, right


@kernel
def along(
    start: Tick,
    stop: Tick,
    to_starts: Ticks,
    to_stops: Ticks,
    after: int,
    power: float,
    unit: float,
) -> tuple[float, float, int]:
    """Walk along one interval: largest distance, integral of its power, where the walk has come."""
    largest, total, now = 0.0, 0.0, start
    while now < stop:
        while after < len(to_starts) and to_starts[after] <= now:
            after += 1
        if after > 0 and now < to_stops[after - 1]:
            now = min(stop, to_stops[after - 1])
            continue
        end = stop
        if after < len(to_starts):
            end = min(end, to_starts[after])
        left, right = ends_of_gap(now, to_starts, to_stops, after)
        farthest, integral = gap_part(np.float64(end - now), left, right, power, unit)
        largest = max(largest, farthest)
        total += integral
        now = end
    return largest, total, after


@kernel
def directed(
    starts: Ticks, stops: Ticks, to_starts: Ticks, to_stops: Ticks, power: float, unit: float
) -> tuple[float, float]:
    """Return the largest distance, and the mean of a power of the distances in that unit.

    The mean is over the time of the intervals, or over points where there are only points.
    Neither set may be empty.
    """
    largest, time_sum, time, point_sum = 0.0, 0.0, 0.0, 0.0
    after: Any = np.int64(0)  # typed: kernels are compiled once more for a bare constant
    for k in range(len(starts)):
        start, stop = starts[k], stops[k]
        if start < stop:
            farthest, total, after = along(start, stop, to_starts, to_stops, after, power, unit)
            time_sum += total
            time += np.float64(stop - start) / unit
        else:
            while after < len(to_starts) and to_starts[after] <= start:
                after += 1
            farthest = min(ends_of_gap(start, to_starts, to_stops, after))
            point_sum += (farthest / unit) ** power
        largest = max(largest, farthest)
    return largest, time_sum / time if time > 0 else point_sum / len(starts)


# Events and predictions paired, or taken from each other.


@kernel
def match(first: NDArray[np.int64], after: NDArray[np.int64]) -> int:
    """Pair each range [first, after) with an index of its own; return how many can be.

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


@kernel
def matched_share(
    node: int,
    length: float,
    begin: NDArray[np.int64],
    partner: NDArray[np.int64],
    removed: NDArray[np.bool_],
    part_lengths: NDArray[np.float64],
) -> float:
    """Return the share of a node that partners still match; -1 if there are none."""
    total, count = 0.0, 0
    for part in range(begin[node], begin[node + 1]):
        if not removed[partner[part]]:
            total += part_lengths[part]
            count += 1
    if count == 0:
        return -1.0
    # What meets a point covers all of it.
    return total / length if length > 0 else 1.0


@kernel
def prune(
    lengths: NDArray[np.float64],
    begin: NDArray[np.int64],
    order: NDArray[np.int64],
    partner: NDArray[np.int64],
    part_lengths: NDArray[np.float64],
    thresholds: NDArray[np.float64],
) -> Any:
    """Mark which nodes are removed: events and predictions, numbered one after the other.

    A node counts as long as enough of it is matched by partners that count, so that one removal can
    cause the next; what is left does not depend on the order. Only the first and the last part of
    an event can belong to a prediction that is removed before the event is, since the others lie
    inside it whole; so each is looked at three times at most.

    Every part is listed twice, once under each of its nodes: those of node k are
    `begin[k]` to `begin[k + 1]`. `order` holds the nodes as they are to be looked at first.
    """
    removed = np.zeros(lengths.size, dtype=np.bool_)
    waiting = np.empty(order.size + partner.size, dtype=np.int64)
    waiting[: order.size] = order
    last = order.size
    while last > 0:
        last -= 1
        node = waiting[last]
        if removed[node]:
            continue
        share = matched_share(node, lengths[node], begin, partner, removed, part_lengths)
        if 0 <= share < thresholds[node]:
            removed[node] = True
            for part in range(begin[node], begin[node + 1]):
                if not removed[partner[part]]:
                    waiting[last] = partner[part]
                    last += 1
    return removed


# Random predictions and their affiliation precision, which needs neither their order nor where they
# gather: each is scored on its own. Legend as in `closecall.affiliation._kernels`: zone [A, B), its
# event [a, b), m the shorter distance from the event to a border of its zone, in half ticks.


@kernel
def take_distinct(
    drawn: NDArray[np.int64], marks: NDArray[np.uint64], places: NDArray[np.int64], count: int
) -> int:
    """Take places that were not taken before, in the order drawn, until there are enough.

    The first `count` of `places` are taken already, and have their bits set in `marks`.
    """
    for place in drawn:
        if count == len(places):
            break
        word, bit = place >> 6, np.uint64(1) << np.uint64(place & 63)
        places[count] = place  # the next one replaces it if it is not new
        count += (marks[word] & bit) == 0
        marks[word] |= bit
    return count


@kernel
def bucket_of(time: Tick, origin: Tick, buckets_per_tick: float, buckets: int) -> int:
    """Return the bucket of a time, where the span has that many of one width; later is no lower."""
    return min(int(np.float64(time - origin) * buckets_per_tick), buckets - 1)


@kernel
def fill_guide(borders: Ticks, guide: NDArray[np.int64]) -> float:
    """Return for each bucket the last zone that starts in an earlier one, or the first zone.

    Returns how many buckets there are in a tick of the borders.
    """
    buckets_per_tick = len(guide) / np.float64(borders[-1] - borders[0])
    guide[:] = 0
    for j in range(1, len(borders) - 1):
        after = bucket_of(borders[j], borders[0], buckets_per_tick, len(guide)) + 1
        if after < len(guide):
            guide[after] = j
    for i in range(1, len(guide)):
        guide[i] = max(guide[i], guide[i - 1])
    return buckets_per_tick


@kernel
def zone_of(time: Tick, borders: Ticks, guide: NDArray[np.int64], buckets_per_tick: float) -> int:
    """Find the zone of a time: the one that starts there, if it is a border; at the end the last.

    From its bucket a time drawn evenly has few steps to go. Halving would have more, and at each
    of them a branch that nobody can foresee.
    """
    j = int(guide[bucket_of(time, borders[0], buckets_per_tick, len(guide))])
    while j < len(borders) - 2 and borders[j + 1] <= time:
        j += 1
    return j


@kernel
def add_points(
    points: Ticks,
    true_starts: Ticks,
    true_stops: Ticks,
    origin: Tick,
    borders: Ticks,
    guide: NDArray[np.int64],
    zones: NDArray[np.float64],
) -> None:
    """Add what points, in any order, lose in their zones to column 0, and their number to 1."""
    buckets_per_tick = fill_guide(borders, guide)
    for k in range(len(points)):
        point = 2 * (points[k] - origin)
        j = zone_of(point, borders, guide, buckets_per_tick)
        a, b = 2 * (true_starts[j] - origin), 2 * (true_stops[j] - origin)
        m = np.float64(min(a - borders[j], borders[j + 1] - b))
        zones[j, 0] += point_losses(a, b, point, m)[0]
        zones[j, 1] += 1.0


@kernel
def add_piece(
    start: Tick, stop: Tick, a: Tick, b: Tick, A: Tick, B: Tick, zone: NDArray[np.float64]
) -> None:
    """Add what a piece loses, and its length; it lies either inside the event or outside."""
    m = np.float64(min(a - A, B - b))
    away = max(a - stop, start - b)
    near = np.float64(max(away, 0))
    far = near + np.float64(stop - start) if away >= 0 else near
    zone[0] += outside(near, far, np.float64(b - a), m)[0]
    zone[1] += np.float64(stop - start)


@kernel
def add_samples(
    starts: Ticks,
    stops: Ticks,
    true_starts: Ticks,
    true_stops: Ticks,
    origin: Tick,
    borders: Ticks,
    guide: NDArray[np.int64],
    zones: NDArray[np.float64],
) -> None:
    """Add what samples, in any order, lose in their zones to column 0, lengths to 1.

    True events start and stop where samples do, but a border may cut a sample in two halves.
    """
    buckets_per_tick = fill_guide(borders, guide)
    for k in range(len(starts)):
        start = 2 * (starts[k] - origin)
        stop = 2 * (stops[k] - origin)
        j = zone_of(start, borders, guide, buckets_per_tick)
        a, b = 2 * (true_starts[j] - origin), 2 * (true_stops[j] - origin)
        if stop > borders[j + 1]:
            add_piece(start, borders[j + 1], a, b, borders[j], borders[j + 1], zones[j])
            start, j = borders[j + 1], j + 1
            a, b = 2 * (true_starts[j] - origin), 2 * (true_stops[j] - origin)
        add_piece(start, stop, a, b, borders[j], borders[j + 1], zones[j])


@kernel
def mean_precision(borders: Ticks, zones: NDArray[np.float64]) -> float:
    """Average the precision over the zones with any prediction."""
    total, defined = 0.0, 0
    for j in range(len(zones)):
        loss, weight = zones[j, 0], zones[j, 1]
        if weight > 0:
            length = np.float64(borders[j + 1] - borders[j])
            total += max(0.0, 1.0 - loss / (length * weight)) if length > 0 else 1.0
            defined += 1
    return total / defined

"""Compiled draws of random predictions, and their affiliation precision; nothing is checked here.

Precision needs neither the order of the predictions nor where they gather, so what is drawn is
scored one by one. Legend as in `closecall.affiliation._kernels`: zone [A, B), its event [a, b),
m the shorter distance from the event to a border of its zone, all in half ticks from an origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation._kernels import outside, point_losses
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks


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

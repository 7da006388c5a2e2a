"""Compiled pass behind the distances: from one set of intervals to another; nothing is checked.

The distance of a moment to a set rises and falls along straight lines: it is 0 inside the set's
intervals, and in the gap between two of them it rises from the left one up to halfway and falls
to the right one after that. So each stretch of the first set that lies in one gap has at most two
straight pieces, whose largest value and whose integral are closed forms. Both sets are sorted and
walked along once. Times only enter as differences, which are exact for integers.
"""

from __future__ import annotations

from math import expm1, log1p
from typing import TYPE_CHECKING

import numpy as np

from closecall.compiled import kernel

if TYPE_CHECKING:
    from closecall.clock import Tick, Ticks


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
def stretch(
    length: float, left: float, right: float, power: float, unit: float
) -> tuple[float, float]:
    """Give the largest distance along a stretch of a gap, and the integral of its power.

    The stretch starts at these distances from the ends of the gap; inf stands for no such end.
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
    """Give the distances of a moment to the interval that starts before it and to the next one."""
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
        farthest, integral = stretch(np.float64(end - now), left, right, power, unit)
        largest = max(largest, farthest)
        total += integral
        now = end
    return largest, total, after


@kernel
def directed(
    starts: Ticks, stops: Ticks, to_starts: Ticks, to_stops: Ticks, power: float, unit: float
) -> tuple[float, float]:
    """Give the largest distance, and the mean of a power of the distances in that unit.

    The mean is over the time of the intervals, or over points where there are only points.
    Neither set may be empty.
    """
    largest, time_sum, time, point_sum, after = 0.0, 0.0, 0.0, 0.0, 0
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

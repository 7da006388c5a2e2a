"""Kernels for the level and the simulation of the random detector; nothing is checked here.

In a simulation, times are shares of the span; the points of one draw are a row of increasing sums
of exponential lengths, whose last is the span. A draw is scored by the kernels that score a
detector.
"""

from __future__ import annotations

from math import exp, expm1, log1p, pi
from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation._kernels import COLUMNS as _SCORES
from closecall.affiliation._kernels import PRECISION, RECALL, precision_row, recall_row
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks

# Columns of what `score_draws` fills, one row for each draw: precision and recall, their means
# given how many points each zone has, their variances given that, and the number of zones that
# have any point.
COLUMNS = 7

# Columns of what it adds to, one row for each zone, in draws with two points there or more: how
# many these are, the squares of recall about its mean, what is not linear in F1, F1 itself, and
# its square.
ZONE_COLUMNS = 5

# Between how many points in the largest and in the smallest zone recall rises, and in which steps.
_FEW, _MANY, _STEP = 1 / 64, 256.0, 4.0
_FINE_STEP = 1.25  # where points come in together, the level is a stair
# Covariance of what the first point adds to recall with precision, and the sum over later points.
_FIRST, _LATER = 1 / 12, pi**2 / 12 - 5 / 6
# A probability below which it does not matter that a zone has not been reached.
_RARE = 1e-4
_LAST = 40  # the points of a zone after which what they add together, 0.0002, does not matter


@kernel
def mean_levels(
    starts: Ticks,
    stops: Ticks,
    borders: Ticks,
    alarms: int,
) -> tuple[float, float]:
    """Average the levels of the zones: of precision by the chance to reach them, of recall evenly.

    Borders are in half ticks; there is at least one alarm.
    """
    zones, reached, precision, loss = len(starts), 0.0, 0.0, 0.0
    total = float(borders[-1] - borders[0])
    for j in range(zones):
        length = float(borders[j + 1] - borders[j])
        if length <= 0:
            loss += 1.0
            continue
        share, filled = length / total, min(2 * (stops[j] - starts[j]) / length, 1.0)
        reach = -expm1(alarms * log1p(-share)) if share < 1 else 1.0
        reached += reach
        precision += reach * (0.5 + filled * filled / 2)
        # One alarm more misses the zone if these all do, and so does the last.
        loss += min((reach + (1 - reach) * share) / ((alarms + 1) * share), 1.0)
    return precision / reached, 1 - loss / zones


@kernel
def average_precision_level(
    starts: Ticks, stops: Ticks, borders: Ticks, sizes: NDArray[np.int64]
) -> float:
    """Return about the average precision of random scores; borders are in half ticks.

    The sizes say how many points come in together, the first ones first; none is one by one.
    """
    share, level = np.empty(len(starts)), np.empty(len(starts))
    zones, free, harmonic = 0, 0.0, 0.0
    for j in range(len(starts)):
        length = float(borders[j + 1] - borders[j])
        if length <= 0:
            continue
        filled = min(2 * (stops[j] - starts[j]) / length, 1.0)
        share[zones] = length / float(borders[-1] - borders[0])
        level[zones] = 0.5 + filled * filled / 2
        free += 1 - filled * filled * filled
        zones += 1
        harmonic += 1 / zones
    mean = mean_level_of_rises(share[:zones], level[:zones], sizes)
    first = harmonic / zones
    if len(sizes) > 0:
        first = min(first, weight_of_firsts(zones, sizes))
    later = later_covariance(zones, sizes) / zones
    return zones / len(starts) * (mean + free / zones * (_FIRST * first + later))


@kernel
def power(base: float, exponent: int) -> float:
    """Multiply in a fixed order; Python and numba have different `**`."""
    result = 1.0
    while exponent > 0:
        if exponent % 2 == 1:
            result *= base
        base *= base
        exponent //= 2
    return result


@kernel
def weight_of_firsts(zones: int, sizes: NDArray[np.int64]) -> float:
    """Return the mean weight of a zone's first point in precision, when those with it are in.

    That is 1 over the number of points in its zone, times 1 over the number of zones reached. All
    zones have the same length, and are taken to be reached independently. That is a little too
    high: one by one, the weight is the harmonic number over the number of zones.
    """
    miss, total, rank, after = 1 - 1 / zones, 0.0, 0, 0
    # The chance that the zone has no point yet, and that another one then has none.
    unreached, others = 1.0, 1.0
    for size in sizes:
        after += size
        while rank < after and unreached > _RARE:
            later = after - rank  # with the point itself
            alone = (1 - power(miss, later)) / later
            empty = others * power(miss, later - 1)
            reached = (1 - power(empty, zones)) / (zones * (1 - empty)) if empty < 1 else 1.0
            total += unreached * alone * reached
            rank += 1
            unreached *= miss
            others *= 1 - 1 / (zones - 1) if zones > 1 else 1.0
    return total


@kernel
def later_covariance(zones: int, sizes: NDArray[np.int64]) -> float:
    """Sum the covariances of a zone's third point and later ones, when those with them are in.

    The k-th of them comes about when k points for each zone have come; it then weighs k/m with m
    points for each zone at the end of its tie. Beyond the sizes they come one by one.
    """
    total, rest, rank, after = 0.0, _LATER, 3, 0
    for size in sizes:
        after += size
        while rank * zones <= after and rank <= _LAST:
            own = (2 - rank) / (2 * rank**2 * (rank + 1) * (rank + 2))
            total += own * rank * zones / after
            rest -= own
            rank += 1
    return total + rest


@kernel
def mean_level_of_rises(
    share: NDArray[np.float64], level: NDArray[np.float64], sizes: NDArray[np.int64]
) -> float:
    """Average the level over the zones reached so far, weighted by how fast each recall rises.

    The points come in at random: after r of them on average, x = r w are in a zone, q = 1 - e^-x
    is the chance that any is, and recall rises by q/x - e^-x with the logarithm of r. In equal
    steps of that, the sum is as good as the integral. Precision counts when those that come
    together are in.
    """
    reach = np.empty_like(share)
    total, weights, points = 0.0, 0.0, _FEW / share.max()
    step = _STEP if len(sizes) == 0 else _FINE_STEP
    following, after = 0, 0.0
    while points * share.min() < _MANY:
        while after < points and following < len(sizes):
            after += sizes[following]
            following += 1
        reached, levels, together = 0.0, 0.0, max(points, after)
        for j in range(len(share)):
            reach[j] = -expm1(-together * share[j])
            reached += reach[j]
            levels += reach[j] * level[j]
        for j in range(len(share)):
            missing = 1 - reach[j]  # a zone whose recall rises is reached for sure
            inside = points * share[j]
            rise = -expm1(-inside) / inside - exp(-inside)
            total += rise * (levels + missing * level[j]) / (reached + missing)
            weights += rise
        points *= step
    return total / weights


@kernel
def place_points(lengths: NDArray[np.float64], points: NDArray[np.float64]) -> None:
    """Turn k + 1 exponential lengths into k sorted, independent, uniform points in (0, 1)."""
    total, reached = 0.0, 0.0
    for length in lengths:  # `numpy.sum` adds in another order
        total += length
    for i in range(len(points)):
        reached += lengths[i]
        points[i, 0] = points[i, 1] = reached / total


@kernel
def f1_and_bend(precision: float, recall: float, usual: float, mean: float) -> tuple[float, float]:
    """Return F1, and F1 without what is linear in precision and recall about their means."""
    total = precision + recall
    f1 = 2 * precision * recall / total if total > 0 else 0.0
    scale = 2 / ((usual + mean) * (usual + mean))
    slopes = mean * mean * (precision - usual) + usual * usual * (recall - mean)
    return f1, f1 - scale * slopes


@kernel
def score_draw(
    points: NDArray[np.float64],
    borders: NDArray[np.float64],
    ends: NDArray[np.float64],
    own: NDArray[np.float64],
    sums: NDArray[np.float64],
    row: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score one draw: its sums over zones in a row, those by zone added to what is there.

    A zone's own columns are the mean and the variance of its precision for one point, and the
    variance of its recall for one point; the square of a recall about its mean stands for its
    variance where there are more.
    """
    zones, hit, first = len(ends), 0, 0
    row[:] = 0.0
    for j in range(zones):
        last = first
        while last < len(points) and (points[last, 0] < borders[j + 1] or j == zones - 1):
            last += 1
        count = last - first
        if count == 0 or borders[j] == borders[j + 1]:
            continue
        a, b, A, B = ends[j, 0], ends[j, 1], borders[j], borders[j + 1]
        precision_row(points[first:last], a, b, A, B, scores)
        recall_row(points[first:last], a, b, A, B, scores)
        mean = count / (count + 1)
        square = own[j, 2]
        if count > 1:
            square = (scores[RECALL] - mean) * (scores[RECALL] - mean)
            f1, bend = f1_and_bend(scores[PRECISION], scores[RECALL], own[j, 0], mean)
            sums[j, 0] += 1
            sums[j, 1] += square
            sums[j, 2] += bend
            sums[j, 3] += f1
            sums[j, 4] += f1 * f1
        row[0] += scores[PRECISION]
        row[1] += scores[RECALL]
        row[2] += own[j, 0]
        row[3] += mean
        row[4] += own[j, 1] / count
        row[5] += square
        hit, first = hit + 1, last
    row[0], row[2], row[4] = row[0] / hit, row[2] / hit, row[4] / hit**2
    row[1], row[3], row[5] = row[1] / zones, row[3] / zones, row[5] / zones**2
    row[6] = hit


@kernel
def score_draws(
    lengths: NDArray[np.float64],
    borders: NDArray[np.float64],
    ends: NDArray[np.float64],
    own: NDArray[np.float64],
    sums: NDArray[np.float64],
    rows: NDArray[np.float64],
) -> None:
    """Score one draw for each row of exponential lengths."""
    points = np.empty((lengths.shape[1] - 1, 2))
    scores = np.empty(_SCORES)
    for i in range(len(lengths)):
        place_points(lengths[i], points)
        score_draw(points, borders, ends, own, sums, rows[i], scores)

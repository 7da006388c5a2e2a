"""Distances between sets of times by brute force; nothing comes from the package under test.

Intervals have whole borders. The distance of a moment to a set is a minimum over all its
intervals; it can bend only at halves of whole numbers, so on half-unit cells it is straight. Over
a cell, the largest value is at an end and a mean is a Gauss-Legendre quadrature.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nan

import numpy as np

Interval = tuple[int, int]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def distance(moment: Fraction | float, intervals: Sequence[Interval]) -> Fraction | float:
    return min((max(start - moment, moment - stop, 0) for start, stop in intervals), default=inf)


def moments(intervals: Sequence[Interval]) -> list[Fraction]:
    """List every end of a half-unit cell of the intervals."""
    return [
        Fraction(half, 2) for start, stop in intervals for half in range(2 * start, 2 * stop + 1)
    ]


def largest(of: Sequence[Interval], to: Sequence[Interval]) -> float:
    return float(max(distance(moment, to) for moment in moments(of)))


def mean(of: Sequence[Interval], to: Sequence[Interval], power: float) -> float:
    """Average over the ranges, or over the points where there are only points."""
    ranges = [interval for interval in of if interval[0] < interval[1]]
    if not ranges:
        return float(np.mean([float(distance(start, to)) ** power for start, _ in of]))
    total = 0.0
    for start, stop in ranges:
        for half in range(2 * start, 2 * stop):
            ends = [float(distance(Fraction(half + step, 2), to)) for step in (0, 1)]
            line = np.interp(NODES, [-1, 1], ends)
            total += float(WEIGHTS @ line**power) / 4
    return total / sum(stop - start for start, stop in ranges)


def hausdorff(truth: Sequence[Interval], predicted: Sequence[Interval]) -> float:
    return _both(truth, predicted, lambda one, other: max(largest(*one), largest(*other)))


def modified_hausdorff(truth: Sequence[Interval], predicted: Sequence[Interval]) -> float:
    return _both(truth, predicted, lambda one, other: max(mean(*one, 1), mean(*other, 1)))


def semimetric(truth: Sequence[Interval], predicted: Sequence[Interval], power: float) -> float:
    return _both(
        truth,
        predicted,
        lambda one, other: ((mean(*one, power) + mean(*other, power)) / 2) ** (1 / power),
    )


def _both(truth, predicted, combine):
    if not truth or not predicted:
        return nan if not truth and not predicted else inf
    return combine((truth, predicted), (predicted, truth))


def segmentation(truth: Sequence[Interval], predicted: Sequence[Interval], span: Interval) -> float:
    true, found = (
        {end for interval in side for end in interval} - set(span) for side in (truth, predicted)
    )
    if not true or not found:
        return nan
    return sum(min(abs(one - other) for other in true) for one in found) / (span[1] - span[0])

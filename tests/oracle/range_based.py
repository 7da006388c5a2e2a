"""Range-based precision and recall straight from the definition, in exact fractions.

Every sample is visited (or, on a continuous axis, every linear stretch of the density integrated
by Simpson's rule, which is exact for it), and every true event compared with every prediction.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import nan

Interval = tuple[int, int]


def evaluate(
    truth: Sequence[Interval],
    predicted: Sequence[Interval],
    *,
    counted: bool,
    alpha: Fraction = Fraction(1, 2),
    cardinality: Callable[[int], Fraction] = lambda count: Fraction(1, count),
    precision_bias: str | Callable = "flat",
    recall_bias: str | Callable = "flat",
) -> tuple[float, float]:
    """Score disjoint ranges (no points) on integer times; `counted` says times are samples."""

    def reward(one: Interval, others: Sequence[Interval], bias, existence: Fraction) -> Fraction:
        met = [other for other in others if max(one[0], other[0]) < min(one[1], other[1])]
        overlap = sum(_share(one, other, bias, counted=counted) for other in met)
        factor = Fraction(1) if len(met) <= 1 else Fraction(cardinality(len(met)))
        return existence * (len(met) > 0) + (1 - existence) * factor * overlap

    precisions = [reward(one, truth, precision_bias, Fraction(0)) for one in predicted]
    recalls = [reward(one, predicted, recall_bias, alpha) for one in truth]
    return _mean(precisions), _mean(recalls)


def _mean(values: list[Fraction]) -> float:
    return float(sum(values) / len(values)) if values else nan


def _share(one: Interval, other: Interval, bias, *, counted: bool) -> Fraction:
    length = one[1] - one[0]
    if counted:
        weights = {
            one[0] + i - 1: Fraction(_sample_weight(bias, i, length)) for i in range(1, length + 1)
        }
        both = sum(weight for time, weight in weights.items() if other[0] <= time < other[1])
        return both / sum(weights.values())
    left, right = max(one[0], other[0]) - one[0], min(one[1], other[1]) - one[0]
    return _integral(bias, left, right, length) / _integral(bias, 0, length, length)


def _sample_weight(bias, i: int, length: int):
    if callable(bias):
        return bias(i, length)
    if bias == "middle":
        return i if i <= length / 2 else length - i + 1
    return {"flat": 1, "front": length - i + 1, "back": i}[bias]


def _density(bias, x: Fraction, length: int):
    if callable(bias):
        return bias(x, length)
    return {"flat": 1, "front": length - x, "back": x, "middle": min(x, length - x)}[bias]


def _integral(bias, left: int, right: int, length: int) -> Fraction:
    half = Fraction(length, 2)
    borders = [Fraction(left), *([half] if left < half < right else []), Fraction(right)]
    total = Fraction(0)
    for start, stop in pairwise(borders):
        values = [_density(bias, x, length) for x in (start, (start + stop) / 2, stop)]
        total += (stop - start) * (values[0] + 4 * values[1] + values[2]) / 6
    return total

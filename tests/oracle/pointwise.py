"""Pointwise and point-adjusted metrics by brute force, sample by sample, in exact fractions.

Nothing here comes from the package under test: a series is a list of 0 and 1 and everything is
counted in loops over it, from the wording of the papers. nan stands for 0/0.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import nan

Labels = Sequence[int]
Score = Fraction | float


def runs_of(labels: Labels) -> list[list[int]]:
    """Collect the sample numbers of each run of ones."""
    runs: list[list[int]] = []
    for index, label in enumerate(labels):
        if not label:
            continue
        if index and labels[index - 1]:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def share(part: int, whole: int) -> Score:
    return Fraction(part, whole) if whole else nan


def classical(truth: Labels, predicted: Labels) -> tuple[Score, Score]:
    both = sum(1 for true, found in zip(truth, predicted, strict=True) if true and found)
    return share(both, sum(predicted)), share(both, sum(truth))


def adjusted(truth: Labels, predicted: Labels, k: Fraction | int = 0) -> list[int]:
    """Predict the whole of each event that is predicted for strictly more than k percent."""
    result = list(predicted)
    for run in runs_of(truth):
        found = sum(predicted[index] for index in run)
        if Fraction(100 * found, len(run)) > k:
            for index in run:
                result[index] = 1
    return result


def point_adjust_k(truth: Labels, predicted: Labels, k: Fraction | int) -> tuple[Score, Score]:
    return classical(truth, adjusted(truth, predicted, k))


def f1(precision: Score, recall: Score) -> Score:
    if precision != precision or recall != recall:  # noqa: PLR0124 - nan differs from itself
        return nan
    return 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)


def fbeta(precision: Fraction, recall: Fraction, beta: Fraction) -> Fraction:
    weighted = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / weighted if weighted else Fraction(0)


def point_adjust_k_area(truth: Labels, predicted: Labels) -> Score:
    """Add up F1 over every stretch of K on which no event's share lies."""
    shares = {
        Fraction(100 * sum(predicted[index] for index in run), len(run)) for run in runs_of(truth)
    }
    edges = sorted(shares | {Fraction(0), Fraction(100)})
    area: Score = Fraction(0)
    for left, right in pairwise(edges):
        area += (right - left) * f1(*point_adjust_k(truth, predicted, (left + right) / 2)) / 100
    return area


def hits(of: Labels, by: Labels) -> tuple[int, int]:
    """Count the runs of one vector with a one of the other inside, and all its runs."""
    runs = runs_of(of)
    return sum(1 for run in runs if any(by[index] for index in run)), len(runs)


def composite(truth: Labels, predicted: Labels) -> tuple[Score, Score]:
    return classical(truth, predicted)[0], share(*hits(truth, predicted))


def event_wise(truth: Labels, predicted: Labels) -> tuple[Score, Score]:
    return share(*hits(predicted, truth)), share(*hits(truth, predicted))


def point_adjust_curve(truth: Labels, scores: Sequence[float]) -> list[tuple[float, Score, Score]]:
    """Score each distinct threshold on its own, from the highest down."""
    return [
        (h, *classical(truth, adjusted(truth, [int(score >= h) for score in scores])))
        for h in sorted(set(scores), reverse=True)
    ]

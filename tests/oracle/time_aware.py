"""TaP/TaR and eTaP/eTaR straight from their definitions: every event against every prediction."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import exp, fsum, nan, sqrt

import numpy as np

Interval = tuple[int, int]

PANELS = 2000


def time_aware(
    truth: Sequence[Interval],
    predicted: Sequence[Interval],
    *,
    counted: bool,
    theta: float = 0.5,
    delta: int = 0,
    alpha: float = 0.5,
) -> tuple[float, float]:
    """Score disjoint ranges (no points) on integer times; `counted` says times are samples."""
    sections = []
    for index, (_, stop) in enumerate(truth):
        following = truth[index + 1][0] if index + 1 < len(truth) else stop + delta
        sections.append((stop, min(stop + delta, following)))
    matches = [
        [
            _overlap(event, prediction) + _decayed(section, prediction, counted=counted)
            for prediction in predicted
        ]
        for event, section in zip(truth, sections, strict=True)
    ]
    recalls = [
        min(1.0, fsum(row) / (stop - start))
        for (start, stop), row in zip(truth, matches, strict=True)
    ]
    precisions = [
        fsum(row[index] for row in matches) / (stop - start)
        for index, (start, stop) in enumerate(predicted)
    ]

    def score(portions: list[float]) -> float:
        if not portions:
            return nan
        # Sums that should equal theta must not exceed it by rounding.
        detected = sum(round(portion, 12) > theta for portion in portions)
        return (alpha * detected + (1 - alpha) * fsum(portions)) / len(portions)

    return score(precisions), score(recalls)


def _overlap(one: Interval, other: Interval) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _decayed(section: Interval, prediction: Interval, *, counted: bool) -> float:
    start, stop = section
    left, right = max(start, prediction[0]), min(stop, prediction[1])
    if left >= right:
        return 0.0
    if counted:
        steps = max(stop - start - 1, 1)
        return fsum(1 / (1 + exp(-6 + 12 * (time - start) / steps)) for time in range(left, right))
    times = np.linspace(left, right, 2 * PANELS + 1)
    weights = 1 / (1 + np.exp(-6 + 12 * (times - start) / (stop - start)))
    simpson = weights[0] + weights[-1] + 4 * weights[1::2].sum() + 2 * weights[2:-1:2].sum()
    return float(simpson * (right - left) / (6 * PANELS))


def enhanced_time_aware(
    truth: Sequence[Interval],
    predicted: Sequence[Interval],
    *,
    theta_p: Fraction = Fraction(1, 2),
    theta_r: Fraction = Fraction(1, 10),
) -> tuple[float, float]:
    """Score disjoint ranges (no points) by trying every set of events as the detected ones."""

    def share(one: Interval, others: Sequence[Interval]) -> Fraction:
        return Fraction(sum(_overlap(one, other) for other in others), one[1] - one[0])

    subsets = chain.from_iterable(combinations(truth, size) for size in range(len(truth), -1, -1))
    for detected in subsets:  # the largest first
        correct = [one for one in predicted if share(one, detected) >= theta_p]
        if list(detected) == [one for one in truth if share(one, correct) >= theta_r]:
            break
    recalls = [float(1 + share(one, correct)) / 2 for one in detected]
    precisions = [sqrt(one[1] - one[0]) * float(1 + share(one, detected)) / 2 for one in correct]
    weight = fsum(sqrt(stop - start) for start, stop in predicted)
    return (
        fsum(precisions) / weight if predicted else nan,
        fsum(recalls) / len(truth) if truth else nan,
    )

"""How the scores of a random detector scatter: exactly for one alarm, simulated for more."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation.chance import (
    Moments,
    chance_recall_loss,
    mean_reciprocal,
    one_alarm_f1,
    one_point_recall_variance,
    precision_of_points,
)
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.zone_shares import ZoneShares

_MOST_WORK = 20_000_000  # points and zones of all draws together
_LEAST_DRAWS = 8
_MOST_EXACT = 1_000  # zones, for each of which F1 is integrated
_BLOCK = 1_000_000  # random numbers at a time


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """The mean F1 of a random detector, with its error, and the variances of all its scores."""

    draws: int
    f1: float
    f1_error: float
    f1_variance: float
    precision_variance: float
    recall_variance: float
    zone_recall_variance: NDArray[np.float64]


def scatter(zones: ZoneShares, alarms: int, *, most_draws: int, seed: int) -> Scatter:
    """Find how the scores of a random detector with one or more alarms scatter."""
    single = one_point_recall_variance(zones.before, zones.filled)
    if alarms == 1 and zones.of_span.size <= _MOST_EXACT:
        return _one_alarm(zones, single)
    return _simulated(zones, single, alarms, most_draws=most_draws, seed=seed)


def _one_alarm(zones: ZoneShares, single: NDArray[np.float64]) -> Scatter:
    """Mix the zones: the alarm is in one of them, with the probability that is its share."""
    share, count = zones.of_span, zones.of_span.size
    own = precision_of_points(zones.filled)
    precision = _mixture(share, own)
    recall = _mixture(share, Moments(np.full(count, 0.5), single))
    f1 = one_alarm_f1(share, zones.before, zones.filled)
    return Scatter(
        draws=0,
        f1=f1.mean,
        f1_error=0.0,
        f1_variance=f1.variance,
        precision_variance=precision,
        recall_variance=recall / count**2,
        zone_recall_variance=_known_recall_variance(zones, single, alarms=1),
    )


def _mixture(share: NDArray[np.float64], own: Moments) -> float:
    """Give the variance of what has these moments with the probabilities of the shares."""
    mean = share @ own.mean
    return float(share @ (own.variance + (own.mean - mean) ** 2))


def _simulated(
    zones: ZoneShares, single: NDArray[np.float64], alarms: int, *, most_draws: int, seed: int
) -> Scatter:
    """Simulate; what is known exactly replaces what the draws would only estimate."""
    work = alarms + zones.of_span.size
    draws = min(most_draws, max(_LEAST_DRAWS, _MOST_WORK // work))
    own = precision_of_points(zones.filled)
    columns = np.stack([own.mean, own.variance, single], axis=1)
    rows, squares = _draw(zones, columns, alarms, draws, np.random.default_rng(seed))
    precision, recall, mean_precision, mean_recall, precision_variance, recall_variance = rows.T
    f1: NDArray[np.float64] = f_measure(precision, recall)
    level = 1 - float(chance_recall_loss(zones.of_span, alarms).mean())
    residual = f1 - _slopes(float(mean_precision.mean()), level) @ np.stack(
        [precision - mean_precision, recall - level]
    )
    return Scatter(
        draws=draws,
        f1=float(residual.mean()),
        f1_error=float(residual.std(ddof=1)) / sqrt(draws),
        f1_variance=float(f1.var(ddof=1)),
        precision_variance=float(precision_variance.mean() + mean_precision.var(ddof=1)),
        recall_variance=float(recall_variance.mean() + mean_recall.var(ddof=1)),
        zone_recall_variance=_known_recall_variance(zones, single, alarms=alarms) + squares / draws,
    )


def _slopes(precision: float, recall: float) -> NDArray[np.float64]:
    """Give the derivatives of F1, so that what varies is only what is not linear in the two."""
    return 2 * np.array([recall, precision]) ** 2 / (precision + recall) ** 2


def _known_recall_variance(
    zones: ZoneShares, single: NDArray[np.float64], *, alarms: int
) -> NDArray[np.float64]:
    """Give the part of each zone's variance of recall that needs no draws.

    It is the variance of k / (k + 1), and the variance for one point where k is 1.
    """
    w = zones.of_span
    loss = chance_recall_loss(w, alarms)
    # 1 / (k + 1)**2 has this mean, as (k + 1) C(K + 1, k + 1) = (K + 1) C(K, k).
    square = mean_reciprocal(w, alarms + 1) / ((alarms + 1) * np.where(w > 0, w, 1.0))
    counts = np.where(w > 0, np.maximum(square - loss**2, 0), 0.0)
    return counts + alarms * w * (1 - w) ** (alarms - 1) * single


def _draw(
    zones: ZoneShares,
    own: NDArray[np.float64],
    alarms: int,
    draws: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score random points; the columns of the first array are those of the kernel."""
    from closecall.affiliation import _chance_kernels

    rows, squares = np.empty((draws, _chance_kernels.COLUMNS)), np.zeros(zones.of_span.size)
    step = max(1, _BLOCK // (alarms + 1))
    for start in range(0, draws, step):
        part = rows[start : start + step]
        lengths = generator.standard_exponential((len(part), alarms + 1))
        _chance_kernels.score_draws(lengths, zones.borders, zones.ends, own, squares, part)
    return rows, squares

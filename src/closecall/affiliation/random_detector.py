"""How the scores of a random detector scatter: exactly for one alarm, simulated for more."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closecall.affiliation.chance import (
    Moments,
    chance_recall_loss,
    mean_reciprocal,
    one_alarm_f1,
    one_point_recall_variance,
    precision_level,
    precision_of_points,
    reach_probability,
)
from closecall.affiliation.one_point import one_point_f1
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
    """Mean precision and F1 of a random detector, with errors, and the variances of its scores."""

    draws: int
    precision: float
    precision_error: float
    f1: float
    f1_error: float
    f1_variance: float
    precision_variance: float
    recall_variance: float
    zone_recall_variance: NDArray[np.float64]
    zone_f1: NDArray[np.float64]
    """Mean F1 in each zone, given that an alarm is there."""
    zone_f1_variance: NDArray[np.float64]


class _Precisions(NamedTuple):
    """The precision of each draw, and what is known of it once its zones have their points."""

    values: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    level: float
    """The closed form of the level."""
    corrections: NDArray[np.float64]
    """What has to be added to it, on average, to get the mean; 0 where it is exact."""


def scatter(
    zones: ZoneShares, alarms: int, *, most_draws: int, seed: int, zero_division: float = nan
) -> Scatter:
    """Find how the scores of a random detector with one or more alarms scatter."""
    single = one_point_recall_variance(zones.before, zones.filled)
    if alarms == 1 and zones.of_span.size <= _MOST_EXACT:
        return _one_alarm(zones, single, zero_division)
    work = alarms + zones.of_span.size
    draws = min(most_draws, max(_LEAST_DRAWS, _MOST_WORK // work))
    generator = np.random.default_rng(seed)
    return _simulated(zones, single, alarms, draws, generator, zero_division=zero_division)


def _one_alarm(zones: ZoneShares, single: NDArray[np.float64], zero_division: float) -> Scatter:
    """Mix the zones: the alarm is in one of them, with the probability that is its share."""
    share, count = zones.of_span, zones.of_span.size
    own = precision_of_points(zones.filled)
    # Where the other zones count too, the one that is reached is only a part of the mean.
    part = 1 if isnan(zero_division) else count
    recall = _mixture(share, Moments(np.full(count, 0.5), single))
    f1 = one_alarm_f1(share, zones.before, zones.filled, zero_division)
    zone_f1 = _of_powers(one_point_f1(zones.before, zones.filled))
    return Scatter(
        draws=0,
        precision=precision_level(zones.filled, share, 1, zero_division),
        precision_error=0.0,
        f1=f1.mean,
        f1_error=0.0,
        f1_variance=f1.variance,
        precision_variance=_mixture(share, own) / part**2,
        recall_variance=recall / count**2,
        zone_recall_variance=_known_recall_variance(zones, single, alarms=1),
        zone_f1=zone_f1.mean,
        zone_f1_variance=zone_f1.variance,
    )


def _mixture(share: NDArray[np.float64], own: Moments) -> float:
    """Give the variance of what has these moments with the probabilities of the shares."""
    mean = share @ own.mean
    return float(share @ (own.variance + (own.mean - mean) ** 2))


def _simulated(
    zones: ZoneShares,
    single: NDArray[np.float64],
    alarms: int,
    draws: int,
    generator: np.random.Generator,
    *,
    zero_division: float,
) -> Scatter:
    """Simulate; what is known exactly replaces what the draws would only estimate."""
    own = precision_of_points(zones.filled)
    columns = np.stack([own.mean, own.variance, single], axis=1)
    rows, sums = _draw(zones, columns, alarms, draws, generator)
    precision = _precisions(rows, own.mean, zones, alarms, zero_division)
    recall, mean_recall, recall_variance = rows[:, 1], rows[:, 3], rows[:, 5]
    f1: NDArray[np.float64] = f_measure(precision.values, recall)
    level = 1 - float(chance_recall_loss(zones.of_span, alarms).mean())
    mean_precision = precision.level + float(precision.corrections.mean())
    # Both of these have mean 0 exactly, so what is linear in them needs no draws.
    known = np.stack([precision.values - precision.level - precision.corrections, recall - level])
    residual = f1 - _slopes(mean_precision, level) @ known
    known_recall = _known_recall_variance(zones, single, alarms=alarms)
    zone_f1 = _zone_f1(zones, alarms, sums)
    return Scatter(
        draws=draws,
        precision=mean_precision,
        precision_error=float(precision.corrections.std(ddof=1)) / sqrt(draws),
        f1=float(residual.mean()),
        f1_error=float(residual.std(ddof=1)) / sqrt(draws),
        f1_variance=float(f1.var(ddof=1)),
        precision_variance=float(precision.variances.mean() + precision.means.var(ddof=1)),
        recall_variance=float(recall_variance.mean() + mean_recall.var(ddof=1)),
        zone_recall_variance=known_recall + sums[:, 1] / draws,
        zone_f1=zone_f1.mean,
        zone_f1_variance=zone_f1.variance,
    )


def _precisions(
    rows: NDArray[np.float64],
    own: NDArray[np.float64],
    zones: ZoneShares,
    alarms: int,
    zero_division: float,
) -> _Precisions:
    r"""Average over the zones that have points, or over all of them.

    With D zones that have points, S the sum of their levels and :math:`\rho = E[S]/E[D]` the closed
    form, :math:`X = S - \rho D` has mean 0, and the mean precision :math:`E[S/D]` is
    :math:`\rho + E[X/D] = \rho + E[X (1/D - 1/E[D])]`, of which the draws leave little to chance.
    """
    values, means, variances, reached = rows[:, [0, 2, 4, 6]].T
    level = precision_level(zones.filled, zones.of_span, alarms, zero_division)
    none = np.zeros(len(rows))
    if isnan(zero_division):
        if (own == own[0]).all():
            return _Precisions(values, means, variances, level, none)
        usual = reach_probability(zones.of_span, alarms).sum()
        corrections = (means - level) * (1 - reached / usual)
        return _Precisions(values, means, variances, level, corrections)
    share = reached / own.size
    empty = zero_division * (1 - share)
    return _Precisions(
        values * share + empty, means * share + empty, variances * share**2, level, none
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


def _zone_f1(zones: ZoneShares, alarms: int, sums: NDArray[np.float64]) -> Moments:
    """Give mean and variance of F1 in each zone, given that an alarm is there.

    One alone is exact, and the draws estimate the rest. Where none of them has two in a zone, that
    is next to impossible, and the F1 of the means of two will do.
    """
    w = zones.of_span
    any_point = reach_probability(w, alarms)
    alone = np.where(any_point > 0, alarms * w * (1 - w) ** (alarms - 1), 1.0)
    alone /= np.where(any_point > 0, any_point, 1)
    single = _of_powers(one_point_f1(zones.before, zones.filled))
    draws = sums[:, 0]
    bend, own, square = sums[:, 2:].T / np.maximum(draws, 1)
    two = f_measure(precision_of_points(zones.filled).mean, np.full(w.size, 2 / 3))
    several = np.where(draws > 0, bend, two)
    mean = alone * single.mean + (1 - alone) * several
    away = alone * (1 - alone) * (single.mean - several) ** 2
    within = alone * single.variance + (1 - alone) * np.maximum(square - own**2, 0)
    return Moments(mean, within + away)


def _of_powers(powers: NDArray[np.float64]) -> Moments:
    """Turn the columns of means and mean squares into moments."""
    mean, square = powers.T
    return Moments(mean, np.maximum(square - mean**2, 0))


def _draw(
    zones: ZoneShares,
    own: NDArray[np.float64],
    alarms: int,
    draws: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score random points; the columns are those of the kernel, for draws and for zones."""
    from closecall.affiliation import _chance_kernels

    rows = np.empty((draws, _chance_kernels.COLUMNS))
    sums = np.zeros((zones.of_span.size, _chance_kernels.ZONE_COLUMNS))
    step = max(1, _BLOCK // (alarms + 1))
    for start in range(0, draws, step):
        part = rows[start : start + step]
        lengths = generator.standard_exponential((len(part), alarms + 1))
        _chance_kernels.score_draws(lengths, zones.borders, zones.ends, own, sums, part)
    return rows, sums

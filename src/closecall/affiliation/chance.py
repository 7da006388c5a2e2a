"""The level that chance reaches with as many alarms as a detector, and how far it strays."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import _chance_kernels
from closecall.affiliation.random_points import (
    Moments,
    chance_recall_loss,
    mean_reciprocal,
    one_alarm_f1,
    one_point_f1,
    one_point_recall_variance,
    precision_level,
    precision_of_points,
    reach_probability,
)
from closecall.affiliation.score import require_zero_division, score_pair
from closecall.affiliation.zones import zone_borders
from closecall.fscore import f_measure
from closecall.parameters import require_count
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from closecall.affiliation.result import EventScores
    from closecall.affiliation.zones import ZoneShares
    from closecall.series import TruthInSpan

DRAWS = 1000
_LEAST_DRAWS, _MOST_DRAWS = 2, 1_000_000  # two, for a standard deviation
_MOST_WORK = 20_000_000  # points and zones of all draws together
_FEWEST_DRAWS = 8
_MOST_EXACT = 1_000  # zones, for each of which F1 is integrated
_BLOCK = 1_000_000  # random numbers at a time
_ENOUGH = 10  # points in every zone: what comes after them hardly matters
_NO_TIES = np.empty(0, dtype=np.int64)
_EVENT_COLUMNS = ("precision", "recall", "f1", "precision_std", "recall_std", "f1_std")


@dataclass(frozen=True, repr=False, eq=False)
class EventChance:
    """What chance reaches in the zone of each true event, each column an array."""

    precision: Floats
    """Mean precision given that an alarm is in the zone, however many are; nan without alarms.

    It is the zone's own level, whether or not the judged detector has a precision there."""
    recall: Floats
    """Mean recall of the random detector."""
    f1: Floats
    """Mean F1 given that an alarm is in the zone; nan without alarms.

    Exact, within 1e-5, for one alarm; simulated as the F1 overall is for more."""
    precision_std: Floats
    """Standard deviation of the random detector's precision, given the same; nan as above."""
    recall_std: Floats
    """Standard deviation of the random detector's recall."""
    f1_std: Floats
    """Standard deviation of the random detector's F1, given the same; nan as above."""

    def __len__(self) -> int:
        return self.recall.size

    def __repr__(self) -> str:
        return f"EventChance({len(self)} events, columns {', '.join(_EVENT_COLUMNS)})"


@dataclass(frozen=True, repr=False, eq=False)
class Chance:
    """The scores of a random detector with as many alarms; made by `closecall.chance`.

    Examples
    --------
    >>> import closecall as cc
    >>> cc.chance([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    Chance(precision=0.625, recall=0.250, f1=0.350, alarms=1)
    """

    alarms: int
    """How many alarms, K: the number of predicted events."""
    precision: float
    """Mean precision of the random detector, over the zones that it reaches; nan without alarms.

    It depends on how many alarms there are, not on where they are. With a ``zero_division``, the
    zones that it does not reach count as that."""
    recall: float
    """Mean recall of the random detector; 0 without alarms."""
    f1: float
    """Mean F1 of the random detector; nan without alarms."""
    precision_std: float
    """Standard deviation of the random detector's precision; nan without alarms."""
    recall_std: float
    """Standard deviation of the random detector's recall."""
    f1_std: float
    """Standard deviation of the random detector's F1; nan without alarms."""
    precision_error: float
    """Standard error of ``precision`` itself, where it is simulated; 0 where it is exact."""
    f1_error: float
    """Standard error of ``f1`` itself, which is simulated; 0 where it is exact."""
    draws: int
    """How many random detectors were simulated; 0 where everything is exact."""
    events: EventChance
    """One row per true event."""

    def values(self) -> dict[str, float]:
        """Return the levels by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        deviations = ("precision_std", "recall_std", "f1_std", "precision_error", "f1_error")
        numbers = self.values() | {name: getattr(self, name) for name in deviations}
        columns = [getattr(self.events, name).tolist() for name in _EVENT_COLUMNS]
        return {
            "alarms": self.alarms,
            **{name: _plain(value) for name, value in numbers.items()},
            "draws": self.draws,
            "events": [
                {name: _plain(value) for name, value in zip(_EVENT_COLUMNS, row, strict=True)}
                for row in zip(*columns, strict=True)
            ],
        }

    def __repr__(self) -> str:
        levels = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"Chance({levels}, alarms={self.alarms})"


def chance(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    n: int = DRAWS,
    seed: int = 0,
    zero_division: float = nan,
) -> Chance:
    r"""Compute the affiliation scores that chance reaches with as many alarms as the detector.

    The random detector has K alarms, as many as there are predicted events; each is a point that
    falls anywhere in the span with equal chance. With w the share of the span that an event's zone
    is, and p the share of the zone that the event fills, it reaches in that zone on average

    .. math::

        c_P = \frac12 + \frac{p^2}{2}, \qquad
        c_R = 1 - \frac{1 - (1 - w)^{K+1}}{(K + 1)\, w}.

    These are the levels of each event, c_P given that an alarm is in the zone, as is the level of
    its F1. The ``precision``, ``recall`` and ``f1`` overall are the means of what `affiliation`
    gives the random detector, all in [0, 1]. They depend on how many alarms there are, not on
    where.

    The recall is the mean of c_R over the events, exactly. The precision is an average over the
    zones that happen to be reached. With :math:`q = 1 - (1 - w)^K` the probability that a zone is,
    it is about the mean of c_P weighted by q: exactly so for one alarm, or where all c_P are equal.
    For more, what is missing to it, the mean F1 (beyond its linear part, whose mean is known) and
    the standard deviations come from ``n`` simulated detectors; for one alarm, and up to 1,000
    events, everything is exact. The work is bounded by 20 million points and zones in all, so there
    are fewer draws, and at least 8, where there are very many.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    n
        How many random detectors to simulate, from 2 to 1,000,000.
    seed
        Seed of the simulation, a whole number of 0 or more.
    zero_division
        As in `closecall.affiliation`: what a zone without any random alarm counts for in the mean
        precision. With 0 or 1 the level of precision is exact.

    Returns
    -------
    Chance
        ``precision``, ``recall`` and ``f1``, the same with ``_std``, ``precision_error`` and
        ``f1_error``, ``alarms``, ``events``. Without any alarm, recall is 0 and precision and F1
        are nan, or what `zero_division` makes of them.

    Examples
    --------
    >>> import closecall as cc
    >>> truth, predicted = cc.Events([(40, 60)]), cc.Events([(10, 12), (45, 48), (70, 80)])
    >>> level = cc.chance(truth, predicted, span=(0, 100))
    >>> level.alarms, level.precision, level.recall
    (3, 0.52, 0.75)
    >>> round(level.f1, 2), round(level.f1_std, 1)
    (0.61, 0.2)
    """
    require_count(n, "n", _LEAST_DRAWS, _MOST_DRAWS)
    require_count(seed, "seed", 0)
    require_zero_division(zero_division)
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    pair.require_truth("chance")
    return chance_of(score_pair(pair).events, n=n, seed=seed, zero_division=zero_division)


def chance_of(
    events: EventScores, *, n: int = DRAWS, seed: int = 0, zero_division: float = nan
) -> Chance:
    """Compute the level of chance from the rows of a result."""
    zones, alarms = events.zone_shares, events.alarms
    if alarms == 0:
        return _nothing(len(events), zero_division)
    spread = scatter(zones, alarms, most_draws=n, seed=seed, zero_division=zero_division)
    own = precision_of_points(zones.filled)
    variance = own.variance * _mean_reciprocal_where_any(zones.of_span, alarms)
    rows = EventChance(
        precision=own.mean,
        recall=1 - chance_recall_loss(zones.of_span, alarms),
        f1=spread.zone_f1,
        precision_std=np.sqrt(variance),
        recall_std=np.sqrt(spread.zone_recall_variance),
        f1_std=np.sqrt(spread.zone_f1_variance),
    )
    return Chance(
        alarms=alarms,
        precision=spread.precision,
        recall=float(rows.recall.mean()),
        f1=spread.f1,
        precision_std=sqrt(spread.precision_variance),
        recall_std=sqrt(spread.recall_variance),
        f1_std=sqrt(spread.f1_variance),
        precision_error=spread.precision_error,
        f1_error=spread.f1_error,
        draws=spread.draws,
        events=rows,
    )


def _nothing(count: int, zero_division: float) -> Chance:
    """Return the level without any alarm: every zone counts as what is chosen, if anything is."""
    undefined, none = np.full(count, nan), np.zeros(count)
    certain = nan if isnan(zero_division) else 0.0
    return Chance(
        alarms=0,
        precision=float(zero_division),
        recall=0.0,
        f1=certain,
        precision_std=certain,
        recall_std=0.0,
        f1_std=certain,
        precision_error=certain,
        f1_error=certain,
        draws=0,
        events=EventChance(undefined, none, undefined, undefined, none, undefined),
    )


def _mean_reciprocal_where_any(share: Floats, alarms: int) -> Floats:
    """Return the mean of 1/k for k Binomial, given that it is not 0."""
    any_point = reach_probability(share, alarms)
    reciprocal: Floats = mean_reciprocal(share, alarms)
    # In a zone that is next to nothing, a second point is next to impossible.
    return np.where(any_point > 0, reciprocal / np.where(any_point > 0, any_point, 1), 1.0)


def _plain(value: float) -> float | None:
    return None if isnan(value) else value


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
    zone_recall_variance: Floats
    zone_f1: Floats
    """Mean F1 in each zone, given that an alarm is there."""
    zone_f1_variance: Floats


class _Precisions(NamedTuple):
    """The precision of each draw, and what is known of it once its zones have their points."""

    values: Floats
    means: Floats
    variances: Floats
    level: float
    """The closed form of the level."""
    corrections: Floats
    """What has to be added to it, on average, to get the mean; 0 where it is exact."""


def scatter(
    zones: ZoneShares, alarms: int, *, most_draws: int, seed: int, zero_division: float = nan
) -> Scatter:
    """Find how the scores of a random detector with one or more alarms scatter."""
    single = one_point_recall_variance(zones.before, zones.filled)
    if alarms == 1 and zones.of_span.size <= _MOST_EXACT:
        return _one_alarm(zones, single, zero_division)
    work = alarms + zones.of_span.size
    draws = min(most_draws, max(_FEWEST_DRAWS, _MOST_WORK // work))
    generator = np.random.default_rng(seed)
    return _simulated(zones, single, alarms, draws, generator, zero_division=zero_division)


def _one_alarm(zones: ZoneShares, single: Floats, zero_division: float) -> Scatter:
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


def _mixture(share: Floats, own: Moments) -> float:
    """Return the variance of what has these moments with the probabilities of the shares."""
    mean = share @ own.mean
    return float(share @ (own.variance + (own.mean - mean) ** 2))


def _simulated(
    zones: ZoneShares,
    single: Floats,
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
    f1: Floats = f_measure(precision.values, recall)
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
    rows: Floats, own: Floats, zones: ZoneShares, alarms: int, zero_division: float
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


def _slopes(precision: float, recall: float) -> Floats:
    """Return the derivatives of F1, so that what varies is only what is not linear in the two."""
    return 2 * np.array([recall, precision]) ** 2 / (precision + recall) ** 2


def _known_recall_variance(zones: ZoneShares, single: Floats, *, alarms: int) -> Floats:
    """Return the part of each zone's variance of recall that needs no draws.

    It is the variance of k / (k + 1), and the variance for one point where k is 1.
    """
    w = zones.of_span
    loss = chance_recall_loss(w, alarms)
    # 1 / (k + 1)**2 has this mean, as (k + 1) C(K + 1, k + 1) = (K + 1) C(K, k).
    square = mean_reciprocal(w, alarms + 1) / ((alarms + 1) * np.where(w > 0, w, 1.0))
    counts = np.where(w > 0, np.maximum(square - loss**2, 0), 0.0)
    return counts + alarms * w * (1 - w) ** (alarms - 1) * single


def _zone_f1(zones: ZoneShares, alarms: int, sums: Floats) -> Moments:
    """Return mean and variance of F1 in each zone, given that an alarm is there.

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


def _of_powers(powers: Floats) -> Moments:
    """Turn the columns of means and mean squares into moments."""
    mean, square = powers.T
    return Moments(mean, np.maximum(square - mean**2, 0))


def _draw(
    zones: ZoneShares, own: Floats, alarms: int, draws: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Score random points; the columns are those of the kernel, for draws and for zones."""
    rows = np.empty((draws, _chance_kernels.COLUMNS))
    sums = np.zeros((zones.of_span.size, _chance_kernels.ZONE_COLUMNS))
    step = max(1, _BLOCK // (alarms + 1))
    for start in range(0, draws, step):
        part = rows[start : start + step]
        lengths = generator.standard_exponential((len(part), alarms + 1))
        _chance_kernels.score_draws(lengths, zones.borders, zones.ends, own, sums, part)
    return rows, sums


def random_average_precision(pair: TruthInSpan, sizes: NDArray[np.int64] = _NO_TIES) -> float:
    r"""Return about the mean average precision of random scores, in [0, 1].

    With :math:`H_n = 1 + \frac12 + \dots + \frac1n` for n zones,

    .. math:: \bar c + \frac{1 - \overline{p^3}}{n}
        \left(\frac{H_n}{12} + \frac{\pi^2}{12} - \frac56\right),

    where :math:`\overline{p^3}` is a mean over zones, and :math:`\bar c` the mean level of
    precision, :math:`\frac12 + \frac{p^2}{2}`, over the zones that have been reached whenever
    recall rises. It is 1/2 at least, but that a zone without length, which nothing ever reaches,
    counts as 0.

    Where there are ties, `sizes` has how many samples share each of the highest scores. Precision
    then counts when all that come together are in. This changes :math:`\bar c`, and the second
    term falls towards 0, since each point of a zone weighs less by then.

    Examples
    --------
    >>> import closecall as cc
    >>> scored = cc.affiliation_curve([0, 0, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6]).scored
    >>> round(random_average_precision(scored), 3)
    0.586
    """
    truth, borders = pair.truth, zone_borders(pair)
    return _chance_kernels.average_precision_level(truth.starts, truth.stops, borders, sizes)


def sizes_of_ties(
    scores: NDArray[Any], thresholds: NDArray[Any], pair: TruthInSpan
) -> NDArray[np.int64]:
    """Count the samples at the highest thresholds, as far as they matter; none without ties.

    A few passes over the scores, and none if all of them differ.

    Examples
    --------
    >>> import closecall as cc
    >>> curve = cc.affiliation_curve([0, 0, 1, 0, 0, 0], [3, 1, 3, 2, 3, 2])
    >>> sizes_of_ties(curve.scored.scores, curve.thresholds, curve.scored)
    array([3, 2, 1])
    """
    if thresholds.size == scores.size:
        return _NO_TIES
    lengths = np.diff(zone_borders(pair))
    enough = _ENOUGH * float(lengths.sum()) / float(lengths[lengths > 0].min())
    levels = 1
    high = scores[scores >= thresholds[0]]
    while high.size < enough and levels < thresholds.size:
        levels = min(2 * levels, thresholds.size)
        high = scores[scores >= thresholds[levels - 1]]
    places = np.searchsorted(thresholds[:levels][::-1], high)
    return np.bincount(places, minlength=levels)[::-1].copy()

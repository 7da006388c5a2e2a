"""The level that chance reaches with as many alarms as a detector, and how far it strays."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.chance import (
    chance_recall_loss,
    mean_reciprocal,
    precision_of_points,
    reach_probability,
)
from closecall.affiliation.random_detector import Scatter, scatter
from closecall.affiliation.score import require_zero_division, score_pair
from closecall.parameters import require_count
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.event_scores import EventScores

DRAWS = 1000
_LEAST_DRAWS, _MOST_DRAWS = 2, 1_000_000  # two, for a standard deviation
_EVENT_COLUMNS = ("precision", "recall", "f1", "precision_std", "recall_std", "f1_std")


@dataclass(frozen=True, repr=False, eq=False)
class EventChance:
    """What chance reaches in the zone of each true event, each column an array."""

    precision: NDArray[np.float64]
    """Mean precision given that an alarm is in the zone, however many are; nan without alarms.

    It is the zone's own level, whether or not the judged detector has a precision there."""
    recall: NDArray[np.float64]
    """Mean recall of the random detector."""
    f1: NDArray[np.float64]
    """Mean F1 given that an alarm is in the zone; nan without alarms.

    Exact, within 1e-5, for one alarm; simulated as the F1 overall is for more."""
    precision_std: NDArray[np.float64]
    """Standard deviation of the random detector's precision, given the same; nan as above."""
    recall_std: NDArray[np.float64]
    """Standard deviation of the random detector's recall."""
    f1_std: NDArray[np.float64]
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
        """Give the levels by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    def to_dict(self) -> dict[str, Any]:
        """Give plain values that any JSON writer takes; what is undefined becomes None."""
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
    r"""Give the affiliation scores that chance reaches with as many alarms as the detector.

    The random detector has K alarms, as many as there are predicted events; each is a point that
    falls anywhere in the span with equal chance. With w the share of the span that an event's zone
    is, and p the share of the zone that the event fills, it reaches in that zone on average

    .. math::

        c_P = \frac12 + \frac{p^2}{2}, \qquad
        c_R = 1 - \frac{1 - (1 - w)^{K+1}}{(K + 1)\, w}.

    These are the levels of each event, c_P given that an alarm is in the zone, as is the level of
    its F1. The ``precision``,
    ``recall`` and ``f1`` overall are the means of what `affiliation` gives the random detector, all
    in [0, 1]. They depend on how many alarms there are, not on where.

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
    """Give the level of chance from the rows of a result."""
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
    return _overall(rows, alarms, spread)


def _nothing(count: int, zero_division: float) -> Chance:
    """Give the level without any alarm: every zone counts as what is chosen, if anything is."""
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


def _overall(rows: EventChance, alarms: int, spread: Scatter) -> Chance:
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


def _mean_reciprocal_where_any(share: NDArray[np.float64], alarms: int) -> NDArray[np.float64]:
    """Give the mean of 1/k for k Binomial of which it is known that it is not 0."""
    any_point = reach_probability(share, alarms)
    reciprocal: NDArray[np.float64] = mean_reciprocal(share, alarms)
    # In a zone that is next to nothing, a second point is next to impossible.
    return np.where(any_point > 0, reciprocal / np.where(any_point > 0, any_point, 1), 1.0)


def _plain(value: float) -> float | None:
    return None if isnan(value) else value

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
)
from closecall.affiliation.random_detector import Scatter, scatter
from closecall.affiliation.score import score_pair
from closecall.pair import read_pair
from closecall.whole import require_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.event_scores import EventScores

DRAWS = 1000
_LEAST_DRAWS = 2  # for a standard deviation
_EVENT_COLUMNS = ("precision", "recall", "precision_std", "recall_std")


@dataclass(frozen=True, repr=False, eq=False)
class EventChance:
    """What chance reaches in the zone of each true event, each column an array."""

    precision: NDArray[np.float64]
    """Mean precision of any number of random points; nan where the detector has no precision."""
    recall: NDArray[np.float64]
    """Mean recall of the random detector."""
    precision_std: NDArray[np.float64]
    """Standard deviation of the random detector's precision where it has one; nan as above."""
    recall_std: NDArray[np.float64]
    """Standard deviation of the random detector's recall."""

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
    """Mean level over the events where the detector's precision is defined; nan without alarms."""
    recall: float
    """Mean level over all events; 0 without alarms."""
    f1: float
    """Mean F1 of the random detector; nan without alarms."""
    precision_std: float
    """Standard deviation of the random detector's precision; nan without alarms."""
    recall_std: float
    """Standard deviation of the random detector's recall."""
    f1_std: float
    """Standard deviation of the random detector's F1; nan without alarms."""
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
        deviations = ("precision_std", "recall_std", "f1_std", "f1_error")
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
) -> Chance:
    r"""Give the affiliation scores that chance reaches with as many alarms as the detector.

    The random detector has K alarms, as many as there are predicted events; each is a point that
    falls anywhere in the span with equal chance. With w the share of the span that an event's zone
    is, and p the share of the zone that the event fills, it reaches in that zone on average

    .. math::

        c_P = \frac12 + \frac{p^2}{2}, \qquad
        c_R = 1 - \frac{1 - (1 - w)^{K+1}}{(K + 1)\, w}.

    Levels are in [0, 1]. Their means over the events are what `affiliation` gives a detector that
    knows nothing; ``precision_above_chance`` and the like of its result correct for them. Precision
    and recall are exact; for one alarm, and up to 1,000 events, so is all else. For more, the
    mean F1 (beyond its linear part, whose mean is known) and the standard deviations come from
    ``n`` simulated detectors. The work is bounded by 20 million points and zones in all, so there
    are fewer, and at least 8, where there are very many.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    n
        How many random detectors to simulate, 2 or more.
    seed
        Seed of the simulation, a whole number of 0 or more.

    Returns
    -------
    Chance
        ``precision``, ``recall`` and ``f1``, the same with ``_std``, ``alarms``, ``events``.
        Without any alarm, recall is 0 and precision and F1 are nan.

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
    require_whole(n, "n", _LEAST_DRAWS)
    require_whole(seed, "seed", 0)
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    pair.require_truth("chance")
    return chance_of(score_pair(pair).events, n=n, seed=seed)


def chance_of(events: EventScores, *, n: int = DRAWS, seed: int = 0) -> Chance:
    """Give the level of chance from the rows of a result."""
    zones, alarms = events.zone_shares, events.alarms
    defined = ~np.isnan(events.precision)
    count = len(events)
    if alarms == 0:
        nothing = np.full(count, nan)
        rows = EventChance(nothing, np.zeros(count), nothing, np.zeros(count))
        return Chance(0, nan, 0.0, nan, nan, 0.0, nan, nan, 0, rows)
    spread = scatter(zones, alarms, most_draws=n, seed=seed)
    own = precision_of_points(zones.filled)
    variance = own.variance * _mean_reciprocal_where_any(zones.of_span, alarms)
    rows = EventChance(
        precision=np.where(defined, own.mean, nan),
        recall=1 - chance_recall_loss(zones.of_span, alarms),
        precision_std=np.where(defined, np.sqrt(variance), nan),
        recall_std=np.sqrt(spread.zone_recall_variance),
    )
    return _overall(rows, defined, alarms, spread)


def _overall(rows: EventChance, defined: NDArray[np.bool_], alarms: int, spread: Scatter) -> Chance:
    return Chance(
        alarms=alarms,
        precision=float(rows.precision[defined].mean()),
        recall=float(rows.recall.mean()),
        f1=spread.f1,
        precision_std=sqrt(spread.precision_variance),
        recall_std=sqrt(spread.recall_variance),
        f1_std=sqrt(spread.f1_variance),
        f1_error=spread.f1_error,
        draws=spread.draws,
        events=rows,
    )


def _mean_reciprocal_where_any(share: NDArray[np.float64], alarms: int) -> NDArray[np.float64]:
    """Give the mean of 1/k for k Binomial of which it is known that it is not 0."""
    with np.errstate(divide="ignore"):  # log 0 at share 1
        any_point = -np.expm1(alarms * np.log1p(-share))
    reciprocal: NDArray[np.float64] = mean_reciprocal(share, alarms)
    # In a zone that is next to nothing, a second point is next to impossible.
    return np.where(any_point > 0, reciprocal / np.where(any_point > 0, any_point, 1), 1.0)


def _plain(value: float) -> float | None:
    return None if isnan(value) else value

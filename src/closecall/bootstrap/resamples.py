"""Draw resamples of events or series, and read intervals and differences off them."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.bootstrap.caution import FEWEST, caution_about
from closecall.bootstrap.interval import Difference, Interval, ScoreIntervals
from closecall.bootstrap.student import student_probability, student_quantile
from closecall.bootstrap.sums import Sums
from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FEWEST_RESAMPLES = 100
_ROUNDING = 1e-12  # what differs by less is equal


def hierarchical(
    precision: ArrayLike,
    recall: ArrayLike,
    series: ArrayLike,
    *,
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
) -> ScoreIntervals:
    """Give the intervals of scores that are pooled over the events of many series.

    Series are resampled with all their events, since events of one series are alike.

    Parameters
    ----------
    precision, recall
        The individual scores, one per true event; precision is nan where it is undefined, and is
        then left out of its mean.
    series
        Which series each event is from: numbers or names.
    level
        How often such intervals are meant to hold the true score, between 0 and 1.
    n
        How many resamples to draw, 100 or more.
    seed
        The same seed gives the same intervals.

    Returns
    -------
    ScoreIntervals
        In [0, 1], higher is better; nan where fewer than two series have the score.

    Examples
    --------
    >>> precision, recall = [0.9, 0.7, 0.8, 1.0, 0.6], [0.8, 0.9, 0.4, 1.0, 0.0]
    >>> hierarchical(precision, recall, ["a", "a", "b", "b", "c"]).precision
    Interval(0.800, from 0.296 to 0.927)
    """
    return Resamples.draw([precision], [recall], series, n=n, seed=seed).intervals(0, level)


def mean_interval(
    values: ArrayLike, *, level: float = 0.95, low: float = -np.inf, high: float = np.inf
) -> Interval:
    r"""Give the interval of the mean of one number per series: :math:`\bar x \pm t s/\sqrt m`.

    nan is left out. The limits are kept within `low` and `high`, if the number has bounds.

    Examples
    --------
    >>> mean_interval([0.8, 0.9, 0.7, 1.0], high=1)
    Interval(0.850, from 0.645 to 1.000)
    """
    require_level(level)
    column = np.asarray(values, dtype=np.float64)
    column = column[~np.isnan(column)]
    if column.size < FEWEST:
        return Interval(float(column.mean()) if column.size else nan, nan, nan)
    mean, reach = float(column.mean()), student_quantile((1 + level) / 2, column.size - 1)
    reach *= float(column.std(ddof=1)) / sqrt(column.size)
    return Interval(mean, max(mean - reach, low), min(mean + reach, high))


@dataclass(frozen=True, repr=False, eq=False)
class Resamples:
    """Precision, recall and F1 of several detectors in resamples of the same events."""

    values: NDArray[np.float64]
    """What the scores are over the events at hand: one row per score, a column per detector."""
    draws: NDArray[np.float64]
    """The same in each resample: scores, then detectors, then resamples."""
    worse: NDArray[np.float64]
    """As `draws`, with half an event of score 0."""
    better: NDArray[np.float64]
    """As `draws`, with half an event of score 1."""
    defined: NDArray[np.int64]
    """In how many events, or series, each score is defined; shaped as `values`."""
    events: int
    series: int | None

    @staticmethod
    def draw(
        precision: Any, recall: Any, series: ArrayLike | None = None, *, n: int, seed: int
    ) -> Resamples:
        """Resample events, or whole series: detectors in rows, events in columns."""
        require_drawing(n, seed)
        P, R = np.asarray(precision, dtype=np.float64), np.asarray(recall, dtype=np.float64)
        groups = None if series is None else np.asarray(series)
        _require_shape(P, R, groups)
        sums, count = Sums.of_events(P, R), None
        if groups is not None:
            _, places = np.unique(groups, return_inverse=True)
            count = int(places.max()) + 1
            if count >= FEWEST:  # a single series has only its events to resample
                sums = sums.by_series(places, count)
        found = np.count_nonzero(sums.defined, axis=0)
        defined = np.stack([found, np.full_like(found, len(sums)), found])
        return Resamples(sums.values(), *sums.resampled(n, seed), defined, P.shape[1], count)

    def intervals(self, detector: int, level: float) -> ScoreIntervals:
        """Give the intervals of one detector."""
        require_level(level)
        precision, recall, f1 = (self._interval(score, detector, level) for score in range(3))
        return ScoreIntervals(
            precision,
            recall,
            f1,
            level=level,
            n=self.draws.shape[2],
            events=self.events,
            series=self.series,
            caution=self._caution(detector),
        )

    def _interval(self, score: int, detector: int, level: float) -> Interval:
        value = float(self.values[score, detector])
        if self.defined[score, detector] < FEWEST:
            return Interval(value, nan, nan)
        low = float(np.quantile(self.worse[score, detector], (1 - level) / 2))
        high = float(np.quantile(self.better[score, detector], (1 + level) / 2))
        return Interval(value, min(low, value), max(high, value))

    def differences(self, first: int, second: int, level: float) -> tuple[Difference, ...]:
        """Give by how much the first detector is ahead, in precision, recall and F1."""
        require_level(level)
        return tuple(self._difference(score, first, second, level) for score in range(3))

    def _difference(self, score: int, first: int, second: int, level: float) -> Difference:
        gap = float(self.values[score, first] - self.values[score, second])
        if self.defined[score, [first, second]].min() < FEWEST:
            return Difference(gap, nan, nan, nan)
        units = int(self.defined[1, first])
        spread = float((self.draws[score, first] - self.draws[score, second]).std())
        spread *= sqrt((units + 1) / (units - 1))
        if spread < _ROUNDING:
            ahead = float(gap > _ROUNDING) + float(abs(gap) <= _ROUNDING) / 2
        else:
            ahead = student_probability(gap / spread, units - 1)
        reach = student_quantile((1 + level) / 2, units - 1) * spread
        return Difference(gap, max(gap - reach, -1.0), min(gap + reach, 1.0), ahead)

    def _caution(self, detector: int) -> str:
        if self.series == 1 and self.events >= FEWEST:
            about = "All events are of one series: nothing is known about other series."
            return " ".join(filter(None, (about, caution_about(self.events))))
        what = "events" if self.series is None else "series"
        units, defined = int(self.defined[1, detector]), int(self.defined[0, detector])
        general = caution_about(units, what)
        if not general and caution_about(defined, what):
            return f"Precision is defined on only {defined} of the {units} {what}."
        return general


def require_level(level: Any) -> None:
    """Refuse a level that is not between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InputError(
            expected("`level` to lie between 0 and 1", repr(level), "Pass 0.95 for 95 %.")
        )


def require_drawing(n: Any, seed: Any) -> None:
    """Refuse too few resamples, and a seed that is none."""
    for name, value, least in (("n", n, _FEWEST_RESAMPLES), ("seed", seed, 0)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < least:
            raise InputError(
                expected(f"`{name}` to be a whole number from {least} up", repr(value))
            )


def _require_shape(
    precision: NDArray[np.float64], recall: NDArray[np.float64], series: NDArray[Any] | None
) -> None:
    if precision.shape != recall.shape:
        got = f"{precision.shape[-1]} and {recall.shape[-1]}"
        raise InputError(expected("as many values of `precision` as of `recall`", got))
    if precision.shape[1] == 0:
        raise InputError(expected("at least one event", "none"))
    if np.isnan(recall).any():
        index = int(np.isnan(recall).any(axis=0).argmax())
        raise InputError(expected("`recall` of every event", f"nan at index {index}"))
    if series is not None and series.shape != precision.shape[1:]:
        got = f"{series.shape} for {precision.shape[1]} events"
        raise InputError(expected("`series` to have one entry per event", got))

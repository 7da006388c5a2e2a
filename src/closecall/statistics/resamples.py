"""Draw resamples of events or series, and read intervals and differences off them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.parameters import read_numbers, shown
from closecall.statistics.caution import (
    FEWEST,
    caution_about,
    caution_about_pairs,
    caution_about_some,
)
from closecall.statistics.interval import Difference, Interval, ScoreIntervals
from closecall.statistics.lead import ROUNDING, lead
from closecall.statistics.options import read_drawing, read_level
from closecall.statistics.sums import Drawn, Sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ONE_SERIES = "All events are of one series: nothing is known about other series."


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

    Series are resampled with all their events, since events of one series are alike. Every event
    weighs the same, so large series count most. They may be as unequal as they like if their sizes
    do not go with the scores. If a few large series are harder than the many small ones and the
    series at hand have none of these, nothing tells of them, and the interval does not hold.

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
        How many resamples to draw, from 100 to 1,000,000.
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
    Interval(0.800, from 0.282 to 0.930)
    """
    return Resamples.draw([precision], [recall], series, n=n, seed=seed).intervals(0, level)


@dataclass(frozen=True, repr=False, eq=False)
class Resamples:
    """Precision, recall and F1 of several detectors in resamples of the same events."""

    values: NDArray[np.float64]
    """What the scores are over the events at hand: one row per score, a column per detector."""
    drawn: Drawn
    """The same in each resample: scores, then detectors, then resamples."""
    defined: NDArray[np.int64]
    """In how many events, or series, each score is defined; shaped as `values`."""
    sums: Sums
    """What was resampled."""
    events: int
    series: int | None

    @staticmethod
    def draw(
        precision: Any, recall: Any, series: ArrayLike | None = None, *, n: int, seed: int
    ) -> Resamples:
        """Resample events, or whole series: detectors in rows, events in columns."""
        n, seed = read_drawing(n, seed)
        P, R = read_numbers(precision, "precision"), read_numbers(recall, "recall")
        _require_scores(P, R)
        sums, count = Sums.of_events(P, R), None
        if series is not None:
            places = _numbered(series, P.shape[1])
            count = int(places.max()) + 1
            if count >= FEWEST:  # a single series has only its events to resample
                sums = sums.by_series(places, count)
        found = np.count_nonzero(sums.defined, axis=0)
        defined = np.stack([found, np.full_like(found, len(sums)), found])
        drawn = sums.resampled(n, seed)
        return Resamples(sums.values(), drawn, defined, sums, P.shape[1], count)

    def intervals(self, detector: int, level: float) -> ScoreIntervals:
        """Give the intervals of one detector."""
        level = read_level(level)
        precision, recall, f1 = (self._interval(score, detector, level) for score in range(3))
        return ScoreIntervals(
            precision,
            recall,
            f1,
            level=level,
            n=self.drawn.plain.shape[2],
            events=self.events,
            series=self.series,
            caution=self._caution(detector),
        )

    def _interval(self, score: int, detector: int, level: float) -> Interval:
        value = float(self.values[score, detector])
        if self.defined[score, detector] < FEWEST:
            return Interval(value, nan, nan)
        drawn = self.drawn.at(score, detector)
        low = float(np.quantile(drawn.worse, (1 - level) / 2))
        high = float(np.quantile(drawn.better, (1 + level) / 2))
        return Interval(value, min(low, value), max(high, value))

    def differences(self, first: int, second: int, level: float) -> tuple[Difference, ...]:
        """Give by how much the first detector is ahead, in precision, recall and F1."""
        level = read_level(level)
        differing = self.sums.differing(first, second, ROUNDING)
        return tuple(
            self._difference(score, first, second, level, differing[score]) for score in range(3)
        )

    def _difference(
        self, score: int, first: int, second: int, level: float, differing: int
    ) -> Difference:
        gap = float(self.values[score, first] - self.values[score, second])
        # A mean over fewer events varies more, and its spread is known less well.
        judged = int(self.defined[score, [first, second]].min())
        if isnan(gap) or judged < FEWEST:
            return Difference(gap, nan, nan, nan)
        ours, theirs = self.drawn.at(score, first), self.drawn.at(score, second)
        return lead(
            gap,
            float((ours.plain - theirs.plain).std()) * sqrt((judged + 1) / (judged - 1)),
            judged=judged,
            differing=min(differing, judged),  # an event that only one found settles nothing
            level=level,
            set_back=(ours.set_back(theirs), theirs.set_back(ours)),
        )

    def pair_caution(self, first: int, second: int) -> str:
        """Say what cannot be concluded about two detectors."""
        units, judged = len(self.sums), int(self.defined[0, [first, second]].min())
        about = _ONE_SERIES if self.series == 1 else ""
        general = caution_about_pairs(units, self._what)
        if not general:
            general = caution_about_some(judged, units, "Precision", self._what)
        return " ".join(filter(None, (about, general)))

    @property
    def _what(self) -> str:
        return "events" if self.series is None or self.series == 1 else "series"

    def _caution(self, detector: int) -> str:
        units, defined = len(self.sums), int(self.defined[0, detector])
        about = _ONE_SERIES if self.series == 1 and self.events >= FEWEST else ""
        general = caution_about(units, self._what)
        if not general:
            general = caution_about_some(defined, units, "Precision", self._what)
        return " ".join(filter(None, (about, general)))


def _require_scores(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> None:
    if precision.shape != recall.shape:
        got = f"{precision.shape[-1]} and {recall.shape[-1]}"
        raise InputError(expected("as many values of `precision` as of `recall`", got))
    if precision.shape[1] == 0:
        raise InputError(expected("at least one event", "none"))
    if np.isnan(recall).any():
        index = int(np.isnan(recall).any(axis=0).argmax())
        raise InputError(expected("`recall` of every event", f"nan at index {index}"))
    for name, scores in (("precision", precision), ("recall", recall)):
        outside = (scores < 0) | (scores > 1)
        if outside.any():
            detector, index = np.argwhere(outside)[0]
            got = f"{scores[detector, index]:g} at index {index}"
            raise InputError(expected(f"`{name}` to lie between 0 and 1", got))


def _numbered(series: ArrayLike, events: int) -> NDArray[np.int64]:
    """Give the series of each event as a number from 0 on, in the order of their names."""
    try:
        names = np.asarray(series)
        _, places = np.unique(names, return_inverse=True)
    except (TypeError, ValueError):
        rule = "`series` to be numbers or names, all of one kind"
        raise InputTypeError(expected(rule, shown(series))) from None
    if names.shape != (events,):
        got = f"{names.shape} for {events} events"
        raise InputError(expected("`series` to have one entry per event", got))
    return places

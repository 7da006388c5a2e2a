"""Resamples of events or series: weighted means of precision, recall and F1, and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.fscore import f_measure
from closecall.parameters import read_numbers, shown
from closecall.statistics.intervals import (
    FEW,
    FEWEST,
    Difference,
    Interval,
    ScoreIntervals,
    caution_about,
    caution_about_pairs,
    read_drawing,
    read_level,
)
from closecall.statistics.leads import ROUNDING, SetBack, lead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

_MOST_WEIGHTS = 1 << 20  # in memory at a time
_ADDED = 0.5  # of an event, at the far end of each limit; see `closecall.statistics`
_ONE_SERIES = "All events are of one series: nothing is known about other series."


class Drawn(NamedTuple):
    """Scores in resamples of the same events, all arrays alike."""

    plain: NDArray[np.float64]
    """As the resampled events have them."""
    worse: NDArray[np.float64]
    """With half an event of score 0."""
    better: NDArray[np.float64]
    """With half an event of score 1."""

    def at(self, *place: int) -> Drawn:
        """Return those of one score, or of one detector."""
        return Drawn(self.plain[place], self.worse[place], self.better[place])

    def set_back(self, other: Drawn, scale: float = 1.0) -> SetBack:
        """Return the leads over another detector with half an event against this one."""
        one = np.minimum(self.worse - other.plain, self.plain - other.better)
        return SetBack(scale * one, scale * (self.worse - other.better))


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over each event, or over the events of each series (rows), for detectors (columns)."""

    precision: NDArray[np.float64]
    defined: NDArray[np.float64]
    """How many events have a precision."""
    recall: NDArray[np.float64]
    events: NDArray[np.float64]
    """How many events there are: one column."""

    @staticmethod
    def of_events(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> Sums:
        """Take every event on its own; detectors are in rows here."""
        defined = ~np.isnan(precision.T)
        events = np.ones((recall.shape[1], 1))
        return Sums(
            np.where(defined, precision.T, 0.0), defined.astype(np.float64), recall.T, events
        )

    def by_series(self, places: NDArray[np.int64], count: int) -> Sums:
        """Add up the events of each series."""

        def added(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            total = np.zeros((count, rows.shape[1]))
            np.add.at(total, places, rows)
            return total

        return Sums(*map(added, (self.precision, self.defined, self.recall, self.events)))

    def __len__(self) -> int:
        return len(self.events)

    def values(self) -> NDArray[np.float64]:
        """Return precision, recall and F1 (rows) of each detector (columns), without resampling."""
        return _scores(self._weighed(np.ones((1, len(self)))), np.zeros((1, 1)), 0.0)[:, :, 0]

    def resampled(self, n: int, seed: int) -> Drawn:
        """Return scores by score, detector and resample; O(n m) for m rows, in blocks."""
        shape = (3, self.recall.shape[1], n)
        plain, worse, better = np.empty(shape), np.empty(shape), np.empty(shape)
        size = (self.events**2).sum() / self.events.sum()  # of the series of an event, on average
        for block, weights, added in self._weights(n, seed):
            weighed, extra = self._weighed(weights), added * size
            plain[:, :, block] = _scores(weighed, np.zeros_like(extra), 0.0)
            worse[:, :, block] = _scores(weighed, extra, 0.0)
            better[:, :, block] = _scores(weighed, extra, 1.0)
        return Drawn(plain, worse, better)

    def _weights(
        self, n: int, seed: int
    ) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
        """Draw the weights block by block; the blocks do not change what is drawn."""
        ours, extra = np.random.default_rng(seed).spawn(2)
        added = extra.standard_gamma(_ADDED, size=(n, 1))
        rows = ceil(_MOST_WEIGHTS / len(self))
        for start in range(0, n, rows):
            block = slice(start, min(start + rows, n))
            yield block, ours.standard_exponential((block.stop - start, len(self))), added[block]

    def differing(self, first: int, second: int, rounding: float) -> tuple[int, int, int]:
        """Count the rows on which two detectors differ in precision, in recall, and in either."""

        def apart(column: NDArray[np.float64]) -> NDArray[np.bool_]:
            return np.abs(column[:, first] - column[:, second]) > rounding

        precision, recall = apart(self.precision) | apart(self.defined), apart(self.recall)
        precise, recalled, either = map(np.count_nonzero, (precision, recall, precision | recall))
        return int(precise), int(recalled), int(either)

    @cached_property
    def _columns(self) -> NDArray[np.float64]:
        return np.hstack([self.precision, self.defined, self.recall, self.events])

    def _weighed(self, weights: NDArray[np.float64]) -> Sums:
        """Add up the weighted rows: one row for each resample."""
        width = self.precision.shape[1]
        ends = [width, 2 * width, 3 * width]
        return Sums(*np.split(weights @ self._columns, ends, axis=1))


def _scores(weighed: Sums, extra: NDArray[np.float64], score: float) -> NDArray[np.float64]:
    """Take the means, with so much of an event with that score added to each resample."""
    defined = weighed.defined + extra
    precision = np.full_like(defined, np.nan)
    np.divide(weighed.precision + extra * score, defined, precision, where=defined > 0)
    recall = (weighed.recall + extra * score) / (weighed.events + extra)
    # Rounding alone could put a mean of ones above 1.
    precision, recall = np.minimum(precision, 1.0), np.minimum(recall, 1.0)
    return np.stack([precision, recall, f_measure(precision, recall)]).transpose(0, 2, 1)


def hierarchical(
    precision: ArrayLike,
    recall: ArrayLike,
    series: ArrayLike,
    *,
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
) -> ScoreIntervals:
    """Return the intervals of scores that are pooled over the events of many series.

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
        """Return the intervals of one detector."""
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
            caution=self._caution(caution_about, [detector], fewest=FEWEST),
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
        """Return by how much the first detector is ahead, in precision, recall and F1."""
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
        """Return what cannot be concluded about two detectors."""
        return self._caution(caution_about_pairs, [first, second], fewest=1)

    def _caution(
        self, about: Callable[[int, str], str], detectors: list[int], *, fewest: int
    ) -> str:
        units, defined = len(self.sums), int(self.defined[0, detectors].min())
        one_series = self.series == 1 and self.events >= fewest
        what = "events" if self.series is None or self.series == 1 else "series"
        caution = about(units, what)
        if not caution and defined <= FEW:
            caution = f"Precision is defined on only {defined} of the {units} {what}."
        return " ".join(filter(None, (_ONE_SERIES if one_series else "", caution)))


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
    """Return the series of each event as a number from 0 on, in the order of their names."""
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

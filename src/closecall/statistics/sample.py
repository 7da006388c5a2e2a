"""A sample of events or series: means of precision, recall and F1, their limits and differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, isnan, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.errors import InputError, InputTypeError, shown
from closecall.fscore import f_measure
from closecall.parameters import read_numbers, require_count
from closecall.statistics.intervals import (
    FEW,
    FEWEST,
    FEWEST_TO_COMPARE,
    Cautions,
    Difference,
    Interval,
    ScoreIntervals,
    caution_about,
    caution_about_pairs,
    read_drawing,
    read_level,
)
from closecall.statistics.leads import ROUNDING, events_needed, lead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

_MOST_WEIGHTS = 1 << 20  # in memory at a time
_ADDED = 0.5  # of an event, at the far end of each limit; see `closecall.statistics`
_ONE_SERIES = "All events are of one series: nothing is known about other series."
_FALSE_DEPENDENCE = 0.01  # how often independent events are called dependent, over all detectors
_LONGEST_BLOCK = 10**9
_RUNS = 3  # of events that are alike, in a block


class Drawn(NamedTuple):
    """Scores in resamples of the same events, both arrays alike."""

    worse: NDArray[np.float64]
    """With half an event of score 0."""
    better: NDArray[np.float64]
    """With half an event of score 1."""


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

    def added_up(self, places: NDArray[np.int64]) -> Sums:
        """Add up the events of each series, or block, which are numbered from 0."""

        def added(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            total = np.zeros((int(places.max()) + 1, rows.shape[1]))
            np.add.at(total, places, rows)
            return total

        return Sums(*map(added, (self.precision, self.defined, self.recall, self.events)))

    def __len__(self) -> int:
        return len(self.events)

    def values(self) -> NDArray[np.float64]:
        """Return precision, recall and F1 (rows) of each detector (columns), without resampling."""
        return _scores(self._weighed(np.ones((1, len(self)))), np.zeros((1, 1)), 0.0)[:, :, 0]

    def influences(self) -> NDArray[np.float64]:
        """Return how the scores change with the weight of a row: by score, detector and row.

        These are derivatives, so that their sum is 0 and the sum of their squares the variance.
        """
        precision, recall, _ = self.values()
        with np.errstate(invalid="ignore"):  # without a precision there is no F1 either
            own = (self.precision - precision * self.defined) / self.defined.sum(axis=0)
        recalled = (self.recall - recall * self.events) / self.events.sum()
        total = np.maximum(precision + recall, np.finfo(np.float64).tiny)
        both = 2 * ((recall / total) ** 2 * own + (precision / total) ** 2 * recalled)
        return np.stack([own, recalled, both]).transpose(0, 2, 1)

    def units(self) -> NDArray[np.float64]:
        """Return as how many rows that weigh the same they count, by score and detector."""
        defined, events = (
            counts.sum(axis=0) ** 2 / np.maximum((counts**2).sum(axis=0), 1)
            for counts in (self.defined, self.events)
        )
        return np.stack([defined, np.full_like(defined, events), defined])

    def resampled(self, n: int, seed: int) -> Drawn:
        """Return scores by score, detector and resample; O(n m) for m rows, in parts."""
        shape = (3, self.recall.shape[1], n)
        worse, better = np.empty(shape), np.empty(shape)
        size = (self.events**2).sum() / self.events.sum()  # of the series of an event, on average
        for part, weights, added in self._weights(n, seed):
            weighed, extra = self._weighed(weights), added * size
            worse[:, :, part] = _scores(weighed, extra, 0.0)
            better[:, :, part] = _scores(weighed, extra, 1.0)
        return Drawn(worse, better)

    def _weights(
        self, n: int, seed: int
    ) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
        """Draw the weights part by part; the parts do not change what is drawn."""
        ours, extra = np.random.default_rng(seed).spawn(2)
        added = extra.standard_gamma(_ADDED, size=(n, 1))
        rows = ceil(_MOST_WEIGHTS / len(self))
        for start in range(0, n, rows):
            part = slice(start, min(start + rows, n))
            yield part, ours.standard_exponential((part.stop - start, len(self))), added[part]

    def differing(self, first: int, second: int) -> tuple[int, int, int]:
        """Count the rows on which two detectors differ in precision, in recall, and in either."""

        def apart(column: NDArray[np.float64]) -> NDArray[np.bool_]:
            return np.abs(column[:, first] - column[:, second]) > ROUNDING

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
    return Sample.read([precision], [recall], series).intervals(0, level, n=n, seed=seed)


@dataclass(frozen=True, repr=False, eq=False)
class Sample:
    """Precision, recall and F1 of several detectors on the same events."""

    sums: Sums
    """What varies: events, blocks of them, or series."""
    events: int
    series: int | None
    block: int
    """How many consecutive events go together."""

    @staticmethod
    def read(
        precision: Any, recall: Any, series: ArrayLike | None = None, *, block: int = 1
    ) -> Sample:
        """Take events, blocks of them, or whole series: detectors in rows, events in columns."""
        require_count(block, "block", 1, _LONGEST_BLOCK)
        P, R = read_numbers(precision, "precision"), read_numbers(recall, "recall")
        _require_scores(P, R)
        sums, count = Sums.of_events(P, R), None
        if series is not None:
            places = _numbered(series, P.shape[1])
            count = int(places.max()) + 1
            if count >= FEWEST:  # a single series has only its events to tell from
                sums = sums.added_up(places)
        elif block > 1:
            sums = sums.added_up(np.arange(P.shape[1]) // int(block))
        return Sample(sums, P.shape[1], count, int(block))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """What the scores are over the events at hand: one row per score, a column per detector."""
        return self.sums.values()

    @cached_property
    def defined(self) -> NDArray[np.int64]:
        """On how many events, blocks or series each score is defined; shaped as `values`."""
        found = np.count_nonzero(self.sums.defined, axis=0)
        return np.stack([found, np.full_like(found, len(self.sums)), found])

    @cached_property
    def _influences(self) -> NDArray[np.float64]:
        return self.sums.influences()

    @cached_property
    def _units(self) -> NDArray[np.float64]:
        return self.sums.units()

    @cached_property
    def _drawn(self) -> dict[tuple[int, int], Drawn]:
        return {}

    def drawn(self, n: int, seed: int) -> Drawn:
        """Return the scores in n resamples, the same weights for all detectors; drawn once."""
        asked = read_drawing(n, seed)
        if asked not in self._drawn:
            self._drawn[asked] = self.sums.resampled(*asked)
        return self._drawn[asked]

    def intervals(self, detector: int, level: float, *, n: int, seed: int) -> ScoreIntervals:
        """Return the intervals of one detector, from n resamples."""
        level, drawn = read_level(level), self.drawn(n, seed)
        precision, recall, f1 = (
            self._interval(drawn, score, detector, level) for score in range(3)
        )
        return ScoreIntervals(
            precision,
            recall,
            f1,
            level=level,
            n=drawn.worse.shape[2],
            events=self.events,
            series=self.series,
            block=self.block,
            cautions=self._cautions(caution_about, [detector], self._influences[:, detector]),
        )

    def _interval(self, drawn: Drawn, score: int, detector: int, level: float) -> Interval:
        value = float(self.values[score, detector])
        if self.defined[score, detector] < FEWEST:
            return Interval(value, nan, nan)
        low = float(np.quantile(drawn.worse[score, detector], (1 - level) / 2))
        high = float(np.quantile(drawn.better[score, detector], (1 + level) / 2))
        return Interval(value, min(low, value), max(high, value))

    def differences(self, first: int, second: int, level: float) -> tuple[Difference, ...]:
        """Return by how much the first detector is ahead, in precision, recall and F1."""
        level, pair = read_level(level), [first, second]
        differing = self.sums.differing(first, second)
        return tuple(self._difference(score, pair, level, differing[score]) for score in range(3))

    def _difference(self, score: int, pair: list[int], level: float, differing: int) -> Difference:
        ours, theirs = self.values[:, pair].T
        gap = float(ours[score] - theirs[score])
        # A mean over fewer events varies more, and its spread is known less well.
        judged = int(self.defined[score, pair].min())
        if isnan(gap) or judged < FEWEST:
            return Difference(gap, nan, nan, nan)
        steps = np.subtract(*self._influences[score, pair])
        return lead(
            gap,
            sqrt(float(steps @ steps) * judged / (judged - 1)),
            judged=judged,
            differing=min(differing, judged),  # an event that only one found settles nothing
            level=level,
            units=float(self._units[score, pair].min()),
            farthest=_farthest_f1(ours, theirs) if score == len(ours) - 1 else None,
        )

    def events_needed(self, first: int, second: int, score: int, level: float) -> int | None:
        """Return how many events it would take to tell two detectors apart in one score.

        The difference is taken as a mean over events, as its derivatives have it.
        """
        gap = float(np.subtract(*self.values[score, [first, second]]))
        steps = np.subtract(*self._influences[score, [first, second]])
        needed = events_needed(gap + steps * steps.size, level=level)
        return needed and needed * self.block

    def pair_cautions(self, first: int, second: int) -> Cautions:
        """Return what cannot be concluded about two detectors."""
        steps = self._influences[:, first] - self._influences[:, second]
        return self._cautions(caution_about_pairs, [first, second], steps)

    def _cautions(
        self, about: Callable[[int, str], str], detectors: list[int], steps: NDArray[np.float64]
    ) -> Cautions:
        units, defined = len(self.sums), int(self.defined[0, detectors].min())
        what = "events" if self.block == 1 else "blocks of events"
        if self.series is not None and self.series >= FEWEST:
            what = "series"
        few, partly = about(units, what), ""
        if not few and defined <= FEW:
            partly = f"Precision is defined on only {defined} of the {units} {what}."
        if self.series == 1 and (self.events >= FEWEST or len(detectors) > 1):
            few = f"{_ONE_SERIES} {few}".rstrip()
        return Cautions(few, self._dependence(steps) if self.series is None else "", partly)

    def _dependence(self, steps: NDArray[np.float64]) -> str:
        """Say if consecutive events, or blocks, are more alike than independent ones could be."""
        _, recall, f1 = steps
        ordered = recall if np.isnan(f1).any() else f1
        m, power = ordered.size, float(ordered @ ordered)
        if m < FEWEST_TO_COMPARE or power <= ROUNDING**2:
            return ""
        detectors = self.values.shape[1]
        questions = detectors * (detectors + 1) / 2  # each alone, and every two
        quantile = NormalDist().inv_cdf(1 - _FALSE_DEPENDENCE / questions)
        found, usual = float(ordered[1:] @ ordered[:-1]) / power, quantile * (m - 2) / m
        most = usual / sqrt(m - 1) - 1 / m  # the first moments of shuffled events
        if found <= most:
            return ""
        what = "events" if self.block == 1 else "blocks"
        longest = self.events // FEWEST_TO_COMPARE
        block = min(ceil(self.block * _RUNS / (1 - min(found, 0.9))), longest)
        advice = f"take them in blocks of {block} (`block`)"
        if block <= self.block:
            advice = "there are too few of them for blocks"
        return (
            f"Consecutive {what} are alike: their lag-1 correlation is {found:.2f}, where that of "
            f"independent ones is rarely above {most:.2f}. The intervals may be too narrow: "
            f"{advice}."
        )


def _farthest_f1(
    ours: NDArray[np.float64], theirs: NDArray[np.float64]
) -> Callable[[float], tuple[float, float]]:
    """Return the least and the largest difference in F1, given a share of unseen events."""

    def behind(first: NDArray[np.float64], second: NDArray[np.float64], share: float) -> float:
        """Let the first fail and the second succeed on that share."""
        failed, succeeded = (1 - share) * first[:2], (1 - share) * second[:2] + share
        return float(f_measure(*map(float, failed)) - f_measure(*map(float, succeeded)))

    return lambda share: (behind(ours, theirs, share), -behind(theirs, ours, share))


def _require_scores(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> None:
    if precision.shape != recall.shape:
        got = f"{precision.shape[-1]} and {recall.shape[-1]}"
        raise InputError("as many values of `precision` as of `recall`", got)
    if precision.shape[1] == 0:
        raise InputError("at least one event", "none")
    if np.isnan(recall).any():
        index = int(np.isnan(recall).any(axis=0).argmax())
        raise InputError("of every event", "nan", argument="recall", index=index)
    for name, scores in (("precision", precision), ("recall", recall)):
        outside = (scores < 0) | (scores > 1)
        if outside.any():
            detector, index = np.argwhere(outside)[0]
            got = f"{scores[detector, index]:g} at index {index}"
            raise InputError("to lie between 0 and 1", got, argument=name)


def _numbered(series: ArrayLike, events: int) -> NDArray[np.int64]:
    """Return the series of each event as a number from 0 on, in the order of their names."""
    try:
        names = np.asarray(series)
        _, places = np.unique(names, return_inverse=True)
    except (TypeError, ValueError, ArithmeticError, MemoryError):
        rule = "to be numbers or names, all of one kind"
        raise InputTypeError(rule, shown(series), argument="series") from None
    if names.shape != (events,):
        got = f"{names.shape} for {events} events"
        raise InputError("to have one entry per event", got, argument="series")
    return places

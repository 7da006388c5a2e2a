"""A sample of events or series: means of precision, recall and F1, their limits and differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Self

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
    read_bounds,
    read_drawing,
    read_level,
    require_within,
)
from closecall.statistics.leads import ROUNDING, lead, needed_within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

_MOST_WEIGHTS = 1 << 20  # in memory at a time
_MOST_DRAWS = 1 << 21  # in memory at a time, over all columns
_ADDED = 0.5  # of an event, at the far end of each limit; see `closecall.statistics`
_ONE_SERIES = "All events are of one series: nothing is known about other series."
_FALSE_DEPENDENCE = 0.01  # how often independent events are called dependent, over all detectors
_LONGEST_BLOCK = 10**9
_RUNS = 3  # of events that are alike, in a block


class Drawn(NamedTuple):
    """Scores in resamples: arrays by score, detector and resample."""

    worse: NDArray[np.float64]
    """With half an event of score 0."""
    better: NDArray[np.float64]
    """With half an event of score 1."""


@dataclass(frozen=True, repr=False, eq=False)
class Sample:
    """Precision, recall and F1 of several detectors on the same events.

    Rows of the arrays are what varies: events, blocks of them, or series. Columns are detectors.
    """

    precision: NDArray[np.float64]
    """Sums over the events of each row that have a precision."""
    with_precision: NDArray[np.float64]
    """How many events that are."""
    recall: NDArray[np.float64]
    """Sums over the events of each row."""
    counts: NDArray[np.float64]
    """How many events each row has: one column."""
    series: int | None
    block: int
    """How many consecutive events go together."""

    @classmethod
    def read(
        cls, precision: Any, recall: Any, series: ArrayLike | None = None, *, block: int = 1
    ) -> Self:
        """Take events, blocks of them, or whole series: detectors in rows, events in columns."""
        require_count(block, "block", 1, _LONGEST_BLOCK)
        P, R = read_numbers(precision, "precision"), read_numbers(recall, "recall")
        _require_scores(P, R)
        places, count = None, None
        if series is not None:
            places = _numbered(series, P.shape[1])
            count = int(places.max()) + 1
            if count < FEWEST:  # a single series has only its events to tell from
                places = None
        elif block > 1:
            places = np.arange(P.shape[1]) // int(block)

        def added(events: NDArray[Any]) -> NDArray[np.float64]:
            """Add up the events of each series, or block."""
            if places is None:
                return events.astype(np.float64)
            total = np.zeros((int(places.max()) + 1, events.shape[1]))
            np.add.at(total, places, events)
            return total

        defined = ~np.isnan(P.T)
        return cls(
            precision=added(np.where(defined, P.T, 0.0)),
            with_precision=added(defined),
            recall=added(R.T),
            counts=added(np.ones((P.shape[1], 1))),
            series=count,
            block=int(block),
        )

    @cached_property
    def events(self) -> int:
        """How many events there are."""
        return int(self.counts.sum())

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """What the scores are over the events at hand: one row per score, a column per detector."""
        weights, nothing = np.ones((1, len(self.counts))), np.zeros((1, 1))
        return _scores(self._weighed(weights), nothing, 0.0)[:, :, 0]

    @cached_property
    def defined(self) -> NDArray[np.int64]:
        """On how many events, blocks or series each score is defined; shaped as `values`."""
        found = np.count_nonzero(self.with_precision, axis=0)
        return np.stack([found, np.full_like(found, len(self.counts)), found])

    @cached_property
    def influences(self) -> NDArray[np.float64]:
        """How the scores change with the weight of a row: by score, detector and row.

        These are derivatives, so that their sum is 0 and the sum of their squares the variance.
        """
        precision, recall, _ = self.values
        with np.errstate(invalid="ignore"):  # without a precision there is no F1 either
            of_precision = self.precision - precision * self.with_precision
            of_precision /= self.with_precision.sum(axis=0)
        of_recall = (self.recall - recall * self.counts) / self.counts.sum()
        total = np.maximum(precision + recall, np.finfo(np.float64).tiny)
        of_f1 = 2 * ((recall / total) ** 2 * of_precision + (precision / total) ** 2 * of_recall)
        return np.stack([of_precision, of_recall, of_f1]).transpose(0, 2, 1)

    @cached_property
    def _units(self) -> NDArray[np.float64]:
        """As how many rows that weigh the same they count, by score and detector."""
        defined, events = (
            counts.sum(axis=0) ** 2 / np.maximum((counts**2).sum(axis=0), 1)
            for counts in (self.with_precision, self.counts)
        )
        return np.stack([defined, np.full_like(defined, events), defined])

    def differing(self, first: int, second: int) -> tuple[int, int, int]:
        """Count the rows on which two detectors differ in precision, in recall, and in either."""

        def apart(column: NDArray[np.float64]) -> NDArray[np.bool_]:
            return np.abs(column[:, first] - column[:, second]) > ROUNDING

        precision = apart(self.precision) | apart(self.with_precision)
        recall = apart(self.recall)
        precise, recalled, either = map(np.count_nonzero, (precision, recall, precision | recall))
        return int(precise), int(recalled), int(either)

    @cached_property
    def _drawn(self) -> dict[tuple[int, int], Drawn]:
        return {}

    def drawn(self, n: int, seed: int) -> Drawn:
        """Return the scores in n resamples, the same weights for all detectors; drawn once.

        It costs O(n m) for m rows. They are drawn in parts, which do not change what is drawn.
        """
        asked = n, seed = read_drawing(n, seed)
        if asked in self._drawn:
            return self._drawn[asked]
        worse, better = np.empty((2, 3, self.recall.shape[1], n))
        random, extra = np.random.default_rng(seed).spawn(2)
        size = (self.counts**2).sum() / self.counts.sum()  # of the series of an event, on average
        added = extra.standard_gamma(_ADDED, size=(n, 1)) * size
        rows = ceil(_MOST_WEIGHTS / len(self.counts))
        for start in range(0, n, rows):
            part = slice(start, min(start + rows, n))
            weights = random.standard_exponential((part.stop - start, len(self.counts)))
            weighed = self._weighed(weights)
            worse[:, :, part] = _scores(weighed, added[part], 0.0)
            better[:, :, part] = _scores(weighed, added[part], 1.0)
        return self._drawn.setdefault(asked, Drawn(worse, better))

    @cached_property
    def _columns(self) -> NDArray[np.float64]:
        return np.hstack([self.precision, self.with_precision, self.recall, self.counts])

    def _weighed(self, weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Add up the weighted rows: the four arrays, with one row for each resample."""
        width = self.precision.shape[1]
        return np.split(weights @ self._columns, [width, 2 * width, 3 * width], axis=1)

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
            cautions=self._cautions(caution_about, [detector], self.influences[:, detector]),
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
        differing = self.differing(first, second)
        return tuple(self._difference(score, pair, level, differing[score]) for score in range(3))

    def _difference(self, score: int, pair: list[int], level: float, differing: int) -> Difference:
        ours, theirs = self.values[:, pair].T
        gap = float(ours[score] - theirs[score])
        # A mean over fewer events varies more, and its spread is known less well.
        judged = int(self.defined[score, pair].min())
        if isnan(gap) or judged < FEWEST:
            return Difference(gap, nan, nan, nan)
        steps = np.subtract(*self.influences[score, pair])
        return lead(
            gap,
            sqrt(float(steps @ steps) * judged / (judged - 1)),
            judged=judged,
            differing=min(differing, judged),  # an event that only one found settles nothing
            level=level,
            units=float(self._units[score, pair].min()),
            farthest=_farthest_f1(ours, theirs) if score == len(ours) - 1 else None,
        )

    def events_needed(
        self, first: int, second: int, score: int, level: float
    ) -> tuple[int, int] | None:
        """Return how many events are needed to show a difference in one score, as a range.

        The difference is taken as a mean over events, as its derivatives have it.
        """
        gap = float(np.subtract(*self.values[score, [first, second]]))
        steps = np.subtract(*self.influences[score, [first, second]])
        limits = self.differences(first, second, level)[score]
        needed = needed_within(gap + steps * steps.size, limits, level=level)
        return needed and (needed[0] * self.block, needed[1] * self.block)

    def pair_cautions(self, first: int, second: int) -> Cautions:
        """Return what cannot be concluded about two detectors."""
        steps = self.influences[:, first] - self.influences[:, second]
        return self._cautions(caution_about_pairs, [first, second], steps)

    def _cautions(
        self, about: Callable[[int, str], str], detectors: list[int], steps: NDArray[np.float64]
    ) -> Cautions:
        units, defined = len(self.counts), int(self.defined[0, detectors].min())
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
        from scipy.special import ndtri

        _, recall, f1 = steps
        ordered = recall if np.isnan(f1).any() else f1
        m, power = ordered.size, float(ordered @ ordered)
        if m < FEWEST_TO_COMPARE or power <= ROUNDING**2:
            return ""
        detectors = self.values.shape[1]
        questions = detectors * (detectors + 1) / 2  # each alone, and every two
        quantile = float(ndtri(1 - _FALSE_DEPENDENCE / questions))
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


def mean_interval(
    values: ArrayLike,
    *,
    level: float = 0.95,
    low: float = -np.inf,
    high: float = np.inf,
    n: int = 2000,
    seed: int = 0,
) -> Interval:
    r"""Return the interval of the mean of one number per series; nan is left out.

    A number with bounds is treated as a score over events: series are resampled, with half a
    series at `low` for the lower limit and half a series at `high` for the upper one. A number
    without gets :math:`\bar x \pm t_{m-1} s/\sqrt m`, kept within the bound that it may have; there
    are no limits if it does not vary, since nothing then says how far it could.

    Parameters
    ----------
    values
        One number for each series.
    level
        How often such intervals are meant to hold the true mean, between 0 and 1.
    low, high
        What the number can be at least and at most.
    n, seed
        How many resamples to draw, from 100 to 1,000,000, and their seed.

    Returns
    -------
    Interval
        Within `low` and `high`; nan limits with fewer than two series.

    Examples
    --------
    >>> mean_interval([0.8, 0.9, 0.7, 1.0], low=0, high=1)
    Interval(0.850, from 0.414 to 0.959)
    >>> mean_interval([30.0, 12.0, 18.0], low=0)
    Interval(20.000, from 0.000 to 42.767)
    """
    column, bounds = read_numbers(values, "values").reshape(1, -1), read_bounds(low, high)
    return mean_intervals(column, [bounds], level=level, n=n, seed=seed)[0]


def mean_intervals(
    columns: NDArray[np.float64],
    bounds: Sequence[tuple[float, float]],
    *,
    level: float,
    n: int,
    seed: int,
) -> list[Interval]:
    """Return the intervals of many numbers (rows) of the same series (columns), weighed alike."""
    level, (n, seed) = read_level(level), read_drawing(n, seed)
    found: list[Interval] = [Interval(nan, nan, nan)] * len(columns)
    bounded = []
    for place, (column, (low, high)) in enumerate(zip(columns, bounds, strict=True)):
        require_within(column, low, high)
        if isfinite(low) and isfinite(high) and np.count_nonzero(~np.isnan(column)) >= FEWEST:
            bounded.append(place)
        else:
            found[place] = _scattered(column, low, high, level)
    at_once = max(1, _MOST_DRAWS // n)
    for start in range(0, len(bounded), at_once):
        some = bounded[start : start + at_once]
        low, high = np.array([bounds[place] for place in some]).T[:, :, None]
        shares = np.clip((columns[some] - low) / (high - low), 0.0, 1.0)
        # As the precision of events.
        drawn = Sample.read(shares, np.zeros_like(shares)).drawn(n, seed)
        ends = [(1 - level) / 2, (1 + level) / 2]
        lows, highs = map(np.quantile, (drawn.worse[0], drawn.better[0]), ends, (1, 1))
        limits = low + (high - low) * np.column_stack([lows, highs])
        for place, (least, most) in zip(some, limits, strict=True):
            value = float(np.nanmean(columns[place]))
            found[place] = Interval(value, min(float(least), value), max(float(most), value))
    return found


def _scattered(column: NDArray[np.float64], low: float, high: float, level: float) -> Interval:
    from scipy.special import stdtrit

    column = column[~np.isnan(column)]
    value = float(column.mean()) if column.size else nan
    if not isfinite(value) or column.size < FEWEST:
        return Interval(value, nan, nan)
    with np.errstate(over="ignore"):
        spread = float(column.std(ddof=1)) / sqrt(column.size)
    if not isfinite(spread) or spread <= ROUNDING * abs(value):
        return Interval(value, nan, nan)
    reach = float(stdtrit(column.size - 1, (1 + level) / 2)) * spread
    return Interval(value, max(value - reach, low), min(value + reach, high))


def _scores(
    weighed: list[NDArray[np.float64]], extra: NDArray[np.float64], score: float
) -> NDArray[np.float64]:
    """Take the means, with so much of an event with that score added to each resample."""
    precision_sum, with_precision, recall_sum, events = weighed
    defined = with_precision + extra
    precision = np.full_like(defined, np.nan)
    np.divide(precision_sum + extra * score, defined, precision, where=defined > 0)
    recall = (recall_sum + extra * score) / (events + extra)
    # Rounding alone could put a mean of ones above 1.
    precision, recall = np.minimum(precision, 1.0), np.minimum(recall, 1.0)
    return np.stack([precision, recall, f_measure(precision, recall)]).transpose(0, 2, 1)


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
            got = f"{scores[detector, index]:g}"
            raise InputError("to lie between 0 and 1", got, argument=name, index=int(index))


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

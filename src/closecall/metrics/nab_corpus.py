"""The score of a detector on a whole corpus, at the threshold that suits it best, as NAB has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.axis import Axis
from closecall.clock import SAMPLES, Timed, on_one_clock, read_times
from closecall.compiled import interruptible
from closecall.errors import InputError, InputTypeError, shown, with_names
from closecall.events import Events, Intervals, read_labels, runs
from closecall.metrics.nab import (
    NabProfile,
    NabResult,
    nab,
    normalised,
    probation_rows,
    read_probation,
    read_profile,
    read_windows,
    reward,
    sigmoid,
)
from closecall.metrics.result import MetricResult
from closecall.parameters import read_number
from closecall.scores import read_scores
from closecall.series import Pair, Scored
from closecall.signature import data_hash, joined_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

_START, _STEP, _FINEST = 0.5, 0.1, 1e-7  # of the climb, as in NAB


@dataclass(frozen=True, repr=False)
class NabCorpusResult(MetricResult):
    """The NAB score of one detector on many series."""

    value: float
    """From 0 (no detection at all) to 100 (perfect), or below 0; nan without windows."""
    raw: float
    """The sum over the series."""
    threshold: float
    """Rows with at least this score are detections.

    If it is best to detect nothing it is inf, or nan where scores are inf.
    """
    series: dict[str, NabResult]
    """Each series at that threshold."""

    def values(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {"value": self.value, "raw": self.raw, "threshold": self.threshold}

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value:.6g}" for name, value in self.values().items())
        return f"{type(self).__name__}({numbers}, series={len(self.series)})"


def nab_corpus(
    truth: Mapping[str, Any],
    scores: Mapping[str, Any],
    *,
    times: Mapping[str, Any] | None = None,
    profile: str | NabProfile = "standard",
    probation: float = 0.15,
    threshold: float | Literal["climb"] | None = None,
) -> NabCorpusResult:
    r"""Score a detector on a corpus as NAB does: one threshold for all series, the best there is.

    The raw scores of `nab` are added up over the series and normalised once,

    .. math:: \text{value} = 100\,\frac{\sum_s \text{raw}_s + A_{FN} W}{(A_{TP} + A_{FN})\,W}

    for W windows. At most 100, higher is better, nan without any window. Every threshold is tried
    in one pass over the sorted scores, O(N log N) for N rows; of equally good ones the highest is
    taken, as in NAB.

    Parameters
    ----------
    truth
        By name of the series: the windows as pairs (first, last) of its times, **both included**,
        as in NAB's ``combined_windows.json`` (whose texts become times with
        ``np.array(windows, "datetime64[us]")``). Without `times`: 0/1 labels, or `Events` of row
        numbers, half-open as everywhere else.
    scores
        By name: one anomaly score per row, higher is more anomalous.
    times
        By name: the time of each row, in the order of the file. They may repeat or go back, as
        some of NAB's do: rows count, times only say where the windows are. A window runs from the
        first row at (or after) its first time up to the first row at (or before) its last one.
    profile, probation
        As in `nab`.
    threshold
        Where scores count as detections: a number; None for the best of all; or ``"climb"`` for
        the one that the search finds by which NAB's published thresholds were found. It needs
        scores from 0 to 1, looks at some dozens of thresholds only, and may stop at one that is
        only better than those around it.

    Examples
    --------
    >>> from closecall import metrics
    >>> truth = {"a": [0, 0, 1, 1, 0], "b": [0, 0, 0, 0]}
    >>> scores = {"a": [0.1, 0.2, 0.9, 0.3, 0.1], "b": [0.5, 0.1, 0.1, 0.1]}
    >>> result = metrics.nab_corpus(truth, scores, probation=0)
    >>> result
    NabCorpusResult(value=100, raw=1, threshold=0.9, series=2)
    >>> metrics.nab_corpus(truth, scores, probation=0, threshold=0.5).series["b"]
    NabResult(value=nan, raw=-0.11, windows=0, detected=0)

    A climb from 0.5 that gains nothing nearby stays there, though 0.9 is better:

    >>> scores["b"] = [0.7, 0.1, 0.1, 0.1]
    >>> metrics.nab_corpus(truth, scores, probation=0, threshold="climb")
    NabCorpusResult(value=94.5, raw=0.89, threshold=0.5, series=2)
    """
    weights, share = read_profile(profile), read_probation(probation)
    _require_same_names(truth, scores, "scores")
    if times is not None:
        _require_same_names(truth, times, "times")
    corpus = {
        name: _read_rows(name, truth[name], scores[name], None if times is None else times[name])
        for name in truth
    }
    if threshold is None:
        chosen = _Totals.of(corpus, weights, share).best()
    elif isinstance(threshold, str) and threshold == "climb":
        _require_unit_scores(corpus)
        chosen = _Totals.of(corpus, weights, share).climb()
    else:
        chosen = _read_threshold(threshold)
    parameters: dict[str, Any] = {"profile": profile, "probation": probation}
    series = {name: nab(rows.at(chosen), None, **parameters) for name, rows in corpus.items()}
    raw = float(sum(result.raw for result in series.values()))
    windows = sum(result.windows for result in series.values())
    data = joined_hash({str(name): data_hash(rows.scored) for name, rows in corpus.items()})
    result = NabCorpusResult(normalised(raw, windows, weights), raw, chosen, series)
    parameters["threshold"] = threshold
    return result.signed("nab_corpus", data, parameters, series=len(corpus))


def _read_threshold(value: Any) -> float:
    rule = "a number, or inf, and not nan; or 'climb', or None"
    read_number(value, "threshold", rule, lambda x: not isnan(x))
    # Whole numbers stay whole, as the scores they are compared with may be.
    exact: float = value.item() if isinstance(value, np.number) else value
    return exact if isinstance(exact, int) else float(exact)


def _require_unit_scores(corpus: dict[str, _Rows]) -> None:
    for name, rows in corpus.items():
        outside = (rows.scores < 0) | (rows.scores > 1)
        if outside.any():
            index = int(outside.argmax())
            rule = f"`scores[{name!r}]` to be from 0 to 1 for `threshold='climb'`"
            hint = "Rescale the scores, or leave `threshold` out for the best of all."
            raise InputError(rule, str(rows.scores[index]), index=index, hint=hint)


def _require_same_names(truth: Any, other: Any, name: str) -> None:
    if not isinstance(truth, Mapping) or not isinstance(other, Mapping):
        rule = f"`truth` and `{name}` to be mappings by name of the series"
        raise InputTypeError(rule, "something else")
    if not truth:
        raise InputError("to have at least one series", "none", argument="truth")
    odd = sorted(set(truth) ^ set(other), key=shown)
    if odd:
        rule = f"`{name}` to have the same series as `truth`"
        raise InputError(rule, f"{shown(odd[0])} in one only")


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Anomaly scores of the rows of a series, and its windows of rows."""

    scores: NDArray[Any]
    windows: Intervals

    @property
    def scored(self) -> Scored:
        """The same, as other metrics take it."""
        axis = Axis(None, self.scores.size, self.scores.size, SAMPLES)
        return Scored(
            truth=self.windows,
            start=axis.start,
            stop=axis.end,
            clock=SAMPLES,
            axis=axis,
            scores=self.scores,
            all_scores=self.scores,
        )

    def at(self, threshold: float) -> Pair:
        """Detect the rows at or above the threshold; none, if it is nan."""
        exact = threshold if isinstance(threshold, int) else np.float64(threshold)
        detections = Intervals(*runs((self.scores >= exact).view(np.uint8)), SAMPLES)
        return Pair(
            truth=self.windows, predicted=detections, start=0, stop=self.scores.size, clock=SAMPLES
        )


def _read_rows(name: str, truth: Any, scores: Any, times: Any) -> _Rows:
    """Read one series of a corpus."""
    with with_names({"scores": f"scores[{name!r}]"}):
        values = read_scores(scores)
    where = f"truth[{name!r}]"
    if times is not None:
        first, after = _window_rows(name, truth, times, values.size)
    elif isinstance(truth, Events):
        first, after = truth.intervals.starts, truth.intervals.stops
        if truth.intervals.clock.kind != "integer":
            rule = "to be windows of rows"
            raise InputError(rule, repr(truth), argument=where, hint="Pass `times=` too.")
    else:
        labels = read_labels(truth, where)
        _require_rows(labels.size, values.size, where)
        first, after = runs(labels)
    windows = Intervals(first, after, SAMPLES)
    windows.require_disjoint(where)
    windows.require_inside(0, values.size, where)
    return _Rows(values, windows)


def _window_rows(
    name: str, windows: Any, times: Any, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the rows of windows that are given by their first and their last time."""
    intervals = read_windows(windows, f"truth[{name!r}]")
    ticks, clock = read_times(times, f"times[{name!r}]")
    _require_rows(ticks.size, rows, f"times[{name!r}]")
    (starts, stops, ticks), _ = on_one_clock(
        *intervals.timed(f"truth[{name!r}]"), Timed(f"times[{name!r}]", ticks, clock)
    )
    latest = np.maximum.accumulate(ticks)  # in the order of the file, times may go back
    first = np.searchsorted(latest, starts, side="left")
    last = np.searchsorted(latest, stops, side="left")
    after = last + (ticks[np.minimum(last, rows - 1)] == stops)
    intervals.refuse(first >= after, f"each window of `truth[{name!r}]` to hold at least one row")
    return first, after


def _require_rows(length: int, rows: int, name: str) -> None:
    if length != rows:
        rule = f"to have one value for each of {rows} scores"
        raise InputError(rule, f"{length}", argument=name)


@dataclass(frozen=True, slots=True, eq=False)
class _Totals:
    """What the detections of a corpus earn together, at every threshold."""

    scores: NDArray[Any]
    """Each score that occurs, the highest first."""
    earned: NDArray[np.float64]
    """More than silence: without any detection (0), then with the threshold at each score."""

    @classmethod
    def of(cls, corpus: dict[str, _Rows], profile: NabProfile, probation: float) -> _Totals:
        """Let the threshold fall over all rows, in one pass."""
        scores: list[NDArray[Any]] = []
        gains: list[NDArray[np.float64]] = []
        for rows in corpus.values():
            begin = probation_rows(rows.scores.size, probation)
            scores.append(rows.scores[begin:])
            gains.append(_gains(rows, profile, begin)[begin:])
        score, gain = np.concatenate(scores), np.concatenate(gains)
        order = interruptible(np.argsort, score, kind="stable")[::-1]
        score, earned = score[order], np.cumsum(gain[order])
        # Rows with one score are detected together.
        final = np.ones(score.size, dtype=bool)
        final[:-1] = score[1:] != score[:-1]
        return cls(score[final], np.append(0.0, earned[final]))

    def at(self, threshold: float) -> float:
        """Return what is earned at a threshold from 0 to 1; others are out of reach."""
        if not 0 <= threshold <= 1:
            return -inf
        reached = self.scores.size - np.searchsorted(self.scores[::-1], threshold, side="left")
        return float(self.earned[reached])

    def best(self) -> float:
        """Return the threshold that earns most, the highest one if there are several."""
        best = int(self.earned.argmax())
        if best > 0:
            threshold: float = self.scores[best - 1].item()
            return threshold
        return nan if self.scores[0] == inf else inf  # no score is above either

    def climb(self) -> float:
        """Climb from the middle to a threshold that earns more than those around it.

        A step up or else down that earns more is taken, and the next one is twice as long; where
        neither does, the next one is half as long. Of equally good thresholds it is the first met.
        """
        best = place = _START
        step = _STEP
        while step > _FINEST:
            above = place + step
            below = above - 2 * step
            if self.at(above) > self.at(best):
                best = place = above
                step *= 2
            elif self.at(below) > self.at(best):
                best = place = below
                step *= 2
            else:
                place = below + step
                step /= 2
        # The climb can only near the ends; NAB's maintainers put a threshold there by hand.
        return max(best, 1.0, 0.0, key=self.at)


def _gains(rows: _Rows, profile: NabProfile, begin: int) -> NDArray[np.float64]:
    """Return what each row adds to the score when the threshold falls to it."""
    starts, stops = rows.windows.starts, rows.windows.stops
    gains = np.full(rows.scores.size, -profile.false_positive)
    for index, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        following = starts[index + 1] if index + 1 < starts.size else rows.scores.size
        width = stop - start - 1 or 1e-300  # all is far from a window of one row
        places = np.arange(1, following - stop + 1) / width
        gains[stop:following] = profile.false_positive * sigmoid(places)
        scored = slice(max(start, begin), stop)
        worth = reward((np.arange(scored.start, stop) - stop) / (stop - start), profile)
        gains[scored] = _improvements(rows.scores[scored], worth, -profile.false_negative)
    return gains


def _improvements(
    scores: NDArray[Any], worth: NDArray[np.float64], missed: float
) -> NDArray[np.float64]:
    """Return how much each row of a window betters the best of those with higher scores."""
    order = np.argsort(scores, kind="stable")[::-1]
    best = np.maximum.accumulate(np.append(missed, worth[order]))
    improvements = np.empty(scores.size)
    improvements[order] = np.diff(best)
    return improvements

"""A series of NAB row by row, and the threshold that suits many of them best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import SAMPLES
from closecall.errors import InputError, expected, renamed
from closecall.events import Events
from closecall.intervals import Intervals
from closecall.labels import read_labels, runs
from closecall.metrics.nab_profile import probation_rows, reward, sigmoid
from closecall.metrics.nab_tally import Tally, score_rows
from closecall.metrics.nab_windows import read_intervals
from closecall.pair import Pair
from closecall.scored import read_scores
from closecall.timeline import Timed, on_one_clock, read_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.metrics.nab_profile import NabProfile


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Anomaly scores of the rows of a series, and its windows of rows."""

    scores: NDArray[Any]
    windows: Intervals


def read_rows(name: str, truth: Any, scores: Any, times: Any) -> Rows:
    """Read one series of a corpus."""
    with renamed({"scores": f"scores[{name!r}]"}):
        values = read_scores(scores)
    where = f"truth[{name!r}]"
    if times is not None:
        first, after = _window_rows(name, truth, times, values.size)
    elif isinstance(truth, Events):
        first, after = truth.intervals.starts, truth.intervals.stops
        if truth.intervals.clock.kind != "integer":
            raise InputError(
                expected(f"`{where}` to be windows of rows", repr(truth), "Pass `times=` too.")
            )
    else:
        labels = read_labels(truth, where)
        _require_rows(labels.size, values.size, where)
        first, after = runs(labels)
    windows = Intervals(first, after, SAMPLES)
    windows.require_disjoint(where)
    windows.require_inside(0, values.size, where)
    return Rows(values, windows)


def _window_rows(
    name: str, windows: Any, times: Any, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the rows of windows that are given by their first and their last time."""
    own = read_intervals(windows, f"truth[{name!r}]")
    ticks, clock = read_times(times, f"times[{name!r}]")
    _require_rows(ticks.size, rows, f"times[{name!r}]")
    (starts, stops, ticks), _ = on_one_clock(
        Timed(f"truth[{name!r}]", own.starts, own.clock),
        Timed(f"truth[{name!r}]", own.stops, own.clock),
        Timed(f"times[{name!r}]", ticks, clock),
    )
    latest = np.maximum.accumulate(ticks)  # in the order of the file, times may go back
    first = np.searchsorted(latest, starts, side="left")
    last = np.searchsorted(latest, stops, side="left")
    after = last + (ticks[np.minimum(last, rows - 1)] == stops)
    if (first >= after).any():
        index = int((first >= after).argmax())
        raise InputError(
            expected(
                f"each window of `truth[{name!r}]` to hold at least one row",
                f"{own.text(index)} at index {index}",
            )
        )
    return first, after


def _require_rows(length: int, rows: int, name: str) -> None:
    if length != rows:
        raise InputError(
            expected(f"`{name}` to have one value for each of {rows} scores", f"{length}")
        )


def score_at(rows: Rows, profile: NabProfile, probation: float, threshold: float) -> Tally:
    """Score a series whose detections are the rows at or above the threshold."""
    exact = threshold if isinstance(threshold, int) else np.float64(threshold)
    first, after = runs((rows.scores >= exact).view(np.uint8))
    detections = Intervals(first, after, SAMPLES)
    pair = Pair(rows.windows, detections, 0, rows.scores.size, SAMPLES)
    return score_rows(pair, profile, probation)


def best_threshold(corpus: list[Rows], profile: NabProfile, probation: float) -> float:
    """Find the threshold of the highest total score, the highest one if there are several."""
    scores: list[NDArray[Any]] = []
    gains: list[NDArray[np.float64]] = []
    for rows in corpus:
        begin = probation_rows(rows.scores.size, probation)
        scores.append(rows.scores[begin:])
        gains.append(_gains(rows, profile, begin)[begin:])
    score, gain = np.concatenate(scores), np.concatenate(gains)
    order = np.argsort(score, kind="stable")[::-1]
    score, total = score[order], np.cumsum(gain[order])
    # Rows with one score are detected together.
    final = np.ones(score.size, dtype=bool)
    final[:-1] = score[1:] != score[:-1]
    score, total = score[final], total[final]
    if not (total > 0).any():
        return np.inf
    threshold: float = score[total.argmax()].item()
    return threshold


def _gains(rows: Rows, profile: NabProfile, begin: int) -> NDArray[np.float64]:
    """Give what each row adds to the score when the threshold falls to it."""
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
    """Give how much each row of a window betters the best of those with higher scores."""
    order = np.argsort(scores, kind="stable")[::-1]
    best = np.maximum.accumulate(np.append(missed, worth[order]))
    improvements = np.empty(scores.size)
    improvements[order] = np.diff(best)
    return improvements

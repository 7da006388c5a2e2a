"""A series of NAB row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import SAMPLES, Timed, on_one_clock, read_times
from closecall.errors import InputError, expected, renamed
from closecall.events import Events, Intervals, read_labels, runs
from closecall.metrics.nab_tally import Tally, score_rows
from closecall.metrics.nab_windows import read_intervals
from closecall.series import Pair, read_scores

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
    pair = Pair(
        truth=rows.windows, predicted=detections, start=0, stop=rows.scores.size, clock=SAMPLES
    )
    return score_rows(pair, profile, probation)

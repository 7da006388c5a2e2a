"""What every threshold-free metric starts from: true events, and a score for each sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import Axis, read_axis
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events
from closecall.intervals import Intervals, interval_text
from closecall.labels import read_labels
from closecall.pair import Pair, read_span
from closecall.timeline import Timed, on_one_clock

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Disjoint true events on the axis of the scores; a higher score is more anomalous."""

    nothing_predicted: Pair
    scores: NDArray[Any]
    axis: Axis

    def at(self, threshold: Any) -> Pair:
        """Predict the samples whose score is at least the threshold."""
        predicted = Intervals.from_labels(predicted_at(self.scores, threshold), self.axis)
        return replace(self.nothing_predicted, predicted=predicted)


def predicted_at(scores: NDArray[Any], threshold: Any) -> NDArray[np.uint8]:
    """Give 1 where a score is at least the threshold, and 0 elsewhere."""
    if not isinstance(threshold, (int, float, np.number)) or np.isnan(threshold):
        raise InputError(expected("`threshold` to be a number, or inf", f"{threshold!r}"))
    # A bare Python float would be rounded to the precision of the scores, and numpy compares
    # integers exactly only with a bare Python integer.
    whole = isinstance(threshold, (int, np.integer))
    exact = int(threshold) if whole else np.float64(threshold)
    labels: NDArray[np.uint8] = (scores >= exact).view(np.uint8)
    return labels


def read_scored(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> Scored:
    """Read labels or `Events`, and one score per sample, and check them once and for all.

    A `Scored` is taken as it is, so that many metrics can share one reading.
    """
    if isinstance(truth, Scored):
        return truth
    values = read_scores(scores)
    if isinstance(truth, Events):
        return _from_events(truth, values, times, end, span)
    labels = read_labels(truth, "truth")
    if labels.size != values.size:
        raise InputError(
            expected(
                f"`scores` to have as many values as `truth` ({labels.size})", f"{values.size}"
            )
        )
    axis = read_axis(labels.size, times, end, of="labels")
    intervals = Intervals.from_labels(labels, axis)
    if span is not None:
        return _in_span(intervals, values, axis, read_span(span))
    pair = Pair(intervals, _none_of(intervals), axis.start, axis.end, axis.clock).checked()
    return Scored(pair, values, axis)


def _from_events(truth: Events, scores: NDArray[Any], times: Any, end: Any, span: Any) -> Scored:
    if times is None:
        raise InputTypeError(
            expected(
                "`times` of the scores beside true Events",
                "none",
                "Pass `times=`, one for each score.",
            )
        )
    truth.intervals.require_disjoint("truth")
    axis = read_axis(scores.size, times, end, of="scores")
    whole = axis.borders(np.array([0, axis.length]))
    limits = Timed("times", whole, axis.clock) if span is None else read_span(span)
    return _in_span(truth.intervals, scores, axis, limits)


def _in_span(truth: Intervals, scores: NDArray[Any], axis: Axis, span: Timed) -> Scored:
    """Bring the events, the axis and the span to one clock."""
    (starts, stops, ticks, limits), clock = on_one_clock(
        Timed("truth", truth.starts, truth.clock),
        Timed("truth", truth.stops, truth.clock),
        Timed("times", axis.borders(np.arange(axis.length + 1)), axis.clock),
        span,
    )
    start, stop = limits.tolist()
    axis = Axis(ticks[:-1], axis.length, ticks[-1].item(), clock)
    if axis.start < start or axis.end > stop:
        raise InputError(
            expected(
                f"all samples to lie within the span {interval_text(clock, start, stop)}",
                f"samples from {clock.text(axis.start)} to {clock.text(axis.end)}",
                "Widen `span`.",
            )
        )
    truth = Intervals(starts, stops, clock)
    truth.require_inside(start, stop, "truth")
    return Scored(Pair(truth, _none_of(truth), start, stop, clock).checked(), scores, axis)


def _none_of(intervals: Intervals) -> Intervals:
    return Intervals(intervals.starts[:0], intervals.stops[:0], intervals.clock)


def read_scores(values: Any, name: str = "scores") -> NDArray[Any]:
    """Read a vector of scores: float32, float64 or integer; inf is legal, nan is not."""
    scores = read_column(values, name)[0]
    if scores.size == 0:
        raise InputError(expected(f"`{name}` to have at least one sample", "an empty vector"))
    kind = scores.dtype.kind
    if kind not in "iufb":
        raise InputTypeError(expected(f"`{name}` to be numbers", f"values of type {scores.dtype}"))
    if kind == "f" and np.isnan(scores.max()):
        index = int(np.isnan(scores).argmax())
        raise InputError(
            expected(
                f"`{name}` to be numbers, or inf",
                f"nan at index {index}",
                "Drop those samples, or give them the lowest score if they are no alarm.",
            )
        )
    if kind == "b":
        scores = scores.view(np.uint8)
    elif kind == "f" and scores.dtype.itemsize not in (4, 8):
        scores = scores.astype(np.float32 if scores.dtype.itemsize < 4 else np.float64)  # noqa: PLR2004
    return np.ascontiguousarray(scores, dtype=scores.dtype.newbyteorder("="))

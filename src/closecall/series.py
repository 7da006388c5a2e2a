"""What every metric starts from: true and predicted events, or scores, on one clock in one span.

`read_pair` and `read_scored` read one detector, `read_detectors` several by name.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from closecall.axis import Axis, read_axis
from closecall.clock import Timed, on_one_clock, read_times
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, expected
from closecall.events import Events, Intervals, interval_text, read_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick

_SHORTEST_SPAN, _LONGEST_SPAN = 1e-140, 1e152  # areas are squares of times
_LARGEST_SPAN = 2**62  # zone borders are kept in half ticks, which must fit in 64 bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruthInSpan:
    """Disjoint true events, and the span of the whole series that holds them."""

    truth: Intervals
    start: Tick
    stop: Tick
    clock: Clock
    axis: Axis | None = None
    """Where the samples of vectors lie, on the same clock; None for Events."""

    def checked(self) -> Self:
        """Raise if half ticks of the span do not fit in 64 bits, or its square in a float."""
        if self.clock.kind != "number" and self.stop - self.start >= _LARGEST_SPAN:
            raise InputError(
                expected(
                    "a span of fewer than 2**62 ticks",
                    f"{self.stop - self.start}",
                    "Count time in a coarser unit.",
                )
            )
        if not _SHORTEST_SPAN < self.stop - self.start < _LONGEST_SPAN:
            raise InputError(
                expected(
                    "a span whose square a float can hold",
                    f"{self.start} to {self.stop}",
                    "Count time in another unit.",
                )
            )
        return self

    def require_truth(self, metric: str) -> None:
        """Raise if there is no true event: recall does not exist then."""
        if len(self.truth) == 0:
            raise UndefinedMetricError(
                expected(
                    f"at least one true event ({metric} is undefined for a series without any)",
                    "none in `truth`",
                    "Leave the series out, and say so; its false alarms need another measure.",
                )
            )

    def predicting(self, predicted: Intervals) -> Pair:
        """Return the true events with predictions on the same clock."""
        return Pair(
            truth=self.truth,
            predicted=predicted,
            start=self.start,
            stop=self.stop,
            clock=self.clock,
            axis=self.axis,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair(TruthInSpan):
    """True and predicted events with the same clock, and the span that holds them."""

    predicted: Intervals


def read_pair(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> Pair:
    """Read two `Events`, or two 0/1 vectors of one length, and check them once and for all.

    A `Pair` is taken as it is, so that many metrics can share one reading.
    """
    if isinstance(truth, Pair):
        return truth
    if isinstance(truth, Events) and isinstance(predicted, Events):
        _refuse_axis(times, end)
        truth.intervals.require_disjoint("truth")
        predicted.intervals.require_disjoint("predicted")
        return _in_span(truth.intervals, predicted.intervals, span)
    if isinstance(truth, Events) or isinstance(predicted, Events):
        kinds = [
            "Events" if isinstance(side, Events) else "a vector" for side in (truth, predicted)
        ]
        raise InputTypeError(
            expected(
                "`truth` and `predicted` to be both Events or both 0/1 vectors",
                f"{kinds[0]} and {kinds[1]}",
                "Turn the vector into events with `Events.from_labels(labels, times)`.",
            )
        )
    truth_labels, predicted_labels = (
        read_labels(truth, "truth"),
        read_labels(predicted, "predicted"),
    )
    if truth_labels.size != predicted_labels.size:
        raise InputError(
            expected(
                f"`predicted` to have as many labels as `truth` ({truth_labels.size})",
                f"{predicted_labels.size}",
            )
        )
    axis = read_axis(truth_labels.size, times, end, of="labels")
    sides = (
        Intervals.from_labels(truth_labels, axis),
        Intervals.from_labels(predicted_labels, axis),
    )
    if span is not None:
        pair = _in_span(*sides, span)
        return replace(pair, axis=axis) if pair.clock == axis.clock else pair
    return on_axis(sides[0], axis).predicting(sides[1])


def on_axis(truth: Intervals, axis: Axis) -> TruthInSpan:
    """Return true events in the span of a whole axis."""
    own = TruthInSpan(truth=truth, start=axis.start, stop=axis.end, clock=axis.clock, axis=axis)
    return own.checked()


def read_sample_pair(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> Pair:
    """Read a pair whose label vectors are compared sample by sample, whatever their times."""
    if isinstance(truth, Pair):
        return truth
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    if times is None and end is None:
        return pair
    return read_pair(truth, predicted)


def _refuse_axis(times: Any, end: Any) -> None:
    for name, value in (("times", times), ("end", end)):
        if value is not None:
            raise InputTypeError(
                expected(
                    f"no `{name}` beside Events, which carry their own times",
                    f"`{name}`",
                    "Say where the series starts and stops with `span=(start, stop)`.",
                )
            )


def _in_span(truth: Intervals, predicted: Intervals, span: Any) -> Pair:
    (*ticks, limits), clock = on_one_clock(
        Timed("truth", truth.starts, truth.clock),
        Timed("truth", truth.stops, truth.clock),
        Timed("predicted", predicted.starts, predicted.clock),
        Timed("predicted", predicted.stops, predicted.clock),
        read_span(span),
    )
    start, stop = limits.tolist()
    truth, predicted = Intervals(ticks[0], ticks[1], clock), Intervals(ticks[2], ticks[3], clock)
    truth.require_inside(start, stop, "truth")
    predicted.require_inside(start, stop, "predicted")
    pair = Pair(truth=truth, predicted=predicted, start=start, stop=stop, clock=clock)
    return pair.checked()


def read_span(span: Any) -> Timed:
    """Read where the whole series starts and stops."""
    if span is None:
        raise InputTypeError(
            expected(
                "`span=(start, stop)` beside Events",
                "none",
                "Probabilities need to know where the whole series starts and stops.",
            )
        )
    try:
        start, stop = span
    except (TypeError, ValueError):
        raise InputTypeError(
            expected("`span` to be a pair (start, stop)", f"{span!r:.80}")
        ) from None
    bounds, clock = read_times([start, stop], "span")
    if not bounds[0] < bounds[1]:
        text = interval_text(clock, *bounds.tolist())
        raise InputError(expected("`span` to start before it stops", text))
    return Timed("span", bounds, clock)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored(TruthInSpan):
    """Disjoint true events on the axis of the scores; a higher score is more anomalous."""

    axis: Axis
    scores: NDArray[Any]

    def at(self, threshold: Any) -> Pair:
        """Predict the samples whose score is at least the threshold."""
        return self.predicting(
            Intervals.from_labels(predicted_at(self.scores, threshold), self.axis)
        )


def predicted_at(scores: NDArray[Any], threshold: Any) -> NDArray[np.uint8]:
    """Return 1 where a score is at least the threshold, and 0 elsewhere."""
    require_threshold(threshold)
    # A bare Python float would be rounded to the precision of the scores, and numpy compares
    # integers exactly only with a bare Python integer.
    whole = isinstance(threshold, (int, np.integer))
    exact = int(threshold) if whole else np.float64(threshold)
    labels: NDArray[np.uint8] = (scores >= exact).view(np.uint8)
    return labels


def require_threshold(threshold: Any, name: str = "threshold") -> None:
    """Raise if a threshold is not a number."""
    if not isinstance(threshold, (int, float, np.number)) or np.isnan(threshold):
        raise InputError(expected(f"`{name}` to be a number, or inf", f"{threshold!r}"))


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
        return _scored_in_span(intervals, values, axis, read_span(span))
    return Scored(
        truth=intervals,
        start=axis.start,
        stop=axis.end,
        clock=axis.clock,
        axis=axis,
        scores=values,
    ).checked()


def _from_events(truth: Events, scores: NDArray[Any], times: Any, end: Any, span: Any) -> Scored:
    _require_times(times)
    truth.intervals.require_disjoint("truth")
    axis = read_axis(scores.size, times, end, of="scores")
    limits = _whole(axis) if span is None else read_span(span)
    return _scored_in_span(truth.intervals, scores, axis, limits)


def _require_times(times: Any) -> None:
    if times is None:
        raise InputTypeError(
            expected(
                "`times` of the scores beside true Events",
                "none",
                "Pass `times=`, one for each score.",
            )
        )


def _whole(axis: Axis) -> Timed:
    return Timed("times", axis.borders(np.array([0, axis.length])), axis.clock)


def _scored_in_span(truth: Intervals, scores: NDArray[Any], axis: Axis, span: Timed) -> Scored:
    """Bring the events, the axis and the span to one clock."""
    (starts, stops, ticks, limits), clock = on_one_clock(
        Timed("truth", truth.starts, truth.clock),
        Timed("truth", truth.stops, truth.clock),
        Timed("times", axis.borders(np.arange(axis.length + 1)), axis.clock),
        span,
    )
    start, stop = limits.tolist()
    axis = Axis(ticks[:-1], axis.length, ticks[-1].item(), clock)
    _require_samples_inside(axis, start, stop)
    truth = Intervals(starts, stops, clock)
    truth.require_inside(start, stop, "truth")
    scored = Scored(truth=truth, start=start, stop=stop, clock=clock, axis=axis, scores=scores)
    return scored.checked()


def _require_samples_inside(axis: Axis, start: Tick, stop: Tick) -> None:
    if axis.start < start or axis.end > stop:
        clock = axis.clock
        raise InputError(
            expected(
                f"all samples to lie within the span {interval_text(clock, start, stop)}",
                f"samples from {clock.text(axis.start)} to {clock.text(axis.end)}",
                "Widen `span`.",
            )
        )


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Detectors:
    """Detectors by name on one series: true events, predictions and scores on one clock."""

    truth: TruthInSpan
    predicted: dict[str, Pair]
    """Those that gave labels or events."""
    scored: dict[str, Scored]
    """Those that gave scores."""
    thresholds: dict[str, Any]
    """Numbers, for some of those that gave scores."""


class Given(NamedTuple):
    """What a detector gave, and what a message calls it."""

    called: str
    values: Any


def by_name(values: Any, argument: str, alone: str | None = None) -> dict[str, Given]:
    """Read a mapping from names of detectors; `alone` names a single one without a name."""
    if values is None:
        return {}
    if alone is not None and not isinstance(values, Mapping):
        return {alone: Given(argument, values)}
    if not hasattr(values, "items"):
        raise InputTypeError(
            expected(
                f"`{argument}` to be a mapping from names of detectors",
                type(values).__name__,
                f"Pass a mapping, such as {{'mine': {argument}}}.",
            )
        )
    named = {}
    for name, own in values.items():
        if alone is None and (not isinstance(name, str) or not name.strip()):
            raise InputTypeError(
                expected(f"the names of detectors in `{argument}` to be text", f"{name!r}")
            )
        named[str(name)] = Given(f"{argument}[{str(name)!r}]", own)
    return named


def read_detectors(
    truth: Any,
    predicted: Any = None,
    scores: Any = None,
    thresholds: Any = None,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    alone: tuple[str | None, str | None] = (None, None),
) -> Detectors:
    """Read labels, `Events` and scores of several detectors, and check them once and for all.

    Labels and `Events` may be mixed. `alone` names what is no mapping in `predicted` and `scores`.
    """
    labelled = by_name(predicted, "predicted", alone[0])
    scored = by_name(scores, "scores", alone[1])
    for name in labelled:
        if name in scored:
            raise InputError(
                expected(
                    "each detector in `predicted` or in `scores`",
                    f"{name!r} in both",
                    "Give one of the two another name.",
                )
            )
    chosen = _read_thresholds(thresholds, scored, alone[1])
    sides = {"truth": truth, **dict(labelled.values())}
    labels = {
        called: read_labels(side, called)
        for called, side in sides.items()
        if not isinstance(side, Events)
    }
    columns = {called: read_scores(values, called) for called, values in scored.values()}
    if columns and "truth" not in labels:
        _require_times(times)
    axis = _shared_axis({**labels, **columns}, times, end, span)
    intervals = {}
    for called, side in sides.items():
        if isinstance(side, Events):
            side.intervals.require_disjoint(called)
            intervals[called] = side.intervals
        elif axis is not None:
            intervals[called] = Intervals.from_labels(labels[called], axis)
    # Samples without times have no place among true Events, unless a span says where.
    if span is None and axis is not None and ("truth" in labels or times is not None):
        limits = _whole(axis)
    else:
        limits = read_span(span)
    own, axis = _on_one_clock(intervals, axis, limits)
    if axis is not None and columns:
        _require_samples_inside(axis, own.start, own.stop)
    return Detectors(
        truth=own,
        predicted={
            name: own.predicting(intervals[called]) for name, (called, _) in labelled.items()
        },
        scored={
            name: Scored(
                truth=own.truth,
                start=own.start,
                stop=own.stop,
                clock=own.clock,
                axis=axis,
                scores=columns[called],
            )
            for name, (called, _) in scored.items()
            if axis is not None
        },
        thresholds=chosen,
    )


def _read_thresholds(
    thresholds: Any, scored: dict[str, Given], alone: str | None
) -> dict[str, Any]:
    """Read thresholds by name, or one number for all scores."""
    if isinstance(thresholds, (int, float, np.number)) and not isinstance(thresholds, bool):
        if not scored:
            raise InputTypeError(expected("`scores` beside `thresholds`", "none"))
        thresholds = dict.fromkeys(scored, thresholds)
    given = by_name(thresholds, "thresholds", alone if isinstance(thresholds, Mapping) else None)
    for name, (called, threshold) in given.items():
        if name not in scored:
            close = difflib.get_close_matches(name, scored, n=1)
            listed = ", ".join(map(repr, scored)) or "none"
            raise InputError(
                expected(
                    "`thresholds` to name detectors in `scores`",
                    repr(name),
                    (f"Did you mean {close[0]!r}? " if close else "") + f"There are: {listed}.",
                )
            )
        require_threshold(threshold, called)
    return {name: threshold for name, (_, threshold) in given.items()}


def _shared_axis(vectors: dict[str, NDArray[Any]], times: Any, end: Any, span: Any) -> Axis | None:
    """Read the axis of all vectors; without any, that of the times if they are the span."""
    if not vectors:
        only_times = times is not None and span is None
        return read_axis(len(times), times, end, of="samples") if only_times else None
    first, length = next((called, column.size) for called, column in vectors.items())
    for called, column in vectors.items():
        if column.size != length:
            raise InputError(
                expected(
                    f"`{called}` to have as many values as `{first}` ({length})", f"{column.size}"
                )
            )
    return read_axis(length, times, end, of="samples")


def _on_one_clock(
    intervals: dict[str, Intervals], axis: Axis | None, span: Timed
) -> tuple[TruthInSpan, Axis | None]:
    """Bring everything to one clock, the intervals in place, and check that the span holds it."""
    parts = [
        Timed(called, ticks, own.clock)
        for called, own in intervals.items()
        for ticks in (own.starts, own.stops)
    ]
    whole = [] if axis is None else [_whole(axis)]
    (*ticks, limits), clock = on_one_clock(*parts, *whole, span)
    start, stop = limits.tolist()
    for place, called in enumerate(intervals):
        intervals[called] = Intervals(ticks[2 * place], ticks[2 * place + 1], clock)
        intervals[called].require_inside(start, stop, called)
    if axis is not None and axis.clock != clock:
        borders = Timed("times", axis.borders(np.arange(axis.length + 1)), axis.clock)
        (moved, _), _ = on_one_clock(borders, Timed("span", limits, clock))
        axis = Axis(moved[:-1], axis.length, moved[-1].item(), clock)
    own = TruthInSpan(truth=intervals["truth"], start=start, stop=stop, clock=clock, axis=axis)
    return own.checked(), axis

"""What every metric starts from: true and predicted events on one clock, inside one span."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from closecall.axis import read_axis
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, expected
from closecall.events import Events
from closecall.intervals import Intervals, interval_text
from closecall.labels import read_labels
from closecall.timeline import Timed, on_one_clock, read_times

if TYPE_CHECKING:
    from closecall.axis import Axis
    from closecall.clock import Clock, Tick

_SHORTEST_SPAN, _LONGEST_SPAN = 1e-140, 1e152  # areas are squares of times
_LARGEST_SPAN = 2**62  # zone borders are kept in half ticks, which must fit in 64 bits


@dataclass(frozen=True, slots=True)
class Pair:
    """Disjoint true and predicted events with the same clock, and the span that holds them."""

    truth: Intervals
    predicted: Intervals
    start: Tick
    stop: Tick
    clock: Clock
    axis: Axis | None = None
    """Where the samples of vectors lie, on the same clock; None for Events."""

    def checked(self) -> Pair:
        """Refuse a span whose half ticks do not fit in 64 bits."""
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
        """Refuse a series without a true event, for which recall does not exist."""
        if len(self.truth) == 0:
            raise UndefinedMetricError(
                expected(
                    f"at least one true event ({metric} is undefined for a series without any)",
                    "none in `truth`",
                    "Leave the series out, and say so; its false alarms need another measure.",
                )
            )


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
    return Pair(*sides, axis.start, axis.end, axis.clock, axis).checked()


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
    return Pair(truth, predicted, start, stop, clock).checked()


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

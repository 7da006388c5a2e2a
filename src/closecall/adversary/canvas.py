"""What a prediction is drawn on: the samples of a vector, or the span around events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import SAMPLES, Timed, on_one_clock
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events, Intervals, read_labels, runs
from closecall.series import read_span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick

Prediction = Any  # a vector of 0 and 1, or Events: whichever kind was given


@dataclass(frozen=True, slots=True)
class Canvas:
    """The given events in ticks (sample numbers for a vector), and the span that holds them."""

    events: Intervals
    start: Tick
    stop: Tick
    samples: bool
    trivial: Intervals | None = None
    """What adversaries start from; each of the events in turn, if nothing is given."""

    @property
    def clock(self) -> Clock:
        """What one tick means."""
        return self.events.clock

    @property
    def whole(self) -> bool:
        """Whether a tick cannot be cut: samples, integers, and datetimes in their own unit."""
        return self.clock.kind != "number"

    @property
    def unit(self) -> bool:
        """Whether one tick is one sample."""
        return self.clock.kind == "integer"

    @property
    def length(self) -> Tick:
        """How many ticks the series lasts."""
        return self.stop - self.start

    def only(self, index: int | None) -> Canvas:
        """Keep one of the events, or the trivial one that was given."""
        if index is None and self.trivial is not None:
            return replace(self, events=self.trivial)
        if index is None:
            return self
        one = slice(index, index + 1)
        return self.holding(self.events.starts[one], self.events.stops[one])

    def holding(self, starts: NDArray[Any], stops: NDArray[Any]) -> Canvas:
        """Put other events on the same span."""
        return replace(self, events=Intervals(starts, stops, self.clock))

    def show(self, predicted: Intervals) -> Prediction:
        """Give predictions back in the kind that was given: a vector, or Events."""
        if not self.samples:
            return Events.wrap(predicted)
        steps = np.zeros(int(self.stop) + 1, dtype=np.int64)
        np.add.at(steps, predicted.starts, 1)
        np.add.at(steps, predicted.stops, -1)
        return (np.cumsum(steps[:-1]) > 0).astype(np.uint8)


def read_canvas(values: Any, name: str, span: Any = None) -> Canvas:
    """Read a 0/1 vector, or Events within a span."""
    if isinstance(values, Events):
        return _from_events(values.intervals, name, span)
    if span is not None:
        raise InputTypeError(
            expected(
                "no `span` beside a vector, whose samples are the whole series",
                f"{span!r:.80}",
                "Leave it out; predictions for a vector are vectors of the same length.",
            )
        )
    labels = read_labels(values, name)
    first, after = runs(labels)
    return Canvas(Intervals(first, after, SAMPLES), 0, labels.size, samples=True)


def _from_events(intervals: Intervals, name: str, span: Any) -> Canvas:
    intervals.require_disjoint(name)
    (starts, stops, limits), clock = on_one_clock(
        Timed(name, intervals.starts, intervals.clock),
        Timed(name, intervals.stops, intervals.clock),
        read_span(span),
    )
    start, stop = limits.tolist()
    own = Intervals(starts, stops, clock)
    own.require_inside(start, stop, name)
    return Canvas(own, start, stop, samples=False)


def read_trivial(values: Any, span: Any) -> Canvas:
    """Read what must hold at least one event that lasts."""
    canvas = read_canvas(values, "trivial", span)
    if not (canvas.events.stops > canvas.events.starts).any():
        raise InputError(
            expected(
                "`trivial` to hold an event that lasts",
                "none",
                "An adversary needs one event that is known; any true event will do.",
            )
        )
    return canvas

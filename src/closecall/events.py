"""`Events`: sorted, half-open intervals of time; points are intervals of length zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from closecall.axis import Axis, read_axis, require_increasing
from closecall.errors import InputError, InputTypeError, expected
from closecall.labels import read_labels, runs
from closecall.timeline import SAMPLES, Clock, Moment, Ticks, Timed, on_one_clock, read_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo

_SHOWN = 3  # intervals that a repr writes out


class Events:
    """A set of events: sorted, half-open intervals ``[start, stop)`` of time.

    A point event is an interval of length zero, the limit of ``[t, t + e)`` as e goes to 0. Events
    may touch. Overlapping intervals can be held (so that `merged` can join them) but not scored.

    Parameters
    ----------
    intervals
        Pairs ``(start, stop)`` sorted by start, of numbers, datetimes, or numpy or pandas stamps
        with or without a time zone; or an array with two columns.

    Examples
    --------
    >>> events = Events([(3, 4), (7, 10)])
    >>> len(events), events.durations
    (2, array([1, 3]))
    >>> list(events)
    [(3, 4), (7, 10)]
    """

    __slots__ = ("_clock", "_disjoint", "_starts", "_stops")

    _starts: Ticks
    _stops: Ticks
    _clock: Clock
    _disjoint: bool

    def __init__(self, intervals: Iterable[tuple[Any, Any]] | NDArray[Any]) -> None:
        starts, stops = _columns(intervals)
        self._fill(*_read_bounds(starts, stops, "intervals", "intervals"))

    def _fill(self, starts: Ticks, stops: Ticks, clock: Clock) -> None:
        self._starts, self._stops, self._clock = starts, stops, clock
        self._disjoint = bool(
            ((stops[:-1] <= starts[1:]) & (starts[:-1] < starts[1:])).all()
        )

    @classmethod
    def from_arrays(cls, starts: Any, stops: Any) -> Events:
        """Build events from a column of starts and a column of stops.

        Examples
        --------
        >>> Events.from_arrays([3, 7], [4, 10])
        Events([(3, 4), (7, 10)])
        """
        events = cls.__new__(cls)
        events._fill(*_read_bounds(starts, stops, "starts", "stops"))
        return events

    @classmethod
    def from_points(cls, times: Any) -> Events:
        """Build point events from strictly increasing times.

        Examples
        --------
        >>> Events.from_points([1.5, 4.0])
        Events([(1.5, 1.5), (4.0, 4.0)])
        """
        ticks, clock = read_times(times, "times")
        require_increasing(ticks, clock, "times")
        return cls._trusted(ticks, ticks, clock)

    @classmethod
    def from_labels(cls, labels: Any, times: Any = None, end: Any = None) -> Events:
        """Build events from the runs of ones of a 0/1 vector.

        A positive sample i is the interval ``[t(i), t(i+1))``; consecutive ones are one event.

        Parameters
        ----------
        labels
            0/1 values: bool, integer or float; a list, or a numpy, pandas, polars or pyarrow
            column.
        times
            Strictly increasing times of the samples; their numbers 0, 1, 2, ... if not given.
        end
            Where the last sample stops. Inferred for evenly spaced times, else required.

        Examples
        --------
        >>> Events.from_labels([0, 1, 1, 0, 1])
        Events([(1, 3), (4, 5)])
        >>> Events.from_labels([1, 0, 1], times=[0.0, 2.0, 5.0], end=6.0)
        Events([(0.0, 2.0), (5.0, 6.0)])
        """
        vector = read_labels(labels, "labels")
        return cls._on_axis(vector, read_axis(vector.size, times, end, of="labels"))

    @classmethod
    def _on_axis(cls, labels: NDArray[Any], axis: Axis) -> Events:
        first, after = runs(labels)
        return cls._trusted(axis.borders(first), axis.borders(after), axis.clock)

    @classmethod
    def _trusted(cls, starts: Ticks, stops: Ticks, clock: Clock) -> Events:
        """Hold intervals that are known to be sorted and disjoint."""
        events = cls.__new__(cls)
        events._starts, events._stops, events._clock = starts, stops, clock
        events._disjoint = True
        return events

    @property
    def starts(self) -> NDArray[Any]:
        """Where each event starts: int64, float64 or datetime64 (in UTC if there is a zone)."""
        return self._clock.native(self._starts)

    @property
    def stops(self) -> NDArray[Any]:
        """Where each event stops (excluded), in the same type as `starts`."""
        return self._clock.native(self._stops)

    @property
    def durations(self) -> NDArray[Any]:
        """How long each event lasts; 0 for a point."""
        durations: NDArray[Any] = self.stops - self.starts
        return durations

    @property
    def tz(self) -> tzinfo | None:
        """The time zone the events were given in."""
        return self._clock.tz

    def merged(self) -> Events:
        """Join intervals that overlap or touch.

        Examples
        --------
        >>> Events([(1, 4), (2, 3), (4, 6), (8, 9)]).merged()
        Events([(1, 6), (8, 9)])
        """
        if len(self) == 0:
            return self
        reach = np.maximum.accumulate(self._stops)
        first = np.concatenate(([True], self._starts[1:] > reach[:-1]))
        last = np.concatenate((first[1:], [True]))
        return self._trusted(self._starts[first], reach[last], self._clock)

    def to_labels(self, times: Any, end: Any = None) -> NDArray[np.uint8]:
        """Give a 0/1 vector back: 1 where the sample ``[t(i), t(i+1))`` meets an event.

        Examples
        --------
        >>> Events([(1, 3), (4, 5)]).to_labels(range(6))
        array([0, 1, 1, 0, 1, 0], dtype=uint8)
        """
        ticks, clock = read_times(times, "times")
        axis = read_axis(ticks.size, times, end, of="samples")
        (grid, bounds), clock = on_one_clock(
            Timed("times", np.append(ticks, axis.end), axis.clock),
            Timed("events", np.concatenate((self._starts, self._stops)), self._clock),
        )
        starts, stops = bounds[: len(self)], bounds[len(self) :]
        require_inside(starts, stops, clock, (grid[0], grid[-1]), "events")
        first = np.searchsorted(grid[:-1], starts, side="right") - 1
        last = np.maximum(np.searchsorted(grid[:-1], stops, side="left") - 1, first)
        steps = np.zeros(ticks.size + 1, dtype=np.int64)
        np.add.at(steps, first, 1)
        np.add.at(steps, last + 1, -1)
        return (np.cumsum(steps[:-1]) > 0).astype(np.uint8)

    def require_disjoint(self, name: str) -> None:
        """Refuse overlapping events where a metric needs disjoint ones."""
        if self._disjoint:
            return
        starts, stops = self._starts, self._stops
        index = int(((stops[:-1] > starts[1:]) | (starts[:-1] == starts[1:])).argmax()) + 1
        raise InputError(
            expected(
                f"`{name}` events to be disjoint",
                f"{self._text(index - 1)} and {self._text(index)} at index {index}",
                f"Join them with `{name}.merged()`.",
            )
        )

    def _text(self, index: int) -> str:
        return _interval(self._clock, self._starts[index].item(), self._stops[index].item())

    def __len__(self) -> int:
        return self._starts.size

    def __iter__(self) -> Iterator[tuple[Moment, Moment]]:
        scalar = self._clock.scalar
        bounds = zip(self._starts.tolist(), self._stops.tolist(), strict=True)
        return ((scalar(start), scalar(stop)) for start, stop in bounds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.stops, other.stops)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(self) <= _SHOWN:
            return f"Events([{', '.join(self._text(index) for index in range(len(self)))}])"
        first, last = self._starts[0].item(), self._stops.max().item()
        return f"Events({len(self)} events from {self._clock.text(first)} to {self._clock.text(last)})"


def _columns(intervals: Any) -> tuple[Any, Any]:
    """Split pairs into two columns."""
    if isinstance(intervals, np.ndarray) and intervals.ndim == 2 and intervals.shape[1] == 2:  # noqa: PLR2004
        return intervals[:, 0], intervals[:, 1]
    try:
        pairs = [(start, stop) for start, stop in intervals]
    except (TypeError, ValueError):
        raise InputTypeError(
            expected(
                "`intervals` to be pairs (start, stop)",
                f"{intervals!r:.80}",
                "Use `Events.from_points(times)` for points and `Events.from_labels(labels)` for "
                "a 0/1 vector.",
            )
        ) from None
    return [start for start, _ in pairs], [stop for _, stop in pairs]


def _read_bounds(
    starts: Any, stops: Any, starts_name: str, stops_name: str
) -> tuple[Ticks, Ticks, Clock]:
    start_ticks, start_clock = read_times(starts, starts_name)
    stop_ticks, stop_clock = read_times(stops, stops_name)
    if start_ticks.size != stop_ticks.size:
        raise InputError(
            expected(f"as many `stops` as `starts` ({start_ticks.size})", f"{stop_ticks.size}")
        )
    if start_ticks.size == 0:
        return start_ticks, stop_ticks, SAMPLES
    (start_ticks, stop_ticks), clock = on_one_clock(
        Timed(starts_name, start_ticks, start_clock), Timed(stops_name, stop_ticks, stop_clock)
    )
    backward = start_ticks > stop_ticks
    if backward.any():
        index = int(backward.argmax())
        text = _interval(clock, start_ticks[index].item(), stop_ticks[index].item())
        raise InputError(expected("each event to start before it stops", f"{text} at index {index}"))
    unsorted = start_ticks[1:] < start_ticks[:-1]
    if unsorted.any():
        index = int(unsorted.argmax()) + 1
        texts = [
            _interval(clock, start_ticks[i].item(), stop_ticks[i].item())
            for i in (index, index - 1)
        ]
        raise InputError(
            expected(
                "events to be sorted by start",
                f"{texts[0]} after {texts[1]} at index {index}",
                "Sort them first, e.g. `Events(sorted(intervals))`.",
            )
        )
    return start_ticks, stop_ticks, clock


def _interval(clock: Clock, start: float, stop: float) -> str:
    return f"({clock.text(start)}, {clock.text(stop)})"


def require_inside(
    starts: Ticks, stops: Ticks, clock: Clock, span: tuple[Any, Any], name: str
) -> None:
    """Refuse sorted events that leave the span."""
    outside = (starts < span[0]) | (stops > span[1])
    if outside.any():
        index = int(outside.argmax())
        raise InputError(
            expected(
                f"`{name}` to lie within the span {_interval(clock, *span)}",
                f"{_interval(clock, starts[index].item(), stops[index].item())} at index {index}",
                "Widen `span`, or cut the event.",
            )
        )

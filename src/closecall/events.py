"""Events: sorted intervals of time, the ticks behind them, and 0/1 vectors as runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import read_axis, require_increasing
from closecall.clock import Timed, is_missing, on_one_clock, read_times
from closecall.columns import read_column, require_one_index
from closecall.compiled import interruptible
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import read_duration, read_length
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from numpy.typing import NDArray

    from closecall.axis import Axis
    from closecall.clock import Clock, Moment, Tick, Ticks


def read_labels(values: Any, name: str) -> NDArray[Any]:
    """Read a vector of bool, integer or float labels and check that each is 0 or 1."""
    labels = read_column(values, name)[0]
    if labels.size == 0:
        raise InputError(
            "to have at least one sample", "an empty vector", argument=name, code="no_samples"
        )
    kind = labels.dtype.kind
    if kind == "O":
        labels = _from_objects(labels, name)
        kind = labels.dtype.kind
    if kind == "b":
        return labels.view(np.uint8)
    if kind == "u":
        valid = labels.max() <= 1
    elif kind == "i":
        valid = labels.max() <= 1 and labels.min() >= 0
    elif kind == "f":
        valid = bool(((labels == 0) | (labels == 1)).all())
    else:
        raise InputTypeError(
            "to be a vector of 0 and 1, or closecall.Events",
            f"values of type {type(labels[0]).__name__}",
            argument=name,
            hint="Convert the labels to integers or booleans first.",
        )
    if not valid:
        raise _not_binary(labels, name)
    return labels


def _from_objects(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Read Python numbers and booleans, which numpy keeps as bare objects beside None."""
    for index, value in enumerate(labels):
        if is_missing(value):
            raise InputError(
                "labels to be 0 or 1",
                str(value),
                argument=name,
                index=index,
                hint="Drop the samples without a label, or decide what they are.",
            )
    plain = all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in labels)
    return np.array(labels.tolist()) if plain else labels


def _not_binary(labels: NDArray[Any], name: str) -> InputError:
    index = int(((labels != 0) & (labels != 1)).argmax())
    value, code = labels[index].item(), ""
    if value == -1:
        hint = "scikit-learn's detectors return -1 for anomalies: pass `labels == -1`."
    elif value != value:  # noqa: PLR0124 - nan differs from itself
        hint = "Drop the samples without a label, or decide what they are."
    elif labels.dtype.kind == "f":
        hint = "These look like scores: pass `scores >= threshold`."
    else:
        hint, code = "Pass `labels != 0` if every other value marks an anomaly.", "other_labels"
    return InputError(
        "labels to be 0 or 1", str(value), argument=name, index=index, hint=hint, code=code
    )


def runs(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the runs of ones: the index of each first sample, and the index after each last one."""
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    changes += 1
    if labels[0]:
        changes = np.insert(changes, 0, 0)
    if labels[-1]:
        changes = np.append(changes, labels.size)
    return changes[0::2].copy(), changes[1::2].copy()


def covered(first: NDArray[np.int64], after: NDArray[np.int64], length: int) -> NDArray[np.bool_]:
    """Return which of so many samples lie in a range [first, after); ranges may overlap.

    >>> covered(np.array([1, 2]), np.array([3, 4]), 5).tolist()
    [False, True, True, True, False]
    """
    steps = np.zeros(length + 1, dtype=np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, after, -1)
    inside: NDArray[np.bool_] = interruptible(np.cumsum, steps[:-1]) > 0
    return inside


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Half-open intervals, sorted by start, on one clock; a point has length zero."""

    starts: Ticks
    stops: Ticks
    clock: Clock
    details: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """What else is known of each interval, by name."""

    @classmethod
    def from_labels(cls, labels: NDArray[Any], axis: Axis) -> Intervals:
        """Turn the runs of ones of a vector into intervals of its axis."""
        first, after = runs(labels)
        return cls(axis.borders(first), axis.borders(after), axis.clock)

    def __len__(self) -> int:
        return self.starts.size

    def timed(self, name: str) -> tuple[Timed, Timed]:
        """Return starts and stops as those of the argument of that name."""
        return Timed(name, self.starts, self.clock), Timed(name, self.stops, self.clock)

    def text(self, index: int) -> str:
        """Write one interval as the caller would."""
        return interval_text(self.clock, self.starts[index].item(), self.stops[index].item())

    def merged(self, gap: float = 0, severity_order: tuple[str, ...] = ()) -> Intervals:
        """Join what overlaps or touches, or is separated by less than a gap, in ticks.

        With an order, of severities from the lowest to the highest, the highest is kept.
        """
        if len(self) == 0:
            return self
        reach = np.maximum.accumulate(self.stops)
        apart = self.starts[1:] - reach[:-1]
        first = np.concatenate(([True], (apart > 0) & (apart >= gap)))
        last = np.concatenate((first[1:], [True]))
        orders = {"severity": severity_order}
        details = {
            name: _joined(values, first, orders.get(name, ()))
            for name, values in self.details.items()
        }
        return Intervals(self.starts[first], reach[last], self.clock, details)

    def within(self, start: Tick, stop: Tick) -> Intervals:
        """Cut what reaches beyond a span, and drop what lies outside of it."""
        points = self.starts == self.stops
        kept = (self.starts < stop) & ((self.stops > start) | (points & (self.starts == start)))
        starts, stops = self.starts[kept].clip(start, stop), self.stops[kept].clip(start, stop)
        details = {name: values[kept] for name, values in self.details.items()}
        return Intervals(starts, stops, self.clock, details)

    def with_point_length(self, length: Tick, stop: Tick) -> Intervals:
        """Give points a length, cut at the next interval or where time stops."""
        limit = np.append(self.starts[1:], self.starts.dtype.type(stop))
        # Where the limit is nearer, adding the length might leave 64 bits.
        longer = np.where(limit - self.starts <= length, limit, self.starts + length)
        ends = np.where(self.starts == self.stops, longer, self.stops)
        return Intervals(self.starts, np.minimum(ends, limit), self.clock, self.details)

    def without(self, starts: Ticks, stops: Ticks) -> Intervals:
        """Cut out sorted, disjoint stretches that do not reach beyond the intervals they meet."""
        holder = np.searchsorted(self.starts, starts, side="right") - 1
        met = (holder >= 0) & (starts < self.stops[holder])
        begins = np.sort(np.concatenate((self.starts, stops[met])), kind="stable")
        ends = np.sort(np.concatenate((self.stops, starts[met])), kind="stable")
        kept = begins < ends
        return Intervals(begins[kept], ends[kept], self.clock)

    def refuse(self, broken: NDArray[np.bool_], rule: str, **fields: Any) -> None:
        """Raise if a rule is broken, and show the first interval that does."""
        if broken.any():
            index = int(broken.argmax())
            raise InputError(rule, self.text(index), index=index, **fields)

    def require_sorted(self, name: str) -> None:
        """Raise if intervals are out of order."""
        unsorted = self.starts[1:] < self.starts[:-1]
        if unsorted.any():
            index = int(unsorted.argmax()) + 1
            raise InputError(
                "to be sorted by start" if name else "events sorted by start",
                f"{self.text(index)} after {self.text(index - 1)}",
                argument=name,
                index=index,
                hint="Sort them by start first.",
            )

    def require_disjoint(self, name: str) -> None:
        """Raise on overlap; a point overlaps what starts at it and touches what stops at it."""
        overlap = (self.stops[:-1] > self.starts[1:]) | (self.starts[:-1] == self.starts[1:])
        if overlap.any():
            index = int(overlap.argmax()) + 1
            raise InputError(
                "events to be disjoint",
                f"{self.text(index - 1)} and {self.text(index)}",
                argument=name,
                index=index,
                hint=f"Join them with `{name}.merged()`.",
                code="overlapping_events",
            )

    def require_inside(self, start: Tick, stop: Tick, name: str, hint: str = "") -> None:
        """Raise if intervals leave the span."""
        rule = f"to lie within the span {interval_text(self.clock, start, stop)}"
        outside = (self.starts < start) | (self.stops > stop)
        fields = {"hint": hint} if hint else {"hint": _OUTSIDE, "code": "outside_span"}
        self.refuse(outside, rule, argument=name, **fields)


def _joined(values: NDArray[Any], first: NDArray[np.bool_], order: tuple[str, ...]) -> NDArray[Any]:
    """Join the details of intervals that became one: all, separated by "; ", or the last in order.

    What the order does not have is an error.
    """
    texts = dict.fromkeys(str(value) for value in values.tolist() if value is not None)
    others = [text for text in texts if text not in order]
    if order and others:
        rule = "to list every severity, from the lowest to the highest"
        got = f"{', '.join(order)} beside events of {listed(others)}"
        raise InputError(rule, got, argument="severity_order")
    groups = np.split(values, np.flatnonzero(first)[1:])
    joined = np.empty(len(groups), dtype=object)
    for index, group in enumerate(groups):
        # By their text: what a file lists of an event may be a list itself.
        known = {str(value): value for value in group.tolist() if value is not None}
        if len(known) < 2:  # noqa: PLR2004 - there is nothing to join
            joined[index] = next(iter(known.values()), None)
        else:
            joined[index] = known[max(known, key=order.index)] if order else "; ".join(known)
    return joined


def read_severity_order(order: Any, *, merge: bool = True) -> tuple[str, ...]:
    """Read severities from the lowest to the highest: ``"low,high"``, or a list of them.

    Only where events are merged are they compared.

    >>> read_severity_order("low, high")
    ('low', 'high')
    """
    if order is None or (isinstance(order, tuple) and not order):
        return ()
    parts = order.split(",") if isinstance(order, str) else order
    listed = isinstance(parts, list | tuple) and all(isinstance(one, str | int) for one in parts)
    names = [str(one).strip() for one in parts] if listed else []
    if not names or not all(names) or len({*names}) < len(names):
        rule = "to list different severities, from the lowest to the highest"
        raise InputTypeError(rule, shown(order), argument="severity_order")
    if not merge:
        raise InputError("only beside `merge`", shown(order), argument="severity_order")
    return tuple(names)


def interval_text(clock: Clock, start: Tick, stop: Tick) -> str:
    """Write an interval as the caller would, ``(3, 4)``."""
    return f"({clock.text(start)}, {clock.text(stop)})"


_OUTSIDE = "Widen the span, or cut the event."
_SHOWN = 3  # intervals that a repr writes out
_PAIR = 2


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

    __slots__ = ("intervals",)

    intervals: Intervals
    """The exact ticks behind the events."""

    def __init__(self, intervals: Iterable[tuple[Any, Any]] | NDArray[Any]) -> None:
        starts, stops = _columns(intervals)
        self.intervals = _read_bounds(starts, stops, "intervals", "intervals")

    @classmethod
    def wrap(cls, intervals: Intervals) -> Events:
        """Show intervals that have been checked already."""
        events = cls.__new__(cls)
        events.intervals = intervals
        return events

    @classmethod
    def from_arrays(cls, starts: Any, stops: Any) -> Events:
        """Build events from a column of starts and a column of stops.

        Examples
        --------
        >>> Events.from_arrays([3, 7], [4, 10])
        Events([(3, 4), (7, 10)])
        """
        return cls.wrap(_read_bounds(starts, stops, "starts", "stops"))

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
        points = ticks.copy()
        return cls.wrap(Intervals(points, points, clock))

    @classmethod
    def from_labels(
        cls, labels: Any, times: Any = None, end: Any = None, max_step: Any = None
    ) -> Events:
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
        max_step
            How long a sample lasts at most: a number, or a timedelta beside datetimes. A longer
            step is a gap, and an event stops there.

        Examples
        --------
        >>> Events.from_labels([0, 1, 1, 0, 1])
        Events([(1, 3), (4, 5)])
        >>> Events.from_labels([1, 0, 1], times=[0.0, 2.0, 5.0], end=6.0)
        Events([(0.0, 2.0), (5.0, 6.0)])
        >>> Events.from_labels([1, 1, 1, 0], times=[0, 1, 60, 61], max_step=5)
        Events([(0, 6), (60, 61)])
        """
        require_one_index({"labels": labels, "times": times})
        vector = read_labels(labels, "labels")
        axis = read_axis(vector.size, times, end, of="labels", max_step=max_step)
        whole = Intervals.from_labels(vector, axis)
        if max_step is None:
            return cls.wrap(whole)
        return cls.wrap(whole.without(*axis.gaps(read_length(max_step, axis.clock, "max_step"))))

    @property
    def starts(self) -> NDArray[Any]:
        """Where each event starts: int64, float64 or datetime64 (in UTC if there is a zone)."""
        return _read_only(self.intervals.clock.native(self.intervals.starts))

    @property
    def stops(self) -> NDArray[Any]:
        """Where each event stops (excluded), in the same type as `starts`."""
        return _read_only(self.intervals.clock.native(self.intervals.stops))

    @property
    def durations(self) -> NDArray[Any]:
        """How long each event lasts; 0 for a point."""
        durations: NDArray[Any] = self.stops - self.starts
        return durations

    @property
    def details(self) -> Mapping[str, NDArray[Any]]:
        """What else is known of each event, by name, as `read_events` finds it; empty if nothing.

        They are in the rows of `Affiliation.events` where these events are the truth.
        """
        return MappingProxyType(dict(self.intervals.details))

    @property
    def tz(self) -> tzinfo | None:
        """The time zone the events were given in."""
        return self.intervals.clock.tz

    def merged(
        self, gap: Any = None, *, severity_order: Sequence[str] | str | None = None
    ) -> Events:
        """Join intervals that overlap or touch, or that less than a gap separates.

        Parameters
        ----------
        gap
            A length of time: a number, or a timedelta beside datetimes. What is separated by it or
            by more stays apart.
        severity_order
            Severities from the lowest to the highest, ``["low", "high"]`` or ``"low,high"``. Joined
            events keep the highest; without an order, all are listed, as other details are.

        Examples
        --------
        >>> events = Events([(1, 4), (2, 3), (4, 6), (8, 9)])
        >>> events.merged()
        Events([(1, 6), (8, 9)])
        >>> events.merged(gap=3)
        Events([(1, 9)])
        """
        ticks = 0 if gap is None else read_duration(gap, self.intervals.clock, "gap")
        return Events.wrap(self.intervals.merged(ticks, read_severity_order(severity_order)))

    def clipped(self, start: Any, stop: Any) -> Events:
        """Cut events that reach beyond a span, and drop those outside of it.

        Examples
        --------
        >>> Events([(1, 4), (6, 8), (9, 12)]).clipped(3, 8)
        Events([(3, 4), (6, 8)])
        """
        bounds, clock = read_times([start, stop], "span")
        intervals = self.intervals
        (starts, stops, limits), clock = on_one_clock(
            *intervals.timed("events"), Timed("span", bounds, clock)
        )
        return Events.wrap(
            Intervals(starts, stops, clock, intervals.details).within(*limits.tolist())
        )

    def to_labels(self, times: Any, end: Any = None) -> NDArray[np.uint8]:
        """Return a 0/1 vector: 1 where the sample ``[t(i), t(i+1))`` meets an event.

        Examples
        --------
        >>> Events([(1, 3), (4, 5)]).to_labels(range(6))
        array([0, 1, 1, 0, 1, 0], dtype=uint8)
        """
        ticks, clock = read_times(times, "times")
        axis = read_axis(ticks.size, times, end, of="samples")
        borders = Timed("times", axis.borders(), axis.clock)
        (grid, starts, stops), clock = on_one_clock(borders, *self.intervals.timed("events"))
        Intervals(starts, stops, clock).require_inside(grid[0].item(), grid[-1].item(), "events")
        first = np.searchsorted(grid[:-1], starts, side="right") - 1
        last = np.maximum(np.searchsorted(grid[:-1], stops, side="left") - 1, first)
        return covered(first, last + 1, axis.length).view(np.uint8)

    def __len__(self) -> int:
        return len(self.intervals)

    def __iter__(self) -> Iterator[tuple[Moment, Moment]]:
        intervals = self.intervals
        bounds = zip(intervals.starts.tolist(), intervals.stops.tolist(), strict=True)
        return (
            (intervals.clock.scalar(start), intervals.clock.scalar(stop)) for start, stop in bounds
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        mine, theirs = self.intervals, other.intervals
        if mine.clock.kind == theirs.clock.kind == "datetime":
            same_zones = (self.tz is None) == (other.tz is None)
            same = np.array_equal(self.starts, other.starts)
            return same_zones and same and np.array_equal(self.stops, other.stops)
        # Python compares integers with floats exactly, which numpy does not.
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        intervals = self.intervals
        if len(self) <= _SHOWN:
            return f"Events([{', '.join(intervals.text(index) for index in range(len(self)))}])"
        ends = intervals.starts[0].item(), intervals.stops.max().item()
        first, last = map(intervals.clock.text, ends)
        return f"Events({len(self)} events from {first} to {last})"


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    view = values.view()
    view.flags.writeable = False
    return view


def read_ignored(ignore: Any) -> Intervals:
    """Read `Events` or pairs in any order, which may overlap, and join those that meet."""
    if isinstance(ignore, Events):
        return ignore.intervals.merged()
    starts, stops = _columns(ignore, "ignore")
    return _read_bounds(starts, stops, "ignore", "ignore", in_order=False).merged()


def _columns(intervals: Any, name: str = "intervals") -> tuple[Any, Any]:
    """Split pairs into two columns."""
    if isinstance(intervals, np.ndarray) and intervals.shape[1:] == (_PAIR,):
        return intervals[:, 0], intervals[:, 1]
    try:
        pairs = [(start, stop) for start, stop in intervals]
    except (TypeError, ValueError):
        raise InputTypeError(
            "to be pairs (start, stop)",
            shown(intervals),
            argument=name,
            hint="Use `Events.from_points(times)` for points and `Events.from_labels(labels)` for "
            "a 0/1 vector.",
        ) from None
    return [start for start, _ in pairs], [stop for _, stop in pairs]


def _read_bounds(
    starts: Any, stops: Any, starts_name: str, stops_name: str, *, in_order: bool = True
) -> Intervals:
    start_ticks, start_clock = read_times(starts, starts_name)
    stop_ticks, stop_clock = read_times(stops, stops_name)
    if start_ticks.size != stop_ticks.size:
        raise InputError(f"as many `stops` as `starts` ({start_ticks.size})", f"{stop_ticks.size}")
    (start_ticks, stop_ticks), clock = on_one_clock(
        Timed("starts", start_ticks, start_clock), Timed("stops", stop_ticks, stop_clock)
    )
    # A copy, so that what the caller does to the arrays later does not reach the events.
    intervals = Intervals(start_ticks.copy(), stop_ticks.copy(), clock)
    backward = intervals.starts > intervals.stops
    argument = starts_name if starts_name == stops_name else ""
    rule = "events that start before they stop"
    intervals.refuse(backward, f"to have {rule}" if argument else rule, argument=argument)
    if in_order:
        intervals.require_sorted(argument)
        return intervals
    order = np.argsort(start_ticks, kind="stable")
    return Intervals(start_ticks[order], stop_ticks[order], clock)

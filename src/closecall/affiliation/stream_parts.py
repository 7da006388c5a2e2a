"""Chunks of a stream as the caller gives them: checked, made into parts, and put together.

There is one class of parts for each way of telling time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.stream_state import RunsLeftOut, Segment
from closecall.axis import Axis, IgnoredTime, Spacing, require_increasing
from closecall.clock import LARGEST, PER_SECOND, Timed, on_one_clock, read_times
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, shown
from closecall.events import Events, Intervals, interval_text, read_ignored, read_labels, runs
from closecall.parameters import read_length
from closecall.series import require_squares

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.affiliation.stream_state import Blocks
    from closecall.clock import Clock, Tick, Ticks

    Mask = NDArray[np.bool_] | None  # which samples are ignored

Labels = list["NDArray[Any]"]  # of truth and predicted


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Where a stream starts and how long its samples last; a start that was not given is 0."""

    start: Tick
    step: int | None
    clock: Clock
    placed: bool
    max_step: Any = None

    def longest(self, clock: Clock) -> Tick | None:
        """Return how long a sample lasts at most, in ticks of the clock."""
        return None if self.max_step is None else read_length(self.max_step, clock, "max_step")

    @property
    def told(self) -> bool:
        """Whether there is more to know than the defaults, so that not any stream can follow."""
        return self.placed or self.step != 1

    def sample_step(self) -> int:
        """Return the length of a sample in ticks."""
        if self.step is not None:
            return self.step
        hint = "Make the stream without `start`, and pass `times=` with each chunk."
        if self.clock.kind == "number":
            start = self.clock.text(self.start)
            rule = "to be an integer, or a datetime, for samples without times"
            raise InputTypeError(rule, start, argument="start", hint=hint)
        hint = f"Pass `step=` when the stream is made. Or: {hint[0].lower()}{hint[1:]}"
        raise InputTypeError("`step` beside a `start` that is a datetime", "none", hint=hint)

    @classmethod
    def read(cls, start: Any, step: Any) -> StreamOptions:
        """Read `start` and `step`: integers, or a datetime and a timedelta."""
        ticks, clock = read_times([0 if start is None else start], "start")
        first, placed = ticks[0].item(), start is not None
        if step is None:
            return cls(first, 1 if clock.kind == "integer" else None, clock, placed)
        if clock.kind == "datetime":
            first, length, clock = _read_dated_step(clock.native(ticks)[0], clock, step)
        elif clock.kind == "number":
            raise _not_exact("start", start)
        elif isinstance(step, (timedelta, np.timedelta64)):
            raise InputTypeError("a datetime `start` beside this `step`", f"{start}")
        elif isinstance(step, bool) or not isinstance(step, (int, np.integer)):
            raise _not_exact("step", step)
        else:
            length = int(step)
        if length <= 0:
            raise InputError("to be longer than zero", shown(length), argument="step")
        if length > LARGEST:
            raise InputError(f"to be at most {LARGEST:,}", shown(length), argument="step")
        return cls(first, length, clock, placed)


def _read_dated_step(start: np.datetime64, clock: Clock, step: Any) -> tuple[Tick, int, Clock]:
    """Return start and step in the ticks of a clock that is fine enough for both."""
    if not isinstance(step, (timedelta, np.timedelta64)):
        raise InputTypeError(
            "to be a timedelta beside a datetime `start`", shown(step), argument="step"
        )
    length = step.to_timedelta64() if hasattr(step, "to_timedelta64") else np.timedelta64(step)
    try:
        # numpy takes the finer of the two units.
        both = np.array([start, start + length])
    except TypeError:
        raise InputTypeError(
            "of a fixed length",
            str(step),
            argument="step",
            hint="Months and years differ in length.",
        ) from None
    (first, second), own = read_times(both, "step")
    return first.item(), int(second - first), replace(own, tz=clock.tz)


def _not_exact(name: str, value: Any) -> InputTypeError:
    return InputTypeError(
        "to be an integer, or a datetime with a timedelta",
        shown(value),
        argument=name,
        hint="Multiples of other numbers are rounded; pass the times themselves with each chunk.",
    )


@dataclass(frozen=True, slots=True, eq=False)
class SampledPart:
    """Samples that last one step each; not placed if they may follow any others."""

    known: Segment
    step: int
    placed: bool
    means = "`update(truth, predicted)` without times"

    @classmethod
    def read(
        cls, labels: Labels, ignore: Mask, before: Part | None, options: StreamOptions
    ) -> SampledPart:
        """Read the next samples, which go on from those before."""
        if isinstance(before, SampledPart):
            start, clock = int(before.known.callers.stop), before.known.clock
            step, placed = before.step, before.placed
        else:
            start, clock = int(options.start), options.clock
            step, placed = options.sample_step(), options.placed
        stop = start + step * len(labels[0])
        if stop > LARGEST:
            raise InputError("samples whose times fit in 64 bits", f"an end at {stop}")
        longest = options.longest(clock)
        if ignore is None and (longest is None or longest >= step):
            known = _segment(labels, lambda index: index * step + start, clock)
        else:
            borders = np.arange(len(labels[0]) + 1) * step + start
            known = _timed_segment(labels, borders, ignore, longest, clock)
        return cls(known, step, placed)

    def followed_by(self, other: SampledPart) -> SampledPart:
        """Put a part that starts where this one stops after it."""
        if self.step != other.step:
            raise InputError("two streams with one `step`", f"{self.step} and {other.step} ticks")
        left, right = self.known, other.known
        if not other.placed:
            by = int(left.callers.stop - right.callers.start)
            right = replace(right.moved(by), clock=left.clock)
        elif not self.placed:
            by = int(right.callers.start - left.callers.stop)
            left = replace(left.moved(by), clock=right.clock)
        _require_adjacent(left, right)
        return SampledPart(left.followed_by(right), self.step, self.placed or other.placed)


@dataclass(frozen=True, slots=True, eq=False)
class EventPart:
    """Events that were given as such: those that touch stay two."""

    known: Segment
    means = "`update_events(truth, predicted)`"

    @classmethod
    def read(
        cls,
        sides: tuple[Any, Any],
        until: Any,
        ignore: Any,
        before: Part | None,
        options: StreamOptions,
    ) -> EventPart:
        """Read the complete events of the next segment of time."""
        for side in sides:
            if not isinstance(side, Events):
                raise InputTypeError(
                    "`truth` and `predicted` to be Events",
                    type(side).__name__,
                    hint="Give 0/1 vectors to `update`.",
                )
        if not options.placed and not isinstance(before, EventPart):
            raise InputTypeError(
                "a `start` for a stream of events",
                "none",
                hint="Make it with `AffiliationStream(start=...)`.",
            )
        truth, predicted = (side.intervals for side in sides)
        timed = [*truth.timed("truth"), *predicted.timed("predicted")]
        timed.append(Timed("until", *read_times([until], "until")))
        if options.max_step is not None:
            rule = "no `max_step` for a stream of events, which have no samples"
            raise InputTypeError(rule, "`max_step`")
        timed += read_ignored([] if ignore is None else ignore).timed("ignore")
        if isinstance(before, EventPart):
            start = before.known.callers.stop
            ticks, clock = on_stream_clock(start, before.known.clock, *timed)
        else:
            at = Timed("start", np.array([options.start]), options.clock)
            ((first,), *ticks), clock = on_one_clock(at, *timed)
            start = first.item()
        stop = ticks[4][0].item()
        found = Intervals(ticks[0], ticks[1], clock), Intervals(ticks[2], ticks[3], clock)
        for own, name in zip(found, ("truth", "predicted"), strict=True):
            own.require_disjoint(name)
            _require_within(own, start, stop, name)
        ignored = IgnoredTime.within(ticks[5], ticks[6], (start, stop), clock)
        return cls(_event_segment(found, (start, stop), ignored, clock))

    def followed_by(self, other: EventPart) -> EventPart:
        """Put a part that starts where this one stops after it."""
        left, right = self.known, other.known
        _require_adjacent(left, right)
        _require_evaluated_end(left, right)
        right = right.placed_at(left.stop)
        _require_two("truth", left.truth, right.truth, left.clock)
        _require_two("predicted", left.tail, right.head, left.clock)
        return EventPart(left.followed_by(right))


@dataclass(frozen=True, slots=True, eq=False)
class TimedPart:
    """Samples with times: the last one is held back until the next time says where it stops."""

    before: Segment | None
    time: Tick
    last: tuple[bool, bool, bool]
    """Whether the last sample is true, whether it is predicted, and whether it is ignored."""
    spacing: Spacing
    seen: tuple[Tick, Tick]
    """The shortest and the longest of the steps that are no gaps."""
    longest: Tick | None
    """How long a sample lasts at most."""
    clock: Clock
    means = "`update(truth, predicted, times=...)`"

    @classmethod
    def read(
        cls, labels: Labels, ignore: Mask, times: Any, before: Part | None, options: StreamOptions
    ) -> TimedPart | None:
        """Read the times of a chunk, which go on from those before; None if it is empty."""
        ticks, clock = read_times(times, "times")
        truth, predicted = labels
        if ticks.size != truth.size:
            rule = f"to have one time for each of the {truth.size} labels"
            raise InputError(rule, f"{ticks.size}", argument="times")
        if not truth.size:
            return None
        if isinstance(before, TimedPart):
            own = Timed("times", ticks, clock)
            (ticks,), clock = on_stream_clock(before.time, before.clock, own)
            if ticks[0] <= before.time:
                raise InputError(
                    "to be strictly increasing",
                    f"{clock.text(ticks[0].item())} at index 0, after "
                    f"{clock.text(before.time)} in the chunk before",
                    argument="times",
                    hint="Give the chunks in the order of time.",
                )
        require_increasing(ticks, clock, "times")
        if clock.kind == "number":
            require_squares(np.diff(ticks))
        short = getattr(times, "dtype", None) == np.float32
        time, complete, longest = ticks[-1].item(), None, options.longest(clock)
        spacing, seen = Spacing(time, time, 0, inf, -inf, short), (inf, -inf)
        if ticks.size > 1:
            spacing = Spacing.of(ticks, short=short)
            complete = _timed_segment([truth[:-1], predicted[:-1]], ticks, ignore, longest, clock)
            seen = _limits(np.diff(ticks), longest)
        last = bool(truth[-1]), bool(predicted[-1]), ignore is not None and bool(ignore[-1])
        return cls(complete, time, last, spacing, seen, longest, clock)

    @property
    def known(self) -> Segment:
        """All that is known: the last sample has begun, and has no length yet."""
        return self.until(self.time)

    def until(self, stop: Tick) -> Segment:
        """Return all that was seen, with the last sample up to a time."""
        kind = np.float64 if self.clock.kind == "number" else np.int64
        borders = np.array([self.time, stop], dtype=kind)
        truth, predicted, ignored = (np.array([value]) for value in self.last)
        last = _timed_segment([truth, predicted], borders, ignored, self.longest, self.clock)
        return last if self.before is None else self.before.followed_by(last)

    def followed_by(self, other: TimedPart) -> TimedPart:
        """Put a part that starts later after it; its start is where the last sample stops."""
        _require_one_clock(self.clock, other.clock)
        left, right = self.spacing, other.spacing
        if right.first <= self.time:
            raise InputError(
                f"a stream to start after the last time {self.clock.text(self.time)} of the "
                "one it is added to",
                self.clock.text(right.first),
                hint="Add streams in the order of time.",
            )
        before = self.until(right.first)
        if other.before is not None:
            before = before.followed_by(other.before)
        step = right.first - left.last
        spacing = Spacing(
            left.first,
            right.last,
            left.steps + right.steps + 1,
            min(step, left.shortest, right.shortest),
            max(step, left.longest, right.longest),
            left.short and right.short,
        )
        limits = self.seen, other.seen, _limits(np.array([step]), self.longest)
        seen = min(low for low, _ in limits), max(high for _, high in limits)
        return TimedPart(before, other.time, other.last, spacing, seen, self.longest, self.clock)

    def finished(self, end: Tick | None) -> Segment:
        """Return all that was seen, up to `end`, or to where an even axis goes on."""
        if end is None and self.spacing.steps:
            end = self.spacing.end(self.clock)
            if end is None and self.longest is not None and self.seen[0] <= self.seen[1]:
                short = self.spacing.short
                end = Spacing.apart_from_gaps(self.time, self.seen, short=short).end(self.clock)
        if end is not None:
            return self.until(end)
        last = self.clock.text(self.time)
        uneven = "unevenly spaced times" if self.spacing.steps else "a single sample"
        raise InputError(
            f"for {uneven}",
            "none",
            argument="end",
            hint=f"Pass `end=`, where the one at {last} stops.",
        )


Part = SampledPart | EventPart | TimedPart


def join_parts(left: Part, right: Part) -> Part:
    """Put two parts that tell time in the same way one after the other."""
    if type(left) is type(right):
        return left.followed_by(right)  # type: ignore[arg-type]
    raise InputTypeError(
        f"{left.means}, as before",
        f"{right.means}",
        hint="One stream tells time in one way, from its first chunk to its last.",
    )


def read_chunk(truth: Any, predicted: Any) -> Labels:
    """Read two 0/1 vectors of one length, which may be empty."""
    labels = []
    for values, name in ((truth, "truth"), (predicted, "predicted")):
        column = read_column(values, name)[0]
        labels.append(read_labels(column, name) if column.size else column)
    if labels[0].size != labels[1].size:
        rule = f"to have as many labels as `truth` ({labels[0].size})"
        raise InputError(rule, f"{labels[1].size}", argument="predicted")
    return labels


def read_mask(ignore: Any, size: int) -> Mask:
    """Read which samples of a chunk are ignored; None if none is."""
    if ignore is None:
        return None
    column = read_column(ignore, "ignore")[0]
    mask = read_labels(column, "ignore") if column.size else column
    if mask.size != size:
        rule = f"to have one label for each of the {size} samples"
        raise InputError(rule, f"{mask.size}", argument="ignore")
    return mask.astype(bool) if mask.any() else None


def _event_segment(
    sides: tuple[Intervals, Intervals],
    span: tuple[Tick, Tick],
    ignored: IgnoredTime | None,
    clock: Clock,
) -> Segment:
    """Evaluate events, which are mapped to evaluated time one by one."""
    truth, predicted = (np.column_stack(_bounds(side)) for side in sides)
    if ignored is None:
        return Segment.of(truth, predicted, span, clock, joins=False)
    inside, beyond = (ignored.covers(*_bounds(side)) for side in sides)
    truth, predicted = ignored.close(truth[~inside]), ignored.close(predicted[~beyond])
    left_out = RunsLeftOut(int(inside.sum())), RunsLeftOut(int(beyond.sum()))
    known: dict[str, Any] = {"left_out": left_out, "ignored": ignored}
    return Segment.of(truth, predicted, span, clock, joins=False, **known)


def _bounds(intervals: Intervals) -> tuple[Ticks, Ticks]:
    return intervals.starts, intervals.stops


def _limits(steps: Ticks, longest: Tick | None) -> tuple[Tick, Tick]:
    """Return the shortest and the longest step that is no gap; inf and -inf if there is none."""
    seen = steps if longest is None else steps[steps <= longest]
    return (seen.min().item(), seen.max().item()) if seen.size else (inf, -inf)


def _timed_segment(
    labels: Labels, borders: Ticks, ignore: Mask, longest: Tick | None, clock: Clock
) -> Segment:
    """Evaluate samples between borders, some of which are ignored, or last too long.

    `ignore` may have one more, for what comes next.
    """
    size = len(labels[0])
    ignore = None if ignore is None or not ignore[:size].any() else ignore[:size]
    lengths = np.diff(borders)
    if ignore is None and (longest is None or (lengths <= longest).all()):
        return _segment(labels, borders.__getitem__, clock)
    lasting = lengths if longest is None else np.minimum(lengths, longest)
    if ignore is not None:
        lasting = np.where(ignore, 0, lasting)
    ends, span = borders[:-1] + lasting, (borders[0].item(), borders[-1].item())
    ignored = IgnoredTime.within(ends, borders[1:], span, clock)
    if ignored is None:  # a sample that has begun, and has no length yet
        begun = [side if ignore is None else side * ~ignore for side in labels]
        return _segment(begun, borders.__getitem__, clock)
    axis, kept = Axis(borders[:-1], len(lengths), span[1], clock).closed(ignored)
    truth = predicted = borders[:0].reshape(0, 2)
    if axis.length:
        sides = (Intervals.from_labels(side[kept], axis) for side in labels)
        truth, predicted = (np.column_stack(_bounds(side)) for side in sides)
    left_out = RunsLeftOut.of(labels[0], kept), RunsLeftOut.of(labels[1], kept)
    known: dict[str, Any] = {"left_out": left_out, "ignored": ignored}
    return Segment.of(truth, predicted, span, clock, joins=True, **known)


def _segment(labels: Labels, time_of: Callable[[Any], Ticks], clock: Clock) -> Segment:
    """Evaluate the runs of ones; `time_of` gives the start of each sample, and the last stop."""
    truth, predicted = (time_of(np.column_stack(runs(side))) for side in labels)
    start, stop = time_of(np.array([0, len(labels[0])])).tolist()
    left_out = RunsLeftOut.none_of(labels[0]), RunsLeftOut.none_of(labels[1])
    return Segment.of(truth, predicted, (start, stop), clock, joins=True, left_out=left_out)


def on_stream_clock(tick: Tick, clock: Clock, *parts: Timed) -> tuple[list[Ticks], Clock]:
    """Bring times to the clock of a stream, whose scores are kept in its ticks."""
    ticks, common = on_one_clock(Timed("the stream", np.array([tick]), clock), *parts)
    if clock.kind == "datetime":
        # A finer type may hold no finer times.
        finer_by = PER_SECOND[common.unit] // PER_SECOND[clock.unit]
        if not any((own % finer_by).any() for own in ticks):
            return [own // finer_by for own in ticks[1:]], clock
    if (common.kind, common.unit) != (clock.kind, clock.unit):
        finer = next(part for part in parts if _clock_text(part.clock) != _clock_text(clock))
        raise InputTypeError(
            f"to be {_clock_text(clock)}, as before in this stream",
            _clock_text(finer.clock),
            argument=finer.name,
            hint="Give times in the finest type from the start.",
        )
    return ticks[1:], clock


def _clock_text(clock: Clock) -> str:
    if clock.kind != "datetime":
        return "integers" if clock.kind == "integer" else "floats"
    return f"datetimes in {clock.unit} {'without a zone' if clock.tz is None else 'with a zone'}"


def _require_one_clock(left: Clock, right: Clock) -> None:
    if (left.kind, left.unit, left.tz is None) != (right.kind, right.unit, right.tz is None):
        raise InputTypeError(
            "two streams whose times are of one kind and unit",
            f"{_clock_text(left)} and {_clock_text(right)}",
            hint="Give all times in one type, from the first chunk on.",
        )


def _require_adjacent(left: Segment, right: Segment) -> None:
    _require_one_clock(left.clock, right.clock)
    if left.callers.stop != right.callers.start:
        raise InputError(
            "a stream to start where the one it is added to stops, "
            f"{left.clock.text(left.callers.stop)}",
            right.clock.text(right.callers.start),
            hint="Add streams in the order of time, and leave none out.",
        )


def _require_evaluated_end(left: Segment, right: Segment) -> None:
    """Raise if a point at the end of a stretch turns out to lie in ignored time."""
    first = right.callers.ignored.first(1)
    if not len(first) or first[0, 0] != right.callers.start:
        return
    for name, side in (("truth", left.truth), ("predicted", left.tail)):
        if len(side) and (side.last(1)[0] == left.stop).all():
            raise InputError(
                f"no point of `{name}` at `until` where the next stretch starts with ignored time",
                left.clock.text(left.callers.stop),
                hint="A point belongs to what comes after it: give it with the next stretch.",
            )


def _require_two(name: str, before: Blocks, after: Blocks, clock: Clock) -> None:
    """Raise if an event is at a point where another one is."""
    if len(before) and len(after):
        last, first = before.last(1)[0].tolist(), after.first(1)[0].tolist()
        if last[0] == first[0]:
            texts = [f"({clock.text(start)}, {clock.text(stop)})" for start, stop in (last, first)]
            raise InputError(
                "events to be disjoint", f"{texts[0]} and {texts[1]} at index 0", argument=name
            )


def _require_within(intervals: Intervals, start: Tick, stop: Tick, name: str) -> None:
    clock = intervals.clock
    if stop < start:
        raise InputError(
            f"to lie after what has been seen, {clock.text(start)}",
            clock.text(stop),
            argument="until",
        )
    stretch = f"the stretch {interval_text(clock, start, stop)} that is new to the stream"
    intervals.refuse(
        (intervals.starts < start) | (intervals.stops > stop),
        f"to lie within {stretch}",
        argument=name,
        hint="Events are given whole: choose an `until` that cuts none.",
    )

"""What a stream keeps: a run for each change of truth, prediction or ignored time.

A run has the tick where it starts and a code, and where samples have times the number of the sample
there: 17 bytes at most. It lasts until the next run starts. Runs are a series whose samples differ
in length, and `affiliation` scores them as such.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from closecall.affiliation.event_scores import COLUMNS
from closecall.affiliation.score import score_pair
from closecall.axis import Axis, IgnoredTime, Spacing, is_short
from closecall.clock import LARGEST, Clock, Timed
from closecall.errors import InputError, InputTypeError
from closecall.evaluated_time import Stretches
from closecall.events import Intervals
from closecall.parameters import read_length
from closecall.series import TruthInSpan, in_evaluated_time, in_span, on_axis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks
    from closecall.series import Pair

TRUTH, PREDICTED, IGNORED = 1, 2, 4  # bits of a code
BEGIN = 3  # `bit << BEGIN`: an event starts here, which may touch the one before
WAYS = {
    "samples": "`update(truth, predicted)` without times",
    "times": "`update(truth, predicted, times=...)`",
    "events": "`update_events(truth, predicted)`",
}
# The columns of a result that do not depend on the alarms of the whole series.
_ZONE_COLUMNS = tuple(name for name in COLUMNS if not name.endswith("above_chance"))


def run_type(clock: Clock, way: str) -> np.dtype[Any]:
    """Return the type of runs; the numbers of counted samples follow from their ticks."""
    fields = [("tick", "<f8" if clock.kind == "number" else "<i8"), ("code", "u1")]
    return np.dtype([*fields, ("sample", "<i8")] if way == "times" else fields)


class Limits(NamedTuple):
    """The shortest and the longest of some lengths of time; there are none at first."""

    shortest: Tick = inf
    longest: Tick = -inf

    @classmethod
    def of(cls, lengths: Ticks) -> Limits:
        """Return the limits of lengths, of which there may be none."""
        return cls(lengths.min().item(), lengths.max().item()) if lengths.size else cls()


class Steps(NamedTuple):
    """What is known of the lengths of samples."""

    given: Limits = Limits()
    """From one sample to the next."""
    seen: Limits = Limits()
    """The same without gaps."""
    evaluated: Limits = Limits()
    """How long the samples last that are not ignored."""

    @classmethod
    def of(cls, lengths: Ticks, ignored: NDArray[np.bool_], max_step: Tick | None) -> Steps:
        """Return what is known of samples of these lengths."""
        lasting, seen = lengths, lengths
        if max_step is not None:
            lasting, seen = np.minimum(lengths, max_step), lengths[lengths <= max_step]
        return cls(*map(Limits.of, (lengths, seen, lasting[~ignored])))

    def joined(self, other: Steps) -> Steps:
        """Return what is known of both."""
        return Steps(
            *(
                Limits(min(mine[0], theirs[0]), max(mine[1], theirs[1]))
                for mine, theirs in zip(self, other, strict=True)
            )
        )


NO_STEPS = Steps()


@dataclass(frozen=True, slots=True)
class RunAxis(Axis):
    """The axis of all samples, of which only those are kept that start a run."""

    numbers: NDArray[np.int64]
    """The numbers of these samples, and how many samples there are."""
    lasting: Limits
    """The lengths of all samples."""
    evaluated: Limits
    """The lengths of samples that are not ignored."""
    short: bool
    """Whether 32-bit floats hold all times."""
    usual: Tick | None = None
    """The median length of a sample, where it is known."""

    def sample_numbers(self, ticks: Ticks) -> NDArray[np.float64]:
        """Return where runs start or stop, counted in samples."""
        return self.numbers[np.searchsorted(self.borders(), ticks)].astype(np.float64)

    def lengths(self) -> Ticks:
        """Return the shortest, the usual and the longest length of all samples."""
        shortest, longest = self.lasting
        return np.array([shortest, longest if self.usual is None else self.usual, longest])

    def even_step(self) -> Tick | None:
        """Return the step of evenly spaced samples, or None."""
        count = int(self.numbers[-1])
        return Spacing(self.start, self.end, count, *self.lasting, self.short).step(self.clock)

    def closed(self, ignored: IgnoredTime) -> tuple[Axis, NDArray[np.bool_]]:
        """Return the axis of the runs that last after closing, and which they are."""
        axis, kept = Axis.closed(self, ignored)
        if axis.ticks is None or not axis.length:
            return axis, kept
        numbers = np.concatenate(([0], np.cumsum(np.diff(self.numbers)[kept])))
        known = numbers, self.evaluated, self.evaluated, self.short and is_short(axis.ticks)
        return RunAxis(axis.ticks, axis.length, axis.end, axis.clock, *known), kept


class Cursor(NamedTuple):
    """Which zones `Runs.closed_zones` has scored, and where it continues."""

    zones: int = 0
    """How many zones have been scored."""
    run: int = 0
    """The run where the last event of these zones starts."""
    before: tuple[tuple[Tick, int], ...] = ()
    """Runs, as ticks and codes, that stand for those before it: the last alarm, ignored time."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """All that has been seen of a series, from start to stop, and how it is to be read."""

    clock: Clock
    start: Tick
    """0 if the start is neither given nor seen yet."""
    stop: Tick
    """Of samples with times, where the last one starts: how long it lasts is not known yet."""
    step: int | None = 1
    """How long counted samples last; None if samples need times."""
    placed: bool = False
    """Whether the start is given. Samples without it may follow any others."""
    max_step: Any = None
    way: Literal["", "samples", "times", "events"] = ""
    """How time is given: samples are counted, or have times; or there are events."""
    arrays: tuple[NDArray[Any], ...] = ()
    """Runs, in arrays that never change; each array is longer than the next one."""
    samples: int = 0
    steps: Steps = NO_STEPS
    float32: bool = False
    """Whether times came as 32-bit floats."""
    short: bool = False
    """Whether 32-bit floats hold all times."""

    def counted(self, codes: NDArray[np.uint8], step: int) -> Runs:
        """Return the runs of samples that follow these and last one step each."""
        start, stop = int(self.stop), int(self.stop) + step * codes.size
        _require_64_bits(stop)
        longest = self.longest(self.clock)
        lasting = step if longest is None else min(step, longest)
        if lasting == step:
            places = _changes(codes)
            runs = np.empty(places.size, run_type(self.clock, "samples"))
            runs["tick"], runs["code"] = places * step + start, codes[places]
        else:
            ticks = np.arange(codes.size + 1) * step + start
            timed = sample_runs(codes, ticks, longest, self.clock)
            runs = timed[["tick", "code"]].astype(run_type(self.clock, "samples"))
        evaluated = Limits() if (runs["code"] >= IGNORED).all() else Limits(lasting, lasting)
        steps = Steps(Limits(step, step), Limits(step, step), evaluated)
        chunk = replace(self, way="samples", arrays=(runs,), samples=codes.size, steps=steps)
        return replace(chunk, start=start, stop=stop)

    def timed(self, codes: NDArray[np.uint8], times: Timed, *, float32: bool) -> Runs:
        """Return the runs of samples that start at increasing times, after these."""
        ticks, clock = times.ticks, times.clock
        longest = self.longest(clock)
        steps = Steps.of(np.diff(ticks), codes[:-1] >= IGNORED, longest)
        runs, (start, stop) = sample_runs(codes, ticks, longest, clock), ticks[[0, -1]].tolist()
        chunk = replace(self, way="times", arrays=(runs,), samples=codes.size, steps=steps)
        short = clock.kind == "number" and is_short(ticks)
        return replace(chunk, clock=clock, start=start, stop=stop, float32=float32, short=short)

    def longest(self, clock: Clock) -> Tick | None:
        """Return how long a sample lasts at most, in ticks of the clock."""
        return None if self.max_step is None else read_length(self.max_step, clock, "max_step")

    def checked(self) -> Runs:
        """Raise if the span is too long for exact arithmetic."""
        if self.clock.kind != "number" and self.start < self.stop:
            none = Intervals(np.empty(0, np.int64), np.empty(0, np.int64), self.clock)
            TruthInSpan(truth=none, start=self.start, stop=self.stop, clock=self.clock).checked()
        return self

    def __len__(self) -> int:
        return sum(map(len, self.arrays))

    def from_run(self, index: int) -> NDArray[Any]:
        """Return the runs from one of them on, as one array."""
        kept, first = [np.empty(0, run_type(self.clock, self.way))], len(self)
        for array in reversed(self.arrays):
            if first > index:
                first -= len(array)
                kept.append(array[max(index - first, 0) :])
        return kept[1] if len(kept) == 2 else np.concatenate(kept[::-1])  # noqa: PLR2004

    def column(self, name: str) -> NDArray[Any]:
        """Return one field of all runs."""
        kept = [np.empty(0, run_type(self.clock, self.way)), *self.arrays]
        return np.concatenate([array[name] for array in kept])

    def numbers(self) -> NDArray[np.int64]:
        """Return the number of the sample where each run starts, or of the next one."""
        if self.way == "times":
            return self.column("sample")
        numbers = (self.start - self.column("tick")) // (self.step or 1)
        return -numbers.astype(np.int64, copy=False)

    def count(self, bit: int) -> int:
        """Return how many true events or alarms there are in evaluated time."""
        codes = self.column("code")
        if self.way != "events":  # those that meet over ignored time are one
            return int(_inside(codes[codes < IGNORED], bit)[1].sum())
        inside, begins = _inside(codes, bit)
        return np.unique(np.cumsum(begins)[inside & ((codes & IGNORED) == 0)]).size

    def followed_by(self, other: Runs) -> Runs:
        """Return these runs and others after them; raise if they do not follow."""
        if self.max_step != other.max_step:
            got = f"{self.max_step} and {other.max_step}"
            raise InputError("two streams with one `max_step`", got)
        in_samples = None not in (self.step, other.step)
        way = self.way or other.way or ("samples" if in_samples else "events")
        if not other.way and not other.has_options(way):
            return self
        if not self.way and not self.has_options(way):
            return other
        left, right = self._beside(other, way)
        left = left.until(right.start)
        if left.stop != right.start:
            rule = "a stream to start where the one it is added to stops, "
            rule, got = rule + left.clock.text(left.stop), right.clock.text(right.start)
            hint = "Add streams in the order of time, and leave none out."
            raise InputError(rule, got, hint=hint)
        arrays = [_moved(array, 0, left.samples) for array in right.arrays]
        if arrays and left.arrays:
            if way == "events":
                _require_apart(left, right)
            if left.arrays[-1]["code"][-1] == arrays[0]["code"][0] < 1 << BEGIN:
                arrays[0] = arrays[0][1:]
        joined = replace(
            left,
            stop=right.stop,
            placed=left.placed or right.placed,
            way=left.way or right.way,
            arrays=_put_together(*left.arrays, *arrays),
            samples=left.samples + right.samples,
            steps=left.steps.joined(right.steps),
            float32=left.float32 and right.float32,
            short=left.short and right.short,
        )
        return joined.checked()

    def _beside(self, other: Runs, way: str) -> tuple[Runs, Runs]:
        """Return both where they lie; raise if their times cannot be compared, or go back."""
        left, right = self, other
        # A stream that has a start, and has seen nothing, can only take samples or events.
        empty = "samples" if way == "samples" else "events"
        if (left.way or empty) != (right.way or empty):
            raise InputTypeError(
                f"{WAYS[left.way or empty]}, as before",
                WAYS[right.way or empty],
                hint="One stream tells time in one way, from its first chunk to its last.",
            )
        if way == "samples":
            if left.step != right.step:
                rule = "two streams with one `step`"
                raise InputError(rule, f"{left.step} and {right.step} ticks")
            if not right.placed:
                right = right.moved(int(left.stop - right.start), left.clock)
            elif not left.placed:
                left = left.moved(int(right.start - left.stop), right.clock)
        require_one_clock(left.clock, right.clock)
        if way == "times" and right.start <= left.stop:
            last, start = left.clock.text(left.stop), right.clock.text(right.start)
            rule = f"a stream to start after the last time {last} of the one it is added to"
            raise InputError(rule, start, hint="Add streams in the order of time.")
        return left, right

    def has_options(self, way: str) -> bool:
        """Return whether a stream that has seen nothing has options that others must fit."""
        return self.placed or (way == "samples" and self.step != 1)

    def moved(self, ticks: int, clock: Clock) -> Runs:
        """Return counted samples at another time."""
        start, stop = self.start + ticks, self.stop + ticks
        _require_64_bits(stop)
        arrays = tuple(_moved(array, ticks, 0) for array in self.arrays)
        return replace(self, arrays=arrays, start=start, stop=stop, clock=clock)

    def until(self, stop: Tick) -> Runs:
        """Return the same with the last sample up to a time, if that is not known yet."""
        if self.way != "times":
            return self
        code, ticks = self.arrays[-1]["code"][-1:], np.array([self.stop, stop])
        longest = self.longest(self.clock)
        last = Steps.of(np.diff(ticks), code >= IGNORED, longest)
        rest = sample_runs(code, ticks, longest, self.clock)[1:]
        arrays = _put_together(*self.arrays, _moved(rest, 0, self.samples - 1))
        return replace(self, arrays=arrays, stop=stop, steps=self.steps.joined(last))

    def end(self) -> Tick | None:
        """Return where the last sample stops; None if its times do not tell."""
        if self.way != "times":
            return self.stop
        given, seen, _ = self.steps
        end, count = None, self.samples - 1
        if count:
            end = Spacing(self.start, self.stop, count, *given, self.float32).end(self.clock)
        if end is None and self.max_step is not None and seen.shortest <= seen.longest:
            spacing = Spacing.apart_from_gaps(self.stop, seen, short=self.float32)
            end = spacing.end(self.clock)
        return end

    def pair(self) -> Pair:
        """Return the true events and the alarms, once it is known where the last sample stops."""
        runs, numbers = self.from_run(0), np.array([0, self.samples])
        ticks, codes = runs["tick"], runs["code"]
        known = self.steps.given, self.steps.evaluated, self.short
        places = ticks[:1].copy()
        if self.clock.kind == "number":  # where alarms are moved by samples, these are counted
            places, numbers = ticks, np.append(self.numbers(), self.samples)
        axis = RunAxis(places, places.size, self.stop, self.clock, numbers, *known)
        return self._pair(ticks, codes, axis).asking(max_step=self.max_step)

    def _pair(self, ticks: Ticks, codes: NDArray[np.uint8], axis: Axis) -> Pair:
        truth, predicted, ignored = (
            intervals_of(ticks, codes, axis.end, bit, self.clock)
            for bit in (TRUTH, PREDICTED, IGNORED)
        )
        sides = {"truth": truth, "predicted": predicted}
        if self.way == "events":
            span = Timed("span", np.array([self.start, axis.end]), self.clock)
            series, sides = in_span(sides, None, span)
        else:
            series = on_axis(truth, axis)
        stretches = [Stretches("ignore", ignored)] if len(ignored) else []
        series, closed = in_evaluated_time(series, sides, {}, stretches)
        sides = closed.sides
        if stretches and self.way != "events":  # samples that meet over ignored time are one event
            sides = {name: side.merged() for name, side in sides.items()}
        series = replace(series, truth=sides["truth"])
        return series.predicting(sides["predicted"], closed.left_out["predicted"])

    def closed_zones(self, cursor: Cursor) -> tuple[Iterator[dict[str, Any]], Cursor]:
        """Return rows for the zones that have closed since the cursor, and the next cursor.

        These are zones of the runs from the last event of the cursor on. The zone of the last true
        event is open: it ends halfway to an event that has not started yet.
        """
        kept, first = self.from_run(cursor.run), min(cursor.zones, 1)
        before = np.zeros(len(cursor.before), kept.dtype)
        before["tick"], before["code"] = np.array(cursor.before).reshape(-1, 2).T
        runs = np.concatenate((before, kept))
        open_runs = replace(self, arrays=(runs,))
        if open_runs.count(TRUTH) < first + 2:
            return iter(()), cursor
        stop = self.stop
        if self.way == "times":  # the last sample has begun, and no closed zone reaches into it
            stop += 1 if self.clock.kind != "number" else self.steps.given.longest
        axis = Axis(runs["tick"], len(runs), stop, self.clock)
        pair = self._pair(runs["tick"], runs["code"], axis)
        events = score_pair(pair, ahead=False).events
        closed = len(events) - 1
        rows = islice(events.rows(_ZONE_COLUMNS), first, closed)
        last, ticks = pair.truth.starts[closed - 1], runs["tick"]
        evaluated = ticks if pair.ignored is None else pair.ignored.close(ticks)
        run = int(np.searchsorted(evaluated, last))
        following = [(self.start, 0)]
        alarm = int(np.searchsorted(pair.predicted.starts, last)) - 1
        goes_on = False
        if alarm >= 0:
            following.append((pair.predicted.starts[alarm].item(), PREDICTED))
            goes_on = pair.predicted.stops[alarm] >= evaluated[run]
            if not goes_on:
                following.append((pair.predicted.stops[alarm].item(), 0))
        if evaluated[run] < ticks[run]:  # as if all that is ignored came last
            following.append((evaluated[run].item(), IGNORED | PREDICTED * goes_on))
        place = cursor.run + run - len(before)
        return rows, Cursor(cursor.zones + closed - first, place, tuple(following))


def _changes(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the samples where a run starts."""
    places = np.flatnonzero(codes[1:] != codes[:-1])
    places += 1
    return np.insert(places, 0, 0)


def sample_runs(
    codes: NDArray[np.uint8], ticks: Ticks, max_step: Tick | None, clock: Clock
) -> NDArray[Any]:
    """Return the runs of samples that start at these ticks.

    There may be one more tick, where the last sample stops. The rest of a step beyond `max_step` is
    ignored.
    """
    places = _changes(codes)
    rests = places[:0]
    if max_step is not None:
        long = (ticks[:-1] + max_step < ticks[1:]) & (np.diff(ticks) > max_step)
        rests = np.flatnonzero(long & (codes[: long.size] < IGNORED))
        places = np.union1d(places, rests[rests + 1 < codes.size] + 1)
    runs = np.empty(places.size + rests.size, run_type(clock, "times"))
    runs["tick"] = np.concatenate((ticks[places], ticks[rests] + (max_step or 0)))
    runs["sample"] = np.concatenate((places, rests + 1))
    runs["code"] = np.concatenate((codes[places], codes[rests] | IGNORED))
    if rests.size:
        runs = runs[np.argsort(runs["tick"], kind="stable")]
        runs = runs[_changes(runs["code"])]
    return runs


def event_runs(sides: tuple[Intervals, ...], start: Tick, clock: Clock) -> NDArray[Any]:
    """Return the runs of true events, alarms and ignored time; a point is a run without length."""
    ends = np.concatenate([np.concatenate((side.starts, side.stops)) for side in sides])
    points = np.concatenate([side.starts[side.starts == side.stops] for side in sides])
    ticks = np.unique(np.append(ends, ends.dtype.type(start)))
    ticks = np.sort(np.concatenate((ticks, np.unique(points))))
    runs = np.zeros(ticks.size, run_type(clock, "events"))
    runs["tick"] = ticks
    again = np.append(False, ticks[1:] == ticks[:-1])  # after the run of a point
    for side, bit in zip(sides, (TRUTH, PREDICTED, IGNORED), strict=True):
        if len(side):
            last = np.searchsorted(side.starts, ticks, side="right") - 1
            begins = (last >= 0) & (ticks == side.starts[last]) & ~again
            points = begins & (side.starts[last] == side.stops[last])
            inside = points | ((last >= 0) & (ticks < side.stops[last]))
            code = inside * bit | begins * ((bit << BEGIN) * (bit != IGNORED))
            runs["code"] |= code.astype(np.uint8)
    return runs


def intervals_of(
    ticks: Ticks, codes: NDArray[np.uint8], stop: Tick, bit: int, clock: Clock
) -> Intervals:
    """Return the intervals of the runs in whose code a bit is set."""
    inside, begins = _inside(codes, bit)
    ends = inside[:-1] & (~inside[1:] | begins[1:])
    stops = ticks[1:][ends]
    if inside[-1]:
        stops = np.append(stops, ticks.dtype.type(stop))
    return Intervals(ticks[begins], stops, clock)


def _inside(codes: NDArray[np.uint8], bit: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return in which runs a bit is set, and in which of them an interval begins."""
    inside = (codes & bit) > 0
    begins = inside & ((codes & (bit << BEGIN)) > 0)
    begins[:1] |= inside[:1]
    begins[1:] |= inside[1:] & ~inside[:-1]
    return inside, begins


def _put_together(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Join arrays until each is longer than the next: a run is copied only a few times."""
    kept: list[NDArray[Any]] = []
    for array in arrays:
        if len(array):
            kept.append(array)
        while len(kept) > 1 and len(kept[-2]) <= len(kept[-1]):
            kept[-2:] = [np.concatenate(kept[-2:])]
    return tuple(kept)


def _moved(array: NDArray[Any], ticks: int, samples: int) -> NDArray[Any]:
    numbered = samples and "sample" in (array.dtype.names or ())
    if ticks or numbered:
        array = array.copy()
        array["tick"] += ticks
    if numbered:
        array["sample"] += samples
    return array


def _require_apart(left: Runs, right: Runs) -> None:
    """Raise if a point at the end of events lies in ignored time, or where the next one starts."""
    last, first = left.from_run(max(len(left) - 3, 0)), right.from_run(0)
    points, stop = last[last["tick"] == left.stop], left.clock.text(left.stop)
    for name, bit in (("truth", TRUTH), ("predicted", PREDICTED)):
        if not (points["code"] & bit).any():
            continue
        if first["code"][0] & IGNORED:
            raise InputError(
                f"no point of `{name}` at `until` where the next stretch starts with ignored time",
                stop,
                hint="A point belongs to what comes after it: give it with the next stretch.",
            )
        after = intervals_of(first["tick"], first["code"], right.stop, bit, right.clock)
        if len(after) and after.starts[0] == left.stop:
            got = f"({stop}, {stop}) and {after.text(0)} at index 0"
            raise InputError("events to be disjoint", got, argument=name)


def _require_64_bits(stop: Tick) -> None:
    if stop > LARGEST:
        raise InputError("samples whose times fit in 64 bits", f"an end at {stop}")


def clock_text(clock: Clock) -> str:
    """Say in words what times are."""
    if clock.kind != "datetime":
        return "integers" if clock.kind == "integer" else "floats"
    return f"datetimes in {clock.unit} {'without a zone' if clock.tz is None else 'with a zone'}"


def require_one_clock(left: Clock, right: Clock) -> None:
    """Raise if times are not of one kind and unit."""
    if (left.kind, left.unit, left.tz is None) != (right.kind, right.unit, right.tz is None):
        raise InputTypeError(
            "two streams whose times are of one kind and unit",
            f"{clock_text(left)} and {clock_text(right)}",
            hint="Give all times in one type, from the first chunk on.",
        )

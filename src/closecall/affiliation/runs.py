"""What a stream keeps: a run for each change of truth, prediction or ignored time.

A run has the tick at which it starts, the number of the sample there, and a code; it lasts until
the next run starts. These are 17 bytes. `Runs.pair` turns them into what `affiliation` scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from closecall.affiliation import _kernels
from closecall.affiliation.event_scores import EventScores
from closecall.affiliation.score import score_zones
from closecall.affiliation.zones import borders_between
from closecall.axis import Axis, IgnoredTime, Spacing, is_short
from closecall.clock import LARGEST, Clock, Timed
from closecall.errors import InputError, InputTypeError
from closecall.evaluated_time import Stretches
from closecall.events import Intervals, interval_text
from closecall.series import LeftOut, Pair, in_evaluated_time, in_span, on_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

TRUTH, PREDICTED, IGNORED = 1, 2, 4  # bits of a code
_ANEW = 3  # places to the left of a bit: an event starts here, whatever was before
_AT_ONE_TICK = 3  # runs at most, where one stretch of events ends
CODES = {"samples": 8, "times": 8, "events": 32}  # how many codes there are
MEANS = {
    "samples": "`update(truth, predicted)` without times",
    "times": "`update(truth, predicted, times=...)`",
    "events": "`update_events(truth, predicted)`",
}


def run_type(clock: Clock) -> np.dtype[Any]:
    """Return the type of runs on a clock."""
    tick = "<f8" if clock.kind == "number" else "<i8"
    return np.dtype([("tick", tick), ("sample", "<i8"), ("code", "u1")])


class Limits(NamedTuple):
    """The shortest and the longest of some lengths of time; none have been seen at first."""

    shortest: Tick = inf
    longest: Tick = -inf

    @classmethod
    def of(cls, lengths: Ticks) -> Limits:
        """Return the limits of lengths, of which there may be none."""
        return cls(lengths.min().item(), lengths.max().item()) if lengths.size else cls()

    def joined(self, other: Limits) -> Limits:
        """Return the limits of both."""
        return Limits(min(self.shortest, other.shortest), max(self.longest, other.longest))


class Steps(NamedTuple):
    """What is known of the lengths of all complete samples."""

    given: Limits = Limits()
    """From one sample to the next."""
    seen: Limits = Limits()
    """The same without gaps."""
    evaluated: Limits = Limits()
    """How long samples last that are not ignored."""

    @classmethod
    def of(cls, lengths: Ticks, ignored: NDArray[np.bool_], max_step: Tick | None) -> Steps:
        """Return what is known of samples of these lengths."""
        if max_step is None:
            limits = Limits.of(lengths)
            return cls(limits, limits, Limits.of(lengths[~ignored]) if ignored.any() else limits)
        lasting = np.minimum(lengths, max_step)[~ignored]
        seen = lengths[lengths <= max_step]
        return cls(Limits.of(lengths), Limits.of(seen), Limits.of(lasting))

    def joined(self, other: Steps) -> Steps:
        """Return what is known of both."""
        return Steps(*(left.joined(right) for left, right in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class RunAxis(Axis):
    """The axis of all samples, of which only those that start a run are kept."""

    numbers: NDArray[np.int64]
    """Which samples these are, and how many there are in all."""
    lasting: Limits
    """How long the samples are."""
    evaluated: Limits
    """How long those are that are not ignored."""
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
        short = self.short and is_short(axis.ticks)
        own = axis.ticks, axis.length, axis.end, axis.clock
        return RunAxis(*own, numbers, self.evaluated, self.evaluated, short), kept


class Cursor(NamedTuple):
    """Which zones have been scored by `Runs.closed_zones`, and what the next ones need of them."""

    zones: int = 0
    """How many zones have been scored."""
    run: int = 0
    """Where the last event among them starts."""
    ignored: Tick = 0
    """How much time before that run is ignored."""
    alarm: tuple[Tick, Tick] | None = None
    """The last alarm that started before it, in evaluated time."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """All that has been seen of a series, from start to stop. No array is changed, once it is here.

    An array is longer than all that follow it, so that there are few of them.
    """

    way: Literal["samples", "times", "events"]
    """How time is told: by counting samples, by their times, or by events."""
    clock: Clock
    arrays: tuple[NDArray[Any], ...]
    start: Tick
    stop: Tick
    """Of times, where the last sample starts: how long it lasts is not known yet."""
    samples: int = 0
    step: int | None = None
    """How long each of counted samples is."""
    placed: bool = True
    """Whether the start was given. Samples that are only counted may follow any others."""
    max_step: Tick | None = None
    steps: Steps = Steps()
    float32: bool = False
    """Whether times came as 32-bit floats."""
    short: bool = False
    """Whether 32-bit floats hold all times."""

    @property
    def known_stop(self) -> Tick:
        """Up to where something is known: the last sample that has begun lasts a tick at least."""
        if self.way != "times":
            return self.stop
        exact = self.clock.kind != "number"
        return self.stop + 1 if exact else float(np.nextafter(self.stop, inf))

    def __len__(self) -> int:
        return sum(map(len, self.arrays))

    def whole(self) -> NDArray[Any]:
        """Return all runs as one array."""
        if len(self.arrays) == 1:
            return self.arrays[0]
        return np.concatenate([np.empty(0, run_type(self.clock)), *self.arrays])

    def from_run(self, index: int) -> NDArray[Any]:
        """Return the runs from one of them on, as one array."""
        kept, after = [], len(self)
        for array in reversed(self.arrays):
            after -= len(array)
            kept.append(array[max(index - after, 0) :])
            if after <= index:
                break
        return kept[0] if len(kept) == 1 else np.concatenate(kept[::-1])

    def followed_by(self, other: Runs) -> Runs:
        """Put what comes next after this; raise if it does not follow."""
        if self.way != other.way:
            raise InputTypeError.expected(
                f"{MEANS[self.way]}, as before",
                MEANS[other.way],
                "One stream tells time in one way, from its first chunk to its last.",
            )
        left, right = self, other
        if self.way == "samples":
            if left.step != right.step:
                rule = "two streams with one `step`"
                raise InputError.expected(rule, f"{left.step} and {right.step} ticks")
            if not right.placed:
                right = right.moved(int(left.stop - right.start), left.clock)
            elif not left.placed:
                left = left.moved(int(right.start - left.stop), right.clock)
        _require_one_clock(left.clock, right.clock)
        if self.way == "times":
            return left._with_times(right)  # noqa: SLF001 - of the same class
        if left.stop != right.start:
            raise InputError.expected(
                "a stream to start where the one it is added to stops, "
                f"{left.clock.text(left.stop)}",
                right.clock.text(right.start),
                "Add streams in the order of time, and leave none out.",
            )
        if self.way == "events":
            left._require_disjoint(right)  # noqa: SLF001
        return left._joined(right)  # noqa: SLF001

    def moved(self, ticks: int, clock: Clock) -> Runs:
        """Return counted samples at another time."""
        start, stop = self.start + ticks, self.stop + ticks
        if stop > LARGEST:
            raise InputError.expected("samples whose times fit in 64 bits", f"an end at {stop}")
        arrays = tuple(_shifted(array, ticks, 0) for array in self.arrays)
        return replace(self, arrays=arrays, start=start, stop=stop, clock=clock, placed=True)

    def _with_times(self, other: Runs) -> Runs:
        """Put samples with times after these, of which the last one stops where they start."""
        step = np.array([other.start - self.stop])
        if step[0] <= 0:
            raise InputError.expected(
                f"a stream to start after the last time {self.clock.text(self.stop)} of the "
                "one it is added to",
                self.clock.text(other.start),
                "Add streams in the order of time.",
            )
        code = self.arrays[-1]["code"][-1:]
        known = Steps.of(step, (code & IGNORED) > 0, self.max_step)
        both = replace(self, steps=self.steps.joined(known))
        rest = _rests(np.array([self.stop]), code, step, self.max_step, self.clock)
        rest["sample"] += self.samples - 1
        return replace(both, arrays=_put_together(*both.arrays, rest))._joined(other)

    def _joined(self, other: Runs) -> Runs:
        arrays = [_shifted(array, 0, self.samples) for array in other.arrays]
        if arrays and self.arrays:
            last, first = self.arrays[-1][-1], arrays[0][0]
            anew = first["code"] >= CODES["samples"]
            rest = self.way != "events" and last["sample"] == self.samples  # of a step
            if last["code"] == first["code"] and not anew and not rest:
                arrays[0] = arrays[0][1:]  # the same goes on
        return replace(
            self,
            arrays=_put_together(*self.arrays, *arrays),
            stop=other.stop,
            samples=self.samples + other.samples,
            steps=self.steps.joined(other.steps),
            float32=self.float32 and other.float32,
            short=self.short and other.short,
        )

    def _require_disjoint(self, other: Runs) -> None:
        """Raise if an event starts where the last one is a point."""
        last = self.from_run(max(len(self) - _AT_ONE_TICK, 0))
        last = last[last["tick"] == self.stop]
        for name, bit in (("truth", TRUTH), ("predicted", PREDICTED)):
            if not (last["code"] & bit).any():
                continue
            after = intervals_of(other.whole(), other.stop, bit, other.clock)
            if len(after) and after.starts[0] == self.stop:
                point = interval_text(self.clock, self.stop, self.stop)
                got = f"{point} and {after.text(0)} at index 0"
                raise InputError.expected(f"`{name}` events to be disjoint", got)

    def end(self) -> Tick:
        """Return where the last sample stops, as far as that is known."""
        if self.way != "times":
            return self.stop
        end = None
        if self.samples > 1:
            first, count = self.start, self.samples - 1
            end = Spacing(first, self.stop, count, *self.steps.given, self.float32).end(self.clock)
            seen = self.steps.seen
            if end is None and self.max_step is not None and seen.shortest <= seen.longest:
                spacing = Spacing.apart_from_gaps(self.stop, seen, short=self.float32)
                end = spacing.end(self.clock)
        if end is not None:
            return end
        last = self.clock.text(self.stop)
        uneven = "unevenly spaced times" if self.samples > 1 else "a single sample"
        raise InputError.expected(
            f"`end` for {uneven}", "none", f"Pass `end=`, where the one at {last} stops."
        )

    def pair(self, stop: Tick) -> Pair:
        """Return the true events and the alarms up to where the last sample stops."""
        runs, steps = self.whole(), self.steps
        if self.way == "times":
            length, code = np.array([stop - self.stop]), runs["code"][-1:]
            steps = steps.joined(Steps.of(length, (code & IGNORED) > 0, self.max_step))
            rest = _rests(np.array([self.stop]), code, length, self.max_step, self.clock)
            rest["sample"] += self.samples - 1
            runs = np.concatenate((runs, rest)) if rest.size else runs
        sides, ignored = _intervals(runs, stop, self.clock)
        if self.way == "events":
            span = Timed("span", np.array([self.start, stop]), self.clock)
            series, sides = in_span(sides, None, span)
        else:
            numbers = np.append(runs["sample"], self.samples)
            known = numbers, steps.given, steps.evaluated, self.short
            axis = RunAxis(runs["tick"], runs.size, stop, self.clock, *known)
            series = on_axis(sides["truth"], axis)
        stretches = [Stretches("ignore", ignored)] if len(ignored) else []
        series, closed = in_evaluated_time(series, sides, {}, stretches)
        sides = closed.sides
        if stretches and self.way != "events":  # samples that meet are one event
            sides = {name: side.merged() for name, side in sides.items()}
        left_out = closed.left_out["predicted"]
        return replace(series, truth=sides["truth"]).predicting(sides["predicted"], left_out)

    def counts(self) -> tuple[int, int]:
        """Return how many true events and alarms there are in evaluated time."""
        stop = self.known_stop
        sides, ignored = _intervals(self.whole(), stop, self.clock)
        closing = IgnoredTime.within(ignored.starts, ignored.stops, (self.start, stop), self.clock)
        truth, predicted = (len(self._evaluated(side, closing)) for side in sides.values())
        return truth, predicted

    def _evaluated(self, side: Intervals, closing: IgnoredTime | None) -> Intervals:
        if closing is None:
            return side
        kept = ~closing.covers(side.starts, side.stops)
        starts, stops = closing.close(side.starts[kept]), closing.close(side.stops[kept])
        closed = Intervals(starts, stops, self.clock)
        return closed if self.way == "events" else closed.merged()

    def closed_zones(self, cursor: Cursor) -> tuple[EventScores | None, Cursor]:
        """Score the zones that nothing later can change, from a cursor on; return where to go on.

        The last zone is open: it ends halfway to an event that has not started yet.
        """
        runs, start, stop = self.from_run(cursor.run), self.start, self.known_stop
        sides, ignored = _intervals(runs, stop, self.clock)
        # All that is ignored before the first of these runs lies at the start, as one stretch.
        starts = np.append(np.array([start], dtype=ignored.starts.dtype), ignored.starts)
        stops = np.append(np.array([start + cursor.ignored], starts.dtype), ignored.stops)
        closing = IgnoredTime.within(starts, stops, (start, stop), self.clock)
        truth, alarms = (self._evaluated(side, closing) for side in sides.values())
        first = min(cursor.zones, 1)  # of the events, one may come before the zones
        if len(truth) < first + 2:
            return None, cursor  # the next event must have started
        if cursor.alarm is not None:
            alarms = _with_earlier(alarms, cursor.alarm, truth.starts[0].item())
        origin = start if self.clock.kind != "number" else 0.0
        borders = borders_between(truth.starts, truth.stops, origin, None if first else start)
        events = truth.starts[first:-1], truth.stops[first:-1]
        begin, end = 2 * (alarms.starts - origin), 2 * (alarms.stops - origin)
        near = ((end > borders[0]) | (begin >= borders[0])) & (begin < borders[-1])
        pieces = alarms.starts[near], alarms.stops[near]
        table, counts, _ = score_zones(events, pieces, borders, origin)
        sides = events[0], events[1], alarms.starts, alarms.stops
        _kernels.find_outcomes(*sides, origin, borders, table, False)
        pair = Pair(
            truth=Intervals(*events, self.clock),
            predicted=alarms,
            start=start,
            stop=stop,
            clock=self.clock,
            ignored=closing,
            left_out=LeftOut(0, 0),
        )
        scores = EventScores(pair, borders, table, counts, len(alarms))
        return scores, self._after(cursor, runs, closing, scores)

    def _after(
        self, cursor: Cursor, runs: NDArray[Any], closing: IgnoredTime | None, scores: EventScores
    ) -> Cursor:
        """Return where to go on after these zones: at the start of the last event among them."""
        last, alarms = scores.pair.truth.starts[-1], scores.pair.predicted
        begun = intervals_of(runs, self.known_stop, TRUTH, self.clock).starts
        evaluated = begun if closing is None else closing.close(begun)
        at = begun[np.searchsorted(evaluated, last)].item()
        before = int(np.searchsorted(alarms.starts, last)) - 1
        alarm = (alarms.starts[before].item(), alarms.stops[before].item()) if before >= 0 else None
        run = cursor.run + int(np.searchsorted(runs["tick"], at))
        ignored = 0 if closing is None else at - last.item()
        return Cursor(cursor.zones + len(scores), run, ignored, alarm)


def sample_runs(
    codes: NDArray[np.uint8], ticks: Ticks | range, max_step: Tick | None, clock: Clock
) -> NDArray[Any]:
    """Return the runs of samples that start at these ticks.

    There may be one more tick, where the last sample stops. What is left of a step beyond
    `max_step` is ignored.
    """
    places = np.flatnonzero(codes[1:] != codes[:-1])
    places += 1
    places = np.insert(places, 0, 0)
    rests = np.empty(0, run_type(clock))
    if isinstance(ticks, range):
        starts = ticks.start + ticks.step * places
    else:
        steps = np.diff(ticks)
        rests = _rests(ticks[: steps.size], codes[: steps.size], steps, max_step, clock)
        following = rests["sample"][rests["sample"] < codes.size]
        if following.size:
            places = np.union1d(places, following)
        starts = ticks[places]
    runs = np.empty(places.size, run_type(clock))
    runs["tick"], runs["sample"], runs["code"] = starts, places, codes[places]
    if not rests.size:
        return runs
    runs = np.concatenate((runs, rests))
    return runs[np.argsort(runs["tick"], kind="stable")]


def _rests(
    ticks: Ticks, codes: NDArray[np.uint8], steps: Ticks, max_step: Tick | None, clock: Clock
) -> NDArray[Any]:
    """Return the ignored runs that are left of steps, beyond what a sample lasts at most."""
    long = np.empty(0, dtype=np.int64)
    if max_step is not None:
        long = np.flatnonzero((steps > max_step) & ((codes & IGNORED) == 0))
        long = long[ticks[long] + max_step < ticks[long] + steps[long]]
    rests = np.empty(long.size, run_type(clock))
    rests["tick"] = ticks[long] + (max_step or 0)
    rests["sample"], rests["code"] = long + 1, codes[long] | IGNORED
    return rests


def event_runs(
    truth: Intervals, predicted: Intervals, ignored: Intervals, start: Tick, clock: Clock
) -> NDArray[Any]:
    """Return the runs of events from a start on; a point is a run without a length."""
    sides = truth, predicted, ignored
    ends = [side.starts for side in sides] + [side.stops for side in sides]
    borders = np.unique(np.concatenate((*ends, np.array([start], dtype=truth.starts.dtype))))
    points = [side.starts[side.starts == side.stops] for side in sides[:2]]
    ticks = np.sort(np.concatenate((borders, np.unique(np.concatenate(points)))))
    runs = np.zeros(ticks.size, run_type(clock))
    again = np.append(False, ticks[1:] == ticks[:-1])  # after the run of a point
    for side, bit in zip(sides, (TRUTH, PREDICTED, IGNORED), strict=True):
        if not len(side):
            continue
        last = np.searchsorted(side.starts, ticks, side="right") - 1
        starts, stops = side.starts[last], side.stops[last]
        at_start = (last >= 0) & (ticks == starts) & ~again
        inside = (last >= 0) & ((ticks < stops) | (at_start & (starts == stops)))
        runs["code"] |= (bit * inside).astype(np.uint8)
        if bit != IGNORED:
            runs["code"] |= ((bit << _ANEW) * at_start).astype(np.uint8)
    runs["tick"] = ticks
    return runs


def intervals_of(runs: NDArray[Any], stop: Tick, bit: int, clock: Clock) -> Intervals:
    """Return the intervals of runs in whose code a bit is set, up to where the last run stops."""
    codes, ticks = runs["code"], runs["tick"]
    inside = (codes & bit) > 0
    goes_on = inside & ((codes & (bit << _ANEW)) == 0)
    begins = inside.copy()
    begins[1:] &= ~(inside[:-1] & goes_on[1:])
    ends = inside.copy()
    ends[:-1] &= ~goes_on[1:]
    stops = ticks[1:][ends[:-1]]
    if ends[-1:].any():
        stops = np.append(stops, np.array([stop], dtype=ticks.dtype))
    return Intervals(ticks[begins], stops, clock)


def _intervals(
    runs: NDArray[Any], stop: Tick, clock: Clock
) -> tuple[dict[str, Intervals], Intervals]:
    """Return the true and predicted events, and ignored time."""
    truth, predicted, ignored = (
        intervals_of(runs, stop, bit, clock) for bit in (TRUTH, PREDICTED, IGNORED)
    )
    return {"truth": truth, "predicted": predicted}, ignored


def _with_earlier(alarms: Intervals, earlier: tuple[Tick, Tick], at: Tick) -> Intervals:
    """Put an alarm that started before some time in front of those from there on."""
    start, stop = earlier
    starts, stops, kind = alarms.starts.copy(), alarms.stops, alarms.starts.dtype
    if stop > at:  # it goes on
        starts[:1] = start
        return Intervals(starts, stops, alarms.clock)
    starts = np.append(np.array([start], dtype=kind), starts)
    stops = np.append(np.array([stop], dtype=kind), stops)
    return Intervals(starts, stops, alarms.clock)


def _put_together(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Join arrays until each is longer than the next: a run is copied only a few times."""
    kept: list[NDArray[Any]] = []
    for array in arrays:
        if len(array):
            kept.append(array)
        while len(kept) > 1 and len(kept[-2]) <= len(kept[-1]):
            kept[-2:] = [np.concatenate(kept[-2:])]
    return tuple(kept)


def _shifted(array: NDArray[Any], ticks: int, samples: int) -> NDArray[Any]:
    if not ticks and not samples:
        return array
    moved = array.copy()
    moved["tick"] += ticks
    moved["sample"] += samples
    return moved


def clock_text(clock: Clock) -> str:
    """Say in words what times are."""
    if clock.kind != "datetime":
        return "integers" if clock.kind == "integer" else "floats"
    return f"datetimes in {clock.unit} {'without a zone' if clock.tz is None else 'with a zone'}"


def _require_one_clock(left: Clock, right: Clock) -> None:
    if (left.kind, left.unit, left.tz is None) != (right.kind, right.unit, right.tz is None):
        raise InputTypeError.expected(
            "two streams whose times are of one kind and unit",
            f"{clock_text(left)} and {clock_text(right)}",
            "Give all times in one type, from the first chunk on.",
        )

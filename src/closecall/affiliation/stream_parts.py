"""Parts of a stream, one class for each way of telling time, and how two parts meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.stretch import Stretch
from closecall.axis import Spacing
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation.blocks import Blocks
    from closecall.clock import Clock, Tick, Ticks


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Two 0/1 vectors of one length, which is not zero."""

    truth: NDArray[Any]
    predicted: NDArray[Any]

    def __len__(self) -> int:
        return len(self.truth)

    def stretch(self, borders: Ticks, clock: Clock) -> Stretch:
        """Evaluate the runs of ones; sample i lasts from border i to border i + 1."""
        truth, predicted = (borders[bounds] for bounds in self._runs())
        span = borders[0].item(), borders[-1].item()
        return Stretch.of(truth, predicted, span, clock, joins=True)

    def numbered(self, start: int, step: int, clock: Clock) -> Stretch:
        """Evaluate the runs of ones of samples that last one step each."""
        truth, predicted = (bounds * step + start for bounds in self._runs())
        span = start, start + step * len(self)
        return Stretch.of(truth, predicted, span, clock, joins=True)

    def _runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the indices where runs of ones start and stop, as rows."""
        return np.column_stack(runs(self.truth)), np.column_stack(runs(self.predicted))


@dataclass(frozen=True, slots=True, eq=False)
class SampledPart:
    """Samples that last one step each; not placed if they may follow any others."""

    known: Stretch
    step: int
    placed: bool
    means = "`update(truth, predicted)` without times"

    def followed_by(self, other: SampledPart) -> SampledPart:
        """Put a part that starts where this one stops after it."""
        if self.step != other.step:
            raise InputError(
                expected("two streams with one `step`", f"{self.step} and {other.step} ticks")
            )
        left, right = self.known, other.known
        if not other.placed:
            right = replace(right.moved(int(left.stop - right.start)), clock=left.clock)
        elif not self.placed:
            left = replace(left.moved(int(right.start - left.stop)), clock=right.clock)
        require_meeting(left, right)
        return SampledPart(left.followed_by(right), self.step, self.placed or other.placed)

    def finished(self, end: Tick | None) -> Stretch:
        """Give all that was seen."""
        return _without_end(self.known, end)


@dataclass(frozen=True, slots=True, eq=False)
class EventPart:
    """Events that were given as such: those that touch stay two."""

    known: Stretch
    means = "`update_events(truth, predicted)`"

    def followed_by(self, other: EventPart) -> EventPart:
        """Put a part that starts where this one stops after it."""
        left, right = self.known, other.known
        require_meeting(left, right)
        _require_two("truth", left.truth, right.truth, left.clock)
        _require_two("predicted", left.tail, right.head, left.clock)
        return EventPart(left.followed_by(right))

    def finished(self, end: Tick | None) -> Stretch:
        """Give all that was seen."""
        return _without_end(self.known, end)


@dataclass(frozen=True, slots=True, eq=False)
class TimedPart:
    """Samples with times: the last one is held back until the next time says where it stops."""

    before: Stretch | None
    time: Tick
    truth: bool
    predicted: bool
    spacing: Spacing
    clock: Clock
    means = "`update(truth, predicted, times=...)`"

    @classmethod
    def of(cls, labels: Labels, times: Ticks, clock: Clock, *, short: bool) -> TimedPart:
        """Evaluate all samples but the last one."""
        before = None
        if len(labels) > 1:
            before = Labels(labels.truth[:-1], labels.predicted[:-1]).stretch(times, clock)
        last = bool(labels.truth[-1]), bool(labels.predicted[-1])
        return cls(before, times[-1].item(), *last, _spacing(times, short=short), clock)

    @property
    def known(self) -> Stretch:
        """All that is known: the last sample has begun, and has no length yet."""
        return self.until(self.time)

    def until(self, stop: Tick) -> Stretch:
        """Give all that was seen, with the last sample up to a time."""
        kind = np.float64 if self.clock.kind == "number" else np.int64
        one, none = np.array([[self.time, stop]], dtype=kind), np.empty((0, 2), dtype=kind)
        sides = (one if self.truth else none), (one if self.predicted else none)
        last = Stretch.of(*sides, (self.time, stop), self.clock, joins=True)
        return last if self.before is None else self.before.followed_by(last)

    def followed_by(self, other: TimedPart) -> TimedPart:
        """Put a part that starts later after it; its start is where the last sample stops."""
        _require_one_clock(self.clock, other.clock)
        start = other.spacing.first
        if start <= self.time:
            raise InputError(
                expected(
                    f"a stream to start after the last time {self.clock.text(self.time)} of the "
                    "one it is added to",
                    self.clock.text(start),
                    "Add streams in the order of time.",
                )
            )
        before = self.until(start)
        if other.before is not None:
            before = before.followed_by(other.before)
        spacing = _both(self.spacing, other.spacing)
        last = other.time, other.truth, other.predicted
        return TimedPart(before, *last, spacing, self.clock)

    def finished(self, end: Tick | None) -> Stretch:
        """Give all that was seen, the last sample up to `end`, or to where an even axis goes on."""
        if end is None and self.spacing.steps:
            end = self.spacing.end(self.clock)
        if end is not None:
            return self.until(end)
        last = self.clock.text(self.time)
        uneven = "unevenly spaced times" if self.spacing.steps else "a single sample"
        raise InputError(
            expected(f"`end` for {uneven}", "none", f"Pass `end=`, where the one at {last} stops.")
        )


Part = SampledPart | EventPart | TimedPart


def joined_parts(left: Part, right: Part) -> Part:
    """Put two parts that tell time in the same way one after the other."""
    if isinstance(left, SampledPart) and isinstance(right, SampledPart):
        return left.followed_by(right)
    if isinstance(left, EventPart) and isinstance(right, EventPart):
        return left.followed_by(right)
    if isinstance(left, TimedPart) and isinstance(right, TimedPart):
        return left.followed_by(right)
    raise InputTypeError(
        expected(
            f"{left.means}, as before",
            f"{right.means}",
            "One stream tells time in one way, from its first chunk to its last.",
        )
    )


def require_meeting(left: Stretch, right: Stretch) -> None:
    """Refuse a stretch that does not start where the one before it stops."""
    _require_one_clock(left.clock, right.clock)
    if left.stop != right.start:
        raise InputError(
            expected(
                "a stream to start where the one it is added to stops, "
                f"{left.clock.text(left.stop)}",
                right.clock.text(right.start),
                "Add streams in the order of time, and leave none out.",
            )
        )


def _require_one_clock(left: Clock, right: Clock) -> None:
    if (left.kind, left.unit) != (right.kind, right.unit) or (left.tz is None) != (
        right.tz is None
    ):
        raise InputTypeError(
            expected(
                "two streams whose times are of one kind and unit",
                f"{clock_text(left)} and {clock_text(right)}",
                "Give all times in one type, from the first chunk on.",
            )
        )


def clock_text(clock: Clock) -> str:
    """Say what kind of times a clock has."""
    if clock.kind != "datetime":
        return "integers" if clock.kind == "integer" else "floats"
    return f"datetimes in {clock.unit} {'without a zone' if clock.tz is None else 'with a zone'}"


def _require_two(name: str, before: Blocks, after: Blocks, clock: Clock) -> None:
    """Refuse an event at a point where another one is."""
    if not (before.arrays and after.arrays):
        return
    last, first = before.last(1)[0].tolist(), after.first(1)[0].tolist()
    if last[0] == first[0]:
        texts = [f"({clock.text(start)}, {clock.text(stop)})" for start, stop in (last, first)]
        raise InputError(
            expected(f"`{name}` events to be disjoint", f"{texts[0]} and {texts[1]} at index 0")
        )


def _without_end(stretch: Stretch, end: Tick | None) -> Stretch:
    if end is not None:
        raise InputTypeError(
            expected("no `end` for a stream that knows where it stops", stretch.clock.text(end))
        )
    return stretch


def _spacing(times: Ticks, *, short: bool) -> Spacing:
    if len(times) > 1:
        return Spacing.of(times, short=short)
    only = times[0].item()
    return Spacing(only, only, 0, 0, 0, short)


def _both(left: Spacing, right: Spacing) -> Spacing:
    step = right.first - left.last
    parts = [part for part in (left, right) if part.steps]
    return Spacing(
        left.first,
        right.last,
        left.steps + right.steps + 1,
        min(step, *(part.shortest for part in parts)) if parts else step,
        max(step, *(part.longest for part in parts)) if parts else step,
        left.short and right.short,
    )


def retained(stretch: Stretch) -> int:
    """Count the predicted events that are kept for zones that may still change."""
    if len(stretch.truth) < 2:  # noqa: PLR2004 - one zone has one list
        return len(stretch.tail)
    return len(stretch.head) + len(stretch.tail)

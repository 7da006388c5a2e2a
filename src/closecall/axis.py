"""The axis under a label vector, and evaluated time.

Sample i occupies [t(i), t(i + 1)), the last one up to `end`. Ignored time does not exist: reading
closes the axis over it, telling opens it again, and what lies between knows only closed ticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import LARGEST, SAMPLES, Clock, Tick, Ticks, Timed, on_one_clock, read_times
from closecall.errors import InputError, UnevenTimesError
from closecall.parameters import read_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A float axis such as 0, 0.1, 0.2, ... is even up to the rounding of its own values.
_EVEN_ULPS = 8
_EVEN_RELATIVE = 1e-9
_EVEN_LARGEST = 0.25  # of a step: rounding that coarse hides how the times were meant


@dataclass(frozen=True, slots=True)
class Axis:
    """Where each sample of a vector starts, and where the last one stops."""

    ticks: Ticks | None  # None stands for the sample numbers themselves
    length: int
    end: Tick
    clock: Clock

    @property
    def start(self) -> Tick:
        """Where the first sample starts."""
        return 0 if self.ticks is None else self.ticks[0].item()

    def borders(self, indices: NDArray[np.int64] | None = None) -> Ticks:
        """Return where these samples start, or all; index N stands for the end of the last one."""
        if indices is None:
            indices = np.arange(self.length + 1)
        if self.ticks is None:
            return indices
        borders = self.ticks[np.minimum(indices, self.length - 1)]
        borders[indices == self.length] = self.end
        return borders

    def sample_numbers(self, ticks: Ticks) -> NDArray[np.float64]:
        """Return times counted in samples; between two of them, in proportion."""
        return np.interp(ticks, self.borders(), np.arange(self.length + 1))

    def lengths(self) -> Ticks:
        """Return how long each sample is."""
        if self.ticks is None:
            return np.ones(self.length, dtype=np.int64)
        return np.diff(self.ticks, append=self.ticks.dtype.type(self.end))

    def even_step(self) -> Tick | None:
        """Return the step of evenly spaced samples, or None."""
        if self.ticks is None:
            return 1
        short = self.clock.kind == "number" and is_short(self.ticks)
        lengths = self.lengths()
        limits = lengths.min().item(), lengths.max().item()
        return Spacing(self.start, self.end, self.length, *limits, short).step(self.clock)

    def on_clock(self, clock: Clock) -> Axis:
        """Return the same samples in the ticks of another clock."""
        if clock == self.clock:
            return self
        ticks = in_ticks_of(clock, Timed("times", self.borders(), self.clock))
        return Axis(ticks[:-1], self.length, ticks[-1].item(), clock)

    def gaps(self, max_step: Tick) -> tuple[Ticks, Ticks]:
        """Return what is left of the steps that are longer than a sample may last."""
        long = np.flatnonzero(self.lengths() > max_step)
        return self.borders(long) + max_step, self.borders(long + 1)

    def closed(self, ignored: IgnoredTime) -> tuple[Axis, NDArray[np.bool_]]:
        """Return the axis of the samples that last after closing, and which they are."""
        borders = ignored.close(self.borders())
        lengths = np.diff(borders)
        kept = lengths > 0
        count, end = int(np.count_nonzero(kept)), borders[-1].item()
        if self.ticks is None and count == end:  # whole samples are left out
            return Axis(None, count, end, self.clock), kept
        return Axis(borders[:-1][kept], count, end, self.clock), kept


def is_float32(values: Any) -> bool:
    """Return whether a column has 32-bit floats, which Arrow calls float."""
    given = getattr(values, "dtype", getattr(values, "type", ""))
    return given == np.float32 if isinstance(given, np.dtype) else str(given) == "float"


def is_short(ticks: Ticks) -> bool:
    """Return whether 32-bit floats hold all these times."""
    with np.errstate(over="ignore"):  # those beyond are infinite there, and differ
        return bool((ticks.astype(np.float32) == ticks).all())


def in_ticks_of(clock: Clock, part: Timed) -> Ticks:
    """Return times in the ticks of a clock that is at least as fine as theirs."""
    zero = np.zeros(1, dtype=np.float64 if clock.kind == "number" else np.int64)
    return on_one_clock(part, Timed("", zero, clock))[0][0]


@dataclass(frozen=True, slots=True, eq=False)
class IgnoredTime:
    """Stretches of time that do not exist; the axis closes over them.

    The stretches are sorted, have a length and do not touch. A closed tick is a tick minus the
    ignored time before it.
    """

    starts: Ticks
    stops: Ticks
    clock: Clock
    seams: Ticks
    """Where each stretch lies on the closed axis, which it has no length on."""

    @classmethod
    def of(cls, starts: Ticks, stops: Ticks, clock: Clock) -> IgnoredTime:
        """Find the seams of one stretch or more."""
        # Each distance is taken by itself: a sum of rounded ones would tear the seams open.
        seams = np.cumsum(np.concatenate((starts[:1], starts[1:] - stops[:-1])))
        return cls(starts, stops, clock, seams)

    @classmethod
    def within(
        cls, starts: Ticks, stops: Ticks, span: tuple[Tick, Tick], clock: Clock
    ) -> IgnoredTime | None:
        """Join stretches in any order that meet, within the span; None if none has a length."""
        starts, stops = np.clip(starts, *span), np.clip(stops, *span)
        long = starts < stops
        if not long.any():
            return None
        starts, stops = starts[long], stops[long]
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], np.maximum.accumulate(stops[order])
        apart = starts[1:] > reach[:-1]
        first, last = np.append(True, apart), np.append(apart, True)
        return cls.of(starts[first], reach[last], clock)

    @property
    def total(self) -> Tick:
        """How long the stretches are together, in ticks."""
        total: Tick = (self.stops - self.starts).sum().item()
        return total

    def close(self, ticks: Ticks) -> Ticks:
        """Return ticks on the closed axis; all of a stretch lies at its seam."""
        last = np.searchsorted(self.starts, ticks, side="right") - 1
        after = self.seams[last] + np.maximum(ticks - self.stops[last], 0)
        closed: Ticks = np.where(last >= 0, after, ticks)
        return closed

    def covers(self, starts: Ticks, stops: Ticks) -> NDArray[np.bool_]:
        """Return which ranges and points lie wholly inside ignored time."""
        last = np.searchsorted(self.starts, starts, side="right") - 1
        inside = (last >= 0) & (starts < self.stops[last])
        covered: NDArray[np.bool_] = np.where(
            starts == stops, inside, self.close(starts) == self.close(stops)
        )
        return covered

    def open_starts(self, closed: Ticks) -> Ticks:
        """Return the caller's ticks; at a seam, where the stretch stops."""
        last = np.searchsorted(self.seams, closed, side="right") - 1
        opened: Ticks = np.where(last >= 0, self.stops[last] + (closed - self.seams[last]), closed)
        return opened

    def open_stops(self, closed: Ticks) -> Ticks:
        """Return the caller's ticks; at a seam, where the stretch starts."""
        following = np.searchsorted(self.seams, closed, side="left")
        last = following - 1
        opened = np.where(last >= 0, self.stops[last] + (closed - self.seams[last]), closed)
        following = np.minimum(following, self.seams.size - 1)
        at_seam: Ticks = np.where(closed == self.seams[following], self.starts[following], opened)
        return at_seam


def read_axis(length: int, times: Any, end: Any, *, of: str, max_step: Any = None) -> Axis:
    """Check the times of a vector of that length and find out where its last sample stops.

    With `max_step`, times are evenly spaced if they are so apart from gaps.
    """
    if length == 0:
        raise InputError("to have at least one time", "none", argument="times")
    if times is None:
        if end is None:
            return Axis(None, length, length, SAMPLES)
        times, of = np.arange(length), "samples"
    ticks, clock = read_times(times, "times")
    if ticks.size != length:
        raise InputError(
            f"to have one time for each of the {length} {of}", f"{ticks.size}", argument="times"
        )
    require_increasing(ticks, clock, "times")
    ticks = ticks.copy()  # the caller may write into the array later
    if end is None:
        short = times.short if isinstance(times, Timed) else is_float32(times)
        longest = None if max_step is None else read_length(max_step, clock, "max_step")
        return Axis(ticks, length, _infer_end(ticks, clock, longest, short=short), clock)
    end_ticks, end_clock = read_times([end], "end")
    (ticks, end_ticks), clock = on_one_clock(
        Timed("times", ticks, clock), Timed("end", end_ticks, end_clock)
    )
    return Axis(ticks, length, after_last(ticks[-1].item(), end_ticks[0].item(), clock), clock)


def after_last(last: Tick, end: Tick, clock: Clock) -> Tick:
    """Return the end; raise if it does not lie after the last time."""
    if end <= last:
        raise InputError(
            f"to lie after the last time {clock.text(last)}",
            clock.text(end),
            argument="end",
            hint="`end` is where the last sample stops, the time the next one would have.",
        )
    return end


def require_increasing(ticks: Ticks, clock: Clock, name: str) -> None:
    """Raise if times repeat or go back, and show where."""
    rising = ticks[1:] > ticks[:-1]
    if rising.all():
        return
    index = int(rising.argmin()) + 1
    repeated = ticks[index] == ticks[index - 1]
    raise InputError(
        "to be strictly increasing",
        f"{clock.text(ticks[index].item())} after {clock.text(ticks[index - 1].item())}",
        argument=name,
        index=index,
        hint="Drop or aggregate repeated times first."
        if repeated
        else "Sort the samples by time first.",
        code="repeated_times" if repeated else "unsorted_times",
    )


@dataclass(frozen=True, slots=True)
class Spacing:
    """What of a column of times says whether they are evenly spaced, and with which step."""

    first: Tick
    last: Tick
    steps: int
    shortest: Tick
    longest: Tick
    short: bool  # whether the times came as 32-bit floats

    @classmethod
    def of(cls, ticks: Ticks, *, short: bool) -> Spacing:
        """Describe two times or more."""
        first, last = ticks[[0, -1]].tolist()
        steps = np.diff(ticks)
        return cls(first, last, steps.size, steps.min().item(), steps.max().item(), short)

    @classmethod
    def apart_from_gaps(cls, last: Tick, limits: tuple[Tick, Tick], *, short: bool) -> Spacing:
        """Describe times by the shortest and the longest of the steps that are no gaps."""
        # The mean of the two does not depend on the order in which steps are seen.
        return cls(last - sum(limits), last, len(limits), *limits, short)

    def step(self, clock: Clock) -> Tick | None:
        """Return the step, or None if the times are unevenly spaced."""
        if clock.kind != "number":
            return self.shortest if self.shortest == self.longest else None
        step = (self.last - self.first) / self.steps
        rounding = min(_EVEN_ULPS * self._rounding, _EVEN_LARGEST * step)
        tolerance = rounding + _EVEN_RELATIVE * step
        even = max(self.longest - step, step - self.shortest) <= tolerance
        return step if even else None

    def end(self, clock: Clock) -> Tick | None:
        """Return the time that follows the last one, or None if the times are unevenly spaced."""
        step = self.step(clock)
        if step is not None and clock.kind != "number" and self.last + step > LARGEST:
            raise InputError(
                "whose end fits in 64 bits",
                f"{self.last + step}",
                argument="times",
                hint="Subtract a common origin first, or count time in a coarser unit.",
            )
        return None if step is None else self.last + step

    @property
    def _rounding(self) -> float:
        """How far the times may be off because they are floats."""
        largest = max(abs(self.first), abs(self.last))
        return float(np.spacing(np.float32(largest) if self.short else np.float64(largest)))


def _infer_end(ticks: Ticks, clock: Clock, longest: Tick | None, *, short: bool) -> Tick:
    if ticks.size == 1:
        raise InputError(
            "for a series of one sample",
            "none",
            argument="end",
            hint=f"Pass `end=`, the time after {clock.text(ticks[0].item())} where it stops.",
        )
    first, last = ticks[[0, -1]].tolist()
    if clock.kind != "number" and last - first > LARGEST:
        hint = "Count time in a coarser unit."
        raise InputError(
            "whose range fits in 64 bits", f"{last - first}", argument="times", hint=hint
        )
    end = Spacing.of(ticks, short=short).end(clock)
    if end is not None:
        return end
    steps = np.diff(ticks)
    seen = steps if longest is None else steps[steps <= longest]
    if 0 < seen.size < steps.size:
        limits = seen.min().item(), seen.max().item()
        end = Spacing.apart_from_gaps(last, limits, short=short).end(clock)
        if end is not None:
            return end
    usual = np.sort(steps)[steps.size // 2].item()
    raise UnevenTimesError(
        "for unevenly spaced times",
        "none",
        argument="end",
        hint=f"The last sample stops at `end`; `end={_literal(clock, last + usual)}` would give it "
        "the median step.",
        end=clock.scalar(last + usual) if clock.tz else clock.native(ticks[-1:] + usual)[0],
        end_text=clock.text(last + usual),
    )


def _literal(clock: Clock, tick: Tick) -> str:
    text = clock.text(tick)
    if clock.kind != "datetime":
        return text
    whole = clock.unit != "ns" or not tick % 1000
    return f"datetime.fromisoformat('{text}')" if whole else f"numpy.datetime64('{text}')"

"""The axis under a label vector: sample i occupies [t(i), t(i + 1)), the last one up to `end`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import LARGEST, SAMPLES, Clock, Tick, Ticks, Timed, on_one_clock, read_times
from closecall.errors import InputError, expected

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

    def borders(self, indices: NDArray[np.int64]) -> Ticks:
        """Return where these samples start; index N stands for the end of the last one."""
        if self.ticks is None:
            return indices
        borders = self.ticks[np.minimum(indices, self.length - 1)]
        borders[indices == self.length] = self.end
        return borders

    def lengths(self) -> Ticks:
        """Return how long each sample is."""
        if self.ticks is None:
            return np.ones(self.length, dtype=np.int64)
        return np.diff(self.ticks, append=self.ticks.dtype.type(self.end))


def read_axis(length: int, times: Any, end: Any, *, of: str) -> Axis:
    """Check the times of a vector of that length and find out where its last sample stops."""
    if length == 0:
        raise InputError(expected("`times` to have at least one time", "none"))
    if times is None:
        return _number_axis(length, end)
    ticks, clock = read_times(times, "times")
    if ticks.size != length:
        raise InputError(
            expected(f"`times` to have one time for each of the {length} {of}", f"{ticks.size}")
        )
    require_increasing(ticks, clock, "times")
    if end is None:
        short = getattr(times, "dtype", None) == np.float32
        return Axis(ticks, length, _infer_end(ticks, clock, short=short), clock)
    end_ticks, end_clock = read_times([end], "end")
    (ticks, end_ticks), clock = on_one_clock(
        Timed("times", ticks, clock), Timed("end", end_ticks, end_clock)
    )
    return Axis(ticks, length, after_last(ticks[-1].item(), end_ticks[0].item(), clock), clock)


def _number_axis(length: int, end: Any) -> Axis:
    if end is None:
        return Axis(None, length, length, SAMPLES)
    return read_axis(length, np.arange(length), end, of="samples")


def after_last(last: Tick, end: Tick, clock: Clock) -> Tick:
    """Return the end; raise if it does not lie after the last time."""
    if end <= last:
        raise InputError(
            expected(
                f"`end` to lie after the last time {clock.text(last)}",
                clock.text(end),
                "`end` is where the last sample stops, the time the next one would have.",
            )
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
        expected(
            f"`{name}` to be strictly increasing",
            f"{clock.text(ticks[index].item())} after {clock.text(ticks[index - 1].item())} "
            f"at index {index}",
            "Drop or aggregate repeated times first."
            if repeated
            else "Sort the samples by time first.",
        )
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

    def end(self, clock: Clock) -> Tick | None:
        """Return the time that follows the last one, or None if the times are unevenly spaced."""
        if clock.kind != "number":
            step: Tick = self.shortest
            even = self.shortest == self.longest
        else:
            step = (self.last - self.first) / self.steps
            rounding = min(_EVEN_ULPS * self._rounding, _EVEN_LARGEST * step)
            tolerance = rounding + _EVEN_RELATIVE * step
            even = max(self.longest - step, step - self.shortest) <= tolerance
        return _require_representable(self.last + step, clock) if even else None

    @property
    def _rounding(self) -> float:
        """How far the times may be off because they are floats."""
        largest = max(abs(self.first), abs(self.last))
        return float(np.spacing(np.float32(largest) if self.short else np.float64(largest)))


def _infer_end(ticks: Ticks, clock: Clock, *, short: bool) -> Tick:
    if ticks.size == 1:
        raise InputError(
            expected(
                "`end` for a series of one sample",
                "none",
                f"Pass `end=`, the time after {clock.text(ticks[0].item())} where it stops.",
            )
        )
    first, last = ticks[[0, -1]].tolist()
    if clock.kind != "number":
        _require_countable(last - first)
    end = Spacing.of(ticks, short=short).end(clock)
    if end is not None:
        return end
    steps = np.diff(ticks)
    usual = np.sort(steps)[steps.size // 2].item()
    raise InputError(
        expected(
            "`end` for unevenly spaced times",
            "none",
            f"The last sample stops at `end`; `end={_literal(clock, last + usual)}` would give it "
            "the median step.",
        )
    )


def _require_countable(length: int) -> None:
    if length > LARGEST:
        raise InputError(
            expected(
                "`times` whose range fits in 64 bits",
                f"{length}",
                "Count time in a coarser unit.",
            )
        )


def _require_representable(end: Tick, clock: Clock) -> Tick:
    if clock.kind != "number" and end > LARGEST:
        raise InputError(
            expected(
                "`times` whose end fits in 64 bits",
                f"{end}",
                "Subtract a common origin first, or count time in a coarser unit.",
            )
        )
    return end


def _literal(clock: Clock, tick: Tick) -> str:
    text = clock.text(tick)
    if clock.kind != "datetime":
        return text
    whole = clock.unit != "ns" or not tick % 1000
    return f"datetime.fromisoformat('{text}')" if whole else f"numpy.datetime64('{text}')"

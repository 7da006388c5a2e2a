"""The axis under a label vector: sample i occupies [t(i), t(i + 1)), the last one up to `end`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.timeline import SAMPLES, Clock, Tick, Ticks, Timed, on_one_clock, read_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A float axis such as 0, 0.1, 0.2, ... is even up to the rounding of its own values.
_EVEN_ULPS = 8
_EVEN_RELATIVE = 1e-9


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
        """Give the start of each sample asked for; index N stands for the end of the last one."""
        if self.ticks is None:
            return np.where(indices == self.length, self.end, indices) if self._cut else indices
        borders = self.ticks[np.minimum(indices, self.length - 1)]
        borders[indices == self.length] = self.end
        return borders

    @property
    def _cut(self) -> bool:
        return self.end != self.length


def read_axis(length: int, times: Any, end: Any, *, of: str) -> Axis:
    """Check the times of a vector of that length and find out where its last sample stops."""
    if times is None:
        return _number_axis(length, end)
    ticks, clock = read_times(times, "times")
    if ticks.size != length:
        raise InputError(
            expected(f"`times` to have one time for each of the {length} {of}", f"{ticks.size}")
        )
    require_increasing(ticks, clock, "times")
    if end is None:
        return Axis(ticks, length, _infer_end(ticks, clock), clock)
    end_ticks, end_clock = read_times([end], "end")
    (ticks, end_ticks), clock = on_one_clock(
        Timed("times", ticks, clock), Timed("end", end_ticks, end_clock)
    )
    return Axis(ticks, length, _after(ticks[-1].item(), end_ticks[0].item(), clock), clock)


def _number_axis(length: int, end: Any) -> Axis:
    if end is None:
        return Axis(None, length, length, SAMPLES)
    return read_axis(length, np.arange(length), end, of="samples")


def _after(last: Tick, end: Tick, clock: Clock) -> Tick:
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
    """Refuse times that repeat or go back, and show where."""
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


def _infer_end(ticks: Ticks, clock: Clock) -> Tick:
    if ticks.size == 1:
        raise InputError(
            expected(
                "`end` for a series of one sample",
                "none",
                f"Pass `end=`, the time after {clock.text(ticks[0].item())} where it stops.",
            )
        )
    steps = np.diff(ticks)
    last: Tick = ticks[-1].item()
    if clock.kind != "number":
        step: Tick = int(steps[0])
        even = bool((steps == step).all())
    else:
        step = (last - ticks[0].item()) / steps.size
        rounding = np.spacing(np.abs(ticks[[0, -1]]).max())
        even = bool(np.abs(steps - step).max() <= _EVEN_RELATIVE * step + _EVEN_ULPS * rounding)
    if even:
        return last + step
    usual = np.sort(steps)[steps.size // 2].item()
    raise InputError(
        expected(
            "`end` for unevenly spaced times",
            "none",
            f"The last sample stops at `end`; `end={_literal(clock, last + usual)}` would give it "
            "the median step.",
        )
    )


def _literal(clock: Clock, tick: Tick) -> str:
    text = clock.text(tick)
    return f"'{text}'" if clock.kind == "datetime" else text

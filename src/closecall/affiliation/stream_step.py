"""Where a stream starts, and how long its samples last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import SAMPLES, read_times
from closecall.errors import InputError, InputTypeError, expected

if TYPE_CHECKING:
    from closecall.clock import Clock, Tick


@dataclass(frozen=True, slots=True)
class Setting:
    """What a stream was told when it was made; a start that was not given is 0."""

    start: Tick
    step: int | None
    clock: Clock
    placed: bool

    @property
    def told(self) -> bool:
        """Whether there is more to know than the defaults, so that not any stream can follow."""
        return self.placed or self.step != 1

    def sample_step(self) -> int:
        """Give the length of a sample in ticks."""
        if self.step is not None:
            return self.step
        hint = "Make the stream without `start`, and pass `times=` with each chunk."
        if self.clock.kind == "number":
            start = self.clock.text(self.start)
            rule = "`start` to be an integer, or a datetime, for samples without times"
            raise InputTypeError(expected(rule, start, hint))
        hint = f"Pass `step=` when the stream is made. Or: {hint[0].lower()}{hint[1:]}"
        raise InputTypeError(expected("`step` beside a `start` that is a datetime", "none", hint))


def read_setting(start: Any, step: Any) -> Setting:
    """Read `start` and `step`: integers, or a datetime and a timedelta."""
    ticks, clock = read_times([0 if start is None else start], "start")
    first, placed = ticks[0].item(), start is not None
    if clock.kind == "datetime":
        if step is None:
            return Setting(first, None, clock, placed)
        return _dated(clock.native(ticks)[0], clock, step)
    if clock.kind == "number":
        if step is not None:
            raise _not_exact("start", start)
        return Setting(first, None, clock, placed)
    if step is None:
        return Setting(first, 1, SAMPLES, placed)
    if isinstance(step, bool) or not isinstance(step, (int, np.integer)):
        if isinstance(step, (timedelta, np.timedelta64)):
            raise InputTypeError(expected("a datetime `start` beside this `step`", f"{start}"))
        raise _not_exact("step", step)
    return Setting(first, _positive(int(step)), SAMPLES, placed)


def _dated(start: np.datetime64, clock: Clock, step: Any) -> Setting:
    if not isinstance(step, (timedelta, np.timedelta64)):
        raise InputTypeError(
            expected("`step` to be a timedelta beside a datetime `start`", f"{step!r:.80}")
        )
    length = step.to_timedelta64() if hasattr(step, "to_timedelta64") else np.timedelta64(step)
    try:
        # numpy takes the finer of the two units.
        both = np.array([start, start + length])
    except TypeError:
        raise InputTypeError(
            expected("`step` of a fixed length", str(step), "Months and years differ in length.")
        ) from None
    (first, second), own = read_times(both, "step")
    return Setting(
        first.item(), _positive(int(second - first)), replace(own, tz=clock.tz), placed=True
    )


def _positive(step: int) -> int:
    if step <= 0:
        raise InputError(expected("`step` to be longer than zero", f"{step}"))
    return step


def _not_exact(name: str, value: Any) -> InputTypeError:
    return InputTypeError(
        expected(
            f"`{name}` to be an integer, or a datetime with a timedelta",
            f"{value!r:.80}",
            "Multiples of other numbers are rounded; pass the times themselves with each chunk.",
        )
    )

"""The time axis of a page: offsets that a float holds exactly, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.timeline import Timed, on_one_clock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from closecall.clock import Clock, Tick, Ticks

_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class Grid:
    """Ticks as offsets from an origin, counted in the longest step that divides them all.

    Nanoseconds of a year do not fit in a float's 53 bits; the minutes they stand for do.
    """

    clock: Clock
    origin: Tick
    step: Tick
    counts_samples: bool

    def offsets(self, ticks: Ticks) -> Ticks:
        """Count steps from the origin; numbers that are not exact stay as they are."""
        if self.clock.kind == "number":
            return ticks
        return (ticks - self.origin) // self.step

    def describe(self, start: Tick, stop: Tick) -> dict[str, Any]:
        """Tell the page what the offsets of this span mean."""
        if self.clock.kind != "datetime":
            kind = "samples" if self.counts_samples else self.clock.kind
            return {"kind": kind, "origin": str(self.origin), "unit": self.step}
        limits = (offset * self.step + self.origin for offset in (start, stop))
        shift, zone = self._zone(*limits)
        per_millisecond = self.clock.ticks_per_second / _MILLISECONDS
        return {
            "kind": "datetime",
            "origin": repr(float(self.origin / per_millisecond + shift)),
            "unit": self.step / per_millisecond,
            "zone": zone,
        }

    def _zone(self, start: Tick, stop: Tick) -> tuple[float, str]:
        """Choose the zone to write times in: their own, or UTC if its offset changes between."""
        if self.clock.tz is None:
            return 0.0, ""
        shifts = {
            moment.astimezone(self.clock.tz).utcoffset() or timedelta()
            for moment in _moments(self.clock, start, stop)
        }
        if len(shifts) > 1:
            return 0.0, "UTC"
        shift = shifts.pop()
        sign, minutes = ("-" if shift < timedelta() else "+"), abs(shift) // timedelta(minutes=1)
        name = f"UTC{sign}{minutes // 60:02}:{minutes % 60:02}" if shift else "UTC"
        return shift / timedelta(milliseconds=1), name


def _moments(clock: Clock, start: Tick, stop: Tick) -> list[datetime]:
    """Moments a month or less apart: no zone changes its offset and back in between unnoticed."""
    per_month = 30 * 86_400 * clock.ticks_per_second
    count = int(min(1_000, max(2, (stop - start) // per_month + 2)))
    ticks = np.linspace(start, stop, count).astype(np.int64)
    stamps = ticks.view(f"datetime64[{clock.unit}]")
    return [moment.replace(tzinfo=UTC) for moment in stamps.astype("datetime64[s]").tolist()]


def common_grid(columns: Sequence[Timed], *, counts_samples: bool) -> tuple[Grid, list[Ticks]]:
    """Bring columns of ticks to one clock and choose the grid; give their offsets on it."""
    ticks, clock = on_one_clock(*columns)
    if clock.kind == "number":
        return Grid(clock, 0.0, 1.0, counts_samples=False), ticks
    filled = [column for column in ticks if column.size]
    origin = min(int(column.min()) for column in filled)
    step = int(np.gcd.reduce([np.gcd.reduce(column - origin) for column in filled])) or 1
    grid = Grid(clock, origin, step, counts_samples)
    return grid, [grid.offsets(column) for column in ticks]

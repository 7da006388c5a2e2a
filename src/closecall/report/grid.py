"""The time axis of a page: offsets that a float holds exactly, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import Timed, on_one_clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from closecall.clock import Clock, Tick, Ticks

_MILLISECONDS = 1000
_WEEK = 7 * 86_400
_MOST_LOOKS = 4_000  # one a week for 76 years: no zone changes and back in between


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
        first, last = (int(offset * self.step + self.origin) for offset in (start, stop))
        per_second = self.clock.ticks_per_second
        whole, rest = divmod(int(self.origin) * _MILLISECONDS, per_second)
        shifts = _shifts(self.clock, first, last)
        return {
            "kind": "datetime",
            "origin": str(whole),
            "rest": rest / per_second,
            "unit": self.step * _MILLISECONDS / per_second,
            "zone": _zone_name(self.clock.tz, shifts),
            "shifts": shifts,
        }


def _zone_name(tz: tzinfo | None, shifts: list[list[int]]) -> str:
    """Name a zone as people do, or by its offset."""
    if tz is None:
        return ""
    name = getattr(tz, "key", None) or getattr(tz, "zone", None)
    if name:
        return str(name)
    if len(shifts) > 1:
        return "local time"
    minutes = abs(shifts[0][1]) // 60_000
    sign = "-" if shifts[0][1] < 0 else "+"
    return f"UTC{sign}{minutes // 60:02}:{minutes % 60:02}" if minutes else "UTC"


def _shifts(clock: Clock, first: Tick, last: Tick) -> list[list[int]]:
    """Find by how much the zone differs from UTC, and from when on, both in milliseconds."""
    if clock.tz is None:
        return []
    start, stop = (int(tick // clock.ticks_per_second) for tick in (first, last))
    count = min(_MOST_LOOKS, (stop - start) // _WEEK + 2)
    seconds = np.linspace(start, stop, count).astype(np.int64).tolist()
    shifts = [[seconds[0] * _MILLISECONDS, _shift(clock.tz, seconds[0])]]
    for before, after in pairwise(seconds):
        if _shift(clock.tz, after) != shifts[-1][1]:
            change = _first_second(clock.tz, before, after)
            shifts.append([change * _MILLISECONDS, _shift(clock.tz, after)])
    return shifts


def _first_second(tz: tzinfo, before: int, after: int) -> int:
    """Find the second at which the shift of a zone changes, between two that differ."""
    shift = _shift(tz, before)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (middle, after) if _shift(tz, middle) == shift else (before, middle)
    return after


def _shift(tz: tzinfo, second: int) -> int:
    """Give the zone's difference from UTC at a second, in milliseconds."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return (moment.astimezone(tz).utcoffset() or timedelta()) // timedelta(milliseconds=1)


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

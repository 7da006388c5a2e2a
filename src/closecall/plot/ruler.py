"""From exact ticks to positions on a drawn axis, and the ticks and label that go with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick, Ticks
    from closecall.series import Pair

_SECONDS_PER_DAY = 86400  # matplotlib counts dates in days
_FINEST_DATES = 1e-3  # seconds; its floats cannot tell shorter spans of dates apart
_DATES_PER_INCH, _DATES = 2.1, (3, 11)
_FEWEST_DATES = 5
_EXACT_FLOAT = 2**53


@dataclass(frozen=True, slots=True)
class Ruler:
    """A straight line from ticks to positions; from zero where floats cannot hold the ticks."""

    clock: Clock
    start: Tick
    base: float
    step: float
    dated: bool

    def positions(self, ticks: Ticks) -> NDArray[np.float64]:
        """Give the drawn position of each tick."""
        return self.from_start(ticks - self.start)

    def from_start(self, offsets: NDArray[Any]) -> NDArray[np.float64]:
        """Give the drawn position of ticks that are counted from the span's start."""
        return self.base + self.step * np.asarray(offsets, dtype=np.float64)

    def prepare(self, axes: Axes) -> None:
        """Write dates along the axis, or say what the numbers count from."""
        if self.dated:
            dates, zone = _dates(), self.clock.tz or UTC
            most = _most_dates(axes)
            # matplotlib finds no interval, and warns, where half as many dates are too few.
            least = min(_FEWEST_DATES, max(1, (most - 1) // 2))
            locator = dates.AutoDateLocator(tz=zone, minticks=least, maxticks=most)
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=zone))
        elif self.base != self.start:
            unit = self.clock.unit or "ticks"
            axes.set_xlabel(f"{unit} since {self.clock.text(self.start)}")


def _most_dates(axes: Axes) -> int:
    """Say how many dates can be written side by side."""
    inches = axes.bbox.width / axes.figure.dpi
    return int(np.clip(inches * _DATES_PER_INCH, *_DATES))


def ruler(pair: Pair) -> Ruler:
    """Choose how a span is drawn: as dates, as numbers, or as offsets from its start."""
    clock, start, stop = pair.clock, pair.start, pair.stop
    if clock.kind == "number":
        return Ruler(clock, start, start, 1.0, dated=False)
    if clock.kind == "integer":
        exact = max(abs(start), abs(stop)) <= _EXACT_FLOAT
        return Ruler(clock, start, float(start) if exact else 0.0, 1.0, dated=False)
    seconds = float(clock.duration(np.ones(1))[0] / np.timedelta64(1, "s"))
    if (stop - start) * seconds < _FINEST_DATES:
        return Ruler(clock, start, 0.0, 1.0, dated=False)
    base = float(_dates().date2num(np.int64(start).view(f"datetime64[{clock.unit}]")))
    return Ruler(clock, start, base, seconds / _SECONDS_PER_DAY, dated=True)


def _dates() -> Any:
    """Import the part of matplotlib that has no types."""
    return import_module("matplotlib.dates")

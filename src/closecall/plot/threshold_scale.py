"""Where thresholds lie along an axis: evenly, stretched where they crowd, or at infinity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_MARGIN = 0.08  # of the axis, from the last finite threshold to an infinite one
_EDGE = 0.02  # of the axis, where there is no infinite one
_CROWDED = 0.08  # of the range; half of the curve within so little of it cannot be seen
_EVEN_PART = 0.3  # of the stretched axis, so that no part of the range is lost from it
_ENDLESS = 1e300  # a stand-in for infinity, and nothing that can be drawn to scale
_TICKS = 6
_SPREAD = 1000  # indices; more cannot be told apart
_ENDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdScale:
    """Finite thresholds where they are, on a stretched axis if they crowd; infinite ones beyond."""

    knots: NDArray[np.float64]
    """Finite thresholds along the curve, ascending; 0 if there are none."""
    heights: NDArray[np.float64]
    """How far along the axis each lies, from 0 to 1."""
    crowded: bool
    endless: NDArray[np.float64]
    """Infinite thresholds, ascending."""
    any_finite: bool

    @classmethod
    def of(cls, thresholds: NDArray[Any]) -> ThresholdScale:
        """Choose a scale on which the curve through these is not squeezed into a corner."""
        values = thresholds[::-1].astype(np.float64)
        drawable = np.abs(values) < _ENDLESS
        knots = values[drawable] if drawable.any() else np.zeros(1)
        even = (knots - knots[0]) / ((knots[-1] - knots[0]) or 1.0)
        middle = float(np.median(even))
        crowded = knots.size > _ENDS and not _CROWDED < middle < 1 - _CROWDED
        along = np.linspace(0, 1, knots.size)
        heights = _EVEN_PART * even + (1 - _EVEN_PART) * along if crowded else even
        return cls(knots, heights, crowded, values[~drawable], bool(drawable.any()))

    def spread(self, thresholds: NDArray[Any]) -> NDArray[np.int64]:
        """Choose indices evenly along the axis and evenly among the descending thresholds."""
        even = self._backward(np.linspace(0, 1, _SPREAD))
        last = thresholds.size - 1
        by_value = last - np.searchsorted(thresholds[::-1], even).clip(0, last)
        by_rank = np.linspace(0, last, _SPREAD).astype(np.int64)
        return np.union1d(by_value, by_rank)

    def places(self, thresholds: NDArray[Any]) -> NDArray[np.float64]:
        """Give the drawn position of each threshold."""
        return np.clip(thresholds.astype(np.float64), *self._limits(_MARGIN))

    def prepare(self, axes: Axes) -> None:
        """Set scale, limits and ticks."""
        if self.crowded:
            # The scale keeps thresholds as they are and moves only where they are drawn.
            axes.set_xscale("function", functions=(self._forward, self._backward))
            axes.set_xlabel("threshold (stretched where the curve changes)")
        axes.set_xlim(*self._limits(_MARGIN + _EDGE if self.endless.size else _EDGE))
        if not (self.crowded or self.endless.size or self.knots.size == 1):
            return
        ticks = self._ticks(axes) if self.any_finite else []
        names = [f"{tick:g}" for tick in ticks] + [f"{value:.2g}" for value in self.endless]
        axes.set_xticks([*ticks, *self.places(self.endless)], names)

    def _ticks(self, axes: Axes) -> list[float]:
        if self.knots.size == 1:
            return [float(self.knots[0])]
        if self.crowded:
            return [self._round(height) for height in np.linspace(0, 1, _TICKS)]
        low, high = self._limits(-_EDGE)
        ticks = axes.xaxis.get_major_locator().tick_values(low, high)
        return [float(tick) for tick in ticks if low <= tick <= high]

    def _round(self, height: float) -> float:
        """Return a threshold of few digits that lies about that far along the axis."""
        exact = float(self._backward(np.array([height]))[0])
        for digits in range(1, 17):
            rounded = float(f"{exact:.{digits}g}")
            if abs(self._forward(np.array([rounded]))[0] - height) < 1 / (6 * _TICKS):
                return rounded
        return exact

    def _limits(self, margin: float) -> tuple[float, float]:
        """Return limits that lie this share of the axis outside the finite thresholds."""
        room = margin * self._size
        return float(self.knots[0] - room), float(self.knots[-1] + room)

    @property
    def _size(self) -> float:
        low, high = float(self.knots[0]), float(self.knots[-1])
        return (high - low) or abs(high) or 1.0

    def _forward(self, thresholds: Any) -> NDArray[np.float64]:
        values = np.asarray(thresholds, dtype=np.float64)
        inside = np.interp(values, self.knots, self.heights)
        outside = values - np.clip(values, self.knots[0], self.knots[-1])
        return inside + outside / self._size

    def _backward(self, heights: Any) -> NDArray[np.float64]:
        values = np.asarray(heights, dtype=np.float64)
        inside = np.interp(values, self.heights, self.knots)
        return inside + (values - np.clip(values, 0, 1)) * self._size

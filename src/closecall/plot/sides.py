"""Precision and recall look at one zone from two sides: which to draw, and on which axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.errors import InputError, expected
from closecall.plot.extra import needing_matplotlib
from closecall.plot.one_zone import read_result, read_zone
from closecall.plot.panels import as_given, new_panels, read_panels
from closecall.plot.ruler import ruler

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.plot.one_zone import OneZone, Spans
    from closecall.plot.ruler import Ruler
    from closecall.series import Pair

Side = Literal["both", "precision", "recall"]
_SMALL, _AROUND = 0.2, 0.6  # of the zone, when to zoom in; of what matters, what is kept around it
_EDGE, _POINT_EDGE = 0.5, 1.5  # points


def read_sides(side: str) -> tuple[str, ...]:
    """Give the sides to draw."""
    if side not in get_args(Side):
        raise InputError(expected('`side` to be "both", "precision" or "recall"', repr(side)))
    return ("precision", "recall") if side == "both" else (side,)


def draw_sides(
    draw: Callable[[Axes, OneZone, Pair, str], None],
    truth: Any,
    predicted: Any,
    axis_options: dict[str, Any],
    *,
    event: int,
    side: str,
    ax: Any,
    size: tuple[float, float],
) -> Any:
    """Draw the asked sides of one event's zone, on the caller's axes or on new ones."""
    result = read_result(truth, predicted, axis_options)
    zone, sides = read_zone(result, event), read_sides(side)
    with needing_matplotlib():
        panels = _side_panels(sides, ax, size)
        for axes, name in zip(panels, sides, strict=True):
            draw(axes, zone, result.events.pair, name)
        if ax is None and len(panels) > 1:
            panels[-1].tick_params(labelleft=False)
        return as_given(panels)


def _side_panels(sides: tuple[str, ...], ax: Any, size: tuple[float, float]) -> list[Axes]:
    if ax is not None:
        return read_panels(ax, sides)
    return new_panels(len(sides), (size[0] * len(sides), size[1]), sharey=True)


@dataclass(frozen=True, slots=True)
class ZonePanel:
    """An axes that shows a zone; places are counted from the zone's start, in ticks."""

    axes: Axes
    zone: OneZone
    scale: Ruler
    shown: tuple[float, float]

    @classmethod
    def on(cls, axes: Axes, zone: OneZone, pair: Pair, low: float, high: float) -> ZonePanel:
        """Show the zone, or what lies between two places if that is a small part of it."""
        shown = (0.0, zone.length)
        if 0 < high - low < _SMALL * zone.length:
            more = _AROUND * (high - low)
            shown = (max(low - more, 0.0), min(high + more, zone.length))
        panel = cls(axes, zone, ruler(pair), shown)
        panel.scale.prepare(axes)
        axes.set_xlim(*panel.positions(shown))
        return panel

    def positions(self, places: Any) -> NDArray[np.float64]:
        """Give the drawn positions of places."""
        return self.scale.from_start(np.asarray(places, dtype=np.float64) + self.zone.offset)

    def mark_borders(self) -> None:
        """Draw the zone's borders that are shown, dashed; the frame does not cut them."""
        self.axes.vlines(
            self.positions([border for border in (0.0, self.zone.length) if border in self.shown]),
            *self.axes.get_ylim(),
            colors="0.45",
            linestyles=(0, (4, 3)),
            linewidths=0.8,
            clip_on=False,
            zorder=1,
        )

    def draw_lane(self, spans: Spans, low: float, high: float, color: str) -> None:
        """Draw intervals as bars between two heights; points are wide enough to see."""
        self.axes.bar(
            self.positions(spans.starts),
            high - low,
            self.positions(spans.stops) - self.positions(spans.starts),
            low,
            align="edge",
            color=color,
            edgecolor=color,
            linewidth=np.where(spans.starts == spans.stops, _POINT_EDGE, _EDGE),
            zorder=3,
        )

    def between(self, starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[np.float64]:
        """Give drawn borders halfway between neighbours, and where the panel ends."""
        inner = (stops[:-1] + starts[1:]) / 2
        return self.positions(np.concatenate((self.shown[:1], inner, self.shown[1:])))

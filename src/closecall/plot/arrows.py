"""One panel of `plot_distances`: two lanes, and arrows from one to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.plot.palette import INK, PRECISION, PREDICTED, RECALL, TRUTH
from closecall.plot.panels import tidy
from closecall.plot.shares import write_shares
from closecall.plot.sides import ZonePanel
from closecall.plot.stretches import grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.plot.one_zone import OneZone
    from closecall.plot.stretches import Group
    from closecall.series import Pair

_TRUTH, _PREDICTED = (1.0, 1.18), (-0.18, 0.0)  # heights of the lanes, with the arrows between
_BOTTOM, _TOP = -0.52, 1.52
_NOTE = {"precision": -0.35, "recall": 1.36}  # heights of the texts, beside the arrows' origin
_LEAST, _MOST = 0.1, 0.8  # how far from their origin arrows turn


def draw_arrows(axes: Axes, zone: OneZone, pair: Pair, side: str) -> None:
    """Draw the distances of one side, and tell their mean."""
    groups = _groups(zone, side)
    ends = [end for group in groups for end in (*group.extent, group.target)]
    ends += [float(zone.event.starts[0]), float(zone.event.stops[0])]
    panel = ZonePanel.on(axes, zone, pair, min(ends), max(ends))
    axes.set_ylim(_BOTTOM, _TOP)
    panel.mark_borders()
    panel.draw_lane(zone.event, *_TRUTH, TRUTH)
    panel.draw_lane(zone.predicted, *_PREDICTED, PREDICTED[0])
    for group in groups:
        _draw_group(panel, group, side)
    write_shares(panel, groups, _NOTE[side])
    axes.set_title(_title(zone, side), fontsize=9, color=INK)
    axes.set_yticks([sum(_TRUTH) / 2, sum(_PREDICTED) / 2], [zone.name, "predictions"])
    axes.tick_params(axis="y", length=0)
    tidy(axes, "left")


def _groups(zone: OneZone, side: str) -> list[Group]:
    if not len(zone.predicted):
        return []
    if side == "precision":
        return grouped(zone.predicted, zone.event)
    return grouped(zone.event, zone.predicted)


def _draw_group(panel: ZonePanel, group: Group, side: str) -> None:
    """Draw some arrows of a group."""
    # Precision starts at the lower lane and goes up, recall the other way.
    origin: tuple[float, int] = (_PREDICTED[1], 1) if side == "precision" else (_TRUTH[0], -1)
    color = PRECISION if side == "precision" else RECALL
    if group.on_target:
        _draw_upright(panel, group, origin, color)
    else:
        _draw_sideways(panel, group, origin, color)


def _draw_upright(panel: ZonePanel, group: Group, origin: tuple[float, int], color: str) -> None:
    base, way = origin
    places = panel.positions(group.samples())
    panel.axes.vlines(places, base, base + way, colors=color, linewidths=0.7, alpha=0.75, zorder=2)
    tips = np.full(places.size, base + way * 0.975)
    marker = "^" if way > 0 else "v"
    panel.axes.plot(places, tips, marker, color=color, markersize=3, zorder=2)


def _draw_sideways(panel: ZonePanel, group: Group, origin: tuple[float, int], color: str) -> None:
    """Draw arrows that leave upright and turn; the farthest turn last, so that none cross."""
    (base, way), samples = origin, group.samples()
    places, target = panel.positions(samples), float(panel.positions([group.target])[0])
    order = np.argsort(np.argsort(np.abs(samples - group.target)))
    turns = base + way * _turns(order, samples.size)
    style: dict[str, Any] = {"colors": color, "zorder": 2}
    panel.axes.vlines(places, base, turns, linewidths=0.6, alpha=0.55, **style)
    panel.axes.hlines(turns, places, target, linewidths=1.1, **style)
    dots: Any = (0, (1, 1.5))
    low, high = sorted((base, base + way))
    panel.axes.vlines([target], low, high, linestyles=dots, linewidths=0.8, **style)
    panel.axes.plot(
        np.full(places.size, target),
        turns,
        linestyle="",
        marker=4 if places[0] > target else 5,  # carets, whose tip is at their place
        color=color,
        markersize=4.5,
        markeredgewidth=0,
        zorder=2,
    )


def _turns(order: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    if count == 1:
        return np.array([(_LEAST + _MOST) / 2])
    return _LEAST + (_MOST - _LEAST) * order / (count - 1)


def _title(zone: OneZone, side: str) -> str:
    ways = {"precision": "predictions to event", "recall": "event to predictions"}
    if not len(zone.predicted):
        return f"{ways[side]}: no prediction in the zone"
    distance = zone.scores[2 if side == "precision" else 3]
    return f"{ways[side]}: {zone.words(float(distance))} on average"

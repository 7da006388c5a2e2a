"""How far predictions are from one event, and the event from its predictions, as arrows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.plot.drawing import INK, PRECISION, PREDICTED, RECALL, TRUTH, ZoneLabels, tidy
from closecall.plot.zone import Side, ZonePanel, draw_sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase

    from closecall.plot.drawing import Floats
    from closecall.plot.zone import Spans, Zone

_SIZE = (4.8, 2.1)  # inches, of one side
_TRUTH, _PREDICTED = (1.0, 1.18), (-0.18, 0.0)  # heights of the lanes, with the arrows between
_BOTTOM, _TOP = -0.52, 1.52
_NOTE = {"precision": -0.35, "recall": 1.36}  # heights of the texts, beside the arrows' origin
_LEAST, _MOST = 0.1, 0.8  # how far from their origin arrows turn
_ARROWS, _MOST_OF_GROUP = 36, 9  # in a picture, and of one group
_STYLE: dict[str, Any] = {"margin": 5, "fontsize": 7.5, "color": INK}


def plot_distances(
    truth: Any,
    predicted: Any = None,
    *,
    event: int = 0,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    side: Side = "both",
    ax: Any = None,
) -> Any:
    """Draw the distances that make one event's scores, as arrows in its zone of affiliation.

    On the left from the predictions to the event (for precision), on the right from the event to
    the predictions (for recall): each arrow starts at a time and ends at the nearest time of the
    other side, so its length is the distance; upright arrows are on target. Titles tell the mean
    distances. Texts tell which part is how far where each has room, else which part of the whole is
    on target and how far the rest is off; either way the shares add up. The whole zone is shown,
    unless all that matters is in a small part of it.

    Parameters
    ----------
    truth, predicted, event, times, end, span, ignore, max_step, side, ax
        As in `plot_survival`.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes that was drawn on, or the two as an array.

    Examples
    --------
    The paper's first zone, in minutes: 0.3 minutes are 18 s, and 1.275 are 76.5 s.

    >>> import closecall as cc
    >>> from closecall.plot import plot_distances
    >>> alarms = cc.Events([(5, 6), (7, 10), (11, 12)])
    >>> axes = plot_distances(cc.Events([(0, 10)]), alarms, span=(0, 30))
    >>> [panel.get_title() for panel in axes]
    ['predictions to event: 0.3 on average', 'event to predictions: 1.275 on average']
    """
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    return draw_sides(_draw_arrows, _SIZE, truth, predicted, event=event, side=side, ax=ax, **axis)


def _draw_arrows(axes: Axes, zone: Zone, side: str) -> None:
    """Draw the distances of one side, and tell their mean."""
    upward = side == "precision"
    groups = []
    if len(zone.predicted):
        ways = (zone.predicted, zone.event) if upward else (zone.event, zone.predicted)
        groups = grouped(*ways)
    ends = [end for group in groups for end in (*group.extent, group.target)]
    ends += [float(zone.event.starts[0]), float(zone.event.stops[0])]
    panel = ZonePanel.on(axes, zone, min(ends), max(ends))
    axes.set_ylim(_BOTTOM, _TOP)
    panel.mark_borders()
    panel.draw_lane(zone.event, *_TRUTH, TRUTH)
    panel.draw_lane(zone.predicted, *_PREDICTED, PREDICTED[0])
    # Precision starts at the lower lane and goes up, recall the other way.
    origin: tuple[float, int] = (_PREDICTED[1], 1) if upward else (_TRUTH[0], -1)
    for group in groups:
        draw = _draw_upright if group.on_target else _draw_sideways
        draw(panel, group, origin, PRECISION if upward else RECALL)
    _write_shares(panel, groups, _NOTE[side])
    panel.shade_ignored(0.5)
    axes.set_title(_title(zone, side), fontsize=9, color=INK, wrap=True)
    axes.set_yticks([sum(_TRUTH) / 2, sum(_PREDICTED) / 2], [zone.name, "predictions"])
    axes.tick_params(axis="y", length=0)
    tidy(axes, "left")


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
    turns = np.full(1, (_LEAST + _MOST) / 2)
    if samples.size > 1:
        turns = _LEAST + (_MOST - _LEAST) * order / (samples.size - 1)
    turns = base + way * turns
    style: dict[str, Any] = {"colors": color, "zorder": 2}
    panel.axes.vlines(places, base, turns, linewidths=0.6, alpha=0.55, **style)
    panel.axes.hlines(turns, places, target, linewidths=1.1, **style)
    dots: Any = (0, (1, 1.5))
    low, high = sorted((base, base + way))
    panel.axes.vlines([target], low, high, linestyles=dots, linewidths=0.8, **style)
    caret = 4 if places[0] > target else 5  # its tip is at its place
    style = {"linestyle": "", "marker": caret, "markersize": 4.5, "markeredgewidth": 0, "zorder": 2}
    panel.axes.plot(np.full(places.size, target), turns, color=color, **style)


def _title(zone: Zone, side: str) -> str:
    ways = {"precision": "predictions to event", "recall": "event to predictions"}
    if not len(zone.predicted):
        return f"{ways[side]}: no prediction in the zone"
    distance = zone.scores[2 if side == "precision" else 3]
    return f"{ways[side]}: {zone.words(float(distance))} on average"


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring stretches that are all on target, or all have the same nearest time."""

    starts: Floats
    stops: Floats
    target: float
    share: float
    distance: float
    on_target: bool

    @property
    def extent(self) -> tuple[float, float]:
        """Where the group starts and stops."""
        return float(self.starts[0]), float(self.stops[-1])

    def samples(self) -> Floats:
        """Return some times that stand for all, spread evenly over what the group covers."""
        count = int(np.clip(round(_ARROWS * self.share), 1, _MOST_OF_GROUP))
        lengths = self.stops - self.starts
        if not lengths.any():
            return self.starts[:: -(-self.starts.size // _MOST_OF_GROUP)]
        ends = np.cumsum(lengths)
        covered = (np.arange(count) + 0.5) / count * ends[-1]
        piece = np.minimum(np.searchsorted(ends, covered), lengths.size - 1)
        spread = self.stops[piece] - (ends[piece] - covered)
        # A stretch that would go without an arrow gets one, as long as there are few.
        bare = np.setdiff1d(np.arange(lengths.size), piece)
        if lengths.size > _MOST_OF_GROUP:
            bare = bare[:0]
        return np.sort(np.concatenate((spread, (self.starts[bare] + self.stops[bare]) / 2)))


def grouped(sources: Spans, targets: Spans) -> list[Group]:
    """Cut the sources into groups with one nearest target each, from left to right."""
    starts, stops = _cut(sources, targets)
    middles = (starts + stops) / 2
    nearest = targets.nearest(middles)
    distances = np.abs(nearest - middles)
    weights = stops - starts if sources.length else np.ones(starts.size)
    way = np.sign(nearest - middles)
    # On target, the nearest time moves along with the source.
    kind = np.where(way == 0, 0, nearest)
    changes = (kind[1:] != kind[:-1]) | (way[1:] != way[:-1])
    first = np.flatnonzero(np.concatenate(([True], changes)))
    groups = []
    for low, high in pairwise([*first.tolist(), starts.size]):
        rows = slice(low, high)
        weight = weights[rows].sum()
        # Points weigh nothing beside ranges, and are some way off all the same.
        distance = np.average(distances[rows], weights=weights[rows] if weight else None)
        told = float(nearest[low]), float(weight / weights.sum()), float(distance)
        groups.append(Group(starts[rows], stops[rows], *told, on_target=bool(way[low] == 0)))
    return groups


def _cut(sources: Spans, targets: Spans) -> tuple[Floats, Floats]:
    """Cut the sources at the ends of the targets, and halfway between targets."""
    halfway = (targets.stops[:-1] + targets.starts[1:]) / 2
    cuts = np.unique(np.concatenate((targets.starts, targets.stops, halfway)))
    starts, stops = [], []
    for start, stop in zip(sources.starts.tolist(), sources.stops.tolist(), strict=True):
        inner = cuts[(cuts > start) & (cuts < stop)]
        starts.append(np.concatenate(([start], inner)))
        stops.append(np.concatenate((inner, [stop])))
    return np.concatenate(starts), np.concatenate(stops)


def _write_shares(panel: ZonePanel, groups: list[Group], height: float) -> None:
    """Write the share of each group under it if all have room, else one sum of them."""
    if len(groups) < 2 or all(group.on_target for group in groups):  # noqa: PLR2004 - the title says it
        return
    pieces = None
    # What is on target here and there is told as one share.
    if sum(group.on_target for group in groups) <= 1:
        pieces = _pieces(panel, groups, height)
    summary = _summary(panel, groups)
    if not summary:
        return
    low, high = groups[0].extent[0], groups[-1].extent[1]
    _Instead(
        panel.axes,
        panel.positions(panel.shown),
        panel.positions([(low + high) / 2]),
        height,
        [[", ".join(summary)], [",\n".join(summary)]],
        pieces=pieces,
        **_STYLE,
    )


def percents(shares: Sequence[float]) -> list[str]:
    """Round shares of one whole so that they add up to 100%.

    >>> percents([1 / 3, 1 / 3, 1 / 3]), percents([0.996, 0.004])
    (['34%', '33%', '33%'], ['>99%', '<1%'])
    """
    exact = 100 * np.asarray(shares, dtype=np.float64)
    whole = np.floor(exact + 1e-9)
    missing = round(exact.sum() - whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    texts = []
    for rounded, share in zip(whole.tolist(), shares, strict=True):
        full = rounded == 100 and share < 1  # noqa: PLR2004
        text = ">99%" if full else f"{rounded:.0f}%"
        texts.append("<1%" if rounded == 0 and share > 0 else text)
    return texts


def _pieces(panel: ZonePanel, groups: list[Group], height: float) -> ZoneLabels:
    starts, stops = np.array([group.extent for group in groups]).T
    words = [
        "on target" if group.on_target else panel.zone.words(group.distance) for group in groups
    ]
    parts = list(zip(percents([group.share for group in groups]), words, strict=True))
    return _AllOrNone(
        panel.axes,
        panel.between(starts, stops),
        panel.positions((starts + stops) / 2),
        height,
        [[": ".join(part) for part in parts], ["\n".join(part) for part in parts]],
        **_STYLE,
    )


def _summary(panel: ZonePanel, groups: list[Group]) -> list[str]:
    """Sum up what is on target and what is not; nothing where the title has said it all."""
    on_target = sum(group.share for group in groups if group.on_target)
    off = [group for group in groups if not group.on_target and group.share]
    if not on_target or not off:
        return []
    weights = np.array([group.share for group in off])
    mean = np.average([group.distance for group in off], weights=weights)
    distance = float(f"{mean:.9g}")  # sums that should be halves are not rounded down
    hit, missed = percents([on_target, 1 - on_target])
    average = " on average" if len(off) > 1 else ""
    return [f"{hit} on target", f"{missed} off by {panel.zone.words(distance)}{average}"]


class _AllOrNone(ZoneLabels):
    """Texts that are written only if all of them have room."""

    def placed(self, renderer: RendererBase) -> list[tuple[float, str]]:
        """Return the widest layout for which there is room, or nothing."""
        for layout in self.layouts:
            now = self._placed(layout, renderer)
            if len(now) == len(layout):
                return now
        return []


class _Instead(ZoneLabels):
    """One text that is written where the pieces have no room."""

    def __init__(self, *arguments: Any, pieces: ZoneLabels | None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pieces = pieces

    def placed(self, renderer: RendererBase) -> list[tuple[float, str]]:
        """Return where it is, unless the pieces are written."""
        if self.pieces is not None and self.pieces.placed(renderer):
            return []
        return super().placed(renderer)

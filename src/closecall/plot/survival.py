"""What each time of one zone counts for precision and recall, and the areas that make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.plot.drawing import INK, PRECISION, PREDICTED, RECALL, TRUTH, ZoneLabels, tidy
from closecall.plot.zone import Side, ZonePanel, draw_sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closecall.plot.drawing import Floats
    from closecall.plot.zone import Spans, Zone

_SIZE = (4.8, 2.7)  # inches, of one side
_TRUTH, _PREDICTED = (-0.14, -0.05), (-0.28, -0.19)  # heights of the lanes under the curve
_BOTTOM, _TOP, _NOTE = -0.34, 1.2, 1.09
_STEPS = 720
_FEW = 8  # pieces up to which each is told apart


def plot_survival(
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
    """Draw both survival functions over one event's zone, and the areas that make its scores.

    The line is what a time at that place counts: the probability that a point drawn at random in
    the zone is at least as far away (equations 3 to 5 of the paper). On the left its mean over the
    predictions, the filled pieces, is the precision; on the right its mean over the event is the
    recall. The mean of each piece is written above it, where there is room. The whole zone is
    shown, unless the event is a small part of it.

    Parameters
    ----------
    truth
        What `closecall.affiliation` returned, or the truth as it takes it.
    predicted, times, end, span, ignore, max_step
        As in `closecall.affiliation`, beside the truth. What is ignored is hatched.
    event
        Which event: its row in the result, from 0.
    side
        ``"precision"`` or ``"recall"`` to draw only that one.
    ax
        Where to draw: two axes, or one if only one side is drawn. A new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes that was drawn on, or the two as an array.

    Examples
    --------
    The second zone of the paper's example, in minutes after 3:00.

    >>> import closecall as cc
    >>> from closecall.plot import plot_survival
    >>> alarms = cc.Events([(40, 60), (115, 120)])
    >>> axes = plot_survival(cc.Events([(50, 70)]), alarms, span=(30, 120))
    >>> [panel.get_title() for panel in axes]
    ['precision 0.672: mean over the predictions', 'recall 0.944: mean over the event']
    """
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    return draw_sides(_draw_areas, _SIZE, truth, predicted, event=event, side=side, ax=ax, **axis)


@dataclass(frozen=True, slots=True)
class _Curve:
    """A function of places in the zone; where it jumps, a place has two values."""

    places: Floats
    values: Floats

    def rows(self, start: float, stop: float) -> slice:
        """Return the rows of a piece; at a jump, what follows its start or precedes its stop."""
        first = int(np.searchsorted(self.places, start, side="right")) - 1
        last = int(np.searchsorted(self.places, stop, side="left"))
        return slice(first, max(last, first) + 1)

    def mean(self, start: float, stop: float) -> float:
        """Return the mean over a piece; the function is straight between its places."""
        inside = self.rows(start, stop)
        heights = self.values[inside]
        area = np.dot(np.diff(self.places[inside]), heights[1:] + heights[:-1]) / 2
        return float(area / (stop - start))


def _draw_areas(axes: Axes, zone: Zone, side: str) -> None:
    """Draw one survival function, and fill what makes the score."""
    sources = zone.predicted if side == "precision" else zone.event
    reach = sources if len(sources) else zone.event
    low = min(reach.starts[0], zone.event.starts[0])
    high = max(reach.stops[-1], zone.event.stops[-1])
    panel = ZonePanel.on(axes, zone, float(low), float(high))
    axes.set_ylim(_BOTTOM, _TOP)
    panel.mark_borders()
    axes.axhline(0, color="0.8", linewidth=0.6, zorder=1)
    panel.draw_lane(zone.event, *_TRUTH, TRUTH)
    panel.draw_lane(zone.predicted, *_PREDICTED, PREDICTED[0])
    curve = _curve(zone, side, panel.shown)
    axes.plot(panel.positions(curve.places), curve.values, color="0.55", linewidth=1, zorder=2)
    _fill(panel, curve, sources, PRECISION if side == "precision" else RECALL)
    _write_means(panel, curve, sources)
    panel.shade_ignored(0.5)
    axes.set_title(_title(zone, side), fontsize=9, color=INK, wrap=True)
    axes.set_yticks(
        [sum(_PREDICTED) / 2, sum(_TRUTH) / 2, 0, 0.5, 1],
        ["predictions", zone.name, "0", "0.5", "1"],
    )
    for tick in axes.yaxis.get_major_ticks()[:2]:
        tick.tick1line.set_visible(False)
    axes.spines["left"].set_bounds(0, 1)
    tidy(axes)


def _curve(zone: Zone, side: str, shown: tuple[float, float]) -> _Curve:
    """Take even steps, and every place where the function bends or jumps."""
    event, predicted = zone.event, zone.predicted
    edges = [event.starts, event.stops, predicted.starts, predicted.stops, np.array(shown)]
    edges.append((predicted.stops[:-1] + predicted.starts[1:]) / 2)
    edges.append(np.linspace(*shown, _STEPS))
    # At a seam, the line goes to what is ignored and starts again after it.
    edges += [zone.seams, np.nextafter(zone.seams, -np.inf)]
    places = np.unique(np.concatenate(edges))
    if side == "recall":
        return _Curve(places, zone.recall_at(places))
    # Beside the event the value jumps to that of the nearest miss, and bends where one side ends.
    start, stop = event.starts[0], event.stops[0]
    side_ends = min(start, zone.length - stop)
    places = np.union1d(places, [start - side_ends, stop + side_ends])
    beside = 1 - (stop - start) / zone.length
    before, after = np.searchsorted(places, [start, stop], side="left")
    jumps = [before, after + 1]
    values = np.insert(zone.precision_at(places), jumps, beside)
    return _Curve(np.insert(places, jumps, (start, stop)), values)


def _fill(panel: ZonePanel, curve: _Curve, sources: Spans, color: str) -> None:
    """Fill all pieces as one artist, with gaps between them; points get an upright line."""
    drawn = panel.positions(curve.places)
    gap = np.array([np.nan])
    bends, heights, points = [gap], [gap], []
    for start, stop in zip(sources.starts, sources.stops, strict=True):
        inside = curve.rows(start, stop)
        if start == stop:
            points.append(inside.start)
            continue
        bends += [drawn[inside], gap]
        heights += [curve.values[inside], gap]
    places, values = np.concatenate(bends), np.concatenate(heights)
    panel.axes.vlines(drawn[points], 0, curve.values[points], colors=color, linewidths=2, zorder=2)
    panel.axes.fill_between(places, values, color=color, alpha=0.35, linewidth=0)
    panel.axes.plot(places, values, color=color, linewidth=2, zorder=2.5)


def _write_means(panel: ZonePanel, curve: _Curve, sources: Spans) -> None:
    """Write the mean over each piece above it; the mean over a single one is in the title."""
    if not 1 < len(sources) <= _FEW or not sources.length:
        return
    pieces = zip(sources.starts, sources.stops, strict=True)
    means = [f"{curve.mean(*piece):.3f}" if piece[1] > piece[0] else "" for piece in pieces]
    borders = panel.between(sources.starts, sources.stops)
    anchors = panel.positions((sources.starts + sources.stops) / 2)
    style: dict[str, Any] = {"fontsize": 8, "color": INK}
    ZoneLabels(panel.axes, borders, anchors, _NOTE, [means], margin=6, **style)


def _title(zone: Zone, side: str) -> str:
    over = "the predictions" if side == "precision" else "the event"
    if not len(zone.predicted):
        return f"{side} {'undefined' if side == 'precision' else 0}: no prediction in the zone"
    value = float(zone.scores[0 if side == "precision" else 1])
    return f"{side} {_score(value)}: mean over {over}"


def _score(value: float) -> str:
    """Write three decimals, and 1.000 or 0.000 only for exactly that."""
    text = f"{value:.3f}"
    if text == "1.000" and value < 1:
        return ">0.999"
    return "<0.001" if text == "0.000" and value > 0 else text

"""The precision-recall and free-response curves over all thresholds, and what each one gives."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, PercentFormatter

from closecall.affiliation import AffiliationCurve
from closecall.affiliation.thresholds import MOST_ALARMED, OperatingPoint, frontier
from closecall.errors import InputTypeError
from closecall.fscore import f_measure
from closecall.parameters import require_choice
from closecall.plot.drawing import (
    CHOSEN,
    FAINT,
    INK,
    POINTS_PER_INCH,
    PRECISION,
    RECALL,
    read_panels,
)
from closecall.tables.scoring import outline_with, threshold_text
from closecall.wording import counted, rate_text, rate_unit, score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.plot.drawing import Floats

_SIZE, _FROC_SIZE = (10.0, 4.4), (5.6, 3.8)  # inches
_POINTS = 1000  # drawn; more cannot be told apart
_FEW = 40  # points up to which each gets a marker
_FONT = 8.5
_LEGEND = 3.2  # inches that the names of three lines take beside each other
_FULL = 1.02  # so that a line along 1 is not cut in half
_WIDE_AXES = 1.5
_LEVELS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9)
_STEEP = 2  # beta above which lines of equal F-beta crowd at recall 1
_HALO = [withStroke(linewidth=2.5, foreground="white")]
_TO_POINT = {"arrowstyle": "-", "color": CHOSEN, "linewidth": 0.8, "shrinkB": 4}
_ALARMS = "0.25"
_LOG_FROM = 50  # times more alarms at one threshold than at another
_CORNER_STEPS = 25
_CLEAR = 0.03  # of the axes, between a text and anything else
_WIDE, _HIGH = 0.56, 1.35  # of the font size, what a character and a line take
# Of the threshold axis:
_MARGIN = 0.08  # from the last finite threshold to an infinite one
_EDGE = 0.02  # where there is no infinite one
_CROWDED = 0.08  # of the range; half of the curve within so little of it cannot be seen
_EVEN_PART = 0.3  # of the stretched axis, so that no part of the range is lost from it
_ENDLESS = 1e300  # a stand-in for infinity, and nothing that can be drawn to scale
_TICKS = 6
_ENDS = 2


def plot_curve(
    curve: AffiliationCurve,
    *,
    kind: Literal["precision_recall", "froc"] = "precision_recall",
    beta: float = 1,
    point: OperatingPoint | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw precision against recall over all thresholds, with one threshold marked.

    The lines are steps, as the average precision sums them: at a recall between two points, the
    precision is that of the lower threshold. Curves with very many thresholds are drawn through
    about a thousand of their exact points.

    The free-response curve (``kind="froc"``) shows how many events are caught against the false
    alarms per unit of evaluated time. The thin line goes through the thresholds, and back where
    alarms join; the thick one is the most that any threshold catches with so many false alarms or
    fewer, exactly. Thresholds at which more than half of the time is in alarm are dotted and do not
    count for it, since one endless alarm catches everything.

    Parameters
    ----------
    curve
        What `closecall.affiliation_curve` returns.
    kind
        ``"precision_recall"``, or ``"froc"`` for the free-response curve.
    beta
        Which F-beta to draw: lines of equal F-beta, and F-beta at each threshold.
    point
        What to mark, as `AffiliationCurve.best` returns it; the best F-beta if not given.
    ax
        Where to draw one of the curves alone. If not given, a new figure shows the precision-recall
        curve beside two more panels over the thresholds: precision, recall and F-beta, and number
        of alarms.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes that was drawn on; the three of a new figure with three as an array.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.plot import plot_curve
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> axes = plot_curve(c, point=c.best(min_recall=0.99))
    >>> [panel.get_ylabel() for panel in axes]
    ['precision', 'score', 'alarms']
    >>> axes[0].figure.savefig("curve.png")  # doctest: +SKIP
    >>> plot_curve(c, kind="froc").get_xlabel()
    'false alarms per 10'
    """
    require_choice(kind, "kind", ("precision_recall", "froc"))
    given: tuple[Any, Any] = (curve, point)
    if not isinstance(given[0], AffiliationCurve):
        rule = "`curve` to be what `closecall.affiliation_curve` returns"
        hint = "For example `plot_curve(cc.affiliation_curve(truth, scores))`."
        raise InputTypeError(rule, type(curve).__name__, hint=hint)
    if not isinstance(given[1], OperatingPoint | None):
        rule = "`point` to be what `AffiliationCurve.best` returns"
        hint = "For example `point=curve.best(min_precision=0.9)`."
        raise InputTypeError(rule, f"{type(point).__name__}", hint=hint)
    best, beta = curve.best(beta), float(beta)
    marked = best if point is None else point
    if ax is not None:
        (ax,) = read_panels(ax, ["curve"])
    if kind == "froc":
        if ax is None:
            ax = plt.subplots(figsize=_FROC_SIZE, layout="constrained")[1]
        _draw_free_response(ax, curve, marked)
        return ax
    outline = outline_with(curve, _POINTS, marked)
    if ax is not None:
        _draw_precision_recall(ax, curve, outline, beta, marked)
        return ax
    figure = plt.figure(figsize=_SIZE, layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.25), height_ratios=(1.7, 1))
    left = figure.add_subplot(grid[:, 0])
    upper = figure.add_subplot(grid[0, 1])
    lower = figure.add_subplot(grid[1, 1], sharex=upper)
    _draw_precision_recall(left, curve, outline, beta, marked)
    _draw_by_threshold((upper, lower), curve, outline, beta, marked)
    return np.array([left, upper, lower])


def _draw_precision_recall(
    axes: Axes, curve: AffiliationCurve, rows: NDArray[np.int64], beta: float, point: OperatingPoint
) -> None:
    """Draw the steps of the curve over lines of equal F-beta, and mark the chosen point."""
    # The first step starts at recall 0, as in the average precision.
    recall = np.concatenate(([0.0], curve.recall[rows]))
    precision = np.concatenate((curve.precision[rows[:1]], curve.precision[rows]))
    summary = f"average precision {score_text(curve.average_precision)}"
    _draw_levels(axes, beta)
    axes.fill_between(recall, precision, step="pre", color=PRECISION, alpha=0.09, linewidth=0)
    style: dict[str, Any] = {"color": PRECISION, "linewidth": 1.6, "zorder": 3}
    axes.plot(recall, precision, drawstyle="steps-pre", label=summary, **style)
    if rows.size <= _FEW:
        axes.plot(recall[1:], precision[1:], "o", markersize=3.5, **style)
    axes.set(xlim=(0, _FULL), ylim=(0, _FULL), xlabel="recall", ylabel="precision")
    axes.set_aspect("equal", adjustable="box")
    if axes.bbox.width > _WIDE_AXES * axes.bbox.height:
        axes.apply_aspect()  # texts are placed by what it leaves
    _tidy(axes)
    line = _along_steps(recall, precision)
    drawn = np.vstack((line, _mark(axes, curve, beta, point, line)))
    # Under the curve, at the bottom if that is free.
    corner = free_corner(drawn, (0.5, 0.0), text_size(axes, summary, _FONT))
    axes.text(*corner, summary, fontsize=_FONT, color=PRECISION, path_effects=_HALO, zorder=4)


def _draw_levels(axes: Axes, beta: float) -> None:
    """Draw where F-beta is the same, each line named where it leaves the axes."""
    share = 1 / (1 + beta * beta)
    on_top = beta > _STEEP  # where lines with much weight on recall are far apart
    for level in _LEVELS:
        # F = P R / (share R + (1 - share) P), solved for the precision P at a recall R.
        least_precision = share * level / (1 - (1 - share) * level)
        least_recall = (1 - share) * level / (1 - share * level)
        recall = np.linspace(least_recall, 1, 200)[1:]
        precision = share * level * recall / (recall - (1 - share) * level)
        line = np.append(least_recall, recall), np.append(1.0, precision)
        axes.plot(*line, color="0.8", linewidth=0.7, zorder=1)
        _name_level(axes, f"{level:g}", least_recall if on_top else least_precision, on_top=on_top)
    _name_level(axes, f"F{beta:g}", 1.0, on_top=on_top)


def _name_level(axes: Axes, text: str, place: float, *, on_top: bool) -> None:
    style: dict[str, Any] = {"fontsize": 7, "color": "0.45", "annotation_clip": False}
    style |= {"textcoords": "offset points"}
    if on_top:
        axes.annotate(text, (place, _FULL), (0, 2), ha="center", va="bottom", **style)
    else:
        axes.annotate(text, (_FULL, place), (2, 0), ha="left", va="center", **style)


def _mark(
    axes: Axes, curve: AffiliationCurve, beta: float, point: OperatingPoint, line: NDArray[Any]
) -> Floats:
    """Mark and name the chosen point; return what the name takes of the axes."""
    at = (point.recall, point.precision)
    value = f_measure(point.precision, point.recall, beta)
    text = f"F{beta:g} {score_text(value)}\nthreshold {threshold_text(curve, point.threshold)}"
    size = text_size(axes, text, _FONT)
    corner = free_corner(np.vstack((line, at)), at, size)
    _draw_mark(axes, text, at, corner)
    return np.array(corner) + size * np.array(list(product(np.linspace(0, 1, 9), repeat=2)))


def _draw_mark(
    axes: Axes, text: str, at: tuple[float, float], corner: tuple[float, float], where: str = "data"
) -> None:
    """Draw the chosen point, and its name where there is room for it."""
    style: dict[str, Any] = {"markeredgecolor": "white", "markersize": 9, "clip_on": False}
    axes.plot(*at, "o", color=CHOSEN, zorder=5, **style)
    style = {"fontsize": _FONT, "color": INK, "path_effects": _HALO, "zorder": 4}
    axes.annotate(text, at, corner, textcoords=where, arrowprops=_TO_POINT, **style)


def _along_steps(recall: Floats, precision: Floats) -> Floats:
    """Return points all along the steps, so that nothing is written over them."""
    ways = np.linspace(0, 1, 20)
    across = recall[:-1, None] + ways * np.diff(recall)[:, None]
    down = precision[:-1, None] + ways * np.diff(precision)[:, None]
    level = np.broadcast_to(precision[1:, None], across.shape)
    before = np.broadcast_to(recall[:-1, None], down.shape)
    return np.column_stack((np.append(across, before), np.append(level, down)))


def _draw_free_response(axes: Axes, curve: AffiliationCurve, point: OperatingPoint) -> None:
    """Draw events caught against the rate of false alarms, and mark the chosen threshold."""
    scored, count = curve.scored, len(curve.scored.truth)
    dated = scored.clock.kind == "datetime"
    length = float(scored.stop - scored.start) * (scored.clock.seconds if dated else 1.0)
    # Days are for the whole curve, powers of ten for the point that is told.
    told = int(curve.false_alarms.max()) if dated else point.false_alarms
    unit, size = rate_unit(max(told, 1), length, dated=dated)
    rates: Floats = curve.false_alarms * np.float64(size / length)
    usable = curve.alarmed <= MOST_ALARMED
    front = frontier(curve.false_alarms, curve.caught, usable)
    rows = np.union1d(_spread_along(rates, curve.caught), front)
    last = int(np.count_nonzero(usable[rows]))  # the time in alarm rises as the threshold falls
    endless = slice(max(last - 1, 0), None)
    most, least = float(rates.max()), size / length
    if most > _LOG_FROM * least:
        axes.set_xscale("symlog", linthresh=least, linscale=0.5)
        axes.xaxis.set_major_locator(_OneIn(least, most))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
    right = most * (1.15 if most > _LOG_FROM * least else 1.04) or least
    axes.set(xlim=(0, right), ylim=(0, 1.06 * count))
    axes.set(xlabel=f"false alarms {unit}", ylabel=f"events caught, of {count}")
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    style: dict[str, Any] = {"color": FAINT, "linewidth": 0.8, "alpha": 0.7, "zorder": 2}
    path = rates[rows], curve.caught[rows]
    steps: dict[str, Any] = {"drawstyle": "steps-post", "color": PRECISION, "linewidth": 1.8}
    # Above all scores nothing is caught, at no price.
    caught = np.concatenate(([0], curve.caught[front]))
    ends = np.concatenate(([0.0], rates[front], [right])), np.append(caught, caught[-1])
    axes.plot(*ends, label="most caught", zorder=3, clip_on=False, **steps)
    axes.plot(path[0][:last], path[1][:last], label="any threshold", **style)
    if last < rows.size:
        style["linestyle"] = (0, (1, 1.5))
        axes.plot(path[0][endless], path[1][endless], label="over half in alarm", **style)
    ways: Any = (lambda y: y / count, lambda y: y * count)
    shares = axes.secondary_yaxis("right", functions=ways)
    shares.yaxis.set_major_formatter(PercentFormatter(1))
    shares.tick_params(labelsize=8.5)
    shares.spines["right"].set_visible(False)
    _tidy(axes)
    rate = rate_text(point.false_alarms, "false alarm", length, dated=dated)
    text = f"{point.caught} of {count} caught\n{rate}"
    text += f"\nthreshold {threshold_text(curve, point.threshold)}"
    at = point.false_alarms * size / length, point.caught
    drawn = np.column_stack(
        (np.concatenate((path[0], ends[0])), np.concatenate((path[1], ends[1])))
    )
    _mark_free_response(axes, text, at, drawn)
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.02, 0.99)}
    columns = 3 if axes.bbox.width / axes.figure.dpi > _LEGEND else 2
    axes.legend(
        ncols=columns, frameon=False, fontsize=7.5, handlelength=1.6, columnspacing=1, **above
    )


def _spread_along(rates: Floats, caught: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose thresholds evenly along the path that they make, with its ends and turns."""
    if rates.size <= _POINTS:
        return np.arange(rates.size)
    steps = np.hypot(np.diff(rates) / (rates.max() or 1.0), np.diff(caught) / caught.max())
    way = np.concatenate(([0.0], np.cumsum(steps)))
    even = np.searchsorted(way, np.linspace(0, way[-1], _POINTS)).clip(0, rates.size - 1)
    return np.union1d(even, [0, int(rates.argmax()), rates.size - 1])


class _OneIn(FixedLocator):
    """Ticks at 0 and at powers of ten from about the least rate to the most, few enough to read."""

    def __init__(self, least: float, most: float) -> None:
        powers = np.arange(np.ceil(np.log10(least)), np.floor(np.log10(most)) + 1)
        super().__init__([0.0, *(10.0 ** powers[:: -(-powers.size // _TICKS)])])


def _mark_free_response(axes: Axes, text: str, at: tuple[float, float], drawn: Floats) -> None:
    """Mark and name the chosen point, clear of what is drawn."""
    to_axes = axes.transData + axes.transAxes.inverted()
    places = to_axes.transform(np.vstack((drawn, at)))
    between = np.linspace(0, 1, 8)[:, None, None]
    along = (places[:-1] + between * np.diff(places, axis=0)).reshape(-1, 2)
    corner = free_corner(along, tuple(places[-1]), text_size(axes, text, _FONT))
    _draw_mark(axes, text, at, corner, "axes fraction")


def _draw_by_threshold(
    panels: tuple[Axes, Axes],
    curve: AffiliationCurve,
    outline: NDArray[np.int64],
    beta: float,
    point: OperatingPoint,
) -> None:
    """Draw precision, recall and F-beta, and below them the alarms, at each threshold."""
    upper, lower = panels
    scale = ThresholdScale.of(curve.thresholds[curve.outline()])
    rows = np.union1d(outline, scale.spread(curve.thresholds))
    places = scale.places(curve.thresholds[rows])
    _draw_scores(upper, places, curve.precision[rows], curve.recall[rows], beta)
    alarms = curve.alarms[rows]
    style: dict[str, Any] = {"color": _ALARMS, "linewidth": 1.3, **_dots(places)}
    lower.plot(places, alarms, drawstyle="steps-post", **style)
    if alarms.max() > _LOG_FROM * alarms.min():
        lower.set_yscale("log")
    else:
        lower.set_ylim(0, alarms.max() * 1.1)
        lower.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    lower.set(xlabel="threshold", ylabel="alarms")
    threshold = threshold_text(curve, point.threshold)
    title = f"{counted(point.alarms, 'alarm')} at threshold {threshold}"
    lower.set_title(title, loc="left", fontsize=_FONT, color=CHOSEN)
    place = scale.places(np.array([point.threshold]))[0]
    for axes in panels:
        axes.axvline(place, color=CHOSEN, linewidth=1.1, linestyle=(0, (5, 2)), zorder=1.5)
        _tidy(axes)
    scale.prepare(lower)


def _draw_scores(
    axes: Axes, places: Floats, precision: Floats, recall: Floats, beta: float
) -> None:
    f_values = f_measure(precision, recall, beta)
    lines: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("precision", precision, {"color": PRECISION, "linewidth": 1.3}),
        ("recall", recall, {"color": RECALL, "linewidth": 1.3, "linestyle": (0, (4, 1.2))}),
        (f"F{beta:g}", f_values, {"color": "black", "linewidth": 2.0}),
    )
    for name, values, style in lines:
        # A threshold between two scores predicts what the higher one does.
        axes.plot(places, values, drawstyle="steps-post", label=name, **style, **_dots(places))
    axes.set(ylim=(0, _FULL), ylabel="score")
    axes.tick_params(labelbottom=False)
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 0.98)}
    axes.legend(ncols=3, frameon=False, fontsize=_FONT, **above)


def _dots(places: Floats) -> dict[str, Any]:
    return {"marker": "o", "markersize": 3.5} if places.size <= _FEW else {}


def _tidy(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8.5)
    axes.xaxis.label.set_fontsize(9.5)
    axes.yaxis.label.set_fontsize(9.5)


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdScale:
    """Finite thresholds where they are, on a stretched axis if they crowd; infinite ones beyond."""

    knots: Floats
    """Finite thresholds along the curve, ascending; 0 if there are none."""
    heights: Floats
    """How far along the axis each lies, from 0 to 1."""
    crowded: bool
    endless: Floats
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
        even = self._backward(np.linspace(0, 1, _POINTS))
        last = thresholds.size - 1
        by_value = last - np.searchsorted(thresholds[::-1], even).clip(0, last)
        by_rank = np.linspace(0, last, _POINTS).astype(np.int64)
        return np.union1d(by_value, by_rank)

    def places(self, thresholds: NDArray[Any]) -> Floats:
        """Return the drawn position of each threshold."""
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

    def _forward(self, thresholds: Any) -> Floats:
        values = np.asarray(thresholds, dtype=np.float64)
        inside = np.interp(values, self.knots, self.heights)
        outside = values - np.clip(values, self.knots[0], self.knots[-1])
        return inside + outside / self._size

    def _backward(self, heights: Any) -> Floats:
        values = np.asarray(heights, dtype=np.float64)
        inside = np.interp(values, self.heights, self.knots)
        return inside + (values - np.clip(values, 0, 1)) * self._size


def text_size(axes: Axes, text: str, font_size: float) -> tuple[float, float]:
    """Return about what share of the axes' width and height a text takes."""
    lines = text.split("\n")
    size = axes.figure.dpi_scale_trans.inverted().transform_bbox(axes.bbox)
    width = _WIDE * font_size * max(map(len, lines)) / POINTS_PER_INCH / size.width
    height = _HIGH * font_size * len(lines) / POINTS_PER_INCH / size.height
    return min(width, 0.9), min(height, 0.9)


def free_corner(
    drawn: Floats, near: tuple[float, float], size: tuple[float, float]
) -> tuple[float, float]:
    """Return the lower left corner of a place in the unit square: clear first, then near."""
    width, height = size
    left = np.linspace(_CLEAR, 1 - _CLEAR - width, _CORNER_STEPS)
    bottom = np.linspace(_CLEAR, 1 - _CLEAR - height, _CORNER_STEPS)
    beside = np.abs(drawn[:, 0] - (left[:, None] + width / 2)) > width / 2 + _CLEAR
    above = np.abs(drawn[:, 1] - (bottom[:, None] + height / 2)) > height / 2 + _CLEAR
    # A product of ones and zeros counts what is drawn in each place.
    crossings = (~above).astype(np.float64) @ (~beside).astype(np.float64).T
    spots = np.column_stack([grid.ravel() for grid in np.meshgrid(left, bottom)])
    away = np.hypot(*(spots + np.array(size) / 2 - near).T)
    best = int(np.lexsort((away, crossings.ravel()))[0])
    return float(spots[best, 0]), float(spots[best, 1])

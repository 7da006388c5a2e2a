"""The panels of `plot_curve`: precision against recall, and both against the threshold."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from closecall.fscore import f_measure
from closecall.plot.free_corner import free_corner, text_size
from closecall.plot.palette import CHOSEN, INK, PRECISION, RECALL
from closecall.plot.threshold_scale import ThresholdScale
from closecall.tables.scoring import threshold_text
from closecall.wording import score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.affiliation import AffiliationCurve
    from closecall.affiliation.thresholds import OperatingPoint

_ALARMS = "0.25"
_FEW = 40  # points up to which each gets a marker
_LEVELS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9)
_FULL = 1.02  # so that a line along 1 is not cut in half
_FONT = 8.5
_HALO = [withStroke(linewidth=2.5, foreground="white")]
_STEEP = 2  # beta above which lines of equal F-beta crowd at recall 1
_LOG_FROM = 50  # times more alarms at one threshold than at another


def draw_precision_recall(
    axes: Axes,
    curve: AffiliationCurve,
    rows: NDArray[np.int64],
    beta: float,
    point: OperatingPoint,
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
    _tidy(axes)
    line = _along_steps(recall, precision)
    corner = _mark(axes, curve, beta, point, line)
    _write_summary(axes, summary, np.vstack((line, corner)))


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
        axes.plot(
            np.append(least_recall, recall),
            np.append(1.0, precision),
            color="0.8",
            linewidth=0.7,
            zorder=1,
        )
        _name_level(axes, f"{level:g}", least_recall if on_top else least_precision, on_top=on_top)
    _name_level(axes, f"F{beta:g}", 1.0, on_top=on_top)


def _name_level(axes: Axes, text: str, place: float, *, on_top: bool) -> None:
    axes.annotate(
        text,
        (place, _FULL) if on_top else (_FULL, place),
        (0, 2) if on_top else (2, 0),
        textcoords="offset points",
        ha="center" if on_top else "left",
        va="bottom" if on_top else "center",
        fontsize=7,
        color="0.45",
        annotation_clip=False,
    )


def _mark(
    axes: Axes, curve: AffiliationCurve, beta: float, point: OperatingPoint, line: NDArray[Any]
) -> NDArray[np.float64]:
    """Mark and name the chosen point; return what the name takes of the axes."""
    at = (point.recall, point.precision)
    style: dict[str, Any] = {"markeredgecolor": "white", "markersize": 9, "clip_on": False}
    axes.plot([at[0]], [at[1]], "o", color=CHOSEN, zorder=5, **style)
    value = f_measure(point.precision, point.recall, beta)
    text = f"F{beta:g} {score_text(value)}\nthreshold {threshold_text(curve, point.threshold)}"
    size = text_size(axes, text, _FONT)
    corner = np.array(free_corner(np.vstack((line, at)), at, size))
    axes.annotate(
        text,
        at,
        tuple(corner),
        fontsize=_FONT,
        color=INK,
        arrowprops={"arrowstyle": "-", "color": CHOSEN, "linewidth": 0.8, "shrinkB": 4},
        path_effects=_HALO,
        zorder=4,
    )
    return corner + size * np.array(list(product(np.linspace(0, 1, 9), repeat=2)))


def _write_summary(axes: Axes, summary: str, drawn: NDArray[np.float64]) -> None:
    """Write the average precision under the curve, at the bottom if that is free."""
    corner = free_corner(drawn, (0.5, 0.0), text_size(axes, summary, _FONT))
    axes.text(*corner, summary, fontsize=_FONT, color=PRECISION, path_effects=_HALO, zorder=4)


def _along_steps(
    recall: NDArray[np.float64], precision: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give points all along the steps, so that nothing is written over them."""
    ways = np.linspace(0, 1, 20)
    across = recall[:-1, None] + ways * np.diff(recall)[:, None]
    down = precision[:-1, None] + ways * np.diff(precision)[:, None]
    level = np.broadcast_to(precision[1:, None], across.shape)
    before = np.broadcast_to(recall[:-1, None], down.shape)
    return np.column_stack((np.append(across, before), np.append(level, down)))


def draw_by_threshold(
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
    _draw_alarms(lower, places, curve.alarms[rows])
    count = f"{point.alarms} alarm{'' if point.alarms == 1 else 's'}"
    title = f"{count} at threshold {threshold_text(curve, point.threshold)}"
    lower.set_title(title, loc="left", fontsize=_FONT, color=CHOSEN)
    place = scale.places(np.array([point.threshold]))[0]
    for axes in panels:
        axes.axvline(place, color=CHOSEN, linewidth=1.1, linestyle=(0, (5, 2)), zorder=1.5)
        _tidy(axes)
    scale.prepare(lower)


def _draw_scores(
    axes: Axes,
    places: NDArray[np.float64],
    precision: NDArray[np.float64],
    recall: NDArray[np.float64],
    beta: float,
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


def _draw_alarms(axes: Axes, places: NDArray[np.float64], alarms: NDArray[np.int64]) -> None:
    style: dict[str, Any] = {"color": _ALARMS, "linewidth": 1.3, **_dots(places)}
    axes.plot(places, alarms, drawstyle="steps-post", **style)
    if alarms.max() > _LOG_FROM * alarms.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, alarms.max() * 1.1)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.set(xlabel="threshold", ylabel="alarms")


def _dots(places: NDArray[np.float64]) -> dict[str, Any]:
    return {"marker": "o", "markersize": 3.5} if places.size <= _FEW else {}


def _tidy(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8.5)
    axes.xaxis.label.set_fontsize(9.5)
    axes.yaxis.label.set_fontsize(9.5)

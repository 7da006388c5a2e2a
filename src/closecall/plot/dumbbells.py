"""One panel of `plot_comparison`: a row per event, a marker per detector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from closecall.plot.palette import FAINT, INK, MARKERS, PREDICTED
from closecall.plot.panels import tidy
from closecall.plot.plain_text import plain, plain_key
from closecall.plot.thinned_names import write_names
from closecall.wording import score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation

_MISSED = -0.18  # where events are drawn that have no score
_LEFT, _RIGHT = -0.26, 1.03
_TITLES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_GAP = 0.5, 0.02  # rows between the events and the whole series: at least, and for each event
_PAIR = 2
_MANY = 80  # rows from which on markers are small
_FONT, _ROW_FONT = 8.5, 8.0


def draw_dumbbells(axes: Axes, results: dict[str, Affiliation], score: str) -> None:
    """Draw one score of every detector, for each event and for the whole series."""
    values = np.array([_values(result, score) for result in results.values()])
    count = values.shape[1] - 1
    heights = _heights(count)
    places = np.where(np.isnan(values), _MISSED, values)
    _shade(axes, heights)
    axes.axvline(0.5, color="0.75", linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    _join(axes, values, places, heights)
    # Of many detectors some coincide, so each keeps to its own part of the row.
    aside = np.linspace(-0.26, 0.26, len(results)) if len(results) > _PAIR else [0, 0]
    # The first detector is on top, where its marker does not hide the others wholly.
    for number in range(len(results)):
        style = _marker(number, count, len(results))
        _mark(axes, values[number], heights + aside[number], style)
    axes.set(xlim=(_LEFT, _RIGHT), ylim=(heights[-1] + max(0.6, count / 100), -0.6))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    labels = ["0", "", "0.5", "", "1"]
    missed = bool(np.isnan(values).any())
    axes.set_xticks(
        [_MISSED, *ticks] if missed else ticks, ["missed", *labels] if missed else labels
    )
    axes.set_title(_TITLES[score], fontsize=9.5, color=INK)
    axes.spines["bottom"].set_bounds(0, 1)
    tidy(axes, "left")


def _mark(
    axes: Axes, values: NDArray[np.float64], heights: NDArray[np.float64], style: dict[str, Any]
) -> None:
    """Draw the markers of one detector, hollow where it missed the event."""
    missed = np.isnan(values)
    axes.plot(values[~missed], heights[~missed], **style)
    if missed.any():
        hollow = {"markerfacecolor": "white", "markeredgecolor": style["color"]}
        axes.plot(np.full(missed.sum(), _MISSED), heights[missed], **{**style, **hollow})


def _heights(count: int) -> NDArray[np.float64]:
    return np.append(np.arange(count), count + max(_GAP[0], _GAP[1] * count))


def _join(
    axes: Axes,
    values: NDArray[np.float64],
    places: NDArray[np.float64],
    heights: NDArray[np.float64],
) -> None:
    """Draw lines between the detectors, dotted to those that missed the event."""
    colors = _line_colors(places)
    wide = 1.6 if heights.size <= _MANY else 0.8
    style: dict[str, Any] = {"colors": colors, "alpha": 0.6, "zorder": 2}
    least = np.where(np.isnan(values), np.inf, values).min(axis=0)
    most = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    found = np.isfinite(least)
    least, most = np.where(found, least, _MISSED), np.where(found, most, _MISSED)
    axes.hlines(heights, least, most, linewidths=wide, **style)
    dots: Any = (0, (1, 2.5))
    axes.hlines(heights, places.min(axis=0), least, linewidths=0.6 * wide, linestyles=dots, **style)


def _values(result: Affiliation, score: str) -> NDArray[np.float64]:
    own: NDArray[np.float64] = getattr(result.events, score)
    if score == "recall":
        # An event without any prediction is missed, and not merely at 0.
        own = np.where(result.events.predicted_count == 0, np.nan, own)
    return np.append(own, getattr(result, score))


def _shade(axes: Axes, heights: NDArray[np.float64]) -> None:
    """Shade every second row, for the eye to follow, and set the last one apart."""
    for height in heights[:-1:2]:
        axes.axhspan(height - 0.5, height + 0.5, color="0.96", linewidth=0, zorder=0)
    axes.axhline((heights[-2] + heights[-1]) / 2, color=FAINT, linewidth=0.8, zorder=1)


def _line_colors(places: NDArray[np.float64]) -> Any:
    if len(places) != _PAIR:
        return "0.6"
    better = np.where(places[0] >= places[1], 0, 1)
    return [PREDICTED[number] for number in better]


def _marker(number: int, rows: int, detectors: int) -> dict[str, Any]:
    return {
        "linestyle": "",
        "marker": MARKERS[number % len(MARKERS)],
        "color": PREDICTED[number % len(PREDICTED)],
        "markersize": _size(rows, detectors),
        "markeredgewidth": 0.9,
        "zorder": 3 + (detectors - number) / (detectors + 1),
        "clip_on": False,
    }


def _size(rows: int, detectors: int) -> float:
    if rows >= _MANY:
        return 3.0
    return 5.5 if detectors <= _PAIR else 4.5


def name_rows(axes: Axes, result: Affiliation) -> None:
    """Write the number of each event, and its start where times are dates; thinned if crowded."""
    events = result.events
    clock, starts = events.pair.clock, events.pair.truth.starts.tolist()
    names = [str(number) for number in range(1, len(starts) + 1)]
    if clock.kind == "datetime":
        stamps = [clock.text(start)[:16] for start in starts]
        names = [f"{stamp}   {name}" for stamp, name in zip(stamps, names, strict=True)]
    heights = _heights(len(names)).tolist()
    write_names(axes, "y", heights, [*names, "all"], size=_ROW_FONT, keep_last=True)


def draw_legend(panels: list[Axes], results: dict[str, Affiliation], *, own_figure: bool) -> None:
    """Name the detectors with their F1, above the panels."""
    handles = [
        Line2D(
            [], [], label=f"{plain_key(plain(name))}  (F1 {score_text(result.f1)})", **_key(number)
        )
        for number, (name, result) in enumerate(results.items())
    ]
    style: dict[str, Any] = {"handles": handles, "frameon": False, "fontsize": _FONT}
    if own_figure:
        columns = max(1, min(len(handles), len(panels) + 1))
        panels[0].figure.legend(loc="outside upper center", ncols=columns, **style)
    else:
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=2.4, **style)


def _key(number: int) -> dict[str, Any]:
    style = _marker(number, 0, 1)
    return {name: style[name] for name in ("linestyle", "marker", "color", "markersize")}

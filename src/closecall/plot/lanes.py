"""What is drawn in the lanes: bars for events, zones, scores, and the series above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.ticker import MaxNLocator

from closecall.plot.length_text import length_text
from closecall.plot.palette import INK
from closecall.plot.plain_text import plain
from closecall.plot.zone_labels import ZoneLabels
from closecall.wording import score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation, EventScores

SERIES = "#5A5A5A"
SERIES_LANES = 2.4  # height of the series, in lanes
_SERIES_BOTTOM = 1.15
_BAR = {"truth": (0.12, 0.52), "predicted": (0.46, 0.86)}
_EDGE, _POINT_EDGE = 0.5, 1.5  # points; a bar is never thinner, so no event is lost from sight
_MISSED = "missed"
_LONG_SERIES = 20_000  # samples from which on a line is stored as pixels in vector files


def draw_bars(
    axes: Axes, starts: NDArray[np.float64], stops: NDArray[np.float64], lane: int, color: str
) -> None:
    """Draw the events of one lane as a single artist; the truth is lane 0, on top."""
    low, high = (edge - lane for edge in _BAR["predicted" if lane else "truth"])
    widths = np.where(starts == stops, _POINT_EDGE, _EDGE)
    axes.add_collection(
        PolyCollection(
            _rectangles(starts, stops, low, high),
            facecolors=color,
            edgecolors=color,
            linewidths=widths,
            zorder=3,
        ),
        autolim=False,
    )


def draw_shadows(
    axes: Axes, starts: NDArray[np.float64], stops: NDArray[np.float64], low: float, high: float
) -> None:
    """Shade the true events through all lanes, so that predictions can be held against them."""
    shadows = _rectangles(starts, stops, low, high)
    axes.add_collection(
        PolyCollection(shadows, facecolors="0.88", edgecolors="0.88", linewidths=0.3, zorder=0.5),
        autolim=False,
    )


def _rectangles(
    starts: NDArray[np.float64], stops: NDArray[np.float64], low: float, high: float
) -> Any:
    corners = np.empty((starts.size, 4, 2))
    corners[:, :2, 0], corners[:, 2:, 0] = starts[:, None], stops[:, None]
    corners[:, :, 1] = (low, high, high, low)
    return corners


def draw_zones(axes: Axes, borders: NDArray[np.float64], low: float, high: float) -> None:
    """Draw the inner borders of the zones of affiliation; the outer ones are the span's ends."""
    axes.vlines(
        borders[1:-1], low, high, colors="0.45", linestyles=(0, (4, 3)), linewidths=0.7, zorder=1
    )


def write_numbers(axes: Axes, borders: NDArray[np.float64], anchors: NDArray[np.float64]) -> None:
    """Write the number of each true event above its bar."""
    numbers = [str(number) for number in range(1, borders.size)]
    ZoneLabels(axes, borders, anchors, 0.76, [numbers], fontsize=7.5, color=INK)


def write_events(
    axes: Axes,
    borders: NDArray[np.float64],
    anchors: NDArray[np.float64],
    lane: int,
    *,
    events: EventScores,
    write: str,
) -> ZoneLabels:
    """Write two scores or distances for each event under its predictions, or that it was missed."""
    texts = _score_texts(events) if write == "scores" else _distance_texts(events)
    beside = [_MISSED if pair is None else " / ".join(pair) for pair in texts]
    stacked = [_MISSED if pair is None else _short("\n".join(pair)) for pair in texts]
    style: dict[str, Any] = {"fontsize": 7, "color": INK}
    return ZoneLabels(axes, borders, anchors, 0.22 - lane, [beside, stacked], **style)


def _short(text: str) -> str:
    return text.replace(">0.", ">.").replace("<0.", "<.")


def _score_texts(events: EventScores) -> list[tuple[str, str] | None]:
    rows = zip(events.precision, events.recall, events.predicted_count, strict=True)
    return [
        (score_text(precision), score_text(recall)) if count else None
        for precision, recall, count in rows
    ]


def _distance_texts(events: EventScores) -> list[tuple[str, str] | None]:
    clock = events.pair.clock
    return [
        (length_text(row[2], clock), length_text(row[3], clock)) if count else None
        for row, count in zip(events.table.tolist(), events.predicted_count, strict=True)
    ]


def name_lanes(axes: Axes, results: dict[str, Affiliation]) -> None:
    """Name each lane on the left, with its overall precision and recall."""
    named = [
        f"{plain(name)}\n{score_text(result.precision)} / {score_text(result.recall)}"
        for name, result in results.items()
    ]
    centres = [sum(_BAR["truth"]) / 2, *(0.46 - lane for lane in range(1, len(named) + 1))]
    axes.set_yticks(centres, ["truth", *named], fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8.5)
    axes.xaxis.get_offset_text().set_fontsize(8.5)


def draw_series(axes: Axes, positions: NDArray[np.float64], values: NDArray[Any]) -> None:
    """Draw the series above the lanes, on a scale of its own with its ticks on the left."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    middle, reach = (low + high) / 2, (high - low) or 1.0

    def scaled(value: Any) -> Any:
        return _SERIES_BOTTOM + SERIES_LANES * ((value - middle) / reach + 0.5)

    axes.plot(
        positions,
        scaled(values),
        color=SERIES,
        linewidth=0.7,
        rasterized=values.size > _LONG_SERIES,
        zorder=2,
    )
    low, high = middle - reach / 2, middle + reach / 2
    ticks = [tick for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high]
    names = [label.get_text() for label in axes.get_yticklabels()]
    lanes = list(axes.get_yticks())
    axes.set_yticks([*lanes, *map(scaled, ticks)], [*names, *(f"{tick:g}" for tick in ticks)])

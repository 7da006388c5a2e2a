"""The paper's figures, drawn again: those of examples and theory, and those that need its data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall import Events, affiliation, theory
from closecall.metrics import classical
from closecall.plot import plot_distances, plot_events, plot_single_prediction, plot_survival
from closecall.plot.drawing import save_figure
from closecall.wording import score_text
from evidence.paper.published import ALGORITHMS
from evidence.paper.reproduce import PREDICTED, SPAN, TRUTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    from matplotlib.figure import Figure

    from closecall import Affiliation
    from closecall.datasets import LabelledSeries

_WIDTH = 9.0  # inches

# Figure 1 is drawn and not printed as numbers: these give the scores of its caption.
LIMITS_SPAN = (0, 50)
LIMITS_TRUTH = ((5, 25), (33, 34), (43, 44))
LIMITS_PREDICTED = {
    "prediction 1": ((14, 16), (34, 35), (42, 43)),
    "prediction 2": ((5, 25),),
}
_ZOOM = (2060, 2090)  # samples of NYC-Taxi around its trivial event
_ABOVE_LANES = 1.1  # in lanes from the truth: where the series begins
_FIRST_EVENTS = 6
_EXAMPLE_ZONE, _EXAMPLE_EVENT, _EXAMPLE_PREDICTED = (30, 120), (50, 70), 60
_EARLY_ALARM, _LATE_TRUTH = 40, 70  # minutes after 3:00 that the text works out


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One figure of the paper, and how it is drawn."""

    name: str
    source: str
    draw: Callable[[Mapping[str, LabelledSeries]], Figure]
    needs_data: bool = False


def draw_figures(
    folder: str | PathLike[str],
    data: Mapping[str, LabelledSeries] | None = None,
    *,
    figure_format: str = "png",
) -> Iterator[Path]:
    """Draw the paper's figures into a folder, and yield each file once it is written.

    The `data` are those of `closecall.datasets.load_kdd2022`; without them, the figures of
    `FIGURES` that need them are left out.

    >>> from tempfile import mkdtemp
    >>> paths = list(draw_figures(mkdtemp(), figure_format="svg"))
    >>> [path.name for path in paths][:2]
    ['classical-limitations.svg', 'average-distance.svg']
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for figure in FIGURES:
        if data is not None or not figure.needs_data:
            path = place / f"{figure.name}.{figure_format}"
            save_figure(figure.draw(data or {}), path)
            yield path


def _limitations(_: Mapping[str, LabelledSeries]) -> Figure:
    truth = Events(LIMITS_TRUTH)
    predicted = {name: Events(intervals) for name, intervals in LIMITS_PREDICTED.items()}
    axes = plot_events(truth, predicted, span=LIMITS_SPAN)
    names = ["truth"]
    for name, events in predicted.items():
        lines = [name]
        for metric in (classical, affiliation):
            result = metric(truth, events, span=LIMITS_SPAN)
            scores = f"{score_text(result.precision)} / {score_text(result.recall)}"
            lines.append(f"{metric.__name__} {scores}")
        names.append("\n".join(lines))
    axes.set_yticks(axes.get_yticks(), names)
    return _sized(axes, 2.4)


def _average_distance(_: Mapping[str, LabelledSeries]) -> Figure:
    return _sized(plot_distances(_running_example(), event=0)[0], 2.2)


def _zones(_: Mapping[str, LabelledSeries]) -> Figure:
    span = _at(SPAN[0]), _at(SPAN[1])
    axes = plot_events(_on_clock(TRUTH), _on_clock(PREDICTED), span=span, write="distances")
    return _sized(axes, 1.9)


def _random_sampling(_: Mapping[str, LabelledSeries]) -> Figure:
    panels = plot_survival(_running_example(), event=1)
    early, missed = _EXAMPLE_EVENT[0] - _EARLY_ALARM, _LATE_TRUTH - _EXAMPLE_PREDICTED
    alarm = theory.precision_survival(_EXAMPLE_EVENT, _EXAMPLE_ZONE)(early)
    _point_at(panels[0], _EARLY_ALARM, alarm)
    _point_at(panels[1], _LATE_TRUTH, theory.recall_survival(_LATE_TRUTH, _EXAMPLE_ZONE)(missed))
    return _sized(panels[0], 2.8)


def _point_at(axes: Any, minute: int, value: float) -> None:
    """Mark what one minute counts, beside the curve that gives it."""
    place = _at(minute)
    arrow = {"arrowstyle": "-|>", "color": "0.45", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (place, value), (place, 0), arrowprops=arrow, zorder=4)
    inside = minute == _EARLY_ALARM
    away, side = ((-4, 3), "right") if inside else ((5, 3), "left")
    style = {"textcoords": "offset points", "fontsize": 8, "color": "0.3"}
    axes.annotate(f"{value:.3f}", (place, value), away, ha=side, **style)


def _adversary(data: Mapping[str, LabelledSeries]) -> Figure:
    from matplotlib import pyplot as plt

    taxi = data["nyctaxi"]
    labels = taxi.predicted
    predicted = {"trivial event": labels["trivial"], "adversary": labels["adversary"]}
    figure, panels = plt.subplots(2, figsize=(_WIDTH, 6.4), layout="constrained")
    # Near the trivial event the values are so low that they get a scale of their own.
    near = np.zeros(taxi.truth.size, dtype=bool)
    near[slice(*_ZOOM)] = True
    values = taxi.values
    closer = None if values is None else np.where(near, values, np.nan)
    for axes, shown in zip(panels, (values, closer), strict=True):
        plot_events(taxi.truth, predicted, values=shown, ax=axes)
    panels[1].set_xlim(*_ZOOM)
    panels[1].set_title(f"t from {_ZOOM[0]} to {_ZOOM[1]}", fontsize=9, loc="left")
    if values is not None:
        top = panels[0].get_ylim()[1]
        panels[0].vlines(_ZOOM, _ABOVE_LANES, top, colors="black", linewidths=0.9, zorder=3)
    return figure


def _per_event(data: Mapping[str, LabelledSeries]) -> Figure:
    swat = data["swat"]
    predicted = {ALGORITHMS[name]: swat.predicted[name] for name in ("iforest", "seq2seq")}
    axes = plot_events(swat.truth, predicted)
    zones = affiliation(swat.truth, swat.predicted["iforest"]).events.zone_stop
    axes.set_xlim(0, zones[min(_FIRST_EVENTS, zones.size) - 1])
    return _sized(axes, 2.4)


def _single_prediction(_: Mapping[str, LabelledSeries]) -> Figure:
    return _sized(plot_single_prediction()[0], 3.1)


def _sized(axes: Any, height: float) -> Figure:
    figure: Figure = axes.figure
    figure.set_size_inches(_WIDTH, height)
    return figure


def _running_example() -> Affiliation:
    span = _at(SPAN[0]), _at(SPAN[1])
    return affiliation(_on_clock(TRUTH), _on_clock(PREDICTED), span=span)


def _on_clock(intervals: tuple[tuple[int, int], ...]) -> Events:
    return Events([(_at(start), _at(stop)) for start, stop in intervals])


def _at(minute: int) -> datetime:
    return datetime(2022, 8, 14, 3) + timedelta(minutes=minute)  # noqa: DTZ001 - the paper has none


FIGURES = (
    PaperFigure("classical-limitations", "figure 1", _limitations),
    PaperFigure("average-distance", "figure 2a", _average_distance),
    PaperFigure("zones", "figure 2b", _zones),
    PaperFigure("random-sampling", "figure 2c", _random_sampling),
    PaperFigure("adversary", "figure 3", _adversary, needs_data=True),
    PaperFigure("per-event", "the figure of table 6", _per_event, needs_data=True),
    PaperFigure("single-prediction", "figure 4", _single_prediction),
)

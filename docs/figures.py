"""Draw the figures of the documents: `python docs/figures.py` writes them to docs/images/."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

import closecall as cc
from closecall.datasets import demo
from closecall.plot import plot_curve, plot_events

TRUTH, RED, BLUE, GREEN = "black", "#D55E00", "#0072B2", "#009E73"

# The example that the paper works through, in minutes after 3:00.
TRUE_EVENTS = [(0, 10), (50, 70), (170, 175)]
PREDICTED = [(5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170)]
SPAN = (0, 180)
ZONE, EVENT, PIECES = (30, 120), (50, 70), [(40, 60), (115, 120)]  # its second zone


def at(minute: float) -> datetime:
    return datetime(2022, 8, 14, 3) + timedelta(minutes=minute)  # noqa: DTZ001 - the paper has none


def on_clock(intervals: list[tuple[int, int]]) -> cc.Events:
    return cc.Events([(at(start), at(stop)) for start, stop in intervals])


def draw_demo() -> Any:
    """Two detectors on the data of `closecall demo`, with the series."""
    data = demo()
    ax = plot_events(data.truth, data.predicted, times=data.times, values=data.values)
    return ax.figure


def draw_curve() -> Any:
    """Every threshold of one detector on the data of `closecall demo`."""
    data = demo()
    curve = cc.affiliation_curve(data.truth, data.scores["threshold"], times=data.times)
    return plot_curve(curve)[0].figure


def draw_zones() -> Any:
    """The zones of the running example."""
    ax = plot_events(on_clock(TRUE_EVENTS), on_clock(PREDICTED), span=(at(0), at(180)))
    ax.figure.set_size_inches(8, 1.7)
    return ax.figure


def draw_adversaries() -> Any:
    """Predictions that are built from the first of three true events, or from none."""
    first, span = cc.Events([(20, 40)]), (0, 120)
    predicted = {
        "trivial event": first,
        "from_trivial": cc.adversary.from_trivial(first, span=span),
        "against_composite": cc.adversary.against_composite(first, span=span),
        "everything": cc.adversary.everything(first, span=span),
    }
    ax = plot_events(cc.Events([(20, 40), (60, 66), (90, 100)]), predicted, span=span)
    ax.figure.set_size_inches(8, 3.4)
    return ax.figure


def draw_near_misses() -> Any:
    """What is left of the scores when every prediction comes too late."""
    metrics = {"affiliation": {}, "time_aware": {"delta": 24}, "margin": {"margin": 24}}
    names = {"time_aware": "time_aware, delta 24", "margin": "margin 24"}
    starts = np.array([230, 430, 630, 830])
    truth = cc.Events.from_arrays(starts, starts + 20)
    rows = []
    late = np.arange(61)
    for distance in late:
        predicted = cc.Events.from_arrays(starts + 20 + distance, starts + 40 + distance)
        rows.append(
            cc.evaluate(truth, predicted, span=(0, 1000), metrics={**metrics, "classical": {}})
        )
    figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
    styles = ("-", (0, (6, 2)), (0, (3, 1.5)), (0, (1, 1)))
    for name, color, style in zip(
        [*metrics, "classical"], (GREEN, BLUE, RED, TRUTH), styles, strict=True
    ):
        scores = [row[f"{name}_f1"] for row in rows]
        ax.plot(late, scores, color=color, linestyle=style, label=names.get(name, name))
    ax.set_xlabel("samples between the end of each event and its prediction", fontsize=8.5)
    ax.set_ylabel("F1", fontsize=8.5)
    ax.set(xlim=(0, 60), ylim=(-0.03, 1.04))
    ax.tick_params(labelsize=8)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return figure


def distance_to(intervals: list[tuple[int, int]], x: Any) -> Any:
    apart = [np.maximum(np.maximum(start - x, x - stop), 0) for start, stop in intervals]
    return np.min(apart, axis=0)


def draw_distances() -> Any:
    """Distances from the predictions to the event, and from the event to the predictions."""
    figure, axes = plt.subplots(ncols=2, figsize=(8, 2.4), layout="constrained", sharey=True)
    x = np.linspace(*ZONE, 901)
    titles = "from the predictions to the event", "from the event to the predictions"
    for ax, sources, targets, title in zip(
        axes, (PIECES, [EVENT]), ([EVENT], PIECES), titles, strict=True
    ):
        distance = distance_to(targets, x)
        ax.plot(x, distance, color="0.6", linewidth=1)
        for start, stop in sources:
            inside = (x >= start) & (x <= stop)
            ax.fill_between(x[inside], distance[inside], color=GREEN, alpha=0.35, linewidth=0)
            ax.plot(x[inside], distance[inside], color=GREEN, linewidth=2)
        mark_events(ax, -3.5)
        ax.set_title(title, fontsize=9)
        ax.set_ylim(-10, 52)
        ax.set_yticks(range(0, 51, 10))
    axes[0].set_ylabel("distance (minutes)", fontsize=8.5)
    return figure


def draw_survival() -> Any:
    """What each predicted time counts for precision, and each true time for recall."""
    figure, axes = plt.subplots(ncols=2, figsize=(8, 2.6), layout="constrained", sharey=True)
    x = np.linspace(*ZONE, 901)
    precision = cc.theory.precision_survival(EVENT, ZONE)(distance_to([EVENT], x))
    pairs = zip(x, distance_to(PIECES, x), strict=True)
    recall = np.array([cc.theory.recall_survival(y, ZONE)(distance) for y, distance in pairs])
    scores = cc.affiliation(cc.Events(TRUE_EVENTS), cc.Events(PREDICTED), span=SPAN).events
    titles = (
        f"precision: mean over the predictions, {scores.precision[1]:.3f}",
        f"recall: mean over the event, {scores.recall[1]:.3f}",
    )
    for ax, values, sources, title in zip(
        axes, (precision, recall), (PIECES, [EVENT]), titles, strict=True
    ):
        ax.plot(x, values, color="0.6", linewidth=1)
        for start, stop in sources:
            inside = (x >= start) & (x <= stop)
            ax.fill_between(x[inside], values[inside], color=GREEN, alpha=0.35, linewidth=0)
            ax.plot(x[inside], values[inside], color=GREEN, linewidth=2)
        mark_events(ax, -0.07)
        ax.set_title(title, fontsize=9)
        ax.set_ylim(-0.2, 1.05)
        ax.set_yticks([0, 0.5, 1])
    axes[0].set_ylabel("probability", fontsize=8.5)
    return figure


def mark_events(ax: Any, height: float) -> None:
    """Draw the event and the predictions of the zone as bars under a curve."""
    ax.plot(EVENT, [height, height], color=TRUTH, linewidth=5, solid_capstyle="butt")
    for piece in PIECES:
        ax.plot(piece, [1.9 * height] * 2, color=BLUE, linewidth=5, solid_capstyle="butt")
    ax.axhline(0, color="0.8", linewidth=0.6)
    ax.set_xlim(*ZONE)
    ax.set_xticks(range(30, 121, 15), [f"{at(m):%-H:%M}" for m in range(30, 121, 15)])
    ax.tick_params(labelsize=8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def draw_single_prediction() -> Any:
    """Precision and recall of a single point at four places, against the event's share."""
    figure, axes = plt.subplots(ncols=2, figsize=(8, 2.8), layout="constrained", sharey=True)
    share = np.linspace(0.001, 0.999, 500)
    places = ("border", "halfway", "start", "center")
    colors = ("#CC79A7", RED, BLUE, GREEN)
    styles = ("-", (0, (6, 2)), (0, (3, 1.5)), (0, (1, 1)))
    for place, color, style in zip(places, colors, styles, strict=True):
        scores = cc.theory.single_prediction(share, position=place)
        for ax, values in zip(axes, scores, strict=True):
            ax.plot(share, values, color=color, linestyle=style, label=place, linewidth=1.8)
    for ax, title in zip(axes, ("precision", "recall"), strict=True):
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("share p of the zone that the event fills", fontsize=8.5)
        ax.set(xlim=(0, 1), ylim=(-0.04, 1.04))
        ax.tick_params(labelsize=8)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    axes[0].legend(
        title="the point is at the", fontsize=8, title_fontsize=8, frameon=False, loc=(0.62, 0.52)
    )
    return figure


FIGURES = {
    "demo.png": draw_demo,
    "curve.png": draw_curve,
    "zones.svg": draw_zones,
    "distances.svg": draw_distances,
    "survival.svg": draw_survival,
    "single-prediction.svg": draw_single_prediction,
    "adversaries.svg": draw_adversaries,
    "near-misses.svg": draw_near_misses,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "closecall"  # the same file on every run
    for name, draw in FIGURES.items():
        figure = draw()
        metadata = {"Software": None} if name.endswith("png") else {"Date": None, "Creator": None}
        figure.savefig(folder / name, dpi=130, metadata=metadata)
        plt.close(figure)
        print(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")

"""Draw the figures of the documents: `python docs/figures.py` writes them to docs/images/."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from architecture import draw_imports
from matplotlib import pyplot as plt

import closecall as cc
from closecall.datasets import demo
from closecall.plot import (
    plot_batch,
    plot_comparison,
    plot_curve,
    plot_distances,
    plot_events,
    plot_ranks,
    plot_single_prediction,
    plot_survival,
)

BLACK, RED, BLUE, GREEN = "black", "#D55E00", "#0072B2", "#009E73"

# The example that the paper works through, in minutes after 3:00.
TRUE_EVENTS = [(0, 10), (50, 70), (170, 175)]
PREDICTED = [(5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170)]


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


def draw_froc() -> Any:
    """Events caught against false alarms a day, for one detector of `closecall demo`."""
    data = demo()
    curve = cc.affiliation_curve(data.truth, data.scores["threshold"], times=data.times)
    return plot_curve(curve, kind="froc").figure


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
        [*metrics, "classical"], (GREEN, BLUE, RED, BLACK), styles, strict=True
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


def running_example() -> cc.Affiliation:
    return cc.affiliation(on_clock(TRUE_EVENTS), on_clock(PREDICTED), span=(at(0), at(180)))


def draw_distances() -> Any:
    """Distances from the predictions to the event, and from the event to the predictions."""
    return plot_distances(running_example(), event=1)[0].figure


def draw_survival() -> Any:
    """What each predicted time counts for precision, and each true time for recall."""
    return plot_survival(running_example(), event=1)[0].figure


def draw_single_prediction() -> Any:
    """Precision and recall of a single point at four places, against the event's share."""
    return plot_single_prediction()[0].figure


def threshold_detector() -> cc.Affiliation:
    data = demo()
    return cc.affiliation(data.truth, data.predicted["threshold"], times=data.times)


def draw_plot_distances() -> Any:
    """Distances of the fifth event of the demo data."""
    return plot_distances(threshold_detector(), event=4)[0].figure


def draw_plot_survival() -> Any:
    """What each time counts in the zone of the fifth event of the demo data."""
    return plot_survival(threshold_detector(), event=4)[0].figure


def draw_plot_comparison() -> Any:
    """Two detectors on every event of the demo data."""
    data = demo()
    return plot_comparison(cc.compare(data.truth, data.predicted, times=data.times))[0].figure


def draw_plot_batch() -> Any:
    """Three detectors on four series."""
    table = {
        "web": {"forecast": 0.91, "threshold": 0.74, "random": 0.62},
        "disk": {"forecast": 0.83, "threshold": 0.88, "random": 0.60},
        "mail": {"forecast": 0.79, "threshold": 0.71, "random": 0.66},
        "logs": {"forecast": 0.95, "threshold": float("nan"), "random": 0.58},
    }
    return plot_batch(table, value="F1")[0].figure


def ranked() -> Any:
    """The detectors of the page on ranks."""
    random = np.random.default_rng(0)
    level = {"forecast": 0.4, "autoencoder": 0.37, "threshold": 0.2, "random": 0.1}
    table = {name: random.random(40) * 0.6 + own for name, own in level.items()}
    return cc.statistics.compute_ranks(table, metric="F1", low=0, high=1)


def draw_plot_ranks() -> Any:
    return plot_ranks(ranked()).figure


def draw_plot_rank_matrix() -> Any:
    return plot_ranks(ranked(), kind="matrix").figure


FIGURES = {
    "demo.png": draw_demo,
    "curve.png": draw_curve,
    "plot-froc.svg": draw_froc,
    "zones.svg": draw_zones,
    "distances.svg": draw_distances,
    "survival.svg": draw_survival,
    "single-prediction.svg": draw_single_prediction,
    "plot-distances.svg": draw_plot_distances,
    "plot-survival.svg": draw_plot_survival,
    "plot-comparison.svg": draw_plot_comparison,
    "plot-batch.svg": draw_plot_batch,
    "plot-ranks.svg": draw_plot_ranks,
    "plot-rank-matrix.svg": draw_plot_rank_matrix,
    "adversaries.svg": draw_adversaries,
    "near-misses.svg": draw_near_misses,
    "imports.svg": draw_imports,
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

"""The pictures that are compared with those in `baseline`.

`python tests/plot/pictures.py` draws them anew; look at each before committing it.
"""

from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import closecall as cc
from closecall import plot
from closecall.statistics import compute_ranks

BASELINE = Path(__file__).parent / "baseline"
STYLE = {"font.family": "DejaVu Sans", "text.hinting": "none"}
DOTS_PER_INCH = 72
VERSION = ".".join(mpl.__version__.split(".")[:2])  # text differs a little from one to another


def panels(count, width, height, **margins):
    """Make axes at fixed places, which no text moves."""
    figure, axes = plt.subplots(ncols=count, figsize=(width, height), squeeze=False)
    figure.subplots_adjust(
        **{"left": 0.12, "right": 0.96, "top": 0.86, "bottom": 0.2, "wspace": 0.3, **margins}
    )
    return axes[0] if count > 1 else axes[0, 0]


def running_example():
    def on_clock(intervals):
        start = datetime(2022, 8, 14, 3)  # noqa: DTZ001 - the paper has no time zone
        return [tuple(start + timedelta(minutes=m) for m in interval) for interval in intervals]

    truth = on_clock([(0, 10), (50, 70), (170, 175)])
    predicted = [(5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170)]
    return cc.affiliation(
        cc.Events(truth), cc.Events(on_clock(predicted)), span=on_clock([(0, 180)])[0]
    )


def two_detectors():
    truth = cc.Events([(100 * i + 30 + 3 * i, 100 * i + 60) for i in range(8)])
    early = cc.Events([(100 * i + 5 * i, 100 * i + 40) for i in range(6)])
    late = cc.Events([(100 * i + 40, 100 * i + 50 + 4 * i) for i in range(1, 8)])
    return truth, {"early": early, "late": late}


def draw_events():
    truth, predicted = two_detectors()
    values = np.sin(np.arange(800) / 25) + (np.arange(800) % 100 > 80)
    labels = {name: events.to_labels(np.arange(800)) for name, events in predicted.items()}
    axes = panels(1, 8, 3.4)
    return plot.plot_events(truth.to_labels(np.arange(800)), labels, values=values, ax=axes)


def draw_crowded():
    starts = np.concatenate((np.arange(20, 200, 12), [300, 500, 640, 760]))
    truth = cc.Events.from_arrays(starts, starts + 6)
    predicted = {"on $time": truth, "late": cc.Events.from_arrays(starts[2:] + 7, starts[2:] + 9)}
    return plot.plot_events(truth, predicted, span=(0, 800), ax=panels(1, 8, 2.2, bottom=0.24))


def draw_ignored():
    truth, predicted = two_detectors()
    times = np.concatenate((np.arange(330), np.arange(420, 800)))
    labels = {name: events.to_labels(times, end=800) for name, events in predicted.items()}
    axis = {"times": times, "max_step": 1, "ignore": [(0, 60), (610, 640)]}
    values, axes = np.sin(times / 25), panels(1, 8, 3.4)
    return plot.plot_events(truth.to_labels(times, end=800), labels, values=values, ax=axes, **axis)


def draw_ignored_survival():
    alarms = cc.Events([(40, 60), (250, 330), (350, 360), (420, 480), (640, 700)])
    axis = {"span": (0, 800), "ignore": [(200, 280), (450, 520), (650, 660)]}
    return plot.plot_survival(cc.Events([(300, 600)]), alarms, ax=panels(2, 9, 2.6), **axis)


def draw_summed_shares():
    truth = cc.Events([(300, 600)])
    alarms = cc.Events([(40, 60), (310, 330), (350, 360), (420, 430), (640, 700)])
    result = cc.affiliation(truth, alarms, span=(0, 800))
    return plot.plot_distances(result, ax=panels(2, 9, 2.2))


def draw_distances():
    return plot.plot_distances(running_example(), event=1, ax=panels(2, 9, 2.2))


def draw_survival():
    return plot.plot_survival(running_example(), event=1, ax=panels(2, 9, 2.6))


def draw_curve():
    scores = np.cos(np.arange(60) / 5) + np.arange(60) % 7 / 10
    truth = np.isin(np.arange(60) // 6, (1, 5, 6))
    axes = panels(1, 3.6, 3.6, left=0.16, bottom=0.14)
    return plot.plot_curve(cc.affiliation_curve(truth, scores), ax=axes)


def draw_froc():
    scores = np.cos(np.arange(400) / 9) + np.arange(400) % 7 / 5
    truth = np.isin(np.arange(400) // 8, (3, 11, 20, 33, 42))
    axes = panels(1, 4.8, 3.2, left=0.13, right=0.88)
    return plot.plot_curve(cc.affiliation_curve(truth, scores + truth), kind="froc", ax=axes)


def draw_comparison():
    truth, predicted = two_detectors()
    results = {
        name: cc.affiliation(truth, events, span=(0, 800)) for name, events in predicted.items()
    }
    axes = panels(3, 9, 3, top=0.68, left=0.06, wspace=0.15)
    return plot.plot_comparison(results, ax=axes)


def draw_single_prediction():
    return plot.plot_single_prediction(ax=panels(3, 9, 2.8, left=0.03))


def draw_batch():
    rows = [
        (f"series {i}", f"detector {j}", np.nan if i == 4 * j else (7 * i + 5 * j) % 12 / 12)
        for i in range(24)
        for j in range(4)
    ]
    axes = panels(2, 8, 2.8, bottom=0.3, right=0.9, wspace=0.4)
    return plot.plot_batch(rows, value="F1", ax=axes)


def ranked(count):
    values = np.random.default_rng(0).random((count, 24)) / 2
    values += np.linspace(0, 0.5, count)[:, None]
    names = [f"detector_of_width_{8 * number}_and_depth_2" for number in range(count)]
    return compute_ranks(dict(zip(names, values, strict=True)), metric="F1", low=0, high=1)


def draw_ranks():
    figure = plt.figure(figsize=(3.4, 1.6))
    return plot.plot_ranks(ranked(9), ax=figure.add_axes((0.01, 0.02, 0.98, 0.96)))


def draw_rank_matrix():
    axes = panels(1, 5, 4, left=0.22, right=0.98, top=0.7, bottom=0.12)
    return plot.plot_ranks(ranked(5), kind="matrix", ax=axes)


PICTURES = {
    "events": draw_events,
    "crowded-events": draw_crowded,
    "ignored-time": draw_ignored,
    "ignored-survival": draw_ignored_survival,
    "distances": draw_distances,
    "summed-shares": draw_summed_shares,
    "survival": draw_survival,
    "curve": draw_curve,
    "froc": draw_froc,
    "comparison": draw_comparison,
    "single-prediction": draw_single_prediction,
    "batch": draw_batch,
    "ranks": draw_ranks,
    "rank-matrix": draw_rank_matrix,
}


@contextmanager
def style():
    """Draw as pictures are compared, whatever is set."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def save(axes, file):
    figure = np.ravel(axes)[0].figure
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH, metadata={"Software": VERSION})


if __name__ == "__main__":
    mpl.use("Agg")
    BASELINE.mkdir(exist_ok=True)
    with style():
        for name, draw in PICTURES.items():
            save(draw(), BASELINE / f"{name}.png")
            plt.close("all")

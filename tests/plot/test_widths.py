"""Every picture in a column and across a page: nothing is cut off, no two names overlap."""

import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

import closecall as cc
from closecall import plot
from closecall.statistics import compute_ranks

COLUMN, PAGE = 3.4, 7.0  # inches
NAMES = [f"lstm_autoencoder_v2_window_{8 * number}" for number in (16, 32, 64, 8, 4, 2, 9, 7, 1)]


@pytest.fixture(scope="module")
def data():
    """Three detectors with long names that differ at their ends, on forty events."""
    random, samples = np.random.default_rng(0), 1200
    truth = (np.arange(samples) % 30 < 1 + np.arange(samples) // 30 % 7).astype(int)
    times = np.datetime64("2024-01-01", "s") + np.arange(samples) * np.timedelta64(600, "s")
    scores = {name: truth * random.random(samples) + random.random(samples) for name in NAMES[:3]}
    alarms = {name: (own > 0.95).astype(int) for name, own in scores.items()}
    results = {name: cc.affiliation(truth, own, times=times) for name, own in alarms.items()}
    curve = cc.affiliation_curve(truth[:300], scores[NAMES[0]][:300], times=times[:300])
    numbers = {name: random.random(24) / 2 + place / 20 for place, name in enumerate(NAMES)}
    ranks = compute_ranks(numbers, metric="affiliation_f1", low=0, high=1)
    cells = [
        (f"machine_temperature_system_failure_{series}", name, own)
        for name, column in numbers.items()
        for series, own in enumerate(column)
    ]
    return truth, times, scores, alarms, results, curve, ranks, cells


def one(width, height):
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def several(count, width, height=2.2):
    """Side by side on a page, one below the other in a column."""
    shape = (1, count) if width == PAGE else (count, 1)
    size = (width, height * shape[0])
    return plt.subplots(*shape, figsize=size, layout="constrained")[1]


def rows(count, width, height, **ratios):
    size = (width, height)
    return plt.subplots(1, count, figsize=size, layout="constrained", sharey=True, **ratios)[1]


def draw_part(data, width, **options):
    truth, times, scores, alarms, *_ = data
    part = {name: own[:200] for name, own in alarms.items()}
    if "values" in options:
        options["values"] = scores[NAMES[0]][:200]
    return plot.plot_events(truth[:200], part, times=times[:200], ax=one(width, 2.6), **options)


PICTURES = {
    "events": lambda own, wide: plot.plot_events(own[0], own[3], times=own[1], ax=one(wide, 2.6)),
    "values": lambda own, wide: draw_part(own, wide, values=None),
    "event distances": lambda own, wide: draw_part(own, wide, write="distances"),
    "curve": lambda own, wide: plot.plot_curve(own[5], ax=one(wide, 2.8)),
    "froc": lambda own, wide: plot.plot_curve(own[5], kind="froc", ax=one(wide, 2.8)),
    "comparison": lambda own, wide: plot.plot_comparison(own[4], ax=rows(3, wide, 6)),
    "F1": lambda own, wide: plot.plot_comparison(own[4], scores="f1", ax=one(wide, 4)),
    "distances": lambda own, wide: plot.plot_distances(
        own[4][NAMES[0]], event=7, ax=several(2, wide)
    ),
    "survival": lambda own, wide: plot.plot_survival(
        own[4][NAMES[0]], event=7, ax=several(2, wide)
    ),
    "single prediction": lambda _, wide: plot.plot_single_prediction(ax=several(3, wide)),
    "batch": lambda own, wide: plot.plot_batch(own[7], ax=rows(2, wide, 2.8, width_ratios=(3, 1))),
    "ranks": lambda own, wide: plot.plot_ranks(own[6], ax=one(wide, 2)),
    "rank matrix": lambda own, wide: plot.plot_ranks(
        own[6], kind="matrix", ax=one(wide, 0.8 * wide)
    ),
}


NAMED = {"comparison": 3, "F1": 3, "batch": 9, "ranks": 9, "rank matrix": 9}
NAMED |= dict.fromkeys(("events", "values", "event distances"), 3)


def tick_names(axis):
    """The boxes of the names along an axis, by what they say."""
    drawn = [label for label in axis.get_ticklabels() if label.get_visible() and label.get_text()]
    # A box has room for the highest and the lowest letters, also where there are none.
    return [(own.get_text(), own.get_window_extent().shrunk(0.95, 0.7)) for own in drawn]


@pytest.mark.parametrize("width", [COLUMN, PAGE])
@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_off_or_overlaps_and_names_stay_different(data, name, width):
    figure = np.ravel(PICTURES[name](data, width))[0].figure
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()
    wide, high = figure.get_size_inches()
    assert min(drawn.x0, drawn.y0, wide - drawn.x1, high - drawn.y1) > -0.02
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for (first, box), (second, beside) in combinations(tick_names(axis), 2):
                assert not box.overlaps(beside), (first, second)
    texts = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
    told_apart = {number for text in texts for number in re.findall(r"lst\S*?(\d+)(?!\S)", text)}
    assert told_apart == {own.rpartition("_")[2] for own in NAMES[: NAMED.get(name, 0)]}


def test_the_line_under_the_events_is_inside_from_the_first_drawing(data):
    axes = PICTURES["events"](data, COLUMN)
    axes.figure.draw_without_rendering()
    (note,) = [text for text in axes.texts if text.get_text().startswith("no room")]
    assert note.get_text() == "no room for the numbers of up to 40 of 40 events in 3 lanes"
    assert note.get_window_extent().y0 >= 0


def test_names_of_lanes_take_at_most_28_percent_of_the_width(data):
    truth, times, _, alarms, *_ = data
    ax = one(COLUMN, 3.0)
    ax.figure.draw_without_rendering()
    plot.plot_events(truth, alarms, times=times, ax=ax)
    ax.figure.draw_without_rendering()
    names = [label for label in ax.get_yticklabels() if label.get_text() != "truth"]
    widths = [label.get_window_extent().width / ax.figure.bbox.width for label in names]
    assert len(widths) == 3
    assert 0.2 < max(widths) <= 0.28

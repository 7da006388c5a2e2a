"""The paper's figures show what their captions say."""

from functools import cache

import numpy as np
import pytest
from evidence.paper import figures
from matplotlib import pyplot as plt

import closecall as cc
from closecall.datasets import load_kdd2022
from closecall.plot.drawing import ZoneLabels
from closecall.wording import score_text


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


data = cache(load_kdd2022)


@cache
def figure(name, folder=None):
    (found,) = [known for known in figures.FIGURES if known.name == name]
    return found.draw(data(folder) if found.needs_data else {})


def texts(axes):
    """Texts of the zones that have room."""
    axes.figure.draw_without_rendering()
    renderer = axes.figure.canvas.get_renderer()
    parts = [part for part in axes.artists if isinstance(part, ZoneLabels)]
    return [text for part in parts for _, text in part.placed(renderer)]


@pytest.mark.parametrize(
    ("name", "published"), [("prediction 1", "0.50/0.09"), ("prediction 2", "1.00/0.91")]
)
def test_the_first_figure_has_the_scores_of_its_caption(name, published):
    truth = cc.Events(figures.LIMITS_TRUTH)
    predicted = cc.Events(figures.LIMITS_PREDICTED[name])
    result = cc.metrics.classical(truth, predicted, span=figures.LIMITS_SPAN)
    assert f"{result.precision:.2f}/{result.recall:.2f}" == published
    # The same for samples, which is how the paper counts.
    samples = np.arange(*figures.LIMITS_SPAN)
    both = truth.to_labels(samples), predicted.to_labels(samples)
    assert cc.metrics.classical(*both).values() == result.values()
    result = cc.affiliation(truth, predicted, span=figures.LIMITS_SPAN)
    detected = result.events.predicted_count.tolist()
    assert detected == ([1, 1, 1] if name == "prediction 1" else [1, 0, 0])
    (axes,) = figure("classical-limitations").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    scores = f"{score_text(result.precision)} / {score_text(result.recall)}"
    assert f"{name}\nclassical {published.replace('/', ' / ')}\naffiliation {scores}" in names


def test_the_construction_has_the_distances_and_scores_of_the_text():
    titles = [axes.get_title() for axes in figure("average-distance").axes]
    assert [title.partition(": ")[2] for title in titles] == [
        "18 s on average",
        "1 min 16.5 s on average",
    ]
    (axes,) = figure("zones").axes
    written = texts(axes)
    for distances in ("11 min 30 s / 2 min 30 s", "31 min 15 s / 2 min 30 s"):
        assert any(text.startswith(distances) for text in written)
    panels = figure("random-sampling").axes
    marked = [[text.get_text() for text in axes.texts if text.get_text()] for axes in panels]
    assert marked == [["0.556"], ["0.778"]]
    assert [axes.get_title()[:16].strip(":") for axes in panels] == [
        "precision 0.672",
        "recall 0.944: me",
    ]
    # The marks lie on the drawn functions.
    for axes, value in zip(panels, (0.556, 0.778), strict=True):
        arrow = next(text for text in axes.texts if not text.get_text())
        place = axes.convert_xunits(arrow.xy[0])
        assert np.interp(place, *axes.lines[1].get_data()) == pytest.approx(value, abs=1e-3)


def test_the_adversary_is_shown_whole_and_near(data_folder):
    whole, near = figure("adversary", data_folder).axes
    assert near.get_xlim() == (2060, 2090)
    bars = near.collections[-1].get_paths()
    starts = [path.get_extents().x0 for path in bars]
    assert len(starts) == 13, "thirteen predicted events, as the paper says"
    assert [start for start in starts if 2060 < start < 2086] == list(range(2064, 2086, 2))
    assert np.isfinite(near.lines[0].get_ydata()).sum() == 30
    assert np.isfinite(whole.lines[0].get_ydata()).all()


def test_six_events_of_swat_with_the_scores_of_the_table(data_folder):
    (axes,) = figure("per-event", data_folder).axes
    written = texts(axes)
    assert written[:6] == ["1", "2", "3", "4", "5", "6"]
    assert "7" not in written
    pairs = [text.replace("\n", "/") for text in written[6:]]
    assert pairs == [
        *("0.37/0.53", "1.00/0.91", "0.76/0.99", "missed", "0.38/0.60", "0.09/0.21"),
        *("0.96/1.00", "0.86/>.99", "0.73/0.78", "0.39/0.71", "0.71/0.97", "0.88/1.00"),
    ]
    names = [label.get_text().partition("\n")[0] for label in axes.get_yticklabels()]
    assert names == ["truth", "iForest", "seq2seq"]


def test_nothing_is_cut_off(data_folder):
    for known in figures.FIGURES:
        drawn = figure(known.name, data_folder)
        drawn.draw_without_rendering()
        box = drawn.get_tightbbox()
        width, height = drawn.get_size_inches()
        assert box.x0 > -0.02, known.name
        assert box.y0 > -0.02, known.name
        assert box.x1 < width + 0.02, known.name
        assert box.y1 < height + 0.02, known.name

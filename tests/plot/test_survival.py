"""Survival functions over a zone, and the areas under them."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.dates import date2num

import closecall as cc
from closecall.plot import plot_survival
from tests.plot.pictures import running_example

MINUTES = cc.affiliation(cc.Events([(50, 70)]), cc.Events([(40, 60), (115, 120)]), span=(30, 120))


def curve(axes):
    # The first line is the zero of the scale.
    return axes.lines[1].get_data()


def areas(axes):
    """Each filled piece as (left, right, area)."""
    (filled,) = [c for c in axes.collections if isinstance(c, PolyCollection)]
    found = []
    for path in filled.get_paths():
        x, y = path.vertices.T
        area = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
        found.append((x.min(), x.max(), area))
    return found


def test_titles_tell_the_scores_of_the_paper():
    titles = [axes.get_title() for axes in plot_survival(running_example(), event=1)]
    both = "precision 0.672: mean over the predictions", "recall 0.944: mean over the event"
    assert titles == list(both)


def test_the_areas_make_the_scores():
    left, right = plot_survival(MINUTES)
    pieces = areas(left)
    assert [piece[:2] for piece in pieces] == [(40, 60), (115, 120)]
    total = sum(area for *_, area in pieces) / 25
    assert total == pytest.approx(MINUTES.precision, abs=1e-6)
    ((low, high, area),) = areas(right)
    assert (low, high) == (50, 70)
    assert area / 20 == pytest.approx(MINUTES.recall, abs=1e-5)


def test_the_functions_have_the_values_of_the_paper():
    left, right = plot_survival(MINUTES)
    assert np.interp(40, *curve(left)) == pytest.approx(0.556, abs=5e-4)
    assert np.interp(70, *curve(right)) == pytest.approx(0.778, abs=5e-4)
    x, y = curve(left)
    assert y[x == 50].tolist() == pytest.approx([7 / 9, 1]), "it jumps at the event's start"
    assert y[x == 70].tolist() == pytest.approx([1, 7 / 9])
    assert (x[0], x[-1]) == (30, 120)


def test_means_of_pieces_are_written_above_them():
    left, right = plot_survival(MINUTES)
    left.figure.draw_without_rendering()
    placed = left.artists[0].placed(left.figure.canvas.get_renderer())
    assert [text for _, text in placed] == ["0.833", "0.028"]
    assert placed[0][0] == pytest.approx(50)
    assert not right.artists, "one piece is told by the title"


def test_points_are_upright_lines():
    result = cc.affiliation(cc.Events([(20, 30)]), cc.Events.from_points([5, 25]), span=(0, 60))
    axes = plot_survival(result, side="precision")
    segments = axes.collections[1].get_segments()
    heights = {s[0, 0]: s[1, 1] for s in segments}
    assert heights == {5: pytest.approx(1 / 3), 25: 1}
    assert axes.get_title() == "precision 0.667: mean over the predictions"


def test_an_event_without_predictions():
    result = cc.affiliation(cc.Events([(10, 20), (70, 80)]), cc.Events([(12, 15)]), span=(0, 100))
    left, right = plot_survival(result, event=1)
    assert left.get_title() == "precision undefined: no prediction in the zone"
    assert right.get_title() == "recall 0: no prediction in the zone"
    assert set(curve(right)[1]) == {0}


def test_almost_perfect_is_not_called_perfect():
    result = cc.affiliation(cc.Events([(0, 100_000)]), cc.Events([(0, 99_999)]), span=(0, 200_000))
    left, right = plot_survival(result)
    assert left.get_title().startswith("precision 1.000:")
    assert right.get_title().startswith("recall >0.999:")


def test_dates_are_on_the_axis():
    left, _ = plot_survival(running_example(), event=1)
    low, high = date2num(np.array(["2022-08-14T03:30", "2022-08-14T05:00"], dtype="datetime64[s]"))
    assert left.get_xlim() == pytest.approx((low, high))
    left.figure.draw_without_rendering()
    texts = [label.get_text() for label in left.get_xticklabels()]
    assert {"04:00", "04:30"} <= set(texts)
    assert len(texts) < 9, "few enough to stand side by side"

"""The critical-difference diagram and the matrix of pairs, in a column and across a page."""

from functools import cache

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

from closecall.errors import InputError, InputTypeError
from closecall.plot import plot_ranks
from closecall.statistics import compute_ranks

HITS = {
    "a": [9, 8, 7, 9, 6, 8, 9],
    "b": [5, 4, 6, 4, 5, 7, 8],
    "c": [5, 6, 5, 3, 5, 5, 2],
}


@cache
def many(count):
    random = np.random.default_rng(count)
    values = random.random((count, 40)) + np.linspace(1, 0, count)[:, None]
    names = [f"isolation_forest_of_{100 + place}_trees_and_windows" for place in range(count)]
    return compute_ranks(dict(zip(names, values, strict=True)))


def boxes(axes):
    figure = axes.figure
    figure.draw_without_rendering()
    texts = [text for text in axes.findobj(Text) if text.get_text() and text.get_visible()]
    return figure.bbox, [text.get_window_extent() for text in texts]


def test_detectors_hang_at_their_ranks_and_bars_join_what_is_not_told_apart():
    axes = plot_ranks(compute_ranks(HITS))
    assert [text.get_text() for text in axes.texts][-4:-1] == ["a  1.00", "b  2.29", "2.71  c"]
    hanging = {round(line.get_xdata()[0], 6) for line in axes.lines if len(line.get_xdata()) == 3}
    (bar,) = [line for line in axes.lines if line.get_linewidth() == 3]
    first, last = bar.get_xdata()
    joined = [place for place in sorted(hanging) if first <= place <= last]
    assert joined == sorted(hanging)[1:]


def test_a_dotted_bar_joins_its_two_ends_alone():
    table = {
        "better": [8, 7, 1, 1, 6, 7, 5, 4],
        "steady": [6, 7, 3, 3, 6, 6, 5, 2],
        "worse": [1, 4, 1, 3, 2, 5, 0, -1],
    }
    axes = plot_ranks(compute_ranks(table))
    hanging = sorted(line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3)
    bars = {
        line.get_linestyle(): (line.get_xdata(), line.get_ydata()[0])
        for line in axes.lines
        if line.get_linewidth() > 1
    }
    reach = {style: [ends[0] + 2, ends[1] - 2] for style, (ends, _) in bars.items()}
    assert reach == {"-": pytest.approx(hanging[:2]), ":": pytest.approx(hanging[::2])}
    assert bars["-"][1] != bars[":"][1]


def test_a_cell_has_the_numbers_of_its_pair():
    ranks = compute_ranks(HITS)
    axes = plot_ranks(ranks, kind="matrix")
    texts = {text.get_position(): text for text in axes.texts}
    assert texts[0, 0].get_text().startswith("+2.4\n7/0/0\np 0.047\n")
    assert texts[1, 1].get_text().startswith("+1.1\n4/2/1\np ")
    assert [texts[place].get_weight() for place in ((0, 0), (1, 0), (1, 1))] == [
        *("bold", "bold", "normal")
    ]


@pytest.mark.parametrize("kind", ["diagram", "matrix"])
@pytest.mark.parametrize("width", [3.4, 7.0])
@pytest.mark.parametrize("count", [3, 20])
def test_nothing_is_clipped_and_no_names_coincide(kind, width, count):
    ranks = many(count)
    figure = plt.figure(figsize=(width, 3.0 if kind == "diagram" else width), layout="constrained")
    axes = plot_ranks(ranks, kind=kind, ax=figure.add_subplot())
    canvas, found = boxes(axes)
    for box in found:
        assert box.x0 >= canvas.x0 - 1
        assert box.x1 <= canvas.x1 + 1
        assert box.y0 >= canvas.y0 - 1
        assert box.y1 <= canvas.y1 + 1
    if kind == "diagram":
        names = [text.get_text() for text in axes.texts if ".." in text.get_text()]
        assert len(set(names)) == len(names) >= min(count, 3)
        rows = sorted((box.x0, box.y0, box.x1, box.y1) for box in found)
        for place, (left, low, right, high) in enumerate(rows):
            for other in rows[place + 1 :]:
                apart = other[0] >= right - 1 or other[1] >= high - 1 or other[3] <= low + 1
                assert apart, (left, other)
    else:
        assert len({label.get_text() for label in axes.get_yticklabels()}) == count - 1
        texts = [text.get_text() for text in axes.texts]
        assert ("\N{BULLET}" in texts) == ((count, width) == (20, 3.4))
        if "\N{BULLET}" in texts:  # cells without room keep a dot
            assert texts.count("\N{BULLET}") == sum(pair.apart for pair in ranks.pairs)
            assert set(texts) == {"", "\N{BULLET}"}


def test_messages():
    with pytest.raises(InputError, match="`kind` to be 'diagram' or 'matrix', got 'bars'"):
        plot_ranks(compute_ranks(HITS), kind="bars")
    with pytest.raises(InputTypeError, match="`ranks` to be ranks of detectors, got dict"):
        plot_ranks(HITS)

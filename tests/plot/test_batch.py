"""Heat map and ranks of many detectors on many series."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.plot import plot_batch

ROWS = [
    ("a", "worse", 0.2),
    ("a", "better", 0.4),
    ("b", "worse", 0.9),
    ("b", "better", 0.9),
    ("c", "better", 0.6),
]


def names(axes, axis):
    axes.figure.draw_without_rendering()
    return [label.get_text() for label in getattr(axes, f"get_{axis}ticklabels")()]


def written(axes):
    return [text.get_text() for text in axes.texts]


def test_values_are_sorted_best_first():
    heat, _ = plot_batch(ROWS, value="F1")
    assert names(heat, "y") == ["better", "worse"]
    assert names(heat, "x") == ["b", "c", "a"]
    values = heat.images[0].get_array()
    assert np.asarray(values)[0].tolist() == [0.9, 0.6, 0.4]
    assert heat.images[0].get_clim() == (0, 1)
    assert written(heat) == [".90", ".60", ".40", ".90", ".20"]


def test_what_is_missing_is_crossed_and_last():
    heat, ranks = plot_batch(ROWS)
    (crossed,) = heat.patches
    assert (crossed.get_x(), crossed.get_y(), crossed.get_hatch()) == (0.5, 0.5, "xxxx")
    # Better is first on a and c, and shares the first two ranks on b.
    assert ranks.lines[0].get_xdata().tolist() == pytest.approx([(1 + 1.5 + 1) / 3, 5.5 / 3])
    assert written(ranks) == ["3", "1", "best on"]


def test_a_series_without_any_value_ranks_nobody():
    nan = float("nan")
    table = {"s1": {"a": 0.9, "b": 0.5}, "s2": {"a": nan, "b": nan}, "s3": {"a": nan, "b": nan}}
    heat, ranks = plot_batch(table)
    assert np.asarray(heat.images[0].get_array()).shape == (2, 3)
    assert len(heat.patches) == 4
    assert ranks.lines[0].get_xdata().tolist() == [1, 2]
    assert written(ranks) == ["1", "0", "best on"]
    heat, ranks = plot_batch({"s2": {"a": nan, "b": nan}}, best="lowest")
    assert names(heat, "y") == ["a", "b"]
    assert written(ranks) == ["0", "0", "best on"]
    assert not ranks.lines


def result_of_a_batch(**options):
    table = pa.table(
        {
            "series": ["x"] * 4 + ["y"] * 4 + ["quiet"] * 4,
            "label": [0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0],
            "good": [0.1, 0.9, 0.8, 0.2, 0.3, 0.1, 0.8, 0.2, 0.1, 0.2, 0.3, 0.4],
            "poor": [0.5, 0.1, 0.2, 0.9, 0.6, 0.7, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4],
        }
    )
    return cc.evaluate_frame(table, by="series", truth="label", score=["poor", "good"], **options)


def test_what_a_batch_gives_is_drawn_as_it_draws_itself():
    result = result_of_a_batch()
    heat, ranks = plot_batch(result)
    assert names(heat, "y") == ["good", "poor"]
    board = result.leaderboard().to_pylist()
    assert written(ranks) == [*(str(row["best_on"]) for row in board), "best on"]
    assert ranks.lines[0].get_xdata().tolist() == [row["mean_rank"] for row in board]
    assert written(heat) == written(result.plot()[0])
    distances = result_of_a_batch(metrics=["hausdorff"])
    assert written(plot_batch(distances)[1]) == written(distances.plot()[1])
    with pytest.raises(InputError, match="`order` to be"):
        plot_batch(result, order="name")
    _, axes = plt.subplots(ncols=2)
    assert list(plot_batch(result, order="given", value="F", ax=axes)) == list(axes)
    assert names(axes[0], "y") == ["poor", "good"]


def test_the_lowest_may_be_the_best():
    heat, ranks = plot_batch(ROWS, best="lowest")
    assert names(heat, "x") == ["a", "c", "b"]
    assert ranks.lines[0].get_xdata().tolist() == pytest.approx([4.5 / 3, 4.5 / 3])
    assert written(ranks) == ["2", "2", "best on"]


def test_the_order_may_be_kept():
    heat, _ = plot_batch(ROWS, order="given")
    assert (names(heat, "y"), names(heat, "x")) == (["worse", "better"], ["a", "b", "c"])


def test_a_mapping_says_the_same():
    table = {}
    for series, detector, value in ROWS:
        table.setdefault(series, {})[detector] = value
    heat, _ = plot_batch(table)
    assert written(heat) == written(plot_batch(ROWS)[0])


def test_other_scales_span_their_values():
    heat, _ = plot_batch([("a", "x", -5), ("b", "x", 120)])
    assert heat.images[0].get_clim() == (-5, 120)
    assert written(heat) == ["120", "-5"]
    heat, _ = plot_batch([("a", "x", np.nan)])
    assert heat.images[0].get_clim() == (0, 1)


@pytest.mark.parametrize(("count", "fewest", "most"), [(58, 58, 58), (200, 20, 80)])
def test_names_of_series_are_thinned(count, fewest, most):
    random = np.random.RandomState(0)
    rows = [
        (f"a_long_name_of_series_{i}", f"detector {j}", random.random_sample())
        for i in range(count)
        for j in range(5)
    ]
    heat, _ = plot_batch(rows)
    shown = names(heat, "x")
    assert fewest <= len(shown) <= most
    assert len(names(heat, "y")) == 5
    assert not written(heat), "too many cells for numbers"
    renderer = heat.figure.canvas.get_renderer()
    boxes = [label.get_window_extent(renderer) for label in heat.get_xticklabels()]
    edges = sorted((box.x0, box.x1) for box in boxes)
    gaps = [after[0] - before[1] for before, after in pairwise(edges)]
    assert min(gaps) > -2, "names do not lie on each other"


def test_long_names_are_cut_in_their_middle():
    heat, _ = plot_batch([("ec2_cpu_utilization_of_the_machine_5f5533", "x", 1)])
    assert names(heat, "x") == ["ec2_cpu_utili\N{HORIZONTAL ELLIPSIS}achine_5f5533"]


def test_misuse_is_named():
    with pytest.raises(InputError, match="`best` to be 'highest' or 'lowest', got"):
        plot_batch(ROWS, best="first")
    with pytest.raises(InputError, match="`order` to be"):
        plot_batch(ROWS, order="name")
    with pytest.raises(InputError, match=r"a second one for \('a', 'worse'\) at index 5"):
        plot_batch([*ROWS, ("a", "worse", 0.1)])
    with pytest.raises(InputTypeError, match=r"\(series, detector, value\), got \('a', 1\) at in"):
        plot_batch([("a", 1)])
    with pytest.raises(InputTypeError, match=r"`table\['a'\]` to be a mapping"):
        plot_batch({"a": 1})
    with pytest.raises(InputTypeError, match="`table` to be rows or a mapping, got int"):
        plot_batch(3)
    with pytest.raises(InputError, match="at least one row"):
        plot_batch([])
    with pytest.raises(InputTypeError, match=r"`ax` to be 2 axes \(heat map, ranks\)"):
        plot_batch(ROWS, ax=plt.subplots()[1])

"""What `plot_curve` draws: steps, iso-F lines, marks and panels, read back from the figure."""

from datetime import timedelta
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

import closecall as cc
from closecall.datasets import demo
from closecall.errors import InputError, InputTypeError
from closecall.fscore import f_measure
from closecall.plot import plot_curve
from closecall.plot.curve import ThresholdScale, free_corner

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.3, 0.2, 0.9, 0.8, 0.1, 0.0, 0.7, 0.4, 0.1]
CURVE = cc.affiliation_curve(TRUTH, SCORES)


@pytest.fixture(scope="module")
def noisy():
    """A curve of 20,000 thresholds."""
    random = np.random.RandomState(7)
    truth = np.zeros(20_000, dtype=np.uint8)
    for start in (2_000, 9_000, 15_000):
        truth[start : start + 300] = 1
    return cc.affiliation_curve(truth, random.standard_normal(20_000) + 1.5 * truth)


def steps(ax, style):
    """Return the stepped lines of an axes."""
    return [line for line in ax.lines if line.get_drawstyle() == style]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def mark(ax):
    """Return the one marker that is drawn over everything else."""
    (line,) = [line for line in ax.lines if line.get_zorder() == 5]
    return line.get_xydata().tolist()


@cache
def drawn(beta=1):
    """The small curve, drawn once for all who only read it."""
    return plot_curve(CURVE, beta=beta)


def test_every_point_of_a_small_curve_is_a_vertex():
    (line,) = steps(drawn()[0], "steps-pre")
    recall, precision = line.get_data()
    assert recall.tolist() == [0, *CURVE.recall]
    assert precision.tolist() == [CURVE.precision[0], *CURVE.precision]


@pytest.mark.parametrize("curve", [CURVE, cc.affiliation_curve(TRUTH, [3] * 10)])
def test_the_area_under_the_steps_is_the_average_precision(curve):
    ax = (drawn() if curve is CURVE else plot_curve(curve))[0]
    (line,) = steps(ax, "steps-pre")
    recall, precision = line.get_data()
    assert np.dot(np.diff(recall), precision[1:]) == pytest.approx(
        curve.average_precision, abs=1e-14
    )
    (filled,) = ax.collections
    x, y = filled.get_paths()[0].vertices.T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    assert area == pytest.approx(curve.average_precision, abs=1e-12)
    assert f"average precision {curve.average_precision:.2f}" in texts(ax)


@pytest.mark.parametrize("beta", [0, 0.5, 1, 2, 3])
def test_lines_of_equal_f(beta):
    ax = drawn(beta)[0]
    named = {text for text in texts(ax) if text.startswith("0.")}
    levels = [line for line in ax.lines if line.get_zorder() == 1]
    for line, level in zip(levels, (0.2, 0.4, 0.6, 0.7, 0.8, 0.9), strict=True):
        recall, precision = line.get_data()
        assert f_measure(precision[1:], recall[1:], beta) == pytest.approx(level)
        assert f"{level:g}" in named
    assert f"F{beta:g}" in texts(ax)


@pytest.mark.parametrize("beta", [0.5, 1, 3])
def test_the_best_point_is_marked_and_named(beta):
    best = CURVE.best(beta)
    ax, upper, lower = drawn(beta)
    assert mark(ax) == [[best.recall, best.precision]]
    assert f"F{beta:g} {best.fbeta:.2f}\nthreshold {best.threshold:g}" in texts(ax)
    for panel in (upper, lower):
        (line,) = [line for line in panel.lines if len(set(line.get_xdata())) == 1]
        assert line.get_xdata()[0] == best.threshold
    assert lower.get_title("left").startswith(f"{best.alarms} alarm")


def test_any_other_point_is_marked_instead():
    point = CURVE.best(min_precision=0.9)
    assert point.threshold != CURVE.best().threshold
    ax = plot_curve(CURVE, point=point)[0]
    assert mark(ax) == [[point.recall, point.precision]]


def test_scores_and_alarms_at_every_threshold():
    _, upper, lower = drawn(2)
    lines = {line.get_label(): line for line in steps(upper, "steps-post")}
    assert list(lines) == ["precision", "recall", "F2"]
    columns = {"precision": CURVE.precision, "recall": CURVE.recall, "F2": CURVE.fbeta(2)}
    for name, values in columns.items():
        assert lines[name].get_xdata().tolist() == CURVE.thresholds.tolist()
        assert lines[name].get_ydata().tolist() == values.tolist()
    (alarms,) = steps(lower, "steps-post")
    assert alarms.get_ydata().tolist() == CURVE.alarms.tolist()
    assert lower.get_shared_x_axes().joined(upper, lower)
    assert [text.get_text() for text in upper.get_legend().get_texts()] == list(lines)


def test_between_thresholds_the_step_is_what_the_library_gives():
    upper = drawn()[1]
    path = steps(upper, "steps-post")[0].get_path()
    between = 0.55  # predicts what 0.7 does
    vertices = path.interpolated(1).vertices
    thresholds, precision = vertices.T
    above = np.flatnonzero(thresholds > between)[-1]
    assert precision[above] == CURVE.at(between).precision


def test_a_long_curve_is_drawn_through_exact_points_and_the_marked_one(noisy):
    point = noisy.best(min_recall=0.987)
    ax, upper, lower = plot_curve(noisy, point=point)
    (line,) = steps(ax, "steps-pre")
    assert point.threshold not in noisy.thresholds[noisy.outline(1000)]
    assert [point.recall, point.precision] in line.get_xydata().tolist()
    assert 500 < len(line.get_xdata()) < 1_100
    exact = set(zip(noisy.recall.tolist(), noisy.precision.tolist(), strict=True))
    assert set(map(tuple, line.get_xydata()[1:].tolist())) <= exact
    assert [noisy.best().recall, noisy.best().precision] in line.get_xydata().tolist()
    (alarms,) = steps(lower, "steps-post")
    known = dict(zip(noisy.thresholds.tolist(), noisy.alarms.tolist(), strict=True))
    assert all(known[threshold] == count for threshold, count in alarms.get_xydata().tolist())
    assert np.abs(np.diff(alarms.get_xdata())).max() < 0.5
    assert lower.get_yscale() == "log"
    assert not steps(upper, "steps-post")[0].get_marker().strip("None")


@pytest.mark.parametrize(("alarms", "scale"), [(50, "linear"), (51, "log")])
def test_the_scale_of_alarms_beyond_fifty_times_the_fewest(alarms, scale):
    scores = np.zeros(2 * alarms + 1)
    scores[1::2] = np.arange(1, alarms + 1)
    curve = cc.affiliation_curve([1] + [0] * (2 * alarms), scores)
    assert (curve.alarms.min(), curve.alarms.max()) == (1, alarms)
    assert plot_curve(curve)[2].get_yscale() == scale


def test_few_alarms_are_counted_on_an_even_scale():
    lower = drawn()[2]
    assert lower.get_yscale() == "linear"
    assert lower.get_ylim()[0] == 0
    assert all(tick == int(tick) for tick in lower.get_yticks())


def test_infinite_thresholds_lie_beyond_the_finite_ones():
    curve = cc.affiliation_curve(TRUTH, [-np.inf, *SCORES[1:-1], np.inf])
    _, upper, lower = plot_curve(curve)
    places = steps(upper, "steps-post")[0].get_xdata()
    assert places[1:-1].tolist() == curve.thresholds[1:-1].tolist()
    low, high = lower.get_xlim()
    assert low < places[-1] < 0
    assert 0.9 < places[0] < high
    labels = [text.get_text() for text in lower.get_xticklabels()]
    named = dict(zip(lower.get_xticks(), labels, strict=True))
    assert (named[places[0]], named[places[-1]]) == ("inf", "-inf")


def test_only_infinite_thresholds():
    curve = cc.affiliation_curve(TRUTH, np.where(TRUTH, np.inf, -np.inf))
    ax, _, lower = plot_curve(curve)
    assert [text.get_text() for text in lower.get_xticklabels()] == ["-inf", "inf"]
    assert "F1 1.00\nthreshold inf" in texts(ax)
    assert lower.get_title("left") == "2 alarms at threshold inf"


def test_a_constant_score():
    ax, upper, lower = plot_curve(cc.affiliation_curve(TRUTH, [0.5] * 10))
    assert mark(ax)[0][0] == 1
    assert [line.get_marker() for line in steps(upper, "steps-post")] == ["o", "o", "o"]
    assert [text.get_text() for text in lower.get_xticklabels()] == ["0.5"]
    assert lower.get_title("left") == "1 alarm at threshold 0.5"


def test_crowded_thresholds_are_stretched():
    scores = np.array([0.999, 0.9991, 0.9995, 0.9997, 0.99975, 0.9998, 0.9999, 1, 0.5, 0.0])
    _, upper, lower = plot_curve(cc.affiliation_curve(TRUTH, scores))
    assert steps(upper, "steps-post")[0].get_xdata().tolist() == sorted(scores, reverse=True)
    assert "stretched" in lower.get_xlabel()
    place = lower.transData.transform([(0.0, 1), (0.999, 1), (1, 1)])[:, 0]
    assert (place[1] - place[0]) / (place[2] - place[0]) < 0.6
    assert drawn()[2].get_xlabel() == "threshold"


def test_one_axes_in_the_same_axes_out():
    figure, ax = plt.subplots()
    assert plot_curve(CURVE, ax=ax) is ax
    assert figure.axes == [ax]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")
    assert mark(ax) == [[CURVE.best().recall, CURVE.best().precision]]


def test_the_method_of_the_curve_draws_the_same():
    assert mark(CURVE.plot(beta=2)[0]) == mark(drawn(2)[0])


def demo_curve(name):
    data = demo()
    return cc.affiliation_curve(data.truth, data.scores[name], times=data.times)


CURVES = {
    "threshold": lambda: demo_curve("threshold"),
    "forecast": lambda: demo_curve("forecast"),
    "small": lambda: CURVE,
    "constant": lambda: cc.affiliation_curve(TRUTH, [0.5] * 10),
    "two": lambda: cc.affiliation_curve(TRUTH, TRUTH[::-1]),
}


@pytest.mark.parametrize(("name", "beta"), [*((name, 1) for name in CURVES), ("two", 4)])
def test_no_text_is_cut_off_or_over_another(name, beta):
    axes = plot_curve(CURVES[name](), beta=beta)
    figure = axes[0].figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    boxes = [Text.get_window_extent(text, renderer) for text in axes[0].texts]  # without lines
    for panel in axes:
        parts = [panel.xaxis.label, panel.yaxis.label, panel.title, panel._left_title]
        ticks = [label for label in panel.get_xticklabels() if label.get_visible()]
        boxes += [part.get_window_extent(renderer) for part in parts if part.get_text()]
        extents = [label.get_window_extent(renderer) for label in ticks]
        assert not any(first.fully_overlaps(second) for first, second in pairwise(extents))
    boxes.append(axes[1].get_legend().get_window_extent(renderer))
    for index, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
        assert not any(box.fully_overlaps(other) for other in boxes[:index])
    # The name of the point keeps clear of the curve.
    (label,) = [text for text in axes[0].texts if text.get_text().startswith(f"F{beta} ")]
    (line,) = steps(axes[0], "steps-pre")
    along = axes[0].transData.transform(line.get_path().interpolated(50).vertices)
    assert not Text.get_window_extent(label, renderer).count_contains(along)


def test_refused():
    with pytest.raises(InputTypeError, match=r"`curve` to be what `closecall\.affiliation_curve"):
        plot_curve(3)
    with pytest.raises(InputTypeError, match="`point` to be what `AffiliationCurve"):
        plot_curve(CURVE, point=0.5)
    with pytest.raises(InputError, match="0 or more, got -1"):
        plot_curve(CURVE, beta=-1)
    with pytest.raises(InputError, match="`kind` to be 'precision_recall' or 'froc'"):
        plot_curve(CURVE, kind="roc")


LOWEST = np.finfo(np.float64).min


def ticks(thresholds):
    """Return the written ticks from left to right, as an axes of this scale shows them."""
    figure, axes = plt.subplots()
    ThresholdScale.of(np.array(thresholds)).prepare(axes)
    low, high = axes.get_xlim()
    figure.draw_without_rendering()
    shown = [
        (place, label.get_text())
        for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        if low <= place <= high
    ]
    plt.close(figure)
    return [text.replace("\N{MINUS SIGN}", "-") for _, text in sorted(shown)]


@pytest.mark.parametrize(
    ("thresholds", "texts"),
    [
        ([5.0], ["5"]),
        ([np.inf, 5.0, -np.inf], ["-inf", "5", "inf"]),
        ([np.inf], ["inf"]),
        ([-np.inf], ["-inf"]),
        ([np.inf, -np.inf], ["-inf", "inf"]),
        ([3.0, 2.0, 1.0, 0.0, LOWEST], ["-1.8e+308", "0.5", "1", "1.5", "2", "2.5"]),
        ([1, 0], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ],
)
def test_ticks(thresholds, texts):
    assert ticks(thresholds) == texts


def test_a_crowded_axis_is_monotone_and_inverts():
    thresholds = np.concatenate(([1.0], 0.01 * np.linspace(1, 0, 200) ** 2))
    scale = ThresholdScale.of(thresholds)
    assert scale.crowded
    heights = scale._forward(thresholds)
    assert (np.diff(heights) < 0).all()
    assert heights[[0, -1]].tolist() == [1, 0]
    assert scale._backward(heights) == pytest.approx(thresholds, abs=1e-15)
    outside = np.array([-0.5, 1.5])
    assert scale._backward(scale._forward(outside)) == pytest.approx(outside)
    assert ticks(thresholds)[-1] == "1"
    assert len(set(ticks(thresholds))) == 6


def test_indices_are_spread_by_value_and_by_rank():
    thresholds = np.sort(np.random.RandomState(1).standard_normal(50_000))[::-1]
    scale = ThresholdScale.of(thresholds[[*range(0, 50_000, 250), -1]])
    rows = scale.spread(thresholds)
    assert rows.size < 2_001
    assert rows[0] == 0
    assert rows[-1] == thresholds.size - 1
    assert np.diff(rows).max() <= 51
    inner = thresholds[rows][(thresholds[rows] < 3) & (thresholds[rows] > -3)]
    assert np.abs(np.diff(inner)).max() < 0.05


SIZE = (0.3, 0.1)


def test_beside_a_point_on_an_empty_square():
    left, bottom = free_corner(np.array([[0.5, 0.5]]), (0.5, 0.5), SIZE)
    assert abs(left + 0.15 - 0.5) < 0.05
    assert 0.05 < abs(bottom + 0.05 - 0.5) < 0.15


@pytest.mark.parametrize("seed", range(5))
def test_clear_of_a_line_and_inside(seed):
    random = np.random.RandomState(seed)
    height = 0.2 + 0.6 * random.random_sample()
    line = np.column_stack((np.linspace(0, 1, 200), np.full(200, height)))
    left, bottom = free_corner(line, (random.random_sample(), height), SIZE)
    assert 0 < left < left + SIZE[0] < 1
    assert 0 < bottom < bottom + SIZE[1] < 1
    assert not bottom < height < bottom + SIZE[1]


def test_where_nothing_is_free_the_least_is_covered():
    crowd = np.random.RandomState(3).random_sample((4_000, 2)) * (1, 0.8)
    _, bottom = free_corner(crowd, (0.5, 0.1), SIZE)
    assert bottom > 0.75


def random_curve(seed, length=80, levels=25):
    rng = np.random.default_rng(seed)
    truth = np.zeros(length, dtype=np.uint8)
    for start in rng.choice(np.arange(0, length - 6, 12), size=4, replace=False):
        truth[start : start + 4] = 1
    return cc.affiliation_curve(truth, rng.integers(0, levels, length) + 8 * truth)


class TestFreeResponse:
    def line(self, axes, name):
        return next(line for line in axes.lines if line.get_label() == name)

    @pytest.mark.parametrize("seed", range(10))
    def test_every_threshold_and_the_most_that_is_caught(self, seed):
        curve = random_curve(seed)
        axes = plot_curve(curve, kind="froc")
        unit = float(axes.get_xlabel().removeprefix("false alarms per "))
        points = np.concatenate(
            [self.line(axes, name).get_xydata() for name in ("any threshold", "over half in alarm")]
        )
        results = [curve.at(threshold) for threshold in curve.thresholds]
        places = {(r.false_alarms * unit / 80, r.caught) for r in results}
        assert {(round(x, 9), y) for x, y in points} == {(round(x, 9), y) for x, y in places}
        x, y = self.line(axes, "most caught").get_data()
        for count in range(max(r.false_alarms for r in results) + 1):
            within = [r.caught for r in results if r.false_alarms <= count and r.alarmed <= 0.5]
            height = y[np.flatnonzero(x <= count * unit / 80 + 1e-9)[-1]]
            assert height == max(within, default=0)

    def test_one_endless_alarm_is_not_the_most_that_is_caught(self):
        curve = cc.affiliation_curve([0, 0, 0, 1, 0, 0, 0, 0], [9, 0, 8, 0, 7, 0, 0, 0])
        axes = plot_curve(curve, kind="froc")
        assert self.line(axes, "most caught").get_ydata().max() == 0
        assert self.line(axes, "over half in alarm").get_ydata().tolist()[-1] == 1

    def test_the_chosen_point_is_marked_and_told_as_the_headline_tells_it(self):
        curve = demo_curve("threshold")
        point = curve.best(max_false_alarms_per=(1, timedelta(days=5)))
        axes = curve.plot(kind="froc", point=point)
        text, (x, y) = axes.texts[-1].get_text(), axes.lines[-1].get_xydata()[0]
        assert (round(x * 14, 9), y) == (point.false_alarms, point.caught)
        headline = curve.at(point.threshold).headline
        assert all(part in headline for part in text.split("\n")[:2])
        assert axes.get_xlabel() == "false alarms a day"

    def test_a_long_curve_is_drawn_through_few_points(self):
        curve = random_curve(3, length=20_000, levels=1 << 40)
        axes = plot_curve(curve, kind="froc")
        drawn = sum(line.get_xdata().size for line in axes.lines)
        assert drawn < 2500 < len(curve)
        most = self.line(axes, "most caught").get_ydata().max()
        assert most == curve.caught[curve.alarmed <= 0.5].max()

"""Arrows from each side of a zone to the other."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.plot import plot_distances
from closecall.plot.distances import percents
from tests.plot.pictures import running_example


def arrows(axes):
    """Sideways and upright lines as (x, y) pairs, without the borders of the zone."""
    segments = [
        segment
        for lines in axes.collections[1:]
        if isinstance(lines, LineCollection)
        for segment in lines.get_segments()
    ]
    sideways = [tuple(s[:, 0]) for s in segments if s[0, 1] == s[1, 1]]
    upright = [s for s in segments if s[0, 0] == s[1, 0]]
    return sideways, upright


def bars(axes):
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]


def minutes():
    truth, predicted = cc.Events([(0, 10)]), cc.Events([(5, 6), (7, 10), (11, 12)])
    return cc.affiliation(truth, predicted, span=(0, 30))


def test_titles_tell_the_mean_distances_of_the_paper():
    titles = [
        [axes.get_title() for axes in plot_distances(running_example(), event=event)]
        for event in range(3)
    ]
    means = ("18 s", "1 min 16.5 s"), ("11 min 30 s", "2 min 30 s"), ("31 min 15 s", "2 min 30 s")
    assert titles == [
        [f"predictions to event: {there} on average", f"event to predictions: {back} on average"]
        for there, back in means
    ]


def test_arrows_end_at_the_nearest_time_of_the_other_side():
    left, right = plot_distances(minutes())
    sideways, upright = arrows(left)
    assert len(sideways) == 7
    assert {end for _, end in sideways} == {10}
    assert all(11 < start < 12 for start, _ in sideways)
    full = [s[0, 0] for s in upright if abs(s[1, 1] - s[0, 1]) == 1 and s[0, 0] != 10]
    assert {int(x) for x in full} == {5, 7, 8, 9}, "upright where the prediction is in the event"
    sideways, _ = arrows(right)
    assert {end for _, end in sideways} == {5, 6, 7}
    assert all(0 < start < 5 for start, end in sideways if end == 5)


def test_no_two_arrows_cross():
    left, _ = plot_distances(running_example(), event=1)
    sideways, stems = [], []
    for lines in left.collections[1:]:
        for (x0, y0), (x1, y1) in lines.get_segments():
            (sideways if y0 == y1 else stems).append((x0, y0, x1, y1))
    assert len(sideways) > 10
    for x0, y, x1, _ in sideways:
        for x, low, _, high in stems:
            strictly_between = min(x0, x1) < x < max(x0, x1)
            assert not (strictly_between and min(low, high) < y < max(low, high))


def test_bars_are_where_the_events_are():
    left, right = plot_distances(minutes())
    for axes in (left, right):
        assert bars(axes) == [(0, 10), (5, 6), (7, 10), (11, 12)]
        assert axes.get_xlim() == (0, 30)
    assert [label.get_text() for label in left.get_yticklabels()] == ["event", "predictions"]


def shares(axes):
    """Texts about shares that a reader sees."""
    axes.figure.draw_without_rendering()
    renderer = axes.figure.canvas.get_renderer()
    return [text for artist in axes.artists for _, text in artist.placed(renderer)]


def test_shares_are_written_where_each_has_room():
    left, _ = plot_distances(minutes())
    assert shares(left) == ["80%: on target", "20%: 1.5"]


def test_what_is_on_target_here_and_there_is_one_share():
    # Of the ten minutes one and three are on target; five are 2.5 off, and twice half of one 0.25.
    _, right = plot_distances(minutes())
    assert shares(right) == ["40% on target, 60% off by 2.125 on average"]


def test_shares_that_have_no_room_are_summed_up():
    alarms = cc.Events([(0, 1), (495, 505), (999, 1000)])
    result = cc.affiliation(cc.Events([(495, 510)]), alarms, span=(0, 1000))
    left, _ = plot_distances(result)
    assert shares(left) == ["8%: 494.5", "84%: on target", "8%: 489.5"]
    near = cc.Events([(480, 481), (495, 505), (511, 512), (600, 601)])
    left, _ = plot_distances(cc.affiliation(cc.Events([(495, 510)]), near, span=(0, 1000)))
    # Ten of thirteen are on target; three are 14.5, 1.5 and 90.5 off.
    assert shares(left) == ["77% on target, 23% off by 35.5 on average"]


def test_percents_add_up():
    assert percents([1 / 3, 1 / 3, 1 / 3]) == ["34%", "33%", "33%"]
    assert percents([0.4, 0.6]) == ["40%", "60%"]
    assert percents([0.004, 0.996]) == ["<1%", ">99%"]
    assert percents([0.0, 1.0]) == ["0%", "100%"]


@pytest.mark.parametrize("days", [1, 2, 3, 4, 5, 9, 30, 60, 200, 500, 900])
def test_any_length_of_time_has_dates(days):
    start = datetime(2024, 3, 1)  # noqa: DTZ001 - no zone is needed
    times = [start + timedelta(days=days) * share for share in (0, 0.4, 0.6, 1)]
    truth = cc.Events([(times[1], times[2])])
    figure, axes = plt.subplots()
    plot_distances(truth, truth, span=(times[0], times[3]), side="recall", ax=axes)
    low, high = axes.get_xlim()
    for inches in (2, 9):
        figure.set_size_inches(inches, 2)
        figure.draw_without_rendering()  # a warning is an error here
        assert 1 <= sum(low <= tick <= high for tick in axes.get_xticks()) <= 12, inches


def test_a_small_event_in_a_wide_zone_is_shown_closer():
    result = cc.affiliation(cc.Events([(5000, 5010)]), cc.Events([(4990, 5004)]), span=(0, 10_000))
    left, right = plot_distances(result)
    low, high = left.get_xlim()
    assert 4970 < low < 4990
    assert 5010 < high < 5040
    assert right.get_xlim()[0] > low
    assert len(left.collections[0].get_segments()) == 0, "the borders are not in sight"


def test_an_event_without_predictions():
    result = cc.affiliation(cc.Events([(10, 20), (70, 80)]), cc.Events([(12, 15)]), span=(0, 100))
    axes = plot_distances(result, event=1)
    assert [panel.get_title() for panel in axes] == [
        "predictions to event: no prediction in the zone",
        "event to predictions: no prediction in the zone",
    ]
    assert [bars(panel) for panel in axes] == [[(70, 80)]] * 2


def test_hundreds_of_predictions_are_few_artists():
    starts = np.arange(0, 9000, 30)
    predicted = cc.Events.from_arrays(starts, starts + 5)
    left, _ = plot_distances(cc.Events([(4000, 4100)]), predicted, span=(0, 9000))
    assert len(arrows(left)[0]) < 40


def test_one_side_takes_and_gives_one_axes():
    _, (one, other) = plt.subplots(ncols=2)
    assert plot_distances(minutes(), side="recall", ax=other) is other
    assert other.get_title().startswith("event to predictions")
    assert not one.collections
    pair = plot_distances(minutes(), ax=[one, other])
    assert list(pair) == [one, other]


def test_vectors_with_times_do_as_well():
    times = np.arange("2024-01-01T00:00", "2024-01-01T00:10", dtype="datetime64[m]")
    truth, predicted = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    left, _ = plot_distances(truth, predicted, times=times.astype("datetime64[s]"))
    assert left.get_title() == "predictions to event: 2 min on average"


def test_misuse_is_named():
    with pytest.raises(InputError, match="`side` to be 'both', 'precision' or 'recall', got"):
        plot_distances(minutes(), side="left")
    with pytest.raises(InputTypeError, match="no `span` beside a result, which has its own"):
        plot_distances(minutes(), span=(0, 30))
    with pytest.raises(InputTypeError, match=r"`ax` to be 2 axes \(precision, recall\), got 1 of"):
        plot_distances(minutes(), ax=plt.subplots()[1])
    with pytest.raises(InputTypeError, match="`ax` to be one axes"):
        plot_distances(minutes(), side="recall", ax=3)


def test_ignored_time_takes_room_and_no_distance():
    """The arrow spans what is ignored, and the distance it stands for does not."""
    truth, alarms = cc.Events([(60, 70)]), cc.Events([(20, 22), (40, 62)])
    axis = {"span": (0, 100), "ignore": [(30, 50)]}
    panel = plot_distances(truth, alarms, side="precision", **axis)
    assert panel.get_xlabel() == "hatched: ignored"
    hatched = [path.get_extents() for path in panel.collections[-1].get_paths()]
    assert [(box.x0, box.x1) for box in hatched] == [(30, 50)]
    assert bars(panel) == [(60, 70), (20, 22), (50, 62)]
    # 2 at a distance of 19 and 10 at one of 5 on the closed axis, and 2 inside.
    assert panel.get_title() == f"predictions to event: {(2 * 19 + 10 * 5) / 14:.4g} on average"
    result = cc.affiliation(truth, alarms, **axis)
    assert plot_distances(result, side="precision").get_title() == panel.get_title()
    whole = plot_distances(truth, alarms, side="precision", span=(0, 100))
    assert whole.get_xlabel() == ""

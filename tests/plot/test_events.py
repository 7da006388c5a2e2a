"""What `plot_events` draws: bars, zones, texts and axes, read back from the figure."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.dates import num2date

import closecall as cc
from closecall.datasets import demo
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.plot import plot_events
from tests.plot.pictures import running_example

TRUTH = cc.Events([(10, 20), (60, 65)])
PREDICTED = cc.Events([(12, 15), (50, 60), (80, 90)])
SPAN = (0, 100)


def lanes(ax):
    """Bars of each lane, from the truth down, as (left, right, bottom, top)."""
    shadows, *bars = [c for c in ax.collections if isinstance(c, PolyCollection)]
    found = []
    for lane in (shadows, *bars):
        boxes = [path.get_extents() for path in lane.get_paths()]
        found.append([(box.x0, box.x1, box.y0, box.y1) for box in boxes])
    return found[0], found[1:]


def extents(bars):
    return [(left, right) for left, right, _, _ in bars]


def zone_lines(ax):
    (lines,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert lines.get_linestyle()[0][1] is not None, "zone borders are dashed"
    return [segment[0][0] for segment in lines.get_segments()]


def written(ax):
    """Texts that a reader sees, in drawing order."""
    found, renderer = [], ax.figure.canvas.get_renderer()

    def draw_text(gc, x, y, text, *_, ismath=False, **__):
        found.append(f"as mathematics: {text}" if ismath else text.strip())

    with renderer._draw_disabled():  # lays everything out, and paints nothing
        renderer.draw_text = draw_text
        ax.figure.draw(renderer)
    return found


def test_one_bar_per_event_where_the_event_is():
    shadows, (true_bars, bars) = lanes(plot_events(TRUTH, PREDICTED, span=SPAN))
    assert extents(true_bars) == list(TRUTH)
    assert extents(bars) == list(PREDICTED)
    assert extents(shadows) == list(TRUTH)


def test_lanes_lie_below_each_other_inside_the_axes():
    ax = plot_events(TRUTH, {"a": PREDICTED, "b": TRUTH, "c": PREDICTED}, span=SPAN)
    _, drawn = lanes(ax)
    assert [len(bars) for bars in drawn] == [2, 3, 2, 3]
    low, high = ax.get_ylim()
    edges = [high, *(edge for bars in drawn for edge in (bars[0][3], bars[0][2])), low]
    assert edges == sorted(edges, reverse=True)


def test_zones_are_dashed_halfway_between_events():
    ax = plot_events(TRUTH, PREDICTED, span=SPAN)
    assert zone_lines(ax) == [40]
    assert ax.get_xlim() == SPAN


def test_scores_of_each_event_and_overall_are_written():
    result = cc.affiliation(TRUTH, PREDICTED, span=SPAN)
    texts = written(plot_events(TRUTH, {"mine": PREDICTED}, span=SPAN))
    for precision, recall in zip(result.events.precision, result.events.recall, strict=True):
        shown = "1.00" if precision == 1 else f"{precision:.2f}"
        assert f"{shown} / {recall:.2f}" in texts
    assert f"{result.precision:.2f} / {result.recall:.2f}" in texts
    assert {"truth", "mine", "1", "2"} <= set(texts)


def test_mean_distances_may_be_written_instead():
    dated = running_example().plot(write="distances")
    dated.figure.set_size_inches(14, 2)
    texts = written(dated)
    assert {"18 s / 1 min 16.5 s", "11 min 30 s / 2 min 30 s", "5 min late"} <= set(texts)
    assert any("mean distance of the predictions / of the event" in text for text in texts)
    ax = plot_events(TRUTH, cc.Events([(12, 15)]), span=SPAN, write="distances")
    assert {"0 / 1.45", "2 late", "missed, nearest 45 before"} <= set(written(ax))
    ax.set_xlim(40, 4000)
    assert not any("missed" in text for text in written(ax))
    assert "no room for the numbers of 1 of 1 event" in written(ax)


def test_outcomes_are_told_in_as_many_words_as_there_is_room_for():
    # The last event has predictions in its zone, and is missed all the same.
    truth = cc.Events([(10, 20), (60, 65), (110, 120), (170, 180)])
    predicted = cc.Events([(12, 15), (50, 59), (115, 135), (198, 199)])
    ax = plot_events(truth, predicted, span=(0, 200))
    ax.figure.set_size_inches(14, 2)
    told = ["2 late", "close call, 1 before", "5 late", "missed, nearest 18 after"]
    assert set(told) <= set(written(ax))
    ax.figure.set_size_inches(4.2, 2)
    texts = written(ax)
    assert {"2 late", "close call", "5 late", "missed"} <= set(texts)
    ax.set_xlim(0, 400)
    assert {"2 late", "close call", "missed"}.isdisjoint(written(ax))
    assert {"1.00", "0.93"} <= set(written(ax))


def test_ignored_time_is_hatched_and_named_and_gaps_break_the_line():
    times = np.concatenate((np.arange(0, 100), np.arange(160, 260)))
    truth, predicted = np.zeros((2, 200), dtype=int)
    truth[[50, 51, 150]] = 1
    predicted[[30, 51, 99, 150]] = 1
    ignore = [(0, 40)]
    ax = plot_events(
        truth, predicted, times=times, max_step=1, ignore=ignore, values=np.arange(200), ax=None
    )
    _, (_, bars, stretches, above) = lanes(ax)
    assert extents(stretches) == extents(above) == [(0, 40), (100, 160)]
    assert extents(bars) == [(51, 52), (99, 100), (210, 211)]
    texts = written(ax)
    assert texts.count("ignored") == 2
    assert "hatched: ignored, 100 in all" in " ".join(texts)
    x, y = ax.lines[0].get_data()
    assert np.isnan(y).nonzero()[0].tolist() == [100]
    assert x[~np.isnan(y)].tolist() == times.tolist(), "values in ignored time are drawn too"
    # The picture of the result is the same, but for the values.
    axis = {"times": times, "max_step": 1, "ignore": ignore}
    drawn = lanes(cc.affiliation(truth, predicted, **axis).plot())[1][2]
    assert drawn == lanes(plot_events(truth, predicted, **axis))[1][2]


def note(ax):
    return [text for text in written(ax) if text.startswith("no room")]


def test_what_has_no_room_is_counted():
    starts = np.concatenate((np.arange(0, 40, 2), [500, 800]))
    truth = cc.Events.from_arrays(starts, starts + 1)
    ax = plot_events(truth, {"all": truth, "last": truth}, span=(0, 1000))
    assert note(ax) == ["no room for the numbers of events: 19 of 22 (all), 19 of 22 (last)"]
    # The figure keeps the line free, whatever its size.
    ax.figure.canvas.draw()
    box = ax.figure.get_tightbbox()
    assert box.y0 > -0.02
    ax.set_xlim(300, 1000)
    assert note(ax) == []
    one = plot_events(truth, truth, span=(0, 1000))
    assert note(one) == ["no room for the numbers of 19 of 22 events"]
    many = {f"detector {number}": truth for number in range(5)}
    ax = plot_events(truth, many, span=(0, 1000))
    assert note(ax) == ["no room for the numbers of up to 19 of 22 events in 5 lanes"]


def test_texts_shrink_and_vanish_with_the_room_and_return_on_zoom():
    count = 30
    truth = cc.Events([(100 * i + 40, 100 * i + 60) for i in range(count)])
    figure, ax = plt.subplots(figsize=(20, 2))
    plot_events(truth, truth, span=(0, 100 * count), ax=ax)
    assert written(ax).count("1.00 / 1.00") == 1, "only the lane's own, in its name"
    assert written(ax).count("1.00") == 2 * count
    figure.set_size_inches(3, 2)
    assert written(ax).count("1.00") == 0
    ax.set_xlim(300, 600)
    assert written(ax).count("1.00 / 1.00") == 3 + 1
    assert [str(n) for n in range(1, 31) if str(n) in written(ax)] == ["4", "5", "6"]


def test_texts_stay_inside_their_zone():
    truth = cc.Events([(0, 2), (50, 52), (98, 100)])
    ax = plot_events(truth, truth, span=SPAN)
    ax.figure.canvas.draw()
    scores = ax.artists[1]
    renderer = ax.figure.canvas.get_renderer()
    positions = [x for x, _ in scores.placed(renderer)]
    assert positions[0] > 1
    assert positions[1] == pytest.approx(51)
    assert positions[2] < 99


def test_datetimes_and_their_zone_are_on_the_axis():
    zone = ZoneInfo("Europe/Paris")
    start = datetime(2024, 7, 1, 8, tzinfo=zone)
    times = [start + timedelta(minutes=i) for i in range(240)]
    labels = np.zeros(240, dtype=int)
    labels[60:90] = 1
    ax = plot_events(labels, np.roll(labels, 5), times=times)
    _, (true_bars, bars) = lanes(ax)
    (left, right), (moved, _) = extents(true_bars)[0], extents(bars)[0]
    hour = timedelta(hours=1)
    near = timedelta(microseconds=50)
    assert abs(num2date(left, tz=UTC) - (start + hour)) < near
    assert abs(num2date(right, tz=UTC) - (start + 1.5 * hour)) < near
    assert abs(num2date(moved, tz=UTC) - (start + timedelta(minutes=65))) < near
    assert "09:00" in written(ax), "nine in Paris, seven in UTC"


def test_times_that_floats_cannot_tell_apart_are_drawn_from_the_start():
    start = np.datetime64("2024-01-01T00:00:00", "ns")
    times = start + np.arange(10)
    labels = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0]
    ax = plot_events(labels, labels, times=times)
    assert extents(lanes(ax)[1][0]) == [(2, 4), (7, 8)]
    assert ax.get_xlabel() == "ns since 2024-01-01 00:00:00"
    ax = plot_events(labels, labels, times=np.arange(10) + 2**60)
    assert extents(lanes(ax)[1][0]) == [(2, 4), (7, 8)]
    assert ax.get_xlabel() == f"ticks since {2**60}"
    assert zone_lines(ax) == [5.5]


def test_numbers_that_are_not_integers_keep_their_place():
    truth = cc.Events([(10.5, 11.25), (13.75, 14.0)])
    ax = plot_events(truth, truth, span=(10.0, 15.0))
    assert zone_lines(ax) == [12.5]
    assert extents(lanes(ax)[1][1]) == list(truth)
    assert ax.get_xlim() == (10, 15)


def test_points_are_drawn_wide_enough_to_see():
    ax = plot_events(TRUTH, cc.Events.from_points([12, 70]), span=SPAN)
    assert extents(lanes(ax)[1][1]) == [(12, 12), (70, 70)]
    drawn = [c for c in ax.collections if isinstance(c, PolyCollection)][-1]
    assert min(drawn.get_linewidths()) >= 1


def test_the_series_is_drawn_above_the_lanes_with_its_own_scale():
    data = demo()
    ax = plot_events(data.truth, data.predicted, times=data.times, values=data.values)
    (line,) = ax.get_lines()
    heights = line.get_ydata()
    assert heights.size == data.values.size
    top_of_lanes = max(bar[3] for bars in lanes(ax)[1] for bar in bars)
    assert heights.min() > top_of_lanes
    assert heights.argmax() == data.values.argmax()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[0] == "truth"
    assert [label.partition("\n")[0] for label in labels[1:3]] == list(data.predicted)
    # A tick of the series stands at the height of the value it names.
    value, height = float(labels[3]), ax.get_yticks()[3]
    slope = np.ptp(heights) / np.ptp(data.values)
    assert height == pytest.approx(heights.min() + slope * (value - data.values.min()))


def test_a_flat_series_and_a_gap_can_be_drawn():
    values = [5.0, 5.0, np.nan, 5.0]
    ax = plot_events([0, 1, 0, 0], [0, 1, 0, 0], values=values)
    heights = ax.get_lines()[0].get_ydata()
    assert np.isnan(heights).tolist() == [False, False, True, False]
    assert len(set(heights[[0, 1, 3]])) == 1
    assert "5" in [label.get_text() for label in ax.get_yticklabels()]


def test_thousands_of_events_are_a_handful_of_artists():
    rng = np.random.default_rng(0)
    truth, predicted = np.zeros(450_000, dtype=np.uint8), np.zeros(450_000, dtype=np.uint8)
    for start in np.linspace(5_000, 440_000, 35).astype(int):
        truth[start : start + 300] = 1
    predicted[rng.choice(150_000, 2_600, replace=False) * 3] = 1
    ax = plot_events(truth, {"noise": predicted})
    _, (true_bars, bars) = lanes(ax)
    assert (len(true_bars), len(bars), len(zone_lines(ax))) == (35, 2_600, 34)
    assert len(ax.collections) + len(ax.artists) + len(ax.texts) < 10
    assert "35" in written(ax)


def test_the_axes_given_is_the_one_drawn_on_and_returned():
    _, (left, right) = plt.subplots(ncols=2)
    assert plot_events(TRUTH, PREDICTED, span=SPAN, ax=right) is right
    assert not left.collections
    assert len(plt.get_fignums()) == 1


def test_misuse_is_named():
    with pytest.raises(InputError, match="`predicted` to hold at least one prediction"):
        plot_events(TRUTH, {}, span=SPAN)
    with pytest.raises(InputError, match="one number for each of the 3 labels, got 2"):
        plot_events([0, 1, 0], [0, 1, 0], values=[1, 2])
    with pytest.raises(InputTypeError, match="`values` to be numbers"):
        plot_events([0, 1, 0], [0, 1, 0], values=["a", "b", "c"])
    with pytest.raises(InputTypeError, match=r"`values` only beside 0/1 vectors.*\n\n.*to_labels"):
        plot_events(TRUTH, PREDICTED, span=SPAN, values=[1, 2])
    with pytest.raises(InputError, match="`write` to be 'scores' or 'distances', got"):
        plot_events(TRUTH, PREDICTED, span=SPAN, write="all")
    with pytest.raises(UndefinedMetricError):
        plot_events([0, 0], [0, 1])
    with pytest.raises(InputError, match=r"`predicted\['bad'\]` labels to be 0 or 1"):
        plot_events([0, 1], {"good": [0, 1], "bad": [0, 2]})

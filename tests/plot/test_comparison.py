"""Dumbbells: one row per event, one marker per detector."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.plot import plot_comparison
from closecall.plot.drawing import PREDICTED

TRUTH, SPAN = cc.Events([(10, 20), (60, 65), (90, 95)]), (0, 100)
EARLY, LATE = cc.Events([(5, 15), (50, 60)]), cc.Events([(15, 30), (64, 70), (92, 95)])


def results(**predicted):
    return {name: cc.affiliation(TRUTH, events, span=SPAN) for name, events in predicted.items()}


def markers(axes, color):
    """Filled and hollow markers of one colour, as [(x, y)]."""
    found = {True: [], False: []}
    for line in axes.lines:
        if line.get_linestyle() == "None" and line.get_color() == color:
            hollow = line.get_markerfacecolor() == "white"
            found[not hollow] += [tuple(map(float, point)) for point in line.get_xydata()]
    return found[True], found[False]


def test_markers_stand_at_the_scores():
    both = results(early=EARLY, late=LATE)
    axes = plot_comparison(both)
    for panel, score in zip(axes, ("precision", "recall", "f1"), strict=True):
        filled, hollow = markers(panel, PREDICTED[1])
        own = getattr(both["late"].events, score)
        assert [x for x, _ in filled] == pytest.approx([*own, getattr(both["late"], score)])
        assert [y for _, y in filled] == [0, 1, 2, 3.5]
        assert hollow == []
        assert panel.get_ylim()[0] > panel.get_ylim()[1], "the first event is on top"


def test_what_was_missed_has_a_column_of_its_own():
    axes = plot_comparison(results(early=EARLY, late=LATE))
    for panel in axes:
        filled, ((x, y),) = markers(panel, PREDICTED[0])
        assert len(filled) == 3
        assert y == 2
        labels = panel.get_xticklabels()
        names = {t: label.get_text() for t, label in zip(panel.get_xticks(), labels, strict=True)}
        assert names[x] == "no alarm"
        assert x < 0
    (panel,) = [plot_comparison(results(late=LATE), scores="f1")]
    assert "no alarm" not in [label.get_text() for label in panel.get_xticklabels()]


def test_markers_are_filled_by_what_happened_to_the_event():
    both = results(early=EARLY, late=LATE)
    assert both["early"].events.outcome.tolist() == ["caught", "close call", "missed"]
    panel = plot_comparison(both, scores="precision")
    fills = {}
    for line in panel.lines:
        if line.get_linestyle() == "None" and line.get_color() == PREDICTED[0]:
            hollow = line.get_markerfacecolor() == "white"
            fill = "hollow" if hollow else line.get_fillstyle()
            fills |= dict.fromkeys(line.get_ydata().tolist(), fill)
    assert fills == {0: "full", 1: "left", 2: "hollow", 3.5: "full"}


def test_lines_have_the_colour_of_the_better_one():
    both = results(early=EARLY, late=LATE)
    panel = plot_comparison(both, scores="f1")
    lines, dotted = panel.collections
    f1 = np.array([[*r.events.f1, r.f1] for r in both.values()])
    best = np.nanargmax(np.nan_to_num(f1, nan=-1), axis=0)
    assert [to_hex(c).upper() for c in lines.get_colors()] == [PREDICTED[i] for i in best]
    segments = np.array(lines.get_segments())[:, :, 0]
    assert segments[0].tolist() == pytest.approx(sorted(f1[:, 0]))
    assert [s[0, 0] != s[1, 0] for s in dotted.get_segments()] == [False, False, True, False]


def test_many_detectors_stand_apart_within_their_row():
    four = results(a=EARLY, b=LATE, c=LATE, d=LATE)
    panel = plot_comparison(four, scores="recall")
    heights = [markers(panel, PREDICTED[i])[0][0][1] for i in range(4)]
    assert heights == sorted(heights)
    assert len(set(heights)) == 4
    assert max(map(abs, heights)) < 0.5
    shapes = {line.get_marker() for line in panel.lines if line.get_linestyle() == "None"}
    assert len(shapes) == 4, "in print without colour"


def test_the_legend_names_the_detectors_with_their_scores():
    both = results(early=EARLY, late=LATE)
    (legend,) = plot_comparison(both)[0].figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    f1 = [f"{result.f1:.2f}" for result in both.values()]
    assert texts == [
        f"early  (1 of 3 caught, F1 {f1[0]})",
        f"late  (3 of 3 caught, F1 {f1[1]})",
        "caught",
        "close call",
        "missed",
    ]
    _, ax = plt.subplots()
    assert plot_comparison(both, scores="f1", ax=ax) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == texts


def test_rows_are_named_by_number_and_by_date():
    times = np.arange("2024-01-01", "2024-04-10", dtype="datetime64[D]").astype("datetime64[s]")
    labels = TRUTH.to_labels(np.arange(100))
    panel = plot_comparison({"x": cc.affiliation(labels, labels, times=times)}, scores="f1")
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == ["2024-01-11 00:00   1", "2024-03-01 00:00   2", "2024-03-31 00:00   3", "all"]


def test_hundreds_of_events_are_thinned_and_stay_on_a_page():
    starts = np.arange(0, 60_000, 100)
    truth = cc.Events.from_arrays(starts, starts + 10)
    same = cc.affiliation(truth, truth, span=(0, 60_000))
    panel = plot_comparison({"x": same}, scores="f1")
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names[0] in {"5", "10"}
    assert names[-1] == "all"
    assert 40 < len(names) < 150
    assert panel.figure.get_size_inches()[1] <= 18


def test_an_object_with_results_will_do():
    panel = plot_comparison(SimpleNamespace(results=results(late=LATE)), scores=["f1"])
    assert len(markers(panel, PREDICTED[0])[0]) == 4


def test_misuse_is_named():
    with pytest.raises(InputTypeError, match="a mapping from names to results, got list"):
        plot_comparison([1])
    with pytest.raises(InputTypeError, match=r"`comparison\['a'\]` to be what `closecall.affil"):
        plot_comparison({"a": 1})
    with pytest.raises(InputError, match="at least one result, got none"):
        plot_comparison({})
    with pytest.raises(InputError, match=r"`scores` to be some of .* got 'f2'"):
        plot_comparison(results(late=LATE), scores="f2")
    other = cc.affiliation(cc.Events([(1, 2)]), LATE, span=SPAN)
    with pytest.raises(InputError, match="the same true events, got others for 'b' than for 'a'"):
        plot_comparison({**results(a=LATE), "b": other})
    with pytest.raises(InputTypeError, match=r"`ax` to be 3 axes \(precision, recall, f1\)"):
        plot_comparison(results(a=LATE), ax=plt.subplots()[1])

"""Windows around true events: counted once, and the margin rule of change points."""

from datetime import datetime, timedelta
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.metrics.window import margin, window_once
from tests.oracle import window as oracle

SPAN = (0, 40)


@st.composite
def events(draw, *, step=1.0):
    """Draw disjoint events in the span, points among them, on multiples of the step."""
    last = int(SPAN[1] / step)
    borders = draw(st.lists(st.integers(0, last - 1), min_size=0, max_size=12, unique=True))
    borders.sort()
    pairs = []
    while borders:
        start = borders.pop(0)
        if borders and draw(st.booleans()):
            pairs.append((start * step, borders.pop(0) * step))
        else:
            pairs.append((start * step, start * step))
    return pairs


def on_integers(pairs):
    return cc.Events([(int(start), int(stop)) for start, stop in pairs])


def same(result, expected):
    return np.allclose([result.precision, result.recall], expected, atol=1e-12, equal_nan=True)


@given(events(), events(), st.sampled_from([0, 1, 2, 3, 2.5, 10]))
def test_window_once_on_samples_is_its_definition(truth, predicted, reach):
    found = window_once(on_integers(truth), on_integers(predicted), margin=reach, span=SPAN)
    assert same(found, oracle.window_once(truth, predicted, reach, whole=True))


@given(events(step=0.5), events(step=0.5), st.sampled_from([0, 0.5, 1, 2.5, 10]))
def test_window_once_on_numbers_is_its_definition(truth, predicted, reach):
    found = window_once(cc.Events(truth), cc.Events(predicted), margin=reach, span=(0.0, 40.0))
    assert same(found, oracle.window_once(truth, predicted, reach, whole=False))


@given(events(), events(), st.sampled_from([0, 1, 2, 3, 2.5, 10]))
def test_margin_on_samples_is_its_definition(truth, predicted, reach):
    found = margin(on_integers(truth), on_integers(predicted), margin=reach, span=SPAN)
    assert same(found, oracle.margin_rule(truth, predicted, reach, whole=True))


@given(events(step=0.5), events(step=0.5), st.sampled_from([0, 0.5, 1, 2.5, 10]))
def test_margin_on_numbers_is_its_definition(truth, predicted, reach):
    found = margin(cc.Events(truth), cc.Events(predicted), margin=reach, span=(0.0, 40.0))
    assert same(found, oracle.margin_rule(truth, predicted, reach, whole=False))


@given(events(step=0.5), events(step=0.5), st.sampled_from([0, 1, 2.5]))
def test_datetimes_give_what_numbers_give(truth, predicted, reach):
    def stamp(hours):
        return datetime(2024, 1, 1) + timedelta(hours=hours)  # noqa: DTZ001 - none is needed

    def dated(pairs):
        return cc.Events([(stamp(start), stamp(stop)) for start, stop in pairs])

    span, wide = (stamp(0), stamp(40)), timedelta(hours=reach)
    for metric in (window_once, margin):
        numbers = metric(cc.Events(truth), cc.Events(predicted), margin=reach, span=(0.0, 40.0))
        dates = metric(dated(truth), dated(predicted), margin=wide, span=span)
        assert same(dates, (numbers.precision, numbers.recall))


@given(events(), events(), st.integers(0, 8))
def test_window_once_finds_no_fewer_than_margin(truth, predicted, reach):
    sides = on_integers(truth), on_integers(predicted)
    once, matched = (metric(*sides, margin=reach, span=SPAN) for metric in (window_once, margin))
    assert isnan(once.recall) or once.recall >= matched.recall


def test_a_window_counts_once():
    truth, predicted = cc.Events.from_points([20, 50]), cc.Events.from_points([18, 19, 23, 90])
    assert window_once(truth, predicted, margin=5, span=(0, 100)).values() == {
        "precision": 0.5,  # one window hit, one false alarm at 90
        "recall": 0.5,
        "f1": 0.5,
    }


def test_the_margin_rule_divides_by_all_predictions():
    truth, predicted = cc.Events.from_points([20, 50]), cc.Events.from_points([18, 19, 23, 90])
    result = margin(truth, predicted, margin=5, span=(0, 100))
    assert (result.precision, result.recall) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("reach", "precision", "recall"), [(5, 0.0, 0.0), (6, 1 / 4, 1 / 2), (20, 1 / 4, 1 / 2)]
)
def test_change_points_of_the_guide_of_ruptures(reach, precision, recall):
    """Its first example: true changes at 100 and 200, estimates at 105, 115, 350 and 400."""
    truth, predicted = (
        cc.Events.from_points([100, 200]),
        cc.Events.from_points([105, 115, 350, 400]),
    )
    result = margin(truth, predicted, margin=reach, span=(0, 500))
    assert (result.precision, result.recall) == (precision, recall)


@pytest.mark.parametrize("metric", [window_once, margin])
@pytest.mark.parametrize("labels", [[0, 1, 0, 0, 1, 1], [1, 0, 0, 0, 0, 1], [1, 1, 1]])
def test_a_perfect_prediction_at_margin_0_is_perfect(metric, labels):
    assert metric(labels, labels, margin=0).values() == {"precision": 1, "recall": 1, "f1": 1}


def test_overlapping_windows_keep_precision_at_1():
    truth, predicted = cc.Events.from_points([10, 12]), cc.Events.from_points([11])
    once = window_once(truth, predicted, margin=2, span=(0, 20))
    assert (once.precision, once.recall) == (1.0, 1.0)
    matched = margin(truth, predicted, margin=2, span=(0, 20))
    assert (matched.precision, matched.recall) == (1.0, 0.5)  # the paper's rule would give 2 and 1


def test_as_many_as_possible_are_paired():
    """A true event must not take every prediction near it, as it does in ruptures."""
    truth, predicted = cc.Events.from_points([10, 12]), cc.Events.from_points([11, 13])
    result = margin(truth, predicted, margin=5, span=(0, 20))
    assert (result.precision, result.recall) == (1.0, 1.0)


@pytest.mark.parametrize(("reach", "recall"), [(2, 0.0), (3, 1.0)])
def test_samples_of_ranges_are_as_far_apart_as_their_nearest(reach, recall):
    result = window_once(cc.Events([(3, 7)]), cc.Events([(9, 10)]), margin=reach, span=(0, 12))
    assert result.recall == recall


def test_margins_beyond_the_span_reach_everything():
    truth, predicted = cc.Events.from_points([0]), cc.Events.from_points([2**61])
    result = window_once(truth, predicted, margin=1e300, span=(0, 2**61 + 1))
    assert (result.precision, result.recall) == (1.0, 1.0)


def test_epoch_nanoseconds_are_compared_exactly():
    origin = np.datetime64("2024-01-01T00:00:00.000000001", "ns")
    truth = cc.Events.from_points(np.array([origin]))
    span = (origin, origin + np.timedelta64(400, "D"))
    distance = np.timedelta64(300, "D")
    predicted = cc.Events.from_points(np.array([origin + distance]))
    closer = distance - np.timedelta64(1000, "ns")
    assert window_once(truth, predicted, margin=distance, span=span).recall == 1.0
    assert window_once(truth, predicted, margin=closer, span=span).recall == 0.0
    assert margin(truth, predicted, margin=distance, span=span).recall == 0.0


def test_ruptures_agrees_where_windows_are_apart():
    ruptures = pytest.importorskip("ruptures.metrics")
    generator = np.random.default_rng(3)
    compared = 0
    for _ in range(300):
        truth, predicted = (
            np.sort(generator.choice(np.arange(1, 300), generator.integers(1, 9), replace=False))
            for _ in range(2)
        )
        reach = int(generator.integers(1, 25))
        if np.diff(truth, append=10_000).min() < 2 * reach - 1:
            continue
        sides = cc.Events.from_points(truth), cc.Events.from_points(predicted)
        ours = margin(*sides, margin=reach, span=(0, 300))
        theirs = ruptures.precision_recall([*truth, 300], [*predicted, 300], margin=reach)
        assert same(ours, theirs)
        compared += 1
    assert compared > 50

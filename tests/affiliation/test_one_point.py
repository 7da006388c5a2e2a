"""One point anywhere in a zone scores what the metric gives it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.affiliation.chance import one_alarm_f1
from closecall.affiliation.one_point import (
    in_blocks,
    integral,
    nodes,
    one_point_f1,
    one_point_precision,
    one_point_recall,
    recall_kinks,
)
from tests.oracle.chance import on_grid


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.data())
def test_scores_are_those_of_the_metric(before, event, after, data):
    length = max(before + event + after, 1)
    place = data.draw(st.integers(0, length))
    truth = cc.Events([(before, before + event)])
    expected = cc.affiliation(truth, cc.Events.from_points([place]), span=(0, length))
    x, u, p = (np.array([value / length]) for value in (place, before, event))
    assert one_point_recall(x[:, None], u, p)[0, 0] == pytest.approx(expected.recall, abs=1e-14)
    if place not in (before, before + event):  # rounding may put it on the other side
        precision = one_point_precision(x[:, None], u, p)[0, 0]
        assert precision == pytest.approx(expected.precision, abs=1e-14)


@pytest.mark.parametrize("p", [1e-14, 1e-9, 1e-4])
def test_short_events_are_no_rounding_error(p):
    x = np.linspace(0, 1, 101)[None, :]
    recall = one_point_recall(x, np.array([0.3]), np.array([p]))
    point = one_point_recall(x, np.array([0.3]), np.array([0.0]))
    np.testing.assert_allclose(recall, point, atol=2 * p + 1e-15)


def test_kinks_of_an_event_in_the_middle():
    kinks = recall_kinks(np.array([0.4]), np.array([0.2]))
    np.testing.assert_allclose(kinks, [[0, 0, 0.2, 0.4, 0.6, 0.8, 1, 1]], atol=1e-15)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_f1_of_one_point(before, event, after):
    length = max(before + event + after, 1)
    sides = on_grid((before, before + event), (0, length), places=4000, times=200)
    total = sides[0] + sides[1]
    f1 = 2 * sides[0] * sides[1] / np.where(total > 0, total, 1)
    found = one_point_f1(np.array([before / length]), np.array([event / length]))
    np.testing.assert_allclose(found[0], [f1.mean(), (f1 * f1).mean()], atol=1e-3)


@given(st.floats(0, 1), st.floats(0, 1))
def test_f1_of_one_point_is_as_good_as_with_many_nodes(place, p):
    u, p = np.array([place * (1 - p)]), np.array([p])
    exact = one_alarm_f1(np.ones(1), u, p)
    mean, square = one_point_f1(u, p)[0]
    assert mean == pytest.approx(exact.mean, abs=1e-5)
    assert square - mean**2 == pytest.approx(exact.variance, abs=1e-5)


def test_three_nodes_integrate_degree_five():
    x, weights = nodes(np.array([[0.0, 0.5, 2.0], [1.0, 1.0, 3.0]]), 3)
    assert integral(x**5, weights).tolist() == pytest.approx([64 / 6, 728 / 6], rel=1e-14)


def test_blocks_join_in_order():
    column = np.arange(10_000.0)
    np.testing.assert_array_equal(in_blocks(np.subtract, column, 3 * column), -2 * column)

"""Classical, composite, event-wise and point-adjusted metrics, against counts of samples."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.metrics import (
    classical,
    composite,
    event_wise,
    point_adjust,
    point_adjust_k,
    point_adjust_k_area,
)
from closecall.metrics.registry import METRICS
from tests.oracle import pointwise as oracle
from tests.properties.strategies import dyadic_steps, labelled, small

LABELS = st.integers(1, 40).flatmap(
    lambda size: small(0, 3, size).map(lambda both: np.divmod(both, 2))
)
PAIRS = {
    "classical": (classical, oracle.classical),
    "composite": (composite, oracle.composite),
    "event_wise": (event_wise, oracle.event_wise),
    "point_adjust": (point_adjust, lambda *sides: oracle.point_adjust_k(*sides, 0)),
    "no adjustment": (
        lambda *sides, **axis: point_adjust_k(*sides, k=100, **axis),
        oracle.classical,
    ),
}


def both(result):
    return result.precision, result.recall


def same(found, expected):
    return found == pytest.approx(tuple(map(float, expected)), rel=1e-14, abs=0, nan_ok=True)


@given(labels=LABELS)
def test_equals_the_count_of_samples(labels):
    """Samples of one minute, or events of the same samples, are counted the same."""
    size = len(labels[0])
    times = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=i) for i in range(size + 1)]
    sides = [cc.Events.from_labels(side) for side in labels]
    for name, (metric, brute_force) in PAIRS.items():
        expected = brute_force(*(side.tolist() for side in labels))
        assert same(both(metric(*labels)), expected), name
        assert same(both(metric(*labels, times=times[:-1], end=times[-1])), expected), name
        assert same(both(metric(*sides, span=(0, size))), expected), name


def test_xu_et_al_figure_of_point_adjustment():
    # The illustration in Xu et al. 2018: ten points, two events, the threshold 0.5.
    truth = [0, 0, 1, 1, 1, 0, 0, 1, 1, 1]
    scores = [0.6, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2, 0.3, 0.4, 0.3]
    predicted = [int(score >= 0.5) for score in scores]
    assert both(classical(truth, predicted)) == (2 / 4, 2 / 6)
    assert both(point_adjust(truth, predicted)) == (3 / 5, 3 / 6)
    assert both(composite(truth, predicted)) == (2 / 4, 1 / 2)
    assert both(event_wise(truth, predicted)) == (1 / 2, 1 / 2)


def test_two_predictions_in_one_event_count_twice():
    """Hundman et al. (2018) count the event once: one of two, where precision here is two of three.

    Their program logs TP / (TP + FP) with one true positive for each true event that is found.
    """
    truth, predicted = [0, 1, 1, 1, 0, 0, 1, 0], [0, 1, 0, 1, 0, 1, 0, 0]
    assert both(event_wise(truth, predicted)) == (2 / 3, 1 / 2)
    assert "recall as in Hundman" in METRICS["event_wise"].paper


def test_a_predicted_point_hits_the_event_that_holds_it():
    truth, point = cc.Events([(2, 5), (8, 10)]), cc.Events.from_points([2])
    assert both(point_adjust(truth, point, span=(0, 12))) == (1.0, 3 / 5)
    assert both(event_wise(truth, point, span=(0, 12))) == (1.0, 0.5)
    outside = cc.Events.from_points([5])
    assert point_adjust(truth, outside, span=(0, 12)).recall == 0.0
    assert event_wise(truth, outside, span=(0, 12)).precision == 0.0


@given(labels=LABELS, k=st.integers(0, 100))
def test_adjusts_where_strictly_more_than_k_percent_is_predicted(labels, k):
    assert same(both(point_adjust_k(*labels, k=k)), oracle.point_adjust_k(*labels, k))


@given(labels=LABELS)
def test_the_area_is_that_of_a_step_function(labels):
    area = point_adjust_k_area(*labels).value
    expected = oracle.point_adjust_k_area(*labels)
    assert area == pytest.approx(float(expected), rel=1e-13, abs=1e-15, nan_ok=True)
    assert not area > 1


@given(series=labelled(dyadic_steps))
def test_durations_count_on_an_uneven_axis(series):
    truth, predicted, times, end = series
    widths = [Fraction(b) - Fraction(a) for a, b in zip(times, [*times[1:], end], strict=True)]
    adjusted = oracle.adjusted(truth, predicted)
    hit = sum(w for w, t, p in zip(widths, truth, adjusted, strict=True) if t and p)
    found = sum(w for w, p in zip(widths, adjusted, strict=True) if p)
    true = sum(w for w, t in zip(widths, truth, strict=True) if t)
    result = point_adjust(truth, predicted, times=times, end=end)
    assert same(both(result), (hit / found if found else nan, hit / true))


def test_index_zero_and_a_last_one_sample_event_are_adjusted():
    assert both(point_adjust([1, 1, 0, 1], [0, 1, 0, 1])) == (1.0, 1.0)
    assert both(point_adjust([1, 1, 0, 1], [0, 1, 0, 0])) == (1.0, 2 / 3)
    assert both(point_adjust([0, 0, 0, 1], [0, 0, 0, 1])) == (1.0, 1.0)
    assert both(event_wise([1, 0, 0, 1], [1, 0, 0, 1])) == (1.0, 1.0)


@pytest.mark.parametrize("k", [29, 57, 58, 7, 14, 28])
def test_exactly_k_percent_is_not_more_than_k(k):
    # In floats 0.29 * 100 is below 29, and 0.07 * 100 is above 7.
    truth, predicted = [1] * 100, [1] * k + [0] * (100 - k)
    assert point_adjust_k(truth, predicted, k=k).recall == k / 100
    assert point_adjust_k(truth, predicted, k=k - 1).recall == 1.0


def test_the_area_is_undefined_where_f1_is():
    assert isnan(point_adjust_k_area([0, 1, 1], [0, 0, 0]).value)
    assert isnan(point_adjust_k_area([0, 0, 0], [0, 1, 1]).value)
    assert isnan(point_adjust_k_area([0, 0, 0], [0, 0, 0]).value)
    assert point_adjust_k_area([0, 1, 1], [1, 0, 0]).value == 0.0
    assert point_adjust_k_area([0, 1, 1], [0, 1, 1]).value == 1.0

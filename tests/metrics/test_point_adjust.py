"""Point adjustment, against counts of samples."""

from fractions import Fraction
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.metrics.pointwise import (
    event_wise,
    point_adjust,
    point_adjust_k,
    point_adjust_k_area,
)
from tests.metrics.test_pointwise import LABELS, both, same
from tests.oracle import pointwise as oracle
from tests.properties.strategies import dyadic_steps, labelled


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

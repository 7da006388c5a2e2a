"""eTaP/eTaR: the authors' printed examples, worked by hand, and against the oracle."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isnan, sqrt

import hypothesis.strategies as st
import pytest
from hypothesis import given

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.metrics.time_aware import enhanced_time_aware
from tests.oracle import time_aware as oracle
from tests.properties.strategies import cases, events

THETAS = st.sampled_from(
    [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
)


def as_datetime(seconds):
    return datetime(2024, 3, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def inclusive(*ranges):
    return cc.Events([(first, last + 1) for first, last in ranges])


def score(case, place=int, **settings):
    moved = case.moved(place)
    return enhanced_time_aware(
        events(moved.truth), events(moved.predicted), span=moved.span, **settings
    )


@pytest.mark.parametrize(
    ("first", "precision"), [((2, 57), 0.3876823062996395), ((2, 17), 0.535329416677799)]
)
def test_the_examples_that_the_authors_print(first, precision):
    truth = inclusive((1, 4), (59, 60), (62, 64), (67, 96))
    predicted = inclusive(first, (59, 60), (62, 64), (66, 69))
    result = enhanced_time_aware(truth, predicted, span=(0, 100), theta_p=0.5, theta_r=0.01)
    assert result.precision == pytest.approx(precision, rel=1e-14)
    assert result.recall == pytest.approx(0.6375, rel=1e-14)


def test_detection_and_portion():
    truth = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    predicted = [0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    result = enhanced_time_aware(truth, predicted)
    assert result.recall == pytest.approx((1 + 0.5) / 2 / 2)
    assert result.precision == pytest.approx(sqrt(3) * (1 + 2 / 3) / 2 / (sqrt(3) + 1))


def test_both_thresholds_are_met_by_equality():
    truth, predicted = [1] * 10 + [0] * 2, [0] * 9 + [1] * 2 + [0]
    assert enhanced_time_aware(truth, predicted).recall == pytest.approx(0.55)
    assert enhanced_time_aware(truth, predicted, theta_p=0.51).recall == 0
    assert enhanced_time_aware(truth, predicted, theta_r=0.11).recall == 0


def test_what_is_removed_no_longer_supports_others():
    # The long prediction is wrong; without it, too little of the event is matched; without the
    # event, the short prediction is wrong too.
    truth = cc.Events([(10, 20)])
    predicted = cc.Events([(0, 15), (19, 20)])
    settings = {"span": (0, 100), "theta_r": 0.2}
    assert enhanced_time_aware(truth, predicted, theta_p=0.3, **settings).recall == 0.8
    nothing = enhanced_time_aware(truth, predicted, theta_p=0.5, **settings)
    assert (nothing.precision, nothing.recall) == (0, 0)


def test_a_long_chain_falls_one_by_one():
    # Every prediction lies by a quarter in each of two events, the last one in one only.
    size = 2000
    truth = cc.Events([(4 * k, 4 * k + 2) for k in range(size)])
    predicted = cc.Events([(4 * k + 1, 4 * k + 5) for k in range(size)])
    standing = enhanced_time_aware(truth, predicted, span=(0, 4 * size + 10), theta_r=0.5)
    assert standing.precision == pytest.approx((size - 1) * 0.75 / size)
    assert standing.recall == pytest.approx((size - 2 + 2 * 0.75) / size)
    # Half of the first event is too little now; each loss causes the next.
    fallen = enhanced_time_aware(truth, predicted, span=(0, 4 * size + 10), theta_r=0.6)
    assert (fallen.precision, fallen.recall) == (0, 0)


@given(
    case=cases(truth="no", predicted="no"),
    theta_p=THETAS,
    theta_r=THETAS,
    place=st.sampled_from([int, float, as_datetime]),
)
def test_against_the_oracle(case, theta_p, theta_r, place):
    precision, recall = oracle.enhanced_time_aware(
        case.truth, case.predicted, theta_p=theta_p, theta_r=theta_r
    )
    result = score(case, place, theta_p=float(theta_p), theta_r=float(theta_r))
    assert result.precision == pytest.approx(precision, abs=1e-12, nan_ok=True)
    assert result.recall == pytest.approx(recall, abs=1e-12)


@given(case=cases(), theta_p=st.sampled_from([0.05, 0.45, 0.85]))
def test_points_are_limits_of_short_ranges(case, theta_p):
    def widened(intervals):
        return [(start, stop + 1e-12 * (start == stop)) for start, stop in intervals]

    exact = case.moved(float)
    first, last = exact.span
    settings = {"span": (first, last + 1), "theta_p": theta_p, "theta_r": 0.15}
    limit = enhanced_time_aware(events(exact.truth), events(exact.predicted), **settings)
    near = enhanced_time_aware(
        events(widened(exact.truth)), events(widened(exact.predicted)), **settings
    )
    assert near.precision == pytest.approx(limit.precision, abs=1e-4, nan_ok=True)
    assert near.recall == pytest.approx(limit.recall, abs=1e-4)


@pytest.mark.parametrize("truth", [[0, 1, 1, 0, 0, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]])
def test_perfect_predictions(truth):
    result = enhanced_time_aware(truth, truth, theta_p=1, theta_r=1)
    assert (result.precision, result.recall, result.fbeta(2)) == (1, 1, 1)


def test_everything_predicted():
    result = enhanced_time_aware([0, 1, 1, 1, 1], [1] * 5)
    assert (result.precision, result.recall) == (pytest.approx(0.9), 1)
    rare = enhanced_time_aware([0, 1, 0, 0, 0], [1] * 5)
    assert (rare.precision, rare.recall) == (0, 0)


def test_a_threshold_of_zero_is_met_by_everything():
    result = enhanced_time_aware([1, 1, 0, 0], [0, 0, 1, 1], theta_p=0, theta_r=0)
    assert (result.precision, result.recall) == (0.5, 0.5)


def test_nothing_predicted():
    result = enhanced_time_aware([0, 1, 1], [0, 0, 0])
    assert isnan(result.precision)
    assert isnan(result.f1)
    assert result.recall == 0


def test_nothing_true():
    result = enhanced_time_aware([0, 0, 0], [0, 1, 0])
    assert result.precision == 0
    assert isnan(result.recall)


@pytest.mark.parametrize("name", ["theta_p", "theta_r"])
def test_bad_parameters(name):
    with pytest.raises(InputError, match=f"`{name}` to be a number from 0 to 1, got 1.01"):
        enhanced_time_aware([0, 1], [0, 1], **{name: 1.01})
    with pytest.raises(InputTypeError, match=f"`{name}` to be a number from 0 to 1, got True"):
        enhanced_time_aware([0, 1], [0, 1], **{name: True})

"""TaP/TaR and eTaP/eTaR: worked by hand, against the oracle, and the authors' own cases."""

import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import exp, sqrt

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import closecall as cc
from closecall.metrics.time_aware import decay_between, enhanced_time_aware, time_aware
from tests.metrics.test_range_based import limit_and_near, score
from tests.oracle import time_aware as oracle
from tests.properties.strategies import cases

FIRST = 1 / (1 + exp(-6))  # the weight right after an event
LAST = 1 / (1 + exp(6))
ORIGIN = datetime(2024, 3, 1, tzinfo=UTC)
THETAS = st.sampled_from(
    [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
)


def as_datetime(seconds):
    return ORIGIN + timedelta(seconds=seconds)


def test_detection_and_portion():
    truth = [1, 1, 1, 1, 0, 0, 1, 1, 0, 0]
    predicted = [0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    result = time_aware(truth, predicted, alpha=0.25)
    assert result.recall == pytest.approx(0.25 * 1 / 2 + 0.75 * 0.75 / 2)
    assert result.precision == pytest.approx(0.25 * 1 / 2 + 0.75 * 1 / 2)


def test_a_portion_of_exactly_theta_is_no_detection():
    # As in the authors' program of 2019; their later package counts it.
    truth, predicted = [1, 1, 0, 0], [0, 1, 1, 0]
    assert time_aware(truth, predicted, alpha=1).recall == 0
    assert time_aware(truth, predicted, alpha=1, theta=0.49).recall == 1
    assert time_aware(truth, predicted, alpha=1, theta=0.49).precision == 1


def test_the_middle_of_a_section_is_exactly_a_half():
    # Weights are differences of running sums; rounding must not make a detection.
    truth = [1, 1, 0, 0, 0, 0, 0, 0]
    for delta, index in [(3, 3), (5, 4), (9, 6)]:
        predicted = [0] * 12
        predicted[index] = 1
        result = time_aware(truth + [0] * 4, predicted, delta=delta, alpha=0.5)
        assert result.precision == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize(
    ("delta", "weights"),
    [(0, [0, 0, 0]), (1, [FIRST, 0, 0]), (2, [FIRST, LAST, 0]), (3, [FIRST, 0.5, LAST])],
)
def test_the_section_after_an_event_fades(delta, weights):
    truth = [0, 1, 1, 0, 0, 0]
    for index, weight in enumerate(weights):
        predicted = [0] * 6
        predicted[3 + index] = 1
        result = time_aware(truth, predicted, delta=delta, alpha=0)
        assert result.precision == pytest.approx(weight, abs=1e-15)
        assert result.recall == pytest.approx(weight / 2, abs=1e-15)


def test_the_section_stops_before_the_next_event():
    # The authors' program lets it cover the first sample of that event: precision 1.002.
    truth, predicted = [1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0]
    result = time_aware(truth, predicted, delta=4)
    assert result.precision == 1
    assert result.recall == pytest.approx(0.5 * 0 + 0.5 * 0.25)


def test_a_cut_section_fades_over_what_is_left_of_it():
    truth, predicted = [1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0]
    assert time_aware(truth, predicted, delta=100, alpha=0).precision == pytest.approx(LAST)


def test_the_section_runs_past_the_end_of_the_series():
    truth, predicted = [1, 1, 0, 0], [0, 0, 0, 1]
    result = time_aware(truth, predicted, delta=101, alpha=0)
    assert result.precision == pytest.approx(1 / (1 + exp(-6 + 12 / 100)))
    assert time_aware(truth, predicted, delta=10**30, alpha=0).precision == pytest.approx(FIRST)


def test_portions_of_events_are_one_at_most():
    result = time_aware([0, 1, 0, 0, 0], [0, 1, 1, 1, 0], delta=3, alpha=0)
    assert result.recall == 1
    assert result.precision == pytest.approx((1 + FIRST + 0.5) / 3)


def test_touching_events_leave_no_room_for_a_section():
    truth, predicted = cc.Events([(0, 2), (2, 4)]), cc.Events([(2, 4)])
    result = time_aware(truth, predicted, span=(0, 9), delta=3)
    assert (result.precision, result.recall) == (1, 0.5)


@given(
    case=cases(truth="no", predicted="no"),
    theta=st.sampled_from([0, 0.2, 0.5, 0.75, 1]),
    alpha=st.sampled_from([0, 0.3, 0.5, 1]),
    delta=st.integers(0, 12),
    place=st.sampled_from([int, float, as_datetime]),
)
def test_against_the_oracle(case, theta, alpha, delta, place):
    settings = {"theta": theta, "alpha": alpha}
    precision, recall = oracle.time_aware(
        case.truth, case.predicted, counted=place is int, delta=delta, **settings
    )
    length = timedelta(seconds=delta) if place is as_datetime else delta
    result = score(case, place, time_aware, delta=length, **settings)
    assert result.precision == pytest.approx(precision, abs=1e-9, nan_ok=True)
    assert result.recall == pytest.approx(recall, abs=1e-9)


@given(case=cases(), delta=st.integers(0, 12))
def test_points_are_limits_of_short_ranges(case, delta):
    # No prediction may start where a section stops: the section of a widened point moves along.
    limit, near = limit_and_near(case, time_aware, 1e-9, delta=delta + 0.5, alpha=0)
    assert near.precision == pytest.approx(limit.precision, abs=1e-6, nan_ok=True)
    assert near.recall == pytest.approx(limit.recall, abs=1e-6)


@given(case=cases(truth="no", predicted="no", at_least=1), delta=st.integers(0, 12))
def test_moving_the_series_changes_nothing(case, delta):
    far = score(case, lambda time: time + 10**15, time_aware, delta=delta)
    assert far == score(case, metric=time_aware, delta=delta)


def test_long_sections_are_summed_by_a_formula(monkeypatch):
    truth = cc.Events([(0, 5000), (40_000, 50_000)])
    predicted = cc.Events([(4000, 5300), (7000, 7001), (9000, 14_998), (14_999, 15_000)])
    by_formula = time_aware(truth, predicted, span=(0, 60_000), delta=10_000, alpha=0)
    monkeypatch.setattr(sys.modules[time_aware.__module__], "_LONGEST_SUMMED", 10_000)
    summed = time_aware(truth, predicted, span=(0, 60_000), delta=10_000, alpha=0)
    assert by_formula.precision == pytest.approx(summed.precision, abs=1e-12)
    assert by_formula.recall == pytest.approx(summed.recall, abs=1e-12)
    whole = np.array([10_000.0])
    total = decay_between(np.zeros(1), whole, whole, counted=True)
    assert total == pytest.approx(5000, abs=1e-9)  # weights mirror each other around 1/2


@pytest.mark.parametrize("length", [10**6, 10**9, 10**15])
def test_one_sample_of_an_endless_section(length):
    truth, predicted = cc.Events([(0, 10)]), cc.Events([(10 + length // 4, 11 + length // 4)])
    result = time_aware(truth, predicted, span=(0, 2 * length), delta=length, alpha=0)
    assert result.precision == pytest.approx(
        1 / (1 + exp(-3)), abs=1e-5 if length == 10**6 else 1e-8
    )


@pytest.mark.parametrize("delta", [0, 1, 5])
@pytest.mark.parametrize("truth", [[0, 1, 1, 0, 0, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]])
def test_perfect_predictions(truth, delta):
    # The authors' program divides by zero at events of one sample.
    result = time_aware(truth, truth, delta=delta)
    assert (result.precision, result.recall, result.fbeta(2)) == (1, 1, 1)


def test_everything_predicted():
    result = time_aware([0, 1, 0, 1, 1], [1] * 5)
    assert result.precision == pytest.approx(0.5 + 0.5 * 3 / 5)
    assert result.recall == 1


def test_lengths_are_durations_between_datetimes():
    truth = cc.Events([(as_datetime(0), as_datetime(60))])
    predicted = cc.Events([(as_datetime(75), as_datetime(75.5))])
    span, delta = (ORIGIN, as_datetime(3600)), timedelta(milliseconds=30_500)
    result = time_aware(truth, predicted, span=span, delta=delta, alpha=0)
    middle = 1 / (1 + np.exp(-6 + 12 * np.array([15.0, 15.25, 15.5]) / 30.5))
    assert result.precision == pytest.approx(middle.mean(), rel=1e-3)
    assert result.precision == pytest.approx(0.5, abs=1e-9)


def inclusive(*ranges):
    return cc.Events([(first, last + 1) for first, last in ranges])


@pytest.mark.parametrize(
    ("first", "precision"), [((2, 57), 0.3876823062996395), ((2, 17), 0.535329416677799)]
)
def test_the_examples_that_the_authors_print(first, precision):
    truth = inclusive((1, 4), (59, 60), (62, 64), (67, 96))
    predicted = inclusive(first, (59, 60), (62, 64), (66, 69))
    result = enhanced_time_aware(truth, predicted, span=(0, 100), theta_p=0.5, theta_r=0.01)
    assert result.precision == pytest.approx(precision, rel=1e-14)
    assert result.recall == pytest.approx(0.6375, rel=1e-14)


def test_detection_and_portion_enhanced():
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
def test_against_the_oracle_enhanced(case, theta_p, theta_r, place):
    precision, recall = oracle.enhanced_time_aware(
        case.truth, case.predicted, theta_p=theta_p, theta_r=theta_r
    )
    thetas = {"theta_p": float(theta_p), "theta_r": float(theta_r)}
    result = score(case, place, enhanced_time_aware, **thetas)
    assert result.precision == pytest.approx(precision, abs=1e-12, nan_ok=True)
    assert result.recall == pytest.approx(recall, abs=1e-12)


@given(case=cases(), theta_p=st.sampled_from([0.05, 0.45, 0.85]))
def test_points_are_limits_of_short_ranges_enhanced(case, theta_p):
    settings = {"theta_p": theta_p, "theta_r": 0.15}
    limit, near = limit_and_near(case, enhanced_time_aware, 1e-12, **settings)
    assert near.precision == pytest.approx(limit.precision, abs=1e-4, nan_ok=True)
    assert near.recall == pytest.approx(limit.recall, abs=1e-4)


def test_everything_predicted_enhanced():
    result = enhanced_time_aware([0, 1, 1, 1, 1], [1] * 5)
    assert (result.precision, result.recall) == (pytest.approx(0.9), 1)
    rare = enhanced_time_aware([0, 1, 0, 0, 0], [1] * 5)
    assert (rare.precision, rare.recall) == (0, 0)


def test_a_threshold_of_zero_is_met_by_everything():
    result = enhanced_time_aware([1, 1, 0, 0], [0, 0, 1, 1], theta_p=0, theta_r=0)
    assert (result.precision, result.recall) == (0.5, 0.5)

"""NAB's score of one series and of a corpus."""

from math import exp, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.metrics.nab import NabProfile, nab, probation_rows
from tests.oracle import nab as oracle
from tests.properties.strategies import small

PROFILES = st.sampled_from(sorted(oracle.WEIGHTS))
PROBATIONS = st.sampled_from([0, 0.15, 0.5])
BEST = 2 / (1 + exp(-5)) - 1


def runs_vector(size):
    """Draw a vector with long runs, so that windows are wide."""
    return small(0, 17, 1, 8).map(
        lambda pieces: [
            value
            for value, count in [*(divmod(piece, 9) for piece in pieces), (0, size)]
            for _ in range(count + 1)
        ][:size]
    )


SIDES = st.integers(1, 40).flatmap(lambda size: st.tuples(runs_vector(size), small(0, 1, size)))


@pytest.mark.parametrize(("rows", "skipped"), [(99, 14), (4999, 749), (5000, 750), (9000, 750)])
def test_probation_is_a_share_of_at_most_5000_rows(rows, skipped):
    assert probation_rows(rows, 0.15) == skipped


@given(SIDES, PROFILES, PROBATIONS)
def test_rows_are_scored_by_the_rules(sides, profile, probation):
    truth, predicted = sides
    result = nab(truth, predicted, profile=profile, probation=probation)
    raw, windows = oracle.score(oracle.windows_of(truth), predicted, profile, probation)
    assert result.raw == pytest.approx(raw, abs=1e-12)
    assert result.windows == windows
    if windows:
        assert result.value == pytest.approx(oracle.normalised(raw, windows, profile), abs=1e-9)
    else:
        assert isnan(result.value)


@given(SIDES, PROBATIONS)
def test_every_row_is_counted_once(sides, probation):
    truth, predicted = (np.array(side) for side in sides)
    result = nab(truth, predicted, probation=probation)
    kept = slice(int(probation * truth.size), None)
    counts = [
        int(((truth[kept] == t) & (predicted[kept] == p)).sum())
        for t, p in ((1, 1), (0, 1), (1, 0), (0, 0))
    ]
    assert counts == [
        result.true_positives,
        result.false_positives,
        result.false_negatives,
        result.true_negatives,
    ]


def test_the_places_that_nab_documents():
    """The sigmoid is 0.98661 at the start, 0.84828 in the middle and 0 at the end of a window."""
    truth = [0] * 10 + [1] * 10 + [0] * 80
    assert nab(truth, [int(i == 10) for i in range(100)], probation=0).raw == 1.0
    middle = nab(truth, [int(i == 15) for i in range(100)], probation=0)
    assert middle.raw == pytest.approx(0.84828 / 0.98661, abs=1e-5)
    late = nab(truth, [int(i == 29) for i in range(100)], probation=0)  # 10 of 9 rows after it
    assert late.raw == pytest.approx(-1 + 0.11 * (2 / (1 + exp(50 / 9)) - 1), abs=1e-12)
    far = nab(truth, [int(i == 90) for i in range(100)], probation=0)
    assert far.raw == pytest.approx(-1.11)


def test_only_the_earliest_detection_in_a_window_counts():
    truth = [0, 1, 1, 1, 1, 0]
    once, often = ([0, 0, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0])
    assert nab(truth, once, probation=0).raw == nab(truth, often, probation=0).raw
    assert nab(truth, once, probation=0).raw == pytest.approx(
        (2 / (1 + exp(-3.75)) - 1) / BEST, abs=1e-12
    )


@pytest.mark.parametrize("profile", sorted(oracle.WEIGHTS))
def test_perfect_is_100_and_silence_is_0(profile):
    truth = [0, 0, 0, 1, 1, 0, 0, 1, 0, 1]
    assert nab(truth, truth, profile=profile).value == 100
    assert nab(truth, [0] * 10, profile=profile).value == 0


def test_profiles_weigh_the_same_errors_differently():
    truth, predicted = [0] * 5 + [1, 1] + [0] * 13, [0, 0, 0, 1] + [0] * 16
    raws = {name: nab(truth, predicted, profile=name).raw for name in oracle.WEIGHTS}
    assert raws == pytest.approx(
        {"standard": -1.11, "reward_low_FP_rate": -1.22, "reward_low_FN_rate": -2.11}
    )
    own = NabProfile(true_positive=1, false_positive=0.5, false_negative=3)
    assert nab(truth, predicted, profile=own).raw == -3.5


def test_a_window_of_one_row_divides_by_nothing():
    result = nab([0, 1, 0, 0], [0, 1, 1, 0], probation=0)
    assert result.raw == pytest.approx(1 - 0.11)


def test_probation_ignores_rows_and_the_windows_in_it():
    truth, predicted = [1, 1, 0, 0, 0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 0, 1, 1, 0, 0]
    result = nab(truth, predicted, probation=0.3)
    assert (result.value, result.windows, result.detected) == (100, 1, 1)
    assert nab(truth, predicted, probation=0).windows == 2


def test_probation_is_of_at_most_5000_rows():
    truth = np.zeros(20_000, dtype=int)
    truth[749] = truth[800] = 1
    result = nab(truth, np.zeros_like(truth))
    assert result.windows == 1
    assert result.true_negatives == 20_000 - 750 - 1
    truth[750] = 1
    assert nab(truth, np.zeros_like(truth)).windows == 2


def test_windows_take_the_place_of_the_true_events():
    truth, predicted = [0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0]
    widened = [0, 0, 1, 1, 1, 0, 0, 0]
    expected = nab(widened, predicted, probation=0)
    assert nab(truth, predicted, windows=[(2, 5)], probation=0) == expected
    assert nab(truth, predicted, windows=cc.Events([(2, 5)]), probation=0) == expected
    times = np.array([0, 10, 30, 40, 50, 90, 95, 99])
    assert nab(truth, predicted, times=times, end=100, windows=[(25, 60)], probation=0) == expected


def test_on_a_time_axis_an_alarm_rings_once():
    truth = cc.Events([(20.0, 40.0), (60.0, 70.0)])
    predicted = cc.Events([(5.0, 6.0), (30.0, 45.0), (50.0, 61.0), (80.0, 90.0)])
    result = nab(truth, predicted, span=(0.0, 100.0), probation=0)
    sigma = oracle.sigma
    expected = (
        (sigma(-0.5) + sigma(-1)) / BEST  # the second window is reached at its start
        - 0.11  # at 5, before any window
        + 0.11 * sigma(10 / 20)  # at 50, where the third alarm starts
        + 0.11 * sigma(10 / 10)  # at 80
    )
    assert result.raw == pytest.approx(expected, abs=1e-12)
    assert (result.detected, result.false_positives, result.true_negatives) == (2, 3, None)


def test_points_on_a_time_axis_can_be_windows():
    truth, span = cc.Events.from_points([3.0, 7.0]), (0.0, 10.0)
    assert nab(truth, truth, span=span).value == 100
    result = nab(truth, cc.Events([(2.5, 3.5), (3.5, 4.0)]), span=span, probation=0)
    assert result.raw == pytest.approx(1 - 1 - 0.22)


def test_probation_cuts_alarms_on_a_time_axis():
    truth, predicted = cc.Events([(40.0, 80.0)]), cc.Events([(0.0, 60.0)])
    result = nab(truth, predicted, span=(0.0, 100.0), probation=0.5)
    assert result.raw == pytest.approx(oracle.sigma(-0.75) / BEST)
    assert result.false_positives == 0


def test_a_point_at_the_end_of_the_span_is_one_more_row():
    result = nab(cc.Events([(4, 6)]), cc.Events([(10, 10)]), span=(0, 10), probation=0)
    assert result.raw == pytest.approx(-1.11)
    assert result.true_negatives == 8


def test_a_result_in_one_line():
    result = nab([0, 0, 1, 1], [0, 0, 1, 0], probation=0)
    assert repr(result) == "NabResult(value=100, raw=1, windows=1, detected=1)"
    assert result.values() == {"value": 100.0}

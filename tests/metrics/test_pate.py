from math import isnan

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from closecall.metrics.pate import pate
from tests.metrics.test_vus import LEVELS, fixed_series
from tests.oracle import pate as oracle

FALLING = ([True] * 20 + [False], [1.0] + [0.1] * 4 + [2.0] * 8 + [0.1] * 7 + [0.5])


@st.composite
def series(draw):
    length = draw(st.integers(1, 26))
    labels = draw(st.lists(st.booleans(), min_size=length, max_size=length))
    if draw(st.booleans()):
        # Long events, which single booleans hardly ever make.
        start, stop = sorted(draw(st.tuples(*[st.integers(0, length)] * 2)))
        labels[start:stop] = [True] * (stop - start)
    score = st.floats(-2, 2) if draw(st.booleans()) else LEVELS
    return labels, draw(st.lists(score, min_size=length, max_size=length))


@given(series(), st.integers(0, 30), st.integers(0, 30))
@example(FALLING, 0, 0)
@example(([True, False, False, True], [0.0, 1.0, 1.0, 0.0]), 9, 9)
@example(([False, False, True, False, False, True, False], [6.0, 5, 1, 4, 3, 2, 0]), 3, 1)
def test_equals_brute_force(data, early, delay):
    labels, scores = data
    result = pate(labels, scores, early=early, delay=delay).value
    expected = oracle.value(labels, scores, early, delay)
    assert result == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert isnan(result) or 0 <= result <= 1


def test_thresholds_where_the_recall_falls_are_left_out():
    recalls = oracle.recalls(*FALLING, 0, 0)
    # The first sample opens a new, shorter first run, and what is missed weighs more.
    assert recalls[1] < recalls[0]
    without = [score if score != 1.0 else 0.1 for score in FALLING[1]]
    value = pate(*FALLING, early=0, delay=0).value
    assert value == pytest.approx(oracle.value(*FALLING, 0, 0), abs=1e-12)
    # The false alarm at 0.5 has the lower recall, too, so it falls out with the first sample.
    assert value > pate(FALLING[0], without, early=0, delay=0).value


def test_missed_samples_by_hand():
    # 0 is found, a false alarm comes, then 3 is found: one missed sample weighs 1, two 0.7 and 0.3.
    truth, scores = [1, 1, 1, 1, 1, 0], [0.9, 0.1, 0.1, 0.8, 0.1, 0.85]
    assert pate(truth, scores, early=0, delay=0).value == pytest.approx(11 / 14)


def test_a_delayed_alarm_by_hand():
    # The alarm weighs 1/2 in the buffer behind the event, found or not.
    truth, scores = [0, 0, 1, 0, 0], [0.1, 0.2, 0.5, 0.9, 0.3]
    assert pate(truth, scores, early=2, delay=2).value == pytest.approx(11 / 24)


def test_an_early_alarm_counts_only_once_the_event_is_found():
    truth, scores = [0, 0, 1, 0, 0], [0.3, 0.9, 0.5, 0.2, 0.1]
    assert pate(truth, scores, early=2, delay=2).value == pytest.approx(5 / 16)


def test_equals_the_authors_package_given_every_threshold():
    # PATE 0.1.1 with e_buffer=20, d_buffer=10, drop_intermediate=False, Big_Data=False.
    result = pate(*fixed_series(), early=20, delay=10).value
    assert result == pytest.approx(0.7274355351447356, abs=1e-12)


def test_perfect_inverted_and_constant_scores():
    truth, _ = fixed_series()
    assert pate(truth, truth).value == 1
    # Nothing is true positive before everything is predicted.
    assert pate(truth, -truth, early=0, delay=0).value == pytest.approx(63 / 400 / 2)
    assert pate(truth, truth * 0, early=0, delay=0).value == pytest.approx((1 + 63 / 400) / 2)


def test_one_sample_events_at_both_ends_count():
    truth = [1, 0, 0, 0, 0, 0, 0, 1]
    assert pate(truth, [9, 0, 1, 2, 3, 4, 5, 8], early=0, delay=0).value == 1
    # Recall 1/2 with precision 1, which falls to 1/7 before recall 1 with precision 1/4.
    late = pate(truth, [9, 1, 2, 3, 4, 5, 6, 0], early=0, delay=0).value
    assert late == pytest.approx(1 / 2 + (1 / 7 + 1 / 4) / 4)


def test_nothing_true_is_undefined_and_nothing_normal_is_perfect():
    assert isnan(pate([0, 0, 0], [0.1, 0.2, 0.3]).value)
    assert pate([1, 1, 1], [0.1, 0.2, 0.3]).value == 1


def test_a_buffer_beyond_the_series_is_the_whole_series():
    truth, scores = [0, 0, 1, 1, 0, 0, 0, 1], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2, 0.3, 0.2]
    whole = pate(truth, scores, early=8, delay=8)
    assert pate(truth, scores, early=2**70, delay=10**400) == whole

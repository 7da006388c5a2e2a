"""The curve against one evaluation per threshold, by the package and by brute force."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import closecall as cc
from tests.golden.published import labels
from tests.oracle.affiliation import evaluate
from tests.properties.curve_strategies import ScoredCase, float_kinds, scored_cases
from tests.properties.strategies import (
    decimal_steps,
    dyadic_steps,
    on_uneven_axis,
    small,
    touches_a_point,
)

TOLERANCE = 1e-12
LONG = 500_000


def check(case, curve=None):
    """Compare every point of the curve with an evaluation of its own."""
    curve = case.curve() if curve is None else curve
    assert curve.thresholds.tolist() == case.thresholds
    predicted = [case.predicted_at(threshold) for threshold in case.thresholds]
    results = [case.affiliation(alarms) for alarms in predicted]
    for name in ("precision", "recall", "f1"):
        expected = [getattr(result, name) for result in results]
        assert_allclose(getattr(curve, name), expected, rtol=0, atol=TOLERANCE, err_msg=name)
    assert curve.alarms.tolist() == [len(alarms) for alarms in predicted]
    for name in ("caught", "alarms", "false_alarms"):
        assert getattr(curve, name).tolist() == [getattr(result, name) for result in results], name
    assert curve.alarmed == pytest.approx([result.alarmed for result in results], abs=TOLERANCE)
    for column in (curve.precision, curve.recall, curve.f1):
        assert ((column >= 0) & (column <= 1)).all()
    assert (np.diff(curve.recall) >= -1e-15).all()
    # scikit-learn's rule of average precision, word for word.
    precision = np.array([*(result.precision for result in reversed(results)), 1.0])
    recall = np.array([*(result.recall for result in reversed(results)), 0.0])
    expected = -np.sum(np.diff(recall) * precision[:-1])
    assert curve.average_precision == pytest.approx(expected, abs=TOLERANCE)


def from_scores(truth, scores, **options):
    """Make a case of samples 0, 1, 2, ..."""
    size = len(scores)
    whole = {"times": list(range(size)), "end": size, "span": (0, size)}
    return ScoredCase(truth, np.array(scores), **whole | options)


@given(scored_cases())
@settings(max_examples=500)
@example(from_scores([(0, 4)], [0.5, 0.1, 0.9, 0.5]))  # truth covers everything
@example(from_scores([(1, 2), (2, 3), (3, 4)], [1, 2, 3, 2, 1]))  # touching events
@example(from_scores([(0, 1), (2, 3), (4, 5)], [1, 2], times=[0, 1], end=9, span=(0, 9)))
@example(from_scores([(0, 1), (30, 31)], [1, 2], span=(0, 40)))  # no sample in the second zone
@example(from_scores([(20, 21), (30, 31)], [1, 2], times=[28, 29], end=30, span=(0, 40)))
@example(from_scores([(1, 4), (4, 4)], [3, 1, 2, 1]))  # a zone without length
@example(from_scores([(2, 2)], [3, 1, 2, 3]))  # a single true point
@example(from_scores([(1, 2)], [np.inf, -np.inf, 0.0, np.inf]))
@example(from_scores([(1, 2)], [0.0, -0.0, 1.0]))  # equal zeros
@example(from_scores([(1, 2)], [2**62 + 1, 2**62, 2**62 + 2]))  # no float tells them apart
def test_every_threshold(case):
    check(case)


@given(scored_cases(float_kinds, most=4, widest=40, wider=0))
def test_several_borders_in_one_sample(case):
    check(case)


@given(on_uneven_axis(scored_cases(float_kinds), dyadic_steps))
@settings(max_examples=200)
def test_uneven_floats_with_ties(case):
    check(case)


@given(on_uneven_axis(scored_cases(float_kinds), decimal_steps))
def test_uneven_floats(case):
    check(case)


@given(scored_cases(float_kinds), st.sampled_from(["s", "ms", "us", "ns"]))
def test_datetimes(case, unit):
    origin, tick = np.datetime64("2022-08-14T03:00:00", unit), np.timedelta64(1, unit)
    check(case, case.moved(lambda time: origin + time * tick).curve())


@given(scored_cases(float_kinds), st.integers(-(2**60), 2**60))
def test_far_from_zero_changes_no_digit(case, shift):
    near, far = case.curve(), case.moved(lambda time: time + shift).curve()
    assert_array_equal(near.precision, far.precision)
    assert_array_equal(near.recall, far.recall)


@given(small(0, 19, 2, 30))
def test_label_vectors(samples):
    scores, truth = np.divmod(samples, 2)
    assume(truth.any())
    curve = cc.affiliation_curve(truth, scores)
    assert curve.thresholds.tolist() == sorted(set(scores.tolist()), reverse=True)
    for point, threshold in enumerate(curve.thresholds):
        result = cc.affiliation(truth, scores >= threshold)
        found = (curve.precision[point], curve.recall[point])
        assert found == pytest.approx((result.precision, result.recall), abs=TOLERANCE)


@given(scored_cases(float_kinds, most=6, widest=4))
@settings(max_examples=60)
def test_against_the_definitions(case):
    curve = case.curve()
    for point, threshold in enumerate(case.thresholds):
        oracle = evaluate(case.truth, case.predicted_at(threshold), case.span)
        found = (curve.precision[point], curve.recall[point])
        assert found == pytest.approx((oracle.precision, oracle.recall), abs=1e-8)


@given(scored_cases(float_kinds), st.floats(allow_nan=False))
def test_each_event_and_any_threshold(case, between):
    curve, borders = case.curve(), [*case.times, case.end]
    events = [curve.event_curve(event) for event in range(len(case.truth))]
    for threshold in (*case.thresholds, between):
        result, expected = curve.at(threshold), case.affiliation_at(threshold)
        rows = curve.events_at(threshold)
        for name in ("precision", "recall"):
            assert_array_equal(getattr(result, name), getattr(expected, name))
            assert_array_equal(getattr(rows, name), getattr(expected.events, name))
        assert_array_equal(result.events.delay, expected.events.delay)
        assert list(result.events.outcome) == list(expected.events.outcome)
        for event, own in enumerate(events):
            # The last point at or above the threshold still holds, further on nothing entered.
            count = np.count_nonzero(own.thresholds >= threshold)
            found = (own.precision[count - 1], own.recall[count - 1]) if count else (np.nan, 0.0)
            expected_row = (rows.precision[event], rows.recall[event])
            assert_allclose(found, expected_row, rtol=0, atol=TOLERANCE)
    for event, own in enumerate(events):
        start, stop = rows.zone_start[event], rows.zone_stop[event]
        inside = {
            score
            for score, left, right in zip(case.scores, borders, borders[1:], strict=False)
            if max(left, start) < min(right, stop)
        }
        assert own.thresholds.tolist() == sorted(inside, reverse=True)


@given(scored_cases(), st.data())
def test_only_the_order_of_the_scores_counts(case, data):
    ranks = {score: rank for rank, score in enumerate(reversed(case.thresholds))}
    values = sorted(
        data.draw(st.sets(st.floats(allow_nan=False), min_size=len(ranks), max_size=len(ranks)))
    )
    moved = case.having(np.array([values[ranks[score]] for score in case.scores.tolist()]))
    before, after = case.curve(), moved.curve()
    assert after.thresholds.tolist() == values[::-1]
    assert_array_equal(before.alarms, after.alarms)
    # Ties may enter in another order, which may round otherwise.
    assert_allclose(before.precision, after.precision, rtol=0, atol=1e-14)
    assert_allclose(before.recall, after.recall, rtol=0, atol=1e-14)


@given(scored_cases(float_kinds), st.floats(allow_nan=False))
def test_one_score_for_all_samples(case, score):
    case = case.having(np.full(len(case.times), score))
    curve = case.curve()
    expected = case.affiliation_at(score)
    assert (len(curve), curve.alarms.tolist()) == (1, [1])
    assert curve.precision[0] == pytest.approx(expected.precision, abs=TOLERANCE)
    assert curve.average_precision == pytest.approx(expected.precision * expected.recall)


@given(scored_cases())
def test_time_reversal(case):
    # A point that touches an event would be on its start, which overlaps.
    assume(not touches_a_point(case.truth))
    forward, backward = case.curve(), case.mirrored().curve()
    assert_array_equal(forward.thresholds, backward.thresholds)
    assert_array_equal(forward.alarms, backward.alarms)
    assert_allclose(forward.precision, backward.precision, rtol=0, atol=TOLERANCE)
    assert_allclose(forward.recall, backward.recall, rtol=0, atol=TOLERANCE)


def check_at_random(truth, scores, *, tolerance=TOLERANCE, count=12, **axis):
    curve = cc.affiliation_curve(truth, scores, **axis)
    chosen = np.random.default_rng(7).choice(len(curve), size=count, replace=False)
    for point in (0, *chosen, len(curve) - 1):
        predicted = (scores >= curve.thresholds[point]).astype(np.uint8)
        result = cc.affiliation(truth, predicted, **axis)
        found = (curve.precision[point], curve.recall[point])
        assert found == pytest.approx((result.precision, result.recall), abs=tolerance)
        assert curve.alarms[point] == np.count_nonzero(np.diff(predicted, prepend=0) == 1)


def long_truth(count=40, mean=1_500):
    random = np.random.default_rng(1)
    truth = np.zeros(LONG, dtype=np.uint8)
    for start in random.choice(LONG - 20 * mean, size=count, replace=False):
        truth[start : start + random.integers(1, 2 * mean)] = 1
    return truth


LONG_SCORES = {
    "noise": lambda truth, random: truth + random.normal(0, 0.3, size=LONG),
    "more noise": lambda truth, random: truth + random.normal(0, 5.0, size=LONG),
    "ties": lambda truth, random: random.integers(0, 200, size=LONG) + 50 * truth,
    "hardly different": lambda _, random: np.append(
        1 + random.permutation(LONG - 2) / 2**52, [-np.inf, np.inf]
    ),
}


@pytest.mark.parametrize("make", LONG_SCORES.values(), ids=LONG_SCORES)
def test_a_long_series(make):
    truth = long_truth()
    check_at_random(truth, make(truth, np.random.default_rng(2)))


def test_a_long_uneven_series_far_from_zero():
    truth, random = long_truth(), np.random.default_rng(4)
    steps = random.lognormal(0, 2, size=LONG + 1)
    *times, end = 1e6 + np.cumsum(steps)
    check_at_random(truth, random.random(LONG), times=np.array(times), end=end, tolerance=1e-9)


def test_rounding_does_not_pile_up():
    # One event in half a million samples: all of the steps add up in a single zone.
    truth = np.zeros(LONG, dtype=np.uint8)
    truth[200_000:300_000] = 1
    check_at_random(truth, np.random.default_rng(5).random(LONG), tolerance=1e-13)


def test_swat(data_folder):
    truth, found = (labels(data_folder, "swat", name) for name in ("groundtruth", "seq2seq"))
    noise = np.random.default_rng(6).random(truth.size)
    check_at_random(truth, found + noise)


def test_swat_at_the_labels_of_a_detector(data_folder):
    truth, found = (labels(data_folder, "swat", name) for name in ("groundtruth", "seq2seq"))
    curve, result = cc.affiliation_curve(truth, found), cc.affiliation(truth, found)
    assert curve.thresholds.tolist() == [1, 0]
    assert curve.precision[0] == pytest.approx(result.precision, abs=TOLERANCE)
    assert curve.recall[0] == pytest.approx(result.recall, abs=TOLERANCE)

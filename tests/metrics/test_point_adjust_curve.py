"""Point-adjusted scores at every threshold, against each threshold on its own."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import closecall as cc
from closecall.fscore import f_measure
from closecall.metrics.point_adjust_curve import point_adjust_curve
from closecall.metrics.pointwise import point_adjust
from tests.metrics.test_pointwise import both, same
from tests.oracle import pointwise as oracle
from tests.properties.strategies import dyadic_steps, labelled, small

LEVELS = np.array([-1.5, 0.0, 0.25, 0.5, 2.0, 9.0])


def make_scored(samples):
    scores, truth = np.divmod(samples, 2)
    truth[-1] |= not truth.any()
    return truth.tolist(), LEVELS[scores].tolist()


SCORED = st.integers(1, 30).flatmap(lambda size: small(0, 11, size)).map(make_scored)


@given(series=SCORED, beta=st.sampled_from([0, Fraction(1, 10), Fraction(1, 2), 1, 2, 10, 10**200]))
def test_the_curve_is_every_threshold_on_its_own(series, beta):
    truth, scores = series
    curve = point_adjust_curve(truth, scores)
    rows = oracle.point_adjust_curve(truth, scores)
    assert curve.thresholds.tolist() == [row[0] for row in rows]
    assert same(tuple(curve.precision), [row[1] for row in rows])
    assert same(tuple(curve.recall), [row[2] for row in rows])
    scores_by_brute_force = [float(oracle.f1(*row[1:])) for row in rows]
    assert curve.best().f1 == pytest.approx(max(scores_by_brute_force), rel=1e-14)
    at_best = point_adjust(truth, np.array(scores) >= curve.best().threshold)
    assert same(both(curve.best()), both(at_best))
    expected = f_measure(curve.precision, curve.recall, float(beta))
    assert curve.fbeta(float(beta)) == pytest.approx(expected, rel=1e-14)
    assert (curve.fbeta(float(beta)) <= 1).all()
    best = curve.best(float(beta))
    by_threshold = {h: oracle.fbeta(*scores, Fraction(beta)) for h, *scores in rows}
    assert by_threshold[best.threshold] == max(by_threshold.values())
    at_best = next(row for row in rows if row[0] == best.threshold)
    assert same(both(best), at_best[1:])
    best_of_all = by_threshold[best.threshold]
    assert all(by_threshold[h] < best_of_all for h in by_threshold if h > best.threshold)


@pytest.mark.parametrize("kind", [np.float64, np.uint64])
@pytest.mark.parametrize("count", [1, 2, 40, 700])
def test_the_best_threshold_of_a_long_series(kind, count):
    generator = np.random.default_rng(count)
    truth = np.zeros(3_000, dtype=int)
    truth[generator.choice(truth.size, count, replace=False)] = 1
    scores = (generator.normal(500, 150, truth.size) + 150 * truth).clip(0).astype(kind)
    curve = point_adjust_curve(truth, scores)
    for beta in (0, 0.3, 1, 4):
        best, index = curve.best(beta), curve.fbeta(beta).argmax()
        assert best.threshold == curve.thresholds[index]
        assert both(best) == (curve.precision[index], curve.recall[index])


@given(case=labelled(dyadic_steps), data=st.data())
def test_the_best_threshold_where_samples_last_differently(case, data):
    truth, _, times, end = case
    scores = data.draw(small(0, 9, len(truth)))
    curve = point_adjust_curve(truth, scores, times=times, end=end)
    best, index = curve.best(), curve.f1.argmax()
    assert (best.threshold, *both(best)) == (
        curve.thresholds[index],
        curve.precision[index],
        curve.recall[index],
    )


def test_without_any_sample_in_an_event_the_highest_score_is_the_first_of_equally_bad_ones():
    truth = cc.Events([(10, 12)])
    curve = point_adjust_curve(truth, [0.2, 0.7, 0.1], times=[0, 1, 2], end=3, span=(0, 20))
    assert repr(curve.best()) == (
        "AdjustedPoint(threshold=0.7, precision=0.000, recall=0.000, f1=0.000)"
    )
    assert curve.f1.tolist() == [0.0, 0.0, 0.0]


def test_a_curve_keeps_the_scores_it_was_made_of():
    truth, scores = np.array([0, 1, 1, 0]), np.array([0.4, 0.1, 0.7, 0.2])
    times = np.array([0, 1, 2, 3])
    curve = point_adjust_curve(truth, scores, times=times)
    for given_array in (truth, scores, times):
        given_array[:] = 0
    assert curve.best().threshold == 0.7
    assert curve.thresholds.tolist() == [0.7, 0.4, 0.2, 0.1]
    assert curve.precision.tolist() == [1.0, 2 / 3, 0.5, 0.5]


@given(series=SCORED, data=st.data())
def test_events_that_cut_samples_count_by_duration(series, data):
    scores = series[1]
    size = len(scores)
    borders = sorted(set(data.draw(small(-3, 4 * size + 3, 3, 8))))
    assume(len(borders) > 1)
    truth = cc.Events(list(zip(borders[::2], borders[1::2], strict=False)))
    times, span = np.arange(size) * 4, (-3, 4 * size + 3)
    curve = point_adjust_curve(truth, scores, times=times, end=4 * size, span=span)
    for index, threshold in enumerate(curve.thresholds):
        labels = np.array(scores) >= threshold
        predicted = cc.Events.from_labels(labels, times=times, end=4 * size)
        expected = point_adjust(truth, predicted, span=span)
        assert same((curve.precision[index], curve.recall[index]), both(expected))


def test_of_equally_good_thresholds_the_best_is_the_highest_whatever_rounding_does():
    truth, scores = [1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1], [3, 4, 8, 5, 1, 9, 10, 2, 7, 0, 11, 6]
    curve = point_adjust_curve(truth, scores)
    assert curve.best().f1 == pytest.approx(2 / 3)
    assert curve.f1[curve.thresholds == 6] == pytest.approx(2 / 3)
    assert curve.best().threshold == 10
    curve = point_adjust_curve([1, 0, 1, 1, 0, 0, 0, 1], [3, 6, 5, 4, 7, 0, 2, 1])
    at = [curve.fbeta(0.5)[curve.thresholds == threshold].item() for threshold in (3, 1)]
    assert at == pytest.approx([5 / 8, 5 / 8])
    assert curve.best(0.5).threshold == 3


def test_several_events_may_cut_the_last_sample():
    truth = cc.Events([(0, 1), (2, 3)])
    curve = point_adjust_curve(truth, [7.0], times=[0], end=4)
    assert (curve.precision.tolist(), curve.recall.tolist()) == ([0.5], [1.0])


@pytest.mark.parametrize(
    ("kind", "kept"), [(np.float32, np.float64), (np.int8, np.int64), (np.uint16, np.int64)]
)
def test_thresholds_are_of_the_type_of_the_scores_or_wider(kind, kept):
    curve = point_adjust_curve([0, 1, 1, 0], np.array([3, 1, 2, 3], dtype=kind))
    assert curve.thresholds.dtype == kept
    assert curve.thresholds.tolist() == [3, 2, 1]
    assert curve.precision.tolist() == [0.0, 0.5, 0.5]
    assert curve.recall.tolist() == [0.0, 1.0, 1.0]


def test_infinite_scores_and_the_first_of_equally_good_thresholds():
    curve = point_adjust_curve([0, 1, 1, 0], [-np.inf, np.inf, 0.0, -np.inf])
    assert curve.thresholds.tolist() == [np.inf, 0.0, -np.inf]
    assert curve.f1.tolist() == [1.0, 1.0, 2 / 3]
    assert curve.best().threshold == np.inf
    assert repr(curve) == "PointAdjustCurve(3 thresholds, best f1=1.000 at inf)"
    assert repr(curve.best(beta=2)) == (
        "AdjustedPoint(threshold=inf, precision=1.000, recall=1.000, f1=1.000)"
    )

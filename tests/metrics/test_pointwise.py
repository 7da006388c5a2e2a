"""Pointwise, composite, event-wise and point-adjusted metrics."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.fscore import f_measure
from closecall.metrics.point_adjust import point_adjust, point_adjust_k, point_adjust_k_area
from closecall.metrics.point_adjust_curve import point_adjust_curve
from closecall.metrics.pointwise import classical, composite, event_wise
from tests.oracle import pointwise as oracle
from tests.properties.strategies import dyadic_steps, labelled

LABELS = st.integers(1, 40).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(0, 1), min_size=size, max_size=size)] * 2)
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


@pytest.mark.parametrize("name", PAIRS)
@given(labels=LABELS)
def test_equals_the_count_of_samples(name, labels):
    metric, brute_force = PAIRS[name]
    expected = brute_force(*labels)
    assert same(both(metric(*labels)), expected)
    # Samples of one minute, or events of the same samples, are counted the same.
    times = [
        datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=i) for i in range(len(labels[0]) + 1)
    ]
    axis = {"times": times[:-1], "end": times[-1]}
    assert same(both(metric(*labels, **axis)), expected)
    sides = [cc.Events.from_labels(side) for side in labels]
    assert same(both(metric(*sides, span=(0, len(labels[0])))), expected)


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


def test_xu_et_al_figure_of_point_adjustment():
    # The illustration in Xu et al. 2018: ten points, two events, the threshold 0.5.
    truth = [0, 0, 1, 1, 1, 0, 0, 1, 1, 1]
    scores = [0.6, 0.4, 0.3, 0.7, 0.6, 0.5, 0.2, 0.3, 0.4, 0.3]
    predicted = [int(score >= 0.5) for score in scores]
    assert both(classical(truth, predicted)) == (2 / 4, 2 / 6)
    assert both(point_adjust(truth, predicted)) == (3 / 5, 3 / 6)
    assert both(composite(truth, predicted)) == (2 / 4, 1 / 2)
    assert both(event_wise(truth, predicted)) == (1 / 2, 1 / 2)


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


@pytest.mark.parametrize("metric", [classical, composite, event_wise, point_adjust, point_adjust_k])
def test_what_is_undefined_is_nan(metric):
    nothing_predicted = metric([0, 1, 1], [0, 0, 0])
    assert isnan(nothing_predicted.precision)
    assert nothing_predicted.recall == 0.0
    assert isnan(nothing_predicted.f1)
    nothing_true = metric([0, 0, 0], [0, 1, 1])
    assert nothing_true.precision == 0.0
    assert isnan(nothing_true.recall)
    assert both(metric([0, 1, 1], [0, 1, 1])) == (1.0, 1.0)


def test_the_area_is_undefined_where_f1_is():
    assert isnan(point_adjust_k_area([0, 1, 1], [0, 0, 0]).value)
    assert isnan(point_adjust_k_area([0, 0, 0], [0, 1, 1]).value)
    assert isnan(point_adjust_k_area([0, 0, 0], [0, 0, 0]).value)
    assert point_adjust_k_area([0, 1, 1], [1, 0, 0]).value == 0.0
    assert point_adjust_k_area([0, 1, 1], [0, 1, 1]).value == 1.0


def test_a_predicted_point_hits_the_event_that_holds_it():
    truth, point = cc.Events([(2, 5), (8, 10)]), cc.Events.from_points([2])
    assert both(point_adjust(truth, point, span=(0, 12))) == (1.0, 3 / 5)
    assert both(event_wise(truth, point, span=(0, 12))) == (1.0, 0.5)
    outside = cc.Events.from_points([5])
    assert point_adjust(truth, outside, span=(0, 12)).recall == 0.0
    assert event_wise(truth, outside, span=(0, 12)).precision == 0.0


@pytest.mark.parametrize("k", [-1, 100.5, nan])
def test_k_outside_its_range_is_refused(k):
    with pytest.raises(
        InputError, match=r"Expected `k` to be a percentage, a number from 0 to 100, got"
    ):
        point_adjust_k([0, 1], [0, 1], k=k)


@pytest.mark.parametrize("k", ["20", True, None])
def test_k_that_is_no_number_is_refused(k):
    with pytest.raises(
        InputTypeError, match=r"Expected `k` to be a percentage, a number from 0 to 100, got"
    ):
        point_adjust_k([0, 1], [0, 1], k=k)


SCORED = st.integers(1, 30).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(0, 1), min_size=size, max_size=size).filter(any),
        st.lists(st.sampled_from([-1.5, 0.0, 0.25, 0.5, 2.0, 9.0]), min_size=size, max_size=size),
    )
)


@given(series=SCORED)
def test_the_curve_is_every_threshold_on_its_own(series):
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


@given(series=SCORED, beta=st.sampled_from([Fraction(1, 10), Fraction(1, 2), 1, 2, 10]))
def test_the_best_threshold_is_the_best_of_all(series, beta):
    best = point_adjust_curve(*series).best(float(beta))
    rows = oracle.point_adjust_curve(*series)
    by_threshold = {h: oracle.fbeta(*scores, Fraction(beta)) for h, *scores in rows}
    assert by_threshold[best.threshold] == max(by_threshold.values())
    at_best = next(row for row in rows if row[0] == best.threshold)
    assert same(both(best), at_best[1:])
    best_of_all = by_threshold[best.threshold]
    assert all(by_threshold[h] < best_of_all for h in by_threshold if h > best.threshold)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.uint64])
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
    scores = data.draw(st.lists(st.integers(0, 9), min_size=len(truth), max_size=len(truth)))
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


@given(SCORED, st.sampled_from([0, 0.5, 1, 2, 1e200]))
def test_f_beta_is_that_of_precision_and_recall(series, beta):
    curve = point_adjust_curve(*series)
    expected = f_measure(curve.precision, curve.recall, beta)
    assert curve.fbeta(beta) == pytest.approx(expected, rel=1e-14)
    assert (curve.fbeta(beta) <= 1).all()


@given(series=SCORED, data=st.data())
def test_events_that_cut_samples_count_by_duration(series, data):
    scores = series[1]
    size = len(scores)
    borders = data.draw(
        st.lists(st.integers(-3, 4 * size + 3), min_size=2, max_size=8, unique=True).map(sorted)
    )
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


def test_several_events_may_cut_the_last_sample():
    truth = cc.Events([(0, 1), (2, 3)])
    curve = point_adjust_curve(truth, [7.0], times=[0], end=4)
    assert (curve.precision.tolist(), curve.recall.tolist()) == ([0.5], [1.0])


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint16])
def test_the_curve_keeps_the_type_of_the_scores(kind):
    curve = point_adjust_curve([0, 1, 1, 0], np.array([3, 1, 2, 3], dtype=kind))
    assert curve.thresholds.dtype == kind
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


def test_the_best_threshold_depends_on_beta():
    curve = point_adjust_curve([1, 0, 0, 1], [4.0, 3.0, 2.0, 1.0])
    assert curve.recall.tolist() == [0.5, 0.5, 0.5, 1.0]
    assert curve.best(beta=0.1).threshold == 4.0
    assert curve.best(beta=10).threshold == 1.0


def test_a_curve_without_true_time_is_an_error():
    with pytest.raises(UndefinedMetricError, match="point-adjusted recall is undefined"):
        point_adjust_curve([0, 0], [0.1, 0.2])
    with pytest.raises(UndefinedMetricError, match="Expected a true event that lasts"):
        point_adjust_curve(cc.Events.from_points([1]), [0.1, 0.2], times=[0, 1])

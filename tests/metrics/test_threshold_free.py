import sys
from math import isnan

import numpy as np
import pytest
from hypothesis import given

import closecall as cc
from closecall.errors import InputError, MissingExtraError
from closecall.events import Events, runs
from closecall.metrics.threshold_free import (
    affiliation_average_precision,
    auc_roc,
    average_precision,
    rank,
    true_samples,
)
from closecall.series import read_scored
from tests.metrics.test_vus import series

TRUTH = [0, 1, 1, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.9, 0.3, 0.6, 0.3, 0.0, 0.7, 0.2]


@given(series())
def test_auc_roc_is_the_share_of_pairs_in_order(data):
    labels, scores = data
    true = [score for label, score in zip(labels, scores, strict=True) if label]
    normal = [score for label, score in zip(labels, scores, strict=True) if not label]
    value = auc_roc(labels, scores).value
    if not true or not normal:
        assert isnan(value)
        return
    won = sum((a > b) + 0.5 * (a == b) for a in true for b in normal)
    assert value == pytest.approx(won / len(true) / len(normal), abs=1e-12)


@given(series())
def test_average_precision_is_the_sum_over_thresholds(data):
    labels, scores = data
    value = average_precision(labels, scores).value
    if not any(labels):
        assert isnan(value)
        return
    area, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        hits = [label for label, score in zip(labels, scores, strict=True) if score >= threshold]
        new = sum(hits) / sum(labels)
        area, recall = area + (new - recall) * sum(hits) / len(hits), new
    assert value == pytest.approx(area, abs=1e-12)


def test_affiliation_average_precision_is_that_of_the_curve():
    curve = cc.affiliation_curve(TRUTH, SCORES)
    assert affiliation_average_precision(TRUTH, SCORES).value == curve.average_precision
    uneven = {"times": [0, 1, 4, 5, 9, 10, 11, 19], "end": 25}
    curve = cc.affiliation_curve(TRUTH, SCORES, **uneven)
    assert affiliation_average_precision(TRUTH, SCORES, **uneven).value == curve.average_precision


@pytest.mark.parametrize("function", [auc_roc, average_precision])
def test_without_scikit_learn_the_message_names_it(function, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(MissingExtraError, match="pip install scikit-learn"):
        function(TRUTH, SCORES)


def test_labels_come_back_as_they_were():
    labels = [1, 0, 0, 1, 1, 0, 1]
    assert true_samples(read_scored(labels, np.arange(7))).tolist() == labels


def test_labels_come_back_on_an_uneven_axis():
    labels, times = [1, 0, 1, 1, 0], [0.0, 0.5, 3.0, 3.25, 9.0]
    scored = read_scored(labels, np.arange(5), times=times, end=11.0)
    assert true_samples(scored).tolist() == labels


def test_a_sample_is_true_if_it_meets_an_event():
    truth = Events([(0.5, 0.6), (2.9, 4.0), (5.0, 5.0)])
    scored = read_scored(truth, np.zeros(7), times=np.arange(7.0))
    assert true_samples(scored).tolist() == [1, 0, 1, 1, 0, 1, 0]


def test_an_event_that_juts_out_is_true_on_the_samples_it_meets():
    scored = read_scored(Events([(0, 3), (8, 12)]), np.zeros(8), times=range(2, 10), span=(0, 12))
    assert true_samples(scored).tolist() == [1, 0, 0, 0, 0, 0, 1, 1]


def test_events_that_touch_are_one_run():
    scored = read_scored(Events([(1, 3), (3, 5)]), np.zeros(6), times=range(6))
    starts, stops = runs(true_samples(scored))
    assert (starts.tolist(), stops.tolist()) == ([1], [5])


@pytest.mark.parametrize("event", [(0, 1), (0, 2), (10, 11), (1, 1)])
def test_an_event_without_a_sample_is_refused(event):
    scored = read_scored(
        Events(sorted([event, (4, 5)])), np.zeros(8), times=range(2, 10), span=(0, 12)
    )
    with pytest.raises(InputError, match="each true event to meet a sample, got"):
        true_samples(scored)


def test_a_point_on_the_first_sample_is_met():
    scored = read_scored(Events([(2, 2)]), np.zeros(3), times=range(2, 5), span=(0, 5))
    assert true_samples(scored).tolist() == [1, 0, 0]


def test_ranking_groups_equal_scores_and_counts_all_samples():
    scores = np.array([3.0, np.inf, 1.0, 3.0, -np.inf, 2.0])
    ranking = rank(scores, np.array([0, 2, 3, 4]))
    assert ranking.bounds.tolist() == [0, 2, 3, 4]
    assert sorted(ranking.samples[:2].tolist()) == [0, 3]
    assert ranking.samples[2:].tolist() == [2, 4]
    assert ranking.above.tolist() == [1, 4, 5]
    assert ranking.reach.tolist() == [3, 5, 6]


def test_ranking_takes_unsigned_scores_as_they_are():
    ranking = rank(np.array([0, 255, 7], dtype=np.uint8), np.array([0, 1, 2]))
    assert ranking.samples.tolist() == [1, 2, 0]

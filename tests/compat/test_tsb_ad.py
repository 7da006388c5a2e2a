"""`get_metrics` against plain loops over every threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.compat import get_metrics
from closecall.errors import InputError, UndefinedMetricError
from tests.properties.strategies import small

KEYS = [
    "AUC-PR",
    "AUC-ROC",
    "VUS-PR",
    "VUS-ROC",
    "Standard-F1",
    "PA-F1",
    "Event-based-F1",
    "R-based-F1",
    "Affiliation-F",
]


@st.composite
def scored_labels(draw):
    size = draw(st.integers(4, 30))
    labels, scores = np.divmod(draw(small(0, 21, size)), 11)
    one, zero = draw(small(0, 255, 2))
    labels[one % size] = 1
    if labels.all():
        labels[zero % size] = 0
    return labels, scores - 5.0


def classical_f1(labels, predicted):
    return 2 * (labels & predicted).sum() / (labels.sum() + predicted.sum())


def event_based(labels, predicted):
    starts = np.flatnonzero(np.diff(labels, prepend=0) == 1)
    stops = np.flatnonzero(np.diff(labels, append=0) == -1) + 1
    found = [predicted[start:stop].any() for start, stop in zip(starts, stops, strict=True)]
    precision = (labels & predicted).sum() / predicted.sum()
    recall = sum(found) / len(found)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(scored_labels())
def test_best_over_every_threshold(case):
    from sklearn.metrics import average_precision_score, roc_auc_score

    labels, scores = case
    found = get_metrics(scores, labels, slidingWindow=4)
    assert list(found) == KEYS
    predictions = [(scores >= threshold).astype(int) for threshold in np.unique(scores)]
    best = {
        "Standard-F1": max(classical_f1(labels, predicted) for predicted in predictions),
        "PA-F1": max(cc.metrics.point_adjust(labels, predicted).f1 for predicted in predictions),
        "Event-based-F1": max(event_based(labels, predicted) for predicted in predictions),
        "Affiliation-F": max(cc.affiliation(labels, predicted).f1 for predicted in predictions),
        "AUC-PR": average_precision_score(labels, scores),
        "AUC-ROC": roc_auc_score(labels, scores),
    }
    for key, value in best.items():
        assert found[key] == pytest.approx(value, abs=1e-12), key
    volumes = cc.metrics.vus(labels, scores, window=4)
    assert (found["VUS-PR"], found["VUS-ROC"]) == (volumes.pr, volumes.roc)


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([0, 0, 1, 1, 1, 0, 0, 1, 0, 0], [1, 2, 9, 3, 8, 2, 7, 5, 1, 0.5]),
        ([1, 1, 1, 1, 0, 1], [0.9, 0.7, 0.501, 0.6, 0.5, 0.8]),  # best just above the lowest
    ],
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_range_based_is_sampled_above_a_hundred_thresholds(labels, scores, kind):
    scores = np.array(scores, dtype=kind)
    thresholds = np.linspace(float(scores.min()), float(scores.max()), 100)
    values = [
        cc.metrics.range_based(labels, scores > threshold, alpha=0.2).f1
        for threshold in thresholds[:-1]
    ]
    assert get_metrics(scores, labels)["R-based-F1"] == pytest.approx(max(values))


def test_predictions_without_an_alarm():
    found = get_metrics([1, 2, 3, 3], [0, 0, 1, 0], 2, [0, 0, 0, 0])
    assert {key: found[key] for key in KEYS[4:8]} == dict.fromkeys(KEYS[4:8], 0.0)
    assert np.isnan(found["Affiliation-F"])


def test_one_score_for_all_samples():
    labels = np.array([0, 0, 1, 1, 0, 0, 0, 1])
    everything = np.ones(8, dtype=int)
    found = get_metrics(np.full(8, 0.3), labels, slidingWindow=2)
    assert found["PA-F1"] == cc.metrics.point_adjust(labels, everything).f1
    assert found["Event-based-F1"] == pytest.approx(event_based(labels, everything))
    assert found["Affiliation-F"] == pytest.approx(cc.affiliation(labels, everything).f1)
    assert found["R-based-F1"] == 0.0  # no score is above a threshold
    own = get_metrics(np.full(8, 0.3), labels, 2, everything)
    assert own["R-based-F1"] == cc.metrics.range_based(labels, everything, alpha=0.2).f1 > 0


def test_true_events_only():
    found = get_metrics([1, 2, 3, 3], [1, 1, 1, 1], 2)
    assert {key for key in KEYS if np.isnan(found[key])} == {"AUC-ROC", "VUS-ROC"}


def test_predictions_fix_the_threshold_of_the_f1_scores_alone():
    labels = np.array([0, 0, 1, 1, 1, 0, 0, 1, 0, 0])
    scores = np.array([1, 2, 9, 3, 8, 2, 7, 5, 1, 0.5])
    predicted = (scores >= 7).astype(int)
    fixed, free = get_metrics(scores, labels, pred=predicted), get_metrics(scores, labels)
    assert {key for key in KEYS if fixed[key] == free[key]} >= set(KEYS[:4])
    assert fixed["Standard-F1"] == pytest.approx(classical_f1(labels, predicted))
    assert fixed["PA-F1"] == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))  # one event found, one missed
    assert fixed["Event-based-F1"] == pytest.approx(event_based(labels, predicted))
    assert fixed["Affiliation-F"] == cc.affiliation(labels, predicted).f1
    assert fixed["R-based-F1"] == cc.metrics.range_based(labels, predicted, alpha=0.2).f1


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.float64])
def test_the_type_of_the_labels_changes_nothing(kind):
    labels, scores = np.array([0, 1, 1, 0, 0, 1]), np.array([0.2, 0.9, 0.4, 0.5, 0.1, 0.3])
    assert get_metrics(scores, labels.astype(kind)) == get_metrics(scores, labels)


def test_the_options_of_tsb_ad_that_are_not_needed():
    labels, scores = [0, 1, 1, 0, 0, 1], [0.2, 0.9, 0.4, 0.5, 0.1, 0.3]
    assert get_metrics(scores, labels, 2, None, "opt_mem", 10) == get_metrics(scores, labels, 2)


@pytest.mark.parametrize(
    "scores",
    [
        [0.1, 0.9, 0.2, np.inf, np.inf, 0.4],
        [-np.inf, 0.9, 0.2, 0.8, np.inf, 0.4],
        [-np.inf, -np.inf, -np.inf, np.inf, np.inf, np.inf],
    ],
)
def test_infinite_scores_rank_like_any_others(scores):
    labels = [0, 0, 0, 1, 1, 0]
    found = get_metrics(scores, labels, slidingWindow=2)
    finite = np.clip(scores, -2.0, 3.0)
    for key, value in get_metrics(finite, labels, slidingWindow=2).items():
        assert found[key] == value, key


SCORE, LABELS = [1, 2, 3, 3], [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SCORE, [0, 0, 2, 0]), "Expected `labels` labels to be 0 or 1, got 2"),
        (([1, 2, np.nan, 3], LABELS), "Expected `score` to be numbers"),
        (([1, 2], LABELS), r"`score` to have as many values as `labels` \(4\), got 2"),
        ((SCORE, LABELS, -1), "Expected `slidingWindow` to be a whole number"),
        ((SCORE, LABELS, 2, [1, 0]), "Expected `pred` to have as many .* `labels`"),
    ],
)
def test_messages_name_their_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        get_metrics(*arguments)
    with pytest.raises(UndefinedMetricError, match="got none in `labels`"):
        get_metrics(SCORE, [0] * 4)


def test_its_protocol_by_hand():
    """At the ends: index 0 is never filled in, and the last sample is not looked at."""
    labels, score = [1, 1, 0, 0, 0, 1], [0.0, 0.9, 0.1, 0.0, 0.2, 0.8]
    own = get_metrics(score, labels, 1, pred=[0, 1, 0, 0, 0, 1], protocol="tsb-ad")
    assert own["PA-F1"] == pytest.approx(2 * 2 / (2 + 3))  # 2 of 3 true samples, nothing false
    assert own["Event-based-F1"] == pytest.approx(2 / 3)  # one of two events
    exact = get_metrics(score, labels, 1, pred=[0, 1, 0, 0, 0, 1])
    assert exact["PA-F1"] == exact["Event-based-F1"] == 1


@pytest.mark.parametrize(
    ("score", "options", "message"),
    [
        ([0, 1, np.inf], {"protocol": "tsb-ad"}, "Expected finite `score` for TSB-AD's thresholds"),
        ([0, 1, 2], {"protocol": "TSB-AD"}, "`protocol`"),
        ([0, 1, 2], {"protocol": "tsb-ad", "thre": -1}, "`thre`"),
    ],
)
def test_what_its_protocol_refuses(score, options, message):
    with pytest.raises(ValueError, match=message):
        get_metrics(score, [0, 1, 0], 1, **options)

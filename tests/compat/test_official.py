"""`pr_from_events` against the values of the paper's implementation."""

from datetime import UTC, datetime

import numpy as np
import pytest

import closecall as cc
from closecall.compat import pr_from_events

KEYS = [
    "precision",
    "recall",
    "individual_precision_probabilities",
    "individual_recall_probabilities",
    "individual_precision_distances",
    "individual_recall_distances",
]


def test_keys_and_the_order_of_the_arguments():
    truth, predicted = [(1, 10)], [(2, 4), (14, 16)]
    scores = pr_from_events(predicted, truth, (0, 20))
    assert list(scores) == KEYS
    result = cc.affiliation(cc.Events(truth), cc.Events(predicted), span=(0, 20))
    assert (scores["precision"], scores["recall"]) == (result.precision, result.recall)
    # By hand: half of the predicted time is 0 away, the other half 5 on average.
    assert scores["individual_precision_distances"] == [2.5]
    swapped = pr_from_events(truth, predicted, (0, 20))
    assert swapped["precision"] != scores["precision"]


def test_undefined_is_nan_and_infinitely_far():
    scores = pr_from_events([(1, 2)], [(1, 2), (50, 60)], (0, 100))
    assert scores["individual_recall_distances"] == [0.0, np.inf]
    np.testing.assert_array_equal(scores["individual_precision_probabilities"], [1.0, np.nan])
    assert np.isnan(pr_from_events([], [(1, 2)], (0, 9))["precision"])


def test_distances_of_datetimes_are_seconds():
    at = [datetime(2024, 1, 1, 0, minute, tzinfo=UTC) for minute in (0, 10, 20, 30, 40)]
    truth = [(at[1], at[2])]
    scores = pr_from_events([(at[2], at[3])], truth, (at[0], at[4]))
    assert scores["individual_precision_distances"] == [300.0]
    assert pr_from_events([], truth, (at[0], at[4]))["individual_recall_distances"] == [np.inf]


def test_the_truth_must_hold_an_event():
    with pytest.raises(cc.errors.UndefinedMetricError):
        pr_from_events([(1, 2)], [], (0, 9))

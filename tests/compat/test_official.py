"""`pr_from_events` against the values of the paper's implementation."""

from datetime import UTC, datetime

import numpy as np
import pytest

import closecall as cc
from closecall.compat import pr_from_events
from closecall.errors import InputError, InputTypeError, UndefinedMetricError

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


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (
            ([(1, 3), (2, 4)], [(1, 2)], (0, 9)),
            InputError,
            r"`events_pred` .*\n\n.*Events\(events_p",
        ),
        (
            ([(1, 3)], [(1, 3), (2, 4)], (0, 9)),
            InputError,
            r"`events_gt` .*\n\n.*Events\(events_gt",
        ),
        (([(1, 3)], [(1, 2)], (9, 0)), InputError, "Expected `Trange` to start before it stops"),
        (([(1, 3)], [], (0, 9)), UndefinedMetricError, "got none in `events_gt`"),
        (([(1, 3)], 7, (0, 9)), InputTypeError, "Expected `events_gt` to be pairs"),
        (([("a", "b")], [(1, 3)], (0, 9)), InputTypeError, "Expected `events_pred` to be numbers"),
    ],
)
def test_messages_name_their_arguments(arguments, kind, message):
    with pytest.raises(kind, match=message):
        pr_from_events(*arguments)

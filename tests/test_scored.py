"""What a threshold-free metric accepts as truth and scores, and what it refuses."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from closecall import Events
from closecall.errors import InputError, InputTypeError
from closecall.scored import read_scored, read_scores

EVENTS = Events([(1, 2)])
MIDNIGHT = datetime(2024, 1, 1)  # noqa: DTZ001 - times without a zone are legal


def message(error, *sides, **options):
    with pytest.raises(error) as caught:
        read_scored(*sides, **options)
    return str(caught.value)


def bounds(scored):
    pair = scored.nothing_predicted
    return list(Events.wrap(pair.truth)), (pair.start, pair.stop), len(pair.predicted)


def test_vectors():
    scored = read_scored([0, 1, 1], [0.5, 0.25, 1])
    assert bounds(scored) == ([(1, 3)], (0, 3), 0)
    assert scored.scores.tolist() == [0.5, 0.25, 1]
    assert (scored.axis.start, scored.axis.end) == (0, 3)


def test_vectors_on_an_axis_in_a_wider_span():
    scored = read_scored([0, 1], [3, 4], times=[0.5, 2.0], end=3.0, span=(0, 9))
    assert bounds(scored) == ([(2.0, 3.0)], (0.0, 9.0), 0)


def test_events():
    scored = read_scored(EVENTS, [3, 4, 5], times=[0, 2, 4])
    assert bounds(scored) == ([(1, 2)], (0, 6), 0)
    scored = read_scored(EVENTS, [3, 4, 5], times=[2, 4, 7], end=8, span=(0, 9))
    assert bounds(scored) == ([(1, 2)], (0, 9), 0)


def test_kinds_and_units_are_promoted():
    scored = read_scored(Events([(1.5, 2)]), [3, 4], times=[1, 2])
    assert scored.axis.ticks.dtype == np.float64
    times = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    truth = Events([(MIDNIGHT + timedelta(microseconds=1), MIDNIGHT + timedelta(hours=1))])
    scored = read_scored(truth, [3, 4], times=times)
    assert scored.axis.clock.unit == "us"
    assert np.diff(scored.axis.borders(np.arange(3))).tolist() == [86400 * 10**6] * 2


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("float64", "float64"),
        ("float32", "float32"),
        ("int64", "int64"),
        ("int8", "int8"),
        ("uint16", "uint16"),
        ("bool", "uint8"),
        ("float16", "float32"),
        ("longdouble", "float64"),
    ],
)
def test_types_of_scores(given, kept):
    scores = np.array([0, 1, 1], dtype=given)
    found = read_scores(scores)
    assert found.dtype == kept
    assert found.tolist() == [0, 1, 1]
    assert np.shares_memory(found, scores) == (given in {kept, "bool"})


def test_scores_in_the_byte_order_of_another_machine():
    scores = np.array([0.5, 2.0], dtype=np.dtype(float).newbyteorder())
    assert read_scores(scores).dtype.isnative
    assert read_scores(scores).tolist() == [0.5, 2.0]


def test_every_second_value():
    scores = np.arange(6.0)[::2]
    assert read_scores(scores).flags.c_contiguous
    assert read_scores(scores).tolist() == [0, 2, 4]


def test_infinite_scores_are_legal():
    assert read_scores([np.inf, -np.inf, 0]).tolist() == [np.inf, -np.inf, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("first", [0, 2])
def test_nan(dtype, first):
    scores = np.array([1, 2, np.inf, np.nan], dtype=dtype)
    scores[first] = np.nan
    assert message(InputError, [0, 1, 0, 0], scores) == (
        f"Expected `scores` to be numbers, or inf, got nan at index {first}.\n\n"
        "Hint: Drop those samples, or give them the lowest score if they are no alarm."
    )


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        (["a", "b"], "<U1"),
        ([1j, 2], "complex128"),
        ([2**70, 1], "object"),
        (np.array([1, 2], "m8[s]"), "timedelta64[s]"),
    ],
)
def test_scores_that_are_no_numbers(scores, kind):
    assert message(InputTypeError, [0, 1], scores) == (
        f"Expected `scores` to be numbers, got values of type {kind}."
    )


def test_no_scores():
    assert message(InputError, [], []) == (
        "Expected `scores` to have at least one sample, got an empty vector."
    )


def test_a_table_of_scores():
    found = message(InputTypeError, [0, 1], np.zeros((2, 1)))
    assert found.startswith("Expected `scores` to be one-dimensional, got an array of shape (2, 1)")


def test_lengths_that_differ():
    assert message(InputError, [0, 1, 0], [1, 2]) == (
        "Expected `scores` to have as many values as `truth` (3), got 2."
    )
    assert message(InputError, EVENTS, [1, 2, 3], times=[0, 1]) == (
        "Expected `times` to have one time for each of the 3 scores, got 2."
    )
    assert message(InputError, [0, 1, 0], [1, 2, 3], times=[0, 1]) == (
        "Expected `times` to have one time for each of the 3 labels, got 2."
    )


def test_missing_times_beside_events():
    assert message(InputTypeError, EVENTS, [1, 2, 3]) == (
        "Expected `times` of the scores beside true Events, got none.\n\n"
        "Hint: Pass `times=`, one for each score."
    )


def test_overlapping_events():
    truth = Events([(1, 3), (2, 4)])
    assert message(InputError, truth, [1, 2, 3, 4], times=range(4)) == (
        "Expected `truth` events to be disjoint, got (1, 3) and (2, 4) at index 1.\n\n"
        "Hint: Join them with `truth.merged()`."
    )


def test_events_outside_the_samples():
    assert message(InputError, Events([(1, 9)]), [1, 2, 3], times=[0, 1, 2]) == (
        "Expected `truth` to lie within the span (0, 3), got (1, 9) at index 0.\n\n"
        "Hint: Widen the span, or cut the event."
    )


@pytest.mark.parametrize(("span", "shown"), [((1, 3), "(1, 3)"), ((0, 2), "(0, 2)")])
@pytest.mark.parametrize("truth", [EVENTS, [0, 1, 0]])
def test_samples_outside_the_span(truth, span, shown):
    assert message(InputError, truth, [1, 2, 3], times=[0, 1, 2], span=span) == (
        f"Expected all samples to lie within the span {shown}, got samples from 0 to 3.\n\n"
        "Hint: Widen `span`."
    )


def test_two_kinds_of_time():
    truth = Events([(MIDNIGHT, MIDNIGHT + timedelta(1))])
    assert message(InputTypeError, truth, [1, 2], times=[0, 1]).startswith(
        "Expected `truth` and `times` to be on one kind of time axis, got datetimes and numbers."
    )


def test_uneven_times_without_an_end():
    found = message(InputError, EVENTS, [1, 2, 3], times=[0, 1, 5])
    assert found.startswith("Expected `end` for unevenly spaced times, got none.")


def test_times_that_go_back():
    found = message(InputError, EVENTS, [1, 2, 3], times=[0, 2, 1])
    assert found.startswith("Expected `times` to be strictly increasing, got 1 after 2 at index 2.")


@pytest.mark.parametrize(
    ("threshold", "intervals"),
    [(4, []), (3, [(2, 3)]), (2.5, [(2, 3)]), (2, [(0, 1), (2, 3)]), (-np.inf, [(0, 3)])],
)
def test_predictions_at_a_threshold(threshold, intervals):
    scored = read_scored([0, 1, 0], np.array([2, 1, 3], dtype=np.uint8))
    pair = scored.at(threshold)
    assert list(Events.wrap(pair.predicted)) == intervals
    assert pair.truth is scored.nothing_predicted.truth

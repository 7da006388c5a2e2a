"""Truth, predictions and scores on one clock: what is read, and what is refused."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import closecall as cc
from closecall import Events
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.series import read_pair, read_scored, read_scores

PARIS = ZoneInfo("Europe/Paris")
TRUTH, PREDICTED = Events([(4, 6)]), Events([(5, 7)])


def day(number, zone=None):
    return datetime(2024, 1, number, tzinfo=zone)


def message(error, *sides, **options):
    with pytest.raises(error) as caught:
        read_pair(*sides, **options)
    return str(caught.value)


def bounds(pair):
    return (
        list(Events.wrap(pair.truth)),
        list(Events.wrap(pair.predicted)),
        (pair.start, pair.stop),
    )


def test_vectors():
    pair = read_pair([0, 1, 1], [1, 0, 1])
    assert bounds(pair) == ([(1, 3)], [(0, 1), (2, 3)], (0, 3))


def test_vectors_on_an_axis():
    pair = read_pair([0, 1], [1, 0], times=[0.5, 2.0], end=3.0)
    assert bounds(pair) == ([(2.0, 3.0)], [(0.5, 2.0)], (0.5, 3.0))


def test_vectors_in_a_wider_span():
    assert bounds(read_pair([0, 1], [1, 0], span=(-3, 9)))[2] == (-3, 9)


def test_events():
    assert bounds(read_pair(TRUTH, PREDICTED, span=(0, 10))) == ([(4, 6)], [(5, 7)], (0, 10))


def test_touching_events_stay_two():
    truth = Events([(1, 2), (2, 2), (3, 4)])
    assert bounds(read_pair(truth, Events([]), span=(0, 5)))[0] == [(1, 2), (2, 2), (3, 4)]


def test_events_may_fill_the_span():
    pair = read_pair(Events([(0, 10)]), Events([(0, 4), (10, 10)]), span=(0, 10))
    assert bounds(pair)[:2] == ([(0, 10)], [(0, 4), (10, 10)])


def test_units_and_kinds_are_promoted():
    stamps = np.array([["2024-01-02", "2024-01-03"]], dtype="datetime64[D]")
    span = (np.datetime64("2024-01-01T00:00:00.000000001"), day(9))
    pair = read_pair(Events(stamps), Events([(day(2), day(4))]), span=span)
    assert pair.clock.unit == "ns"
    assert pair.start % 10 == 1
    pair = read_pair(TRUTH, Events([(5.5, 7)]), span=(0, 10))
    assert pair.clock.kind == "number"
    assert pair.truth.starts.dtype == pair.predicted.starts.dtype == np.float64


NOTHING = [Events([]), Events.from_points([]), Events.from_labels([0, 0]), Events([]).merged()]
AXES = [
    (Events([(1, 2)]), (0, 4)),
    (Events([(1.5, 2)]), (0, 4)),
    (Events([(2**60 + 1, 2**60 + 2)]), (2**60, 2**60 + 4)),
    (Events([(day(1), day(2))]), (day(1), day(3))),
    (Events([(day(1, PARIS), day(2, PARIS))]), (day(1, PARIS), day(3, UTC))),
    (Events(np.array([[5, 6]], dtype="datetime64[ns]")), tuple(np.array([4, 9], "datetime64[ns]"))),
]


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize(("truth", "span"), AXES)
def test_no_prediction_on_any_axis(nothing, truth, span):
    result = cc.affiliation(truth, nothing, span=span)
    assert np.isnan(result.precision)
    assert result.recall == 0
    assert result.events.predicted_count.tolist() == [0]


@pytest.mark.parametrize(
    ("sides", "kinds"),
    [((TRUTH, [0, 1]), "Events and a vector"), (([0, 1], PREDICTED), "a vector and Events")],
)
def test_vectors_beside_events(sides, kinds):
    assert message(InputTypeError, *sides) == (
        f"Expected `truth` and `predicted` to be both Events or both 0/1 vectors, got {kinds}.\n\n"
        "Hint: Turn the vector into events with `Events.from_labels(labels, times)`."
    )


def test_lengths_that_differ():
    assert message(InputError, [0, 1, 0], [0, 1]) == (
        "Expected `predicted` to have as many labels as `truth` (3), got 2."
    )


def test_times_of_another_length():
    assert message(InputError, [0, 1, 0], [0, 1, 1], times=[1, 2]) == (
        "Expected `times` to have one time for each of the 3 labels, got 2."
    )


@pytest.mark.parametrize(
    ("sides", "name"), [(([], []), "truth"), (([0], []), "predicted"), (([], [0]), "truth")]
)
def test_empty_vectors(sides, name):
    assert message(InputError, *sides) == (
        f"Expected `{name}` to have at least one sample, got an empty vector."
    )


def test_the_bad_side_is_named():
    assert message(InputError, [0, 1], [0, 2]).startswith(
        "Expected `predicted` labels to be 0 or 1, got 2 at index 1."
    )
    assert message(InputTypeError, [(1, 2), (3, 4)], [0, 2]).startswith(
        "Expected `truth` to be one-dimensional"
    )


def test_missing_span():
    assert message(InputTypeError, TRUTH, PREDICTED) == (
        "Expected `span=(start, stop)` beside Events, got none.\n\n"
        "Hint: Probabilities need to know where the whole series starts and stops."
    )


@pytest.mark.parametrize("name", ["times", "end"])
def test_an_axis_beside_events(name):
    assert message(InputTypeError, TRUTH, PREDICTED, span=(0, 9), **{name: [1]}) == (
        f"Expected no `{name}` beside Events, which carry their own times, got `{name}`.\n\n"
        "Hint: Say where the series starts and stops with `span=(start, stop)`."
    )


@pytest.mark.parametrize(("span", "shown"), [(7, "7"), ((1, 2, 3), "(1, 2, 3)"), ((), "()")])
def test_span_that_is_no_pair(span, shown):
    assert message(InputTypeError, TRUTH, PREDICTED, span=span) == (
        f"Expected `span` to be a pair (start, stop), got {shown}."
    )


@pytest.mark.parametrize(
    ("span", "shown"), [((9, 0), "(9, 0)"), ((3, 3), "(3, 3)"), ((1, 0.5), "(1.0, 0.5)")]
)
def test_span_backward(span, shown):
    assert message(InputError, TRUTH, PREDICTED, span=span) == (
        f"Expected `span` to start before it stops, got {shown}."
    )


@pytest.mark.parametrize(
    ("span", "rule"),
    [
        ((0, float("inf")), "Expected `span` to be finite, got inf at index 1."),
        ((float("nan"), 1), "Expected `span` to be finite, got nan at index 0."),
        ((day(1), None), "Expected `span` to have no missing times, got None at index 1."),
    ],
)
def test_span_that_is_not_finite(span, rule):
    assert message(InputError, TRUTH, PREDICTED, span=span) == rule


def test_span_with_none_says_which():
    with pytest.raises((InputError, InputTypeError)) as caught:
        read_pair(TRUTH, PREDICTED, span=(0, None))
    assert "None at index 1" in str(caught.value)


@pytest.mark.parametrize(
    ("intervals", "first", "second", "index"),
    [
        ([(4, 6), (5, 7)], "(4, 6)", "(5, 7)", 1),
        ([(0, 1), (2, 9), (3, 4)], "(2, 9)", "(3, 4)", 2),
        ([(4, 4), (4, 6)], "(4, 4)", "(4, 6)", 1),
        ([(4, 4), (4, 4)], "(4, 4)", "(4, 4)", 1),
    ],
)
def test_overlap(intervals, first, second, index):
    events = Events(intervals)
    for name, sides in (("truth", (events, PREDICTED)), ("predicted", (TRUTH, events))):
        assert message(InputError, *sides, span=(0, 10)) == (
            f"Expected `{name}` events to be disjoint, got {first} and {second} at index {index}."
            f"\n\nHint: Join them with `{name}.merged()`."
        )
    joined = read_pair(events.merged(), TRUTH, span=(0, 10))
    assert Events.wrap(joined.truth) == events.merged()


@pytest.mark.parametrize("name", ["truth", "predicted"])
@pytest.mark.parametrize(
    ("interval", "text"), [((9, 11), "(9, 11)"), ((-1, 3), "(-1, 3)"), ((12, 12), "(12, 12)")]
)
def test_outside_the_span(name, interval, text):
    sides = {"truth": TRUTH, "predicted": PREDICTED, name: Events([interval])}
    assert message(InputError, *sides.values(), span=(0, 10)) == (
        f"Expected `{name}` to lie within the span (0, 10), got {text} at index 0.\n\n"
        "Hint: Widen the span, or cut the event."
    )


def test_vectors_outside_the_span():
    assert message(InputError, [0, 1, 1], [1, 0, 0], span=(1, 3)).startswith(
        "Expected `predicted` to lie within the span (1, 3), got (0, 1) at index 0."
    )


@pytest.mark.parametrize(
    ("predicted", "span", "pair", "kinds"),
    [
        (Events([(day(1), day(2))]), (0, 9), "`truth` and `predicted`", "numbers and datetimes"),
        (PREDICTED, (day(1), day(2)), "`truth` and `span`", "numbers and datetimes"),
    ],
)
def test_two_kinds_of_time(predicted, span, pair, kinds):
    assert message(InputTypeError, TRUTH, predicted, span=span) == (
        f"Expected {pair} to be on one kind of time axis, got {kinds}.\n\n"
        "Hint: Give all times as datetimes, or all as numbers."
    )


def test_naive_beside_aware():
    truth = Events([(day(1), day(2))])
    assert message(InputTypeError, truth, Events([]), span=(day(1, UTC), day(3, UTC))) == (
        "Expected `truth` and `span` to have a time zone everywhere or nowhere, "
        "got zones None and UTC.\n\n"
        "Hint: Localise the times without a zone, or convert the others to UTC and drop it."
    )


@pytest.mark.parametrize("sides", [([0, 0], [0, 1]), (Events([]), PREDICTED)])
def test_no_true_event(sides):
    span = {} if isinstance(sides[0], list) else {"span": (0, 10)}
    with pytest.raises(UndefinedMetricError) as caught:
        read_pair(*sides, **span).require_truth("affiliation")
    assert str(caught.value) == (
        "Expected at least one true event (affiliation is undefined for a series without any), "
        "got none in `truth`.\n\n"
        "Hint: Leave the series out, and say so; its false alarms need another measure."
    )


def test_span_too_long_for_half_ticks():
    assert message(InputError, TRUTH, PREDICTED, span=(0, 2**62)) == (
        f"Expected a span of fewer than 2**62 ticks, got {2**62}.\n\n"
        "Hint: Count time in a coarser unit."
    )
    assert read_pair(TRUTH, PREDICTED, span=(0, 2**62 - 1)).stop == 2**62 - 1


def test_span_too_long_for_a_float():
    assert message(InputError, Events([(0.0, 1.0)]), Events([]), span=(-1e308, 1e308)) == (
        "Expected a span whose square a float can hold, got -1e+308 to 1e+308.\n\n"
        "Hint: Count time in another unit."
    )


EVENTS = Events([(1, 2)])
MIDNIGHT = datetime(2024, 1, 1)  # noqa: DTZ001 - times without a zone are legal


def scored_message(error, *sides, **options):
    with pytest.raises(error) as caught:
        read_scored(*sides, **options)
    return str(caught.value)


def scored_bounds(scored):
    return list(Events.wrap(scored.truth)), (scored.start, scored.stop)


def test_scored_vectors():
    scored = read_scored([0, 1, 1], [0.5, 0.25, 1])
    assert scored_bounds(scored) == ([(1, 3)], (0, 3))
    assert scored.scores.tolist() == [0.5, 0.25, 1]
    assert (scored.axis.start, scored.axis.end) == (0, 3)


def test_vectors_on_an_axis_in_a_wider_span():
    scored = read_scored([0, 1], [3, 4], times=[0.5, 2.0], end=3.0, span=(0, 9))
    assert scored_bounds(scored) == ([(2.0, 3.0)], (0.0, 9.0))


def test_scored_events():
    scored = read_scored(EVENTS, [3, 4, 5], times=[0, 2, 4])
    assert scored_bounds(scored) == ([(1, 2)], (0, 6))
    scored = read_scored(EVENTS, [3, 4, 5], times=[2, 4, 7], end=8, span=(0, 9))
    assert scored_bounds(scored) == ([(1, 2)], (0, 9))


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
        ("uint64", "uint64"),
        ("int8", "int64"),
        ("uint16", "int64"),
        ("bool", "int64"),
        ("float16", "float32"),
        ("longdouble", "float64"),
    ],
)
def test_types_of_scores(given, kept):
    scores = np.array([0, 1, 1], dtype=given)
    found = read_scores(scores)
    assert found.dtype == kept
    assert found.tolist() == [0, 1, 1]
    assert np.shares_memory(found, scores) == (given == kept)


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
    assert scored_message(InputError, [0, 1, 0, 0], scores) == (
        f"Expected `scores` to be numbers, or inf, got nan at index {first}.\n\n"
        "Hint: Leave those samples out with `nan='ignore'`, or give them the lowest score if they "
        "are no alarm."
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
    assert scored_message(InputTypeError, [0, 1], scores) == (
        f"Expected `scores` to be numbers, got values of type {kind}."
    )


def test_no_scores():
    assert scored_message(InputError, [], []) == (
        "Expected `scores` to have at least one sample, got an empty vector."
    )


def test_a_table_of_scores():
    found = scored_message(InputTypeError, [0, 1], np.zeros((2, 1)))
    assert found.startswith("Expected `scores` to be one-dimensional, got an array of shape (2, 1)")


def test_scores_of_another_length():
    assert scored_message(InputError, [0, 1, 0], [1, 2]) == (
        "Expected `scores` to have as many values as `truth` (3), got 2."
    )
    assert scored_message(InputError, EVENTS, [1, 2, 3], times=[0, 1]) == (
        "Expected `times` to have one time for each of the 3 scores, got 2."
    )
    assert scored_message(InputError, [0, 1, 0], [1, 2, 3], times=[0, 1]) == (
        "Expected `times` to have one time for each of the 3 labels, got 2."
    )


def test_missing_times_beside_events():
    assert scored_message(InputTypeError, EVENTS, [1, 2, 3]) == (
        "Expected `times` of the scores beside true Events, got none.\n\n"
        "Hint: Pass `times=`, one for each score."
    )


def test_overlapping_events():
    truth = Events([(1, 3), (2, 4)])
    assert scored_message(InputError, truth, [1, 2, 3, 4], times=range(4)) == (
        "Expected `truth` events to be disjoint, got (1, 3) and (2, 4) at index 1.\n\n"
        "Hint: Join them with `truth.merged()`."
    )


def test_events_outside_the_samples():
    assert scored_message(InputError, Events([(1, 9)]), [1, 2, 3], times=[0, 1, 2]) == (
        "Expected `truth` to lie within the span (0, 3), got (1, 9) at index 0.\n\n"
        "Hint: Widen the span, or cut the event."
    )


@pytest.mark.parametrize(("span", "shown"), [((1, 3), "(1, 3)"), ((0, 2), "(0, 2)")])
@pytest.mark.parametrize("truth", [EVENTS, [0, 1, 0]])
def test_samples_outside_the_span(truth, span, shown):
    assert scored_message(InputError, truth, [1, 2, 3], times=[0, 1, 2], span=span) == (
        f"Expected all samples to lie within the span {shown}, got samples from 0 to 3.\n\n"
        "Hint: Widen `span`."
    )


def test_scores_on_another_kind_of_time():
    truth = Events([(MIDNIGHT, MIDNIGHT + timedelta(1))])
    assert scored_message(InputTypeError, truth, [1, 2], times=[0, 1]).startswith(
        "Expected `truth` and `times` to be on one kind of time axis, got datetimes and numbers."
    )


def test_uneven_times_without_an_end():
    found = scored_message(InputError, EVENTS, [1, 2, 3], times=[0, 1, 5])
    assert found.startswith("Expected `end` for unevenly spaced times, got none.")


def test_times_that_go_back():
    found = scored_message(InputError, EVENTS, [1, 2, 3], times=[0, 2, 1])
    assert found.startswith("Expected `times` to be strictly increasing, got 1 after 2 at index 2.")


@pytest.mark.parametrize(
    ("threshold", "intervals"),
    [(4, []), (3, [(2, 3)]), (2.5, [(2, 3)]), (2, [(0, 1), (2, 3)]), (-np.inf, [(0, 3)])],
)
def test_predictions_at_a_threshold(threshold, intervals):
    scored = read_scored([0, 1, 0], np.array([2, 1, 3], dtype=np.uint8))
    pair = scored.at(threshold)
    assert list(Events.wrap(pair.predicted)) == intervals
    assert pair.truth is scored.truth

"""Range-based precision and recall: worked by hand, against the oracle, and peers' failures."""

import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.metrics.range_based import range_based
from tests.oracle import range_based as oracle
from tests.properties.strategies import cases, events

BIASES = ("flat", "front", "middle", "back")
CARDINALITIES = {"one": lambda _: Fraction(1), "reciprocal": lambda count: Fraction(1, count)}


def score(case, place=int, metric=range_based, **settings):
    moved = case.moved(place)
    return metric(events(moved.truth), events(moved.predicted), span=moved.span, **settings)


def limit_and_near(case, metric, width, **settings):
    """Score points as they are, and as ranges of a tiny width."""

    def widened(intervals):
        return events([(start, stop + width * (start == stop)) for start, stop in intervals])

    exact = case.moved(float)
    settings["span"] = (exact.span[0], exact.span[1] + 1)
    limit = metric(events(exact.truth), events(exact.predicted), **settings)
    return limit, metric(widened(exact.truth), widened(exact.predicted), **settings)


def as_datetime(seconds):
    return datetime(2024, 3, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def squared(position, length):
    return position * position + 1


@pytest.mark.parametrize(
    ("bias", "shares"),
    [
        ("flat", [1 / 5] * 5),
        ("front", [5 / 15, 4 / 15, 3 / 15, 2 / 15, 1 / 15]),
        ("middle", [1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9]),
        ("back", [1 / 15, 2 / 15, 3 / 15, 4 / 15, 5 / 15]),
    ],
)
def test_each_sample_of_an_event_has_its_weight(bias, shares):
    truth = [0, 0, 1, 1, 1, 1, 1, 0]
    for index, share in enumerate(shares):
        predicted = [0] * 8
        predicted[2 + index] = 1
        result = range_based(truth, predicted, alpha=0, recall_bias=bias)
        assert result.recall == pytest.approx(share, rel=1e-14)
        mirrored = range_based(predicted, truth, precision_bias=bias)
        assert mirrored.precision == pytest.approx(share, rel=1e-14)


def test_even_events_have_two_middles():
    result = range_based([1, 1, 1, 1], [0, 1, 0, 0], alpha=0, recall_bias="middle")
    assert result.recall == pytest.approx(2 / 6, rel=1e-14)


def test_the_authors_own_small_example():
    # What the authors' program prints for its examples/simple, front bias for recall.
    truth, predicted = np.zeros((2, 50), dtype=int)
    for start, stop in [(20, 22), (25, 28), (44, 48)]:
        truth[start:stop] = 1
    for start, stop in [(19, 21), (23, 31), (37, 38), (49, 50)]:
        predicted[start:stop] = 1
    result = range_based(truth, predicted, alpha=0, recall_bias="front")
    assert result.precision == pytest.approx(0.21875, abs=1e-12)
    assert result.recall == pytest.approx(5 / 9, abs=1e-12)
    assert result.f1 == pytest.approx(0.313901, abs=5e-7)


def test_existence_and_cardinality():
    truth, predicted = [1, 1, 1, 1, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0, 0, 1]
    # Three overlaps cover half of the event.
    assert range_based(truth, predicted).recall == pytest.approx(0.5 + 0.5 * (1 / 3) * 0.5)
    assert range_based(truth, predicted, cardinality="one").recall == pytest.approx(0.75)
    assert range_based(truth, predicted, alpha=1).recall == 1
    squares = range_based(truth, predicted, cardinality=lambda count: 1 / count**2)
    assert squares.recall == pytest.approx(0.5 + 0.5 * (1 / 9) * 0.5)


def test_a_cardinality_function_is_not_asked_about_single_overlaps():
    asked = []

    def factor(count):
        asked.append(count)
        return 0.5

    range_based([1, 1, 0, 1, 1, 1], [1, 0, 0, 1, 0, 1], cardinality=factor)
    assert set(asked) == {2}


def test_precision_has_no_existence_weight():
    result = range_based([0, 0, 0, 1], [1, 1, 1, 1], alpha=1)
    assert (result.precision, result.recall) == (0.25, 1)


@given(
    case=cases(truth="no", predicted="no"),
    biases=st.tuples(st.sampled_from(BIASES), st.sampled_from(BIASES)),
    cardinality=st.sampled_from(sorted(CARDINALITIES)),
    alpha=st.integers(0, 4),
    place=st.sampled_from([int, float, as_datetime]),
)
def test_against_the_oracle(case, biases, cardinality, alpha, place):
    both = dict(zip(("precision_bias", "recall_bias"), biases, strict=True))
    own = {"alpha": Fraction(alpha, 4), "cardinality": CARDINALITIES[cardinality], **both}
    precision, recall = oracle.evaluate(case.truth, case.predicted, counted=place is int, **own)
    result = score(case, place, alpha=alpha / 4, cardinality=cardinality, **both)
    assert result.precision == pytest.approx(precision, abs=1e-12, nan_ok=True)
    assert result.recall == pytest.approx(recall, abs=1e-12)


@given(case=cases(truth="no", predicted="no"), place=st.sampled_from([int, float, as_datetime]))
def test_a_function_as_bias_against_the_oracle(case, place):
    settings = {"precision_bias": squared, "recall_bias": squared}
    precision, recall = oracle.evaluate(
        case.truth, case.predicted, counted=place is int, **settings
    )
    result = score(case, place, **settings)
    assert result.precision == pytest.approx(precision, abs=1e-12, nan_ok=True)
    assert result.recall == pytest.approx(recall, abs=1e-12)


@given(case=cases(), bias=st.sampled_from(BIASES))
def test_points_are_limits_of_short_ranges(case, bias):
    settings = {"precision_bias": bias, "recall_bias": bias}
    limit, near = limit_and_near(case, range_based, 1e-9, **settings)
    assert near.precision == pytest.approx(limit.precision, abs=1e-7, nan_ok=True)
    assert near.recall == pytest.approx(limit.recall, abs=1e-7)


@given(case=cases(truth="no", predicted="no", at_least=1), bias=st.sampled_from(BIASES))
def test_the_position_counts_from_the_event_and_not_from_the_series(case, bias):
    # TSB-AD takes the index in the series.
    far = score(case, lambda time: time + 10**15, precision_bias=bias, recall_bias=bias)
    assert far == score(case, precision_bias=bias, recall_bias=bias)


@given(case=cases(truth="no", predicted="no"))
def test_front_and_back_mirror_each_other(case):
    forth = score(case, precision_bias="front", recall_bias="back")
    back = score(case.mirrored(), precision_bias="back", recall_bias="front")
    assert back.precision == pytest.approx(forth.precision, abs=1e-12, nan_ok=True)
    assert back.recall == pytest.approx(forth.recall, abs=1e-12)


@given(case=cases(truth="no", predicted="no"))
def test_many_short_samples_come_close_to_the_continuous_version(case):
    fine = score(case, lambda time: time * 10**6, recall_bias="middle", precision_bias="front")
    continuous = score(case, float, recall_bias="middle", precision_bias="front")
    assert fine.precision == pytest.approx(continuous.precision, abs=1e-5, nan_ok=True)
    assert fine.recall == pytest.approx(continuous.recall, abs=1e-5)


@pytest.mark.parametrize("bias", [*BIASES, squared])
@pytest.mark.parametrize("truth", [[0, 1, 1, 0, 0, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]])
def test_perfect_predictions(truth, bias):
    result = range_based(truth, truth, precision_bias=bias, recall_bias=bias)
    assert (result.precision, result.recall, result.f1) == (1, 1, 1)
    assert result.fbeta(0.5) == 1  # aeon gives 4


def test_everything_predicted():
    result = range_based([0, 1, 0, 1, 1], [1] * 5)  # aeon gives 0 and 0
    assert result.precision == pytest.approx(0.5 * 3 / 5)
    assert result.recall == 1


def test_uneven_times_are_weighed_by_duration():
    times = [0.0, 1.0, 4.0, 5.0]
    result = range_based([0, 1, 1, 0], [0, 1, 0, 0], times=times, end=6.0, alpha=0)
    assert result.recall == pytest.approx(3 / 4)


def test_a_function_is_asked_in_seconds_between_datetimes():
    asked = []

    def bias(position, length):
        asked.append((position, length))
        return 1

    start = datetime(2024, 1, 1, tzinfo=UTC)
    truth = cc.Events([(start, start + timedelta(minutes=1))])
    predicted = cc.Events([(start, start + timedelta(seconds=15))])
    span = (start, start + timedelta(hours=1))
    result = range_based(truth, predicted, span=span, alpha=0, recall_bias=bias)
    assert result.recall == pytest.approx(0.25)
    assert {length for _, length in asked} == {60}
    assert 0 < min(asked)[0] < max(asked)[0] < 60


@pytest.mark.parametrize("name", ["cardinality", "precision_bias", "recall_bias"])
@pytest.mark.parametrize("returned", [None, "1", np.ones(2), True, 10**400, float("nan"), -1])
def test_a_function_that_returns_no_good_number_is_named(name, returned):
    truth, predicted = [0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 1, 1]
    with pytest.raises((InputError, InputTypeError), match=f"`{name}` to return a .* for {name}"):
        range_based(truth, predicted, **{name: lambda *_: returned})


@pytest.mark.parametrize("name", ["cardinality", "precision_bias", "recall_bias"])
def test_a_function_of_other_arguments_is_named(name):
    truth, predicted = [0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 1, 1]
    with pytest.raises(InputTypeError, match=f"`{name}` to be a function that can be called as"):
        range_based(truth, predicted, **{name: lambda: 1})


def test_an_error_inside_a_function_is_left_alone():
    def broken(position, length):
        return position + None + length

    with pytest.raises(TypeError, match="unsupported operand"):
        range_based([0, 1, 1], [0, 1, 0], recall_bias=broken)


def test_a_function_is_not_asked_about_endless_events(monkeypatch):
    monkeypatch.setattr(sys.modules[range_based.__module__], "_MOST_SAMPLES", 100)
    truth, predicted = cc.Events([(0, 101)]), cc.Events([(0, 1)])
    with pytest.raises(
        InputError, match="at most 100 samples for a `recall_bias` that is a function"
    ):
        range_based(truth, predicted, span=(0, 200), recall_bias=squared)

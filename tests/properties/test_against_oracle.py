"""The closed forms against numerical integration of the definitions."""

import numpy as np
from hypothesis import assume, example, given, settings

import closecall as cc
from tests.oracle.affiliation import evaluate, events_of_labels
from tests.properties.comparisons import assert_matches_oracle
from tests.properties.strategies import (
    Case,
    clear_of_borders,
    decimal_steps,
    dyadic_steps,
    labelled,
    mixed_cases,
    on_uneven_axis,
    point_cases,
)


def check(case, **options):
    oracle = evaluate(case.truth, case.predicted, case.span)
    assert_matches_oracle(case.score(), oracle, **options)


@given(point_cases)
@settings(max_examples=150)
def test_points(case):
    check(case)


@given(mixed_cases)
@settings(max_examples=300)
@example(Case([(0, 5), (5, 5)], [(2, 3), (5, 5)], (0, 5)))  # a zone without length, hit
@example(Case([(0, 5), (5, 5)], [(2, 5)], (0, 5)))  # and missed
@example(Case([(2, 5)], [(5, 5)], (0, 5)))  # a point at the span's end, just behind its event
@example(Case([(2, 5), (9, 10)], [(7, 7)], (0, 12)))  # a point on a border is in the zone behind
@example(Case([(2, 5), (9, 10)], [(5, 5), (6, 8)], (0, 12)))  # a point on an event's edge
@example(Case([(3, 3)], [(3, 3)], (0, 9)))  # a point that is predicted exactly
@example(Case([(3, 3)], [(1, 3)], (0, 9)))  # a range that ends on a true point
@example(Case([(0, 9)], [(4, 4)], (0, 9)))  # an event that fills its zone
def test_ranges_and_points(case):
    check(case)


@given(on_uneven_axis(mixed_cases, dyadic_steps))
@settings(max_examples=100)
def test_uneven_floats_with_ties(case):
    check(case)


@given(on_uneven_axis(mixed_cases, decimal_steps))
@settings(max_examples=100)
def test_uneven_floats(case):
    assume(clear_of_borders(case))
    check(case)


@given(labelled(dyadic_steps))
@settings(max_examples=100)
def test_labels_on_an_uneven_axis(drawn):
    truth, predicted, times, end = drawn
    oracle = evaluate(
        events_of_labels(truth, times, end),
        events_of_labels(predicted, times, end),
        (times[0], end),
    )
    assert_matches_oracle(cc.affiliation(truth, predicted, times=times, end=end), oracle)


@given(mixed_cases)
@settings(max_examples=50)
def test_datetimes(case):
    origin = np.datetime64("2022-08-14T03:00", "s")
    second = np.timedelta64(1, "s")
    result = case.moved(lambda tick: origin + tick * second).score()
    oracle = evaluate(case.truth, case.predicted, case.span)
    assert_matches_oracle(result, oracle, unit=second)
    # Zone borders may fall between two ticks; they are shown at the tick before.
    for name in ("zone_start", "zone_stop"):
        shown = (getattr(result.events, name) - origin) // second
        assert shown.tolist() == [getattr(row, name) // 1 for row in oracle.rows]

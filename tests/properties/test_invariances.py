"""What must not change a score, and what may only raise it."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import closecall as cc
from tests.oracle.affiliation import events_of_labels
from tests.properties.comparisons import LENGTHS, assert_close, assert_same_digits
from tests.properties.strategies import (
    cases,
    clipped,
    dyadic_steps,
    events,
    intervals,
    is_point,
    labelled,
    mixed_cases,
    on_uneven_axis,
    touches_a_point,
    whole_steps,
)

LOCAL_COLUMNS = ("precision", "recall", "f1", *LENGTHS, "outcome", "predicted_count")


# Beyond 2**53 floats cannot tell neighbours apart; epoch nanoseconds are there.
@given(mixed_cases, st.integers(-(2**62), 2**61) | st.sampled_from([17 * 10**17, 2**61 + 1]))
def test_shift_of_integers_changes_no_digit(case, shift):
    assert_same_digits(case.score(), case.moved(lambda time: time + shift).score())


@given(on_uneven_axis(mixed_cases, dyadic_steps), st.integers(-(2**20), 2**20))
def test_shift_of_floats(case, shift):
    assert_close(case.score(), case.moved(lambda time: time + shift).score())


@given(mixed_cases, st.integers(1, 10**6))
def test_scale_of_integers(case, factor):
    assert_close(case.score(), case.moved(lambda time: time * factor).score(), factor=factor)


@given(on_uneven_axis(mixed_cases, dyadic_steps), st.integers(-30, 30))
def test_scale_of_floats_by_a_power_of_two_changes_no_digit(case, power):
    factor = 2.0**power
    small, large = case.score(), case.moved(lambda time: time * factor).score()
    assert_same_digits(small, large, columns=("precision", "recall", "f1", "predicted_count"))
    assert_close(small, large, factor=factor, columns=LENGTHS)


@given(cases(touching_points=False))
@settings(max_examples=200)
def test_time_reversal(case):
    # A point is the limit of [t, t + e), so reversed time would put it just before an edge at t.
    points = {start for start, stop in case.predicted if start == stop}
    edges = {edge for event in case.truth if not is_point(event) for edge in event}
    assume(not points & {*edges, *case.borders, *case.span})
    assume(not touches_a_point(case.truth) and not touches_a_point(case.predicted))
    forward, backward = case.score(), case.mirrored().score()
    pairs = {name: name for name in ("precision", "recall", "f1", "predicted_count")}
    pairs |= {"early": "late", "late": "early", "predicted_duration": "predicted_duration"}
    pairs |= {"precision_distance": "precision_distance", "recall_distance": "recall_distance"}
    for name, mirror in pairs.items():
        column = getattr(backward.events, mirror)[::-1]
        assert getattr(forward.events, name) == pytest.approx(column, abs=1e-12, nan_ok=True), name
    assert backward.precision == pytest.approx(forward.precision, abs=1e-12, nan_ok=True)
    assert backward.recall == pytest.approx(forward.recall, abs=1e-12)


@given(cases(at_least=1), st.data())
@settings(max_examples=200)
def test_splitting_a_prediction_changes_nothing_but_the_count(case, data):
    case = case.moved(lambda time: 8 * time)
    ranges = [interval for interval in case.predicted if not is_point(interval)]
    assume(ranges)
    start, stop = data.draw(st.sampled_from(ranges))
    cut = data.draw(st.integers(start + 1, stop - 1))
    pieces = [other for other in case.predicted if other != (start, stop)]
    whole, split = case.score(), case.having(sorted([*pieces, (start, cut), (cut, stop)])).score()
    assert_close(whole, split)
    counts = split.events.predicted_count - whole.events.predicted_count
    assert counts.max() == (cut not in case.borders)
    assert counts.sum() == (cut not in case.borders)


@given(cases(predicted="no"), st.data())
@settings(max_examples=200)
def test_moving_a_prediction_towards_its_event_lowers_nothing(case, data):
    case = case.moved(lambda time: 4 * time)
    index = data.draw(st.integers(0, len(case.truth) - 1))
    (start, stop), (zone_start, zone_stop) = case.truth[index], case.zones[index]
    zone_start, zone_stop = int(zone_start), int(zone_stop)
    sides = [zone_start < start, stop < zone_stop]
    assume(any(sides))
    # Towards: no part of the prediction gets farther from the event, nor the event from it.
    if data.draw(st.booleans()) if all(sides) else sides[0]:
        left = data.draw(st.integers(zone_start, start - 1))
        right = data.draw(st.integers(left, stop - 1))
        step = data.draw(st.integers(1, min(start - left, stop - right)))
    else:
        right = data.draw(st.integers(stop + 1, zone_stop))
        left = data.draw(st.integers(start + 1, right))
        step = -data.draw(st.integers(1, min(left - start, right - stop)))
    far = case.having([(left, right)]).score()
    near = case.having([(left + step, right + step)]).score()
    assert near.events.precision[index] >= far.events.precision[index] - 1e-12
    assert near.events.recall[index] >= far.events.recall[index] - 1e-12
    assert near.events.precision_distance[index] <= far.events.precision_distance[index] + 1e-12
    assert near.events.recall_distance[index] <= far.events.recall_distance[index] + 1e-12
    assert near.precision >= far.precision - 1e-12
    assert near.recall >= far.recall - 1e-12


@given(mixed_cases, intervals(points="some", sizes=(0, 8)), st.data())
@settings(max_examples=200)
def test_a_zone_does_not_depend_on_predictions_elsewhere(case, others, data):
    # Doubled, all zone borders are integers, so the two predictions can be cut and joined there.
    first, last = case.span
    inside = clipped(others, first, last)
    other = case.having(inside).moved(lambda time: 2 * time)
    case = case.moved(lambda time: 2 * time)
    index = data.draw(st.integers(0, len(case.truth) - 1))
    parts = [(case if at == index else other).part(at) for at in range(len(case.truth))]
    joined = case.having([(int(a), int(b)) for part in parts for a, b in part]).score()
    for at in range(len(case.truth)):
        source = (case if at == index else other).score()
        for name in LOCAL_COLUMNS:
            found, expected = getattr(joined.events, name)[at], getattr(source.events, name)[at]
            assert found == expected or (found != found and expected != expected), name  # noqa: PLR0124 - nan


@given(labelled(dyadic_steps) | labelled(whole_steps))
def test_labels_and_events_agree(drawn):
    truth, predicted, times, end = drawn
    from_labels = cc.affiliation(truth, predicted, times=times, end=end)
    span = (times[0], end)
    converted = [
        cc.Events.from_labels(labels, times=times, end=end) for labels in (truth, predicted)
    ]
    assert_same_digits(from_labels, cc.affiliation(*converted, span=span))
    written = [events(events_of_labels(labels, times, end)) for labels in (truth, predicted)]
    assert_same_digits(from_labels, cc.affiliation(*written, span=span))
    assert converted[0].to_labels(times, end=end).tolist() == truth
    assert converted[1].to_labels(times, end=end).tolist() == predicted
    size = len(truth)
    counted = cc.affiliation(truth, predicted)
    assert_same_digits(counted, cc.affiliation(truth, predicted, times=range(size), end=size))

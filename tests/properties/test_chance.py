"""What holds of scores above chance, whatever is true and predicted."""

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import closecall as cc
from closecall.affiliation.shifts import alarm_seams, event_seams, shift_grid
from tests.oracle.shifts import permitted, seams_of_events
from tests.properties.strategies import cases, decimal_steps, mixed_cases, on_uneven_axis, small

NAMES = ("precision", "recall", "f1")


def above(result):
    return [getattr(result, f"{name}_above_chance") for name in NAMES]


@given(mixed_cases | on_uneven_axis(mixed_cases, decimal_steps))
@settings(max_examples=200)
def test_never_above_one_and_levels_within_the_scores(case):
    result = case.score()
    scores = np.array(above(result))
    assert not (scores > 1).any()
    for name in NAMES:
        column = getattr(result.events, f"{name}_above_chance")
        assert not (column > 1).any()
        assert (np.isnan(column) == np.isnan(getattr(result.events, name))).all()
    assert isnan(scores[2]) == (not case.predicted)
    assert not isnan(scores[1])
    # Levels lie between the scores of the shifts.
    level = result.chance
    assert (level.shifts == 0) == (not case.predicted)
    assert ((level.events.recall >= 0) & (level.events.recall <= 1)).all()
    assert not ((level.events.precision < 0) | (level.events.precision > 1)).any()
    if case.predicted:
        assert 0 <= level.f1 <= max(level.precision, level.recall) + 1e-12
        assert min(level.precision_std, level.recall_std, level.f1_std) >= 0


@given(mixed_cases, st.integers(-1000, 1000))
@settings(max_examples=100)
def test_where_time_starts_does_not_matter(case, offset):
    moved, result = case.moved(lambda time: time + offset).score(), case.score()
    np.testing.assert_allclose(above(moved), above(result), atol=1e-9)
    assert moved.chance.shifts == result.chance.shifts
    assert moved.chance.f1 == pytest.approx(result.chance.f1, abs=1e-12, nan_ok=True)


@given(cases(truth="no"))
def test_predicting_everything_is_at_chance(case):
    result = case.having([case.span]).score()
    assert above(result) == [0, 0, 0]
    for name in NAMES:
        assert not getattr(result.events, f"{name}_above_chance").any()


@given(mixed_cases, st.data())
@settings(max_examples=100)
def test_any_permitted_shift_of_the_alarms_has_the_same_level(case, data):
    """What is moved further only goes through the same shifts in another order."""
    assume(case.predicted)
    seams, exact = alarm_seams(shift_grid(case.score().events.pair))
    assume(exact)
    by, (first, last) = -data.draw(st.sampled_from(seams.tolist())), case.span
    assume(all(start < last for start, _ in case.predicted))  # a point at the end has two places
    moved = sorted(
        (first + (start - first + by) % (last - first), stop - start)
        for start, stop in case.predicted
    )
    pairs = [(start, start + length) for start, length in moved]
    assume(all(stop <= last for _, stop in pairs))  # one lies across the seam
    starts = [start for start, _ in pairs]
    assume(len(set(starts)) == len(starts))
    twin, level = case.having(pairs).score().chance, case.score().chance
    assert twin.shifts == level.shifts
    assert twin.moved["alarms"] == pytest.approx(level.moved["alarms"], abs=1e-12)


@given(small(0, 1, 2, 40).filter(any))
def test_the_shifts_are_those_of_the_definition(labels):
    grid = shift_grid(cc.affiliation(labels, labels).events.pair)
    seams, _ = alarm_seams(grid)
    assert sorted(((len(labels) - seams) % len(labels)).tolist()) == permitted(labels)
    assert event_seams(grid)[0].tolist() == seams_of_events(labels)


@given(st.integers(2, 60).flatmap(lambda size: small(0, 3, size)))
def test_labels_and_the_events_of_these_labels_have_the_same_level(samples):
    """Sample numbers are counted one by one, as integers or floats, in a list too."""
    truth, predicted = np.divmod(samples, 2)
    assume(truth.any())
    expected = cc.affiliation(truth, predicted).chance
    for kind in (int, float):
        events = [
            cc.Events.from_arrays(own.starts.astype(kind), own.stops.astype(kind))
            for own in map(cc.Events.from_labels, (truth, predicted))
        ]
        found = cc.affiliation(*events, span=(kind(0), kind(truth.size))).chance
        np.testing.assert_equal(found.to_dict(), expected.to_dict())

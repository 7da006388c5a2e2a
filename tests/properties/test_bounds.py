"""What a score can be, and when it is perfect."""

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.properties.strategies import (
    cases,
    clear_of_borders,
    decimal_steps,
    is_point,
    mixed_cases,
    on_uneven_axis,
)


def lies_in(pieces, event):
    """Tell whether predictions are part of the event; points only count where they are alone."""
    weighing = [piece for piece in pieces if not is_point(piece)] or pieces
    start, stop = event
    if start == stop:
        return all(piece == (start, start) for piece in weighing)
    return all(
        start <= left < stop if left == right else start <= left and right <= stop
        for left, right in weighing
    )


def covers(pieces, event):
    """Tell whether no part of the event is left over by the predictions."""
    start, stop = event
    if start == stop:
        return any(left <= start <= right for left, right in pieces)
    return (
        sum(max(0, min(right, stop) - max(left, start)) for left, right in pieces) == stop - start
    )


@given(mixed_cases | on_uneven_axis(mixed_cases, decimal_steps))
@settings(max_examples=300)
def test_bounds(case):
    result = case.score()
    events = result.events
    zone = events.zone_stop - events.zone_start
    predicted = events.predicted_count > 0
    slack = zone * 1e-12
    for name in ("precision", "recall", "f1"):
        column = getattr(events, name)[predicted]
        defined = column[~np.isnan(column)]
        assert ((defined >= 0) & (defined <= 1)).all(), name
    for name in ("precision_distance", "recall_distance", "early", "late"):
        column = getattr(events, name)[predicted]
        assert ((column >= 0) & (column <= (zone + slack)[predicted])).all(), name
    assert (np.isnan(events.delay) != events.caught).all()
    assert not (events.caught & (events.delay > events.stop - events.start)).any()
    assert (events.predicted_duration <= zone + slack).all()
    both = events.early + events.late
    np.testing.assert_allclose(both, events.precision_distance, rtol=1e-14, atol=0)
    assert result.recall == pytest.approx(events.recall.mean(), abs=1e-14)
    if not isnan(result.precision):  # what is undefined is left out of the mean
        assert result.precision == pytest.approx(np.nanmean(events.precision), abs=1e-14)


@given(mixed_cases)
@settings(max_examples=300)
def test_what_is_undefined_perfect_and_shared_out(case):
    result = case.score()
    events, parts = result.events, [case.part(index) for index in range(len(case.truth))]
    missed = [index for index, pieces in enumerate(parts) if not pieces]
    assert np.flatnonzero(np.isnan(events.precision)).tolist() == missed
    assert np.flatnonzero(events.predicted_count == 0).tolist() == missed
    for index in missed:
        assert (events.recall[index], events.recall_distance[index]) == (0, inf)
        for name in ("f1", "precision_distance", "early", "late", "delay"):
            assert isnan(getattr(events, name)[index]), name
    assert isnan(result.precision) == (len(missed) == len(case.truth))

    # Zones share out the span and the predictions.
    assert list(zip(events.start.tolist(), events.stop.tolist(), strict=True)) == case.truth
    assert (events.zone_start[0], events.zone_stop[-1]) == case.span
    assert (events.zone_start[1:] == events.zone_stop[:-1]).all()
    assert ((events.zone_start <= events.start) & (events.stop <= events.zone_stop)).all()
    total = sum(stop - start for start, stop in case.predicted)
    assert events.predicted_duration.sum() == total
    crossings = sum(
        start < border < stop for start, stop in case.predicted for border in set(case.borders)
    )
    assert events.predicted_count.sum() == len(case.predicted) + crossings

    # Precision is one exactly where predictions lie in the truth, recall where it is covered.
    inside = [lies_in(own, event) for own, event in zip(parts, case.truth, strict=True) if own]
    defined = events.predicted_count > 0
    assert (events.precision[defined] == 1).tolist() == inside
    assert not events.precision_distance[defined][inside].any()
    assert (result.precision == 1) == (bool(inside) and all(inside))
    covered = [covers(own, event) for own, event in zip(parts, case.truth, strict=True)]
    assert (events.recall == 1).tolist() == covered
    assert (events.recall_distance == 0).tolist() == covered
    assert (result.recall == 1) == all(covered)


@given(cases(predicted="no"), st.data())
def test_any_part_of_the_truth_is_a_perfect_precision(case, data):
    parts = [
        data.draw(
            st.integers(start, stop).flatmap(
                lambda a, stop=stop: st.tuples(st.just(a), st.integers(a, stop))
            )
        )
        for start, stop in case.truth
    ]
    parts = [part for part, event in zip(parts, case.truth, strict=True) if part[0] < event[1]]
    assume(parts)
    result = case.having(parts).score()
    assert result.precision == 1
    assert np.nanmax(result.events.precision_distance) == 0


@given(on_uneven_axis(cases(truth="no", predicted="no"), decimal_steps))
def test_the_truth_itself_is_a_perfect_prediction(case):
    perfect = case.having(case.truth)
    assume(clear_of_borders(case))
    result = perfect.score()
    assert (result.precision, result.recall, result.f1) == (1, 1, 1)
    assert (result.events.delay == 0).all()


@given(cases(truth="no"))
def test_predicting_everything_recalls_everything_at_half_precision(case):
    result = case.having([case.span]).score()
    events = result.events
    assert (events.recall == 1).all()
    share = (events.stop - events.start) / (events.zone_stop - events.zone_start)
    np.testing.assert_allclose(events.precision, 0.5 + share**2 / 2, rtol=1e-13)

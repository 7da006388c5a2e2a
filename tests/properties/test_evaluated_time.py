"""Ignored time does not exist: vectors without samples, events on a closed axis."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_array_equal

import closecall as cc
from closecall.affiliation.event_scores import COLUMNS
from tests.oracle.evaluated_time import Cells, gaps
from tests.properties.comparisons import TIMES, assert_same_digits
from tests.properties.strategies import cases, events, small

EPOCH = 1_700_000_000_000_000_000  # nanoseconds
SCALES = {"samples": None, "integers": (5, 3), "epoch nanoseconds": (EPOCH, 60_000_000_000)}


@st.composite
def vectors(draw):
    """Draw truth, predictions, scores and what to ignore, with a true sample left."""
    size = draw(st.integers(2, 30))
    samples = np.array(draw(small(0, 47, size)))
    truth, predicted, ignore = samples % 2, samples // 2 % 2, samples // 4 % 2
    assume((truth * (1 - ignore)).any())
    return truth, predicted, samples // 8.0, ignore


def axis(scale, size):
    if SCALES[scale] is None:
        return {}
    first, step = SCALES[scale]
    return {"times": first + step * np.arange(size)}


@given(drawn=vectors(), scale=st.sampled_from(list(SCALES)))
@settings(max_examples=300)
def test_ignoring_samples_equals_deleting_them(drawn, scale):
    truth, predicted, scores, ignore = drawn
    times, kept = axis(scale, truth.size), ignore == 0
    shorter = axis(scale, int(kept.sum()))
    if times and kept.sum() == 1:
        shorter["end"] = int(shorter["times"][0]) + SCALES[scale][1]
    found = cc.affiliation(truth, predicted, ignore=ignore, **times)
    deleted = cc.affiliation(truth[kept], predicted[kept], **shorter)
    columns = [name for name in COLUMNS if name not in TIMES]
    assert_same_digits(found, deleted, columns)
    curve = cc.affiliation_curve(truth, scores, ignore=ignore, **times)
    shorter_curve = cc.affiliation_curve(truth[kept], scores[kept], **shorter)
    for name in ("thresholds", "precision", "recall", "alarms"):
        assert_array_equal(getattr(curve, name), getattr(shorter_curve, name))
    assert_same_digits(curve.at(3), shorter_curve.at(3), columns)
    nan_scores = np.where(kept, scores, np.nan)
    assert_array_equal(
        cc.affiliation_curve(truth, nan_scores, nan="ignore", **times).precision, curve.precision
    )


@given(drawn=vectors())
def test_every_metric_of_samples_is_that_of_the_samples_left(drawn):
    truth, predicted, _, ignore = drawn
    kept = ignore == 0
    chosen = ["classical", "point_adjust", "event_wise", "range_based"]
    found = cc.evaluate(
        truth, predicted, metrics=chosen, ignore=ignore, times=0.5 * np.arange(truth.size)
    )
    end = {"end": 0.5} if kept.sum() == 1 else {}
    deleted = cc.evaluate(
        truth[kept], predicted[kept], metrics=chosen, times=0.5 * np.arange(kept.sum()), **end
    )
    assert found == pytest.approx(deleted, nan_ok=True)


@st.composite
def ignoring(draw):
    """Draw a case, and stretches in any order that may overlap and leave the span."""
    case = draw(cases())
    count = draw(st.integers(0, 4))
    places = draw(small(case.span[0] - 2, case.span[1] + 2, 2 * count))
    pairs = [tuple(sorted(pair)) for pair in zip(places[::2], places[1::2], strict=True)]
    cells = Cells(case.span, pairs)
    assume(cells.kept)
    return case, pairs, cells


@given(drawn=ignoring(), origin=st.sampled_from([0, EPOCH]))
@settings(max_examples=200)
def test_events_are_scored_on_the_closed_axis(drawn, origin):
    case, pairs, cells = drawn
    truth, predicted = cells.closed(case.truth), cells.closed(case.predicted)
    sides = [events([(a + origin, b + origin) for a, b in s]) for s in (case.truth, case.predicted)]
    options = {
        "span": (case.span[0] + origin, case.span[1] + origin),
        "ignore": [(a + origin, b + origin) for a, b in pairs],
    }
    if not truth:
        with pytest.raises(cc.errors.UndefinedMetricError):
            cc.affiliation(*sides, **options)
        return
    found = cc.affiliation(*sides, **options)
    assert found.left_out == (len(case.truth) - len(truth), len(case.predicted) - len(predicted))
    assert found.ignored_time == case.span[1] - case.span[0] - len(cells.kept)
    times = zip(found.events.start - origin, found.events.stop - origin, strict=True)
    assert list(times) == cells.told(case.truth)
    closed = cc.affiliation(events(truth), events(predicted), span=(case.span[0], cells.stop))
    assert_same_digits(found, closed)


@given(small(0, 35, 2, 15), st.integers(1, 9))
def test_gaps_are_ignored_time(samples, longest):
    predicted, truth, steps = np.unravel_index(samples, (2, 2, 9))
    assume(truth.any())
    steps += 1
    times = np.cumsum([0, *steps])
    end = int(times[-1])
    given_axis = {"times": times[:-1], "end": end}
    found = cc.affiliation(truth, predicted, **given_axis, max_step=longest)
    ignored = cc.affiliation(
        truth, predicted, **given_axis, ignore=gaps(times[:-1].tolist(), end, longest)
    )
    assert_same_digits(found, ignored, COLUMNS)
    shorter = np.cumsum([0, *np.minimum(steps, longest)])
    closed = cc.affiliation(truth, predicted, times=shorter[:-1], end=int(shorter[-1]))
    assert_same_digits(found, closed)


@given(drawn=ignoring(), data=st.data())
def test_a_curve_beside_true_events(drawn, data):
    case, pairs, cells = drawn
    truth = cells.closed(case.truth)
    assume(truth)
    size = case.span[1] - case.span[0]
    scores = data.draw(small(0, 3, size))
    axis = {"times": np.arange(*case.span), "end": case.span[1], "ignore": pairs}
    curve = cc.affiliation_curve(cc.Events(case.truth), scores, **axis)
    left = [scores[cell - case.span[0]] for cell in cells.kept]
    times = {"times": case.span[0] + np.arange(len(left)), "end": cells.stop}
    for threshold, precision, recall in zip(
        curve.thresholds, curve.precision, curve.recall, strict=True
    ):
        predicted = cc.Events.from_labels([score >= threshold for score in left], **times)
        closed = cc.affiliation(events(truth), predicted, span=(case.span[0], cells.stop))
        assert [precision, recall] == pytest.approx([closed.precision, closed.recall])
        assert_same_digits(curve.at(threshold), closed)

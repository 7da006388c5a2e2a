"""What holds of scores above chance, whatever is true and predicted."""

from itertools import pairwise
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import closecall as cc
from closecall.affiliation import chance
from tests.properties.strategies import cases, decimal_steps, mixed_cases, on_uneven_axis

NAMES = ("precision", "recall", "f1")


def above(result):
    return [getattr(result, f"{name}_above_chance") for name in NAMES]


@given(mixed_cases | on_uneven_axis(mixed_cases, decimal_steps))
@settings(max_examples=200)
def test_never_above_one(case):
    result = case.score()
    scores = np.array(above(result))
    assert not (scores > 1).any()
    for name in NAMES:
        column = getattr(result.events, f"{name}_above_chance")
        assert not (column > 1).any()
        perfect = getattr(result.events, name) == 1
        assert (column[perfect & ~np.isnan(column)] == 1).all()
    assert isnan(scores[2]) == (not case.predicted)
    assert not isnan(scores[1])


@given(mixed_cases)
@settings(max_examples=200)
def test_levels_are_levels(case):
    result = case.score()
    level = result.chance
    assert ((level.events.recall >= 0) & (level.events.recall < 1)).all()
    assert np.isnan(level.events.precision).all() == (not case.predicted)
    assert not ((level.events.precision < 0.5) | (level.events.precision > 1)).any()
    assert (level.events.recall_std >= 0).all()
    assert level.alarms == len(case.predicted)
    if case.predicted:
        assert 0 <= level.f1 <= 1
        assert ((level.events.f1 > 0) & (level.events.f1 < 1)).all()
        own = level.events.precision
        slack = 6 * level.precision_error + 1e-9
        assert own.min() - slack <= level.precision <= own.max() + slack
        low, high = sorted([level.precision, level.recall])
        assert level.f1 <= high + 0.1
        assert low > 0


@given(mixed_cases, st.integers(1, 30), st.integers(-1000, 1000))
@settings(max_examples=100)
def test_scale_and_shift(case, factor, offset):
    moved = case.moved(lambda time: factor * time + offset).score()
    result = case.score()
    np.testing.assert_allclose(above(moved), above(result), atol=1e-9)
    twin, level = moved.chance, result.chance
    np.testing.assert_allclose(twin.events.recall_std, level.events.recall_std, atol=1e-9)
    assert twin.f1_std == pytest.approx(level.f1_std, abs=1e-9, nan_ok=True)


@given(mixed_cases)
@settings(max_examples=100)
def test_levels_do_not_depend_on_where_the_alarms_are(case):
    assume(case.predicted)
    others = [(case.span[0], case.span[0])] + [
        (case.span[0] + (index + 1) / 64, case.span[0] + (index + 1) / 64)
        for index in range(len(case.predicted) - 1)
    ]
    twin, level = case.having(others).score().chance, case.score().chance
    assert twin.to_dict() == level.to_dict()


@given(cases(truth="no", predicted="no", at_least=1), st.data())
@settings(max_examples=100)
def test_sliding_over_a_border_jumps_no_more_than_the_scores(case, data):
    """Scores above chance change by at most what the scores do, over 1 - c."""
    assume(case.borders)
    border = float(data.draw(st.sampled_from(case.borders)))
    length = data.draw(st.sampled_from([0.0, 0.5, 2.0]))
    step, results = 1e-6, []
    for start in (border - length - step, border - length, border, border + step):
        if start < case.span[0] or start + length > case.span[1]:
            continue
        alarm = cc.Events([(start, start + length)])
        results.append(cc.affiliation(cc.Events(case.truth), alarm, span=case.span))
    assume(len(results) > 1)
    for before, after in pairwise(results):
        levels = before.chance.events.recall
        jump = np.abs(after.events.recall - before.events.recall) / (1 - levels)
        change = np.abs(after.events.recall_above_chance - before.events.recall_above_chance)
        assert (change <= jump + 1e-12).all()
        both = ~np.isnan(before.events.precision + after.events.precision)
        level = before.chance.events.precision
        assume((level[both] < 1).all())
        jump = np.abs(after.events.precision - before.events.precision) / (1 - level)
        change = np.abs(after.events.precision_above_chance - before.events.precision_above_chance)
        assert (change <= jump + 1e-12)[both].all()
        jump = abs(after.f1 - before.f1) / (1 - before.chance.f1)
        assert abs(after.f1_above_chance - before.f1_above_chance) <= jump + 1e-12
        jump = np.abs(after.events.f1 - before.events.f1) / (1 - before.chance.events.f1)
        change = np.abs(after.events.f1_above_chance - before.events.f1_above_chance)
        assert (change <= jump + 1e-12)[both].all()


@given(cases(truth="no", predicted="no", at_least=1), st.sampled_from([-1e-7, 1e-7]))
@settings(max_examples=100)
def test_sliding_a_little_changes_little(case, step):
    """Away from the borders, ranges that move a little score a little differently."""
    ends = {end for interval in case.predicted for end in interval}
    assume(not ends & set(case.borders) and not ends & set(case.span))
    predicted = [(start + step, stop + step) for start, stop in case.predicted]
    for one, other in zip(above(case.score()), above(case.having(predicted).score()), strict=True):
        assert one == pytest.approx(other, abs=1e-4, nan_ok=True)


@given(cases(truth="no"))
def test_predicting_everything_is_at_chance_in_precision(case):
    result = case.having([case.span]).score()
    column = result.events.precision_above_chance
    filled = result.events.zone_shares.empty == 0
    assert np.isnan(column).tolist() == filled.tolist()
    np.testing.assert_allclose(column[~filled], 0, atol=1e-12)
    assert result.recall_above_chance == 1


@given(mixed_cases, st.integers(0, 5))
@settings(max_examples=50)
def test_seeds_differ_by_no_more_than_the_error(case, seed):
    assume(len(case.predicted) > 1)
    truth, predicted = cc.Events(case.truth), cc.Events(case.predicted)
    one = chance(truth, predicted, span=case.span, seed=seed)
    other = chance(truth, predicted, span=case.span, seed=seed + 10)
    # Six standard errors of either, and what the error itself may be wrong by.
    assert abs(one.f1 - other.f1) <= 9 * max(one.f1_error, other.f1_error) + 1e-12

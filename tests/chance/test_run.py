"""The public function: what is drawn, how axes are shifted, and what is refused."""

from datetime import UTC, datetime, timedelta
from math import isnan

import numpy as np
import pytest

import closecall as cc
from closecall.chance import significance
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from tests.oracle.significance import pvalue

LENGTH = 400
TRUTH = np.zeros(LENGTH, dtype=np.uint8)
TRUTH[[*range(50, 60), *range(180, 200), 333]] = 1
ALARMS = np.roll(TRUTH, 4)
ALARMS[[20, 21, 290]] = 1


def alone(shift, predicted=ALARMS):
    return cc.affiliation(TRUTH, np.roll(predicted, shift))


def test_the_draws_are_those_of_numpy_and_the_pvalues_are_counted():
    result = significance(TRUTH, ALARMS, n=60, seed=5)
    shifts = np.random.default_rng(5).integers(LENGTH, size=60).tolist()
    draws, here = [alone(shift) for shift in shifts], alone(0)
    for name in ("precision", "recall", "f1"):
        test, expected = getattr(result, name), [getattr(draw, name) for draw in draws]
        assert test.observed == getattr(here, name)
        np.testing.assert_allclose(test.null, expected, rtol=0, atol=1e-12)
        assert test.pvalue == pvalue(getattr(here, name), expected)
        columns, rows = getattr(result.events, name), [getattr(d.events, name) for d in draws]
        np.testing.assert_array_equal(columns.observed, getattr(here.events, name))
        np.testing.assert_allclose(columns.null, rows, rtol=0, atol=1e-12)
        counted = map(pvalue, columns.observed, np.array(rows).T)
        np.testing.assert_allclose(columns.pvalue, list(counted), rtol=1e-15)


def test_the_same_seed_gives_the_same_shifts():
    first, again, other = (significance(TRUTH, ALARMS, n=40, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.f1.null, again.f1.null)
    assert (first.f1.null != other.f1.null).any()


EVEN = {
    "integers": {"times": np.arange(LENGTH) * 60 - 7},
    "floats": {"times": np.arange(LENGTH) * 0.1 + 1e6},
    "stamps": {"times": np.datetime64("2024-01-01T00:00", "s") + np.arange(LENGTH) * 300},
    "floats with an end": {"times": np.arange(LENGTH) / 8, "end": LENGTH / 8},
    "integers with an end": {"times": np.arange(LENGTH) * 3, "end": LENGTH * 3},
}


@pytest.mark.parametrize("axis", EVEN.values(), ids=EVEN)
def test_evenly_sampled_labels_are_shifted_by_whole_samples(axis):
    plain, timed = significance(TRUTH, ALARMS, n=50), significance(TRUTH, ALARMS, n=50, **axis)
    np.testing.assert_array_equal(timed.f1.null, plain.f1.null)
    np.testing.assert_array_equal(timed.events.start, axis["times"][[50, 180, 333]])


@pytest.mark.parametrize(
    ("axis", "scale"),
    [
        ({"times": np.arange(LENGTH) * 10, "end": LENGTH * 10 + 1}, 10),
        ({"times": np.arange(LENGTH) * 10, "span": (0, LENGTH * 10 + 1)}, 10),
    ],
    ids=["a longer last sample", "a wider span"],
)
def test_other_labels_are_shifted_by_ticks(axis, scale):
    found = significance(TRUTH, ALARMS, n=50, **axis)
    events = [
        cc.Events([(start * scale, stop * scale) for start, stop in cc.Events.from_labels(labels)])
        for labels in (TRUTH, ALARMS)
    ]
    as_events = significance(*events, span=(0, LENGTH * scale + 1), n=50)
    np.testing.assert_array_equal(found.f1.null, as_events.f1.null)
    whole = significance(TRUTH, ALARMS, n=50).f1.null
    assert not np.isin(found.f1.null.round(9), whole.round(9)).all()


def test_numbers_are_shifted_by_any_number():
    truth, alarms = cc.Events([(2.0, 3.0)]), cc.Events([(2.0, 3.0)])
    null = significance(truth, alarms, span=(0.0, 10.0), n=200).precision.null
    assert np.unique(null).size > 150  # whole numbers would give ten


@pytest.mark.parametrize("n", [1, 19, 500])
def test_a_good_detector_has_the_smallest_pvalue(n):
    truth, late = np.zeros((2, 30_000), dtype=np.uint8)
    for start in (1_000, 7_300, 11_111, 19_000, 26_500):
        truth[start : start + 40] = late[start + 3 : start + 45] = 1
    result = significance(truth, late, n=n)
    for name in ("precision", "recall", "f1"):
        assert getattr(result, name).pvalue == 1 / (n + 1)


def test_predicting_everything_is_worth_nothing():
    result = significance(TRUTH, np.ones(LENGTH, dtype=np.uint8), n=99)
    assert [result.precision.pvalue, result.recall.pvalue, result.f1.pvalue] == [1, 1, 1]
    for column in (result.events.precision, result.events.recall, result.events.f1):
        np.testing.assert_array_equal(column.adjusted_pvalue, [1, 1, 1])


def test_without_alarms_only_recall_is_defined():
    result = significance(TRUTH, np.zeros(LENGTH, dtype=np.uint8), n=9)
    assert isnan(result.precision.pvalue)
    assert isnan(result.f1.pvalue)
    assert (result.recall.observed, result.recall.pvalue) == (0, 1)
    assert np.isnan(result.events.precision.pvalue).all()
    assert result.events.precision.draws.tolist() == [0, 0, 0]


def test_the_correction_is_the_one_asked_for():
    for correction, factor in (("bonferroni", 3), ("holm", 3)):
        column = significance(TRUTH, ALARMS, n=500, correction=correction).events.recall
        lowest = column.pvalue.argmin()
        assert column.adjusted_pvalue[lowest] == pytest.approx(factor * column.pvalue[lowest])
        assert column.correction == correction


def test_scores_are_compared_in_average_precision():
    scores = np.random.default_rng(1).normal(size=LENGTH) + 3 * TRUTH
    told = []
    result = significance(TRUTH, scores=scores, n=40, progress=lambda *step: told.append(step))
    test = result.average_precision
    assert test.observed == pytest.approx(
        cc.affiliation_curve(TRUTH, scores).average_precision, abs=1e-12
    )
    shifts = np.random.default_rng(0).integers(LENGTH, size=40).tolist()
    expected = [
        cc.affiliation_curve(TRUTH, np.roll(scores, shift)).average_precision for shift in shifts
    ]
    np.testing.assert_allclose(test.null, expected, rtol=0, atol=1e-12)
    assert test.pvalue == pvalue(test.observed, expected) == 1 / 41
    assert told == [(done, 40) for done in range(1, 41)]


def test_constant_scores_are_worth_nothing():
    assert significance(TRUTH, scores=np.zeros(LENGTH), n=19).average_precision.pvalue == 1


def test_scores_at_times_beside_events():
    start = datetime(2024, 1, 1, tzinfo=UTC)
    times = [start + timedelta(minutes=5 * k) for k in range(LENGTH)]
    events = cc.Events.from_labels(TRUTH, times=times)
    scores = np.convolve(TRUTH, np.ones(9), "same")
    timed = significance(events, scores=scores, times=times, n=15)
    plain = significance(TRUTH, scores=scores, n=15)
    np.testing.assert_allclose(
        timed.average_precision.null, plain.average_precision.null, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((TRUTH,), {}, InputTypeError, "either `predicted` or `scores`, got neither."),
        ((TRUTH, ALARMS), {"scores": ALARMS}, InputTypeError, "or `scores`, got both."),
        ((TRUTH, ALARMS), {"n": 0}, InputError, "`n` to be 1 or more, got 0."),
        ((TRUTH, ALARMS), {"n": 10.0}, InputTypeError, "`n` to be a whole number, got 10.0."),
        ((TRUTH, ALARMS), {"n": True}, InputTypeError, "`n` to be a whole number, got True."),
        ((TRUTH, ALARMS), {"n": 10**12}, InputError, "`n` to be at most 1,000,000, got 10000"),
        ((TRUTH,), {"scores": ALARMS, "n": 10**20}, InputError, "`n` to be at most 1,000,000"),
        ((TRUTH, ALARMS), {"seed": -1}, InputError, "`seed` to be 0 or more, got -1."),
        ((TRUTH, ALARMS), {"method": "flip"}, InputError, "`method` to be 'shift', got 'flip'."),
        ((TRUTH, ALARMS), {"correction": ""}, InputError, "`correction` to be one of 'holm'"),
        ((0 * TRUTH, ALARMS), {}, UndefinedMetricError, "at least one true event"),
        ((0 * TRUTH,), {"scores": ALARMS}, UndefinedMetricError, "at least one true event"),
        ((TRUTH, ALARMS[1:]), {}, InputError, "`predicted` to have as many labels"),
    ],
)
def test_refusals(arguments, options, kind, message):
    with pytest.raises(kind) as caught:
        significance(*arguments, **options)
    assert message in str(caught.value)


def test_an_alarm_that_is_split_stays_as_much_above_its_shifts():
    """What counts alarms sees two and steps; what moves them sees the same time covered."""
    truth, span = cc.Events([(40.0, 60.0), (150.0, 155.0)]), (0.0, 200.0)
    whole = cc.Events([(45.0, 62.0)])
    split = cc.Events([(45.0, 50.0), (50.0 + 1e-9, 62.0)])
    before, after = (cc.affiliation(truth, one, span=span) for one in (whole, split))
    assert before.recall_above_chance - after.recall_above_chance > 0.15
    before, after = (significance(truth, one, span=span) for one in (whole, split))
    for name in ("precision", "recall", "f1"):
        one, other = getattr(before, name).above_chance, getattr(after, name).above_chance
        assert one == pytest.approx(other, abs=1e-8)
        assert 0.2 < one < 1


def test_predicting_everything_is_not_above_its_shifts():
    truth, everything = cc.Events([(40.0, 60.0), (150.0, 155.0)]), cc.Events([(0.0, 200.0)])
    assert cc.affiliation(truth, everything, span=(0.0, 200.0)).recall_above_chance == 1
    result = significance(truth, everything, span=(0.0, 200.0))
    assert result.precision.above_chance == pytest.approx(0, abs=1e-12)
    assert result.f1.above_chance == pytest.approx(0, abs=1e-12)
    assert isnan(result.recall.above_chance)
    assert np.isnan(result.events.recall.above_chance).all()
    np.testing.assert_allclose(result.events.f1.above_chance, 0, atol=1e-12)

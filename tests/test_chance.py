"""The test against shifts: p-values by counting, words, values for JSON, and what is refused."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isnan, nan

import numpy as np
import pytest

import closecall as cc
from closecall.affiliation.sweep import roll_scores, score_rolls
from closecall.chance import EventTests, ShiftTest, adjust_pvalues, significance
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.series import read_scored
from tests.oracle.shifts import alarms_moved, events_moved, permitted
from tests.oracle.significance import adjusted, pvalue

SCORES = ("precision", "recall", "f1")
LENGTH = 400
TRUTH = np.zeros(LENGTH, dtype=np.uint8)
TRUTH[[*range(50, 60), *range(180, 200), 333]] = 1
ALARMS = np.roll(TRUTH, 4)
ALARMS[[20, 21, 290]] = 1


def of(observed, null, name="F1", shifted="alarms", *, exact=False):
    return ShiftTest(name, observed, np.array(null), shifted, exact)


def test_the_observed_value_counts_as_one_more_draw():
    test = of(0.5, [0.1, 0.6, 0.7, 0.4])
    assert (test.at_least, test.pvalue) == (2, 3 / 5)
    assert test.mean == pytest.approx(0.45)
    assert test.std == pytest.approx(np.sqrt(0.0525))
    # Among all shifts it is one of them.
    assert of(0.5, [0.5, 0.6, 0.7, 0.4], exact=True).pvalue == 3 / 4


def test_of_two_sides_the_larger_pvalue_and_the_higher_level_count():
    alarms, events = np.array([0.5, 0.6, 0.1, 0.4]), np.array([0.2, 0.3, 0.9])
    test = ShiftTest("F1", 0.5, alarms, "alarms", exact=True, event_null=events)
    assert (test.at_least, test.pvalue) == (2, 2 / 4)
    assert (test.mean, test.std) == (pytest.approx(1.4 / 3), events.std())
    same = ShiftTest("F1", 0.5, np.full(3, 0.5), "alarms", exact=True, event_null=events)
    assert (same.pvalue, same.mean, same.above_chance) == (1, 0.5, 0)


@pytest.mark.parametrize(
    ("observed", "above"), [(0.25, 0.0), (1.0, 1.0), (0.625, 0.5), (0.0, -1 / 3), (nan, nan)]
)
def test_a_score_above_the_mean_of_the_shifts(observed, above):
    assert of(observed, [0.1, 0.4]).above_chance == pytest.approx(above, nan_ok=True)


def test_where_every_shift_is_as_good_it_is_at_chance():
    assert of(1.0, [1.0, 1 - 1e-14, np.nextafter(1, 0)]).above_chance == 0


def test_ties_count_even_where_they_are_rounded():
    draws = [0.3, np.nextafter(0.3, 0), 0.3 - 1e-13, 0.3 - 1e-11, 0.3 + 1e-11]
    assert of(0.3, draws).at_least == 4


def test_an_undefined_score_has_no_pvalue():
    test = of(nan, np.full(9, nan))
    assert isnan(test.pvalue)
    assert not test.better_than_chance
    assert test.to_dict() == dict.fromkeys(
        ("observed", "pvalue", "at_least", "mean", "std", "above_chance")
    )
    assert test.sentence == "There are no alarms to move, so F1 is undefined."


DRAWS = np.concatenate((np.full(3, 0.9), np.full(997, 0.1)))


@pytest.mark.parametrize(
    ("test", "begins", "ends"),
    [
        (of(0.8, DRAWS), "F1 0.80 where the same alarms moved", "0.78 above chance, p = 0.004"),
        (
            of(0.0, DRAWS, "precision"),
            "Precision 0.00 where the same alarms moved",
            "0.11 below chance, p = 1",
        ),
        (
            of(0.1024, DRAWS, "best F1", "scores"),
            "Best F1 0.10 where the same scores re-tuned in every shift",
            "at chance, p = 0.004",
        ),
    ],
)
def test_the_finding_in_words(test, begins, ends):
    assert test.sentence == f"{begins} reach 0.10 on average ({ends})."


def test_one_line_of_a_test():
    assert repr(of(0.8, DRAWS)) == (
        "ShiftTest(observed=0.800, pvalue=0.004, null=0.102 +/- 0.044, n=1000)"
    )


@pytest.mark.parametrize(
    ("observed", "level", "at_least", "better"),
    [(0.9, 0.1, 3, True), (0.9, 0.1, 100, False), (0.13, 0.1, 3, False), (0.2, 0.1, 3, True)],
)
def test_better_than_chance_takes_a_small_pvalue_and_an_effect(observed, level, at_least, better):
    null = np.full(999, level)
    null[:at_least] = observed
    assert of(observed, null).better_than_chance is better


def test_events_are_compared_with_the_shifts_in_which_they_are_defined():
    columns = {
        "observed": np.array([0.5, nan, 0.0]),
        "draws": np.array([4, 10, 10]),
        "at_least": np.array([2, 0, 10]),
        "mean": np.zeros(3),
        "std": np.zeros(3),
        "correction": "bonferroni",
    }
    tests = EventTests(**columns, exact=False)
    np.testing.assert_array_equal(tests.pvalue, [3 / 5, nan, 1.0])
    np.testing.assert_array_equal(tests.adjusted_pvalue, [1.0, nan, 1.0])
    np.testing.assert_array_equal(EventTests(**columns, exact=True).pvalue, [2 / 4, nan, 1.0])
    assert len(tests) == 3
    assert repr(tests) == "EventTests(3 events, correction='bonferroni')"


@pytest.mark.parametrize("seed", range(5))
def test_pvalues_are_exact_where_all_shifts_are_scored(seed):
    random = np.random.default_rng(seed)
    truth, predicted = (random.random((2, 18)) < [[0.15], [0.4]]).astype(int)
    truth[random.integers(18)] = predicted[random.integers(18)] = 1
    shifts, *alarms = alarms_moved(truth, predicted)
    _, *moved = events_moved(truth, predicted)
    result = significance(truth, predicted)
    assert (result.n, result.exact) == (len(shifts), True)
    for index, name in enumerate(SCORES):
        test, observed = getattr(result, name), alarms[0][0, index]
        shares = [np.mean(side[0][:, index] >= observed - 1e-12) for side in (alarms, moved)]
        assert test.pvalue == pytest.approx(max(shares), abs=1e-15)
        columns = getattr(result.events, name)
        for j, pvalue_of_event in enumerate(columns.pvalue):
            if isnan(observed := alarms[1][0, j, index]):
                assert isnan(pvalue_of_event)
                continue
            draws = [side[1][:, j, index] for side in (alarms, moved)]
            shares = [np.sum(one >= observed - 1e-12) / np.sum(~np.isnan(one)) for one in draws]
            assert pvalue_of_event == pytest.approx(max(shares), abs=1e-15)


def test_fewer_shifts_than_there_are_count_the_observed_one():
    result = significance(TRUTH, ALARMS, n=60)
    assert (result.n, result.exact) == (60, False)
    rolled = [cc.affiliation(TRUTH, np.roll(ALARMS, k)) for k in permitted(ALARMS)]
    here = cc.affiliation(TRUTH, ALARMS)
    for name in SCORES:
        test = getattr(result, name)
        assert test.observed == getattr(here, name)
        known = np.array([getattr(one, name) for one in rolled])
        assert all(np.abs(known - value).min() < 1e-12 for value in test.null)
        sides = (test.null, test.event_null)
        assert test.pvalue == max(pvalue(test.observed, null) for null in sides)


def test_nothing_is_random():
    first, again = (significance(TRUTH, ALARMS, n=40) for _ in range(2))
    np.testing.assert_array_equal(first.f1.null, again.f1.null)


def test_times_come_back_as_they_were_given():
    times = np.datetime64("2024-01-01T00:00", "s") + np.arange(LENGTH) * 300
    plain, timed = significance(TRUTH, ALARMS), significance(TRUTH, ALARMS, times=times)
    np.testing.assert_array_equal(timed.f1.null, plain.f1.null)
    np.testing.assert_array_equal(timed.events.start, times[[50, 180, 333]])


@pytest.mark.parametrize("n", [19, 500])
def test_a_good_detector_has_the_smallest_pvalue(n):
    truth, late = np.zeros((2, 30_000), dtype=np.uint8)
    for start in (1_000, 7_300, 11_111, 19_000, 26_500):
        truth[start : start + 40] = late[start + 3 : start + 45] = 1
    result = significance(truth, late, n=n)
    for name in SCORES:
        assert getattr(result, name).pvalue == 1 / (n + 1)
    assert result.f1.better_than_chance


def test_predicting_everything_is_worth_nothing():
    result = significance(TRUTH, np.ones(LENGTH, dtype=np.uint8), n=99)
    for name in SCORES:
        test, events = getattr(result, name), getattr(result.events, name)
        assert (test.pvalue, test.above_chance) == (1, 0)
        np.testing.assert_array_equal(events.adjusted_pvalue, [1, 1, 1])


def test_without_alarms_only_recall_is_defined():
    result = significance(TRUTH, np.zeros(LENGTH, dtype=np.uint8), n=9)
    assert isnan(result.precision.pvalue)
    assert isnan(result.f1.pvalue)
    assert (result.recall.observed, result.recall.pvalue, result.recall.mean) == (0, 1, 0)
    assert np.isnan(result.events.precision.pvalue).all()
    assert result.events.recall.pvalue.tolist() == [1, 1, 1]
    assert json.dumps(result.to_dict(), allow_nan=False)


def test_the_correction_is_the_one_asked_for():
    for correction, factor in (("bonferroni", 3), ("holm", 3)):
        column = significance(TRUTH, ALARMS, n=500, correction=correction).events.recall
        lowest = column.pvalue.argmin()
        assert column.adjusted_pvalue[lowest] == pytest.approx(factor * column.pvalue[lowest])
        assert column.correction == correction


def test_an_alarm_that_is_split_stays_as_much_above_its_shifts():
    truth, span = cc.Events([(40.0, 60.0), (150.0, 155.0)]), (0.0, 200.0)
    whole = cc.Events([(45.0, 62.0)])
    split = cc.Events([(45.0, 50.0), (50.0 + 1e-9, 62.0)])
    before, after = (significance(truth, one, span=span) for one in (whole, split))
    for name in SCORES:
        one, other = getattr(before, name).above_chance, getattr(after, name).above_chance
        assert one == pytest.approx(other, abs=1e-3)
        assert 0.2 < one < 1


@pytest.fixture(scope="module")
def dated():
    def at(hour):
        return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=hour)

    truth = cc.Events([(at(10), at(12)), (at(60), at(61))])
    alarms = cc.Events([(at(11), at(12)), (at(13), at(13)), (at(20), at(21))])
    return significance(truth, alarms, span=(at(0), at(80)), n=50)


def test_rows_are_plain_values(dated):
    values = dated.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    first, second = values["events"]
    assert (first["start"], first["stop"]) == (
        "2024-01-01T10:00:00+00:00",
        "2024-01-01T12:00:00+00:00",
    )
    assert first["precision_pvalue"] == dated.events.precision.pvalue[0]
    assert second["precision_observed"] is second["f1_adjusted_pvalue"] is None
    assert (second["recall_observed"], second["recall_pvalue"]) == (0.0, 1.0)
    assert values["f1"]["pvalue"] == dated.f1.pvalue
    assert values["f1"]["above_chance"] == dated.f1.above_chance
    assert first["recall_above_chance"] == dated.events.recall.above_chance[0]
    assert second["f1_above_chance"] is None
    assert (values["n"], values["exact"], values["correction"]) == (50, False, "holm")
    assert values["sentence"] == dated.sentence == dated.f1.sentence


def test_columns_of_events(dated):
    events = dated.events
    assert events.start.dtype.kind == events.stop.dtype.kind == "M"
    assert (events.stop - events.start).tolist() == [timedelta(hours=2), timedelta(hours=1)]
    assert repr(events) == "EventSignificance(2 events, correction='holm')"


def test_one_line_each(dated):
    assert repr(dated) == (
        f"Significance(f1 p={dated.f1.pvalue:.3g}, parts: "
        f"precision {dated.precision.pvalue:.3g}, recall {dated.recall.pvalue:.3g}; "
        "50 shifts, 2 events)"
    )
    scores = significance([0, 1, 0, 0], scores=[0.1, 0.9, 0.2, 0.3])
    assert repr(scores) == (
        "ScoresSignificance(best f1 p=0.25, average_precision 0.25; all 4 shifts)"
    )
    assert scores.to_dict() == {
        "n": 4,
        "exact": True,
        "sentence": scores.sentence,
        "f1": scores.f1.to_dict(),
        "average_precision": scores.average_precision.to_dict(),
        "signature": str(scores.signature),
    }


def test_scores_are_rolled_and_tuned_again():
    scores = np.random.default_rng(1).normal(size=LENGTH) + 3 * TRUTH
    told = []
    result = significance(TRUTH, scores=scores, n=40, progress=lambda *step: told.append(step))
    curve = cc.affiliation_curve(TRUTH, scores)
    assert result.average_precision.observed == pytest.approx(curve.average_precision, abs=1e-12)
    assert result.f1.observed == pytest.approx(curve.best().fbeta, abs=1e-12)
    rolls = np.floor(np.arange(1, 41) * (5**0.5 - 1) / 2 % 1 * LENGTH).astype(int)
    curves = [cc.affiliation_curve(TRUTH, np.roll(scores, shift)) for shift in rolls.tolist()]
    expected = [curve.average_precision for curve in curves]
    np.testing.assert_allclose(result.average_precision.null, expected, rtol=0, atol=1e-12)
    expected = [curve.best().fbeta for curve in curves]
    np.testing.assert_allclose(result.f1.null, expected, rtol=0, atol=1e-12)
    assert result.f1.pvalue == pvalue(result.f1.observed, expected) == 1 / 41
    assert told == [(done, 40) for done in range(1, 41)]
    named = significance(TRUTH, scores=scores, threshold="best_f1", n=40)
    np.testing.assert_array_equal(named.f1.null, result.f1.null)


def test_a_threshold_makes_alarms_of_scores():
    scores = np.random.default_rng(1).normal(size=LENGTH) + 3 * TRUTH
    at, alarms = (
        significance(TRUTH, scores=scores, threshold=2.5),
        significance(TRUTH, (scores >= 2.5).astype(int)),
    )
    assert repr(at) == repr(alarms)
    np.testing.assert_array_equal(at.f1.null, alarms.f1.null)


def test_constant_scores_are_worth_nothing():
    result = significance(TRUTH, scores=np.zeros(LENGTH), n=19)
    assert (result.average_precision.pvalue, result.f1.pvalue) == (1, 1)


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


def require_curves(truth, scores, **axis):
    scored = read_scored(truth, scores, **axis)
    average, best = roll_scores(scored, score_rolls(len(scores), 1000))
    for shift in range(len(scores)):
        curve = cc.affiliation_curve(truth, np.roll(scores, shift), **axis)
        assert average[shift] == pytest.approx(curve.average_precision, rel=0, abs=1e-12)
        assert best[shift] == pytest.approx(curve.best().fbeta, rel=0, abs=1e-12)
    assert np.ptp(average) > 0.1  # else a roll that does nothing would pass
    chance = cc.affiliation_curve(truth, scores, **axis).chance
    assert chance.average_precision == pytest.approx(average.mean(), abs=1e-12)
    assert chance.f1 == pytest.approx(best.mean(), abs=1e-12)
    assert chance.shifts == len(scores)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_labels_with_ties_and_cut_samples(seed, kind):
    random = np.random.default_rng(seed)
    length = 40
    truth = np.zeros(length, dtype=np.uint8)
    truth[[5, 6, 20, 33]] = 1  # the borders 13.5 and 27 are in a sample and between two
    require_curves(truth, random.integers(0, 12, size=length).astype(kind))


def test_uneven_times_within_a_wider_span():
    random = np.random.default_rng(2)
    times = np.cumsum(random.integers(1, 9, size=30))
    axis = {"times": times, "end": int(times[-1]) + 4, "span": (-20, 400)}
    require_curves(cc.Events([(30, 41), (60, 60), (77, 80)]), random.random(30), **axis)


@pytest.mark.parametrize(("samples", "rolls"), [(300, 300), (1_000_001, 20), (100_000, 200)])
def test_the_work_of_a_curve_is_bounded(monkeypatch, samples, rolls):
    monkeypatch.setattr(
        sys.modules[cc.affiliation_curve.__module__],
        "roll_scores",
        lambda scored, rolls: np.ones((2, rolls.size)),  # noqa: ARG005 - what it takes
    )
    truth = np.zeros(samples, dtype=np.uint8)
    truth[5] = 1
    curve = cc.affiliation_curve(truth, truth)
    assert curve.chance.shifts == rolls
    assert repr(curve.chance) == f"CurveChance(average_precision=1.000, f1=1.000, shifts={rolls})"


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((TRUTH,), {}, InputTypeError, "either `predicted` or `scores`, got neither."),
        ((TRUTH, ALARMS), {"scores": ALARMS}, InputTypeError, "or `scores`, got both."),
        ((TRUTH, ALARMS), {"threshold": 1}, InputTypeError, "no `threshold` without `scores`"),
        (
            (TRUTH,),
            {"scores": ALARMS, "threshold": "best"},
            InputError,
            "`threshold` to be a number or 'best_f1', got 'best'.",
        ),
        ((TRUTH, ALARMS), {"n": 0}, InputError, "`n` to be 1 or more, got 0."),
        ((TRUTH, ALARMS), {"n": 10.0}, InputTypeError, "`n` to be a whole number, got 10.0."),
        ((TRUTH, ALARMS), {"n": 10**12}, InputError, "`n` to be at most 1,000,000, got 10000"),
        ((TRUTH,), {"scores": ALARMS, "n": 10**20}, InputError, "`n` to be at most 1,000,000"),
        ((TRUTH, ALARMS), {"correction": ""}, InputError, "`correction` to be 'holm'"),
        ((0 * TRUTH, ALARMS), {}, UndefinedMetricError, "at least one true event"),
        ((0 * TRUTH,), {"scores": ALARMS}, UndefinedMetricError, "at least one true event"),
    ],
)
def test_refusals(arguments, options, kind, message):
    with pytest.raises(kind) as caught:
        significance(*arguments, **options)
    assert message in str(caught.value)


CORRECTIONS = ("holm", "bonferroni", "benjamini-hochberg")


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_the_procedure_rejects_from_the_adjusted_value_on(correction, seed):
    random = np.random.default_rng(seed)
    pvalues = [Fraction(int(k), 200) for k in random.integers(1, 60, size=random.integers(1, 9))]
    found = adjust_pvalues([float(p) for p in pvalues], correction)
    expected = [float(level) for level in adjusted(pvalues, correction)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_known_values():
    # Worked by hand: 4 x 0.005, 3 x 0.011, 2 x 0.02, 1 x 0.04 and their running maximum.
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005]), [0.033, 0.04, 0.04, 0.02]
    )
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005], "bonferroni"), [0.044, 0.08, 0.16, 0.02]
    )
    np.testing.assert_allclose(
        adjust_pvalues([0.011, 0.02, 0.04, 0.005], "benjamini-hochberg"),
        [0.022, 0.02 * 4 / 3, 0.04, 0.02],
    )


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_what_could_not_be_tested_still_counts(correction):
    with_gap = adjust_pvalues([0.01, nan, 0.03], correction)
    assert isnan(with_gap[1])
    np.testing.assert_array_equal(
        with_gap[[0, 2]], adjust_pvalues([0.01, 1.0, 0.03], correction)[[0, 2]]
    )
    assert adjust_pvalues([0.3], correction).tolist() == [0.3]  # one test needs no correction
    assert adjust_pvalues([], correction).size == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1, 0.1],), "`pvalues` to be in [0, 1], or nan, got -1 at index 0."),
        (([0.1, 1.5],), "`pvalues` to be in [0, 1], or nan, got 1.5 at index 1."),
        ((0.1,), "`pvalues` to be a list or another sequence of numbers, got 0 dimensions."),
        (([0.1], "sidak"), "`correction` to be 'holm', 'bonferroni' or 'benjamini-hochberg', got "),
    ],
)
def test_pvalues_that_cannot_be_adjusted(arguments, message):
    with pytest.raises((InputError, InputTypeError), match=f"Expected {re.escape(message)}"):
        adjust_pvalues(*arguments)

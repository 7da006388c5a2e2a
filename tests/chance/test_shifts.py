"""The public function: what is drawn, how axes are shifted, and what is refused."""

from datetime import UTC, datetime, timedelta
from math import isnan, nan

import numpy as np
import pytest

import closecall as cc
from closecall.chance import shifts as shifts_module
from closecall.chance import significance
from closecall.chance.shifts import EventTally, roll_scores, score_shifted, shift_alarms
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.series import read_pair, read_scored
from tests.oracle import affiliation as oracle
from tests.oracle.significance import pvalue, shifted

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


def require_equal(found, each, k, result):
    """Compare one shift, overall and for each event."""
    expected = [result.precision, result.recall, result.f1]
    np.testing.assert_allclose(found[:, k], expected, rtol=0, atol=1e-12)
    rows = [result.events.precision, result.events.recall, result.events.f1]
    np.testing.assert_allclose(each[:, k], rows, rtol=0, atol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("seed", range(6))
def test_labels_are_rolled(seed, share):
    random = np.random.default_rng([seed, int(100 * share)])
    length = int(random.integers(5, 60))
    truth, predicted = random.random((2, length)) < [[0.2], [share]]
    truth[random.integers(length)] = predicted[random.integers(length)] = True
    found, each = score_shifted(read_pair(truth, predicted), np.arange(length))
    for shift in range(length):
        require_equal(found, each, shift, cc.affiliation(truth, np.roll(predicted, shift)))


def test_the_definition_itself():
    truth, predicted, span = (
        [(2, 5), (11, 11), (15, 18)],
        [(0, 1), (4, 4), (7, 9), (14, 20)],
        (0, 22),
    )
    pair = read_pair(cc.Events(truth), cc.Events(predicted), span=span)
    shifts = np.array([0, 3, 8, 15])
    found, each = score_shifted(pair, shifts)
    for k, shift in enumerate(shifts.tolist()):
        result = oracle.evaluate(truth, shifted(predicted, shift, span), span)
        np.testing.assert_allclose(found[:2, k], [result.precision, result.recall], atol=1e-9)
        rows = [[row.precision for row in result.rows], [row.recall for row in result.rows]]
        np.testing.assert_allclose(each[:2, k], rows, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_points_and_ranges_at_stamps(seed):
    random = np.random.default_rng(seed)
    start = datetime(2024, 3, 1, 7, tzinfo=UTC)
    span = (0, 5000)

    def at(second):
        return start + timedelta(seconds=second)

    def events(pairs):
        return cc.Events([(at(first), at(last)) for first, last in pairs])

    bounds = np.sort(random.choice(5000, size=20, replace=False)).reshape(-1, 2).tolist()
    truth, ranges = bounds[::3], [tuple(pair) for pair in bounds]
    predicted = sorted([*ranges[1::2], *((first + 1, first + 1) for first, _ in ranges[::4])])
    pair = read_pair(events(truth), events(predicted), span=(at(0), at(5000)))
    per_second = pair.clock.ticks_per_second
    seconds = random.integers(5000, size=60)
    found, each = score_shifted(pair, seconds * per_second)
    for k, second in enumerate(seconds.tolist()):
        alone = events(shifted(predicted, second, span))
        require_equal(found, each, k, cc.affiliation(events(truth), alone, span=(at(0), at(5000))))


def test_numbers_that_are_no_integers():
    truth, predicted = [(0.5, 1.25), (3.0, 3.5)], [(0.25, 0.75), (2.0, 2.0), (3.25, 4.0)]
    span = (0.25, 4.25)
    pair = read_pair(cc.Events(truth), cc.Events(predicted), span=span)
    shifts = np.arange(0, 4, 0.125)  # of two, so that the sums are exact
    found, each = score_shifted(pair, shifts)
    for k, shift in enumerate(shifts.tolist()):
        alone = cc.Events(shifted(predicted, shift, span))
        require_equal(found, each, k, cc.affiliation(cc.Events(truth), alone, span=span))


def test_far_from_zero_nothing_is_lost():
    """Nanoseconds since 1970 use all digits of a 64-bit integer."""
    far = 1_700_000_000_000_000_000
    near = read_pair(cc.Events([(10, 20)]), cc.Events([(3, 7), (15, 31)]), span=(0, 101))
    away = read_pair(
        cc.Events([(far + 10, far + 20)]),
        cc.Events([(far + 3, far + 7), (far + 15, far + 31)]),
        span=(far, far + 101),
    )
    for ours, theirs in zip(
        score_shifted(near, np.arange(101)), score_shifted(away, np.arange(101)), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_blocks_give_what_all_at_once_gives(monkeypatch):
    random = np.random.default_rng(3)
    truth, predicted = random.random((2, 80)) < [[0.2], [0.1]]
    pair, shifts = read_pair(truth, predicted), random.integers(80, size=40)
    observed, null, events = shift_alarms(pair, shifts, "holm", None)
    told = []
    monkeypatch.setattr(shifts_module, "_BLOCK", 7 * (len(pair.truth) + len(pair.predicted)))
    again = shift_alarms(pair, shifts, "holm", lambda done, total: told.append((done, total)))
    assert told == [(done, 40) for done in (7, 14, 21, 28, 35, 40)]
    np.testing.assert_array_equal(again[0], observed)
    np.testing.assert_array_equal(again[1], null)
    for ours, theirs in zip(again[2], events, strict=True):
        np.testing.assert_array_equal(ours.null, theirs.null)
        np.testing.assert_array_equal(ours.at_least, theirs.at_least)
        np.testing.assert_array_equal(ours.draws, theirs.draws)
        np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-13)
        np.testing.assert_allclose(ours.std, theirs.std, rtol=1e-10)


def test_a_tally_is_numpy_without_what_is_undefined():
    random = np.random.default_rng(4)
    draws = random.random((50, 3))
    draws[random.random((50, 3)) < 0.4] = nan
    draws[:, 2] = nan
    tally = EventTally(np.array([0.5, 0.2, nan]), keep=False)
    for block in (draws[:9], draws[9:10], draws[10:]):
        tally.add(block)
    columns = tally.result("holm")
    assert columns.null is None
    np.testing.assert_allclose(columns.mean[:2], np.nanmean(draws[:, :2], axis=0))
    np.testing.assert_allclose(columns.std[:2], np.nanstd(draws[:, :2], axis=0))
    np.testing.assert_array_equal(columns.mean[2:], [nan])
    np.testing.assert_array_equal(columns.std[2:], [nan])
    np.testing.assert_array_equal(columns.draws, np.isfinite(draws).sum(axis=0))
    np.testing.assert_array_equal(
        columns.at_least, [(draws[:, 0] >= 0.5).sum(), (draws[:, 1] >= 0.2).sum(), 0]
    )


def test_the_draws_of_many_events_are_not_kept(monkeypatch):
    pair, shifts = read_pair([0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1]), np.arange(6)
    monkeypatch.setattr(shifts_module, "MOST_KEPT", 12)
    _, _, kept = shift_alarms(pair, shifts, "holm", None)
    monkeypatch.setattr(shifts_module, "MOST_KEPT", 11)
    _, _, dropped = shift_alarms(pair, shifts, "holm", None)
    assert [column.null.shape for column in kept] == [(6, 2)] * 3
    assert [column.null for column in dropped] == [None] * 3
    for ours, theirs in zip(kept, dropped, strict=True):
        np.testing.assert_array_equal(ours.pvalue, theirs.pvalue)


def require_curves(truth, scores, **axis):
    found = roll_scores(read_scored(truth, scores, **axis), np.arange(len(scores)), None)
    for shift, value in enumerate(found):
        curve = cc.affiliation_curve(truth, np.roll(scores, shift), **axis)
        assert value == pytest.approx(curve.average_precision, rel=0, abs=1e-12)
    assert np.ptp(found) > 0.1  # else a roll that does nothing would pass


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_labels_with_ties_and_cut_samples(seed, kind):
    random = np.random.default_rng(seed)
    length = 40
    truth = np.zeros(length, dtype=np.uint8)
    truth[[5, 6, 20, 33]] = 1  # the borders 13.5 and 27 are in a sample and between two
    require_curves(truth, random.integers(0, 12, size=length).astype(kind))


def test_all_scores_different():
    scores = np.random.default_rng(9).normal(size=50)
    require_curves((np.arange(50) % 17 > 14).astype(np.uint8), scores)


def test_uneven_times_within_a_wider_span():
    random = np.random.default_rng(2)
    times = np.cumsum(random.integers(1, 9, size=30))
    axis = {"times": times, "end": int(times[-1]) + 4, "span": (-20, 400)}
    require_curves(cc.Events([(30, 41), (60, 60), (77, 80)]), random.random(30), **axis)


def test_progress_is_told_for_each_roll():
    told = []
    scored = read_scored([0, 1, 0], [0.1, 0.2, 0.3])
    roll_scores(scored, np.array([0, 1]), lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]

"""Intervals over events: against closed forms and quadrature, and what must not change them."""

from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.errors import InputError, InputTypeError
from closecall.statistics import (
    SCORES,
    Sample,
    hierarchical,
    mean_difference,
    mean_interval,
    mean_intervals,
    sample,
)
from tests.oracle import bootstrap as oracle
from tests.properties.strategies import small

MANY = 40_000


def intervals(precision, recall, *, level=0.95, n=2000, seed=0):
    """Those of one detector."""
    return Sample.read([precision], [recall]).intervals(0, level, n=n, seed=seed)


def differences(precision, recall, series=None, *, level=0.95, block=1):
    """Those of the first two detectors."""
    return Sample.read(precision, recall, series, block=block).differences(0, 1, level)


def ends(intervals):
    return [(getattr(intervals, name).low, getattr(intervals, name).high) for name in SCORES]


@st.composite
def detectors(draw, count=2, fewest=2, most=12):
    """Precision and recall of detectors on the same events; missed ones have neither."""
    events = draw(st.integers(fewest, most))
    numbers = np.array(draw(small(0, 255, 3 * count * events))).reshape(3, count, events)
    found = numbers[0] % 2 == 1
    precision, recall = np.clip(numbers[1:] / 245 - 0.02, 0, 1)  # exactly 0 and 1 are not rare
    return np.where(found, precision, nan), np.where(found, recall, 0.0)


@pytest.mark.parametrize(("found", "events"), [(0, 4), (2, 2), (3, 5), (20, 20), (33, 35)])
def test_events_that_are_found_or_not_have_the_limits_of_a_share(found, events):
    recall = np.repeat([1.0, 0.0], [found, events - found])
    precision = np.where(recall > 0, 1.0, nan)
    interval = intervals(precision, recall, n=MANY).recall
    low, high = oracle.limits_of_share(found, events)
    assert interval.value == found / events
    assert interval.low == pytest.approx(low, abs=0.006)
    assert interval.high == pytest.approx(high, abs=0.006)


@pytest.mark.parametrize(
    ("precision", "recall"),
    [
        ([0.9, 0.3], [0.2, 0.8]),
        ([1.0, 1.0], [1.0, 1.0]),
        ([0.9, nan, 0.4], [0.7, 0.0, 1.0]),
        ([0.5, 0.6, 0.7], [0.99, 0.98, 1.0]),
    ],
)
def test_few_events_have_the_limits_of_quadrature(precision, recall):
    found = intervals(precision, recall, n=MANY)
    expected = oracle.limits_by_quadrature(precision, recall)
    np.testing.assert_allclose(ends(found), expected, atol=0.012)


@given(detectors(count=1))
def test_values_are_the_plain_means(sides):
    precision, recall = sides
    values = Sample.read(precision, recall).values[:, 0]
    expected = oracle.scores_of(precision[0], recall[0], [1.0] * recall.shape[1])
    np.testing.assert_allclose(values, expected, atol=1e-12)


@given(detectors())
def test_every_resample_is_worse_with_a_failure_than_with_a_success(sides):
    worse, better = Sample.read(*sides).drawn(n=100, seed=0)
    assert (worse <= better + 1e-12).all()
    for p, r, f1 in (worse, better):
        np.testing.assert_allclose(f1 * (p + r), 2 * p * r, atol=1e-12)


@given(detectors())
def test_the_interval_holds_the_value_and_grows_with_the_level(sides):
    sample = Sample.read(*sides)
    for detector in range(2):
        narrow, wide = (sample.intervals(detector, level, n=200, seed=0) for level in (0.5, 0.95))
        for (low, high), (lower, higher), name in zip(
            ends(narrow), ends(wide), SCORES, strict=True
        ):
            value = getattr(wide, name).value
            if not isnan(low):
                assert 0 <= lower <= low <= value <= high <= higher <= 1
            else:
                assert np.count_nonzero(~np.isnan(sides[0][detector])) < 2


def test_the_narrowest_interval_still_holds_the_value():
    random = np.random.default_rng(8)
    for seed in range(40):
        recall = random.random(100)
        interval = intervals(recall, recall, level=1e-6, n=100, seed=seed).recall
        assert interval.low <= interval.value <= interval.high


@given(detectors(count=3))
def test_a_detector_is_not_changed_by_the_others(sides):
    precision, recall = sides
    together = Sample.read(precision, recall).intervals(1, 0.9, n=100, seed=0)
    alone = intervals(precision[1], recall[1], level=0.9, n=100)
    np.testing.assert_allclose(ends(together), ends(alone), atol=1e-12)


def test_series_are_drawn_whole():
    """Thirty copies of an event in one series are still one event's worth of knowledge."""
    random = np.random.default_rng(2)
    values = random.random(8)
    copies, series = np.repeat(values, 30), np.repeat(np.arange(8), 30)
    once = intervals(values, values)
    copied = hierarchical(copies, copies, series)
    np.testing.assert_allclose(ends(copied), ends(once), atol=1e-9)
    assert (copied.events, copied.series, once.series) == (240, 8, None)


def test_a_series_with_more_events_weighs_more():
    precision = np.array([1.0] * 6 + [0.4, 0.4])
    pooled = hierarchical(precision, precision, [0] * 6 + [1, 2])
    assert pooled.recall.value == pytest.approx((6 + 0.8) / 8)


def test_one_series_is_resampled_by_its_events():
    values = np.linspace(0.1, 0.9, 12)
    pooled = hierarchical(values, values, ["only"] * 12)
    assert ends(pooled) == ends(intervals(values, values))
    assert pooled.caution == "All events are of one series: nothing is known about other series."


def test_half_a_series_is_as_large_as_that_of_an_average_event():
    """Two series of ten perfect events and ten of one: the average event is one of seven."""
    series = np.repeat(np.arange(12), [10, 10, *[1] * 10])
    perfect = np.ones(series.size)
    found = Sample.read([perfect], [perfect], series).drawn(n=MANY, seed=0).worse[1, 0]
    random = np.random.default_rng(1)
    weights = random.standard_gamma([1, 1, *[1] * 10, 0.5], (MANY, 13))
    weights *= [10, 10, *[1] * 10, (10 * 10 + 10 * 10 + 10) / 30]
    expected = weights[:, :12].sum(axis=1) / weights.sum(axis=1)
    ends = [0.025, 0.25, 0.5]
    np.testing.assert_allclose(np.quantile(found, ends), np.quantile(expected, ends), atol=0.01)


def test_names_of_series_are_only_names():
    random = np.random.default_rng(4)
    values = random.random(20)
    numbers = np.sort(random.integers(0, 6, 20))
    names = np.array(["a", "b", "c", "d", "e", "f"])[numbers]
    assert hierarchical(values, values, numbers) == hierarchical(values, values, names)


def test_seeds_and_parts(monkeypatch):
    random = np.random.default_rng(6)
    sides = random.random((2, 25)), random.random((2, 25))
    expected = Sample.read(*sides).drawn(n=500, seed=7)
    assert not np.array_equal(expected.worse, Sample.read(*sides).drawn(n=500, seed=8).worse)
    monkeypatch.setattr(sample, "_MOST_WEIGHTS", 60)
    in_parts = Sample.read(*sides).drawn(n=500, seed=7)
    for one, other in zip(in_parts, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_one_event_says_nothing():
    alone = intervals([0.9], [0.8], n=100)
    assert [getattr(alone, name).value for name in SCORES[:2]] == [0.9, 0.8]
    assert all(isnan(limit) for pair in ends(alone) for limit in pair)
    (gap, *_) = differences([[0.9], [0.5]], [[0.8], [0.1]])
    assert gap.value == pytest.approx(0.4)
    assert isnan(gap.low)
    assert isnan(gap.pvalue)


def test_precision_on_one_event_has_no_interval_and_recall_has():
    found = intervals([0.9, nan, nan], [0.8, 0.0, 0.0], n=100)
    assert isnan(found.precision.low)
    assert isnan(found.f1.high)
    assert found.recall.low < 0.8 / 3 < found.recall.high


def test_nothing_is_predicted():
    nothing = intervals([nan] * 3, [0.0] * 3, n=100)
    assert isnan(nothing.precision.value)
    assert isnan(nothing.f1.value)
    assert nothing.recall.value == nothing.recall.low == 0
    assert 0 < nothing.recall.high < 0.7


def test_few_events_with_a_precision_are_pointed_out():
    precision = [0.9, *[nan] * 18, 0.8]
    recall = np.where(np.isnan(precision), 0.0, 1.0)
    found = intervals(precision, recall, n=100)
    assert found.caution == "Precision is defined on only 2 of the 20 events."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hierarchical([1, 1], [1, 1], [0, 1], level=95), "`level` to be"),
        (lambda: hierarchical([1, 1], [1, 1], [0, 1], n=99), "`n` to be"),
        (lambda: hierarchical([5, 2], [3, 9], [1, 2]), "`precision` to lie .* got 5 at index 0"),
        (lambda: hierarchical([1, nan], [1, -2], [1, 2]), "`recall` to lie .* got -2 at index 1"),
        (lambda: hierarchical([1, 1], [1], [0, 1]), "as many values .* got 2 and 1"),
        (lambda: hierarchical([], [], []), "at least one event, got none"),
        (lambda: hierarchical([1, 1], [1, nan], [0, 1]), "`recall` .* got nan at index 1"),
        (lambda: hierarchical([1, 1], [1, 1], [0, 1, 2]), "`series` to have one entry per event"),
        (lambda: hierarchical([1, 1], [1, 1], [[0], [1]]), "`series` to have one entry per event"),
        (lambda: hierarchical([1, 1], [1, 1], [None, "a"]), "`series` .* all of one kind, got"),
        (lambda: hierarchical([1, 1], [1, 1], [[1], [1, 2]]), "`series` .* all of one kind, got"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        call()


@given(detectors())
def test_the_difference_the_other_way_round(sides):
    read = Sample.read(*sides)
    for one, other in zip(read.differences(0, 1, 0.9), read.differences(1, 0, 0.9), strict=True):
        turned = other.reversed()
        for name in ("value", "low", "high", "pvalue"):
            np.testing.assert_allclose(getattr(one, name), getattr(turned, name), atol=1e-9)


@given(detectors(fewest=6))
def test_limits_hold_the_difference_and_are_possible(sides):
    for gap in differences(*sides, level=0.9):
        if not isnan(gap.low):
            assert -1 <= gap.low <= gap.value <= gap.high <= 1
            assert (gap.low > 0 or gap.high < 0) == (gap.pvalue < 0.1)


@given(detectors(count=1, fewest=6))
def test_equal_detectors_are_not_certain_to_be_equal(sides):
    precision, recall = (np.repeat(side, 2, axis=0) for side in sides)
    for gap in differences(precision, recall):
        if not isnan(gap.pvalue):
            assert (gap.value, gap.pvalue) == (0, 1)
            assert gap.low == pytest.approx(-gap.high)
            assert gap.low < 0


@given(detectors(fewest=6))
def test_the_difference_in_recall_is_that_of_a_lead_over_events(sides):
    _, gap, _ = differences(*sides)
    gaps = np.subtract(*sides[1])
    expected = oracle.limits_of_lead(
        gaps.mean(),
        gaps.std(ddof=1) / np.sqrt(gaps.size),
        judged=gaps.size,
        differing=np.count_nonzero(np.abs(gaps) > 1e-12),
    )
    assert gap.pvalue == pytest.approx(expected[2], abs=1e-9)
    if abs(gap.pvalue - 0.05) > 1e-9:  # not for rounding
        assert (gap.low, gap.high) == pytest.approx(expected[:2], abs=1e-9)


@given(detectors())
def test_influences_are_the_derivatives_by_the_weights_of_events(sides):
    precision, recall = sides
    found = Sample.read(precision, recall).influences[:, 0]
    step, m = 1e-6, recall.shape[1]
    for event in range(m):
        up, down = (
            np.array(oracle.scores_of(precision[0], recall[0], 1 + sign * step * np.eye(m)[event]))
            for sign in (1, -1)
        )
        slopes = (up - down) / (2 * step)
        smooth = not up[0] + up[1] < 1e-3  # F1 bends sharply near 0
        np.testing.assert_allclose(found[:2, event], slopes[:2], atol=1e-6)
        if smooth:
            np.testing.assert_allclose(found[2, event], slopes[2], atol=1e-5)


def test_a_small_lead_on_all_of_20_events_is_told_apart():
    """And not if they fail on one event each, though t alone would not have that either."""
    recall = np.tile(np.random.default_rng(0).uniform(0.2, 0.9, 20), (2, 1))
    recall[0] += 0.05
    for gap in differences(recall, recall):
        assert gap.value == pytest.approx(0.05)
        assert 0 < gap.low < 0.05 < gap.high
        assert 0.03 < gap.pvalue < 0.05
    recall[0, 3] = recall[1, 5] = 0
    assert differences(recall, recall)[1].low < 0


@pytest.mark.parametrize("events", [2, 3, 5])
def test_fewer_than_six_events_do_not_tell_two_detectors_apart(events):
    recall = np.array([[1.0] * events, [0.0] * events])
    for gap in differences(recall, recall):
        assert gap.value == 1
        assert isnan(gap.low)
        assert isnan(gap.high)
        assert isnan(gap.pvalue)


def test_the_farthest_f1_is_that_of_precision_and_recall_with_unseen_events():
    """Six middling events, all the same: F1 falls by more than precision and recall do."""
    precision, recall = np.full((2, 6), 0.5), np.full((2, 6), 0.1)
    share = 1 - 0.05 ** (1 / 6.5)
    worse, better = (1 - share) * np.array([0.5, 0.1]), (1 - share) * np.array([0.5, 0.1]) + share
    low = 2 * worse.prod() / worse.sum() - 2 * better.prod() / better.sum()
    *_, f1 = differences(precision, recall)
    assert (f1.low, f1.high) == pytest.approx((low, -low))


def test_precision_is_judged_by_the_events_that_have_it():
    """Events that one of two misses weigh nothing in its precision, however many there are."""
    random = np.random.default_rng(7)
    precision = random.random((2, 9))
    recall = np.full((2, 9), 0.5)
    missed, none = np.full((2, 30), nan), np.zeros((2, 30))
    alone = differences(precision, recall)[0]
    among, _, f1 = differences(np.hstack([precision, missed]), np.hstack([recall, none]))
    assert (among.low, among.high) == pytest.approx((alone.low, alone.high))
    assert among.pvalue == pytest.approx(alone.pvalue)
    assert not isnan(f1.pvalue)
    precision[1, :4] = nan  # now one of the two has five
    gaps = differences(precision, random.random((2, 9)))
    assert [isnan(gap.low) for gap in gaps] == [True, False, True]


def test_events_that_only_one_detector_found_make_its_lead_no_surer():
    precision = np.array([[0.9] * 12, [0.1] * 6 + [nan] * 6])
    recall = np.array([[0.9] * 12, [0.1] * 6 + [0.0] * 6])
    gaps = differences(precision, recall)
    assert [gap.pvalue for gap in gaps] == [2**-5, 2**-11, 2**-5]


def test_what_two_detectors_differ_in_is_counted_by_score():
    precision = np.array([[0.5, nan, 0.5, 0.5, nan, 0.4], [0.5, 0.5, 0.4, 0.5, nan, 0.4]])
    recall = np.array([[0.5, 0.0, 0.5, 0.5, 0.0, 0.4], [0.5, 0.5, 0.5, 0.6, 0.0, 0.4]])
    assert Sample.read(precision, recall).differing(0, 1) == (2, 2, 3)
    grouped = Sample.read(precision, recall, [0, 0, 0, 1, 1, 2])
    assert grouped.differing(0, 1) == (1, 2, 2)


def test_differences_over_series_need_six_of_them():
    random = np.random.default_rng(9)
    values = random.random((2, 40))
    five, eight = (Sample.read(values, values, np.arange(40) % count) for count in (5, 8))
    assert all(isnan(gap.pvalue) for gap in five.differences(0, 1, 0.95))
    assert five.pair_cautions(0, 1).text.startswith("There are only five series. They show")
    assert not any(isnan(gap.low) for gap in eight.differences(0, 1, 0.95))
    rough = "There are only 8 series: the intervals are wide, and rough."
    assert eight.pair_cautions(0, 1).text == rough
    one = Sample.read(values, values, [0] * 40)
    assert one.pair_cautions(0, 1).few.startswith("All events are of one series")
    assert not any(isnan(gap.low) for gap in one.differences(0, 1, 0.95))


def test_blocks_are_series_of_consecutive_events():
    random = np.random.default_rng(3)
    values = random.random((2, 50))
    blocked, named = (
        Sample.read(values, values, **how) for how in ({"block": 7}, {"series": np.arange(50) // 7})
    )
    assert blocked.differences(0, 1, 0.9) == named.differences(0, 1, 0.9)
    one, other = (read.intervals(0, 0.9, n=200, seed=0) for read in (blocked, named))
    assert ends(one) == ends(other)
    assert (one.block, one.series, other.series) == (7, None, 8)
    assert repr(one).endswith("50 events in blocks of 7)")
    assert one.caution == "There are only 8 blocks of events: the intervals are wide, and rough."
    alone = Sample.read(values, values, block=60).intervals(0, 0.9, n=200, seed=0)
    assert alone.caution.startswith("There is only one block of events. ")
    assert isnan(alone.recall.low)
    with pytest.raises(InputError, match="`block` to be"):
        Sample.read(values, values, block=0)


def test_series_that_weigh_more_count_as_fewer():
    """Two of ten events and ten of one: as 30 * 30 / 210 that weigh the same."""
    series = np.repeat(np.arange(12), [10, 10, *[1] * 10])
    values = np.full((2, series.size), 0.5)
    (gap, _, _) = differences(values, values, series)
    assert gap.high == pytest.approx(1 - 0.05 ** (1 / (900 / 210 + 0.5)))


def test_events_that_fail_in_a_row_are_pointed_out():
    failed = np.repeat([0, 1, 0, 1, 0], [8, 6, 9, 5, 8])
    recall = np.array([np.where(failed, 0.0, 0.9), np.full(36, 0.8)])
    steps = recall[0] - recall[0].mean()
    found = (steps[1:] @ steps[:-1]) / (steps @ steps)
    most = 2.713 * 34 / 36 / np.sqrt(35) - 1 / 36  # 1 in 300: two detectors and their pair
    cautions = Sample.read(recall, recall).pair_cautions(0, 1)
    assert cautions.dependent == (
        f"Consecutive events are alike: their lag-1 correlation is {found:.2f}, where that of "
        f"independent ones is rarely above {most:.2f}. The intervals may be too narrow: take "
        "them in blocks of 6 (`block`)."
    )
    assert cautions.of_recall == cautions.text == cautions.dependent
    assert Sample.read(recall, recall, block=6).pair_cautions(0, 1).dependent == ""
    mixed = recall[:, np.random.default_rng(0).permutation(36)]
    assert Sample.read(mixed, mixed).pair_cautions(0, 1).text == ""
    few = recall[:, 2:13]
    advice = Sample.read(few, few).pair_cautions(0, 1).dependent
    assert advice.endswith("there are too few of them for blocks.")


def test_pairing_makes_the_difference_surer():
    random = np.random.default_rng(1)
    hard = random.random(300)
    first, second = (np.clip(hard + random.normal(0, 0.1, 300), 0, 1) for _ in range(2))
    shuffled = random.permutation(second)
    paired = differences([first, second], [first, second])
    unpaired = differences([first, shuffled], [first, shuffled])
    for one, other in zip(paired, unpaired, strict=True):
        assert one.width < other.width / 2


def limits(interval):
    return interval.low, interval.high


def test_a_score_has_the_limits_of_scores_over_events():
    random = np.random.default_rng(1)
    values = np.where(random.random(15) < 0.2, nan, random.random(15))
    events = Sample.read([values], [np.zeros(15)]).intervals(0, 0.9, n=500, seed=3).precision
    interval = mean_interval(values, level=0.9, low=0, high=1, n=500, seed=3)
    assert interval.value == pytest.approx(np.nanmean(values))
    assert limits(interval) == pytest.approx(limits(events), abs=1e-12)


@pytest.mark.parametrize(("value", "other"), [(1.0, "low"), (0.0, "high")])
def test_equal_series_are_not_certain(value, other):
    interval = mean_interval([value] * 2, low=0, high=1, n=40_000)
    low, high = oracle.limits_of_share(2 * value, 2)
    assert limits(interval) == pytest.approx((low, high), abs=0.006)
    assert abs(getattr(interval, other) - value) > 0.5


def test_other_bounds_are_only_another_scale():
    random = np.random.default_rng(2)
    shares = random.random(9)
    plain = mean_interval(shares, low=0, high=1, n=300)
    scaled = mean_interval(5 * shares - 3, low=-3, high=2, n=300)
    assert limits(scaled) == pytest.approx((5 * plain.low - 3, 5 * plain.high - 3))


def test_a_number_without_bounds_has_the_limits_of_student():
    values = [0.8, nan, 0.9, 0.4, 0.7]
    low, high, _ = oracle.paired_t([0.8, 0.9, 0.4, 0.7], [0.0] * 4)
    assert limits(mean_interval(values)) == pytest.approx((low, high))
    assert limits(mean_interval(values, low=0.4)) == pytest.approx((0.4, high))
    assert limits(mean_interval(values, high=0.9)) == pytest.approx((low, 0.9))


@pytest.mark.parametrize(
    ("values", "bounds", "value"),
    [
        ([0.3], (0, 1), 0.3),
        ([nan, nan], (0, 1), nan),
        ([], (0, inf), nan),
        ([7.0, 7.0, 7.0], (0, inf), 7.0),
        ([7.0, inf], (0, inf), inf),
    ],
)
def test_where_nothing_can_be_said_there_are_no_limits(values, bounds, value):
    interval = mean_interval(values, low=bounds[0], high=bounds[1])
    assert interval.value == pytest.approx(value, nan_ok=True)
    assert isnan(interval.low)
    assert isnan(interval.high)


def test_many_columns_are_as_each_alone_in_any_blocks(monkeypatch):
    random = np.random.default_rng(4)
    columns = random.random((5, 12))
    columns[2] = np.round(columns[2])
    bounds = [(0, 1), (0, inf), (-1, 1), (0, 1), (0, 2)]
    options = {"level": 0.8, "n": 200, "seed": 5}
    together = mean_intervals(columns, bounds, **options)
    monkeypatch.setattr(sample, "_MOST_DRAWS", 1)
    for column, (low, high), one, blocked in zip(
        columns, bounds, together, mean_intervals(columns, bounds, **options), strict=True
    ):
        alone = mean_interval(column, low=low, high=high, **options)
        assert limits(one) == pytest.approx(limits(alone), rel=1e-12)
        assert limits(blocked) == pytest.approx(limits(alone), rel=1e-12)


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_numbers_outside_of_their_bounds_are_refused(value):
    with pytest.raises(InputError, match=f"numbers from 0 to 1, got {value} at index 1"):
        mean_interval([0.5, value], low=0, high=1)
    with pytest.raises(InputError, match=f"numbers from 0 to 1, got {value} at index 1"):
        mean_difference([0.5, value], [0.5, 0.5], low=0, high=1)
    assert mean_interval([0.5, 1 + 1e-12], low=0, high=1).high <= 1 + 1e-12


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        ({"low": "a"}, InputTypeError, "`low` to be a number, which may be infinite, got 'a'"),
        ({"high": None}, InputTypeError, "`high` to be a number"),
        ({"low": nan}, InputError, "`low` to be a number, which may be infinite, got nan"),
        ({"low": 5, "high": 1}, InputError, "`low` to be below `high`, got 5 and 1"),
        ({"low": 1, "high": 1}, InputError, "`low` to be below `high`, got 1 and 1"),
    ],
)
def test_bounds_are_checked(bounds, error, message):
    with pytest.raises(error, match=message):
        mean_interval([0.5, 0.7], **bounds)


@pytest.mark.parametrize("options", [{"n": 99}, {"seed": -1}, {"level": 1}])
def test_options_are_checked_even_if_nothing_is_drawn(options):
    with pytest.raises(InputError, match=next(iter(options))):
        mean_interval([1.0, 2.0], **options)
    with pytest.raises(InputError, match="level"):
        mean_difference([1.0, 2.0], [1.0, 2.0], level=1)

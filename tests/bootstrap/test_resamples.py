"""Intervals over events: against closed forms and quadrature, and what must not change them."""

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.bootstrap import SCORES, Resamples, hierarchical, mean_interval, sums
from closecall.errors import InputError
from oracle import bootstrap as oracle

MANY = 40_000


def draw(precision, recall, series=None, *, n=2000, seed=0):
    return Resamples.draw(precision, recall, series, n=n, seed=seed)


def ends(intervals):
    return [(getattr(intervals, name).low, getattr(intervals, name).high) for name in SCORES]


@st.composite
def detectors(draw, count=2, fewest=2, most=12):
    """Precision and recall of detectors on the same events; missed ones have neither."""
    events = draw(st.integers(fewest, most))
    unit = st.floats(0, 1, allow_subnormal=False)
    row = st.lists(st.tuples(st.booleans(), unit, unit), min_size=events, max_size=events)
    rows = draw(st.lists(row, min_size=count, max_size=count))
    precision = [[p if found else nan for found, p, _ in row] for row in rows]
    recall = [[r if found else 0.0 for found, _, r in row] for row in rows]
    return np.array(precision), np.array(recall)


@pytest.mark.parametrize(("found", "events"), [(0, 4), (2, 2), (3, 5), (20, 20), (33, 35)])
def test_events_that_are_found_or_not_have_the_limits_of_a_share(found, events):
    recall = np.repeat([1.0, 0.0], [found, events - found])
    precision = np.where(recall > 0, 1.0, nan)
    interval = draw([precision], [recall], n=MANY).intervals(0, 0.95).recall
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
    intervals = draw([precision], [recall], n=MANY).intervals(0, 0.95)
    expected = oracle.limits_by_quadrature(precision, recall)
    np.testing.assert_allclose(ends(intervals), expected, atol=0.012)


@given(detectors(count=1))
def test_values_are_the_plain_means(sides):
    precision, recall = sides
    values = draw(precision, recall, n=100).values[:, 0]
    expected = oracle.scores_of(precision[0], recall[0], [1.0] * recall.shape[1])
    np.testing.assert_allclose(values, expected, atol=1e-12)


@given(detectors())
def test_every_resample_lies_between_the_one_with_a_failure_and_with_a_success(sides):
    resamples = draw(*sides, n=100)
    known = ~np.isnan(resamples.draws)
    assert (resamples.worse <= resamples.draws + 1e-12)[known].all()
    assert (resamples.draws <= resamples.better + 1e-12)[known].all()
    p, r, f1 = resamples.draws
    np.testing.assert_allclose(f1 * (p + r), 2 * p * r, atol=1e-12)


@given(detectors())
def test_the_interval_holds_the_value_and_grows_with_the_level(sides):
    resamples = draw(*sides, n=200)
    for detector in range(2):
        narrow, wide = (resamples.intervals(detector, level) for level in (0.5, 0.95))
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
        recall = random.random((1, 100))
        interval = draw(recall, recall, n=100, seed=seed).intervals(0, 1e-6).recall
        assert interval.low <= interval.value <= interval.high


@given(detectors(count=3))
def test_a_detector_is_not_changed_by_the_others(sides):
    precision, recall = sides
    together = draw(precision, recall, n=100).intervals(1, 0.9)
    alone = draw(precision[1:2], recall[1:2], n=100).intervals(0, 0.9)
    np.testing.assert_allclose(ends(together), ends(alone), atol=1e-12)


@given(detectors())
def test_the_difference_the_other_way_round(sides):
    resamples = draw(*sides, n=100)
    for one, other in zip(
        resamples.differences(0, 1, 0.9), resamples.differences(1, 0, 0.9), strict=True
    ):
        turned = other.reversed()
        for name in ("value", "low", "high", "probability"):
            np.testing.assert_allclose(getattr(one, name), getattr(turned, name), atol=1e-9)


@given(detectors(count=1))
def test_equal_detectors(sides):
    precision, recall = (np.repeat(side, 2, axis=0) for side in sides)
    for gap in draw(precision, recall, n=100).differences(0, 1, 0.95):
        if not isnan(gap.probability):
            assert gap.probability == 0.5
            assert max(abs(gap.low), abs(gap.high)) < 1e-10


def test_the_difference_in_recall_is_that_of_the_paired_t_test():
    random = np.random.default_rng(3)
    for events in (2, 3, 9, 40):
        recall = random.random((2, events))
        _, gap, _ = draw(recall, recall, n=MANY).differences(0, 1, 0.8)
        low, high, below = oracle.paired_t(*recall, level=0.8)
        reach = (high - low) / 2
        assert gap.low == pytest.approx(max(low, -1), abs=0.02 * reach)
        assert gap.high == pytest.approx(min(high, 1), abs=0.02 * reach)
        assert gap.probability == pytest.approx(below, abs=0.01)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_interval_leaves_out_0_where_the_probability_says_so(level):
    random = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        recall = np.stack([random.random(8), random.random(8) * 0.6])
        for gap in draw(recall, recall, n=200).differences(0, 1, level):
            apart = gap.low > 0 or gap.high < 0
            assert apart == (abs(2 * gap.probability - 1) > level)
            seen.add(apart)
    assert seen == {True, False}


def test_a_lead_that_is_the_same_on_every_event():
    recall = np.array([[0.9, 0.5, 0.7], [0.8, 0.4, 0.6]])
    _, gap, _ = draw(recall, recall, n=100).differences(0, 1, 0.95)
    assert gap.probability == pytest.approx(1, abs=1e-6)
    assert (gap.low, gap.high) == pytest.approx((0.1, 0.1), abs=1e-6)


def test_pairing_makes_the_difference_surer():
    random = np.random.default_rng(1)
    hard = random.random(30)
    first, second = (np.clip(hard + random.normal(0, 0.05, 30), 0, 1) for _ in range(2))
    shuffled = random.permutation(second)
    paired = draw([first, second], [first, second]).differences(0, 1, 0.95)
    unpaired = draw([first, shuffled], [first, shuffled]).differences(0, 1, 0.95)
    for one, other in zip(paired, unpaired, strict=True):
        assert one.width < other.width / 3


def test_series_are_drawn_whole():
    """Thirty copies of an event in one series are still one event's worth of knowledge."""
    random = np.random.default_rng(2)
    values = random.random(8)
    copies, series = np.repeat(values, 30), np.repeat(np.arange(8), 30)
    once = draw([values], [values]).intervals(0, 0.95)
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
    assert ends(pooled) == ends(draw([values], [values]).intervals(0, 0.95))
    assert pooled.caution == "All events are of one series: nothing is known about other series."


def test_names_of_series_are_only_names():
    random = np.random.default_rng(4)
    values = random.random(20)
    numbers = np.sort(random.integers(0, 6, 20))
    names = np.array(["a", "b", "c", "d", "e", "f"])[numbers]
    assert hierarchical(values, values, numbers) == hierarchical(values, values, names)


def test_seeds_and_blocks(monkeypatch):
    random = np.random.default_rng(6)
    sides = random.random((2, 25)), random.random((2, 25))
    expected = draw(*sides, n=500, seed=7)
    assert not np.array_equal(expected.draws, draw(*sides, n=500, seed=8).draws)
    monkeypatch.setattr(sums, "_MOST_WEIGHTS", 60)
    blocked = draw(*sides, n=500, seed=7)
    for name in ("draws", "worse", "better"):
        np.testing.assert_allclose(getattr(blocked, name), getattr(expected, name), rtol=1e-12)


def test_one_event_says_nothing():
    alone = draw([[0.9]], [[0.8]], n=100).intervals(0, 0.95)
    assert [getattr(alone, name).value for name in SCORES[:2]] == [0.9, 0.8]
    assert all(isnan(limit) for pair in ends(alone) for limit in pair)
    (gap, *_) = draw([[0.9], [0.5]], [[0.8], [0.1]], n=100).differences(0, 1, 0.95)
    assert gap.value == pytest.approx(0.4)
    assert isnan(gap.low)
    assert isnan(gap.probability)


def test_precision_on_one_event_has_no_interval_and_recall_has():
    found = draw([[0.9, nan, nan]], [[0.8, 0.0, 0.0]], n=100).intervals(0, 0.95)
    assert isnan(found.precision.low)
    assert isnan(found.f1.high)
    assert found.recall.low < 0.8 / 3 < found.recall.high


def test_nothing_is_predicted():
    nothing = draw([[nan] * 3], [[0.0] * 3], n=100).intervals(0, 0.95)
    assert isnan(nothing.precision.value)
    assert isnan(nothing.f1.value)
    assert nothing.recall.value == nothing.recall.low == 0
    assert 0 < nothing.recall.high < 0.7


def test_few_events_with_a_precision_are_pointed_out():
    precision = [0.9, 0.8, *[nan] * 18]
    recall = np.where(np.isnan(precision), 0.0, 1.0)
    found = draw([precision], [recall], n=100).intervals(0, 0.95)
    assert found.caution == "Precision is defined on only 2 of the 20 events."


def test_the_mean_of_one_number_per_series():
    values = [0.8, nan, 0.9, 0.4, 0.7]
    kept = [0.8, 0.9, 0.4, 0.7]
    low, high, _ = oracle.paired_t(kept, [0.0] * 4)
    interval = mean_interval(values)
    assert (interval.value, interval.low, interval.high) == pytest.approx((0.7, low, high))
    assert mean_interval(values, low=0.5, high=0.9).high == 0.9
    assert mean_interval(values, low=0.5, high=0.9).low == 0.5
    assert isnan(mean_interval([0.3]).low)
    assert mean_interval([0.3]).value == 0.3
    assert isnan(mean_interval([nan]).value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hierarchical([1, 1], [1, 1], [0, 1], level=95), "`level` to lie between 0 and 1"),
        (lambda: mean_interval([1, 1], level=True), "`level` to lie between 0 and 1, got True"),
        (lambda: hierarchical([1, 1], [1, 1], [0, 1], n=99), "`n` to be a whole number from 100"),
        (lambda: hierarchical([1, 1], [1, 1], [0, 1], n=1e3), "`n` to be a whole number"),
        (lambda: hierarchical([1, 1], [1, 1], [0, 1], seed=-1), "`seed` to be a whole number"),
        (lambda: hierarchical([1, 1], [1], [0, 1]), "as many values .* got 2 and 1"),
        (lambda: hierarchical([], [], []), "at least one event, got none"),
        (lambda: hierarchical([1, 1], [1, nan], [0, 1]), "`recall` .* got nan at index 1"),
        (lambda: hierarchical([1, 1], [1, 1], [0, 1, 2]), "`series` to have one entry per event"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()

"""Differences between detectors on the same events: paired, and no surer than events allow."""

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given

from closecall.statistics import Difference
from tests.oracle import bootstrap as oracle

from .test_resamples import MANY, detectors, draw


@given(detectors())
def test_the_difference_the_other_way_round(sides):
    resamples = draw(*sides, n=100)
    for one, other in zip(
        resamples.differences(0, 1, 0.9), resamples.differences(1, 0, 0.9), strict=True
    ):
        turned = other.reversed()
        for name in ("value", "low", "high", "probability"):
            np.testing.assert_allclose(getattr(one, name), getattr(turned, name), atol=1e-9)


@given(detectors(fewest=6))
def test_limits_hold_the_difference_and_are_possible(sides):
    for gap in draw(*sides, n=100).differences(0, 1, 0.9):
        if not isnan(gap.low):
            assert -1 <= gap.low <= gap.value <= gap.high <= 1


@given(detectors(count=1, fewest=6))
def test_equal_detectors_are_not_certain_to_be_equal(sides):
    precision, recall = (np.repeat(side, 2, axis=0) for side in sides)
    for gap in draw(precision, recall, n=100).differences(0, 1, 0.95):
        if not isnan(gap.probability):
            assert (gap.value, gap.probability) == (0, 0.5)
            assert gap.low == -gap.high < 0


def test_no_difference_in_recall_is_surer_than_the_paired_t_test():
    random = np.random.default_rng(3)
    by_scatter = 0
    for events in (6, 9, 40):
        recall = random.random((2, events)) > 0.5
        _, gap, _ = draw(recall, recall, n=MANY).differences(0, 1, 0.95)
        low, high, below = oracle.paired_t(*recall.astype(float))
        slack = 0.01 * (high - low)
        assert gap.low <= max(low, -1) + slack
        assert gap.high >= min(high, 1) - slack
        assert abs(gap.probability - 0.5) <= abs(below - 0.5) + 0.01
        by_scatter += gap.low == pytest.approx(low, abs=slack)
    assert by_scatter >= 1


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.8), (1.0, 1.0), (0.2, 0.0), (1.0, 0.0)])
@pytest.mark.parametrize("events", [6, 35])
def test_a_lead_that_is_the_same_on_every_event_has_room_for_half_an_event(first, second, events):
    recall = np.array([[first] * events, [second] * events])
    _, gap, _ = draw(recall, recall, n=MANY).differences(0, 1, 0.95)
    expected = oracle.limits_of_constant_lead(first, second, events)
    assert (gap.low, gap.high) == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("found", [2, 10, 29])
def test_against_one_that_always_succeeds_it_is_the_limit_of_a_share(found):
    """Unless that of the paired t-test is farther."""
    recall = np.array([np.repeat([1.0, 0.0], [found, 30 - found]), np.ones(30)])
    _, gap, _ = draw(recall, recall, n=MANY).differences(0, 1, 0.95)
    share, _ = oracle.limits_of_share(found, 30)
    low, _, _ = oracle.paired_t(*recall)
    assert gap.low == pytest.approx(max(min(share - 1, low), -1), abs=0.006)


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


@pytest.mark.parametrize("events", [2, 3, 5])
def test_fewer_than_six_events_do_not_tell_two_detectors_apart(events):
    recall = np.array([[1.0] * events, [0.0] * events])
    for gap in draw(recall, recall, n=100).differences(0, 1, 0.95):
        assert gap.value == 1
        assert isnan(gap.low)
        assert isnan(gap.high)
        assert isnan(gap.probability)


def test_six_events_show_a_large_lead_and_not_a_small_one():
    small = np.array([[0.9, 0.5, 0.7, 0.6, 0.3, 0.2], [0.8, 0.4, 0.6, 0.5, 0.2, 0.1]])
    _, gap, _ = draw(small, small).differences(0, 1, 0.95)
    assert gap.low < 0 < gap.high
    assert 0.8 < gap.probability < 0.975
    large = np.array([[1.0] * 6, [0.2] * 6])
    _, gap, _ = draw(large, large).differences(0, 1, 0.95)
    assert gap.low > 0
    assert gap.probability == 1 - 1 / 64


def test_two_that_hardly_ever_differ_have_room_for_failing_where_the_other_succeeds():
    """Twelve events of middling scores, all the same: the next may be 0 for one and 1 for other."""
    recall = np.tile(np.linspace(0.2, 0.8, 12), (2, 1))
    _, gap, _ = draw(recall, recall, n=MANY).differences(0, 1, 0.95)
    low, high = oracle.limits_of_constant_lead(0.5, 0.5, 12)
    assert (gap.low, gap.high) == pytest.approx((low, high), abs=0.006)


def test_precision_is_judged_by_the_events_that_have_it():
    """Events that one of two misses weigh nothing in its precision, however many there are."""
    random = np.random.default_rng(7)
    precision = random.random((2, 9))
    recall = np.full((2, 9), 0.5)
    missed, none = np.full((2, 30), nan), np.zeros((2, 30))
    alone = draw(precision, recall, n=MANY).differences(0, 1, 0.95)[0]
    low, high, _ = oracle.paired_t(*precision)
    among, _, f1 = draw(
        np.hstack([precision, missed]), np.hstack([recall, none]), n=MANY
    ).differences(0, 1, 0.95)
    assert alone.low < low < high < alone.high
    assert (among.low, among.high) == pytest.approx((alone.low, alone.high), abs=0.02)
    assert among.probability == pytest.approx(alone.probability, abs=0.01)
    assert not isnan(f1.probability)
    precision[1, :4] = nan  # now one of the two has five
    gaps = draw(precision, random.random((2, 9)), n=100).differences(0, 1, 0.95)
    assert [isnan(gap.low) for gap in gaps] == [True, False, True]


def test_events_that_only_one_detector_found_make_its_lead_no_surer():
    precision = np.array([[0.9] * 12, [0.5] * 6 + [nan] * 6])
    recall = np.array([[0.9] * 12, [0.5] * 6 + [0.0] * 6])
    gaps = draw(precision, recall, n=100).differences(0, 1, 0.95)
    assert [gap.probability for gap in gaps] == [1 - 2**-6, 1 - 2**-12, 1 - 2**-6]


def test_what_two_detectors_differ_in_is_counted_by_score():
    precision = np.array([[0.5, nan, 0.5, 0.5, nan, 0.4], [0.5, 0.5, 0.4, 0.5, nan, 0.4]])
    recall = np.array([[0.5, 0.0, 0.5, 0.5, 0.0, 0.4], [0.5, 0.5, 0.5, 0.6, 0.0, 0.4]])
    assert draw(precision, recall, n=100).sums.differing(0, 1, 1e-12) == (2, 2, 3)
    grouped = draw(precision, recall, [0, 0, 0, 1, 1, 2], n=100)
    assert grouped.sums.differing(0, 1, 1e-12) == (1, 2, 2)


def test_differences_over_series_need_six_of_them():
    random = np.random.default_rng(9)
    values = random.random((2, 40))
    five, eight = (draw(values, values, np.arange(40) % count, n=200) for count in (5, 8))
    assert all(isnan(gap.probability) for gap in five.differences(0, 1, 0.95))
    assert five.pair_caution(0, 1).startswith("There are only five series. They show")
    assert not any(isnan(gap.low) for gap in eight.differences(0, 1, 0.95))
    assert eight.pair_caution(0, 1) == "There are only 8 series: the intervals are wide, and rough."
    one = draw(values, values, [0] * 40, n=200)
    assert one.pair_caution(0, 1).startswith("All events are of one series")
    assert not any(isnan(gap.low) for gap in one.differences(0, 1, 0.95))


def test_pairing_makes_the_difference_surer():
    random = np.random.default_rng(1)
    hard = random.random(300)
    first, second = (np.clip(hard + random.normal(0, 0.1, 300), 0, 1) for _ in range(2))
    shuffled = random.permutation(second)
    paired = draw([first, second], [first, second]).differences(0, 1, 0.95)
    unpaired = draw([first, shuffled], [first, shuffled]).differences(0, 1, 0.95)
    for one, other in zip(paired, unpaired, strict=True):
        assert one.width < other.width / 2


@pytest.mark.parametrize(
    ("probability", "shown"), [(0.996, ">0.99"), (1.0, "1.00"), (0.004, "<0.01"), (0.5, "0.50")]
)
def test_no_probability_is_rounded_to_certainty(probability, shown):
    assert repr(Difference(0.1, 0.0, 0.2, probability)).endswith(f"probability {shown})")

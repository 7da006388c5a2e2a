"""Intervals over events: against closed forms and quadrature, and what must not change them."""

import json
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.errors import InputError, InputTypeError
from closecall.statistics import SCORES, Difference, Resamples, hierarchical, resamples
from tests.oracle import bootstrap as oracle

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
    plain, worse, better = draw(*sides, n=100).drawn
    known = ~np.isnan(plain)
    assert (worse <= plain + 1e-12)[known].all()
    assert (plain <= better + 1e-12)[known].all()
    p, r, f1 = plain
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


def test_half_a_series_is_as_large_as_that_of_an_average_event():
    """Two series of ten perfect events and ten of one: the average event is one of seven."""
    series = np.repeat(np.arange(12), [10, 10, *[1] * 10])
    perfect = np.ones(series.size)
    found = draw([perfect], [perfect], series, n=MANY).drawn.worse[1, 0]
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


def test_seeds_and_blocks(monkeypatch):
    random = np.random.default_rng(6)
    sides = random.random((2, 25)), random.random((2, 25))
    expected = draw(*sides, n=500, seed=7).drawn
    assert not np.array_equal(expected.plain, draw(*sides, n=500, seed=8).drawn.plain)
    monkeypatch.setattr(resamples, "_MOST_WEIGHTS", 60)
    blocked = draw(*sides, n=500, seed=7).drawn
    for one, other in zip(blocked, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


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


def test_numpy_numbers_are_numbers():
    values = np.linspace(0.1, 0.9, 12)
    plain = hierarchical(values, values, range(12), level=0.5, n=200, seed=3)
    kinds = {"level": np.float32(0.5), "n": np.int64(200), "seed": np.uint8(3)}
    assert hierarchical(values, values, range(12), **kinds) == plain
    assert json.dumps(plain.to_dict())


@pytest.mark.parametrize("option", [{"level": 95}, {"n": 99}, {"seed": -1}])
def test_options_are_checked(option):
    with pytest.raises(InputError, match=f"`{next(iter(option))}` to be"):
        hierarchical([1, 1], [1, 1], [0, 1], **option)


@pytest.mark.parametrize(
    ("call", "message"),
    [
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

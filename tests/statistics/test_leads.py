"""What a lead is worth: no more than Student's t, what was not seen, and luck allow."""

from bisect import bisect_left
from functools import partial
from itertools import product
from math import inf, isnan, nan

import numpy as np
import pytest
import scipy  # which loads its parts when they are used
from hypothesis import given
from hypothesis import strategies as st

from closecall.errors import InputError
from closecall.statistics import (
    FEWEST_TO_COMPARE,
    Sample,
    events_needed,
    mean_difference,
    mean_differences,
)
from closecall.statistics.leads import found_in_draws, lead
from tests.oracle import bootstrap as oracle


def test_six_is_the_fewest_with_which_luck_is_rarer_than_one_in_20():
    """To win every event happens to one of two equally good detectors with 2 / 2**m."""
    assert 2 / 2**FEWEST_TO_COMPARE < 0.05 < 2 / 2 ** (FEWEST_TO_COMPARE - 1)


@pytest.mark.parametrize("judged", range(FEWEST_TO_COMPARE))
def test_nothing_is_said_of_fewer(judged):
    assert isnan(lead(nan, nan, judged=judged, differing=judged, level=0.95).value)
    gap = lead(1.0, 0.01, judged=judged, differing=judged, level=0.95)
    assert gap.value == 1.0
    assert isnan(gap.low)
    assert isnan(gap.high)
    assert isnan(gap.pvalue)


def test_a_number_without_bounds_has_the_limits_of_student():
    gap = lead(0.05, 0.04, judged=12, differing=12, level=0.9, widest=inf)
    assert (gap.low, gap.high) == pytest.approx(scipy.stats.t(11, 0.05, 0.04).interval(0.9))
    assert gap.pvalue == pytest.approx(2 * scipy.stats.t(11).sf(1.25))


@pytest.mark.parametrize("differing", [6, 7, 20, 5000])
def test_a_constant_lead_without_bounds_has_no_limits(differing):
    gap = lead(0.3, 0.0, judged=differing, differing=differing, level=0.95, widest=inf)
    assert gap.pvalue == pytest.approx(2 * 2.0**-differing, abs=1e-12)
    assert isnan(gap.low)
    assert isnan(gap.high)


@given(
    gap=st.floats(-1, 1),
    spread=st.floats(0, 1),
    counts=st.tuples(st.integers(6, 60), st.integers(1, 60)),
    level=st.floats(0.01, 0.999),
    widest=st.sampled_from([1.0, 2.5]),
)
def test_limits_are_those_of_the_oracle(gap, spread, counts, level, widest):
    options = {"judged": counts[0], "differing": min(counts), "level": level, "widest": widest}
    made = lead(gap, spread, **options)
    low, high, pvalue = oracle.limits_of_lead(gap, spread, **options)
    assert made.pvalue == pytest.approx(pvalue, abs=1e-9)
    if abs(pvalue - (1 - level)) > 1e-9:  # not for rounding
        assert (made.low, made.high) == pytest.approx((low, high), abs=1e-8)
        assert (made.low > 0 or made.high < 0) == (made.pvalue < 1 - level)
    assert -widest <= made.low <= gap <= made.high <= widest
    turned = lead(-gap, spread, **options).reversed()
    assert (made.low, made.high) == pytest.approx((turned.low, turned.high), abs=1e-12)
    assert made.pvalue == turned.pvalue


def test_a_limit_that_names_no_leader_has_room_for_events_that_were_not_seen():
    """0.05 on all of 20 events: the other may have failed on 13.6 %, and nobody have seen it."""
    made = lead(0.05, 0.0, judged=20, differing=20, level=0.95)
    assert made.low == pytest.approx(0.05 - scipy.stats.t(19).ppf(0.975) * 0.1 / np.sqrt(20))
    share = 1 - 0.05 ** (1 / 20.5)
    assert share == pytest.approx(0.136, abs=5e-4)
    assert made.high == pytest.approx((1 - share) * 0.05 + share)
    equal = lead(0.0, 0.0, judged=20, differing=0, level=0.95)
    assert (equal.low, equal.high, equal.pvalue) == pytest.approx((-share, share, 1.0))
    asked = []
    elsewhere = lead(
        0.05,
        0.0,
        judged=20,
        differing=20,
        level=0.95,
        units=10.0,
        farthest=lambda share: asked.append(share) or (-0.3, 0.4),
    )
    assert asked == [pytest.approx(1 - 0.05 ** (1 / 10.5))]
    assert (elsewhere.low, elsewhere.high) == (-0.3, 0.4)


@pytest.mark.parametrize(("units", "freedom"), [(8.0, 7), (5.9, 4), (1.2, 2)])
def test_what_weighs_as_fewer_has_their_freedom(units, freedom):
    made = lead(0.3, 0.1, judged=8, differing=8, level=0.95, units=units)
    error = np.hypot(0.1, 0.1 / np.sqrt(units))
    assert made.pvalue == pytest.approx(2 * scipy.stats.t(freedom).sf(0.3 / error))


def test_the_pvalue_is_never_below_that_of_changing_places():
    """Equally good detectors could change places wherever they differ: all signs are as likely."""
    random = np.random.default_rng(0)
    for differing, size in ((1, 8), (3, 8), (5, 20), (8, 8)):
        gaps = np.zeros(size)
        gaps[:differing] = random.uniform(0.2, 0.3, differing)
        spread = gaps.std(ddof=1) / np.sqrt(size)
        made = lead(gaps.mean(), spread, judged=size, differing=differing, level=0.95)
        signs = np.array(list(product([-1, 1], repeat=differing)))
        as_large = (np.abs(signs @ gaps[:differing]) >= gaps.sum() - 1e-12).mean()
        assert made.pvalue >= as_large - 1e-12
        assert as_large == 2 * 2.0**-differing


def test_five_that_differ_among_many_do_not_leave_out_0():
    """Student's t alone would."""
    made = lead(0.25, 0.1, judged=20, differing=5, level=0.95)
    assert 2 * scipy.stats.t(19).sf(0.25 / np.hypot(0.1, 0.1 / np.sqrt(20))) < 0.05
    assert made.pvalue == 1 / 16
    assert made.low <= 0 < made.high


@pytest.mark.parametrize(("effect", "level"), [(0.5, 0.95), (0.5, 0.99), (1.0, 0.95)])
def test_events_needed_are_those_of_the_paired_t_test_at_the_limits(effect, level):
    """Differences that are normal and have no bounds have a closed form: the noncentral t."""

    def power(effect, count):
        t = scipy.stats.t.ppf((1 + level) / 2, count - 1)
        shifted = scipy.stats.nct(count - 1, effect * count**0.5)
        return shifted.sf(t) + shifted.cdf(-t)

    normal = scipy.stats.norm.ppf((np.arange(300) + 0.5) / 300)
    gaps = normal / normal.std(ddof=1) + effect
    reach = scipy.stats.t.ppf((1 + level) / 2, 299) / 300**0.5
    expected = [
        6 + bisect_left(range(6, 1000), 0.8, key=partial(power, limit))
        for limit in (effect + reach, effect - reach)
    ]
    found = events_needed(gaps, widest=inf, level=level, n=2000)
    assert found == pytest.approx(expected, rel=0.06, abs=1)
    assert events_needed(-gaps, widest=inf, level=level, n=2000) == pytest.approx(
        expected, rel=0.06, abs=1
    )


@pytest.mark.parametrize("widest", [1.0, inf])
def test_events_needed_asks_the_test_of_a_lead(widest):
    gaps = np.array([0.4, -0.1, 0.0, 0.2, 0.0, 0.3, -0.2])
    told = found_in_draws(gaps, 15, level=0.95, widest=widest, n=300, seed=1)
    drawn = np.random.default_rng(1).multinomial(15, [1 / 7] * 7, size=300)
    for counts, found in zip(drawn, told, strict=True):
        events = np.repeat(gaps, counts)
        error, differing = events.std(ddof=1) / 15**0.5, np.count_nonzero(events)
        asked = {"judged": 15, "differing": differing, "level": 0.95, "widest": widest}
        assert found == (lead(events.mean(), error, **asked).pvalue < 0.05)
    assert 0 < told.mean() < 1


def test_differences_shifted_to_another_mean_keep_their_spread_and_who_differs():
    gaps = np.array([0.4, -0.1, 0.0, 0.2, 0.0, 0.3, -0.2])
    told = found_in_draws(gaps, 15, level=0.95, widest=1.0, n=300, seed=1, mean=0.25)
    drawn = np.random.default_rng(1).multinomial(15, [1 / 7] * 7, size=300)
    for counts, found in zip(drawn, told, strict=True):
        events = np.repeat(gaps, counts)
        mean, error = events.mean() - gaps.mean() + 0.25, events.std(ddof=1) / 15**0.5
        made = lead(mean, error, judged=15, differing=np.count_nonzero(events), level=0.95)
        assert found == (made.pvalue < 0.05)
    assert told.mean() > found_in_draws(gaps, 15, level=0.95, widest=1.0, n=300, seed=1).mean()


def test_more_than_a_thousand_differences_are_grouped():
    gaps = np.array([0.4, 0.1, 0.0, 0.2, 0.0, 0.3, -0.2, 0.3])
    few, many = (events_needed(np.tile(gaps, times), n=500) for times in (125, 126))
    assert many == pytest.approx(few, rel=0.1)
    assert few[0] < few[1]


def test_events_needed_cannot_be_said_where_0_lies_within_the_limits():
    """Nor where there are no limits, or where more than 100,000 events are needed."""
    assert events_needed([0.0] * 10) is None
    assert events_needed([0.2, -0.2] * 5) is None
    assert events_needed([0.3, -0.1, 0.2, 0.0, 0.1, -0.2, 0.3, 0.1]) is None
    assert events_needed([1.0] * 5) is None
    spread = np.array([-0.4, 0.4] * 200)
    error = np.hypot(spread.std(ddof=1), 0.1) / 20
    barely = spread + 1.001 * scipy.stats.t.ppf(0.975, 399) * error
    assert 0 < mean_difference(barely, np.zeros(400), low=-0.5, high=0.5)[0].low < 1e-4
    assert events_needed(barely) is None
    assert events_needed([0.9] * FEWEST_TO_COMPARE) == (6, 6)


def test_events_needed_do_not_depend_on_the_unit():
    gaps = np.array([0.3, 0.1, 0.2, 0.0, 0.1, -0.2, 0.3, 0.1, 0.4, 0.2, 0.3, 0.5])
    expected = events_needed(gaps, widest=inf)
    assert events_needed(gaps * 2.0**1000, widest=inf) == expected
    assert events_needed(gaps * 4, widest=4.0) == events_needed(gaps)


@pytest.mark.parametrize("differences", [[], [0.1], [0.1, nan]])
def test_too_few_differences_are_refused(differences):
    with pytest.raises(InputError, match="`differences` to be two or more finite numbers"):
        events_needed(differences)


def limits(interval):
    return interval.low, interval.high


def test_the_difference_is_that_of_the_paired_t_test_over_series_that_have_both():
    random = np.random.default_rng(6)
    first, second = random.random((2, 30))
    first[3] = second[7] = nan
    second[8] = inf
    kept = np.isfinite(first) & np.isfinite(second)
    made, count = mean_difference(first, second, level=0.8)
    low, high, pvalue = oracle.paired_t(first[kept], second[kept], level=0.8)
    assert count == 27
    assert made.value == pytest.approx((first - second)[kept].mean())
    assert limits(made) == pytest.approx((low, high))
    assert made.pvalue == pytest.approx(pvalue)


def test_the_difference_of_scores_is_that_over_events():
    random = np.random.default_rng(7)
    first, second = np.round(random.random((2, 30)), 1)
    _, expected, _ = Sample.read([first, second], [first, second]).differences(0, 1, 0.9)
    made, _ = mean_difference(first, second, level=0.9, low=0, high=1)
    plain, _ = mean_difference(first, second, level=0.9)
    assert limits(made) == pytest.approx(limits(expected))
    assert made.pvalue == pytest.approx(expected.pvalue)
    assert made.low <= plain.low < plain.high <= made.high
    scaled, _ = mean_difference(5 * first - 3, 5 * second - 3, level=0.9, low=-3, high=2)
    assert limits(scaled) == pytest.approx((5 * made.low, 5 * made.high))
    assert scaled.pvalue == pytest.approx(made.pvalue)


def test_every_two_of_many_are_as_alone():
    random = np.random.default_rng(8)
    columns = random.random((4, 20))
    columns[1, 3] = columns[2, 7] = nan
    together = mean_differences(columns, (0, 1), level=0.8)
    assert [pair for pair, _, _ in together] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [count for _, _, count in together] == [19, 19, 20, 18, 19, 19]
    for (first, second), one, _ in together:
        alone, _ = mean_difference(columns[first], columns[second], low=0, high=1, level=0.8)
        assert one == alone


def test_differences_of_few_and_of_steady_series():
    few, count = mean_difference([1.0] * 5, [0.0] * 5)
    assert (few.value, count) == (1.0, 5)
    assert isnan(few.low)
    assert isnan(few.pvalue)
    steady, _ = mean_difference([1.0] * 6, [0.0] * 6, low=0, high=1)
    low, high, pvalue = oracle.limits_of_lead(1.0, 0.0, judged=6, differing=6)
    assert (steady.low, steady.high, steady.pvalue) == pytest.approx((low, high, pvalue))
    assert (steady.high, steady.pvalue) == (1.0, 1 / 32)
    assert isnan(mean_difference([1.0] * 6, [0.0] * 6)[0].low)
    nothing, count = mean_difference([nan, 1.0], [1.0, nan])
    assert count == 0
    assert isnan(nothing.value)


def test_differences_whose_squares_overflow_have_no_limits():
    gap, _ = mean_difference([1e300, 0.0, 1.0, 2.0, 3.0, 4.0], [0.0] * 6)
    assert (gap.low, gap.high, gap.pvalue) == (-inf, inf, 1.0)

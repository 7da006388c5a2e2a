"""What a lead is worth: no more than Student's t, half an event against it, and luck allow."""

from itertools import product
from math import isnan, nan

import numpy as np
import pytest
from closecall.statistics.resamples import SetBack
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from closecall.statistics import FEWEST_TO_COMPARE
from closecall.statistics.leads import lead, student_probability, student_quantile


def alike(draws):
    """The same leads whatever happens on the half event."""
    return SetBack(draws, draws)


def test_six_is_the_fewest_with_which_luck_is_rarer_than_one_in_20():
    """To win every event happens to one of two equally good detectors with 2 / 2**m."""
    assert 2 / 2**FEWEST_TO_COMPARE < 0.05 < 2 / 2 ** (FEWEST_TO_COMPARE - 1)


@pytest.mark.parametrize("judged", range(FEWEST_TO_COMPARE))
def test_nothing_is_said_of_fewer(judged):
    gap = lead(1.0, 0.01, judged=judged, differing=judged, level=0.95)
    assert gap.value == 1.0
    assert isnan(gap.low)
    assert isnan(gap.high)
    assert isnan(gap.probability)


def test_an_ordinary_lead_has_the_limits_of_student():
    gap = lead(0.05, 0.04, judged=12, differing=12, level=0.9)
    low, high = stats.t(11, 0.05, 0.04).interval(0.9)
    assert (gap.low, gap.high) == pytest.approx((low, high))
    assert gap.probability == pytest.approx(stats.t(11).cdf(1.25))


@pytest.mark.parametrize("differing", [6, 7, 20, 5000])
def test_a_constant_lead_is_not_certain_and_without_bounds_has_no_limits(differing):
    gap = lead(0.3, 0.0, judged=differing, differing=differing, level=0.95)
    assert gap.probability == 1 - 2.0**-differing
    assert isnan(gap.low)
    assert isnan(gap.high)


def test_the_farther_limit_counts_on_each_side():
    steps = np.arange(1, 1001) / 1000
    # The 25th least: 0.11 and -0.58; where one fails and the other succeeds, -0.19 and -0.78.
    ours, theirs = (
        SetBack(x, x - y) for x, y in ((0.5 - 0.4 * steps, 0.3), (0.8 * steps - 0.6, 0.2))
    )
    options = {"judged": 12, "differing": 12, "level": 0.95, "set_back": (ours, theirs)}
    wide, narrow = lead(0.3, 0.1, **options), lead(0.3, 0.01, **options)
    low, high = stats.t(11, 0.3, 0.1).interval(0.95)
    assert low < 0.11
    assert high < 0.58
    assert (wide.low, wide.high) == pytest.approx((low, 0.58), abs=1e-3)
    wider = lead(0.3, 0.2, **options)  # holds 0
    assert (wider.low, wider.high) == pytest.approx((-0.19, 0.78), abs=1e-3)
    assert (narrow.low, narrow.high) == pytest.approx((0.11, 0.58), abs=1e-3)
    assert narrow.probability == 1 - 2**-12
    less = alike(0.2899 - 0.4 * steps)  # above 0 in 724 of 1000
    options["set_back"] = less, theirs
    assert lead(0.3, 0.01, **options).probability == 0.724
    assert lead(0.3, 0.01, **options).low < 0
    options["set_back"] = theirs, less
    assert lead(-0.3, 0.01, **options).probability == pytest.approx(0.276)
    assert lead(-0.3, 0.01, **options).high > 0
    assert (
        lead(0.01, 0.01, **options | {"set_back": (alike(-steps), alike(-steps))}).probability
        == 0.5
    )


def test_the_probability_is_never_beyond_that_of_changing_places():
    """Equally good detectors could change places wherever they differ: all signs are as likely."""
    random = np.random.default_rng(0)
    for differing, size in ((1, 8), (3, 8), (5, 20), (8, 8)):
        gaps = np.zeros(size)
        gaps[:differing] = random.uniform(0.2, 0.3, differing)
        spread = gaps.std(ddof=1) / np.sqrt(size)
        made = lead(gaps.mean(), spread, judged=size, differing=differing, level=0.95)
        signs = np.array(list(product([-1, 1], repeat=differing)))
        as_large = (signs @ gaps[:differing] >= gaps.sum() - 1e-12).mean()
        assert made.probability <= 1 - as_large + 1e-12
        assert as_large == 2.0**-differing


def test_five_that_differ_among_many_do_not_leave_out_0():
    """Student's t alone would: 0.25 by 0.1 on 19 degrees of freedom is above 0.975."""
    made = lead(0.25, 0.1, judged=20, differing=5, level=0.95)
    assert stats.t(19).cdf(2.5) > 0.975
    assert made.probability == 1 - 1 / 32
    assert (made.low, made.high) == (0.0, pytest.approx(stats.t(19, 0.25, 0.1).ppf(0.975)))


rooms = st.lists(st.floats(0, 1), min_size=1, max_size=20).map(np.array)


@given(
    gap=st.floats(-1, 1),
    spread=st.floats(0, 1),
    counts=st.tuples(st.integers(6, 60), st.integers(1, 60)),
    level=st.floats(0.01, 0.999),
    room=st.tuples(rooms, rooms, st.floats(0, 1)),
)
def test_limits_and_probability_agree_and_turn_round(gap, spread, counts, level, room):
    options = {"judged": counts[0], "differing": min(counts), "level": level}
    ours, theirs = (SetBack(x, x - room[2]) for x in (gap - room[0], -gap - room[1]))
    made = lead(gap, spread, **options, set_back=(ours, theirs))
    turned = lead(-gap, spread, **options, set_back=(theirs, ours)).reversed()
    for name in ("value", "low", "high", "probability"):
        assert getattr(made, name) == pytest.approx(getattr(turned, name), abs=1e-9)
    assert -1 <= made.low <= gap <= made.high <= 1
    apart, needed = made.low > 0 or made.high < 0, (1 + level) / 2
    if abs(max(made.probability, 1 - made.probability) - needed) > 1e-9:  # not for rounding
        assert apart == (max(made.probability, 1 - made.probability) > needed)
    elsewhere = lead(gap, spread, **options, set_back=(alike(ours.one), alike(theirs.one)))
    assert made.probability == elsewhere.probability
    if apart:  # as wide as before where there is a leader
        assert (made.low, made.high) == (elsewhere.low, elsewhere.high)
    luck = 2.0 ** -options["differing"]
    assert luck - 1e-12 <= made.probability <= 1 - luck + 1e-12


def test_equal_detectors():
    options = {"judged": 20, "differing": 0, "level": 0.95}
    made = lead(0.0, 0.0, **options)
    assert (made.value, made.probability) == (0.0, 0.5)
    assert isnan(made.low)
    room = -np.linspace(0, 0.1, 2001)
    made = lead(0.0, 0.0, **options, set_back=(alike(room), alike(room)))
    assert (made.value, made.probability) == (0.0, 0.5)
    assert (made.low, made.high) == pytest.approx((-0.0975, 0.0975))


def test_wider_numbers_have_wider_limits():
    assert lead(40.0, 30.0, judged=8, differing=8, level=0.95).high == 1.0
    made = lead(40.0, 30.0, judged=8, differing=8, level=0.95, widest=np.inf)
    assert made.high == pytest.approx(40 + 30 * stats.t(7).ppf(0.975))
    assert isnan(lead(nan, nan, judged=3, differing=3, level=0.95).value)


FREEDOMS = [1, 2, 3, 4, 5, 34, 99, 100, 999, 1000, 1001, 50_000]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.9995])
def test_quantiles(freedom, probability):
    expected = stats.t(freedom).ppf(probability)
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [-40.0, -2.0, -0.3, 0.0, 0.7, 3.0])
def test_probabilities(freedom, t):
    assert student_probability(t, freedom) == pytest.approx(stats.t(freedom).cdf(t), abs=2e-7)

"""By how much one detector is ahead of another: limits, p-values, and how many events it takes."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, hypot, isfinite, nan, pi, sin, sqrt, tan
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.errors import InputError, InputTypeError
from closecall.parameters import read_number, read_numbers, require_choice, require_count
from closecall.statistics.intervals import FEWEST_TO_COMPARE, Difference, read_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Correction = Literal["holm", "bonferroni", "benjamini-hochberg"]
CORRECTIONS: tuple[str, ...] = get_args(Correction)
_NORMAL = NormalDist()
_ENOUGH_FREEDOM = 1000  # from here on a transformed normal is exact to seven digits
_BISECTIONS = 80
_UNSEEN_SPREAD = 0.1  # of the largest difference: one event in a hundred goes wholly one way
_LEAST_FREEDOM = 2  # where a few large series outweigh all others
ROUNDING = 1e-12  # what differs by less is equal
_MOST_DRAWN = 1000  # different events; more are grouped
_MOST_NEEDED = 100_000  # beyond that many a difference is of no use to anybody


@lru_cache
def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t for a probability of 1/2 or more.

    >>> round(student_quantile(0.975, 1), 3), round(student_quantile(0.975, 34), 3)
    (12.706, 2.032)
    """
    if freedom >= _ENOUGH_FREEDOM:
        # Abramowitz and Stegun 26.7.5.
        z = _NORMAL.inv_cdf(probability)
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / freedom + second / freedom**2
    low, high = 0.0, pi / 2  # the angle whose tangent is t / sqrt(freedom)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if (1 + _within(middle, freedom)) / 2 < probability:
            low = middle
        else:
            high = middle
    return sqrt(freedom) * tan(low)


def student_probability(t: float, freedom: int) -> float:
    """Return the probability that Student's t is at most so much.

    >>> round(student_probability(1.0, 1), 6), round(student_probability(-12.706, 1), 3)
    (0.75, 0.025)
    """
    if freedom >= _ENOUGH_FREEDOM:
        # Abramowitz and Stegun 26.7.8.
        return _NORMAL.cdf(t * (1 - 1 / (4 * freedom)) / sqrt(1 + t * t / (2 * freedom)))
    return (1 + _within(atan(t / sqrt(freedom)), freedom)) / 2


def _within(angle: float, freedom: int) -> float:
    """Sum the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    odd = freedom % 2 == 1
    term = cos(angle) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for power in range(2 + odd, freedom - 1, 2):
        term *= cos(angle) ** 2 * (power - 1) / power
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def lead(
    gap: float,
    spread: float,
    *,
    judged: int,
    differing: int,
    level: float,
    units: float | None = None,
    widest: float = 1.0,
    farthest: Callable[[float], tuple[float, float]] | None = None,
) -> Difference:
    r"""Return the limits of a difference, and the p-value of there being none.

    The limits are those of the paired t-test, with room for what the m events at hand do not show:
    :math:`d \pm t_{m-1} \sqrt{s^2 + (0.1\,w)^2 / m}`, with s the standard error of d and w the
    largest difference there can be. The second part is the variance of a difference that goes
    wholly one way on one event in a hundred.

    The p-value is that of this t, and at least :math:`2^{1-k}`, with k the number of events on
    which the two differ: if they change places at random where they differ, as equally good
    detectors could, each of the :math:`2^k` outcomes is as likely. The limits leave out 0 where the
    p-value is below 1 - level.

    A limit that names no leader may be farther at no loss: both of them where they hold 0, else the
    one away from 0. It allows for the largest share of events that all of m miss with probability
    1 - level, :math:`q = 1 - (1 - level)^{1/(m + 1/2)}`, on which one detector has everything and
    the other nothing: then the difference is :math:`(1-q) d \pm q w`.

    With fewer than six judged events there are no limits and no p-value.

    Parameters
    ----------
    gap, spread
        The difference d, and its standard error s.
    judged, differing
        On how many events, or series, d rests, and on how many of them the two differ (k).
    units
        As how many that weigh the same they count (m); all of them by default.
    widest
        The largest difference there can be (w). If it is infinite the limits are those of t alone,
        and there are none where the difference does not vary.
    farthest
        The least and the largest difference for a share q, where they are not as above.

    Examples
    --------
    >>> lead(0.1, 0.02, judged=20, differing=20, level=0.95)
    Difference(+0.100, from +0.037 to +0.222, p-value 0.0035)
    >>> lead(1.0, 0.0, judged=5, differing=5, level=0.95)
    Difference(+1.000, no limits)
    """
    if not judged >= FEWEST_TO_COMPARE:
        return Difference(gap, nan, nan, nan)
    units, bounded = units or judged, isfinite(widest)
    freedom = max(int(units) - 1, _LEAST_FREEDOM)
    error = hypot(spread, _unseen_error(units, widest))
    steps = abs(gap) / max(error, abs(gap) * ROUNDING, ROUNDING**2)  # finite, however steady
    luck = 2.0 ** (1 - max(differing, 1))
    pvalue = min(max(2 * student_probability(-steps, freedom), luck), 1.0)
    if not bounded and spread <= ROUNDING * abs(gap):
        return Difference(gap, nan, nan, pvalue)
    reach = student_quantile((1 + level) / 2, freedom) * error
    low, high = gap - reach, gap + reach
    apart = pvalue < 1 - level
    if not apart:
        low, high = min(low, 0.0), max(high, 0.0)
    if bounded:
        share = 1 - (1 - level) ** (1 / (units + 0.5))
        kept, lost = (1 - share) * gap, share * widest
        least, most = farthest(share) if farthest else (kept - lost, kept + lost)
        if not apart or gap < 0:
            low = max(min(low, least), -widest)
        if not apart or gap > 0:
            high = min(max(high, most), widest)
    return Difference(gap, max(low, -widest), min(high, widest), pvalue)


def _unseen_error(units: float, widest: float) -> float:
    """Return the standard error of what so many events do not show; 0 without bounds."""
    return _UNSEEN_SPREAD * widest / sqrt(units) if isfinite(widest) else 0.0


def events_needed(
    differences: ArrayLike,
    *,
    power: float = 0.8,
    level: float = 0.95,
    widest: float = 1.0,
    n: int = 1000,
    seed: int = 0,
) -> int | None:
    """Return how many events, or series, would be needed to tell two detectors apart.

    Events are drawn from those at hand, with replacement, in growing numbers, until the test of
    `lead` tells the two apart in a share `power` of the draws. So it is the number for a difference
    as large, and as uneven, as the one at hand, which may itself be off.

    Parameters
    ----------
    differences
        What the first detector is above the second, one number for each event or series.
    power
        How often the two should be told apart, between 0 and 1.
    level
        The level of the test: 0.95 tells equally good detectors apart one time in 20.
    widest
        The largest difference there can be; 1 for scores from 0 to 1, inf without bounds.
    n, seed
        How many draws to make of each number of events, from 100 to 10,000, and their seed.

    Returns
    -------
    int or None
        At least 6; None if it is more than 100,000, as for detectors that do not differ.

    Examples
    --------
    >>> events_needed([0.3, -0.1, 0.2, 0.0, 0.1, -0.2, 0.3, 0.1])
    40
    >>> print(events_needed([0.3, -0.3]))
    None
    """
    level, widest = read_level(level), read_number(widest, "widest", "above 0", lambda x: x > 0)
    power = read_number(power, "power", "a number between 0 and 1", lambda x: 0 < x < 1)
    require_count(n, "n", 100, 10_000)
    require_count(seed, "seed", 0)
    gaps = read_numbers(differences, "differences").ravel()
    if gaps.size < 2 or not np.isfinite(gaps).all():  # noqa: PLR2004
        rule = "to be two or more finite numbers"
        raise InputError(
            rule, f"{np.isfinite(gaps).sum()} finite of {gaps.size}", argument="differences"
        )

    largest = float(np.abs(gaps).max())
    if largest <= ROUNDING:
        return None
    gaps, widest = gaps / largest, widest / largest  # so that no square overflows
    if gaps.size > _MOST_DRAWN:  # each with those most like it, which keeps mean and spread
        gaps = np.array([part.mean() for part in np.array_split(np.sort(gaps), _MOST_DRAWN)])

    def enough(count: int) -> bool:
        told = _told_apart(gaps, count, level=level, widest=widest, n=int(n), seed=int(seed))
        return bool(told.mean() >= power)

    low, high = FEWEST_TO_COMPARE - 1, FEWEST_TO_COMPARE
    while not enough(high):
        low, high = high, 2 * high
        if low >= _MOST_NEEDED:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high <= _MOST_NEEDED else None


def _told_apart(
    gaps: NDArray[np.float64], count: int, *, level: float, widest: float, n: int, seed: int
) -> NDArray[Any]:
    """Draw so many events n times, and return in which draws the test of `lead` finds a leader."""
    shares = np.full(gaps.size, 1 / gaps.size)
    drawn = np.random.default_rng(seed).multinomial(count, shares, size=n).astype(np.float64)
    mean = drawn @ gaps / count
    variance = np.maximum(drawn @ gaps**2 / count - mean**2, 0.0) / (count - 1)
    error = np.hypot(np.sqrt(variance), _unseen_error(count, widest))
    differing = drawn @ (np.abs(gaps) > ROUNDING)
    reach = student_quantile((1 + level) / 2, count - 1) * error
    return (np.abs(mean) > reach) & (2.0 ** (1 - np.maximum(differing, 1)) < 1 - level)


def adjust_pvalues(pvalues: Any, correction: Correction = "holm") -> NDArray[np.float64]:
    r"""Adjust the p-values of m tests so that each can be compared with the level of all of them.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, the adjusted values are

    - ``"bonferroni"``: :math:`m\, p_{(i)}`;
    - ``"holm"``: :math:`\max_{k \le i} (m - k + 1)\, p_{(k)}`, never larger than Bonferroni's.
      Either keeps the probability of any false finding at the level, whatever the dependence;
    - ``"benjamini-hochberg"``: :math:`\min_{k \ge i} \frac{m}{k} p_{(k)}`, which keeps the expected
      share of false findings at the level, for independent tests or positively dependent ones;

    each at most 1. They are in [0, 1], lower is stronger evidence, and none is below its p-value.

    Parameters
    ----------
    pvalues
        In [0, 1], or nan for a test that could not be done. It still counts among the m: whether
        it could be done is itself left to chance.
    correction
        Which of the three.

    Returns
    -------
    numpy.ndarray
        In the order given; nan stays nan.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_pvalues([0.01, 0.04, 0.03], "benjamini-hochberg")
    array([0.03, 0.04, 0.04])
    """
    require_choice(correction, "correction", CORRECTIONS)
    given = read_numbers(pvalues, "pvalues")
    if given.ndim != 1:
        rule = "to be a list or another sequence of numbers"
        raise InputTypeError(rule, f"{given.ndim} dimensions", argument="pvalues")
    wrong = np.flatnonzero((given < 0) | (given > 1))
    if wrong.size:
        got = f"{given[wrong[0]]:g} at index {wrong[0]}"
        raise InputError("to be in [0, 1], or nan", got, argument="pvalues")
    tests = given.size
    order = np.argsort(given)  # nan comes last
    ranked = np.where(np.isnan(given), 1.0, given)[order]
    ranks = np.arange(1, tests + 1)
    if correction == "bonferroni":
        scaled = tests * ranked
    elif correction == "holm":
        scaled = np.maximum.accumulate((tests - ranks + 1) * ranked)
    else:
        scaled = np.minimum.accumulate((tests / ranks * ranked)[::-1])[::-1]
    adjusted = np.empty(tests)
    adjusted[order] = np.minimum(scaled, 1.0)
    adjusted[np.isnan(given)] = np.nan
    return adjusted

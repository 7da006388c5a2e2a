"""By how much one detector is ahead of another: limits and a p-value."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, hypot, isfinite, nan, pi, sin, sqrt, tan
from statistics import NormalDist
from typing import TYPE_CHECKING

from closecall.statistics.intervals import FEWEST_TO_COMPARE, Difference

if TYPE_CHECKING:
    from collections.abc import Callable

_NORMAL = NormalDist()
_ENOUGH_FREEDOM = 1000  # from here on a transformed normal is exact to seven digits
_BISECTIONS = 80
_UNSEEN_SPREAD = 0.1  # of the largest difference: one event in a hundred goes wholly one way
_LEAST_FREEDOM = 2  # where a few large series outweigh all others
ROUNDING = 1e-12  # what differs by less is equal


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
    error = hypot(spread, _UNSEEN_SPREAD * widest / sqrt(units)) if bounded else spread
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

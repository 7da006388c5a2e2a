"""By how much one detector is ahead of another, and how surely."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, nan, pi, sin, sqrt, tan
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closecall.statistics.intervals import FEWEST_TO_COMPARE, Difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NORMAL = NormalDist()
_ENOUGH_FREEDOM = 1000  # from here on a transformed normal is exact to seven digits
_BISECTIONS = 80
ROUNDING = 1e-12  # what differs by less is equal


@lru_cache
def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t for a probability of 1/2 or more.

    Examples
    --------
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

    Examples
    --------
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


class SetBack(NamedTuple):
    """Leads over another detector in resamples with half an event against it, all arrays alike."""

    one: NDArray[np.float64]
    """It scores 0 there, or the other 1: whichever is worse. The one left is as on average."""
    both: NDArray[np.float64]
    """It scores 0 there and the other 1."""


def lead(
    gap: float,
    spread: float,
    *,
    judged: int,
    differing: int,
    level: float,
    set_back: tuple[SetBack, SetBack] | None = None,
    widest: float = 1.0,
) -> Difference:
    r"""Return the limits of a difference, and how surely it is above 0.

    Each limit is the farther of two. That of Student's t, :math:`d \pm t_{m-1} s`, goes by how much
    the difference varies from event to event. That of resamples with half an event against the one
    or the other (`SetBack`) makes room for what the events at hand do not show. On that event only
    one of the two fails, or only one succeeds; where the limits hold 0 nonetheless, one fails and
    the other succeeds. That takes nothing away, for an interval that holds 0 names no leader.

    The probability says whether the limits hold 0. For the one in front it is the smaller of what t
    gives and of the share of the resamples with half an event against it (`SetBack.one`) in which
    it stays in front, and at least 1/2. It is at most :math:`1 - 2^{-k}`, with k the number of
    events on which the two differ: to win all of these by luck is worth so much. If detectors
    change places at random where they differ, as equally good ones could, each of the :math:`2^k`
    outcomes is as likely. An interval leaves out 0 only if the probability allows it.

    With fewer than six judged events there are no limits and no probability.

    `gap` is d and `spread` its standard error s; the difference rests on `judged` events, or
    series (m), and the two differ on `differing` of them (k). `set_back` has the leads of the first
    and of the second in resamples with half an event against it; None for numbers without bounds,
    which may fail by any amount: then there are only the limits of t, and none where the difference
    does not vary. `widest` is the largest difference there can be.

    Examples
    --------
    >>> lead(0.1, 0.02, judged=6, differing=6, level=0.95)
    Difference(+0.100, from +0.049 to +0.151, probability 0.98)
    >>> lead(1.0, 0.0, judged=5, differing=5, level=0.95)
    Difference(+1.000, no limits)
    """
    if not judged >= FEWEST_TO_COMPARE:
        return Difference(gap, nan, nan, nan)
    steps = abs(gap) / max(spread, abs(gap) * ROUNDING, ROUNDING**2)  # finite, however steady
    surely = min(student_probability(steps, judged - 1), 1 - 2.0 ** -max(differing, 1))
    reach = student_quantile((1 + level) / 2, judged - 1) * spread
    low, high = gap - reach, gap + reach
    if set_back is not None:
        leader = set_back[0] if gap >= 0 else set_back[1]
        surely = max(min(surely, float(np.mean(leader.one > 0))), 0.5)
    probability = surely if gap >= 0 else 1 - surely
    if set_back is None and spread <= ROUNDING * abs(gap):
        return Difference(gap, nan, nan, probability)
    held = [gap]
    apart = 2 * surely - 1 > level
    if not apart:
        held.append(0.0)
    if set_back is not None:
        ours, theirs = (side.one if apart else side.both for side in set_back)
        low, high = min(low, _lower(ours, level)), max(high, -_lower(theirs, level))
    return Difference(
        gap, max(min(low, *held), -widest), min(max(high, *held), widest), probability
    )


def _lower(draws: NDArray[np.float64], level: float) -> float:
    """Take a draw for the limit: the share of draws above 0 then tells if the limit is."""
    return float(np.quantile(draws, (1 - level) / 2, method="inverted_cdf"))

"""Student's t, which the standard library has not."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, pi, sin, sqrt, tan
from statistics import NormalDist

_NORMAL = NormalDist()
_ENOUGH_FREEDOM = 1000  # from here on a transformed normal is exact to seven digits
_BISECTIONS = 80


@lru_cache
def student_quantile(probability: float, freedom: int) -> float:
    """Give the quantile of Student's t for a probability of 1/2 or more.

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
    """Give the probability that Student's t is at most so much.

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

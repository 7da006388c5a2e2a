"""By how much one detector is ahead of another, and what that is worth."""

from __future__ import annotations

from math import nan

from closecall.bootstrap.caution import FEWEST_TO_COMPARE
from closecall.bootstrap.interval import Difference
from closecall.bootstrap.student import student_probability, student_quantile

ROUNDING = 1e-12  # what differs by less is equal


def lead(
    gap: float, spread: float, *, judged: int, differing: int, level: float, widest: float = 1.0
) -> Difference:
    r"""Give the limits of a difference from its standard error, and how surely it is above 0.

    The limits are those of Student's t, :math:`d \pm t_{m-1} s`, with three precautions for few
    events and for leads that hardly vary.

    - With fewer than six judged events there are none, and no probability.
    - The probability lies within :math:`[2^{-k}, 1 - 2^{-k}]`, with k the number of events on
      which the two differ: to win all of these by luck is worth so much. If detectors change
      places at random where they differ, as equally good ones could, each of the :math:`2^k`
      outcomes is as likely. An interval leaves out 0 only if the probability allows it.
    - Limits are at least :math:`|d| / k` away, what one more event on a side would change.

    Where the two never differ there is no scatter to go by: no limits, and a probability of 1/2.

    Parameters
    ----------
    gap
        The difference d itself.
    spread
        Its standard error s.
    judged
        On how many events, or series, the difference rests: m.
    differing
        On how many of them the two differ: k.
    level
        How often the interval is meant to hold the true difference.
    widest
        The largest difference there can be.

    Examples
    --------
    >>> lead(0.1, 0.0, judged=6, differing=6, level=0.95)
    Difference(+0.100, from +0.083 to +0.117, probability 0.98)
    >>> lead(1.0, 0.0, judged=5, differing=5, level=0.95)
    Difference(+1.000, no limits)
    """
    if not judged >= FEWEST_TO_COMPARE:
        return Difference(gap, nan, nan, nan)
    if max(abs(gap), spread) < ROUNDING:
        return Difference(gap, nan, nan, 0.5)
    freedom, differing = judged - 1, max(differing, 1)
    steps = gap / max(spread, abs(gap) * ROUNDING)  # finite, however steady the lead
    luck = 2.0**-differing
    surely = min(max(student_probability(steps, freedom), luck), 1 - luck)
    reach = max(student_quantile((1 + level) / 2, freedom) * spread, abs(gap) / differing)
    if abs(2 * surely - 1) <= level:
        reach = max(reach, abs(gap))
    return Difference(gap, max(gap - reach, -widest), min(gap + reach, widest), surely)

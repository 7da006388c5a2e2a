"""By how much one detector is ahead of another, and what that is worth."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from closecall.statistics.caution import FEWEST_TO_COMPARE
from closecall.statistics.interval import Difference
from closecall.statistics.student import student_probability, student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.statistics.sums import SetBack

ROUNDING = 1e-12  # what differs by less is equal


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
    r"""Give the limits of a difference, and how surely it is above 0.

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
    set_back
        The leads of the first, and of the second, in resamples with half an event against it. None
        for numbers without bounds, which may fail by any amount: then there are only the limits of
        t, and none where the difference does not vary.
    widest
        The largest difference there can be.

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

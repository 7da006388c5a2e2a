"""By how much one detector is ahead of another: limits, p-values, and how many events it takes."""

from __future__ import annotations

from itertools import combinations
from math import hypot, isfinite, nan, sqrt
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.errors import InputError, InputTypeError
from closecall.parameters import read_number, read_numbers, require_choice, require_count
from closecall.statistics.intervals import (
    FEWEST,
    FEWEST_TO_COMPARE,
    Difference,
    read_bounds,
    read_level,
    require_within,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Correction = Literal["holm", "bonferroni", "benjamini-hochberg"]
CORRECTIONS: tuple[str, ...] = get_args(Correction)
_UNSEEN_SPREAD = 0.1  # of the largest difference: one event in a hundred goes wholly one way
_LEAST_FREEDOM = 2  # where a few large series outweigh all others
ROUNDING = 1e-12  # what differs by less is equal
_MOST_DRAWN = 1000  # different events; more are grouped
_MOST_NEEDED = 100_000  # beyond that many a difference is of no use to anybody


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
    from scipy.special import stdtr, stdtrit

    if not judged >= FEWEST_TO_COMPARE:
        return Difference(gap, nan, nan, nan)
    units, bounded = units or judged, isfinite(widest)
    freedom = max(int(units) - 1, _LEAST_FREEDOM)
    error = hypot(spread, _unseen_error(units, widest))
    steps = abs(gap) / max(error, abs(gap) * ROUNDING, ROUNDING**2)  # finite, however steady
    luck = 2.0 ** (1 - max(differing, 1))
    pvalue = min(max(2 * float(stdtr(freedom, -steps)), luck), 1.0)
    if not bounded and spread <= ROUNDING * abs(gap):
        return Difference(gap, nan, nan, pvalue)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
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


def mean_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    low: float = -np.inf,
    high: float = np.inf,
) -> tuple[Difference, int]:
    """Return the mean of what the first is above the second, and over how many series that is.

    Only series where both have a finite number count. The limits are those of
    `lead`, with series in the place of events.

    Examples
    --------
    >>> ours, theirs = [0.9, 0.8, 1.0, 0.7, 0.9, 0.8, 0.6], [0.5, 0.7, 0.8, 0.7, 0.6, 0.6, 0.5]
    >>> mean_difference(ours, theirs, low=0, high=1)
    (Difference(+0.186, from +0.031 to +0.454, p-value 0.031), 7)
    >>> mean_difference(ours, theirs)
    (Difference(+0.186, from +0.061 to +0.310, p-value 0.031), 7)
    """
    ours, theirs = read_numbers(first, "first"), read_numbers(second, "second")
    if ours.shape != theirs.shape or ours.ndim != 1:
        got = f"{ours.size} and {theirs.size}"
        raise InputError("`first` and `second` to have as many values", got)
    both, bounds = np.stack([ours, theirs]), read_bounds(low, high)
    ((_, made, count),) = mean_differences(both, bounds, level=level)
    return made, count


def mean_differences(
    columns: NDArray[np.float64], bounds: tuple[float, float], *, level: float
) -> list[tuple[tuple[int, int], Difference, int]]:
    """Return such differences for every two detectors (rows) on the same series (columns)."""
    level, (low, high) = read_level(level), bounds
    for column in columns:
        require_within(column, low, high)
    finite = np.isfinite(columns)
    found = []
    for pair in combinations(range(len(columns)), 2):
        gaps = np.subtract(*columns[list(pair)][:, finite[list(pair)].all(axis=0)])
        made = _mean_lead(gaps, level, float(high - low))
        found.append((pair, made, int(gaps.size)))
    return found


def _mean_lead(gaps: NDArray[np.float64], level: float, widest: float) -> Difference:
    """Return the mean of differences with its limits."""
    count = gaps.size
    with np.errstate(over="ignore"):
        spread = float(gaps.std(ddof=1)) / sqrt(count) if count >= FEWEST else nan
    return lead(
        float(gaps.mean()) if count else nan,
        spread,
        judged=count,
        differing=int(np.count_nonzero(np.abs(gaps) > ROUNDING)),
        level=level,
        widest=widest,
    )


def events_needed(
    differences: ArrayLike,
    *,
    power: float = 0.8,
    level: float = 0.95,
    widest: float = 1.0,
    n: int = 1000,
    seed: int = 0,
) -> tuple[int, int] | None:
    """Return a range of how many events, or series, are needed to show a difference.

    The number depends on the true difference, which is known only within its limits (see `lead`).
    The first number of the range is for a difference as large as the limit away from 0, the second
    for one as small as the limit next to 0. To find each, events are drawn from those at hand, with
    replacement and shifted to that mean, in growing numbers, until the test of `lead` finds a
    difference in a share `power` of the draws.

    Use the second number to plan: it was enough for a power of 0.8 in most simulations (see
    :doc:`/intervals`). A number for the difference as it was observed would be too small, since
    differences that are found are on average larger than the true ones.

    Parameters
    ----------
    differences
        What the first detector is above the second, one number for each event or series.
    power
        How often a difference should be found, between 0 and 1.
    level
        The level of the limits and of the test: at 0.95 it finds a difference between equally good
        detectors one time in 20.
    widest
        The largest difference there can be; 1 for scores from 0 to 1, inf without bounds.
    n, seed
        How many draws to make of each number of events, from 100 to 10,000, and their seed.

    Returns
    -------
    tuple of int, or None
        Two numbers, each at least 6. None if the range cannot be said: where 0 lies within the
        limits, where there are none, as with fewer than six differences, and where the second
        number is above 100,000.

    Examples
    --------
    >>> events_needed([0.3, 0.1, 0.2, 0.0, 0.1, -0.2, 0.3, 0.1, 0.4, 0.2, 0.3, 0.5])
    (7, 103)
    >>> print(events_needed([0.3, -0.1, 0.2, 0.0, 0.1, -0.2, 0.3, 0.1]))
    None
    """
    level, widest = read_level(level), read_number(widest, "widest", "above 0", lambda x: x > 0)
    power = read_number(power, "power", "a number between 0 and 1", lambda x: 0 < x < 1)
    require_count(n, "n", 100, 10_000)
    require_count(seed, "seed", 0)
    gaps = read_numbers(differences, "differences").ravel()
    if gaps.size < FEWEST or not np.isfinite(gaps).all():
        rule = "to be two or more finite numbers"
        raise InputError(
            rule, f"{np.isfinite(gaps).sum()} finite of {gaps.size}", argument="differences"
        )
    largest = float(np.abs(gaps).max())
    if largest <= ROUNDING:
        return None
    gaps, widest = gaps / largest, widest / largest  # so that no square overflows
    limits = _mean_lead(gaps, level, widest)
    return needed_within(
        gaps, limits, power=power, level=level, widest=widest, n=int(n), seed=int(seed)
    )


def needed_within(
    gaps: NDArray[np.float64],
    limits: Difference,
    *,
    level: float,
    power: float = 0.8,
    widest: float = 1.0,
    n: int = 1000,
    seed: int = 0,
) -> tuple[int, int] | None:
    """Return the range of `events_needed` for differences whose mean has these limits."""
    if not (limits.low > 0 or limits.high < 0):
        return None
    if gaps.size > _MOST_DRAWN:  # each with those most like it, which keeps mean and spread
        gaps = np.array([part.mean() for part in np.array_split(np.sort(gaps), _MOST_DRAWN)])
    near, far = sorted((limits.low, limits.high), key=abs)

    def fewest(mean: float, low: int) -> int:
        """Return the smallest number above `low` with enough power, or one that is too large."""

        def enough(count: int) -> bool:
            found = found_in_draws(
                gaps, count, level=level, widest=widest, n=n, seed=seed, mean=mean
            )
            return bool(found.mean() >= power)

        high = low + 1
        while not enough(high):
            low, high = high, 2 * high
            if low >= _MOST_NEEDED:
                return high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    least = fewest(far, FEWEST_TO_COMPARE - 1)
    most = fewest(near, least - 1)
    return (least, most) if most <= _MOST_NEEDED else None


def found_in_draws(
    gaps: NDArray[np.float64],
    count: int,
    *,
    level: float,
    widest: float,
    n: int,
    seed: int,
    mean: float | None = None,
) -> NDArray[Any]:
    """Draw so many events n times, and return in which draws the test of `lead` finds a leader.

    With a `mean`, all differences are shifted to have it; those that are equal still do not count
    as differing.
    """
    from scipy.special import stdtrit

    shares = np.full(gaps.size, 1 / gaps.size)
    drawn = np.random.default_rng(seed).multinomial(count, shares, size=n).astype(np.float64)
    differing = drawn @ (np.abs(gaps) > ROUNDING)
    if mean is not None:
        gaps = gaps + (mean - gaps.mean())
    means = drawn @ gaps / count
    variance = np.maximum(drawn @ gaps**2 / count - means**2, 0.0) / (count - 1)
    error = np.hypot(np.sqrt(variance), _unseen_error(count, widest))
    reach = float(stdtrit(count - 1, (1 + level) / 2)) * error
    return (np.abs(means) > reach) & (2.0 ** (1 - np.maximum(differing, 1)) < 1 - level)


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
        index = int(wrong[0])
        got = f"{given[index]:g}"
        raise InputError("to be in [0, 1], or nan", got, argument="pvalues", index=index)
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

"""The mean of one number per series: its interval, and that of the difference of two."""

from __future__ import annotations

from itertools import combinations
from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError
from closecall.parameters import read_number, read_numbers
from closecall.statistics.intervals import FEWEST, Difference, Interval, read_drawing, read_level
from closecall.statistics.leads import ROUNDING, lead, student_quantile
from closecall.statistics.sample import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_MOST_DRAWS = 1 << 21  # held at a time, over all columns


def mean_interval(
    values: ArrayLike,
    *,
    level: float = 0.95,
    low: float = -np.inf,
    high: float = np.inf,
    n: int = 2000,
    seed: int = 0,
) -> Interval:
    r"""Return the interval of the mean of one number per series; nan is left out.

    A number with bounds is treated as a score over events: series are resampled, with half a
    series at `low` for the lower limit and half a series at `high` for the upper one. A number
    without gets :math:`\bar x \pm t_{m-1} s/\sqrt m`, kept within the bound that it may have; there
    are no limits if it does not vary, since nothing then says how far it could.

    Parameters
    ----------
    values
        One number for each series.
    level
        How often such intervals are meant to hold the true mean, between 0 and 1.
    low, high
        What the number can be at least and at most.
    n, seed
        How many resamples to draw, from 100 to 1,000,000, and their seed.

    Returns
    -------
    Interval
        Within `low` and `high`; nan limits with fewer than two series.

    Examples
    --------
    >>> mean_interval([0.8, 0.9, 0.7, 1.0], low=0, high=1)
    Interval(0.850, from 0.414 to 0.959)
    >>> mean_interval([30.0, 12.0, 18.0], low=0)
    Interval(20.000, from 0.000 to 42.767)
    """
    column, bounds = read_numbers(values, "values").reshape(1, -1), read_bounds(low, high)
    return mean_intervals(column, [bounds], level=level, n=n, seed=seed)[0]


def mean_intervals(
    columns: NDArray[np.float64],
    bounds: Sequence[tuple[float, float]],
    *,
    level: float,
    n: int,
    seed: int,
) -> list[Interval]:
    """Return the intervals of many numbers (rows) of the same series (columns), weighed alike."""
    level, (n, seed) = read_level(level), read_drawing(n, seed)
    found: list[Interval] = [Interval(nan, nan, nan)] * len(columns)
    bounded = []
    for place, (column, (low, high)) in enumerate(zip(columns, bounds, strict=True)):
        _require_within(column, low, high)
        if isfinite(low) and isfinite(high) and np.count_nonzero(~np.isnan(column)) >= FEWEST:
            bounded.append(place)
        else:
            found[place] = _scattered(column, low, high, level)
    at_once = max(1, _MOST_DRAWS // n)
    for start in range(0, len(bounded), at_once):
        some = bounded[start : start + at_once]
        low, high = np.array([bounds[place] for place in some]).T[:, :, None]
        shares = np.clip((columns[some] - low) / (high - low), 0.0, 1.0)
        # As the precision of events.
        drawn = Sums.of_events(shares, np.zeros_like(shares)).resampled(n, seed)
        ends = [(1 - level) / 2, (1 + level) / 2]
        lows, highs = map(np.quantile, (drawn.worse[0], drawn.better[0]), ends, (1, 1))
        limits = low + (high - low) * np.column_stack([lows, highs])
        for place, (least, most) in zip(some, limits, strict=True):
            value = float(np.nanmean(columns[place]))
            found[place] = Interval(value, min(float(least), value), max(float(most), value))
    return found


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
    `closecall.statistics.leads.lead`, with series in the place of events.

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
        _require_within(column, low, high)
    finite = np.isfinite(columns)
    found = []
    for pair in combinations(range(len(columns)), 2):
        gaps = np.subtract(*columns[list(pair)][:, finite[list(pair)].all(axis=0)])
        count = int(gaps.size)
        with np.errstate(over="ignore"):
            spread = float(gaps.std(ddof=1)) / sqrt(count) if count >= FEWEST else nan
        made = lead(
            float(gaps.mean()) if count else nan,
            spread,
            judged=count,
            differing=int(np.count_nonzero(np.abs(gaps) > ROUNDING)),
            level=level,
            widest=float(high - low),
        )
        found.append((pair, made, count))
    return found


def read_bounds(low: Any, high: Any) -> tuple[float, float]:
    """Return bounds as floats; raise if they are no numbers, or the wrong way round."""
    least, most = (
        read_number(bound, name, "a number, which may be infinite", lambda x: not isnan(x))
        for name, bound in (("low", low), ("high", high))
    )
    if least >= most:
        raise InputError("to be below `high`", f"{least:g} and {most:g}", argument="low")
    return least, most


def _scattered(column: NDArray[np.float64], low: float, high: float, level: float) -> Interval:
    column = column[~np.isnan(column)]
    value = float(column.mean()) if column.size else nan
    if not isfinite(value) or column.size < FEWEST:
        return Interval(value, nan, nan)
    with np.errstate(over="ignore"):
        spread = float(column.std(ddof=1)) / sqrt(column.size)
    if not isfinite(spread) or spread <= ROUNDING * abs(value):
        return Interval(value, nan, nan)
    reach = student_quantile((1 + level) / 2, int(column.size) - 1) * spread
    return Interval(value, max(value - reach, low), min(value + reach, high))


def _require_within(column: NDArray[np.float64], low: Any, high: Any) -> None:
    slack = 1e-9 * max(abs(bound) for bound in (low, high, 1.0) if isfinite(bound))
    outside = (column < low - slack) | (column > high + slack)
    if outside.any():
        index = int(outside.argmax())
        got = f"{column[index]} at index {index}"
        raise InputError(f"numbers from {low:g} to {high:g}", got)

"""Resampling in closed form and by quadrature, for few events; nothing is drawn here.

With exponential weights the shares of the events are uniform on the simplex, and an added half
event takes a share that is Beta(1/2, m). Breaking the stick gives the shares as independent
variables, so that a grid of their quantiles stands for all resamples at once.
"""

from itertools import product
from math import isnan, nan, sqrt

import numpy as np
import scipy  # which loads its parts when they are used

LEVEL = 0.95


def scores_of(precision, recall, weights):
    """The weighted means of precision, where it is defined, and recall, and their F1, in loops."""
    top = bottom = 0.0
    for value, weight in zip(precision, weights, strict=True):
        if not isnan(value):
            top, bottom = top + weight * value, bottom + weight
    mean_precision = top / bottom if bottom else nan
    mean_recall = sum(w * r for w, r in zip(weights, recall, strict=True)) / sum(weights)
    if isnan(mean_precision):
        return nan, mean_recall, nan
    both = mean_precision + mean_recall
    return mean_precision, mean_recall, 2 * mean_precision * mean_recall / both if both else 0.0


def limits_by_quadrature(precision, recall, *, level=LEVEL, cells=60):
    """The limits of precision, recall and F1 for a handful of events."""
    lows = _added(precision, recall, 0.0, cells)
    highs = _added(precision, recall, 1.0, cells)
    return [
        (np.quantile(low, (1 - level) / 2), np.quantile(high, (1 + level) / 2))
        for low, high in zip(lows, highs, strict=True)
    ]


def _added(precision, recall, score, cells):
    """The scores with half an event of that score, over the grid."""
    m = len(recall)
    middles = (np.arange(cells) + 0.5) / cells
    extra = scipy.stats.beta(0.5, m).ppf((np.arange(8 * cells) + 0.5) / (8 * cells))
    sticks = [scipy.stats.beta(1, m - place - 1).ppf(middles) for place in range(m - 1)]
    found = []
    for parts in product(*sticks):
        left, shares = 1.0, []
        for part in parts:
            shares.append(left * part)
            left *= 1 - part
        shares.append(left)
        defined = sum(w for w, p in zip(shares, precision, strict=True) if not isnan(p))
        top = sum(w * p for w, p in zip(shares, precision, strict=True) if not isnan(p))
        means = sum(w * r for w, r in zip(shares, recall, strict=True))
        p = ((1 - extra) * top + extra * score) / ((1 - extra) * defined + extra)
        r = (1 - extra) * means + extra * score
        found.append((p, r, np.where(p + r > 0, 2 * p * r / np.where(p + r > 0, p + r, 1), 0.0)))
    return [np.concatenate(column) for column in zip(*found, strict=True)]


def limits_of_share(found, events, *, level=LEVEL):
    """The limits for events that are found (1) or not (0): quantiles of Beta distributions."""
    low = scipy.stats.beta(found, events - found + 0.5).ppf((1 - level) / 2) if found else 0.0
    missed = events - found
    high = scipy.stats.beta(found + 0.5, missed).ppf((1 + level) / 2) if missed else 1.0
    return low, high


def limits_of_lead(gap, spread, *, judged, differing, level=LEVEL, widest=1.0):
    """The limits of a difference and its p-value, from scipy's t and case by case."""
    error = sqrt(spread**2 + (0.1 * widest) ** 2 / judged)
    student = scipy.stats.t(judged - 1)
    pvalue = max(2 * student.sf(abs(gap) / error), 2 / 2 ** max(differing, 1))
    reach = student.ppf((1 + level) / 2) * error
    low, high = gap - reach, gap + reach
    unseen = 1 - (1 - level) ** (1 / (judged + 0.5))
    worst, best = (1 - unseen) * gap - unseen * widest, (1 - unseen) * gap + unseen * widest
    if pvalue >= 1 - level:
        low, high = min(low, worst, 0), max(high, best, 0)
    elif gap > 0:
        high = max(high, best)
    else:
        low = min(low, worst)
    return max(low, -widest), min(high, widest), min(pvalue, 1)


def paired_t(first, second, *, level=LEVEL):
    """The classical interval of the mean of differences, and its two-sided p-value."""
    gaps = np.asarray(first) - np.asarray(second)
    spread, freedom = gaps.std(ddof=1) / sqrt(gaps.size), gaps.size - 1
    reach = scipy.stats.t(freedom).ppf((1 + level) / 2) * spread
    mean = gaps.mean()
    return mean - reach, mean + reach, 2 * scipy.stats.t(freedom).sf(abs(mean) / spread)

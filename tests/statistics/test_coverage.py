"""How often intervals hold the true score, over simulated detectors with a known one.

Five hundred sets of events are drawn for each case. A true coverage of 95 % then shows as 92 % or
more all but once in 700 times (three standard errors of 1 %). Every case is seeded.
"""

from functools import cache
from math import sqrt

import numpy as np
import pytest

from closecall.statistics import Resamples

SETS = 500
LEVEL = 0.95
SLACK = 3 * sqrt(LEVEL * (1 - LEVEL) / SETS)


def good(random, shape):
    """One event in ten is missed, and the others are found well."""
    return simulated(random, shape, missed=0.1, precision=(9, 1), recall=(8, 1))


def middling(random, shape):
    return simulated(random, shape, missed=0.2, precision=(2, 1.5), recall=(1.5, 1.2))


def nearly_perfect(random, shape):
    """Misses are so rare that most small sets of events have none."""
    return simulated(random, shape, missed=0.03, precision=(20, 1), recall=(30, 1))


def all_or_nothing(random, shape):
    return simulated(random, shape, missed=0.4, precision=(9, 1), recall=(1e6, 1e-6))


def simulated(random, shape, *, missed, precision, recall):
    miss = random.random(shape) < missed
    return (
        np.where(miss, np.nan, random.beta(*precision, shape)),
        np.where(miss, 0.0, random.beta(*recall, shape)),
    )


def unit(value):
    return 1 / (1 + np.exp(-value))


DETECTORS = (good, middling, nearly_perfect, all_or_nothing)


def scores(precision, recall):
    p, r = np.nanmean(precision), recall.mean()
    return np.array([p, r, 2 * p * r / (p + r)])


@cache
def true_scores(detector):
    return scores(*detector(np.random.default_rng(0), (1_000_000,)))


def usable(precision, recall):
    """Leave out the sets in which fewer than two events have a precision."""
    known = np.count_nonzero(~np.isnan(precision), axis=1) >= 2
    return precision[known], recall[known]


def held(low, high, truth):
    return ((low <= truth[:, None]) & (truth[:, None] <= high)).mean(axis=1)


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("events", [3, 5, 10, 35, 100])
def test_intervals_of_scores(detector, events):
    random = np.random.default_rng(events)
    truth = true_scores(detector)
    # Each set stands for a detector, so that all share the weights.
    sets = usable(*detector(random, (SETS, events)))
    resamples = Resamples.draw(*sets, n=1000, seed=1)
    low = np.quantile(resamples.drawn.worse, (1 - LEVEL) / 2, axis=2)
    high = np.quantile(resamples.drawn.better, (1 + LEVEL) / 2, axis=2)
    assert held(low, high, truth).min() >= LEVEL - SLACK


@pytest.mark.parametrize("detector", [good, nearly_perfect])
def test_the_plain_percentiles_would_not_do(detector):
    """Why half an event is added: without it, a recall of 95 % is held 4 to 7 times in ten."""
    random = np.random.default_rng(5)
    truth = true_scores(detector)
    resamples = Resamples.draw(*usable(*detector(random, (SETS, 5))), n=1000, seed=1)
    low, high = np.quantile(resamples.drawn.plain, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=2)
    assert held(low, high, truth)[1] < 0.75


@pytest.mark.parametrize("series", [5, 10, 30])
@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
def test_intervals_over_series(series, alike):
    """Six events each, more or less alike within a series."""
    random = np.random.default_rng(series)

    def drawn(count):
        sizes = 1 + random.poisson(5, count)
        places = np.repeat(np.arange(count), sizes)
        common = random.normal(size=count)[places]
        own = random.normal(size=(3, places.size))
        p, r, luck = np.sqrt(alike) * common + np.sqrt(1 - alike) * own
        missed = luck < -1.3
        precision = np.where(missed, np.nan, unit(1.5 * p + 2))
        return precision, np.where(missed, 0.0, unit(1.5 * r + 1.5)), places

    truth = scores(*drawn(200_000)[:2])
    held_count, as_events = np.zeros(3), np.zeros(3)
    sets = 250
    for seed in range(sets):
        precision, recall, places = drawn(series)
        for counts, groups in ((held_count, places), (as_events, None)):
            resamples = Resamples.draw([precision], [recall], groups, n=300, seed=seed)
            low = np.quantile(resamples.drawn.worse[:, 0], (1 - LEVEL) / 2, axis=1)
            high = np.quantile(resamples.drawn.better[:, 0], (1 + LEVEL) / 2, axis=1)
            counts[:] += (low <= truth) & (truth <= high)
    assert (held_count / sets).min() >= LEVEL - SLACK * sqrt(SETS / sets)
    if alike == 0.9:
        assert (as_events / sets).min() < 0.8  # as if they were independent


@pytest.mark.parametrize(("series", "tied"), [(10, False), (30, False), (30, True), (100, True)])
def test_intervals_over_series_of_very_different_sizes(series, tied):
    """One series in ten has most of the events; one in ten is hard: another one, or just that."""
    random = np.random.default_rng(series)

    def drawn(count):
        sizes = random.choice([1, 2, 3, 40], count, p=[0.3, 0.3, 0.3, 0.1])
        places = np.repeat(np.arange(count), sizes)
        hard = sizes > 3 if tied else random.random(count) < 0.1
        common = random.beta(*np.where(hard, [[2.0], [3.0]], [[4.25], [0.75]]))
        scores = np.clip(common[places] + random.normal(0, 0.05, (2, places.size)), 0, 1)
        return *scores, places

    truth = scores(*drawn(200_000)[:2])
    held_count = np.zeros(3)
    sets = 250
    for seed in range(sets):
        precision, recall, places = drawn(series)
        made = Resamples.draw([precision], [recall], places, n=300, seed=seed).intervals(0, LEVEL)
        limits = np.array([(one.low, one.high) for one in (made.precision, made.recall, made.f1)])
        held_count += (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    assert (held_count / sets).min() >= LEVEL - SLACK * sqrt(SETS / sets)

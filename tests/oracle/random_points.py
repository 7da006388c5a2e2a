"""What random points reach, by exact fractions, fine grids and draws; no closed form is used.

Nothing here comes from the package under test. Scores follow the definitions: a survival value is
the share of the zone that is at least as far away, and a recall is a mean over times of the event.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float]
Exact = tuple[Fraction, Fraction]


def precision_at(x: Floats, event: Interval, zone: Interval) -> Floats:
    """Measure the part of the zone that is at least as far from the event as x is."""
    (a, b), (low, high) = event, zone
    distance = np.maximum(np.maximum(a - x, x - b), 0)
    farther = np.maximum(a - distance - low, 0) + np.maximum(high - b - distance, 0)
    return np.where((a <= x) & (x < b), 1.0, farther / (high - low))


def recall_of(points: Floats, event: Interval, zone: Interval, *, grid: int) -> Floats:
    """Average over times of the event; the last axis of the points is one prediction."""
    (a, b), (low, high) = event, zone
    total = np.zeros(points.shape[:-1])
    times = a + (b - a) * (np.arange(grid) + 0.5) / grid if a < b else np.array([a])
    for y in times:
        distance = np.abs(points - y).min(axis=-1)
        farther = np.maximum(y - distance - low, 0) + np.maximum(high - y - distance, 0)
        total += farther / (high - low)
    return total / times.size


def on_grid(event: Interval, zone: Interval, *, places: int, times: int) -> tuple[Floats, Floats]:
    """Give precision and recall of one point at evenly spaced places of the zone."""
    low, high = zone
    x = low + (high - low) * (np.arange(places) + 0.5) / places
    return precision_at(x, event, zone), recall_of(x[:, None], event, zone, grid=times)


def exact_recall(x: Fraction, event: Exact, zone: Exact) -> Fraction:
    """Integrate the survival values over the event: they are straight between these times."""
    (a, b), (low, high) = event, zone

    def survival(y: Fraction) -> Fraction:
        distance = abs(x - y)
        farther = max(y - distance - low, Fraction(0)) + max(high - y - distance, Fraction(0))
        return farther / (high - low)

    if a == b:
        return survival(a)
    bends = {a, b, x, (x + low) / 2, (x + high) / 2}
    times = sorted(y for y in bends if a <= y <= b)
    area = sum((survival(s) + survival(t)) / 2 * (t - s) for s, t in pairwise(times))
    return Fraction(area) / (b - a)


def exact_recall_moments(event: Exact, zone: Exact) -> tuple[Fraction, Fraction]:
    """Integrate recall and its square over the zone, by Boole's rule between the bends."""
    low, high = zone
    bends = {low, high} | {place for end in event for place in (end, 2 * end - low, 2 * end - high)}
    places = sorted(x for x in bends if low <= x <= high)

    mean = square = Fraction(0)
    for s, t in pairwise(places):
        step = (t - s) / 4
        values = [exact_recall(s + i * step, event, zone) for i in range(5)]
        for weight, value in zip((7, 32, 12, 32, 7), values, strict=True):
            share = weight * (t - s) / (90 * (high - low))
            mean += share * value
            square += share * value**2
    return mean, square - mean**2


def random_detectors(
    truth: Sequence[Interval],
    span: Interval,
    alarms: int,
    *,
    draws: int,
    generator: np.random.Generator,
    grid: int = 60,
) -> tuple[Floats, Floats]:
    """Score random points in each zone: precision (nan without points) and recall, by draw."""
    middles = [(left[1] + right[0]) / 2 for left, right in pairwise(truth)]
    zones = list(pairwise([span[0], *middles, span[1]]))
    points = generator.uniform(*span, (draws, alarms))
    precision, recall = np.full((draws, len(truth)), np.nan), np.zeros((draws, len(truth)))
    for j, (event, zone) in enumerate(zip(truth, zones, strict=True)):
        inside = (zone[0] <= points) & (points < zone[1])
        hit = inside.any(axis=1)
        own = np.where(inside, precision_at(points, event, zone), 0.0)
        precision[hit, j] = (own.sum(axis=1) / np.maximum(inside.sum(axis=1), 1))[hit]
        # Far away is as good as absent: the nearest point is always another one.
        near = np.where(inside, points, 1e9)
        recall[hit, j] = recall_of(near, event, zone, grid=grid)[hit]
    return precision, recall


def averages(precision: Floats, recall: Floats) -> tuple[Floats, Floats, Floats]:
    """Average over zones as the metric does, and give F1 with them."""
    p, r = np.nanmean(precision, axis=1), recall.mean(axis=1)
    return p, r, 2 * p * r / (p + r)

"""Affiliation metrics by brute force, straight from the definitions.

Nothing here comes from the package under test, and nothing uses a closed form: a distance is a
minimum over sets, a survival value is a measured share of the zone, and every mean over a range is
an adaptive quadrature that is told nothing about where the integrand bends or jumps. Only the
geometry (zone borders, pieces) is exact: it is done in fractions, so any integer or float will do.
A zone that looks like one before it, counted from its start, is not integrated again.

A point is the limit of [t, t + e): it belongs to the zone it starts in, and inside a half-open
event means a <= t < b. A zone without length can only hold its own event, so it is hit or missed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import groupby, pairwise
from math import inf, isnan, nan

import numpy as np
from numpy.typing import NDArray

Number = int | float | Fraction
Interval = tuple[Number, Number]
Exact = tuple[Fraction, Fraction]
Floats = NDArray[np.float64]

PANELS = 128  # features narrower than about a thousandth of an integral's range may go unseen
LOOKS = np.array([0.0, 0.11, 0.23, 0.38, 0.52, 0.64, 0.79, 0.9, 1.0])  # uneven: nothing to resonate
PARTS, ROUNDS = 8, 20  # a panel with a bend is cut into so many, so often
MOST_PANELS = 100_000
TOLERANCE = 1e-14  # of the whole integral, for each panel


@dataclass(frozen=True)
class Row:
    """What is defined for one true event."""

    zone_start: Fraction
    zone_stop: Fraction
    precision: float
    recall: float
    precision_distance: float
    recall_distance: float
    early: float
    late: float
    predicted_count: int
    predicted_duration: float


@dataclass(frozen=True)
class Result:
    """The two averages and what they are averages of."""

    precision: float
    recall: float
    rows: list[Row]


def evaluate(truth: Sequence[Interval], predicted: Sequence[Interval], span: Interval) -> Result:
    """Score `predicted` against `truth` on `span`; all intervals sorted and disjoint."""
    true_events = [_exact(event) for event in truth]
    predictions = [_exact(event) for event in predicted]
    zones = zones_of(true_events, _exact(span))
    rows = []
    for index, (event, zone) in enumerate(zip(true_events, zones, strict=True)):
        pieces = _pieces(predictions, zone, is_last=index == len(zones) - 1)
        rows.append(_row(event, zone, pieces))
    defined = [row.precision for row in rows if not isnan(row.precision)]
    return Result(
        precision=sum(defined) / len(defined) if defined else nan,
        recall=sum(row.recall for row in rows) / len(rows),
        rows=rows,
    )


def zones_of(truth: Sequence[Exact], span: Exact) -> list[Exact]:
    """Cut the span where the next true event becomes the closer one."""
    middles = [(left[1] + right[0]) / 2 for left, right in pairwise(truth)]
    return list(pairwise([span[0], *middles, span[1]]))


def events_of_labels(
    labels: Sequence[int], times: Sequence[Number], end: Number
) -> list[tuple[Number, Number]]:
    """Return the runs of positive samples; sample i is [times[i], times[i + 1]), or up to end."""
    borders = [*times, end]
    runs = groupby(range(len(labels)), key=lambda index: labels[index])
    positive = [list(indices) for label, indices in runs if label == 1]
    return [(borders[run[0]], borders[run[-1] + 1]) for run in positive]


def _exact(interval: Interval) -> Exact:
    return Fraction(interval[0]), Fraction(interval[1])


def _pieces(predictions: Sequence[Exact], zone: Exact, *, is_last: bool) -> list[Exact]:
    """Return what of the predictions lies in the zone."""
    pieces = []
    for start, stop in predictions:
        if start == stop:
            if zone[0] <= start < zone[1] or (is_last and start == zone[1]):
                pieces.append((start, stop))
        elif max(start, zone[0]) < min(stop, zone[1]):
            pieces.append((max(start, zone[0]), min(stop, zone[1])))
    return pieces


def _row(event: Exact, zone: Exact, pieces: list[Exact]) -> Row:
    origin = zone[0]
    a, b = event[0] - origin, event[1] - origin
    inside = tuple((start - origin, stop - origin) for start, stop in pieces)
    precision, early, late = _precision((a, b), zone[1] - origin, inside)
    recall, recall_distance = _recall((a, b), zone[1] - origin, inside)
    return Row(
        zone_start=zone[0],
        zone_stop=zone[1],
        precision=precision,
        recall=recall,
        precision_distance=early + late,
        recall_distance=recall_distance,
        early=early,
        late=late,
        predicted_count=len(pieces),
        predicted_duration=float(sum(stop - start for start, stop in pieces)),
    )


@cache
def _precision(
    event: Exact, zone: Fraction, pieces: tuple[Exact, ...]
) -> tuple[float, float, float]:
    """Return the mean survival value and the mean distance before and after the event."""
    if not pieces:
        return nan, nan, nan
    a, b, length = (float(value) for value in (*event, zone))

    def integrand(x: Floats) -> Floats:
        inside = (a <= x) & (x < b)
        distance = np.where(inside, 0.0, np.minimum(np.abs(x - a), np.abs(x - b)))
        survival = np.where(inside, 1.0, _survival_precision(distance, a, b, length))
        return np.stack([survival, distance * (x < a), distance * (x >= b)])

    ranges = [piece for piece in pieces if piece[0] < piece[1]]
    if ranges:
        size = [1.0, length, length]
        parts = [_integral(integrand, _floats(piece), size) for piece in ranges]
        means = np.sum(parts, axis=0) / float(sum(stop - start for start, stop in ranges))
    else:
        points = np.array([float(start) for start, _ in pieces])
        means = integrand(points).mean(axis=1)
    return float(means[0]), float(means[1]), float(means[2])


@cache
def _recall(event: Exact, zone: Fraction, pieces: tuple[Exact, ...]) -> tuple[float, float]:
    """Return the mean survival value and the mean distance to the predictions."""
    if not pieces:
        return 0.0, inf
    length = float(zone)
    borders = np.array([_floats(piece) for piece in pieces])
    starts, stops = borders[:, :1], borders[:, 1:]

    def integrand(y: Floats) -> Floats:
        covered = (starts <= y) & (y <= stops)
        to_each = np.where(covered, 0.0, np.minimum(np.abs(y - starts), np.abs(y - stops)))
        distance = to_each.min(axis=0)
        return np.stack([_survival_recall(distance, y, length), distance])

    if event[0] < event[1]:
        total = _integral(integrand, _floats(event), [1.0, length])
        means = total / float(event[1] - event[0])
    else:
        means = integrand(np.array([float(event[0])]))[:, 0]
    return float(means[0]), float(means[1])


def _floats(interval: Exact) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


def _survival_precision(distance: Floats, a: float, b: float, length: float) -> Floats:
    """Measure the points of [0, length) that are at least this far outside [a, b)."""
    return _share(a - distance, length - (b + distance), length)


def _survival_recall(distance: Floats, y: Floats, length: float) -> Floats:
    """Measure the points of [0, length) that are at least this far from y."""
    return _share(y - distance, length - (y + distance), length)


def _share(left: Floats, right: Floats, length: float) -> Floats:
    """Divide what is left on both sides by the whole; a zone without length is all hit."""
    if length == 0:
        return np.ones_like(left)
    return (np.maximum(left, 0.0) + np.maximum(right, 0.0)) / length


def _integral(
    f: Callable[[Floats], Floats], interval: tuple[float, float], size: list[float]
) -> Floats:
    """Integrate each component of f, cutting every panel on which f is seen not to be straight.

    `size` is how large each component can become, for rounding not to pass for a bend.
    """
    start, stop = interval
    borders = np.linspace(start, stop, PANELS + 1)
    left, right = borders[:-1], borders[1:]
    allowed = TOLERANCE * (stop - start) * np.array(size)[:, None]
    total = np.zeros(len(size))
    for turn in range(ROUNDS + 1):
        width = right - left
        x = left[:, None] + width[:, None] * LOOKS
        values = f(x.ravel()).reshape(len(size), *x.shape)
        first, last = values[:, :, :1], values[:, :, -1:]
        area = (first + last)[:, :, 0] / 2 * width
        bend = np.abs(values - (first + (last - first) * LOOKS)).max(axis=2) * width
        settled = (bend <= allowed).all(axis=0) | (turn == ROUNDS)
        total += area[:, settled].sum(axis=1)
        left, right = left[~settled], right[~settled]
        if not len(left):
            break
        borders = np.linspace(left, right, PARTS + 1)
        left, right = borders[:-1].ravel(), borders[1:].ravel()
        if len(left) > MOST_PANELS:
            raise ArithmeticError(f"Expected few bends between {start} and {stop}, got {len(left)}")
    return total

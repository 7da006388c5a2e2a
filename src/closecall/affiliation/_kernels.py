"""Compiled walks over events; plain arrays and scalars in and out, nothing is checked here.

Legend, after appendix A of the paper: zone [A, B), its true event [a, b), m the shorter distance
from the event to a border of its zone, d a distance. Times come in ticks and are turned into half
ticks from an origin, in the caller's own integer or float type, so differences are exact.

Scores are found through what is lost: 1 minus the survival function, integrated. Nothing is lost
inside the event or inside a prediction, so perfect scores are exactly 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Rows of the array that `score_zones` fills, one column for each true event.
PRECISION, RECALL, PRECISION_DISTANCE, RECALL_DISTANCE, EARLY, LATE, DELAY, DURATION = range(8)
ROWS = 8


@njit(cache=True, nogil=True)
def ramp(d0, d1, cap):
    """Integrate min(d, cap) from d0 to d1."""
    low, high = min(d0, cap), min(d1, cap)
    return 0.5 * (high - low) * (high + low) + cap * (max(d1, cap) - max(d0, cap))


@njit(cache=True, nogil=True)
def outside(d0, d1, event, m):
    """Integrate |gt| + min(d, m) + d, the loss of precision at distance d, and d itself."""
    distance = 0.5 * (d1 - d0) * (d1 + d0)
    return event * (d1 - d0) + ramp(d0, d1, m) + distance, distance


@njit(cache=True, nogil=True)
def beside(d0, d1, room):
    """Integrate min(d, m_y) + d, the loss of recall at distance d from a pivot, and d itself.

    With the pivot's distance to the far border called room, m_y = min(d, room - d) wherever it
    matters, and min(d, room - d) + d = 2 min(d, room / 2).
    """
    return 2.0 * ramp(d0, d1, 0.5 * room), 0.5 * (d1 - d0) * (d1 + d0)


@njit(cache=True, nogil=True)
def gap(a, b, left, right, A, B):
    """Integrate the loss of recall over the event's part in a gap between two predictions."""
    low, high = max(a, left), min(b, right)
    if low >= high:
        return 0.0, 0.0
    half = 0.5 * np.float64(right - left)
    loss_left, distance_left = beside(
        min(np.float64(low - left), half),
        min(np.float64(high - left), half),
        np.float64(B - left),
    )
    loss_right, distance_right = beside(
        min(np.float64(right - high), half),
        min(np.float64(right - low), half),
        np.float64(right - A),
    )
    return loss_left + loss_right, distance_left + distance_right


@njit(cache=True, nogil=True)
def before_first(a, b, first, A):
    """Integrate the loss of recall over the event's part before the first prediction."""
    if first <= a:
        return 0.0, 0.0
    return beside(np.float64(first - min(b, first)), np.float64(first - a), np.float64(first - A))


@njit(cache=True, nogil=True)
def after_last(a, b, last, B):
    """Integrate the loss of recall over the event's part after the last prediction."""
    if last >= b:
        return 0.0, 0.0
    return beside(np.float64(max(a, last) - last), np.float64(b - last), np.float64(B - last))


@njit(cache=True, nogil=True)
def piece_losses(a, b, start, stop, m):
    """Give the loss of precision of a predicted piece, and its distances before and after.

    A range is integrated; a point, the limit of a short range that starts there, is evaluated.
    """
    event = np.float64(b - a)
    loss, early, late = 0.0, 0.0, 0.0
    if start == stop:
        if start < a:
            early = np.float64(a - start)
            loss = event + min(early, m) + early
        elif start >= b:
            late = np.float64(start - b)
            loss = event + min(late, m) + late
        return loss, early, late
    if start < a:
        loss, early = outside(
            np.float64(a - min(stop, a)), np.float64(a - start), event, m
        )
    if stop > b:
        loss_late, late = outside(
            np.float64(max(start, b) - b), np.float64(stop - b), event, m
        )
        loss += loss_late
    return loss, early, late


@njit(cache=True, nogil=True)
def score_zone(starts, stops, k, origin, a, b, A, B, last, row):
    """Score one zone from prediction k on; return where the next zone begins, and the count."""
    event, zone = np.float64(b - a), np.float64(B - A)
    m = np.float64(min(a - A, B - b))
    count, length = 0, 0.0
    range_loss, range_early, range_late = 0.0, 0.0, 0.0
    point_loss, point_early, point_late = 0.0, 0.0, 0.0
    recall_loss, recall_distance, nearest = 0.0, 0.0, np.inf
    previous = A
    while k < starts.size:
        start, whole_stop = 2 * (starts[k] - origin), 2 * (stops[k] - origin)
        if start > B or (start == B and not last):
            break
        start, stop = max(start, A), min(whole_stop, B)
        if count == 0:
            row[DELAY] = 0.5 * np.float64(start - a)
            lost, distance = before_first(a, b, start, A)
        else:
            lost, distance = gap(a, b, previous, start, A, B)
        recall_loss += lost
        recall_distance += distance
        nearest = min(nearest, np.float64(max(start - a, a - stop, A - A)))
        lost, early, late = piece_losses(a, b, start, stop, m)
        if start == stop:
            point_loss, point_early, point_late = (
                point_loss + lost, point_early + early, point_late + late
            )
        else:
            length += np.float64(stop - start)
            range_loss, range_early, range_late = (
                range_loss + lost, range_early + early, range_late + late
            )
        count += 1
        previous = stop
        if whole_stop > B:
            break
        k += 1
    row[DURATION] = 0.5 * length
    if count == 0:
        row[PRECISION], row[PRECISION_DISTANCE], row[EARLY] = np.nan, np.nan, np.nan
        row[LATE], row[DELAY] = np.nan, np.nan
        row[RECALL], row[RECALL_DISTANCE] = 0.0, np.inf
        return k, count
    # Points weigh nothing beside a range.
    weight = length if length > 0 else np.float64(count)
    loss, early, late = (
        (range_loss, range_early, range_late)
        if length > 0
        else (point_loss, point_early, point_late)
    )
    row[EARLY], row[LATE] = 0.5 * early / weight, 0.5 * late / weight
    row[PRECISION_DISTANCE] = 0.5 * (early + late) / weight
    row[PRECISION] = max(0.0, 1.0 - loss / (zone * weight)) if zone > 0 else 1.0
    if event > 0:
        lost, distance = after_last(a, b, previous, B)
        row[RECALL] = max(0.0, 1.0 - (recall_loss + lost) / (zone * event))
        row[RECALL_DISTANCE] = 0.5 * (recall_distance + distance) / event
    else:
        lost = min(nearest, m) + nearest
        row[RECALL] = max(0.0, 1.0 - lost / zone) if zone > 0 else 1.0
        row[RECALL_DISTANCE] = 0.5 * nearest
    return k, count


@njit(cache=True, nogil=True)
def score_zones(true_starts, true_stops, starts, stops, origin, borders, table, counts):
    """Score every zone in one pass; return the sum and count of precisions and sum of recalls."""
    n = true_starts.size
    precision_sum, defined, recall_sum, k = 0.0, 0, 0.0, 0
    for j in range(n):
        A = borders[j]
        # A range that stops at the border, or a point before it, belongs to the zone before.
        while (
            k < starts.size
            and 2 * (stops[k] - origin) <= A
            and 2 * (starts[k] - origin) < A
        ):
            k += 1
        k, counts[j] = score_zone(
            starts,
            stops,
            k,
            origin,
            2 * (true_starts[j] - origin),
            2 * (true_stops[j] - origin),
            A,
            borders[j + 1],
            j == n - 1,
            table[j],
        )
        recall_sum += table[j, RECALL]
        if counts[j] > 0:
            precision_sum += table[j, PRECISION]
            defined += 1
    return precision_sum, defined, recall_sum

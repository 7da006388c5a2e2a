"""Kernels that shift alarms or events around the span, or roll scores; nothing is checked here.

Times are in half ticks from an origin, as zone borders are, so that the span is [first, after).
Legend: zone [A, B), its true event [a, b), m the shorter distance from the event to a border.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation._kernels import (
    after_last,
    before_first,
    between,
    point_losses,
    range_losses,
)
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

    Alarms = tuple[Ticks, Ticks, NDArray[np.float64]]  # starts, stops and prefix sums
    Zone = tuple[Tick, Tick, Tick, Tick]  # a, b, A, B

# What is known of the shifts in which a score of an event is defined; squares and sums of what
# they are away from the first of them, which needs no division and loses no digits.
OBSERVED, DRAWS, AT_LEAST, FIRST, SUM, SQUARES = range(6)
SHIFT_COLUMNS = 6
_INSIDE = 2  # the part of a zone that is the event
TOLERANCE = 1e-12  # scores this close are equal: rounding depends on where an alarm is cut


@kernel
def harmonic_mean(precision: float, recall: float) -> float:
    """Return F1 as `f_measure` does, to the last bit."""
    total = 0.5 * recall + 0.5 * precision
    if not total > 0:
        return total
    return min(precision * recall / total, max(precision, recall))


@kernel
def add_value(row: NDArray[np.float64], value: float) -> None:
    """Count one more shift of an event."""
    if row[DRAWS] == 0:
        row[FIRST] = value
    away = value - row[FIRST]
    row[DRAWS] += 1
    row[SUM] += away
    row[SQUARES] += away * away
    if value >= row[OBSERVED] - TOLERANCE:
        row[AT_LEAST] += 1


@kernel
def first_beyond(ends: Ticks, k: int, limit: Tick, at: bool) -> int:
    """Return the first alarm that starts or stops after the limit, or `at` it, from the k-th on.

    The steps double and are halved again: O(log d) for one that is d alarms away.
    """
    step, growing = 1, True
    while step > 0:
        end = k + step - 1
        if end < len(ends) and (ends[end] < limit or (ends[end] == limit and not at)):
            k += step
        else:
            growing = False
        step = 2 * step if growing else step // 2
    return k


@kernel
def lengths_and_moments(alarms: Alarms, k: int, end: int, pivot: float) -> tuple[float, float]:
    """Sum lengths of the alarms k, ..., end - 1, and lengths times distances from the pivot."""
    starts, stops, sums = alarms
    covered, moment = 0.0, 0.0
    if len(sums) > 0:
        covered = sums[end, 0] - sums[k, 0]
        return covered, sums[end, 1] - sums[k, 1] - pivot * covered
    for n in range(k, end):
        length = np.float64(stops[n] - starts[n])
        covered += length
        moment += length * (0.5 * np.float64(starts[n] + stops[n]) - pivot)
    return covered, moment


@kernel
def precision_losses(alarms: Alarms, k: int, end: int, zone: Zone) -> tuple[float, float]:
    """Return the length of the alarms k, ..., end - 1 in a zone, and the loss over them.

    The loss is linear in each of five parts of the zone, so over an alarm in one part it is the
    alarm's length times the loss in its middle: prefix sums (or, without any, a loop) know it for
    all of them at once. Only alarms across a border of two parts are integrated alone.
    """
    (starts, stops, _), (a, b, A, B) = alarms, zone
    near = min(a - A, B - b)
    m, event = np.float64(near), np.float64(b - a)
    parts = (max(A, a - near), a, b, min(b + near, B), B)
    length, loss, low = 0.0, 0.0, A
    for part in range(5):
        high = parts[part]
        if high <= low:
            continue
        if k < end and starts[k] < low:  # what is left of an alarm
            stop = min(stops[k], high)
            length += np.float64(stop - low)
            loss += range_losses(a, b, low, stop, m)[0]
            if stops[k] > high:
                low = high
                continue
            k += 1
        whole = min(first_beyond(stops, k, high, False), end)
        if whole > k:
            pivot = np.float64(a if part < _INSIDE else b)
            covered, moment = lengths_and_moments(alarms, k, whole, pivot)
            length += covered
            if part in (0, 4):
                loss += (event + m) * covered + abs(moment)
            elif part != _INSIDE:
                loss += event * covered + 2.0 * abs(moment)
            k = whole
        low = high
        if k < end and starts[k] < high:
            length += np.float64(high - starts[k])
            loss += range_losses(a, b, starts[k], high, m)[0]
    return length, loss


@kernel
def score_zone(alarms: Alarms, k: int, end: int, zone: Zone) -> tuple[float, float]:
    """Return precision and recall of a zone in which the alarms k, ..., end - 1 lie or reach.

    They are those of `score_zones`, but of all alarms only those are looked at that are cut or
    beside the event.
    """
    (starts, stops, _), (a, b, A, B) = alarms, zone
    length = np.float64(B - A)
    if length == 0:
        return 1.0, 1.0
    weight, loss = precision_losses(alarms, k, end, zone)
    if weight == 0:  # points count only where there is no range
        weight = np.float64(end - k)
        for n in range(k, end):
            loss += point_losses(a, b, starts[n], np.float64(min(a - A, B - b)))[0]
    lost = before_first(a, b, max(starts[k], A), A)[0]
    n = max(first_beyond(starts, k, a, True), k + 1)
    while n < end and stops[n - 1] <= b:
        lost += between(a, b, stops[n - 1], starts[n])[0]
        n += 1
    lost += after_last(a, b, min(stops[end - 1], B), B)[0]
    event = np.float64(b - a) if a < b else 1.0  # a true point is evaluated, not integrated
    return max(0.0, 1.0 - loss / (length * weight)), max(0.0, 1.0 - lost / (length * event))


@kernel
def is_caught(alarms: Alarms, k: int, end: int, a: Tick, b: Tick) -> bool:
    """Return whether one of the alarms k, ..., end - 1 overlaps an event, as in `overlaps`."""
    starts, stops, _ = alarms
    n = first_beyond(starts, k, a, True)
    if n > k and stops[n - 1] > a:
        return True
    return n < end and (starts[n] < b or starts[n] == a)


@kernel
def score_move(
    truth: tuple[Ticks, Ticks, Ticks],
    alarms: Alarms,
    seams: tuple[Tick, Tick],
    length: Tick,
    observed: bool,
    zero_division: float,
    events: NDArray[np.float64],
) -> tuple[float, float, float, float]:
    """Return precision, recall, F1 and the events caught in one move, and add to the events.

    `truth` has starts, stops and borders between them. Events and alarms are there twice, once a
    span later, so that nothing wraps; the span of each side begins at its seam.
    """
    (true_starts, true_stops, borders), (starts, stops, _) = truth, alarms
    zones = len(true_starts) // 2
    true_seam, seam = seams
    precision_sum, defined, recall_sum, caught = 0.0, 0, 0.0, 0.0
    first = first_beyond(true_starts, 0, true_seam, True)
    by = seam - true_seam
    k = first_beyond(starts, 0, seam, True)
    if k > 0 and stops[k - 1] > seam:
        k -= 1
    for j in range(first, first + zones):
        A = borders[j] + by if j > first else seam
        B = borders[j + 1] + by if j + 1 < first + zones else seam + length
        end = first_beyond(starts, k, B, True)
        if seam == 0 and j + 1 == first + zones:
            end = len(starts) // 2  # a point at the end stays there unless it is moved
        precision, recall, f1 = np.nan, 0.0, np.nan
        if k < end:
            zone = (true_starts[j] + by, true_stops[j] + by, A, B)
            precision, recall = score_zone(alarms, k, end, zone)
            if is_caught(alarms, k, end, zone[0], zone[1]):
                caught += 1.0
            f1 = harmonic_mean(precision, recall)
            precision_sum += precision
            recall_sum += recall
            defined += 1
            k = end - 1 if stops[end - 1] > B else end
        if len(events) == 0:
            continue
        event = events[j % zones]
        if observed:
            event[0, OBSERVED] = precision
            event[1, OBSERVED] = recall
            event[2, OBSERVED] = f1
            continue
        add_value(event[1], recall)
        if f1 >= 0:
            add_value(event[0], precision)
            add_value(event[2], f1)
    if not np.isnan(zero_division):
        precision = (precision_sum + zero_division * (zones - defined)) / zones
    else:
        precision = precision_sum / defined if defined > 0 else np.nan
    recall = recall_sum / zones
    return precision, recall, harmonic_mean(precision, recall), caught


def move_elements(*arguments: Any) -> int:
    """Count what `score_moves` goes through: every move takes about 20 steps in each zone."""
    true_starts, *_, (first, after, _), _, _, _ = arguments
    zones: int = len(true_starts) // 2 * (after - first)
    return 20 * zones


@kernel(elements=move_elements)
def score_moves(
    true_starts: Ticks,
    true_stops: Ticks,
    borders: Ticks,
    starts: Ticks,
    stops: Ticks,
    sums: NDArray[np.float64],
    seams: Ticks,
    length: Tick,
    part: tuple[int, int, int],
    zero_division: float,
    scores: NDArray[np.float64],
    events: NDArray[np.float64],
) -> None:
    """Fill in precision, recall, F1 and events caught (rows) for a part of the moves.

    `part` is the first move, the one after the last, and the first that moves the events instead of
    the alarms. `seams` has a row for the events and one for the alarms. The first move of all, 0
    and 0, is what was observed. `events` has two sets, for the moves of alarms and of events; they
    have no rows if nobody asks.
    """
    truth, alarms = (true_starts, true_stops, borders), (starts, stops, sums)
    for number in range(part[0], part[1]):
        move = (seams[0, number], seams[1, number])
        side = 0 if number < part[2] else 1
        scores[0, number], scores[1, number], scores[2, number], scores[3, number] = score_move(
            truth, alarms, move, length, number == 0, zero_division, events[side]
        )
        if number == 0:
            events[1, :, :, OBSERVED] = events[0, :, :, OBSERVED]


@kernel
def roll_pieces(
    scores: NDArray[Any],
    order: NDArray[np.int64],
    shift: int,
    owners: NDArray[np.int64],
    firsts: NDArray[np.int64],
    rolled_scores: NDArray[Any],
    rolled_order: NDArray[np.int64],
) -> None:
    """Roll the scores of samples on to pieces, and the samples' order on to an order of pieces.

    Piece p is part of sample owners[p]; sample i has the pieces firsts[i], ..., firsts[i + 1] - 1.
    """
    length = len(scores)
    for piece in range(len(owners)):
        source = owners[piece] - shift
        rolled_scores[piece] = scores[source if source >= 0 else source + length]
    written = 0
    for rank in range(length):
        sample = order[rank] + shift
        if sample >= length:
            sample -= length
        for piece in range(firsts[sample], firsts[sample + 1]):
            rolled_order[written] = piece
            written += 1


@kernel
def curve_scores(
    precision: NDArray[np.float64], recall: NDArray[np.float64]
) -> tuple[float, float]:
    """Return average precision and the best F1 of a curve, without any new array."""
    total, before, best = 0.0, 0.0, 0.0
    for k in range(len(recall)):
        total += (recall[k] - before) * precision[k]
        before = recall[k]
        best = max(best, harmonic_mean(precision[k], recall[k]))
    return total, best

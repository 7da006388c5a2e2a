"""Kernels that shift alarms around the span, or roll scores; nothing is checked here.

Times are in ticks from an origin, so that the span is [first, after) and borders are twice that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation._kernels import (
    COLUMNS,
    PRECISION,
    RECALL,
    cut_at_borders,
    score_zones,
)
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

# What is known of the shifts in which a score of an event is defined.
DRAWS, AT_LEAST, MEAN, SQUARES = range(4)
SHIFT_COLUMNS = 4
TOLERANCE = 1e-12  # scores this close are equal: rounding depends on where an alarm is cut


@kernel
def shift_intervals(
    starts: Ticks,
    stops: Ticks,
    shift: Tick,
    first: Tick,
    after: Tick,
    shifted_starts: Ticks,
    shifted_stops: Ticks,
) -> int:
    """Shift intervals around the span, cut the one that wraps, and give how many there are then.

    What starts at the span's end is taken to start at its beginning, unless nothing is shifted.
    """
    count, length = len(starts), after - first
    if shift == 0:
        shifted_starts[:count], shifted_stops[:count] = starts, stops
        return count
    seam = count
    while seam > 0 and starts[seam - 1] + shift >= after:
        seam -= 1
    written = 0
    if seam > 0 and stops[seam - 1] + shift > after:
        shifted_starts[0], shifted_stops[0] = first, stops[seam - 1] + shift - length
        written = 1
    for k in range(seam, count):  # rounding of floats alone could leave the span
        shifted_starts[written] = max(first, starts[k] + shift - length)
        shifted_stops[written] = max(first, stops[k] + shift - length)
        written += 1
    for k in range(seam):
        shifted_starts[written] = starts[k] + shift
        shifted_stops[written] = min(after, stops[k] + shift)
        written += 1
    return written


@kernel
def harmonic_mean(precision: float, recall: float) -> float:
    """Return F1 as `f_measure` does, to the last bit."""
    total = 0.5 * recall + 0.5 * precision
    if not total > 0:
        return total
    return min(precision * recall / total, max(precision, recall))


@kernel
def add_value(row: NDArray[np.float64], value: float, observed: float) -> None:
    """Count one more shift of an event: mean and squares by Welford's rule."""
    row[DRAWS] += 1
    if value >= observed - TOLERANCE:
        row[AT_LEAST] += 1
    away = value - row[MEAN]
    row[MEAN] += away / row[DRAWS]
    row[SQUARES] += away * (value - row[MEAN])


@kernel
def score_shifts(
    true_starts: Ticks,
    true_stops: Ticks,
    starts: Ticks,
    stops: Ticks,
    first: Tick,
    after: Tick,
    borders: Ticks,
    shifts: Ticks,
    zero_division: float,
    observed: NDArray[np.float64],
    scores: NDArray[np.float64],
    events: NDArray[np.float64],
) -> None:
    """Fill in precision, recall and F1 (rows) of every shift, and add to what is at each event.

    `observed` has the three scores of each event, `events` the columns above for each of them.
    """
    zones, room = len(true_starts), len(starts) + 1
    shifted_starts, shifted_stops = (
        np.empty(room, dtype=starts.dtype),
        np.empty(room, dtype=stops.dtype),
    )
    pieces = np.empty((room + zones, 2), dtype=borders.dtype)
    offsets = np.empty(zones + 1, dtype=np.int64)
    table = np.empty((zones, COLUMNS))
    origin = first - first
    for k in range(len(shifts)):
        count = shift_intervals(
            starts, stops, shifts[k], first, after, shifted_starts, shifted_stops
        )
        cut_at_borders(
            shifted_starts[:count], shifted_stops[:count], origin, borders, pieces, offsets
        )
        precision_sum, defined, recall_sum = score_zones(
            true_starts, true_stops, origin, borders, pieces, offsets, table
        )
        if not np.isnan(zero_division):
            precision = (precision_sum + zero_division * (zones - defined)) / zones
        else:
            precision = precision_sum / defined if defined > 0 else np.nan
        recall = recall_sum / zones
        scores[0, k], scores[1, k] = precision, recall
        scores[2, k] = harmonic_mean(precision, recall)
        for j in range(zones):
            recall = table[j, RECALL]
            add_value(events[j, 1], recall, observed[j, 1])
            if offsets[j + 1] > offsets[j]:
                precision = table[j, PRECISION]
                add_value(events[j, 0], precision, observed[j, 0])
                add_value(events[j, 2], harmonic_mean(precision, recall), observed[j, 2])


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

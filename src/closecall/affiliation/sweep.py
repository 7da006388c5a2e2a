"""The sweep behind the curve: samples cut at zone borders, weighed, ordered and let in by score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import _curve_kernels, _shift_kernels
from closecall.affiliation.shifts import spread
from closecall.affiliation.zones import origin_of, zone_borders
from closecall.compiled import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks
    from closecall.series import Scored

    Progress = Callable[[int, int], None]

_SIGN = 1 << 63
_ALL_BITS = 2**64 - 1
_FEW = 1 << 20  # samples, for which long digits are faster: their places stay in fast memory
_VERY_FEW = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces that tile the axis: piece k is [cuts[k], cuts[k + 1]), in half ticks."""

    scores: NDArray[Any]
    cuts: Ticks
    offsets: NDArray[np.int64]  # zone j holds the pieces offsets[j], ..., offsets[j + 1] - 1
    borders: Ticks
    unit: Tick
    """The longest unit that divides all times, in half ticks; 1 for floats and powers of 2."""
    weighed: list[Ticks]
    """Cuts, starts and stops of true events, and borders, in that unit.

    Products of times are then rounded alike, whatever the unit of the ticks.
    """


def cut_samples(scored: Scored) -> Pieces:
    """Cut the samples at the zone borders; the scores are copied only if one is cut."""
    axis, scores = scored.axis, scored.scores
    borders = zone_borders(scored)
    cuts = axis.borders()
    cuts -= origin_of(scored)
    cuts *= 2
    inside = borders[(borders > cuts[0]) & (borders < cuts[-1])]
    places = np.searchsorted(cuts, inside)
    new = cuts[places] != inside
    if new.any():
        places = places[new]
        scores = np.insert(scores, places, scores[places - 1])
        cuts = np.insert(cuts, places, inside[new])
    offsets = np.searchsorted(cuts[:-1], borders)
    # Zones may reach beyond the first and the last sample.
    offsets[0], offsets[-1] = 0, scores.size
    truth = scored.truth
    starts, stops = (2 * (ends - origin_of(scored)) for ends in (truth.starts, truth.stops))
    times, unit = [cuts, starts, stops, borders], 1
    if borders.dtype.kind == "i":
        unit = int(np.gcd.reduce([np.gcd.reduce(ticks) for ticks in times]))
        unit = unit if unit & (unit - 1) else 1  # a power of 2 rounds nothing
        times = [ticks // unit for ticks in times] if unit > 1 else times
    return Pieces(scores, cuts, offsets, borders, unit, times)


def weigh(
    pieces: Pieces, scores: NDArray[Any], rows: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the constants of every piece, with these scores, in an array that may be given."""
    if rows is None:
        rows = np.empty((scores.size, _curve_kernels.COLUMNS))
    cuts, starts, stops, borders = pieces.weighed
    _curve_kernels.weigh_pieces(scores, pieces.offsets, cuts, starts, stops, borders, rows)
    return rows


def descending_order(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of the scores from the highest down; equal ones in any order.

    O(N) for floats, unless nearly all of them share their leading bits; O(N log N) otherwise.
    """
    if scores.dtype != np.float64 or scores.size == 0:
        return interruptible(np.argsort, scores)[::-1].copy()
    place_bits = (scores.size - 1).bit_length()
    low, high = _as_integer(scores.min()), _as_integer(scores.max())
    span_bits = (high - low).bit_length()
    # Three or four digits of the leading bits; more would seldom matter.
    digits, digit_bits = (3, 12) if scores.size <= _FEW else (4, 10)
    if scores.size <= _VERY_FEW:
        digits, digit_bits = 4, 9  # as many bits; counting digits would take longer than sorting
    key_bits = min(span_bits, digits * digit_bits, 64 - place_bits)
    drop = span_bits - key_bits
    order, other = np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    packed, spare = order.view(np.uint64), other.view(np.uint64)
    _curve_kernels.pack(scores.view(np.uint64), np.uint64(high), drop, place_bits, packed)
    if _curve_kernels.radix_sort(packed, spare, place_bits, key_bits, digit_bits):
        order, packed = other, spare
    # The order is written over what it is read from.
    if _curve_kernels.unpack(packed, scores, place_bits, order):
        return order
    return interruptible(np.argsort, scores)[::-1].copy()


def _as_integer(score: np.float64) -> int:
    """Return the integer that is ordered among integers as the score is among floats."""
    bits = int((score + 0.0).view(np.uint64))  # -0.0 becomes 0.0
    return bits ^ _ALL_BITS if bits & _SIGN else bits | _SIGN


def sweep(
    scores: NDArray[Any], order: NDArray[np.int64], rows: NDArray[np.float64], zones: int
) -> tuple[NDArray[Any], ...]:
    """Return thresholds, precision, recall, alarms and the time in alarm; uses the order up.

    The time is in the unit of the pieces.
    """
    thresholds = np.empty_like(scores)
    precision, recall, alarmed = (np.empty(scores.size) for _ in range(3))
    # The numbers of alarms are written over the part of the order that has been walked.
    columns = (thresholds, precision, recall, order, alarmed)
    count = _curve_kernels.sweep(scores, order, rows, zones, *columns)
    for column in columns:
        column.resize(count, refcheck=False)
    return columns


def score_rolls(samples: int, n: int) -> NDArray[np.int64]:
    """Return by how many samples scores are rolled: all numbers up to n of them, else n."""
    if samples <= n:
        return np.arange(samples)
    return np.minimum((spread(n) * samples).astype(np.int64), samples - 1)


def roll_scores(
    scored: Scored, rolls: NDArray[np.int64], progress: Progress | None = None
) -> NDArray[np.float64]:
    """Return average precision and the best F1 (rows) of the scores rolled by so many samples.

    A roll keeps how scores compare, so they are sorted once and each roll costs two passes.
    """
    values = scored.scores
    # Cutting the numbers of the samples says which sample each piece is part of.
    pieces = cut_samples(replace(scored, scores=np.arange(values.size)))
    owners = pieces.scores
    firsts = np.searchsorted(owners, np.arange(values.size + 1))
    order = descending_order(values)
    rolled, rolled_order = np.empty(owners.size, dtype=values.dtype), np.empty_like(owners)
    rows = np.empty((owners.size, _curve_kernels.COLUMNS))
    thresholds, alarms = np.empty_like(rolled), np.empty(owners.size, dtype=np.int64)
    precision, recall, alarmed = np.empty((3, owners.size))
    found = np.empty((2, rolls.size))
    for k, shift in enumerate(rolls.tolist()):
        _shift_kernels.roll_pieces(values, order, shift, owners, firsts, rolled, rolled_order)
        weigh(pieces, rolled, rows)
        columns = (thresholds, precision, recall, alarms, alarmed)
        count = _curve_kernels.sweep(rolled, rolled_order, rows, len(scored.truth), *columns)
        found[:, k] = _shift_kernels.curve_scores(precision[:count], recall[:count])
        if progress is not None:
            progress(k + 1, rolls.size)
    return found

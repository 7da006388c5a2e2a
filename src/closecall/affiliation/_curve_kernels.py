"""Kernels behind the curve: every threshold in one sweep; nothing is checked here.

Pieces are the samples, cut where a zone border falls inside one; they tile the axis. As the
threshold falls, pieces enter. What a piece changes when it enters depends only on its neighbours
at that moment, the nearest pieces of its zone that entered before it, so it is a constant of the
piece: one pass in time order finds all of them with a stack, and one pass in the order of the
scores adds them up. Equal scores enter together; among themselves, in time order.

Legend as in `_kernels`; times are in half ticks, or in a unit that divides all of them.

The order of the scores comes from a radix sort: each score's leading bits and its place are packed
into 64 bits, and these are sorted a digit at a time, from the last to the first, about six times as
fast as places are sorted by their scores. What the leading bits do not tell apart is put right
afterwards; it is little, or the caller sorts in the usual way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation._kernels import after_last, before_first, between, range_losses
from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

    Zone = tuple[Tick, Tick, Tick, Tick]  # a, b, A, B

# What is known of a piece: loss of precision, length, gain of recall, zone and change of alarms.
LOSS, LENGTH, GAIN, CODE = range(4)
COLUMNS = 4
_ALARM_CODES = 4
_BLOCK = 64


@kernel
def gain_of(cuts: Ticks, piece: int, left: int, right: int, zone: Zone) -> float:
    """Return the loss of recall that a piece takes away, entering between left and right.

    -1 stands for no neighbour. The first piece of a zone takes it from recall 0, and its gain is
    what it leaves of the full loss.
    """
    a, b, A, B = zone
    start, stop = cuts[piece], cuts[piece + 1]
    if left < 0 and right < 0:
        weight = np.float64(b - a) if a < b else 1.0
        remaining = before_first(a, b, start, A)[0] + after_last(a, b, stop, B)[0]
        return np.float64(B - A) * weight - remaining
    if left < 0:
        u = cuts[right]
        known = before_first(a, b, u, A)[0]
        return known - before_first(a, b, start, A)[0] - between(a, b, stop, u)[0]
    v = cuts[left + 1]
    if right < 0:
        known = after_last(a, b, v, B)[0]
        return known - between(a, b, v, start)[0] - after_last(a, b, stop, B)[0]
    u = cuts[right]
    known = between(a, b, v, u)[0]
    return known - between(a, b, v, start)[0] - between(a, b, stop, u)[0]


@kernel
def weigh_zone(
    scores: NDArray[Any],
    cuts: Ticks,
    first: int,
    after: int,
    zone: Zone,
    zone_index: int,
    stack: NDArray[np.int64],
    rows: NDArray[np.float64],
) -> None:
    """Fill in the constants of the pieces first, ..., after - 1 of one zone."""
    a, b, A, B = zone
    m = np.float64(min(a - A, B - b))
    length = np.float64(B - A)
    scale = length * (np.float64(b - a) if a < b else 1.0)
    none: Any = np.int64(-1)  # typed: kernels are compiled once more for a bare constant
    top = 0
    for k in range(first, after):
        # The stack holds pieces that no later one has outranked, highest at the bottom.
        while top > 0 and scores[stack[top - 1]] < scores[k]:
            top -= 1
            left = stack[top - 1] if top > 0 else none
            # A gap that ends before the event, or begins after it, takes nothing away.
            if cuts[k] < a or (left >= 0 and cuts[left + 1] > b):
                rows[stack[top], GAIN] = 0.0
            else:
                rows[stack[top], GAIN] = gain_of(cuts, stack[top], left, k, zone) / scale
        stack[top] = k
        top += 1
        rows[k, LOSS] = range_losses(a, b, cuts[k], cuts[k + 1], m)[0] / length
        rows[k, LENGTH] = np.float64(cuts[k + 1] - cuts[k])
        alarms = 1
        if k > 0 and scores[k - 1] >= scores[k]:
            alarms -= 1
        if k + 1 < len(scores) and scores[k + 1] > scores[k]:
            alarms -= 1
        rows[k, CODE] = _ALARM_CODES * zone_index + alarms + 1
    while top > 0:
        top -= 1
        left = stack[top - 1] if top > 0 else none
        rows[stack[top], GAIN] = gain_of(cuts, stack[top], left, none, zone) / scale


@kernel
def weigh_pieces(
    scores: NDArray[Any],
    offsets: NDArray[np.int64],
    cuts: Ticks,
    true_starts: Ticks,
    true_stops: Ticks,
    borders: Ticks,
    rows: NDArray[np.float64],
) -> None:
    """Fill in the constants of every piece, zone by zone, in one pass in time order."""
    largest = 0
    for j in range(len(true_starts)):
        largest = max(largest, offsets[j + 1] - offsets[j])
    stack = np.empty(largest, dtype=np.int64)
    for j in range(len(true_starts)):
        zone = (true_starts[j], true_stops[j], borders[j], borders[j + 1])
        weigh_zone(scores, cuts, offsets[j], offsets[j + 1], zone, j, stack, rows)


@kernel
def move_zones(rows: NDArray[np.float64], zones: int) -> None:
    """Add so many to the zone numbers of pieces."""
    for k in range(len(rows)):
        rows[k, CODE] += _ALARM_CODES * zones


@kernel
def add(total: float, rest: float, term: float) -> tuple[float, float]:
    """Add a term to a total, keeping what rounding drops, so that millions of steps stay exact."""
    new = total + term
    back = new - total
    return new, rest + ((total - (new - back)) + (term - back))


@kernel
def gather(
    scores: NDArray[Any],
    order: NDArray[np.int64],
    rows: NDArray[np.float64],
    first: int,
    block_scores: NDArray[Any],
    block: NDArray[np.float64],
) -> int:
    """Copy the next pieces, and the score behind them; loads far apart then wait together."""
    count = min(len(order) - first, len(block))
    for i in range(count):
        k = order[first + i]
        block_scores[i] = scores[k]
        for column in range(COLUMNS):
            block[i, column] = rows[k, column]
    if first + count < len(order):
        block_scores[count] = scores[order[first + count]]
    return count


@kernel(error_model="numpy")
def sweep(
    scores: NDArray[Any],
    order: NDArray[np.int64],
    rows: NDArray[np.float64],
    zones: int,
    thresholds: NDArray[Any],
    precision: NDArray[np.float64],
    recall: NDArray[np.float64],
    alarms: NDArray[np.int64],
    alarmed: NDArray[np.float64],
) -> int:
    """Let pieces enter from the highest score down; write a point after each distinct score.

    `alarmed` is how much time has entered, in the unit of the pieces.
    """
    # For each zone: loss and its rest, length and its rest, current precision.
    state = np.zeros((zones, 5))
    block_scores, block = np.empty(_BLOCK + 1, dtype=scores.dtype), np.empty((_BLOCK, COLUMNS))
    precision_sum, precision_rest, recall_sum, recall_rest = 0.0, 0.0, 0.0, 0.0
    time, time_rest = 0.0, 0.0
    defined, alarm_count, points = 0, 0, 0
    entered: Any = np.int64(0)
    while entered < len(order):
        count = gather(scores, order, rows, entered, block_scores, block)
        entered += count
        for i in range(count):
            code = np.int64(block[i, CODE])
            zone = code // _ALARM_CODES
            alarm_count += int(code % _ALARM_CODES) - 1
            loss, length = state[zone, 0], state[zone, 2]
            if length == 0:
                defined += 1
            loss, state[zone, 1] = add(loss, state[zone, 1], block[i, LOSS])
            length, state[zone, 3] = add(length, state[zone, 3], block[i, LENGTH])
            time, time_rest = add(time, time_rest, block[i, LENGTH])
            state[zone, 0], state[zone, 2] = loss, length
            current = max(0.0, 1.0 - (loss + state[zone, 1]) / (length + state[zone, 3]))
            precision_sum, precision_rest = add(
                precision_sum, precision_rest, current - state[zone, 4]
            )
            state[zone, 4] = current
            recall_sum, recall_rest = add(recall_sum, recall_rest, block[i, GAIN])
            if (i + 1 < count or entered < len(order)) and block_scores[i + 1] == block_scores[i]:
                continue
            thresholds[points] = block_scores[i]
            precision[points] = (precision_sum + precision_rest) / defined
            recall[points] = min(1.0, (recall_sum + recall_rest) / zones)
            alarms[points] = alarm_count
            alarmed[points] = time + time_rest
            points += 1
    return points


@kernel
def highest_within(
    scores: NDArray[Any], first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[Any]:
    """Return the highest score from each first piece to its last."""
    highest = scores[first]
    for j in range(len(first)):
        for k in range(first[j] + 1, last[j] + 1):
            highest[j] = max(highest[j], scores[k])
    return highest


@kernel
def begin_and_join(
    scores: NDArray[Any], first: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores at which alarms that overlap an event begin, and at which two join.

    Every piece of an event begins an alarm and joins that of the piece before it, at the lowest
    score between the two; most do both at once, and what is left are peaks and the valleys between.
    """
    room = 1
    for j in range(len(first)):
        room += last[j] - first[j] + 1
    begun, joined = np.empty(room, dtype=scores.dtype), np.empty(room, dtype=scores.dtype)
    if len(first) == 0:
        return begun[:0], joined[:0]
    peak, valley, count, before = scores[first[0]], scores[first[0]], 0, first[0]
    for j in range(len(first)):
        for k in range(before + 1, first[j]):
            valley = min(valley, scores[k])
        for k in range(max(before + 1, first[j]), last[j] + 1):
            score = scores[k]
            if score > valley:
                if valley < peak:
                    begun[count], joined[count] = peak, valley
                    count += 1
                peak = score
            valley, before = score, k
    begun[count] = peak
    return begun[: count + 1], joined[:count]


@kernel
def add_reached(
    levels: NDArray[Any], thresholds: NDArray[Any], step: int, counts: NDArray[np.int64]
) -> None:
    """Add a step for each level, ascending, that reaches a threshold; those descend."""
    left = len(levels)
    for k in range(len(thresholds)):
        while left > 0 and levels[left - 1] >= thresholds[k]:
            left -= 1
        counts[k] += step * (len(levels) - left)


@kernel
def find(groups: NDArray[np.int64], k: int) -> int:
    """Return the root of a sample's group, and shorten the way to it."""
    while groups[k] != k:
        groups[k] = groups[groups[k]]
        k = groups[k]
    return k


@kernel
def nearest_higher(scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each sample's nearest ones on either side that enter before it, or with it."""
    count = len(scores)
    left, right = np.full(count, -1), np.full(count, count)
    stack, top = np.empty(count, dtype=np.int64), 0
    for k in range(count):
        while top > 0 and scores[stack[top - 1]] < scores[k]:
            top -= 1
            right[stack[top]] = k
        if top > 0:
            left[k] = stack[top - 1]
        stack[top] = k
        top += 1
    return left, right


@kernel
def count_groups(
    scores: NDArray[Any],
    order: NDArray[np.int64],
    starts: Ticks,
    stops: Ticks,
    hit: NDArray[np.bool_],
    cooldown: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count alarms and false ones at every distinct score; less than `cooldown` apart is one.

    Samples enter from the highest score down; those that meet, or are so near, are one group. A
    group is a false alarm until a sample enters that is a `hit`.
    """
    count = len(scores)
    alarms, false_alarms = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    left, right = nearest_higher(scores)
    groups, hits = np.arange(count), hit.copy()
    total, false, points = 0, 0, 0
    for i in range(count):
        k = order[i]
        total += 1
        false += 0 if hit[k] else 1
        for side in range(2):
            other = left[k] if side == 0 else right[k]
            if other < 0 or other == count:
                continue
            early, late = (other, k) if side == 0 else (k, other)
            pause = np.float64(starts[late] - stops[early])
            if pause > 0 and pause >= cooldown:
                continue
            one, two = find(groups, k), find(groups, other)
            if one != two:
                groups[one] = two
                total -= 1
                if not (hits[one] and hits[two]):
                    false -= 1
                hits[two] = hits[one] or hits[two]
        if i + 1 == count or scores[order[i + 1]] != scores[k]:
            alarms[points], false_alarms[points] = total, false
            points += 1
    return alarms[:points], false_alarms[:points]


@kernel
def pack(
    keys: NDArray[np.uint64],
    highest: np.uint64,
    drop: int,
    place_bits: int,
    packed: NDArray[np.uint64],
) -> None:
    """Put how far each key is below the highest, in its leading bits, before its place."""
    sign = np.uint64(1 << 63)
    for k in range(len(keys)):
        key = keys[k]
        if key == sign:  # -0.0 equals 0.0, and may lie outside the range otherwise
            key = np.uint64(0)
        key = ~key if key & sign else key | sign
        packed[k] = (((highest - key) >> np.uint64(drop)) << np.uint64(place_bits)) | np.uint64(k)


@kernel
def radix_sort(
    source: NDArray[np.uint64],
    target: NDArray[np.uint64],
    place_bits: int,
    key_bits: int,
    digit_bits: int,
) -> bool:
    """Sort by so many bits above those of the place; return whether it ends in the target."""
    digits = (key_bits + digit_bits - 1) // digit_bits
    mask = np.uint64((1 << digit_bits) - 1)
    counts = np.zeros((digits, 1 << digit_bits), dtype=np.int64)
    for value in source:
        rest = value >> np.uint64(place_bits)
        for d in range(digits):
            counts[d, rest & mask] += 1
            rest >>= np.uint64(digit_bits)
    moved = False
    for d in range(digits):
        shift = np.uint64(place_bits + d * digit_bits)
        places = counts[d]
        if places[(source[0] >> shift) & mask] == len(source):
            continue  # all have this digit
        total = 0
        for digit in range(len(places)):
            total, places[digit] = total + places[digit], total
        for value in source:
            digit = (value >> shift) & mask
            target[places[digit]] = value
            places[digit] += 1
        source, target, moved = target, source, not moved
    return moved


@kernel
def unpack(
    packed: NDArray[np.uint64], scores: NDArray[Any], place_bits: int, order: NDArray[np.int64]
) -> bool:
    """Take the places out, and put right what the leading bits left open; False if it is much.

    `order` may be the memory of `packed`.
    """
    mask = (np.uint64(1) << np.uint64(place_bits)) - np.uint64(1)
    moves = 4 * len(packed)
    before = ~np.uint64(0)
    first = 0
    for i in range(len(packed)):
        value = packed[i]
        lead, k = value >> np.uint64(place_bits), np.int64(value & mask)
        if lead != before:
            before, first = lead, i
        j = i
        while j > first and scores[order[j - 1]] < scores[k]:
            order[j] = order[j - 1]
            j -= 1
            moves -= 1
        order[j] = k
        if moves < 0:
            return False
    return True

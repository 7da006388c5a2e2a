"""Kernels that score events: plain arrays and scalars in and out, nothing is checked here.

Legend, after appendix A of the paper: zone [A, B), its true event [a, b), m the shorter distance
from the event to a border of its zone, d a distance. Times come in ticks and are turned into half
ticks from an origin, in the caller's own integer or float type, so differences are exact.

Scores are found through what is lost: 1 minus the survival function, integrated. Nothing is lost
inside the event or inside a prediction, so perfect scores are exactly 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

# Columns of the table that `score_zones` and `find_outcomes` fill, one row for each true event;
# lengths in ticks.
PRECISION, RECALL, PRECISION_DISTANCE, RECALL_DISTANCE, EARLY, LATE, DURATION = range(7)
OUTCOME, DELAY, NEAREST, HITS, ALREADY = range(7, 12)
COLUMNS = 12
MISSED, CLOSE_CALL, CAUGHT = range(3)
_CHANCE_OF_FAR = 0.9  # the least probability that random alarms are all farther from the event


@kernel
def distances(d0: float, d1: float) -> float:
    """Integrate d from d0 to d1."""
    return 0.5 * (d1 - d0) * (d1 + d0)


@kernel
def ramp(d0: float, d1: float, cap: float) -> float:
    """Integrate min(d, cap) from d0 to d1."""
    return distances(min(d0, cap), min(d1, cap)) + cap * (max(d1, cap) - max(d0, cap))


@kernel
def outside(d0: float, d1: float, event: float, m: float) -> tuple[float, float]:
    """Integrate |gt| + min(d, m) + d, the loss of precision at distance d, and d itself."""
    distance = distances(d0, d1)
    return event * (d1 - d0) + ramp(d0, d1, m) + distance, distance


@kernel
def beside(d0: float, d1: float, room: float) -> tuple[float, float]:
    """Integrate min(d, m_y) + d, the loss of recall at distance d from a pivot, and d itself.

    With room the pivot's distance to the border beyond y, min(d, m_y) = min(d, room - d), and
    min(d, room - d) + d = 2 min(d, room / 2).
    """
    return 2.0 * ramp(d0, d1, 0.5 * room), distances(d0, d1)


@kernel
def at_point(d: float, room: float) -> tuple[float, float]:
    """Return the loss of recall of a true point at distance d from a pivot, and d itself."""
    return 2.0 * min(d, 0.5 * room), d


@kernel
def between(a: Tick, b: Tick, left: Tick, right: Tick) -> tuple[float, float]:
    """Integrate the loss of recall over the event's part in a gap between two predictions.

    Here the nearest prediction is always nearer than the border, so the loss is 2 d.
    """
    low, high = max(a, left), min(b, right)
    if a == b and left <= a <= right:
        nearest = np.float64(min(a - left, right - a))
        return 2.0 * nearest, nearest
    if low >= high:
        return 0.0, 0.0
    half = 0.5 * np.float64(right - left)
    distance = distances(
        min(np.float64(low - left), half), min(np.float64(high - left), half)
    ) + distances(min(np.float64(right - high), half), min(np.float64(right - low), half))
    return 2.0 * distance, distance


@kernel
def before_first(a: Tick, b: Tick, first: Tick, A: Tick) -> tuple[float, float]:
    """Integrate the loss of recall over the event's part before the first prediction."""
    if first <= a:
        return 0.0, 0.0
    room = np.float64(first - A)
    if a == b:
        return at_point(np.float64(first - a), room)
    return beside(np.float64(first - min(b, first)), np.float64(first - a), room)


@kernel
def after_last(a: Tick, b: Tick, last: Tick, B: Tick) -> tuple[float, float]:
    """Integrate the loss of recall over the event's part after the last prediction."""
    if last >= b:
        return 0.0, 0.0
    room = np.float64(B - last)
    if a == b:
        return at_point(np.float64(a - last), room)
    return beside(np.float64(max(a, last) - last), np.float64(b - last), room)


@kernel
def range_losses(a: Tick, b: Tick, start: Tick, stop: Tick, m: float) -> tuple[float, float, float]:
    """Integrate the loss of precision over a predicted range, and its distance on either side."""
    event = np.float64(b - a)
    loss_early, early, loss_late, late = 0.0, 0.0, 0.0, 0.0
    if start < a:
        loss_early, early = outside(np.float64(a - min(stop, a)), np.float64(a - start), event, m)
    if stop > b:
        loss_late, late = outside(np.float64(max(start, b) - b), np.float64(stop - b), event, m)
    return loss_early + loss_late, early, late


@kernel
def point_losses(a: Tick, b: Tick, point: Tick, m: float) -> tuple[float, float, float]:
    """Return the loss of precision at a point, the limit of a range that starts there."""
    if a <= point < b:
        return 0.0, 0.0, 0.0
    early, late = np.float64(max(a - point, a - a)), np.float64(max(point - b, b - b))
    return np.float64(b - a) + min(early + late, m) + early + late, early, late


@kernel
def precision_row(
    pieces: Ticks, a: Tick, b: Tick, A: Tick, B: Tick, row: NDArray[np.float64]
) -> None:
    """Fill in the precision, its distances and the predicted duration of one zone."""
    m = np.float64(min(a - A, B - b))
    length, loss, early, late = 0.0, 0.0, 0.0, 0.0
    for start, stop in pieces:
        if start < stop:
            length += np.float64(stop - start)
            lost, before, after = range_losses(a, b, start, stop, m)
            loss, early, late = loss + lost, early + before, late + after
    weight = length
    if length == 0:  # points count only where there is no range
        weight = np.float64(len(pieces))
        for point, _ in pieces:
            lost, before, after = point_losses(a, b, point, m)
            loss, early, late = loss + lost, early + before, late + after
    zone = np.float64(B - A)
    row[PRECISION] = max(0.0, 1.0 - loss / (zone * weight)) if zone > 0 else 1.0
    row[EARLY], row[LATE] = 0.5 * early / weight, 0.5 * late / weight
    row[PRECISION_DISTANCE] = 0.5 * (early + late) / weight
    row[DURATION] = 0.5 * length


@kernel
def recall_row(pieces: Ticks, a: Tick, b: Tick, A: Tick, B: Tick, row: NDArray[np.float64]) -> None:
    """Fill in the recall and its distance of one zone."""
    zone = np.float64(B - A)
    weight = np.float64(b - a) if a < b else 1.0  # a true point is evaluated, not integrated
    loss, distance = before_first(a, b, pieces[0, 0], A)
    for k in range(1, len(pieces)):
        lost, away = between(a, b, pieces[k - 1, 1], pieces[k, 0])
        loss, distance = loss + lost, distance + away
    lost, away = after_last(a, b, pieces[-1, 1], B)
    row[RECALL] = max(0.0, 1.0 - (loss + lost) / (zone * weight)) if zone > 0 else 1.0
    row[RECALL_DISTANCE] = 0.5 * (distance + away) / weight


@kernel
def cut_at_borders(
    starts: Ticks,
    stops: Ticks,
    origin: Tick,
    borders: Ticks,
    pieces: Ticks,
    offsets: NDArray[np.int64],
) -> None:
    """Cut predictions at the zone borders: zone j gets pieces[offsets[j] : offsets[j + 1]].

    A point on a border belongs to the zone that starts there; at the last border, to the last.
    What reaches beyond the outer borders is cut off.
    """
    last = len(borders) - 2
    j, count = 0, 0
    offsets[0] = 0
    for k in range(len(starts)):
        start = max(2 * (starts[k] - origin), borders[0])
        stop = min(2 * (stops[k] - origin), borders[-1])
        while j < last and start >= borders[j + 1]:
            j += 1
            offsets[j] = count
        while j < last and stop > borders[j + 1]:
            pieces[count, 0], pieces[count, 1] = start, borders[j + 1]
            start = borders[j + 1]
            count += 1
            j += 1
            offsets[j] = count
        pieces[count, 0], pieces[count, 1] = start, stop
        count += 1
    offsets[j + 1 :] = count


@kernel
def divisor(x: Tick, y: Tick) -> Tick:
    """Return the greatest number that divides both."""
    while y != 0:
        x, y = y, x % y
    return x


@kernel
def zone_unit(pieces: Ticks, a: Tick, b: Tick, A: Tick, B: Tick) -> Tick:
    """Return the longest unit that divides a zone's times, which are exact; 2 is as good as 1."""
    unit = divisor(divisor(B - A, a - A), b - A)
    for start, stop in pieces:
        if unit <= 2:  # noqa: PLR2004
            return unit
        unit = divisor(divisor(unit, start - A), stop - A)
    return unit


@kernel
def score_zones(
    true_starts: Ticks,
    true_stops: Ticks,
    origin: Tick,
    borders: Ticks,
    pieces: Ticks,
    offsets: NDArray[np.int64],
    table: NDArray[np.float64],
    exact: bool,
) -> tuple[float, int, float]:
    """Fill in the scores; return the sum and count of precisions, and the sum of recalls.

    Where times are `exact`, each zone is counted in the longest unit that divides its times, and
    the pieces with it: products of times are then rounded alike, whatever the unit of the ticks.
    """
    precision_sum, defined, recall_sum = 0.0, 0, 0.0
    for j in range(len(true_starts)):
        row = table[j]
        if offsets[j] == offsets[j + 1]:
            row[:OUTCOME] = np.nan
            row[RECALL], row[RECALL_DISTANCE], row[DURATION] = 0.0, np.inf, 0.0
            continue
        inside = pieces[offsets[j] : offsets[j + 1]]
        a, b = 2 * (true_starts[j] - origin), 2 * (true_stops[j] - origin)
        A, B = borders[j], borders[j + 1]
        unit = zone_unit(inside, a, b, A, B) if exact else A - A
        if unit > 2:  # noqa: PLR2004 - halving rounds nothing
            for k in range(len(inside)):
                inside[k, 0], inside[k, 1] = (inside[k, 0] - A) // unit, (inside[k, 1] - A) // unit
            a, b, B, A = (a - A) // unit, (b - A) // unit, (B - A) // unit, A - A
        precision_row(inside, a, b, A, B, row)
        recall_row(inside, a, b, A, B, row)
        if unit > 2:  # noqa: PLR2004
            row[PRECISION_DISTANCE:OUTCOME] *= np.float64(unit)
        precision_sum += row[PRECISION]
        recall_sum += row[RECALL]
        defined += 1
    return precision_sum, defined, recall_sum


@kernel
def overlaps(start: Tick, stop: Tick, a: Tick, b: Tick) -> bool:
    """Return whether an alarm overlaps an event; a point at t stands for [t, t + e)."""
    if start == stop:
        return a <= start < b or start == a
    if a == b:
        return start <= a < stop
    return start < b and stop > a


@kernel
def is_close(
    early: float,
    late: float,
    before: float,
    after: float,
    point: bool,
    last: bool,
    alarms: int,
    close: float,
) -> bool:
    """Return whether the nearest alarm is as near as chance seldom puts one of so many `alarms`.

    The zone reaches as far `before` and `after` the event. With q the share of these places that
    are nearer than the nearest alarm, so many alarms at random places are all farther with
    probability (1 - q)^alarms. Only an alarm of the zone can be close, and none that is farther
    than `close`; on the zone's borders these are a `point` at its start, and one at its stop if it
    is the `last` zone.
    """
    if early > before or (early == before and not point):
        early = np.inf
    if late > after or (late == after and not last):
        late = np.inf
    nearest = min(early, late)
    if nearest == np.inf or nearest > close:
        return False
    if before + after == 0:
        return True
    nearer = (nearest + min(nearest, before, after)) / (before + after)
    return bool((1.0 - nearer) ** alarms >= _CHANCE_OF_FAR)


@kernel
def find_outcomes(
    true_starts: Ticks,
    true_stops: Ticks,
    starts: Ticks,
    stops: Ticks,
    origin: Tick,
    borders: Ticks,
    offsets: NDArray[np.int64],
    table: NDArray[np.float64],
    close: float,
    ahead: bool,
) -> None:
    """Fill in what happened to each event, in one merge of the events with the alarms, uncut.

    HITS counts the alarms that overlap the event and none before it. ALREADY tells that the first
    of them began before the event's zone, so that it was not raised for this event. Unless `ahead`,
    alarms that start after an event's zone are not seen from it.
    """
    k, last_hit = 0, -1
    for j in range(len(true_starts)):
        a, b, row = true_starts[j], true_stops[j], table[j]
        row[OUTCOME], row[DELAY], row[NEAREST] = MISSED, np.nan, np.nan
        row[HITS], row[ALREADY] = 0.0, 0.0
        while k < len(starts) and starts[k] < a and stops[k] <= a:
            k += 1
        first = k
        while k < len(starts) and overlaps(starts[k], stops[k], a, b):
            if k > last_hit:
                row[HITS] += 1.0
                last_hit = k
            k += 1
        if k > first:
            row[OUTCOME], row[DELAY] = CAUGHT, np.float64(starts[first] - a)
            if 2 * (starts[first] - origin) < borders[j]:
                row[DELAY], row[ALREADY] = 0.0, 1.0
            k -= 1  # the last of them may reach the next event
            continue
        early = np.float64(a - stops[k - 1]) if k > 0 else np.inf
        late = np.inf
        if k < len(starts) and (ahead or 2 * (starts[k] - origin) < borders[j + 1]):
            late = np.float64(starts[k] - b)
        if min(early, late) == np.inf:
            continue
        row[NEAREST] = 0.0 - early if early <= late else late  # and no -0.0
        before = 0.5 * np.float64(2 * (a - origin) - borders[j])
        after = 0.5 * np.float64(borders[j + 1] - 2 * (b - origin))
        point, last = k > 0 and starts[k - 1] == stops[k - 1], j + 1 == len(true_starts)
        alarms = offsets[j + 1] - offsets[j]
        if is_close(early, late, before, after, point, last, alarms, close):
            row[OUTCOME] = CLOSE_CALL

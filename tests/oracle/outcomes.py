"""What happened to each event, by brute force: every event is compared with every alarm.

Nothing here comes from the package under test. Times become fractions, so that ties are exact.
"""

from fractions import Fraction
from itertools import pairwise
from math import inf, nan
from statistics import median

SELDOM = Fraction(1, 10)


def overlap(alarm, event):
    """Tell whether two half-open intervals share a place; a point at t stands for [t, t + e)."""
    (start, stop), (a, b) = alarm, event
    if start == stop and a == b:
        return start == a
    if start == stop:
        return a <= start < b
    if a == b:
        return start <= a < stop
    return max(start, a) < min(stop, b)


def signed_distance(alarm, event):
    """Return the time from an event to an alarm that does not overlap it, negative if before."""
    (start, stop), (a, b) = alarm, event
    return stop - a if stop <= a and start < a else start - b


def outcomes(truth, predicted, span, close=inf):
    """Return the outcome, delay, nearest and whether an alarm was already on; and false alarms."""
    truth, predicted = (
        [tuple(map(Fraction, interval)) for interval in side] for side in (truth, predicted)
    )
    inner = [(left[1] + right[0]) / 2 for left, right in pairwise(truth)]
    borders = [Fraction(span[0]), *inner, Fraction(span[1])]
    rows = []
    for index, event in enumerate(truth):
        zone, last = (borders[index], borders[index + 1]), index == len(truth) - 1
        rows.append(outcome(event, zone, predicted, close, last=last))
    false = sum(not any(overlap(alarm, event) for event in truth) for alarm in predicted)
    return rows, false


def outcome(event, zone, predicted, close, *, last):
    hits = [alarm for alarm in predicted if overlap(alarm, event)]
    if hits:
        raised = min(hits)[0]
        already = raised < zone[0]
        return "caught", 0.0 if already else float(raised - event[0]), nan, already
    if not predicted:
        return "missed", nan, nan, False
    away = [signed_distance(alarm, event) for alarm in predicted]
    nearest = float(min(away, key=lambda distance: (abs(distance), distance > 0)))
    own = [
        abs(distance)
        for alarm, distance in zip(predicted, away, strict=True)
        if affiliated(alarm, zone, last=last)
    ]
    is_close = bool(own) and min(own) <= close and by_chance(event, zone, own) <= SELDOM
    return "close call" if is_close else "missed", nan, nearest, False


def affiliated(alarm, zone, *, last):
    """Tell whether a part of the alarm lies in the zone; a point at its start does."""
    if alarm[0] == alarm[1]:
        return zone[0] <= alarm[0] < zone[1] or (last and alarm[0] == zone[1])
    return max(alarm[0], zone[0]) < min(alarm[1], zone[1])


def by_chance(event, zone, distances):
    """Return how probable it is that one of so many random places comes as near as the nearest."""
    farther = share_farther(event, zone, min(distances))
    return 1 - farther ** len(distances)


def share_farther(event, zone, distance):
    """Return the share of the places outside the event, in its zone, that are farther from it."""
    sides = event[0] - zone[0], zone[1] - event[1]
    outside = sum(sides)
    return sum(max(side - distance, 0) for side in sides) / outside if outside else Fraction(0)


def median_delay(rows):
    """Return the median delay, where an event that was not caught is caught never."""
    return median(delay if what == "caught" else inf for what, delay, *_ in rows)

"""Chance by brute force: one side moved sample by sample, each move scored by the oracle.

Nothing here comes from the package under test.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tests.oracle.affiliation import Result, evaluate

Interval = tuple[int, int]


def runs(labels: Sequence[int]) -> list[Interval]:
    """Find where runs of ones start and stop."""
    found, at = [], 0
    for label, group in groupby(labels):
        length = len(list(group))
        if label:
            found.append((at, at + length))
        at += length
    return found


def permitted(labels: Sequence[int]) -> list[int]:
    """Return by how many samples alarms may be rolled: by any, if at most half are alarms.

    Else an alarm lies across the seam afterwards if and only if one does now.
    """
    if 2 * sum(labels) <= len(labels):
        return list(range(len(labels)))
    across = bool(labels[0] and labels[-1])
    rolled = [np.roll(labels, shift) for shift in range(len(labels))]
    return [shift for shift, one in enumerate(rolled) if bool(one[0] and one[-1]) == across]


def seams_of_events(truth: Sequence[int]) -> list[int]:
    """Return the samples at which the span may begin instead: it begins there now, or cuts none."""
    inside = [bool(at and truth[at - 1] and truth[at]) for at in range(len(truth))]
    return [at for at, cuts in enumerate(inside) if not cuts]


def begun_at(truth: Sequence[int], seam: int) -> list[Interval]:
    """Return the events of a span that begins at another sample; those that meet stay two."""
    length = len(truth)
    moved = [((start - seam) % length, stop - start) for start, stop in runs(truth)]
    return sorted((start, start + size) for start, size in moved)


def catches(truth: Sequence[Interval], alarms: Sequence[Interval]) -> list[bool]:
    """Return which of the true events an alarm overlaps."""
    return [any(max(a, s) < min(b, e) for s, e in alarms) for a, b in truth]


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def scores_of(truth: Sequence[Interval], alarms: Sequence[Interval], length: int) -> list[float]:
    """Return precision, recall, F1 and the number of events caught."""
    one = evaluate(truth, alarms, (0, length))
    caught = sum(catches(truth, alarms))
    return [one.precision, one.recall, f1(one.precision, one.recall), caught]


def scores_of_events(result: Result) -> list[tuple[float, float, float]]:
    """Return precision, recall and F1 of each event."""
    return [(row.precision, row.recall, f1(row.precision, row.recall)) for row in result.rows]


def alarms_moved(
    truth: Sequence[int], predicted: Sequence[int]
) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """Return the shifts of the alarms, four scores of each, and three of each event."""
    shifts, events, length = permitted(predicted), runs(truth), len(truth)
    rolled = [runs(np.roll(predicted, shift).tolist()) for shift in shifts]
    overall = [scores_of(events, alarms, length) for alarms in rolled]
    each = [scores_of_events(evaluate(events, alarms, (0, length))) for alarms in rolled]
    return shifts, np.array(overall), np.array(each)


def events_moved(
    truth: Sequence[int], predicted: Sequence[int]
) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """Return the same for the seams of the events, which are in the order that they have now."""
    seams, alarms, length = seams_of_events(truth), runs(predicted), len(truth)
    overall, each = [], []
    for seam in seams:
        events = begun_at(truth, seam)
        overall.append(scores_of(events, alarms, length))
        rows = scores_of_events(evaluate(events, alarms, (0, length)))
        first = sum(start < seam for start, _ in runs(truth))  # of those now, the first moved one
        each.append(rows[len(rows) - first :] + rows[: len(rows) - first])
    return seams, np.array(overall), np.array(each)

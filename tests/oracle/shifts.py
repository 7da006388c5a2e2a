"""Chance by brute force: label vectors rolled sample by sample, each scored by the oracle.

Nothing here comes from the package under test. An alarm lies across the seam if the first and the
last sample are both alarmed, and a shift counts if it leaves that as it is.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tests.oracle.affiliation import Result, evaluate


def runs(labels: Sequence[int]) -> list[tuple[int, int]]:
    """Find where runs of ones start and stop."""
    found, at = [], 0
    for label, group in groupby(labels):
        length = len(list(group))
        if label:
            found.append((at, at + length))
        at += length
    return found


def permitted(labels: Sequence[int]) -> list[int]:
    """Return by how many samples the labels may be rolled."""
    across = bool(labels[0] and labels[-1])
    rolled = [np.roll(labels, shift) for shift in range(len(labels))]
    return [shift for shift, one in enumerate(rolled) if bool(one[0] and one[-1]) == across]


def scored(truth: Sequence[int], predicted: Sequence[int], shift: int) -> Result:
    """Score the labels rolled by so many samples."""
    moved = np.roll(predicted, shift).tolist()
    return evaluate(runs(truth), runs(moved), (0, len(truth)))


def caught(truth: Sequence[int], predicted: Sequence[int], shift: int) -> int:
    """Count the true events with an alarmed sample, the labels rolled by so many samples."""
    moved = np.roll(predicted, shift)
    return sum(bool(moved[start:stop].any()) for start, stop in runs(truth))


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def all_shifts(
    truth: Sequence[int], predicted: Sequence[int]
) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """Return the shifts, three scores and the events caught by each, and scores of each event."""
    shifts = permitted(predicted)
    results = [scored(truth, predicted, shift) for shift in shifts]
    overall = [
        (one.precision, one.recall, f1(one.precision, one.recall), caught(truth, predicted, shift))
        for one, shift in zip(results, shifts, strict=True)
    ]
    events = [
        [(row.precision, row.recall, f1(row.precision, row.recall)) for row in one.rows]
        for one in results
    ]
    return shifts, np.array(overall), np.array(events)

"""The one threshold for all series of NAB: the best there is, or the one that NAB's climb finds."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.metrics.nab_profile import probation_rows, reward, sigmoid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.metrics.nab_profile import NabProfile
    from closecall.metrics.nab_rows import Rows

_START, _STEP, _FINEST = 0.5, 0.1, 1e-7  # of the climb, as in NAB


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """What the detections of a corpus earn together, at every threshold."""

    scores: NDArray[Any]
    """Each score that occurs, the highest first."""
    earned: NDArray[np.float64]
    """More than silence: without any detection (0), then with the threshold at each score."""

    @classmethod
    def of(cls, corpus: list[Rows], profile: NabProfile, probation: float) -> Totals:
        """Let the threshold fall over all rows, in one pass."""
        scores: list[NDArray[Any]] = []
        gains: list[NDArray[np.float64]] = []
        for rows in corpus:
            begin = probation_rows(rows.scores.size, probation)
            scores.append(rows.scores[begin:])
            gains.append(_gains(rows, profile, begin)[begin:])
        score, gain = np.concatenate(scores), np.concatenate(gains)
        order = np.argsort(score, kind="stable")[::-1]
        score, earned = score[order], np.cumsum(gain[order])
        # Rows with one score are detected together.
        final = np.ones(score.size, dtype=bool)
        final[:-1] = score[1:] != score[:-1]
        return cls(score[final], np.append(0.0, earned[final]))

    def at(self, threshold: float) -> float:
        """Give what is earned at a threshold from 0 to 1; others are out of reach."""
        if not 0 <= threshold <= 1:
            return -inf
        reached = self.scores.size - np.searchsorted(self.scores[::-1], threshold, side="left")
        return float(self.earned[reached])


def best_threshold(totals: Totals) -> float:
    """Find the threshold that earns most, the highest one if there are several."""
    best = int(totals.earned.argmax())
    if best > 0:
        threshold: float = totals.scores[best - 1].item()
        return threshold
    return nan if totals.scores[0] == inf else inf  # no score is above either


def climbed_threshold(totals: Totals) -> float:
    """Climb from the middle to a threshold that earns more than those around it.

    A step up or else down that earns more is taken, and the next one is twice as long; where
    neither does, the next one is half as long. Of equally good thresholds it is the first met.
    """
    best = place = _START
    step = _STEP
    while step > _FINEST:
        above = place + step
        below = above - 2 * step
        if totals.at(above) > totals.at(best):
            best = place = above
            step *= 2
        elif totals.at(below) > totals.at(best):
            best = place = below
            step *= 2
        else:
            place = below + step
            step /= 2
    # The climb can only near the ends; NAB's maintainers put a threshold there by hand.
    return max(best, 1.0, 0.0, key=totals.at)


def _gains(rows: Rows, profile: NabProfile, begin: int) -> NDArray[np.float64]:
    """Give what each row adds to the score when the threshold falls to it."""
    starts, stops = rows.windows.starts, rows.windows.stops
    gains = np.full(rows.scores.size, -profile.false_positive)
    for index, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        following = starts[index + 1] if index + 1 < starts.size else rows.scores.size
        width = stop - start - 1 or 1e-300  # all is far from a window of one row
        places = np.arange(1, following - stop + 1) / width
        gains[stop:following] = profile.false_positive * sigmoid(places)
        scored = slice(max(start, begin), stop)
        worth = reward((np.arange(scored.start, stop) - stop) / (stop - start), profile)
        gains[scored] = _improvements(rows.scores[scored], worth, -profile.false_negative)
    return gains


def _improvements(
    scores: NDArray[Any], worth: NDArray[np.float64], missed: float
) -> NDArray[np.float64]:
    """Give how much each row of a window betters the best of those with higher scores."""
    order = np.argsort(scores, kind="stable")[::-1]
    best = np.maximum.accumulate(np.append(missed, worth[order]))
    improvements = np.empty(scores.size)
    improvements[order] = np.diff(best)
    return improvements

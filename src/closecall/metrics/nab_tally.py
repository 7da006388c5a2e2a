"""How the rewards and losses of a series add up, from intervals alone.

On an integer axis every predicted row is scored; only rows near the end of a window are looked at
one by one, so the cost does not depend on the length of the series. On other axes a predicted
event is one alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closecall.events import Intervals
from closecall.metrics.nab_profile import FAR, NabProfile, probation_rows, reward, sigmoid
from closecall.metrics.overlap import overlap_counts, overlap_lengths, overlapping
from closecall.metrics.window import from_origin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Pair


class Tally(NamedTuple):
    """A score before it is normalised, and the counts behind it."""

    raw: float
    windows: int
    detected: int
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int | None


def score_rows(pair: Pair, profile: NabProfile, probation: float) -> Tally:
    """Score each predicted row (tick of an integer axis) after the probationary period."""
    windows, predicted = from_origin(pair)
    # A point at the very end of the span is one more row.
    rows = int(max([pair.stop - pair.start, *windows.stops[-1:], *predicted.stops[-1:]]))
    begin = probation_rows(rows, probation)
    scored, detections = _after(begin, windows), _after(begin, predicted)
    earned, detected = _rewards(windows, scored, detections, profile)
    hit = int(overlap_lengths(detections, scored).sum())
    false, missed = _length(detections) - hit, _length(scored) - hit
    near = _near_losses(windows, detections, rows)
    raw = earned + profile.false_positive * (float(near.sum()) - (false - near.size))
    quiet = rows - begin - hit - false - missed
    return Tally(raw, len(scored), detected, hit, false, missed, quiet)


def score_alarms(pair: Pair, profile: NabProfile, probation: float) -> Tally:
    """Score each predicted event once, where it starts, and each window it overlaps."""
    windows, predicted = from_origin(pair)
    begin = probation * float(pair.stop - pair.start)
    scored, detections = _after(begin, windows), _after(begin, predicted)
    earned, detected = _rewards(windows, scored, detections, profile)
    moments = Intervals(detections.starts, detections.starts, pair.clock)
    alarms = moments.starts[overlap_counts(moments, windows) == 0]
    losses = np.full(alarms.size, -1.0)
    before = np.searchsorted(windows.starts, alarms, side="right") - 1
    follows, window = before >= 0, before[before >= 0]
    widths = (windows.stops - windows.starts)[window]
    losses[follows] = sigmoid(_ratio(alarms[follows] - windows.stops[window], widths))
    raw = earned + profile.false_positive * float(losses.sum())
    return Tally(raw, len(scored), detected, detected, alarms.size, len(scored) - detected, None)


def _after(begin: float, intervals: Intervals) -> Intervals:
    """Cut off what lies in the probationary period."""
    points = intervals.starts == intervals.stops
    kept = (intervals.stops > begin) | (points & (intervals.stops == begin))
    starts = np.maximum(intervals.starts[kept], begin)
    return Intervals(starts, intervals.stops[kept], intervals.clock)


def _rewards(
    windows: Intervals, scored: Intervals, detections: Intervals, profile: NabProfile
) -> tuple[float, int]:
    """Add up the windows: what the earliest detection earns, or what a miss costs."""
    starts = windows.starts[len(windows) - len(scored) :]  # before they were cut
    first, after = overlapping(scored, detections)
    found = first < after
    moments = np.maximum(detections.starts[first[found]], scored.starts[found])
    stops, widths = scored.stops[found], (scored.stops - starts)[found]
    places = np.where(widths > 0, -_ratio(stops - moments, widths), -1.0)
    detected = int(found.sum())
    missed = len(scored) - detected
    return float(reward(places, profile).sum()) - profile.false_negative * missed, detected


def _near_losses(windows: Intervals, detections: Intervals, rows: int) -> NDArray[np.float64]:
    """Score the predicted rows that follow a window by no more than three times its width."""
    next_start = np.append(windows.starts[1:], rows)
    width = windows.stops - windows.starts - 1  # NAB's, from the first row to the last
    zones = Intervals(
        windows.stops,
        np.clip(windows.stops + int(FAR) * width, windows.stops, next_start),
        windows.clock,
    )
    first, after = overlapping(zones, detections)
    counts = np.where(zones.starts < zones.stops, after - first, 0)
    zone = np.repeat(np.arange(len(zones)), counts)
    piece = _counting(first, counts)
    starts = np.maximum(detections.starts[piece], zones.starts[zone])
    lengths = np.minimum(detections.stops[piece], zones.stops[zone]) - starts
    row, zone = _counting(starts, lengths), np.repeat(zone, lengths)
    return sigmoid((row - zones.starts[zone] + 1) / width[zone])


def _counting(starts: Ticks, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count up from each start, as many steps as it is told."""
    offsets = np.cumsum(counts) - counts
    return np.repeat(starts - offsets, counts) + np.arange(counts.sum())


def _length(intervals: Intervals) -> int:
    return int((intervals.stops - intervals.starts).sum())


def _ratio(part: Ticks, whole: Ticks) -> NDArray[np.float64]:
    """Divide; past a window without width everything is far."""
    ratios = np.full(part.shape, np.inf)
    np.divide(part, whole, out=ratios, where=whole > 0)
    return ratios

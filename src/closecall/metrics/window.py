"""Windows around the true events: predictions inside one are right, wherever they are in it.

The literature has points here, and an event is its unit; so it is for ranges. Two events are as far
apart as the nearest two of their moments. On an integer axis the moments are the samples, hence
[3, 7) and [9, 10) are 3 apart (6 to 9), and a point is one sample.
"""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.events import Intervals
from closecall.metrics._kernels import match
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import read_duration
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.series import Pair


def window_once(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    margin: Any,
) -> PrecisionRecallResult:
    r"""Compute precision and recall where each true window counts once (Gensler and Sick).

    A window surrounds each of the n true events, up to the margin on both sides. A window with
    any prediction in it is one true positive, however many there are; a window without is a false
    negative; a predicted event in no window is a false positive:

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{n}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. Each event, point or range, is one unit.
    margin
        The largest distance that is still in the window: samples for vectors without times (and
        for whole numbers), a number or a timedelta on other axes. There is no default; 0 asks for
        overlap.

    Notes
    -----
    A prediction in two overlapping windows finds both of them. Precision stays at most 1, because
    it is taken among hit windows and false alarms, not among predictions. The measures that the
    paper adds beside it (predictions per window, tendency to one direction) have their like in
    the columns of `closecall.affiliation`: predicted_count, early and late.

    References
    ----------
    Gensler and Sick, *Novel Criteria to Measure Performance of Time Series Segmentation
    Techniques*, LWA 2014.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> truth, predicted = Events.from_points([20, 50]), Events.from_points([18, 19, 23, 90])
    >>> metrics.window_once(truth, predicted, margin=5, span=(0, 100))
    PrecisionRecallResult(precision=0.500, recall=0.500, f1=0.500)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    truth, predicted = from_origin(pair)
    first, after = within(read_reach(margin, pair, "margin"), truth, predicted)
    hit = int((first < after).sum())
    # Counted from the same ranges, so that no rounding can make a hit a false alarm too.
    steps = np.bincount(first, minlength=len(predicted) + 1)
    steps -= np.bincount(after, minlength=len(predicted) + 1)
    alarms = int((np.cumsum(steps)[:-1] == 0).sum())
    return PrecisionRecallResult(ratio(hit, hit + alarms), ratio(hit, len(truth)))


def margin(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    margin: Any,
) -> PrecisionRecallResult:
    r"""Compute precision and recall of change points, right if closer than a margin (Truong).

    With n true events, m predicted events and TP the true events that have a predicted one closer
    than the margin M,

    .. math:: TP = \{t : \exists \hat t, |\hat t - t| < M\}, \quad
        P = \frac{|TP|}{m}, \quad R = \frac{|TP|}{n}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. Each event, point or range, is one unit.
    margin
        The distance that a prediction must stay below: samples for vectors without times (and for
        whole numbers), a number or a timedelta on other axes. A prediction at the very place is
        right even at margin 0, which the paper leaves out. ruptures takes 10 by default.

    Notes
    -----
    The paper's ratios can exceed 1 when one prediction is close to two true events. Here a
    prediction vouches for one true event only, and as many as possible are paired (a maximum
    matching). Where the windows do not overlap, that is the paper's definition. ruptures pairs
    greedily: the first true event takes every prediction close to it, so its numbers are at most
    these; it refuses margin 0. With whole numbers, "closer than M" means "at most M - 1".

    References
    ----------
    Truong, Oudre and Vayatis, *Selective review of offline change point detection methods*,
    Signal Processing 167, 2020, section 3.2.4.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> truth, predicted = Events.from_points([20, 50]), Events.from_points([18, 19, 23, 90])
    >>> metrics.margin(truth, predicted, margin=5, span=(0, 100))
    PrecisionRecallResult(precision=0.250, recall=0.500, f1=0.333)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    reach = read_reach(margin, pair, "margin")
    if pair.clock.kind == "integer":
        reach = max(ceil(reach) - 1, 0)
    hit = match(*within(reach, *from_origin(pair), closed=reach == 0))
    return PrecisionRecallResult(ratio(hit, len(pair.predicted)), ratio(hit, len(pair.truth)))


def read_reach(value: Any, pair: Pair, name: str) -> float:
    """Read a distance in ticks; beyond the whole span it makes no difference."""
    return min(read_duration(value, pair.clock, name), pair.stop - pair.start + 1)


def from_origin(pair: Pair) -> tuple[Intervals, Intervals]:
    """Count time from the start of the span; on an integer axis a point becomes its sample."""
    sides = []
    for side in (pair.truth, pair.predicted):
        starts, stops = side.starts - pair.start, side.stops - pair.start
        if pair.clock.kind == "integer":
            stops = np.maximum(stops, starts + 1)
        sides.append(Intervals(starts, stops, pair.clock))
    return sides[0], sides[1]


def within(
    reach: float, of: Intervals, by: Intervals, *, closed: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each interval, the range [first, after) of those in the other set within reach.

    Both sets are sorted and disjoint. A range does not hold its stop, so what begins exactly the
    reach after it is too far; what begins exactly the reach after a point is near if `closed`.
    """
    # What has begun within reach of one of the others leaves it behind from there on.
    leaving = np.bincount(_begun(reach, by, of, closed=closed), minlength=len(of) + 1)
    return np.cumsum(leaving)[:-1], _begun(reach, of, by, closed=closed)


def _begun(reach: float, of: Intervals, by: Intervals, *, closed: bool) -> NDArray[np.int64]:
    """Count, for each interval, those of the other set that begin at most the reach after it."""
    below, upto = reach, reach
    if of.clock.kind == "integer":
        below = upto = floor(reach)
    elif of.stops.dtype.kind == by.starts.dtype.kind == "i":  # whole ticks compare exactly
        below, upto = ceil(reach), floor(reach)
    begun = np.searchsorted(by.starts, of.stops + below, side="left")
    points = of.starts == of.stops
    if closed and points.any():
        begun[points] = np.searchsorted(by.starts, of.stops[points] + upto, side="right")
    return begun

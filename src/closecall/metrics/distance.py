"""Distances between true and predicted events, in units of time.

What the sets are: the literature measures between points (change points). Points are taken as
they are, so that `Events.from_points` gives the literature's numbers. An event that lasts is the
set of all its moments, and an average over it is an integral, as in section 3.1 of *Local
Evaluation of Time Series Anomaly Detection Algorithms* (KDD 2022); label vectors are such events.
Beside events that last, points weigh nothing in an average, but others may be near to them.

Between an empty set and another one, distances are inf; between two empty sets nan. On a datetime
axis both are NaT.
"""

from __future__ import annotations

from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.metrics._kernels import directed
from closecall.metrics.result import ValueResult
from closecall.parameters import is_number, read_number
from closecall.series import read_pair

if TYPE_CHECKING:
    from closecall.clock import Ticks
    from closecall.events import Intervals
    from closecall.series import Pair


def hausdorff(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute the Hausdorff distance: how far the worst moment is from the other side.

    .. math:: \max\left(\sup_{x \in X} d(x, Y), \sup_{y \in Y} d(y, X)\right)

    In [0, inf], a length of time, lower is better. inf if one side is empty, nan if both are (NaT
    for either on a datetime axis). O(n + m) for n true and m predicted events. No parameters but
    those of `closecall.affiliation`.

    For points this is the distance of the literature (``hausdorff`` of ruptures, once the end of
    the series is left out of its lists). Events that last are sets of moments: between samples 0
    and 2 the moment farthest from both is half a sample away, where a distance between sample
    numbers would say one.

    References
    ----------
    Truong, Oudre and Vayatis, *Selective review of offline change point detection methods*,
    Signal Processing 2020.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> points = Events.from_points
    >>> metrics.hausdorff(points([10, 20]), points([12, 35]), span=(0, 40))
    ValueResult(value=15)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    return _in_time(_worst(pair), pair).signed("hausdorff", pair)


def modified_hausdorff(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute the modified Hausdorff distance: the larger of the two mean distances.

    .. math::

        \max\left(\frac{1}{|X|} \sum_{x \in X} d(x, Y), \frac{1}{|Y|} \sum_{y \in Y} d(y, X)\right)

    for points, and for events that last :math:`\frac{1}{|X|} \int_X d(x, Y) dx` with the same in
    return. In [0, inf], a length of time, lower is better. inf if one side is empty, nan if both
    are (NaT for either on a datetime axis). O(n + m). No parameters but those of
    `closecall.affiliation`.

    References
    ----------
    Dubuisson and Jain, *A modified Hausdorff distance for object matching*, ICPR 1994.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> points = Events.from_points
    >>> metrics.modified_hausdorff(points([10, 20]), points([12, 35]), span=(0, 40))
    ValueResult(value=8.5)
    >>> metrics.modified_hausdorff([0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0])
    ValueResult(value=0.25)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    empty = len(pair.truth) == 0 or len(pair.predicted) == 0
    distance = _worst(pair) if empty else float(max(_directed(pair)[1]))
    return _in_time(distance, pair).signed("modified_hausdorff", pair)


def semimetric(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    p: float = 1,
) -> ValueResult:
    r"""Compute the averaged distance of order p between the two sides (the MJ distances).

    .. math::

        \left(\frac{1}{2 |X|} \sum_{x \in X} d(x, Y)^p
              + \frac{1}{2 |Y|} \sum_{y \in Y} d(y, X)^p\right)^{1/p}

    for points, and with integrals in place of the sums for events that last. In [0, inf], a
    length of time, lower is better. inf if one side is empty, nan if both are (NaT for either on
    a datetime axis). O(n + m).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    p
        Order, above 0 and finite. 1 (the default) is the plain average; the larger it is, the
        more the worst distances count, up to `hausdorff`.

    References
    ----------
    James, Menzies, Azizi and Chan, *Novel semi-metrics for multivariate change point analysis and
    anomaly detection*, Physica D 2020.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> points = Events.from_points
    >>> metrics.semimetric(points([10, 20]), points([12, 35]), span=(0, 40))
    ValueResult(value=6.75)
    >>> metrics.semimetric(points([10, 20]), points([12, 35]), span=(0, 40), p=2)
    ValueResult(value=8.61684)
    """
    hint = "For p = inf use `hausdorff`." if is_number(p) and p == inf else ""
    p = read_number(p, "p", "a finite number above 0", lambda x: 0 < x < inf, hint)
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    distance = worst = _worst(pair)
    if isfinite(worst) and worst > 0:
        # Powers of shares of the worst distance cannot overflow.
        mean = float(np.mean(_directed(pair, p, worst)[1]))
        distance = worst * mean ** (1 / p)
    return _in_time(distance, pair).signed("semimetric", pair, {"p": p})


def segmentation(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute the segmentation score: how far predicted boundaries are from true ones.

    .. math:: \frac{1}{n} \sum_{b \in \text{predicted boundaries}} \min_{c} |b - c|

    with c the true boundaries and n the length of the series. A number without unit in [0, inf),
    lower is better, and at most 1 per predicted boundary. nan if either side has no boundary.
    O(n + m log n). No parameters but those of `closecall.affiliation`.

    The boundaries of events that last are their starts and stops, those of points the points
    themselves; where the series itself starts or stops nothing changes, so that is none, and one
    that two touching events share counts once. Each predicted boundary goes to its nearest true
    one; a true boundary that nobody predicts costs nothing: the score is made for algorithms
    that are told how many boundaries to predict. ``relative_change_point_distance`` of the TSSB
    benchmark is this score over the number of boundaries.

    References
    ----------
    Gharghabi et al., *Matrix Profile VIII: Domain Agnostic Online Semantic Segmentation at
    Superhuman Performance Levels*, ICDM 2017 (ScoreRegimes).

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> points = Events.from_points
    >>> metrics.segmentation(points([10, 20]), points([12, 35]), span=(0, 40))
    ValueResult(value=0.425)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    true, found = _boundaries(pair.truth, pair), _boundaries(pair.predicted, pair)
    score = nan
    if true.size and found.size:
        after = np.searchsorted(true, found)
        right = np.abs(true[np.minimum(after, true.size - 1)] - found)
        left = np.abs(found - true[np.maximum(after - 1, 0)])
        score = float(np.minimum(left, right).sum() / (pair.stop - pair.start))
    return ValueResult(score).signed("segmentation", pair)


def _boundaries(intervals: Intervals, pair: Pair) -> Ticks:
    edges = np.column_stack((intervals.starts, intervals.stops)).ravel()
    new = np.append(edges[:1] == edges[:1], edges[1:] > edges[:-1])
    return edges[new & (edges > pair.start) & (edges < pair.stop)]


def _worst(pair: Pair) -> float:
    """Return the Hausdorff distance in ticks; inf to an empty side, nan between two of them."""
    empty = (len(pair.truth) == 0) + (len(pair.predicted) == 0)
    if empty:
        return inf if empty == 1 else nan
    return float(max(_directed(pair)[0]))


def _directed(
    pair: Pair, power: float = 1.0, unit: float = 1.0
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the largest distance in each direction, and the mean of a power in each."""
    true, found = pair.truth, pair.predicted
    forth = directed(found.starts, found.stops, true.starts, true.stops, power, unit)
    back = directed(true.starts, true.stops, found.starts, found.stops, power, unit)
    return (forth[0], back[0]), (forth[1], back[1])


def _in_time(ticks: float, pair: Pair) -> ValueResult:
    if pair.clock.kind != "datetime":
        return ValueResult(ticks)
    return ValueResult(pair.clock.duration(np.array([ticks]))[0])

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

from functools import partial
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.metrics.entry import Metric
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
    r"""Give the Hausdorff distance: how far the worst moment of a side is from the other side.

    .. math:: \max\left(\sup_{x \in X} d(x, Y), \sup_{y \in Y} d(y, X)\right)

    In [0, inf], a length of time, lower is better. inf if one side is empty, nan if both are (NaT
    for either on a datetime axis). No parameters. O(n + m) for n true and m predicted
    events.

    For points this is the distance of the literature (``hausdorff`` of ruptures, once the end of
    the series is left out of its lists). Events that last are sets of moments: between samples 0
    and 2 the moment farthest from both is half a sample away, where a distance between sample
    numbers would say one.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.

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
    return _hausdorff(read_pair(truth, predicted, times=times, end=end, span=span))


def _hausdorff(pair: Pair) -> ValueResult:
    return _in_time(_worst(pair), pair)


def modified_hausdorff(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Give the modified Hausdorff distance: the larger of the two mean directed distances.

    .. math::

        \max\left(\frac{1}{|X|} \sum_{x \in X} d(x, Y), \frac{1}{|Y|} \sum_{y \in Y} d(y, X)\right)

    for points, and for events that last :math:`\frac{1}{|X|} \int_X d(x, Y) dx` with the same in
    return. In [0, inf], a length of time, lower is better. inf if one side is empty, nan if both
    are (NaT for either on a datetime axis). No parameters. O(n + m).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.

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
    return _modified_hausdorff(read_pair(truth, predicted, times=times, end=end, span=span))


def _modified_hausdorff(pair: Pair) -> ValueResult:
    if len(pair.truth) == 0 or len(pair.predicted) == 0:
        return _in_time(_worst(pair), pair)
    return _in_time(max(_directed(pair, back)[1] for back in (False, True)), pair)


def semimetric(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    p: float = 1,
) -> ValueResult:
    r"""Averaged distance of order p between the two sides (the MJ distances).

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
    return _semimetric(read_pair(truth, predicted, times=times, end=end, span=span), p=p)


def _semimetric(pair: Pair, *, p: float = 1) -> ValueResult:
    worst = _worst(pair)
    if not isfinite(worst) or worst == 0:
        return _in_time(worst, pair)
    # Powers of shares of the worst distance cannot overflow.
    means = [_directed(pair, back, p, worst)[1] for back in (False, True)]
    return _in_time(worst * float(np.mean(means)) ** (1 / p), pair)


def segmentation(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Segmentation score: distances of the predicted boundaries to the true ones, over the span.

    .. math:: \frac{1}{n} \sum_{b \in \text{predicted boundaries}} \min_{c} |b - c|

    with c the true boundaries and n the length of the series. A number without unit in [0, inf),
    lower is better, and at most 1 per predicted boundary. nan if either side has no boundary. No
    parameters. O(n + m log n).

    The boundaries of events that last are their starts and stops, those of points the points
    themselves; where the series itself starts or stops nothing changes, so that is none, and one
    that two touching events share counts once. Each predicted boundary goes to its nearest true
    one; a true boundary that nobody predicts costs nothing: the score is made for algorithms
    that are told how many boundaries to predict. ``relative_change_point_distance`` of the TSSB
    benchmark is this score over the number of boundaries.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.

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
    return _segmentation(read_pair(truth, predicted, times=times, end=end, span=span))


def _segmentation(pair: Pair) -> ValueResult:
    true, found = _boundaries(pair.truth, pair), _boundaries(pair.predicted, pair)
    if true.size == 0 or found.size == 0:
        return ValueResult(nan)
    after = np.searchsorted(true, found)
    right = np.abs(true[np.minimum(after, true.size - 1)] - found)
    left = np.abs(found - true[np.maximum(after - 1, 0)])
    return ValueResult(float(np.minimum(left, right).sum() / (pair.stop - pair.start)))


def _boundaries(intervals: Intervals, pair: Pair) -> Ticks:
    edges = np.column_stack((intervals.starts, intervals.stops)).ravel()
    new = np.append(edges[:1] == edges[:1], edges[1:] > edges[:-1])
    return edges[new & (edges > pair.start) & (edges < pair.stop)]


def _worst(pair: Pair) -> float:
    """Give the Hausdorff distance in ticks; there is none from or to an empty side."""
    empty = (len(pair.truth) == 0) + (len(pair.predicted) == 0)
    if empty:
        return inf if empty == 1 else nan
    return max(_directed(pair, back)[0] for back in (False, True))


def _directed(
    pair: Pair,
    back: bool,
    power: float = 1,
    unit: float = 1,
) -> tuple[float, float]:
    """Measure from the predictions to the truth, or back: the largest and the mean distance."""
    from closecall.metrics import _directed as kernel

    of, to = (pair.truth, pair.predicted) if back else (pair.predicted, pair.truth)
    largest, mean = kernel.directed(
        of.starts, of.stops, to.starts, to.stops, float(power), float(unit)
    )
    return float(largest), float(mean)


def _in_time(ticks: float, pair: Pair) -> ValueResult:
    if pair.clock.kind != "datetime":
        return ValueResult(ticks)
    return ValueResult(pair.clock.duration(np.array([ticks]))[0])


_metric = partial(
    Metric,
    family="distance",
    gives=("value",),
    highest=inf,
    higher_is_better=False,
    mainly_for="point",
    handles_adjacency=True,
)

ENTRIES = (
    _metric(
        name="hausdorff",
        function=hausdorff,
        paper="Truong et al., Signal Processing 2020",
    ),
    _metric(
        name="modified_hausdorff",
        function=modified_hausdorff,
        paper="Dubuisson and Jain, ICPR 1994",
    ),
    _metric(
        name="semimetric",
        function=semimetric,
        paper="James et al., Physica D 2020",
    ),
    _metric(
        name="segmentation",
        function=segmentation,
        paper="Gharghabi et al., ICDM 2017",
    ),
)

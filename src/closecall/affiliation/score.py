"""Affiliation precision and recall of one series, at the events that were predicted."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import numpy as np

from closecall.affiliation import _kernels
from closecall.affiliation.event_scores import EventScores
from closecall.affiliation.result import Affiliation
from closecall.affiliation.zones import origin_of, zone_borders
from closecall.errors import InputError, shown
from closecall.parameters import is_number, read_length
from closecall.series import Pair, read_pair


def affiliation(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    point_length: Any = None,
    close: Any = None,
    zero_division: float = nan,
) -> Affiliation:
    r"""Score predicted events against true events, locally to each true event.

    The time axis is cut into one zone :math:`I_j` per true event, halfway between neighbours. In
    each zone the distances between predictions and the event are compared with those of a point
    drawn at random in the zone (equations 4 and 5 of the paper):

    .. math::

        P_{\text{precision}_j} = \frac{1}{|\text{pred} \cap I_j|}
            \int_{\text{pred} \cap I_j} \bar F_{\text{precision}_j}(\text{dist}(x, \text{gt}_j)) dx,
        \quad
        P_{\text{recall}_j} = \frac{1}{|\text{gt}_j|}
            \int_{\text{gt}_j} \bar F_{y, \text{recall}_j}(\text{dist}(y, \text{pred} \cap I_j)) dy,

    and averaged over the events where they are defined (equation 6). Both are in [0, 1], higher
    is better, and about 1/2 means no better than a random point. The cost is O(n + m) for n true
    and m predicted events, after reading the labels once.

    Parameters
    ----------
    truth, predicted
        Two 0/1 vectors of one length, or two `Events`.
    times
        For vectors: strictly increasing times of the samples (numbers or datetimes); their numbers
        0, 1, 2, ... if not given.
    end
        For vectors: where the last sample stops. Inferred for evenly spaced times, else required.
    span
        Where the whole series starts and stops. Required for `Events`; for vectors it is
        ``(times[0], end)``.
    ignore
        Time that does not count: `Events`, pairs ``(start, stop)`` in any order, or a 0/1 vector.
        The axis closes over it, so distances, zones and durations count evaluated time only.
        Events that lie wholly inside are left out; results are told in the caller's own times.
    max_step
        For vectors: how long a sample lasts at most, a number or a timedelta; what is left of a
        longer step is ignored. Steps last as long as they are if not given.
    point_length
        A length for true and predicted points, a number or a timedelta, cut at the next event. In
        a zone that also has predicted ranges, points without a length weigh nothing in precision.
    close
        How far from a true event an alarm may be at most to be a close call, a number or a
        timedelta; see ``events.outcome``. Without it, only chance decides what is close.
    zero_division
        What an event without any affiliated prediction counts for in the mean precision: nan
        (the default) leaves it out, 0 or 1 counts it as that.

    Returns
    -------
    Affiliation
        ``precision``, ``recall``, ``f1``, ``fbeta(beta)`` and ``events``, one row per true event.
        Without any prediction, recall is 0 and precision and F1 are nan.

    Examples
    --------
    >>> import closecall as cc
    >>> r = cc.affiliation([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
    >>> r
    Affiliation(precision=0.812, recall=0.938, f1=0.871, events=1)
    >>> r.events.delay
    array([1.])

    The same with times, as events:

    >>> from datetime import datetime
    >>> at = lambda minute: datetime(2024, 1, 1, 3, minute)
    >>> truth, predicted = cc.Events([(at(2), at(4))]), cc.Events([(at(3), at(5))])
    >>> cc.affiliation(truth, predicted, span=(at(0), at(8))).events.delay
    array([60000000000], dtype='timedelta64[ns]')

    Without the hours of maintenance:

    >>> r = cc.affiliation(cc.Events([(2, 4)]), cc.Events([(7, 8)]), span=(0, 10), ignore=[(4, 7)])
    >>> r.events.late, r.ignored_time
    (array([0.5]), 3)
    """
    require_zero_division(zero_division)
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    pair = read_pair(truth, predicted, **axis).calling(close)
    if point_length is not None:
        length = read_length(point_length, pair.clock, "point_length")
        pair = pair.with_point_length(length).asking(point_length=point_length)
    pair.require_truth("affiliation")
    return score_pair(pair, zero_division)


def require_zero_division(value: Any) -> None:
    """Raise unless an undefined precision can count as this: nan, 0 or 1."""
    if not is_number(value) or not (value in (0, 1) or value != value):  # noqa: PLR0124
        raise InputError("to be nan, 0 or 1", shown(value), argument="zero_division")


def score_pair(pair: Pair, zero_division: float = nan, *, ahead: bool = True) -> Affiliation:
    """Score events that have been checked already.

    Unless `ahead`, ``nearest`` only considers alarms that start before the event's zone stops.
    """
    truth = pair.truth.starts, pair.truth.stops
    predicted = pair.predicted.starts, pair.predicted.stops
    borders, origin = zone_borders(pair), origin_of(pair)
    zones = len(borders) - 1
    # Each border cuts at most one prediction in two.
    pieces = np.empty((len(pair.predicted) + zones, 2), dtype=borders.dtype)
    offsets = np.empty(zones + 1, dtype=np.int64)
    _kernels.cut_at_borders(*predicted, origin, borders, pieces, offsets)
    table = np.empty((zones, _kernels.COLUMNS))
    exact = borders.dtype.kind == "i"
    sums = _kernels.score_zones(*truth, origin, borders, pieces, offsets, table, exact)
    close = inf if pair.close is None else float(pair.close)
    _kernels.find_outcomes(*truth, *predicted, origin, borders, offsets, table, close, ahead)
    events = EventScores(pair, borders, table, np.diff(offsets), len(pair.predicted))
    # The mean over the events (equation 6).
    precision_sum, defined, recall_sum = sums
    count = len(events.table)
    if isnan(zero_division):
        precision = precision_sum / defined if defined else nan
    else:
        precision = (precision_sum + zero_division * (count - defined)) / count
    return Affiliation(float(precision), float(recall_sum / count), events, float(zero_division))

"""Enhanced time-series aware precision and recall (Hwang et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.metrics._common_parts import CommonParts, common_parts
from closecall.metrics.entry import Metric
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import read_fraction
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.events import Intervals
    from closecall.series import Pair

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


def enhanced_time_aware(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    theta_p: float = 0.5,
    theta_r: float = 0.1,
) -> PrecisionRecallResult:
    r"""Enhanced time-series aware precision and recall: only what matches well counts at all.

    A true event :math:`a` is detected (:math:`a \in D`) if correct predictions match a share of
    at least :math:`\theta_r` of it, and a prediction :math:`p` is correct (:math:`p \in C`) if at
    least :math:`\theta_p` of it lies in detected events; D and C are the largest sets for which
    both hold. With the shares :math:`r_a = \sum_{p \in C} |a \cap p| / |a|` and
    :math:`q_p = \sum_{a \in D} |a \cap p| / |p|`,

    .. math::

        R = \frac{1}{n} \sum_{a \in D} \frac{1 + r_a}{2}, \quad
        P = \frac{\sum_{p \in C} \sqrt{|p|} \, (1 + q_p) / 2}{\sum_p \sqrt{|p|}}.

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`; lengths are in samples on an integer axis, which label
        vectors without times have, and durations on the others.
    theta_p
        Share of a prediction, in [0, 1], that must lie in detected events; 0.5, as on the authors'
        command line (their function for vectors has 0.7).
    theta_r
        Share of an event, in [0, 1], that correct predictions must match; 0.1, as there.

    Notes
    -----
    This follows the authors' package (eTaPR 22.6.1, github.com/saurf4ng/eTaPR), which settles what
    a text can leave open: both thresholds are met by equality; shares count only what is left after
    undetected events and wrong predictions are taken away, again and again until nothing changes;
    a threshold of 0 is met by everything, even by an event that nobody predicted. The package also
    has a section after each event where predictions fade, as in `time_aware`, switched off by
    default and not part of this metric. Where nothing is predicted or true it gives 0 or fails;
    here it is nan. It compares every event with every prediction; here the cost is O(n + m), apart
    from the search in sorted times.

    faster-etapr agrees with it, and so does tsadmetrics, whose theta_r is 0.5 by default.

    Points are limits of short ranges: one that meets a range is matched whole, and weighs nothing
    beside ranges; points alone weigh the same.

    References
    ----------
    W.-S. Hwang, J.-H. Yun, J. Kim, B. G. Min. Do You Know Existing Accuracy Metrics Overrate
    Time-Series Anomaly Detections? SAC 2022. https://doi.org/10.1145/3477314.3507024

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.enhanced_time_aware([0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0, 0])
    PrecisionRecallResult(precision=0.833, recall=0.750, f1=0.789)
    >>> metrics.enhanced_time_aware([0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1])
    PrecisionRecallResult(precision=0.000, recall=0.000, f1=0.000)
    """
    return _enhanced_time_aware(
        read_pair(truth, predicted, times=times, end=end, span=span),
        theta_p=theta_p,
        theta_r=theta_r,
    )


def _enhanced_time_aware(
    pair: Pair, *, theta_p: float = 0.5, theta_r: float = 0.1
) -> PrecisionRecallResult:
    theta_p, theta_r = read_fraction(theta_p, "theta_p"), read_fraction(theta_r, "theta_r")
    parts = common_parts(pair.truth, pair.predicted)
    undetected, wrong = _pruned(pair, parts, theta_p=theta_p, theta_r=theta_r)
    left = ~(undetected[parts.first] | wrong[parts.second])
    found = _scores(pair.truth, parts.first[left], parts.lengths[left], theta_r)
    correct = _scores(pair.predicted, parts.second[left], parts.lengths[left], theta_p)
    weights = np.sqrt(_lengths(pair.predicted))
    if not weights.any():
        weights = np.ones_like(weights)
    return PrecisionRecallResult(
        ratio(float((weights * correct).sum()), float(weights.sum())),
        ratio(float(found.sum()), found.size),
    )


def _lengths(events: Intervals) -> Floats:
    return (events.stops - events.starts).astype(np.float64)


def _pruned(
    pair: Pair, parts: CommonParts, *, theta_p: float, theta_r: float
) -> tuple[Flags, Flags]:
    """Find the events that are not detected and the predictions that are not correct."""
    from closecall.metrics._pruning import prune

    events, predictions = len(pair.truth), len(pair.predicted)
    nodes = np.concatenate((parts.first, parts.second + events))
    partner = np.concatenate((parts.second + events, parts.first))
    counts = np.bincount(nodes, minlength=events + predictions)
    removed = prune(
        np.concatenate((_lengths(pair.truth), _lengths(pair.predicted))),
        np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts))),
        np.flatnonzero(counts),
        partner,
        np.concatenate((parts.lengths, parts.lengths)),
        np.repeat([theta_r, theta_p], [events, predictions]),
    )
    return removed[:events], removed[events:]


def _scores(events: Intervals, owner: NDArray[np.int64], lengths: Floats, theta: float) -> Floats:
    """Give (detection + detection x portion) / 2 of each event, true or predicted."""
    size = len(events)
    whole = _lengths(events)
    points = whole == 0
    matched = np.bincount(owner, weights=lengths, minlength=size)
    share = np.minimum(matched / np.where(points, 1.0, whole), 1.0)
    share[points] = np.bincount(owner, minlength=size)[points] > 0
    scores: Floats = np.where(share >= theta, (1 + share) / 2, 0.0)
    return scores


ENTRIES = (
    Metric(
        name="enhanced_time_aware",
        function=enhanced_time_aware,
        family="range",
        mainly_for="range",
        handles_durations=True,
        paper="Hwang et al., Do You Know Existing Accuracy Metrics Overrate Time-Series Anomaly "
        "Detections?, SAC 2022",
    ),
)

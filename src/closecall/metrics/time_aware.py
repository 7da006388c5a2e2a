"""Time-series aware precision and recall (Hwang et al. 2019), and the enhanced ones (2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, shown
from closecall.events import Intervals
from closecall.metrics._kernels import prune
from closecall.metrics.overlap import CommonParts, common_parts, lengths
from closecall.metrics.range_based import RunningSums
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import read_duration, read_fraction
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.series import Pair

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

_ROUNDING = 1e-12  # the middle of a section weighs exactly 1/2, and a sum must not exceed it


def time_aware(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    theta: float = 0.5,
    delta: Any = 0,
    alpha: float = 0.5,
) -> PrecisionRecallResult:
    r"""Compute time-series aware precision and recall: how many are detected, how much of each.

    Each true event :math:`a` is followed by an ambiguous section :math:`a'` of length
    :math:`\delta`, where predictions still count, less and less: at the offset where :math:`v` has
    risen from -6 to 6 the weight is :math:`1 / (1 + e^v)`. With :math:`O` the overlap with an
    event and :math:`S` the weight of the overlap with its section, the portions are

    .. math::

        r_a = \min\Big(1, \frac{\sum_p O(a, p) + S(a', p)}{|a|}\Big), \quad
        q_p = \frac{\sum_a O(a, p) + S(a', p)}{|p|},

    and, with means over true events :math:`a` and over predicted ones :math:`p`,

    .. math::

        R = \alpha \, \overline{[r_a > \theta]} + (1 - \alpha) \, \overline{r_a}, \quad
        P = \alpha \, \overline{[q_p > \theta]} + (1 - \alpha) \, \overline{q_p}.

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. On an integer axis, which label vectors without times
        have, samples are counted; on the others, lengths are durations and S is an integral.
    theta
        A portion above this, in [0, 1], is a detection; 0.5, as in the authors' program. At 1
        nothing is detected, as there.
    delta
        Length of the section after each event, cut where the next one starts: samples on an
        integer axis, a number on an axis of floats, a timedelta between datetimes; 0, as in the
        authors' program. The paper on the affiliation metrics uses 180 samples.
    alpha
        Weight in [0, 1] of detection against portion; 0.5, as in the authors' program.

    Notes
    -----
    This follows the authors' program of 2019 (github.com/saurf4ng/TaPR), but for three things.
    There, a section that reaches the next event also covers its first sample, which can put a
    precision above 1; here it stops before it. There, events of one sample and sections of one
    sample divide by zero; here such a section weighs what the first sample of any section does.
    There, no prediction or no truth gives 0; here it is nan.

    The same authors' later package (eTaPR_pkg.tapr), and tsadmetrics after it, differ: a portion
    of exactly theta is a detection, and the section has delta + 1 samples. tsadmetrics leaves out
    a section of one sample.

    Points are limits of short ranges: a predicted point has the portion 1 in an event and the
    weight of its place in a section; a true point has the portion 1 if anything covers it.

    References
    ----------
    W.-S. Hwang, J.-H. Yun, J. Kim, H. C. Kim. Time-Series Aware Precision and Recall for Anomaly
    Detection. CIKM 2019. https://doi.org/10.1145/3357384.3358118

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.time_aware([0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 0])
    PrecisionRecallResult(precision=0.250, recall=0.250, f1=0.250)
    >>> metrics.time_aware([0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 0], delta=2)
    PrecisionRecallResult(precision=0.875, recall=0.875, f1=0.875)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    theta, alpha = read_fraction(theta, "theta"), read_fraction(alpha, "alpha")
    overlaps = common_parts(pair.truth, pair.predicted)
    event, prediction, later = _later_parts(pair, _read_delta(delta, pair))
    found = _portions(pair.truth, overlaps.first, overlaps, event, later)
    correct = _portions(pair.predicted, overlaps.second, overlaps, prediction, later)

    def score(portions: Floats) -> float:
        detected = ratio(float((portions - theta > _ROUNDING).sum()), portions.size)
        return alpha * detected + (1 - alpha) * ratio(float(portions.sum()), portions.size)

    parameters = {"theta": theta, "delta": delta, "alpha": alpha}
    return PrecisionRecallResult(score(correct), score(found)).signed(
        "time_aware", pair, parameters
    )


def _read_delta(delta: Any, pair: Pair) -> float:
    ticks = read_duration(delta, pair.clock, "delta")
    if pair.clock.kind == "integer" and not ticks.is_integer():
        rule = "to be a whole number of samples, 0 or more"
        raise InputError(rule, shown(delta), argument="delta")
    return ticks


def _later_parts(pair: Pair, delta: float) -> tuple[Indices, Indices, tuple[Floats, Floats]]:
    """Weigh the predictions in what follows each true event, up to delta or to the next one.

    Returns the events, the predictions, and the weights of ranges and at the places of points.
    """
    length = np.full(len(pair.truth), delta)
    length[:-1] = np.minimum(delta, pair.truth.starts[1:] - pair.truth.stops[:-1])
    # Beyond the span nobody predicts, but the decay still runs its full length.
    reach = np.minimum(length, (pair.stop - pair.truth.stops).astype(np.float64))
    if pair.clock.kind != "number":
        reach = np.ceil(reach).astype(np.int64)
    ends = pair.truth.stops + reach
    event = np.flatnonzero(ends > pair.truth.stops)
    sections = Intervals(pair.truth.stops[event], ends[event], pair.clock)
    parts = common_parts(sections, pair.predicted)
    owner = event[parts.first]
    left, right = (
        np.minimum((edge - pair.truth.stops[owner]).astype(np.float64), length[owner])
        for edge in (parts.starts, parts.stops)
    )
    counted = pair.clock.kind == "integer"
    is_point = pair.predicted.starts[parts.second] == pair.predicted.stops[parts.second]
    weight = decay_between(left, right, length[owner], counted=counted)
    density = np.where(is_point, decay_at(left, length[owner], counted=counted), 0.0)
    return owner, parts.second, (weight, density)


def _portions(
    events: Intervals,
    owner: Indices,
    overlaps: CommonParts,
    later_owner: Indices,
    later: tuple[Floats, Floats],
) -> Floats:
    """Return how much of each event, true or predicted, is matched; 1 at most."""
    size, whole = len(events), lengths(events).astype(np.float64)
    covered = np.bincount(owner, weights=overlaps.lengths, minlength=size)
    decayed = np.bincount(later_owner, weights=later[0], minlength=size)
    points = whole == 0
    portions = (covered + decayed) / np.where(points, 1.0, whole)
    if points.any():
        held = np.bincount(owner, minlength=size) > 0
        density = np.bincount(later_owner, weights=later[1], minlength=size)
        portions[points] = np.where(held | (decayed > 0), 1.0, density)[points]
    return np.minimum(portions, 1.0)


# The decay after an event: at offset x of a section of length m the weight is 1/(1 + exp(v)), with
# v rising evenly from -6 to 6: over the m samples on an integer axis, over [0, m] elsewhere.
_REACH = 6.0
_LONGEST_SUMMED = 4096  # samples; the formula for longer sections is exact to 1e-12


def decay_at(offset: Floats, length: Floats, *, counted: bool) -> Floats:
    """Return the weight at an offset in a section; `counted` says that time is in samples."""
    return _sigmoid(offset, _slope(length, counted=counted))


def decay_between(left: Floats, right: Floats, length: Floats, *, counted: bool) -> Floats:
    """Return the weight of [left, right) in a section, summed over samples or integrated."""
    if not counted:
        return _integral(left, right, _slope(length, counted=False))
    total = np.empty(length.size)
    short = length <= _LONGEST_SUMMED

    def sample_weights(size: int) -> Floats:
        return decay_at(np.arange(float(size)), np.full(size, float(size)), counted=True)

    sums = RunningSums(length[short], sample_weights)
    total[short] = sums.between(left[short], right[short])
    total[~short] = _euler_maclaurin(left[~short], right[~short], length[~short])
    return total


def _slope(length: Floats, *, counted: bool) -> Floats:
    # A section of one sample has no slope; its sample weighs as the first of any section.
    return 2 * _REACH / (np.maximum(length - 1, 1) if counted else length)


def _sigmoid(offset: Floats, slope: Floats) -> Floats:
    weights: Floats = 1 / (1 + np.exp(slope * offset - _REACH))
    return weights


def _integral(left: Floats, right: Floats, slope: Floats) -> Floats:
    # The difference of two logarithms would cancel on short parts of long sections.
    grown = np.expm1(slope * (right - left))
    integral: Floats = np.log1p(grown * _sigmoid(right, slope)) / slope
    return integral


def _euler_maclaurin(left: Floats, right: Floats, length: Floats) -> Floats:
    """Sum a smooth function over samples: its integral, corrected at both ends."""
    slope = _slope(length, counted=True)
    first, last = _sigmoid(left, slope), _sigmoid(right, slope)
    steepness = first * (1 - first) - last * (1 - last)
    return _integral(left, right, slope) + (first - last) / 2 + slope * steepness / 12


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
    r"""Compute enhanced time-series aware precision and recall: only good matches count.

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
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    theta_p, theta_r = read_fraction(theta_p, "theta_p"), read_fraction(theta_r, "theta_r")
    parts = common_parts(pair.truth, pair.predicted)
    removed = _pruned(pair, parts, theta_p=theta_p, theta_r=theta_r)
    left = ~(removed[parts.first] | removed[parts.second + len(pair.truth)])
    found = _scores(pair.truth, parts.first[left], parts.lengths[left], theta_r)
    correct = _scores(pair.predicted, parts.second[left], parts.lengths[left], theta_p)
    durations = lengths(pair.predicted)
    # In the longest unit that divides all, so that the unit of the ticks does not matter.
    unit = np.gcd.reduce(durations) if durations.dtype.kind == "i" and durations.any() else 1
    weights = np.sqrt(durations / unit)
    if not weights.any():
        weights = np.ones_like(weights)
    return PrecisionRecallResult(
        ratio(float((weights * correct).sum()), float(weights.sum())),
        ratio(float(found.sum()), found.size),
    ).signed("enhanced_time_aware", pair, {"theta_p": theta_p, "theta_r": theta_r})


def _pruned(pair: Pair, parts: CommonParts, *, theta_p: float, theta_r: float) -> NDArray[np.bool_]:
    """Mark the events that are not detected, and after them the predictions that are wrong."""
    events, predictions = len(pair.truth), len(pair.predicted)
    nodes = np.concatenate((parts.first, parts.second + events))
    counts = np.bincount(nodes, minlength=events + predictions)
    removed: NDArray[np.bool_] = prune(
        np.concatenate((lengths(pair.truth), lengths(pair.predicted))).astype(np.float64),
        np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts))),
        np.flatnonzero(counts),
        np.concatenate((parts.second + events, parts.first)),
        np.concatenate((parts.lengths, parts.lengths)),
        np.repeat([theta_r, theta_p], [events, predictions]),
    )
    return removed


def _scores(events: Intervals, owner: Indices, matched: Floats, theta: float) -> Floats:
    """Return (detection + detection x portion) / 2 of each event, true or predicted."""
    size, whole = len(events), lengths(events).astype(np.float64)
    points = whole == 0
    total = np.bincount(owner, weights=matched, minlength=size)
    share = np.minimum(total / np.where(points, 1.0, whole), 1.0)
    share[points] = np.bincount(owner, minlength=size)[points] > 0
    scores: Floats = np.where(share >= theta, (1 + share) / 2, 0.0)
    return scores

"""Metrics that count samples or whole events: classical, composite, event-wise, point-adjusted."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.fscore import f_measure
from closecall.metrics.overlap import (
    found_share,
    lengths,
    overlap_counts,
    overlap_lengths,
    total_length,
)
from closecall.metrics.result import PrecisionRecallResult, ValueResult, ratio
from closecall.parameters import read_number, require_choice
from closecall.series import read_pair, read_sample_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Pair

_PERCENT = 100


def classical(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    by: Literal["samples", "duration"] = "samples",
) -> PrecisionRecallResult:
    r"""Compute classical precision and recall, sample by sample.

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{TP + FN}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    by
        What is counted for label vectors: ``"samples"``, or their ``"duration"`` on uneven
        times. Events are always counted by duration; on an integer axis that is the same.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.classical([0, 1, 1, 0], [0, 0, 1, 1])
    PrecisionRecallResult(precision=0.500, recall=0.500, f1=0.500)
    """
    require_choice(by, "by", ("samples", "duration"))
    read = read_sample_pair if by == "samples" else read_pair
    pair = read(truth, predicted, times=times, end=end, span=span)
    hit = float(overlap_lengths(pair.truth, pair.predicted).sum())
    return PrecisionRecallResult(
        ratio(hit, total_length(pair.predicted)), ratio(hit, total_length(pair.truth))
    ).signed("classical", pair, {"by": by})


def composite(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> PrecisionRecallResult:
    r"""Compute the precision of predicted time and the recall of events; ``f1`` is composite F1.

    .. math::

        P = \frac{|\text{pred} \cap \text{gt}|}{|\text{pred}|}, \quad
        R = \frac{\#\{j : \text{gt}_j \text{ overlaps a prediction}\}}{\#\text{gt}}

    Both in [0, 1], higher is better; precision is nan where nothing is predicted (or nothing that
    lasts), recall without a true event. Time is counted in samples for label vectors without
    times and on every integer axis, and by duration elsewhere. No parameters but those of
    `closecall.affiliation`.

    One predicted moment inside each true event and none outside is enough for a perfect score.

    References
    ----------
    Garg, Zhang, Samaran, Savitha and Foo, *An Evaluation of Anomaly Detection and Diagnosis in
    Multivariate Time Series*, IEEE TNNLS 2021.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.composite([0, 1, 1, 1, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0, 0, 0])
    PrecisionRecallResult(precision=0.500, recall=0.500, f1=0.500)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    hit = float(overlap_lengths(pair.predicted, pair.truth).sum())
    return PrecisionRecallResult(
        ratio(hit, total_length(pair.predicted)), found_share(pair.truth, pair.predicted)
    ).signed("composite", pair)


def event_wise(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> PrecisionRecallResult:
    r"""Compute precision and recall of whole events: any overlap counts, whatever its length.

    .. math::

        P = \frac{\#\{i : \text{pred}_i \text{ overlaps a true event}\}}{\#\text{pred}}, \quad
        R = \frac{\#\{j : \text{gt}_j \text{ overlaps a prediction}\}}{\#\text{gt}}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).
    Intervals that only touch do not overlap; a point overlaps the interval that holds it. One
    prediction that covers the whole series scores 1 on both. No parameters but those of
    `closecall.affiliation`.

    The recall is that of Hundman et al. (2018); their precision is another. They, and tsadmetrics
    with them, put the number of *true* events found over that number plus the false predicted
    events, so that two predictions in one event count once; here each prediction counts. (Their
    program, telemanom, counts only the first of several true events that one prediction overlaps.)
    Sehili and Zhang (2023), and dtaianomaly with them, also multiply by one minus the share of
    normal samples that are predicted.

    References
    ----------
    Recall: Hundman et al., *Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic
    Thresholding*, KDD 2018.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.event_wise([0, 1, 1, 1, 0, 0, 1, 1], [1, 1, 0, 1, 0, 1, 0, 0])
    PrecisionRecallResult(precision=0.667, recall=0.500, f1=0.571)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    return PrecisionRecallResult(
        found_share(pair.predicted, pair.truth), found_share(pair.truth, pair.predicted)
    ).signed("event_wise", pair)


def point_adjust(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> PrecisionRecallResult:
    r"""Compute classical precision and recall after point adjustment.

    A true event with any prediction in it counts as predicted from start to stop; with H the
    events so hit,

    .. math::

        P = \frac{\sum_{j \in H} |\text{gt}_j|}
                 {\sum_{j \in H} |\text{gt}_j| + |\text{pred} \setminus \text{gt}|}, \quad
        R = \frac{\sum_{j \in H} |\text{gt}_j|}{\sum_j |\text{gt}_j|}

    Both in [0, 1], higher is better; precision is nan where nothing is predicted, recall without
    a true event. Time is counted in samples for label vectors without times and on every integer
    axis, and by duration elsewhere; a predicted point hits the event that holds it. No parameters
    but those of `closecall.affiliation`.

    Random scores do well by this metric (Kim et al. 2022). A widespread loop that walks back from
    the first hit never adjusts index 0, and some readers of labels lose a one-sample event at the
    end of the series; here every sample of every event is adjusted.

    References
    ----------
    Xu et al., *Unsupervised Anomaly Detection via Variational Auto-Encoder for Seasonal KPIs in
    Web Applications*, WWW 2018.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.point_adjust([1, 1, 1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0, 0, 0])
    PrecisionRecallResult(precision=0.750, recall=0.750, f1=0.750)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    hit = overlap_counts(pair.truth, pair.predicted) > 0
    return _adjusted(pair, float(lengths(pair.truth)[hit].sum())).signed("point_adjust", pair)


def point_adjust_k(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    k: float = 20,
) -> PrecisionRecallResult:
    r"""Compute precision and recall after adjusting events found to more than K percent (PA%K).

    .. math::

        \hat y_t = 1 \text{ if } t \in \text{pred, or } t \in \text{gt}_j \text{ with }
        \frac{|\text{gt}_j \cap \text{pred}|}{|\text{gt}_j|} > \frac{K}{100}

    and precision and recall are the classical ones of the adjusted prediction (strictly more than
    K, as in the authors' own package). Both in [0, 1], higher is better, undefined as in
    `point_adjust`. K = 0 is point adjustment and K = 100 none at all.

    tsadmetrics asks for at least K (as a share, 0.5 by default) instead of more than K.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    k
        Percentage from 0 to 100; 20 is the default of the authors' own package, tadpak.

    References
    ----------
    Kim, Choi, Choi, Lee and Yoon, *Towards a Rigorous Evaluation of Time-Series Anomaly
    Detection*, AAAI 2022.

    Examples
    --------
    >>> from closecall import metrics
    >>> truth, predicted = [1, 1, 1, 1, 1, 0, 1, 1], [1, 0, 0, 0, 0, 0, 1, 0]
    >>> metrics.point_adjust_k(truth, predicted)
    PrecisionRecallResult(precision=1.000, recall=0.429, f1=0.600)
    >>> metrics.point_adjust_k(truth, predicted, k=19)
    PrecisionRecallResult(precision=1.000, recall=1.000, f1=1.000)
    """
    k = read_number(k, "k", "a percentage, a number from 0 to 100", lambda x: 0 <= x <= _PERCENT)
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    covered, shares = _coverage(pair)
    found = np.where(shares > k / _PERCENT, lengths(pair.truth), covered)
    return _adjusted(pair, float(found.sum())).signed("point_adjust_k", pair, {"k": k})


def point_adjust_k_area(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute the area under the F1 of `point_adjust_k` as K goes from 0 to 100 percent.

    .. math:: \frac{1}{100} \int_0^{100} F1_{\text{PA}\%K} \, dK

    In [0, 1], higher is better; nan where nothing is predicted or nothing is true. F1 is a step
    function of K that falls where K reaches the predicted share of an event, so the area is
    exact; a sum over a grid of K is not. No parameters but those of `closecall.affiliation`.

    References
    ----------
    Kim, Choi, Choi, Lee and Yoon, *Towards a Rigorous Evaluation of Time-Series Anomaly
    Detection*, AAAI 2022.

    Examples
    --------
    F1 is 1 up to K = 20, and 1/3 from there on:

    >>> from closecall import metrics
    >>> metrics.point_adjust_k_area([1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0])
    ValueResult(value=0.466667)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    return ValueResult(_area_over_k(pair)).signed("point_adjust_k_area", pair)


def _area_over_k(pair: Pair) -> float:
    covered, shares = _coverage(pair)
    total, false = total_length(pair.truth), _false_length(pair)
    if not total or not (covered.any() or false):
        return nan
    order = np.argsort(shares)
    # Below the lowest share every event is adjusted; each share that K reaches undoes one.
    gains = (lengths(pair.truth) - covered)[order]
    found = np.append(total - (np.cumsum(gains) - gains), covered.sum()).astype(np.float64)
    widths = np.diff(shares[order], prepend=0.0, append=1.0)
    used = widths > 0
    found, widths = found[used], widths[used]
    f1 = f_measure(found / (found + false), found / total)
    return min(1.0, float((widths * f1).sum()))


def _coverage(pair: Pair) -> tuple[Ticks, NDArray[np.float64]]:
    """Return how much of each true event is predicted, and which share of it that is."""
    whole, covered = lengths(pair.truth), overlap_lengths(pair.truth, pair.predicted)
    # A point lasts no time, so that its share weighs nothing.
    return covered, np.divide(covered, whole, out=np.zeros(whole.size), where=whole > 0)


def _false_length(pair: Pair) -> float:
    return float((lengths(pair.predicted) - overlap_lengths(pair.predicted, pair.truth)).sum())


def _adjusted(pair: Pair, found: float) -> PrecisionRecallResult:
    """Return precision and recall where that much of the truth counts as found."""
    return PrecisionRecallResult(
        ratio(found, found + _false_length(pair)), ratio(found, total_length(pair.truth))
    )

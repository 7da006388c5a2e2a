"""Metrics that count samples or whole events, as they are: classical, composite, event-wise."""

from __future__ import annotations

from typing import Any, Literal

from closecall.metrics.overlap import found_share, overlap_lengths, total_length
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import require_choice
from closecall.series import read_pair, read_sample_pair


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
    )


def composite(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> PrecisionRecallResult:
    r"""Compute the precision of predicted time and the recall of events; ``f1`` is composite F1.

    .. math::

        P = \frac{|\text{pred} \cap \text{gt}|}{|\text{pred}|}, \quad
        R = \frac{\#\{j : \text{gt}_j \text{ overlaps a prediction}\}}{\#\text{gt}}

    Both in [0, 1], higher is better; precision is nan where nothing is predicted (or nothing that
    lasts), recall without a true event. Time is counted in samples for label vectors without
    times and on every integer axis, and by duration elsewhere. No parameters.

    One predicted moment inside each true event and none outside is enough for a perfect score.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.

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
    )


def event_wise(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> PrecisionRecallResult:
    r"""Compute precision and recall of whole events: any overlap counts, whatever its length.

    .. math::

        P = \frac{\#\{i : \text{pred}_i \text{ overlaps a true event}\}}{\#\text{pred}}, \quad
        R = \frac{\#\{j : \text{gt}_j \text{ overlaps a prediction}\}}{\#\text{gt}}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).
    Intervals that only touch do not overlap; a point overlaps the interval that holds it. No
    parameters. One prediction that covers the whole series scores 1 on both.

    Others count precision differently. Hundman et al. (2018), and tsadmetrics with them, put the
    number of *true* events found over that number plus the false predicted events, so that two
    predictions in one event count once; Sehili and Zhang (2023), and dtaianomaly with them, also
    multiply by one minus the share of normal samples that are predicted.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.

    References
    ----------
    The overlapping-segment counts of Hundman et al., *Detecting Spacecraft Anomalies Using LSTMs
    and Nonparametric Dynamic Thresholding*, KDD 2018, each side counted in its own events.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.event_wise([0, 1, 1, 1, 0, 0, 1, 1], [1, 1, 0, 1, 0, 1, 0, 0])
    PrecisionRecallResult(precision=0.667, recall=0.500, f1=0.571)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    return PrecisionRecallResult(
        found_share(pair.predicted, pair.truth), found_share(pair.truth, pair.predicted)
    )

"""Point-adjusted precision and recall at every threshold at once, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.order import descending_order
from closecall.errors import UndefinedMetricError, expected
from closecall.fscore import f_measure
from closecall.metrics.result import PrecisionRecallResult
from closecall.scored import Scored, read_scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks


@dataclass(frozen=True, slots=True, repr=False)
class AdjustedPoint(PrecisionRecallResult):
    """A threshold, with its point-adjusted precision and recall."""

    threshold: float

    def __repr__(self) -> str:
        return (
            f"AdjustedPoint(threshold={self.threshold:.6g}, precision={self.precision:.3f}, "
            f"recall={self.recall:.3f}, f1={self.f1:.3f})"
        )


@dataclass(frozen=True, repr=False, eq=False)
class PointAdjustCurve:
    """Point-adjusted scores at every distinct score; ``score >= threshold`` is predicted.

    Examples
    --------
    >>> from closecall import metrics
    >>> curve = metrics.point_adjust_curve([0, 0, 1, 1, 0], [0.1, 0.6, 0.9, 0.4, 0.1])
    >>> curve.thresholds
    array([0.9, 0.6, 0.4, 0.1])
    >>> curve.precision
    array([1.        , 0.66666667, 0.66666667, 0.4       ])
    """

    thresholds: NDArray[Any]
    """Distinct scores, descending, in the type of the scores."""
    precision: NDArray[np.float64]
    """Precision at each threshold, in [0, 1]."""
    recall: NDArray[np.float64]
    """Recall at each threshold, in [0, 1], rising."""

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall at each threshold."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> NDArray[np.float64]:
        """Weighted harmonic mean at each threshold; recall weighs beta times as much."""
        scores: NDArray[np.float64] = f_measure(self.precision, self.recall, beta)
        return scores

    def best(self, beta: float = 1) -> AdjustedPoint:
        """Choose the threshold with the highest F-beta; of equally good ones, the highest.

        Examples
        --------
        >>> from closecall import metrics
        >>> metrics.point_adjust_curve([0, 0, 1, 1, 0], [0.1, 0.6, 0.9, 0.4, 0.1]).best()
        AdjustedPoint(threshold=0.9, precision=1.000, recall=1.000, f1=1.000)
        """
        index = int(self.fbeta(beta).argmax())
        return AdjustedPoint(
            precision=float(self.precision[index]),
            recall=float(self.recall[index]),
            threshold=self.thresholds[index].item(),
        )

    def __len__(self) -> int:
        return self.thresholds.size

    def __repr__(self) -> str:
        best = self.best()
        return (
            f"PointAdjustCurve({len(self)} thresholds, best f1={best.f1:.3f} "
            f"at {best.threshold:.6g})"
        )


def point_adjust_curve(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> PointAdjustCurve:
    r"""Point-adjusted precision, recall and F1 at every threshold, each as `point_adjust` gives it.

    The highest score in an event decides when it is adjusted, so that one sort of the scores is
    all that is needed: O(N log N) for N samples. With h the threshold and :math:`s_j` the highest
    score in event j,

    .. math::

        P_h = \frac{\sum_{j : s_j \geq h} |\text{gt}_j|}
                   {\sum_{j : s_j \geq h} |\text{gt}_j| + |\{s \geq h\} \setminus \text{gt}|},
        \quad R_h = \frac{\sum_{j : s_j \geq h} |\text{gt}_j|}{\sum_j |\text{gt}_j|}

    Both in [0, 1], higher is better. Without a true event that lasts, recall does not exist, and
    that is an error.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events` (then `times` is required).
    scores
        One score per sample, higher is more anomalous; inf is legal, nan is not.
    times, end, span
        As in `closecall.affiliation_curve`.

    References
    ----------
    Xu et al., *Unsupervised Anomaly Detection via Variational Auto-Encoder for Seasonal KPIs in
    Web Applications*, WWW 2018.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.point_adjust_curve([0, 1, 1, 0, 1], [0.5, 0.1, 0.7, 0.2, 0.4])
    PointAdjustCurve(5 thresholds, best f1=0.857 at 0.4)
    """
    return _point_adjust_curve(read_scored(truth, scores, times=times, end=end, span=span))


def _point_adjust_curve(scored: Scored) -> PointAdjustCurve:
    pair, values = scored.nothing_predicted, scored.scores
    pair.require_truth("point-adjusted recall")
    lengths = pair.truth.stops - pair.truth.starts
    total = float(lengths.sum())
    if not total:
        raise UndefinedMetricError(
            expected(
                "a true event that lasts (point adjustment weighs events by their duration)",
                "points only",
            )
        )
    order = descending_order(values)
    ranked = values[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), values.size - 1)
    thresholds = ranked[last]
    highest, false_lengths, hit = _against_events(scored)
    # How many thresholds lie above the one that takes the event in.
    entry = thresholds.size - np.searchsorted(thresholds[::-1], highest, side="right")
    gains = np.zeros(thresholds.size, dtype=lengths.dtype)
    np.add.at(gains, entry, lengths[hit])
    found = np.cumsum(gains).astype(np.float64)
    false = np.cumsum(false_lengths[order])[last]
    return PointAdjustCurve(thresholds, found / (found + false), np.minimum(found / total, 1.0))


def _against_events(scored: Scored) -> tuple[NDArray[Any], Ticks, NDArray[np.bool_]]:
    """Compare samples with events.

    Give the highest score in each event, how much of each sample lies outside all events, and
    which events any sample overlaps at all (the scores are of those only).
    """
    truth, size = scored.nothing_predicted.truth, scored.scores.size
    borders = scored.axis.borders(np.arange(size + 1))
    first = np.maximum(np.searchsorted(borders, truth.starts, side="right") - 1, 0)
    after = np.minimum(np.searchsorted(borders, truth.stops, side="left"), size)
    hit = (first < after) & (truth.starts < truth.stops)
    first, after = first[hit], after[hit]
    padded = np.append(scored.scores, scored.scores[-1:])  # a range may stop after the last sample
    highest = np.maximum.reduceat(padded, np.column_stack((first, after)).ravel())[::2]
    outside = np.diff(borders)
    _zero_between(outside, first + 1, after - 1)
    # An event cuts its first and its last sample, which may be the same one.
    starts = np.maximum(truth.starts[hit], borders[0])
    stops = np.minimum(truth.stops[hit], borders[-1])
    np.subtract.at(outside, first, np.minimum(borders[first + 1], stops) - starts)
    longer = after > first + 1
    final = after[longer] - 1
    np.subtract.at(outside, final, stops[longer] - borders[final])
    return highest, np.maximum(outside, 0), hit


def _zero_between(values: Ticks, first: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Set the values of disjoint ranges to zero."""
    used = first < after
    steps = np.zeros(values.size + 1, dtype=np.int8)
    # A range may begin where another one stops.
    np.add.at(steps, first[used], 1)
    np.subtract.at(steps, after[used], 1)
    values[np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)] = 0

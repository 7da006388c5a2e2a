"""Point-adjusted precision and recall at every threshold at once, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.sweep import descending_order
from closecall.errors import UndefinedMetricError
from closecall.fscore import first_highest, read_beta
from closecall.metrics import _kernels
from closecall.metrics.overlap import lengths, total_length
from closecall.metrics.result import MetricResult, PrecisionRecallResult
from closecall.series import read_scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Scored


@dataclass(frozen=True, repr=False)
class AdjustedPoint(PrecisionRecallResult):
    """A threshold, with its point-adjusted precision and recall."""

    threshold: float

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"AdjustedPoint(threshold={self.threshold:.6g}, {scores})"


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """How much of the events is found at descending thresholds, and how much of the rest."""

    thresholds: NDArray[Any]
    false: NDArray[np.float64]
    """Predicted time outside of events, at each threshold."""
    found: NDArray[np.float64]
    """Time of the events that are found; it is the same for many thresholds, and given once."""
    counts: NDArray[np.int64]
    """For how many thresholds."""
    total: float
    """How long all events are."""

    def precision(self) -> NDArray[np.float64]:
        return self._found_over(1.0)

    def recall(self) -> NDArray[np.float64]:
        return np.repeat(np.minimum(self.found / self.total, 1.0), self.counts)

    def fbeta(self, beta: float) -> NDArray[np.float64]:
        beta = read_beta(beta)
        return self._found_over(1 / (1 + beta * beta))

    def _found_over(self, share: float) -> NDArray[np.float64]:
        """Divide by a mean of the predicted time, of which it is that share, and of all events."""
        values, rest = np.empty_like(self.false), (1 - share) * self.total
        _kernels.divide_found(self.found, self.counts, self.false, share, rest, values)
        return values


@dataclass(frozen=True, slots=True, eq=False)
class _AdjustedSamples:
    """Samples with what lies outside of events, and events with their highest scores."""

    scores: NDArray[Any]
    outside: Ticks
    """How much of each sample lies outside all events."""
    highest: NDArray[Any]
    """The highest score in each event that any sample overlaps."""
    lengths: Ticks
    """How long each of those events is."""
    total: float
    """How long all events are."""

    def at_every_score(self) -> _Found:
        """Sort the scores, and take each of them once."""
        order = descending_order(self.scores)
        thresholds, false = np.empty_like(self.scores), order.view(np.float64)
        # The order is written over: new memory would take as long as what is done with it.
        zero = self._sum_type.type(0)
        _kernels.add_in_order(order, self.scores, self.outside, thresholds, false, zero)
        count = _kernels.keep_last(thresholds, false)
        return self._found(thresholds[:count], false[:count])

    def at_highest_scores(self) -> _Found:
        """Take the highest scores of events alone; if there are none, that of all samples.

        One pass over the samples, O(N log n) for n events.
        """
        levels = np.unique(self.highest) if self.highest.size else self.scores.max(keepdims=True)
        sums = np.zeros(levels.size, dtype=self._sum_type)
        _kernels.add_at_levels(self.scores, self.outside, levels, sums)
        return self._found(levels[::-1], np.cumsum(sums[::-1]).astype(np.float64))

    @property
    def _sum_type(self) -> np.dtype[Any]:
        return np.result_type(self.outside, np.int64)

    def _found(self, thresholds: NDArray[Any], false: NDArray[np.float64]) -> _Found:
        levels, which = np.unique(self.highest, return_inverse=True)
        gains = np.zeros(levels.size, dtype=self.lengths.dtype)
        np.add.at(gains, which, self.lengths)
        found = np.append(0, np.cumsum(gains[::-1])).astype(np.float64)
        # From each of these places on, one more level of events is found.
        places = thresholds.size - np.searchsorted(thresholds[::-1], levels[::-1], side="right")
        counts = np.diff(np.concatenate(([0], places, [thresholds.size])))
        return _Found(thresholds, false, found, counts, self.total)


@dataclass(frozen=True, repr=False, eq=False)
class PointAdjustCurve(MetricResult):
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

    _samples: _AdjustedSamples

    @property
    def thresholds(self) -> NDArray[Any]:
        """Distinct scores, descending, in the type of the scores."""
        return self._sorted.thresholds

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """Precision at each threshold, in [0, 1]."""
        return self._sorted.precision()

    @cached_property
    def recall(self) -> NDArray[np.float64]:
        """Recall at each threshold, in [0, 1], rising."""
        return self._sorted.recall()

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall at each threshold."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> NDArray[np.float64]:
        """Weighted harmonic mean at each threshold; recall weighs beta times as much."""
        return self._sorted.fbeta(beta)

    def best(self, beta: float = 1) -> AdjustedPoint:
        """Choose the threshold with the highest F-beta; of equally good ones, the highest.

        It is the highest score of an event: as the threshold falls from one of these towards the
        next, the same events are found and false alarms are all that is added, so that recall
        stays and precision never rises. So none of the scores needs to be sorted for it.

        Examples
        --------
        >>> from closecall import metrics
        >>> metrics.point_adjust_curve([0, 0, 1, 1, 0], [0.1, 0.6, 0.9, 0.4, 0.1]).best()
        AdjustedPoint(threshold=0.9, precision=1.000, recall=1.000, f1=1.000)
        """
        candidates = self._where_events_are_found
        index = first_highest(candidates.fbeta(beta))
        return AdjustedPoint(
            precision=float(candidates.precision()[index]),
            recall=float(candidates.recall()[index]),
            threshold=candidates.thresholds[index].item(),
        ).signed(*self._sign.args, threshold="best_f1", beta=beta)

    @cached_property
    def _sorted(self) -> _Found:
        return self._samples.at_every_score()

    @cached_property
    def _where_events_are_found(self) -> _Found:
        return self._samples.at_highest_scores()

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
    r"""Compute point-adjusted precision, recall and F1 at every threshold.

    The highest score in an event decides when it is adjusted, so that one sort of the scores is
    all that is needed: O(N log N) for N samples. It is done when the curve is first looked at; the
    best threshold alone is found without it, in O(N log n) for n events, see the curve's ``best``.
    With h the threshold and :math:`s_j` the highest score in event j,

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
    As in `point_adjust`.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.point_adjust_curve([0, 1, 1, 0, 1], [0.5, 0.1, 0.7, 0.2, 0.4])
    PointAdjustCurve(5 thresholds, best f1=0.857 at 0.4)
    """
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    scored.require_truth("point-adjusted recall")
    total = total_length(scored.truth)
    if not total:
        rule = "a true event that lasts (point adjustment weighs events by their duration)"
        raise UndefinedMetricError(rule, "points only")
    # A range may stop after the last sample.
    padded = np.append(scored.scores, scored.scores[-1:])
    highest, outside, hit = _against_events(scored, padded)
    samples = _AdjustedSamples(padded[:-1], outside, highest, lengths(scored.truth)[hit], total)
    return PointAdjustCurve(samples).signed("point_adjust_curve", scored)


def _against_events(
    scored: Scored, padded: NDArray[Any]
) -> tuple[NDArray[Any], Ticks, NDArray[np.bool_]]:
    """Return the highest score of each event hit, samples' parts outside events, and who is hit."""
    truth, size = scored.truth, scored.scores.size
    if scored.axis.ticks is None:  # events are made of samples, which last one tick
        whole = np.ones(size, dtype=np.uint8)
        _kernels.zero_between(whole, truth.starts, truth.stops)
        ranges = np.column_stack((truth.starts, truth.stops)).ravel()
        return np.maximum.reduceat(padded, ranges)[::2], whole, np.ones(len(truth), dtype=bool)
    borders = scored.axis.borders()
    first = np.maximum(np.searchsorted(borders, truth.starts, side="right") - 1, 0)
    after = np.minimum(np.searchsorted(borders, truth.stops, side="left"), size)
    hit = (first < after) & (truth.starts < truth.stops)
    first, after = first[hit], after[hit]
    highest = np.maximum.reduceat(padded, np.column_stack((first, after)).ravel())[::2]
    outside = scored.axis.lengths()
    _kernels.zero_between(outside, first + 1, after - 1)
    # An event cuts its first and its last sample, which may be the same one.
    starts = np.maximum(truth.starts[hit], borders[0])
    stops = np.minimum(truth.stops[hit], borders[-1])
    np.subtract.at(outside, first, np.minimum(borders[first + 1], stops) - starts)
    longer = after > first + 1
    final = after[longer] - 1
    np.subtract.at(outside, final, stops[longer] - borders[final])
    return highest, np.maximum(outside, 0), hit

"""Volume under the surface: areas under ROC and PR curves, averaged over widths of a buffer."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError
from closecall.events import runs
from closecall.metrics._score_kernels import best_places, volumes
from closecall.metrics.result import MetricResult
from closecall.metrics.threshold_free import rank, read_count, samples_near, true_samples
from closecall.series import read_scored

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_WINDOW = 1_000_000  # there is an area for each window, and all of them are kept
_MOST_STEPS = 1_000_000_000  # samples times windows; about 10 seconds
_STEPS_AT_ONCE = 20_000_000  # without a look at whether Ctrl-C was pressed


@dataclass(frozen=True, repr=False, eq=False)
class VusResult(MetricResult):
    """VUS-ROC and VUS-PR, and the area under each window's curves; nan where undefined."""

    roc: float
    """VUS-ROC: the mean of `roc_areas`."""
    pr: float
    """VUS-PR: the mean of `pr_areas`."""
    roc_areas: NDArray[np.float64]
    """Area under the ROC curve with window 0, 1, ..., `window`."""
    pr_areas: NDArray[np.float64]
    """Area under the precision-recall curve with window 0, 1, ..., `window`."""

    def values(self) -> dict[str, float]:
        """Return the two volumes by name."""
        return {"roc": self.roc, "pr": self.pr}

    def __repr__(self) -> str:
        return f"VusResult(roc={self.roc:.3f}, pr={self.pr:.3f})"


def vus(
    truth: Any,
    scores: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    window: int = 100,
) -> VusResult:
    r"""Compute the volumes under the ROC and PR surfaces (VUS-ROC, VUS-PR), exactly.

    With window :math:`w`, a sample at distance :math:`d \le \lfloor w/2 \rfloor` from a true
    event has the label :math:`\sqrt{1 - d/w}`, or 1 within reach of two events. At a threshold
    :math:`n` of :math:`N` samples are predicted; :math:`T` of the :math:`P` true ones are among
    them, and :math:`B` is the sum of the labels of the others. Events whose buffers overlap are
    one segment, and :math:`E` is the share of segments with a predicted sample. Then

    .. math::

        \mathrm{TPR} &= E \min\left(1, \frac{T + B}{P + B/2}\right), \\
        \mathrm{FPR} &= \frac{n - T - B}{N - P - B/2}, \\
        \mathrm{precision} &= \frac{T + B}{n}.

    The area under the ROC curve is that of the trapezoids from (0, 0) through the distinct
    scores to (1, 1); the one under the PR curve is step-wise, :math:`\sum_k (\mathrm{TPR}_k -
    \mathrm{TPR}_{k-1}) \cdot \mathrm{precision}_k`. Both are averaged over the windows 0, 1, ...,
    `window`. In [0, 1], higher is better. Both are nan without any true sample, and the ROC one
    also without any normal sample.

    Parameters
    ----------
    truth, scores, times, end, span
        As in `auc_roc`; events that touch are one.
    window
        The longest window, in samples on every axis; half of it lies on either side of an
        event; at most 1,000,000. Windows times the samples that the longest one reaches are at
        most 1,000,000,000, about 10 seconds. The default is that of the authors' package TSB-AD,
        whose scripts take the period of the series where they can find one.

    Notes
    -----
    This is what the authors' packages compute (``vus`` 0.0.6 with ``version="opt"``, TSB-AD 1.5)
    if given every threshold, ``thre=len(scores)``; by default they sample 250, and the steps
    between those lower VUS-PR. Other code calls different things by the same name. The authors'
    first version, which aeon follows, takes trapezoids under the PR curve, starts the buffer
    behind an event one sample too early, and lets :math:`B` in the denominators run over all
    samples, not only predicted ones; the ``RangeAUC_volume_opt_time`` of ``vus`` does the first
    and the last of these, and so does TimeEval, with linear buffers by default. In TSB-AD the
    type of the labels matters unless its ``get_metrics`` converts them: a difference of unsigned
    or boolean labels is never -1, so it sees one event, up to the end of the series. Here the
    type does not matter.

    The cost is O(N log N) for the sorting and O(`window`) for each sample that is true or within
    half a window of an event.

    References
    ----------
    J. Paparrizos, P. Boniol, T. Palpanas, R. S. Tsay, A. Elmore and M. J. Franklin. Volume Under
    the Surface: A New Accuracy Evaluation Measure for Time-Series Anomaly Detection. PVLDB
    15(11), 2022.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.vus([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2], window=2)
    VusResult(roc=0.906, pr=0.869)
    """
    window = read_count(window, "window", _MOST_WINDOW)
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    starts, stops = runs(true_samples(scored))
    roc, average = np.full(window + 1, nan), np.full(window + 1, nan)
    if starts.size:
        half = min(window // 2, scored.scores.size)  # no sample is further away
        ranking = rank(scored.scores, samples_near(starts, stops, half, half, scored.scores.size))
        # Samples beyond what 32 bits can number would not fit in memory.
        places = np.full(scored.scores.size, ranking.samples.size, dtype=np.int32)
        places[ranking.samples] = np.arange(ranking.samples.size, dtype=np.int32)
        # How many of the samples predicted are true, at each distinct score.
        event = np.searchsorted(starts, ranking.samples, side="right") - 1
        true = (event >= 0) & (ranking.samples < stops[event])
        found = np.cumsum(true, dtype=np.int64)[ranking.bounds[1:] - 1]
        groups = np.column_stack((ranking.above, ranking.reach, found)).astype(np.float64)
        distances = _distances(ranking.samples, starts, stops, half)
        _require_bounded(ranking.samples.size, window)
        best = np.full(starts.size, ranking.samples.size, dtype=np.int32)
        best_places(starts, stops, places, best)
        opens, roots = np.zeros(ranking.samples.size, dtype=np.uint8), np.zeros(half + 2)
        segments, step = 0, max(1, _STEPS_AT_ONCE // (ranking.samples.size + half))
        series = (starts, stops, places, distances, ranking.bounds, groups, best, opens, roots)
        for first in range(0, window + 1, step):
            some = slice(first, first + step)
            segments = volumes(*series, segments, first, roc[some], average[some])
        if found[-1] == scored.scores.size:
            roc[:] = nan
    result = VusResult(float(roc.mean()), float(average.mean()), roc, average)
    return result.signed("vus", scored, {"window": window})


def _require_bounded(samples: int, window: int) -> None:
    """Raise for what would take minutes: every window looks at every sample that it may reach."""
    if samples * (window + 1) > _MOST_STEPS:
        longest = _MOST_STEPS // samples - 1
        raise InputError(
            f"to be at most {longest:,}, so that the windows times the {samples:,} samples in "
            f"reach of an event are at most {_MOST_STEPS:,}",
            f"{window:,}",
            argument="window",
            hint="The usual window is the period of the series.",
        )


def _distances(
    samples: NDArray[np.int64], starts: NDArray[np.int64], stops: NDArray[np.int64], half: int
) -> NDArray[np.int32]:
    """Return distances to the nearest and the next event; true samples, out of reach, need none."""
    beyond = half + 1
    # Two events on either side that nothing reaches.
    far = np.full(2, stops[-1] + samples.max() + beyond)
    before, after = np.concatenate((-far, stops - 1)), np.concatenate((starts, 2 * far))
    index = np.searchsorted(stops, samples, side="right")
    left, left_next = samples - before[index + 1], samples - before[index]
    right, right_next = after[index] - samples, after[index + 1] - samples
    second = np.minimum(np.maximum(left, right), np.minimum(left_next, right_next))
    distances = np.empty((samples.size, 2), dtype=np.int32)
    np.minimum(np.minimum(left, right), beyond, out=distances[:, 0], casting="unsafe")
    np.minimum(second, beyond, out=distances[:, 1], casting="unsafe")
    distances[right <= 0] = beyond
    return distances

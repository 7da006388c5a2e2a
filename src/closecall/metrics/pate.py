"""PATE: precision and recall weighted by how near a prediction is, over all thresholds."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.events import runs
from closecall.metrics._score_kernels import sweep
from closecall.metrics.result import ValueResult
from closecall.metrics.threshold_free import rank, read_count, samples_near, true_samples
from closecall.series import read_scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.series import Scored

    Counts = NDArray[np.int64]


def pate(
    truth: Any,
    scores: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    early: int = 100,
    delay: int = 100,
) -> ValueResult:
    r"""Compute PATE: the area under a precision-recall curve that weighs samples by proximity.

    With a buffer of :math:`e` samples before each true event and one of :math:`d` behind it
    (cut short by the next event; before an event, by the buffer behind the last one), let
    :math:`c` be the middle of the event and :math:`b` the far end of the buffer. A predicted
    sample :math:`x` counts

    .. math::

        \mathrm{TP}(x) = 1 - \frac{|x - c|}{|b - c|}, \quad \mathrm{FP}(x) = 1 - \mathrm{TP}(x)

    in a buffer, before an event only if the event itself is found; 1 true positive in an event,
    and 1 false positive elsewhere. An event that is not found adds its length to the false
    negatives. One of length :math:`\ell` that is partly found, with a first found run of
    :math:`k` samples, adds 1 for each missed sample up to :math:`k` samples behind its first one,
    and for one that lies :math:`u > k` samples behind it

    .. math:: \mathrm{FN}(u) = 1 - \frac{(k + 1)(2u - k)}{\ell (\ell - 1)}

    Precision is TP / (TP + FP), recall TP / (TP + FN). The area is that of the trapezoids from
    recall 0, precision 1 through all distinct scores, without those where the recall falls below
    an earlier one. The value is the mean over :math:`e \in \{0, \mathrm{early}\}` and
    :math:`d \in \{0, \mathrm{delay}\}`. In [0, 1], higher is better; nan without any true sample.

    Parameters
    ----------
    truth, scores, times, end, span
        As in `auc_roc`; events that touch are one.
    early, delay
        Lengths of the buffers before and behind an event, in samples on every axis; the
        defaults are those of the authors' package.

    Notes
    -----
    This is what the authors' package ``PATE`` 0.1.1 computes with ``Big_Data=False`` and
    ``drop_intermediate=False``. By default it takes percentiles of the thresholds at which the
    number of true samples found changes, which leaves out points of these curves. The run
    length :math:`k` is that of the first run, also where an event is found in several.

    The cost is O(N log N).

    References
    ----------
    R. Ghorbani, M. J. T. Reinders and D. M. J. Tax. PATE: Proximity-Aware Time Series Anomaly
    Evaluation. KDD 2024.

    Examples
    --------
    >>> from closecall import metrics
    >>> scores = [0.1, 0.6, 0.9, 0.4, 0.1, 0.2]
    >>> metrics.pate([0, 0, 1, 1, 0, 0], scores, early=2, delay=2)
    ValueResult(value=0.8375)
    """
    early, delay = read_count(early, "early"), read_count(delay, "delay")
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    return ValueResult(_area(scored, early, delay)).signed(
        "pate", scored, {"early": early, "delay": delay}
    )


def _area(scored: Scored, early: int, delay: int) -> float:
    # Beyond the series a buffer makes no difference.
    length = scored.scores.size
    early, delay = min(early, length), min(delay, length)
    starts, stops = runs(true_samples(scored))
    if starts.size == 0:
        return nan
    ranking = rank(scored.scores, samples_near(starts, stops, early, delay, length))
    following = np.searchsorted(stops, ranking.samples, side="right")
    events = np.minimum(following, starts.size - 1)
    offsets = np.where(
        following < starts.size, np.maximum(ranking.samples - starts[events], -1), -1
    )
    weights = _weights(ranking.samples, following, (starts, stops), (early, delay), length)
    order = (ranking.bounds, ranking.above, ranking.reach)
    areas = sweep(*order, events, offsets, weights, stops - starts)
    return min(1.0, float(areas.mean()))


def _weights(
    samples: Counts,
    following: Counts,
    events: tuple[Counts, Counts],
    buffers: tuple[int, int],
    length: int,
) -> NDArray[np.float64]:
    """Return what a sample counts behind an event, and before one without and with the former."""
    (starts, stops), (early, delay) = events, buffers
    weights = np.zeros((samples.size, 3))
    far = np.minimum(stops + delay, np.append(starts[1:], length)) - 1
    behind = np.flatnonzero(following > 0)
    event = following[behind] - 1
    weights[behind, 0] = _proximity(samples[behind], far[event], starts[event], stops[event])
    before = np.flatnonzero(following < starts.size)
    event = following[before]
    # The buffer before an event begins where the one behind the last event has left off.
    for column, taken in ((1, stops - 1), (2, far)):
        near = np.maximum(starts - early, np.append(0, taken[:-1] + 1))
        weights[before, column] = _proximity(
            samples[before], near[event], starts[event], stops[event]
        )
    return weights


def _proximity(samples: Counts, far: Counts, starts: Counts, stops: Counts) -> NDArray[np.float64]:
    """Fall from the middle of an event to 0 at the far end of its buffer, and stay there."""
    # Twice the middle, and twice the distances, so that all are whole numbers.
    middles = starts + stops - 1
    reach = np.maximum(np.abs(2 * far - middles), 1)
    return np.maximum(1.0 - np.abs(2 * samples - middles) / reach, 0.0)

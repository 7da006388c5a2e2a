"""Time-series aware precision and recall (Hwang et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.events import Intervals
from closecall.metrics._common_parts import CommonParts, common_parts
from closecall.metrics._decay import decay_at, decay_between
from closecall.metrics.entry import Metric
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import read_duration, read_fraction, shown
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
    r"""Time-series aware precision and recall: how many are detected, and how much of each.

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
    return _time_aware(
        read_pair(truth, predicted, times=times, end=end, span=span),
        theta=theta,
        delta=delta,
        alpha=alpha,
    )


def _time_aware(
    pair: Pair, *, theta: float = 0.5, delta: Any = 0, alpha: float = 0.5
) -> PrecisionRecallResult:
    theta, alpha = read_fraction(theta, "theta"), read_fraction(alpha, "alpha")
    overlaps = common_parts(pair.truth, pair.predicted)
    sections = _read_sections(pair, _read_delta(delta, pair))
    later = _later_parts(pair, sections)
    found = _portions(pair.truth, overlaps.first, overlaps, later.event, later)
    correct = _portions(pair.predicted, overlaps.second, overlaps, later.prediction, later)

    def score(portions: Floats) -> float:
        detected = ratio(float((portions - theta > _ROUNDING).sum()), portions.size)
        return alpha * detected + (1 - alpha) * ratio(float(portions.sum()), portions.size)

    return PrecisionRecallResult(score(correct), score(found))


def _read_delta(delta: Any, pair: Pair) -> float:
    ticks = read_duration(delta, pair.clock, "delta")
    if pair.clock.kind == "integer" and not ticks.is_integer():
        rule = "`delta` to be a whole number of samples, 0 or more"
        raise InputError(expected(rule, shown(delta)))
    return ticks


@dataclass(frozen=True, slots=True)
class _Sections:
    """The ambiguous sections that are not empty."""

    intervals: Intervals
    event: Indices
    length: Floats


def _read_sections(pair: Pair, delta: float) -> _Sections:
    """Find what follows each true event, up to delta or to the next one."""
    stops = pair.truth.stops
    length = np.full(stops.size, delta)
    gaps = pair.truth.starts[1:] - stops[:-1]
    length[:-1] = np.minimum(delta, gaps)
    event = np.flatnonzero(length > 0)
    stops, length = stops[event], length[event]
    # Beyond the span nobody predicts, but the decay still runs its full length.
    reach = np.minimum(length, (pair.stop - stops).astype(np.float64))
    whole = pair.clock.kind == "number"
    ends = stops + (reach if whole else np.ceil(reach).astype(np.int64))
    inside = ends > stops
    return _Sections(
        Intervals(stops[inside], ends[inside], pair.clock), event[inside], length[inside]
    )


@dataclass(frozen=True, slots=True)
class _LaterParts:
    """What of the predictions lies in the sections after the events."""

    event: Indices
    prediction: Indices
    weight: Floats
    density: Floats
    """Weight at the place of a predicted point; 0 for a range."""


def _later_parts(pair: Pair, sections: _Sections) -> _LaterParts:
    parts = common_parts(sections.intervals, pair.predicted)
    origin = sections.intervals.starts[parts.first]
    length = sections.length[parts.first]
    counted = pair.clock.kind == "integer"
    left, right = (
        np.minimum((edge - origin).astype(np.float64), length)
        for edge in (parts.starts, parts.stops)
    )
    is_point = pair.predicted.starts[parts.second] == pair.predicted.stops[parts.second]
    return _LaterParts(
        sections.event[parts.first],
        parts.second,
        decay_between(left, right, length, counted=counted),
        np.where(is_point, decay_at(left, length, counted=counted), 0.0),
    )


def _portions(
    events: Intervals,
    owner: Indices,
    overlaps: CommonParts,
    later_owner: Indices,
    later: _LaterParts,
) -> Floats:
    """Give how much of each event, true or predicted, is matched; 1 at most."""
    size = len(events)
    covered = np.bincount(owner, weights=overlaps.lengths, minlength=size)
    decayed = np.bincount(later_owner, weights=later.weight, minlength=size)
    lengths = (events.stops - events.starts).astype(np.float64)
    points = lengths == 0
    portions = (covered + decayed) / np.where(points, 1.0, lengths)
    if points.any():
        held = np.bincount(owner, minlength=size) > 0
        density = np.bincount(later_owner, weights=later.density, minlength=size)
        portions[points] = np.where(held | (decayed > 0), 1.0, density)[points]
    return np.minimum(portions, 1.0)


ENTRIES = (
    Metric(
        name="time_aware",
        function=time_aware,
        family="range",
        mainly_for="range",
        handles_adjacency=True,
        handles_durations=True,
        paper="Hwang et al., Time-Series Aware Precision and Recall, CIKM 2019",
    ),
)

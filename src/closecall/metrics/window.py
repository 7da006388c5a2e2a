"""Windows around the true events: predictions inside one are right, wherever they are in it.

The literature has points here, and an event is its unit; so it is for ranges. Two events are as far
apart as the nearest two of their moments. On an integer axis the moments are the samples, hence
[3, 7) and [9, 10) are 3 apart (6 to 9), and a point is one sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.events import Intervals
from closecall.metrics._kernels import match
from closecall.metrics.overlap import lengths, overlap_lengths, total_length
from closecall.metrics.result import MetricResult, PrecisionRecallResult, ratio
from closecall.parameters import read_duration, read_fraction, require_count
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick
    from closecall.series import Pair


def window_once(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None, margin: Any
) -> PrecisionRecallResult:
    r"""Compute precision and recall where each true window counts once (Gensler and Sick).

    A window surrounds each of the n true events, up to the margin on both sides. A window with
    any prediction in it is one true positive, however many there are; a window without is a false
    negative; a predicted event in no window is a false positive:

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{n}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. Each event, point or range, is one unit.
    margin
        The largest distance that is still in the window: samples for vectors without times (and
        for whole numbers), a number or a timedelta on other axes. There is no default; 0 asks for
        overlap.

    Notes
    -----
    A prediction in two overlapping windows finds both of them. Precision stays at most 1, because
    it is taken among hit windows and false alarms, not among predictions. The measures that the
    paper adds beside it (predictions per window, tendency to one direction) have their like in
    the columns of `closecall.affiliation`: predicted_count, early and late.

    References
    ----------
    Gensler and Sick, *Novel Criteria to Measure Performance of Time Series Segmentation
    Techniques*, LWA 2014.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> truth, predicted = Events.from_points([20, 50]), Events.from_points([18, 19, 23, 90])
    >>> metrics.window_once(truth, predicted, margin=5, span=(0, 100))
    PrecisionRecallResult(precision=0.500, recall=0.500, f1=0.500)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    true, found = from_origin(pair)
    first, after = within(read_reach(margin, pair, "margin"), true, found)
    hit = int((first < after).sum())
    # Counted from the same ranges, so that no rounding can make a hit a false alarm too.
    steps = np.bincount(first, minlength=len(found) + 1)
    steps -= np.bincount(after, minlength=len(found) + 1)
    alarms = int((np.cumsum(steps)[:-1] == 0).sum())
    return PrecisionRecallResult(ratio(hit, hit + alarms), ratio(hit, len(true))).signed(
        "window_once", pair, {"margin": margin}
    )


def margin(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None, margin: Any
) -> PrecisionRecallResult:
    r"""Compute precision and recall of change points, right if closer than a margin (Truong).

    With n true events, m predicted events and TP the true events that have a predicted one closer
    than the margin M,

    .. math:: TP = \{t : \exists \hat t, |\hat t - t| < M\}, \quad
        P = \frac{|TP|}{m}, \quad R = \frac{|TP|}{n}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. Each event, point or range, is one unit.
    margin
        The distance that a prediction must stay below: samples for vectors without times (and for
        whole numbers), a number or a timedelta on other axes. A prediction at the very place is
        right even at margin 0, which the paper leaves out. ruptures takes 10 by default.

    Notes
    -----
    The paper's ratios can exceed 1 when one prediction is close to two true events. Here a
    prediction vouches for one true event only, and as many as possible are paired (a maximum
    matching). Where the windows do not overlap, that is the paper's definition. ruptures pairs
    greedily: the first true event takes every prediction close to it, so its numbers are at most
    these; it refuses margin 0. With whole numbers, "closer than M" means "at most M - 1".

    References
    ----------
    Truong, Oudre and Vayatis, *Selective review of offline change point detection methods*,
    Signal Processing 167, 2020, section 3.2.4.

    Examples
    --------
    >>> from closecall import Events, metrics
    >>> truth, predicted = Events.from_points([20, 50]), Events.from_points([18, 19, 23, 90])
    >>> metrics.margin(truth, predicted, margin=5, span=(0, 100))
    PrecisionRecallResult(precision=0.250, recall=0.500, f1=0.333)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    reach = read_reach(margin, pair, "margin")
    if pair.clock.kind == "integer":
        reach = max(ceil(reach) - 1, 0)
    hit = match(*within(reach, *from_origin(pair), closed=reach == 0))
    return PrecisionRecallResult(
        ratio(hit, len(pair.predicted)), ratio(hit, len(pair.truth))
    ).signed("margin", pair, {"margin": margin})


def two_sided(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    tolerance: Any,
) -> PrecisionRecallResult:
    r"""Compute precision and recall with temporal tolerance (Scharwaechter and Mueller).

    A predicted sample is right if there is a true one at most the tolerance :math:`\delta` away,
    and a true sample is found if there is a predicted one at most that far. With E the true and A
    the predicted samples,

    .. math::

        P = \frac{|\{t \in A : E \cap [t - \delta, t + \delta] \neq \emptyset\}|}{|A|}, \quad
        R = \frac{|\{t \in E : A \cap [t - \delta, t + \delta] \neq \emptyset\}|}{|E|}

    The two count different true positives, hence the name. Both in [0, 1], higher is better; nan
    without any prediction (precision) or truth (recall). With tolerance 0 they are the classical
    ones. How high they are by chance is what `two_sided_null` says.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. On a float or datetime axis the sets are measured by
        duration; on a side that has points only, the points are counted.
    tolerance
        The largest distance allowed: samples for vectors without times (and for whole numbers), a
        number or a timedelta on other axes. There is no default; the authors' code tries 0 to 4.

    Notes
    -----
    Near the ends of the series the window is cut at the end. The authors' demonstration code
    leaves out the samples there in the numerators, but counts them in the denominators, so that
    it gives a perfect prediction of the first sample a recall of 0.

    References
    ----------
    Scharwaechter and Mueller, *Statistical Evaluation of Anomaly Detectors for Sequences*, KDD
    Workshop on Mining and Learning from Time Series, 2020, arXiv:2008.05788.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.two_sided([0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 0], tolerance=1)
    PrecisionRecallResult(precision=1.000, recall=0.500, f1=0.667)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    result = _score(*from_origin(pair), read_reach(tolerance, pair, "tolerance"))
    return result.signed("two_sided", pair, {"tolerance": tolerance})


def _score(truth: Intervals, predicted: Intervals, reach: float) -> PrecisionRecallResult:
    return PrecisionRecallResult(
        _share_near(predicted, truth, reach), _share_near(truth, predicted, reach)
    )


def _share_near(of: Intervals, by: Intervals, reach: float) -> float:
    """Return the share of one set that lies within reach of the other."""
    whole = total_length(of)
    if whole == 0:
        first, after = within(reach, of, by)
        return ratio(int((first < after).sum()), len(of))
    # Whole ticks stay whole; a part of a sample reaches no further one.
    whole_ticks = of.clock.kind == "integer" or reach == floor(reach)
    step = floor(reach) if whole_ticks else reach
    grown = replace(by, starts=by.starts - step, stops=by.stops + step).merged()
    return ratio(min(float(overlap_lengths(of, grown).sum()), whole), whole)


_MOST_SIMULATIONS = 10_000_000


@dataclass(frozen=True, repr=False, eq=False)
class TwoSidedNull(MetricResult):
    """Precision and recall of the same predictions against truths drawn at random.

    Examples
    --------
    >>> null = TwoSidedNull(PrecisionRecallResult(1.0, 0.5), np.array([0.0, 1.0, 0.5]), np.zeros(3))
    >>> null.precision_mean, null.precision_p_value, null.recall_p_value
    (0.5, 0.5, 0.25)
    """

    observed: PrecisionRecallResult
    """What the predictions score against the real truth."""
    precision: NDArray[np.float64]
    """Precision in each simulation."""
    recall: NDArray[np.float64]
    """Recall in each simulation."""

    @property
    def precision_mean(self) -> float:
        """Precision to be expected by chance."""
        return float(self.precision.mean())

    @property
    def recall_mean(self) -> float:
        """Recall to be expected by chance."""
        return float(self.recall.mean())

    @property
    def precision_p_value(self) -> float:
        """How often chance gives at least the observed precision; nan where that is undefined."""
        return _p_value(self.precision, self.observed.precision)

    @property
    def recall_p_value(self) -> float:
        """How often chance gives at least the observed recall; nan where that is undefined."""
        return _p_value(self.recall, self.observed.recall)

    def quantile(self, q: float) -> PrecisionRecallResult:
        """Return the precision and the recall that chance stays below with probability q."""
        q = read_fraction(q, "q")
        name, pair, parameters = self._sign.args
        return PrecisionRecallResult(
            float(np.quantile(self.precision, q)), float(np.quantile(self.recall, q))
        ).signed(name, pair, {**parameters, "q": q})

    def values(self) -> dict[str, float]:
        """Return the numbers by name."""
        names = ("precision_mean", "precision_p_value", "recall_mean", "recall_p_value")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value:.3g}" for name, value in self.values().items())
        return f"{type(self).__name__}({numbers})"


def two_sided_null(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    tolerance: Any,
    simulations: int = 1000,
    seed: int | np.random.Generator = 0,
) -> TwoSidedNull:
    r"""Simulate what `two_sided` gives by chance (the Monte Carlo null of its paper).

    The predictions stay, the truth is drawn anew each time. On an integer axis (vectors without
    times) that is the paper's null: the true samples are permuted, so there are as many of them,
    anywhere in the span. On a float or datetime axis the true events keep their durations and are
    placed uniformly at random without overlap; for points that is the limit of the permutation.

    With S simulations, of which k give at least what was observed, the p-value is
    :math:`(k + 1) / (S + 1)`, as in the paper's code; in (0, 1], lower speaks against chance.

    Parameters
    ----------
    truth, predicted, times, end, span, tolerance
        As in `two_sided`.
    simulations
        How many truths to draw, 1 to 10,000,000. The authors draw 10,000.
    seed
        Seed of the random numbers, a whole number of 0 or more: the same one gives the same
        result. Or a generator of numpy, which goes on from where it is.

    Notes
    -----
    The null speaks of points. Permuting samples scatters long true ranges over the whole span, so
    that nearly every prediction has a true sample near it and the precision to be expected comes
    close to 1. Give such events as `Events` on a float or datetime axis, where they stay whole.

    Examples
    --------
    >>> from closecall import metrics
    >>> truth, predicted = [0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 0]
    >>> null = metrics.two_sided_null(truth, predicted, tolerance=1)
    >>> null.observed
    PrecisionRecallResult(precision=1.000, recall=0.500, f1=0.667)
    >>> round(null.precision_mean, 2), round(null.recall_mean, 2)
    (0.63, 0.62)
    """
    require_count(simulations, "simulations", 1, _MOST_SIMULATIONS)
    if not isinstance(seed, np.random.Generator):
        require_count(seed, "seed", 0)
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    reach = read_reach(tolerance, pair, "tolerance")
    sides = from_origin(pair)
    generator = np.random.default_rng(seed)
    draw = _permuted if pair.clock.kind == "integer" else _placed
    length = pair.stop - pair.start
    drawn = [
        _score(draw(sides[0], length, generator), sides[1], reach) for _ in range(int(simulations))
    ]
    parameters = {"tolerance": tolerance, "simulations": simulations, "seed": seed}
    return TwoSidedNull(
        two_sided(pair, None, tolerance=tolerance),
        np.array([result.precision for result in drawn]),
        np.array([result.recall for result in drawn]),
    ).signed("two_sided_null", pair, parameters)


def _permuted(truth: Intervals, length: Tick, generator: np.random.Generator) -> Intervals:
    """Put as many samples as are true anywhere in the span."""
    count = min(int(lengths(truth).sum()), int(length))
    starts = np.sort(generator.choice(int(length), size=count, replace=False, shuffle=False))
    return Intervals(starts, starts + 1, truth.clock)


def _placed(truth: Intervals, length: Tick, generator: np.random.Generator) -> Intervals:
    """Put the events anywhere in the span, in any order, without overlap."""
    durations = generator.permutation(lengths(truth).astype(np.float64))
    free = max(float(length) - durations.sum(), 0.0)
    gaps = np.sort(generator.uniform(0, free, size=durations.size))
    stops = gaps + np.cumsum(durations)
    return Intervals(stops - durations, stops, truth.clock)


def _p_value(simulated: NDArray[np.float64], observed: float) -> float:
    if np.isnan(observed):
        return nan
    return float(((simulated >= observed).sum() + 1) / (simulated.size + 1))


def read_reach(value: Any, pair: Pair, name: str) -> float:
    """Read a distance in ticks; beyond the whole span it makes no difference."""
    return min(read_duration(value, pair.clock, name), pair.stop - pair.start + 1)


def from_origin(pair: Pair) -> tuple[Intervals, Intervals]:
    """Count time from the start of the span; on an integer axis a point becomes its sample."""
    sides = []
    for side in (pair.truth, pair.predicted):
        starts, stops = side.starts - pair.start, side.stops - pair.start
        if pair.clock.kind == "integer":
            stops = np.maximum(stops, starts + 1)
        sides.append(Intervals(starts, stops, pair.clock))
    return sides[0], sides[1]


def within(
    reach: float, of: Intervals, by: Intervals, *, closed: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each interval, the range [first, after) of those in the other set within reach.

    Both sets are sorted and disjoint. A range does not hold its stop, so what begins exactly the
    reach after it is too far; what begins exactly the reach after a point is near if `closed`.
    """
    # What has begun within reach of one of the others leaves it behind from there on.
    leaving = np.bincount(_begun(reach, by, of, closed=closed), minlength=len(of) + 1)
    return np.cumsum(leaving)[:-1], _begun(reach, of, by, closed=closed)


def _begun(reach: float, of: Intervals, by: Intervals, *, closed: bool) -> NDArray[np.int64]:
    """Count, for each interval, those of the other set that begin at most the reach after it."""
    below, upto = reach, reach
    if of.clock.kind == "integer":
        below = upto = floor(reach)
    elif of.stops.dtype.kind == by.starts.dtype.kind == "i":  # whole ticks compare exactly
        below, upto = ceil(reach), floor(reach)
    begun = np.searchsorted(by.starts, of.stops + below, side="left")
    points = of.starts == of.stops
    if closed and points.any():
        begun[points] = np.searchsorted(by.starts, of.stops[points] + upto, side="right")
    return begun

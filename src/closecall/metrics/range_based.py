"""Range-based precision and recall (Tatbul et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.errors import InputError, shown
from closecall.metrics.overlap import CommonParts, common_parts, lengths
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import call_option, read_fraction
from closecall.series import read_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.events import Intervals

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Bias = str | Callable[[float, float], float]
    Cardinality = Literal["one", "reciprocal"] | Callable[[int], float]


def range_based(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    alpha: float = 0.5,
    cardinality: Cardinality = "reciprocal",
    precision_bias: Bias = "flat",
    recall_bias: Bias = "flat",
) -> PrecisionRecallResult:
    r"""Compute range-based precision and recall: existence, size, position, number of overlaps.

    With :math:`\gamma(x)` the cardinality factor for :math:`x` overlaps (1 if :math:`x \le 1`)
    and :math:`\omega` the share of the weight of a range that an overlap has, where the bias
    :math:`\delta(i, L)` is the weight of the i-th of the L samples of the range,

    .. math::

        R = \frac{1}{n} \sum_{j=1}^{n} \Big( \alpha \, [x_j \ge 1]
            + (1 - \alpha) \, \gamma(x_j) \sum_i \omega(\mathrm{gt}_j, \mathrm{pred}_i) \Big),
        \quad
        P = \frac{1}{m} \sum_{i=1}^{m} \gamma(x_i) \sum_j \omega(\mathrm{pred}_i, \mathrm{gt}_j).

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).
    Costs O(n + m), apart from the search in sorted times.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. On an integer axis, which label vectors without times
        have, samples are counted; on the others, biases are densities and are integrated.
    alpha
        Weight in [0, 1] of the existence of an overlap, for recall; precision has none, as in
        the paper. 0.5, as in the paper on the affiliation metrics and in most tools; the authors'
        program has 0 where nothing is given.
    cardinality
        Factor for a range that meets several: ``"one"``, ``"reciprocal"`` (1/x), or a function
        of the number x of overlaps, 2 or more, that gives a factor in [0, 1].
    precision_bias, recall_bias
        Weight by the position in the range (predicted for precision, true for recall):
        ``"flat"``, ``"front"``, ``"middle"``, ``"back"``, or a function
        ``bias(position, length)``. It is asked about the positions 1 to `length` on an integer
        axis, and between 0 and `length` on the others (seconds, where times are datetimes);
        there it is integrated by a Gauss rule of 16 points between the borders of the overlaps.

    Notes
    -----
    A predicted point is the limit of a short range: it is all inside a true event or all outside,
    and inside a true range it counts as an overlap without size. Without predictions or truth the
    authors' program prints 0, which the paper does not define; it is nan here.

    Peers differ in defaults: the authors' program and prts take alpha 0 and a cardinality of one,
    TimeEval and aeon alpha 0 (0.5 in their F-scores), tsadmetrics a cardinality of one and an
    existence weight of 0.5 for precision too, TSB-AD alpha 0.2. They also fail in their own ways:
    prts stops at a vector of zeros; aeon gives 0 where everything is predicted, and F-beta above 1
    for beta below 1; TSB-AD's biases take the index in the series for the position in the event.
    In the authors' program a function for the cardinality gives the divisor; here, as in the paper,
    it gives the factor.

    References
    ----------
    N. Tatbul, T. J. Lee, S. Zdonik, M. Alam, J. Gottschlich. Precision and Recall for Time
    Series. NeurIPS 2018. https://arxiv.org/abs/1803.03639

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.range_based([0, 1, 1, 1, 1, 0], [0, 1, 0, 1, 0, 1])
    PrecisionRecallResult(precision=0.667, recall=0.625, f1=0.645)
    >>> metrics.range_based([0, 1, 1, 1, 1, 0], [0, 1, 0, 1, 0, 1], recall_bias="front")
    PrecisionRecallResult(precision=0.667, recall=0.650, f1=0.658)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    alpha = read_fraction(alpha, "alpha")
    _require_cardinality(cardinality)
    _require_bias(precision_bias, "precision_bias")
    _require_bias(recall_bias, "recall_bias")
    parts = common_parts(pair.truth, pair.predicted)
    counts = np.bincount(parts.first, minlength=len(pair.truth))
    shares = _weighted_shares(recall_bias, "recall_bias", pair.truth, parts.first, parts)
    recalls = alpha * (counts > 0) + (1 - alpha) * (shares * _factors(cardinality, counts))
    counts = np.bincount(parts.second, minlength=len(pair.predicted))
    shares = _weighted_shares(precision_bias, "precision_bias", pair.predicted, parts.second, parts)
    precisions = shares * _factors(cardinality, counts)
    parameters: dict[str, Any] = {"alpha": alpha, "cardinality": cardinality}
    parameters |= {"precision_bias": precision_bias, "recall_bias": recall_bias}
    return PrecisionRecallResult(
        ratio(float(precisions.sum()), precisions.size), ratio(float(recalls.sum()), recalls.size)
    ).signed("range_based", pair, parameters)


def _require_cardinality(cardinality: Any) -> None:
    named = isinstance(cardinality, str) and cardinality in ("one", "reciprocal")
    if not (named or callable(cardinality)):
        rule = "to be 'one', 'reciprocal' or a function of the number of overlaps"
        raise InputError(rule, shown(cardinality), argument="cardinality")


def _factors(cardinality: Cardinality, counts: Indices) -> Floats:
    """Return the cardinality factor of each event: 1 for one overlap or none."""
    if cardinality == "one":
        return np.ones(counts.size)
    if cardinality == "reciprocal":
        factors: Floats = 1.0 / np.maximum(counts, 1)
        return factors
    # It multiplies the overlap, so that a divisor would be a mistake.
    asked = (
        "cardinality",
        "a factor from 0 to 1, such as 1 / x for x overlaps",
        lambda x: 0 <= x <= 1,
    )
    factors = np.ones(counts.size)
    for count in np.unique(counts[counts > 1]).tolist():
        factors[counts == count] = call_option(cardinality, *asked, count)
    return factors


# The positional bias. Positions are counted from the start of the event itself, so moving the whole
# series changes nothing. On an integer axis the samples 1 to L of an event have weights, which add
# up; on the others a density is integrated. One closed form serves both: the first x samples of a
# rising bias weigh x(x + 1)/2, the first x of a density x(x + 0)/2, and `step` is that 1 or 0.

_MOST_SAMPLES = 10**7  # a callable is asked about each sample
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)


_BIASES = ("flat", "front", "middle", "back")


def _weigh(bias: str, left: Floats, right: Floats, length: Floats, step: int) -> Floats:
    if bias == "flat":
        return right - left
    if bias == "back":
        return (right - left) * (right + left + step)
    if bias == "front":
        return (right - left) * ((length - right) + (length - left) + step)
    half = np.ceil(length / 2) if step else length / 2
    rising = _weigh("back", np.minimum(left, half), np.minimum(right, half), length, step)
    falling = _weigh("front", np.maximum(left, half), np.maximum(right, half), length, step)
    return rising + falling


def _require_bias(bias: Any, name: str) -> None:
    if not (callable(bias) or (isinstance(bias, str) and bias in _BIASES)):
        names = ", ".join(repr(known) for known in _BIASES)
        rule = f"to be one of {names}, or a function of a position and a length"
        raise InputError(rule, shown(bias), argument=name)


def _weighted_shares(
    bias: Bias, name: str, events: Intervals, owner: Indices, parts: CommonParts
) -> Floats:
    """Return what share of each event its parts weigh; a part of a point is all of it."""
    length = lengths(events).astype(np.float64)[owner]
    ranged = length > 0
    left = (parts.starts - events.starts[owner]).astype(np.float64)[ranged]
    right = (parts.stops - events.starts[owner]).astype(np.float64)[ranged]
    length = length[ranged]
    shares = np.ones(owner.size)
    if isinstance(bias, str):
        step = int(events.clock.kind == "integer")
        whole = _weigh(bias, np.zeros_like(length), length, length, step)
        shares[ranged] = _weigh(bias, left, right, length, step) / whole
    else:
        weight, ends = _BiasFunction(bias, name, events.clock.seconds), (left, right, length)
        counted = events.clock.kind == "integer"
        shares[ranged] = (
            _summed(weight, *ends) if counted else _integrated(weight, owner[ranged], *ends)
        )
    # Shares of one event add up to one at most; rounding alone could exceed it.
    return np.minimum(np.bincount(owner, weights=shares, minlength=len(events)), 1.0)


@dataclass(frozen=True)
class _BiasFunction:
    """A bias that is a function, the name of its parameter, and a tick in the unit it is told."""

    function: Callable[[float, float], float]
    name: str
    unit: float

    def weight(self, position: float, length: float) -> float:
        rule, fits = "a finite weight of 0 or more", lambda weight: isfinite(weight) and weight >= 0
        return call_option(self.function, self.name, rule, fits, position, length)

    def require_some(self, total: Floats, length: Floats) -> Floats:
        if (total <= 0).any():
            event = f"an event of length {length[int((total <= 0).argmax())]:g}"
            rule = "to give some position a weight above 0"
            raise InputError(rule, f"0 everywhere in {event}", argument=self.name)
        return total


def _summed(bias: _BiasFunction, left: Floats, right: Floats, length: Floats) -> Floats:
    """Ask a callable about each sample, once for events of equal length."""
    distinct = np.unique(length)
    if distinct.sum() > _MOST_SAMPLES:
        rule = f"events of at most {_MOST_SAMPLES} samples for a `{bias.name}` that is a function"
        got = f"{distinct.sum():.0f}"
        raise InputError(rule, got, hint="Count time in a coarser unit, or in floats.")

    def weights(count: int) -> Floats:
        return np.array([bias.weight(i, count) for i in range(1, count + 1)])

    sums = RunningSums(length, weights)
    total = sums.between(np.zeros_like(length), length)
    return sums.between(left, right) / bias.require_some(total, length)


def _integrated(
    bias: _BiasFunction, owner: Indices, left: Floats, right: Floats, length: Floats
) -> Floats:
    """Integrate a callable between all borders in an event, so that shares add up to one."""
    unit = bias.unit
    shares = np.empty(length.size)
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    for rows in np.split(np.arange(length.size), begin[1:]) if begin.size else []:
        whole = length[rows[0]]
        borders = np.unique(np.concatenate(([0, whole / 2, whole], left[rows], right[rows])))
        half_widths = np.diff(borders)[:, None] / 2
        positions = borders[:-1, None] + half_widths * (1 + _NODES)
        values = [bias.weight(x, whole * unit) for x in (positions * unit).ravel().tolist()]
        cells = (np.reshape(values, positions.shape) * _NODE_WEIGHTS * half_widths).sum(axis=1)
        before = np.concatenate(([0.0], np.cumsum(cells)))
        first, last = (before[np.searchsorted(borders, ends[rows])] for ends in (left, right))
        shares[rows] = (last - first) / bias.require_some(before[-1:], length[rows[:1]])
    return shares


class RunningSums:
    """Running sums of rows of weights that depend on the row's length alone.

    Examples
    --------
    >>> sums = RunningSums(np.array([3.0, 2.0]), lambda length: np.arange(1.0, length + 1))
    >>> sums.between(np.array([1.0, 0.0]), np.array([3.0, 2.0]))
    array([5., 3.])
    """

    def __init__(self, lengths: Floats, weights: Callable[[int], Floats]) -> None:
        distinct, row = np.unique(lengths.astype(np.int64), return_inverse=True)
        parts = [np.concatenate(([0.0], np.cumsum(weights(size)))) for size in distinct.tolist()]
        self._sums = np.concatenate([np.zeros(0), *parts])
        self._origin = (np.cumsum(distinct + 1) - (distinct + 1))[row]

    def between(self, left: Floats, right: Floats) -> Floats:
        """Add up the weights of samples [left, right) of each row."""
        stop, start = (self._origin + edge.astype(np.int64) for edge in (right, left))
        sums: Floats = self._sums[stop] - self._sums[start]
        return sums

"""Range-based precision and recall (Tatbul et al. 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.errors import InputError, expected
from closecall.metrics._common_parts import common_parts
from closecall.metrics._positional_bias import read_bias, weighted_shares
from closecall.metrics.entry import Metric
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.parameters import call_option, read_fraction, shown
from closecall.series import read_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.events import Intervals
    from closecall.metrics._positional_bias import Bias
    from closecall.series import Pair

    Cardinality = Literal["one", "reciprocal"] | Callable[[int], float]

_CARDINALITIES = ("one", "reciprocal")


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
    r"""Range-based precision and recall: existence, size, position and number of the overlaps.

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
    return _range_based(
        read_pair(truth, predicted, times=times, end=end, span=span),
        alpha=alpha,
        cardinality=cardinality,
        precision_bias=precision_bias,
        recall_bias=recall_bias,
    )


def _range_based(
    pair: Pair,
    *,
    alpha: float = 0.5,
    cardinality: Cardinality = "reciprocal",
    precision_bias: Bias = "flat",
    recall_bias: Bias = "flat",
) -> PrecisionRecallResult:
    alpha = read_fraction(alpha, "alpha")
    _require_cardinality(cardinality)
    parts = common_parts(pair.truth, pair.predicted)

    def rewards(
        events: Intervals, owner: NDArray[np.int64], bias: Bias, name: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        counts = np.bincount(owner, minlength=len(events))
        shares = weighted_shares(bias, name, events, owner, (parts.starts, parts.stops))
        overlap = np.bincount(owner, weights=shares, minlength=len(events))
        # Shares of one event add up to one at most; rounding alone could exceed it.
        return counts, np.minimum(overlap, 1.0) * _factors(cardinality, counts)

    read_bias(precision_bias, "precision_bias")
    read_bias(recall_bias, "recall_bias")
    counts, found = rewards(pair.truth, parts.first, recall_bias, "recall_bias")
    recalls = alpha * (counts > 0) + (1 - alpha) * found
    _, precisions = rewards(pair.predicted, parts.second, precision_bias, "precision_bias")
    return PrecisionRecallResult(
        ratio(float(precisions.sum()), precisions.size), ratio(float(recalls.sum()), recalls.size)
    )


def _require_cardinality(cardinality: Any) -> None:
    named = isinstance(cardinality, str) and cardinality in _CARDINALITIES
    if not (named or callable(cardinality)):
        rule = "`cardinality` to be 'one', 'reciprocal' or a function of the number of overlaps"
        raise InputError(expected(rule, shown(cardinality)))


def _factors(cardinality: Cardinality, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the cardinality factor of each event: 1 for one overlap or none."""
    if cardinality == "one":
        return np.ones(counts.size)
    if cardinality == "reciprocal":
        factors: NDArray[np.float64] = 1.0 / np.maximum(counts, 1)
        return factors
    distinct, row = np.unique(counts, return_inverse=True)
    table = np.array([_factor(cardinality, count) for count in distinct.tolist()])
    return table[row] if counts.size else np.ones(0)


def _factor(cardinality: Callable[[int], float], count: int) -> float:
    if count <= 1:
        return 1.0
    # It multiplies the overlap, so that a divisor would be a mistake.
    rule = "a factor from 0 to 1, such as 1 / x for x overlaps"
    return call_option(cardinality, "cardinality", rule, lambda x: 0 <= x <= 1, count)


ENTRIES = (
    Metric(
        name="range_based",
        function=range_based,
        family="range",
        mainly_for="range",
        handles_durations=True,
        paper="Tatbul et al., Precision and Recall for Time Series, NeurIPS 2018",
    ),
)

r"""What average precision random scores reach, without drawing any.

Random scores let points into the prediction one by one, each anywhere in the span with equal
chance; equal scores let them in together. The proofs are on the page "Against chance" of the
documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.zones import zone_borders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.series import Scored, TruthInSpan

_ENOUGH = 10  # points in every zone: what comes after them hardly matters
_NO_TIES = np.empty(0, dtype=np.int64)


def shuffled_average_precision(scored: Scored, thresholds: NDArray[Any]) -> float:
    """Give about the mean average precision of the scores in random order, in [0, 1].

    The thresholds are the distinct scores, descending.
    """
    pair = scored
    return random_average_precision(pair, sizes_of_ties(scored.scores, thresholds, pair))


def random_average_precision(pair: TruthInSpan, sizes: NDArray[np.int64] = _NO_TIES) -> float:
    r"""Give about the mean average precision of random scores, in [0, 1].

    With :math:`H_n = 1 + \frac12 + \dots + \frac1n` for n zones,

    .. math:: \bar c + \frac{1 - \overline{p^3}}{n}
        \left(\frac{H_n}{12} + \frac{\pi^2}{12} - \frac56\right),

    where :math:`\overline{p^3}` is a mean over zones, and :math:`\bar c` the mean level of
    precision, :math:`\frac12 + \frac{p^2}{2}`, over the zones that have been reached whenever
    recall rises. It is 1/2 at least, but that a zone without length, which nothing ever reaches,
    counts as 0.

    Where there are ties, `sizes` has how many samples share each of the highest scores. Precision
    then counts when all that come together are in. This changes :math:`\bar c`, and the second
    term falls towards 0, since each point of a zone weighs less by then.

    Examples
    --------
    >>> import closecall as cc
    >>> scored = cc.affiliation_curve([0, 0, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6]).scored
    >>> round(random_average_precision(scored), 3)
    0.586
    """
    from closecall.affiliation import _chance_kernels

    truth, borders = pair.truth, zone_borders(pair)
    return _chance_kernels.average_precision_level(truth.starts, truth.stops, borders, sizes)


def sizes_of_ties(
    scores: NDArray[Any], thresholds: NDArray[Any], pair: TruthInSpan
) -> NDArray[np.int64]:
    """Count the samples at the highest thresholds, as far as they matter; none without ties.

    A few passes over the scores, and none if all of them differ.

    Examples
    --------
    >>> import closecall as cc
    >>> curve = cc.affiliation_curve([0, 0, 1, 0, 0, 0], [3, 1, 3, 2, 3, 2])
    >>> sizes_of_ties(curve.scored.scores, curve.thresholds, curve.scored)
    array([3, 2, 1])
    """
    if thresholds.size == scores.size:
        return _NO_TIES
    lengths = np.diff(zone_borders(pair))
    enough = _ENOUGH * float(lengths.sum()) / float(lengths[lengths > 0].min())
    levels = 1
    high = scores[scores >= thresholds[0]]
    while high.size < enough and levels < thresholds.size:
        levels = min(2 * levels, thresholds.size)
        high = scores[scores >= thresholds[levels - 1]]
    places = np.searchsorted(thresholds[:levels][::-1], high)
    return np.bincount(places, minlength=levels)[::-1].copy()

r"""What average precision random scores reach, without drawing any.

Random scores let points into the prediction one by one, each anywhere in the span with equal
chance. The proofs are on the page "Against chance" of the documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.affiliation.zones import zone_borders

if TYPE_CHECKING:
    from closecall.pair import Pair


def random_average_precision(pair: Pair) -> float:
    r"""Give about the mean average precision of random scores, in [0, 1].

    With :math:`H_n = 1 + \frac12 + \dots + \frac1n` for n zones,

    .. math:: \bar c + \frac{1 - \overline{p^3}}{n}
        \left(\frac{H_n}{12} + \frac{\pi^2}{12} - \frac56\right),

    where :math:`\overline{p^3}` is a mean over zones, and :math:`\bar c` the mean level of
    precision, :math:`\frac12 + \frac{p^2}{2}`, over the zones that have been reached whenever
    recall rises. It is 1/2 at least, but that a zone without length, which nothing ever reaches,
    counts as 0.

    Examples
    --------
    >>> import closecall as cc
    >>> scored = cc.affiliation_curve([0, 0, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6]).scored
    >>> round(random_average_precision(scored.nothing_predicted), 3)
    0.586
    """
    from closecall.affiliation import _chance_kernels

    truth = pair.truth
    return _chance_kernels.average_precision_level(truth.starts, truth.stops, zone_borders(pair))

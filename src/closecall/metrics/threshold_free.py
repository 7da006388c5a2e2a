"""Areas under curves over all thresholds: of ROC, of precision and recall, of affiliation."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.errors import MissingExtraError
from closecall.metrics.entry import Metric
from closecall.metrics.result import ValueResult
from closecall.metrics.samples import true_samples
from closecall.series import read_scored

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from closecall.series import Scored


def auc_roc(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Area under the ROC curve, sample by sample.

    .. math:: \mathrm{AUC} = P(s_1 > s_0) + \tfrac{1}{2} P(s_1 = s_0)

    for the scores of a random true sample and a random normal one. In [0, 1], higher is better,
    0.5 by chance; nan unless there are both true and normal samples. It does not see time: a
    near miss counts as much as a far one. Computed by scikit-learn.

    Parameters
    ----------
    truth, scores, times, end, span
        As in `closecall.affiliation_curve`. Samples are counted, however long they last; true
        is each sample that meets an event.

    Notes
    -----
    scikit-learn itself refuses infinite scores, which are legal here.

    References
    ----------
    J. A. Hanley and B. J. McNeil. The meaning and use of the area under a receiver operating
    characteristic (ROC) curve. Radiology 143(1), 1982.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.auc_roc([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.6])
    ValueResult(value=0.75)
    """
    return _auc_roc(read_scored(truth, scores, times=times, end=end, span=span))


def _auc_roc(scored: Scored) -> ValueResult:
    labels = true_samples(scored)
    if labels.all() or not labels.any():
        return ValueResult(nan)
    return ValueResult(float(_sklearn().roc_auc_score(labels, _finite(scored.scores))))


def average_precision(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Average precision, the step-wise area under the precision-recall curve of samples.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) P_k

    over the distinct scores, descending, with :math:`R_0 = 0`. In [0, 1], higher is better, the
    share of true samples by chance; nan without any true sample. Computed by scikit-learn.

    Parameters
    ----------
    truth, scores, times, end, span
        As in `closecall.affiliation_curve`. Samples are counted, however long they last; true
        is each sample that meets an event.

    Notes
    -----
    Without a true sample scikit-learn warns and gives 0. The area of trapezoids under the same
    points, which some packages call AUC-PR, is larger or smaller than this one: it interpolates
    between points that no threshold attains.

    References
    ----------
    J. Davis and M. Goadrich. The relationship between Precision-Recall and ROC curves. ICML 2006.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.average_precision([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.6])
    ValueResult(value=0.833333)
    """
    return _average_precision(read_scored(truth, scores, times=times, end=end, span=span))


def _average_precision(scored: Scored) -> ValueResult:
    labels = true_samples(scored)
    if not labels.any():
        return ValueResult(nan)
    return ValueResult(float(_sklearn().average_precision_score(labels, _finite(scored.scores))))


def affiliation_average_precision(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Average affiliation precision, the step-wise area under the affiliation curve.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) P_k

    with the affiliation precision and recall at each distinct score, descending, and
    :math:`R_0 = 0`. In [0, 1], higher is better; nan without any true event. It is the
    `average_precision` of `closecall.affiliation_curve`.

    Parameters
    ----------
    truth, scores, times, end, span
        As in `closecall.affiliation_curve`.

    References
    ----------
    A. Huet, J. M. Navarro and D. Rossi. Local Evaluation of Time Series Anomaly Detection
    Algorithms. KDD 2022.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.affiliation_average_precision([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.6])
    ValueResult(value=0.960938)
    """
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    if len(scored.truth) == 0:
        return ValueResult(nan)
    return ValueResult(affiliation_curve(scored, None).average_precision)


def _finite(scores: NDArray[Any]) -> NDArray[Any]:
    """Put ranks in the place of scores if some are infinite; the order is all that counts."""
    if scores.dtype.kind != "f" or np.isfinite(scores).all():
        return scores
    ranks: NDArray[np.int64] = np.unique(scores, return_inverse=True)[1]
    return ranks


def _sklearn() -> ModuleType:
    try:
        import sklearn.metrics
    except ImportError as error:
        raise MissingExtraError("scikit-learn") from error
    module: ModuleType = sklearn.metrics
    return module


ENTRIES = (
    Metric(
        name="auc_roc",
        function=auc_roc,
        family="threshold-free",
        takes="scores",
        gives=("value",),
        mainly_for="point",
        paper="Hanley and McNeil, Radiology 1982",
        counts_samples=True,
    ),
    Metric(
        name="average_precision",
        function=average_precision,
        family="threshold-free",
        takes="scores",
        gives=("value",),
        mainly_for="point",
        paper="the definition",
        counts_samples=True,
    ),
    Metric(
        name="affiliation_average_precision",
        function=affiliation_average_precision,
        family="threshold-free",
        takes="scores",
        gives=("value",),
        mainly_for="both",
        handles_adjacency=True,
        handles_durations=True,
        paper="Huet et al., KDD 2022",
    ),
)

"""Areas under curves over all thresholds: of ROC, of precision and recall, of affiliation."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.compiled import interruptible
from closecall.errors import InputError, InputTypeError, MissingExtraError, shown
from closecall.events import covered
from closecall.metrics.result import ValueResult
from closecall.parameters import is_number
from closecall.series import read_scored

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from closecall.series import Scored


def auc_roc(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute the area under the ROC curve, sample by sample.

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
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    labels, area = true_samples(scored), nan
    if labels.any() and not labels.all():
        area = interruptible(_sklearn().roc_auc_score, labels, _finite(scored.scores))
    return ValueResult(float(area)).signed("auc_roc", scored)


def average_precision(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute average precision, the step-wise area under the precision-recall curve.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) P_k

    over the distinct scores, descending, with :math:`R_0 = 0`. In [0, 1], higher is better, the
    share of true samples by chance; nan without any true sample. Computed by scikit-learn.

    Parameters
    ----------
    truth, scores, times, end, span
        As in `auc_roc`.

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
    scored = read_scored(truth, scores, times=times, end=end, span=span)
    labels, area = true_samples(scored), nan
    if labels.any():
        area = interruptible(_sklearn().average_precision_score, labels, _finite(scored.scores))
    return ValueResult(float(area)).signed("average_precision", scored)


def affiliation_average_precision(
    truth: Any, scores: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> ValueResult:
    r"""Compute average affiliation precision, the step-wise area under the affiliation curve.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) P_k

    with the affiliation precision and recall at each distinct score, descending, and
    :math:`R_0 = 0`. In [0, 1], higher is better; nan without any true event. It is the
    `average_precision` of `closecall.affiliation_curve`, and takes what that takes.

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
    area = affiliation_curve(scored, None).average_precision if len(scored.truth) else nan
    return ValueResult(area).signed("affiliation_average_precision", scored)


def _finite(scores: NDArray[Any]) -> NDArray[Any]:
    """Put ranks in the place of scores if some are infinite; the order is all that counts."""
    if scores.dtype.kind != "f" or np.isfinite(scores).all():
        return scores
    ranks: NDArray[np.int64] = interruptible(np.unique, scores, return_inverse=True)[1]
    return ranks


def _sklearn() -> ModuleType:
    try:
        import sklearn.metrics
    except ImportError as error:
        raise MissingExtraError("scikit-learn") from error
    module: ModuleType = sklearn.metrics
    return module


def read_count(value: Any, name: str, most: int | None = None) -> int:
    """Read a parameter that counts samples: a whole number from 0 on."""
    limit = "0 or more" if most is None else f"from 0 to {most:,}"
    rule = f"to be a whole number of samples, {limit}"
    if not (is_number(value) and isinstance(value, int | np.integer)):
        hint = "It counts samples on every axis, also beside times."
        raise InputTypeError(rule, shown(value), argument=name, hint=hint)
    if value < 0 or (most is not None and value > most):
        raise InputError(rule, shown(value), argument=name)
    return int(value)


def true_samples(scored: Scored) -> NDArray[np.uint8]:
    """Return a 0/1 vector: 1 where the sample ``[t(i), t(i+1))`` meets a true event.

    Events that touch become one run of ones, as in a label vector.
    """
    truth, axis = scored.truth, scored.axis
    if axis.ticks is None:
        first, after = truth.starts, truth.stops
    else:
        _require_samples(scored)
        first = np.maximum(np.searchsorted(axis.ticks, truth.starts, side="right") - 1, 0)
        after = np.maximum(np.searchsorted(axis.ticks, truth.stops, side="left"), first + 1)
    return covered(first, after, axis.length).view(np.uint8)


def _require_samples(scored: Scored) -> None:
    """Raise if an event meets no sample: no score could find it."""
    truth, axis = scored.truth, scored.axis
    points = truth.starts == truth.stops
    early = (truth.stops < axis.start) | (~points & (truth.stops == axis.start))
    missed = early | (truth.starts >= axis.end)
    hint = "This metric counts samples; pass `times` that cover every event."
    truth.refuse(missed, "each true event to meet a sample", hint=hint)


def samples_near(
    starts: NDArray[np.int64], stops: NDArray[np.int64], before: int, after: int, length: int
) -> NDArray[np.int64]:
    """Return the samples that are true, or at most so many before or after an event."""
    first, after_last = np.maximum(starts - before, 0), np.minimum(stops + after, length)
    return np.flatnonzero(covered(first, after_last, length))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Some samples from the highest score down, in groups of equal scores."""

    samples: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """Group k holds ``samples[bounds[k]:bounds[k + 1]]``."""
    above: NDArray[np.int64]
    """How many samples of the whole series score higher than each group."""
    reach: NDArray[np.int64]
    """How many score at least as high."""


def rank(scores: NDArray[Any], chosen: NDArray[np.int64]) -> Ranking:
    """Rank the chosen samples among all."""
    ranked = scores[chosen]
    # Among equal scores the order is the same for every type and on every machine.
    order = interruptible(np.argsort, ranked, kind="stable")[::-1]
    ranked = ranked[order]
    first = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    everything = interruptible(np.sort, scores)
    return Ranking(
        samples=chosen[order],
        bounds=np.append(first, ranked.size),
        above=scores.size - interruptible(np.searchsorted, everything, ranked[first], side="right"),
        reach=scores.size - interruptible(np.searchsorted, everything, ranked[first], side="left"),
    )

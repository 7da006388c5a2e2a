"""The call and the keys of TSB-AD's ``get_metrics``: exact, or to its own digits."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall import metrics
from closecall.affiliation import affiliation, affiliation_curve
from closecall.affiliation.sweep import descending_order
from closecall.compiled import interruptible
from closecall.errors import InputError, with_names
from closecall.events import read_labels
from closecall.fscore import f_measure
from closecall.metrics.threshold_free import read_count
from closecall.parameters import require_choice
from closecall.series import Scored, read_scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXISTENCE = 0.2  # weight of finding an event at all, in TSB-AD's range-based recall
_SAMPLED = 100
_BELOW_THE_LINE = 1e-5  # added there by TSB-AD
_THEIRS = {"truth": "labels", "scores": "score", "window": "slidingWindow", "predicted": "pred"}


def get_metrics(  # noqa: PLR0917 - the order of arguments is TSB-AD's
    score: Any,
    labels: Any,
    slidingWindow: int = 100,
    pred: Any = None,
    version: str = "opt",  # noqa: ARG001 - asked for by callers of TSB-AD, and without effect here
    thre: int = 250,
    *,
    protocol: str = "exact",
) -> dict[str, float]:
    r"""Score a detector as ``TSB_AD.evaluation.metrics.get_metrics`` does, with the same keys.

    Without `pred`, the F1 scores are those of the best threshold, chosen with the truth: the
    largest :math:`2PR/(P+R)` over the thresholds. All are in [0, 1], higher is better.

    - ``AUC-PR``, ``AUC-ROC``: `closecall.metrics.average_precision` and
      `closecall.metrics.auc_roc`, the same as in TSB-AD.
    - ``VUS-PR``, ``VUS-ROC``: `closecall.metrics.vus` over all thresholds; TSB-AD samples `thre`.
    - ``Standard-F1``: over all thresholds; so does TSB-AD, with 0.00001 added below the line.
    - ``PA-F1``: over all thresholds; TSB-AD looks at 100 and does not adjust index 0.
    - ``Event-based-F1``: over all thresholds; TSB-AD looks at 100 and drops the last sample of an
      event at the end of the series.
    - ``R-based-F1``: at the same 100 thresholds as TSB-AD, from the lowest to the highest score
      that is finite, and at infinite ones. As there, a score must be above the threshold.
    - ``Affiliation-F``: over all thresholds; TSB-AD looks at 100.

    Parameters
    ----------
    score
        One score per sample, higher is more anomalous.
    labels
        The true 0/1 labels.
    slidingWindow
        Largest buffer of VUS, in samples.
    pred
        0/1 predictions, for the F1 scores at your own threshold. Without an alarm they are 0.0, and
        ``Affiliation-F`` is nan; so in TSB-AD.
    version
        Accepted and not needed: how TSB-AD computes VUS.
    thre
        At how many thresholds TSB-AD computes VUS; without effect unless `protocol` is "tsb-ad".
    protocol
        "exact", over all thresholds; or "tsb-ad", the digits of TSB-AD 1.5 to 1e-9: its sampled
        thresholds, and what it does at the ends of a series, as listed above and below.

    Needs scikit-learn, for the first two: ``pip install scikit-learn``, or the extra ``all``.

    Notes
    -----
    What else differs from TSB-AD 1.5:

    - All thresholds include the lowest score, at which every sample is predicted. Of the F1 scores
      only ``Standard-F1`` looks there in TSB-AD. So with one score for all samples, ``PA-F1`` and
      ``Event-based-F1`` are 0.0 and ``Affiliation-F`` is nan in TSB-AD; here they are those of the
      prediction of everything.
    - With `pred` all 1, ``R-based-F1`` is 0.0 in TSB-AD, which sees no range in a vector that never
      changes; here it is one range.
    - With `labels` or `pred` of bools or unsigned integers, ``R-based-F1`` changes in TSB-AD, whose
      ranges then do not end where they should; here no type changes a result.
    - With `labels` all 1, TSB-AD stops with an IndexError; here ``AUC-ROC`` and ``VUS-ROC`` are nan
      and the others defined. Without a true event both stop.
    - Infinite scores are an error in TSB-AD; here they rank. With a nan both stop.

    Examples
    --------
    >>> from closecall.compat import get_metrics
    >>> scores = get_metrics([0.1, 0.2, 0.9, 0.4, 0.3, 0.1], [0, 0, 1, 1, 0, 0], slidingWindow=2)
    >>> scores["Standard-F1"], round(scores["Affiliation-F"], 3)
    (1.0, 1.0)
    """
    require_choice(protocol, "protocol", ("exact", "tsb-ad"))
    with with_names(_THEIRS):
        scored = read_scored(labels, score)
        scored.require_truth("get_metrics")
        surface = scored
        if protocol == "tsb-ad":
            if not np.isfinite(scored.scores).all():
                raise InputError("finite `scores` for TSB-AD's thresholds", "inf")
            surface = read_scored(labels, _ranked(scored.scores, read_count(thre, "thre")))
            at_threshold = _as_there(scored, labels, pred)
        else:
            at_threshold = _best(scored) if pred is None else _at_own(labels, pred)
        volumes = metrics.vus(surface, None, window=slidingWindow)
    return {
        "AUC-PR": metrics.average_precision(scored, None).value,
        "AUC-ROC": metrics.auc_roc(scored, None).value,
        "VUS-PR": volumes.pr,
        "VUS-ROC": volumes.roc,
        **at_threshold,
    }


def _at_own(labels: Any, pred: Any) -> dict[str, float]:
    """Compute each F1 of the caller's own predictions; without an alarm 0, or nan, as in TSB-AD."""
    results = {
        "Standard-F1": metrics.classical(labels, pred),
        "PA-F1": metrics.point_adjust(labels, pred),
        "Event-based-F1": metrics.composite(labels, pred),
        "R-based-F1": metrics.range_based(labels, pred, alpha=_EXISTENCE),
    }
    scores = {key: 0.0 if np.isnan(result.f1) else result.f1 for key, result in results.items()}
    return {**scores, "Affiliation-F": affiliation(labels, pred).f1}


def _best(scored: Scored) -> dict[str, float]:
    """Compute each F1 at the threshold that is best for it."""
    precision, recall, events_found = _at_every_threshold(scored)
    return {
        "Standard-F1": float(np.max(f_measure(precision, recall))),
        "PA-F1": metrics.point_adjust_curve(scored, None).best().f1,
        "Event-based-F1": float(np.max(f_measure(precision, events_found))),
        "R-based-F1": _range_based(scored),
        "Affiliation-F": affiliation_curve(scored, None).best().fbeta,
    }


def _range_based(scored: Scored) -> float:
    """Compute the best F1 at TSB-AD's thresholds, 0 where no score is above them."""
    thresholds = _sampled(scored.scores)
    scores = (metrics.range_based(scored.at(x), None, alpha=_EXISTENCE).f1 for x in thresholds)
    return max(scores, default=0.0)


def _as_there(scored: Scored, labels: Any, pred: Any) -> dict[str, float]:
    """Compute each F1 as TSB-AD does: at its thresholds, with what it forgets at the ends."""
    if pred is None:
        precision, recall, _ = _at_every_threshold(scored)
        standard = float(np.max(2 * precision * recall / (precision + recall + _BELOW_THE_LINE)))
        levels = np.searchsorted(_evenly(scored.scores), scored.scores)  # a score must be above
        range_based = _range_based(scored)
    else:
        given = _at_own(labels, pred)
        levels, standard = read_labels(pred, "predicted").astype(np.int64), given["Standard-F1"]
        range_based = 0.0 if levels.all() else given["R-based-F1"]
    starts, stops = scored.truth.starts, scored.truth.stops
    true = read_labels(labels, "truth").astype(bool)
    at = np.arange(1, max(levels.max(), 1) + 1)
    alarms, hits = (np.sum(x[:, np.newaxis] >= at, axis=0) for x in (levels, levels[true]))
    found = _highest(levels, starts, stops) >= at[:, np.newaxis]
    adjusted = found @ (stops - starts)
    if true[0]:  # never filled in
        adjusted -= found[:, 0] & (levels[0] < at)
    # The last sample is not looked at, so an event of that sample alone is never found.
    seen = _highest(levels, starts, np.minimum(stops, levels.size - 1)) >= at[:, np.newaxis]
    curve = affiliation_curve(labels, levels)
    return {
        "Standard-F1": standard,
        "PA-F1": float(np.max(2 * adjusted / (adjusted + alarms - hits + true.sum()))),
        "Event-based-F1": float(
            np.max(np.nan_to_num(f_measure(hits / np.maximum(alarms, 1), seen.mean(axis=1))))
        ),
        "R-based-F1": range_based,
        "Affiliation-F": float(np.max(curve.f1[curve.thresholds > 0])) if levels.any() else nan,
    }


def _highest(levels: NDArray[Any], starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[Any]:
    """Return the highest level of each event, 0 of an empty one."""
    edges = np.column_stack((starts, stops)).ravel()
    highest = np.maximum.reduceat(np.append(levels, 0), edges)[::2]
    return np.where(starts < stops, highest, 0)


def _evenly(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return TSB-AD's thresholds from the lowest to the highest finite score, if there is one."""
    finite = scores[np.isfinite(scores)]
    if not finite.size:
        return np.empty(0)
    return np.linspace(float(finite.min()), float(finite.max()), _SAMPLED)


def _ranked(scores: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return how many of so many scores, evenly spread over the ranks, each score reaches."""
    chosen = np.linspace(0, scores.size - 1, count).astype(np.int64)
    thresholds = interruptible(np.sort, scores)[::-1][chosen]
    return np.searchsorted(np.unique(thresholds), scores, side="right")


def _sampled(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the lowest score above each of TSB-AD's thresholds, and above infinite ones."""
    thresholds = np.append(np.unique(scores[~np.isfinite(scores)]), _evenly(scores))
    levels = interruptible(np.unique, scores)
    above = np.unique(np.searchsorted(levels, thresholds, side="right"))
    chosen: NDArray[Any] = levels[above[above < levels.size]]
    return chosen


def _at_every_threshold(scored: Scored) -> tuple[NDArray[np.float64], ...]:
    """Compute precision, recall and the share of events found at each distinct score."""
    truth, scores = scored.truth, scored.scores
    order = descending_order(scores)
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), ranked.size - 1)
    inside = np.zeros(scores.size + 1, dtype=np.int64)
    inside[truth.starts], inside[truth.stops] = 1, -1
    hits = np.cumsum(np.cumsum(inside[:-1])[order])[last]
    edges = np.column_stack((truth.starts, truth.stops)).ravel()
    highest = np.sort(np.maximum.reduceat(np.append(scores, scores.min()), edges)[::2])
    found = highest.size - np.searchsorted(highest, ranked[last], side="left")
    return hits / (last + 1), hits / hits[-1], found / highest.size

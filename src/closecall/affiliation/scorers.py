"""The scores as plain functions of ``(y_true, y_pred)``, as scikit-learn's are."""

from __future__ import annotations

from math import nan
from typing import Any

from closecall.affiliation.curve import affiliation_curve
from closecall.affiliation.score import affiliation


def affiliation_precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    times: Any = None,
    end: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    zero_division: float = nan,
) -> float:
    """Affiliation precision of a 0/1 vector, in [0, 1], higher is better (equation 6).

    Examples
    --------
    >>> affiliation_precision_score([0, 1, 1, 0], [0, 1, 0, 0])
    1.0
    """
    axis = {"times": times, "end": end, "ignore": ignore, "max_step": max_step}
    return affiliation(y_true, y_pred, **axis, zero_division=zero_division).precision


def affiliation_recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    times: Any = None,
    end: Any = None,
    ignore: Any = None,
    max_step: Any = None,
) -> float:
    """Affiliation recall of a 0/1 vector, in [0, 1], higher is better (equation 6).

    Examples
    --------
    >>> affiliation_recall_score([0, 1, 1, 0], [1, 1, 1, 0])
    1.0
    """
    axis = {"times": times, "end": end, "ignore": ignore, "max_step": max_step}
    return affiliation(y_true, y_pred, **axis).recall


def affiliation_f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    times: Any = None,
    end: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    zero_division: float = nan,
) -> float:
    """Harmonic mean of affiliation precision and recall, in [0, 1], higher is better.

    Examples
    --------
    >>> affiliation_f1_score([0, 1, 1, 0], [0, 1, 1, 0])
    1.0
    """
    axis = {"times": times, "end": end, "ignore": ignore, "max_step": max_step}
    return affiliation(y_true, y_pred, **axis, zero_division=zero_division).f1


def affiliation_average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    times: Any = None,
    end: Any = None,
    ignore: Any = None,
    max_step: Any = None,
) -> float:
    r"""Affiliation average precision of scores, in [0, 1], higher is better.

    The exact, step-wise :math:`\sum_k (R_k - R_{k-1}) P_k` over all distinct thresholds.

    Examples
    --------
    >>> affiliation_average_precision_score([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])
    1.0
    """
    axis = {"times": times, "end": end, "ignore": ignore, "max_step": max_step}
    return affiliation_curve(y_true, y_score, **axis).average_precision

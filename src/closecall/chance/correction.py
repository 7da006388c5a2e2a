"""Corrections for testing many events at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.parameters import read_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

Correction = Literal["holm", "bonferroni", "benjamini-hochberg"]
_CORRECTIONS: tuple[str, ...] = get_args(Correction)


def adjust_pvalues(pvalues: Any, correction: Correction = "holm") -> NDArray[np.float64]:
    r"""Adjust the p-values of m tests so that each can be compared with the level of all of them.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, the adjusted values are

    - ``"bonferroni"``: :math:`m\, p_{(i)}`;
    - ``"holm"``: :math:`\max_{k \le i} (m - k + 1)\, p_{(k)}`, never larger than Bonferroni's.
      Either keeps the probability of any false finding at the level, whatever the dependence;
    - ``"benjamini-hochberg"``: :math:`\min_{k \ge i} \frac{m}{k} p_{(k)}`, which keeps the expected
      share of false findings at the level, for independent tests or positively dependent ones;

    each at most 1. They are in [0, 1], lower is stronger evidence, and none is below its p-value.

    Parameters
    ----------
    pvalues
        In [0, 1], or nan for a test that could not be done. It still counts among the m: whether
        it could be done is itself left to chance.
    correction
        Which of the three.

    Returns
    -------
    numpy.ndarray
        In the order given; nan stays nan.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_pvalues([0.01, 0.04, 0.03], "benjamini-hochberg")
    array([0.03, 0.04, 0.04])
    """
    require_correction(correction)
    given = _read_pvalues(pvalues)
    tests = given.size
    order = np.argsort(given)  # nan comes last
    ranked = np.where(np.isnan(given), 1.0, given)[order]
    ranks = np.arange(1, tests + 1)
    if correction == "bonferroni":
        scaled = tests * ranked
    elif correction == "holm":
        scaled = np.maximum.accumulate((tests - ranks + 1) * ranked)
    else:
        scaled = np.minimum.accumulate((tests / ranks * ranked)[::-1])[::-1]
    adjusted = np.empty(tests)
    adjusted[order] = np.minimum(scaled, 1.0)
    adjusted[np.isnan(given)] = np.nan
    return adjusted


def _read_pvalues(pvalues: Any) -> NDArray[np.float64]:
    given = read_numbers(pvalues, "pvalues")
    if given.ndim != 1:
        rule = "`pvalues` to be a list or another sequence of numbers"
        raise InputTypeError(expected(rule, f"{given.ndim} dimensions"))
    wrong = np.flatnonzero((given < 0) | (given > 1))
    if wrong.size:
        got = f"{given[wrong[0]]:g} at index {wrong[0]}"
        raise InputError(expected("`pvalues` to be in [0, 1], or nan", got))
    return given


def require_correction(correction: Any) -> None:
    """Refuse a correction that is not known."""
    if correction not in _CORRECTIONS:
        rule = f"`correction` to be one of {', '.join(map(repr, _CORRECTIONS))}"
        raise InputError(expected(rule, repr(correction)))

"""Thresholds in few digits that still predict the same samples."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from math import floor, inf, isinf, log10
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from closecall.affiliation import AffiliationCurve

_SHORT = 8  # significant digits that need no shortening
_FEWEST, _MOST = 4, 17  # significant digits


def threshold_text(curve: AffiliationCurve, threshold: float) -> str:
    """Write one of the curve's thresholds so that it can be typed in and predicts the same.

    A long number is cut, downwards, as long as it stays above the next lower score.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 1, 0], [0.1, 0.123456789, 1 / 3])
    >>> [threshold_text(c, threshold) for threshold in c.thresholds.tolist()]
    ['0.3333', '0.1234', '0.1']
    """
    short = f"{threshold:.{_SHORT}g}"
    if isinstance(threshold, int) or isinf(threshold) or float(short) == threshold:
        return str(threshold) if isinstance(threshold, int) else short
    ascending = curve.thresholds[::-1]
    lower = ascending[: np.searchsorted(ascending, threshold)]
    next_lower = float(lower[-1]) if lower.size else -inf
    whole_digits = floor(log10(abs(threshold))) + 1
    for digits in range(min(max(_FEWEST, whole_digits), _MOST), _MOST):
        down = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(threshold))
        text = f"{float(down):.{digits}g}"
        if next_lower < float(text) <= threshold:
            return text
    return repr(threshold)

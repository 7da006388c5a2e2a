"""How scores become predictions: a number, a quantile, or the best F1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from closecall.errors import InputError, InputTypeError, expected

_BEST = ("best_f1", "best_f1_global")
_HINT = (
    'Pass a number, {"quantile": 0.99} (or "quantile:0.99"), "best_f1" (the best of each '
    'series) or "best_f1_global" (one for all series of a detector).'
)


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """How a threshold is found for each series.

    Examples
    --------
    >>> ThresholdRule.read("quantile:0.99")
    ThresholdRule(kind='quantile', value=0.99)
    """

    kind: Literal["number", "quantile", "best_f1", "best_f1_global", "none"]
    """``none`` where nothing needs a threshold."""
    value: float = nan
    """The number, or the quantile; nan for the other kinds."""

    @classmethod
    def read(cls, threshold: Any) -> ThresholdRule:
        """Read what a caller passes as `threshold`; None means the best F1 of each series."""
        if threshold is None:
            return cls("best_f1")
        if isinstance(threshold, str):
            return cls._from_text(threshold)
        if isinstance(threshold, Mapping):
            if set(threshold) != {"quantile"}:
                raise _unknown(threshold)
            return cls("quantile", _quantile(threshold["quantile"]))
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)):
            raise InputTypeError(
                expected("`threshold` to be a number or a rule", f"{threshold!r:.80}", _HINT)
            )
        try:
            known = not isnan(threshold)
        except OverflowError:  # an integer that no float comes near
            raise InputError(
                expected("`threshold` to be a number that a float can hold", "a longer one")
            ) from None
        if not known:
            raise InputError(expected("`threshold` to be a number, or inf", "nan", _HINT))
        # Integers stay integers: scores that are integers are then compared exactly. No score is
        # as large as those that do not fit in 64 bits.
        whole = isinstance(threshold, (int, np.integer)) and -(2**63) <= threshold < 2**64
        return cls("number", int(threshold) if whole else float(threshold))

    @classmethod
    def _from_text(cls, text: str) -> ThresholdRule:
        if text == "best_f1":
            return cls("best_f1")
        if text == "best_f1_global":
            return cls("best_f1_global")
        name, colon, level = text.partition(":")
        if name != "quantile" or not colon:
            raise _unknown(text)
        return cls("quantile", _quantile(level))

    def __str__(self) -> str:
        """Give the rule as a caller would pass it."""
        if self.kind == "number":
            return "none" if isnan(self.value) else repr(self.value)
        return f"quantile:{self.value}" if self.kind == "quantile" else self.kind

    @property
    def looks_at_truth(self) -> bool:
        """Whether the truth takes part in the choice, so that the scores are optimistic."""
        return self.kind in _BEST


def _quantile(level: Any) -> float:
    try:
        value = float(level)
    except (TypeError, ValueError):
        value = nan
    if not 0 <= value <= 1:
        raise InputError(
            expected("the quantile of `threshold` to be from 0 to 1", f"{level!r}", _HINT)
        )
    return value


def _unknown(threshold: Any) -> InputError:
    return InputError(
        expected("`threshold` to be a number or a known rule", f"{threshold!r:.80}", _HINT)
    )

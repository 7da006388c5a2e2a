"""What metrics return: a precision with a recall, or one value."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from closecall.fscore import f_measure
from closecall.plain import plain
from closecall.wording import in_words


def ratio(part: float, whole: float) -> float:
    """Divide; nothing of nothing is nan."""
    return part / whole if whole else nan


@dataclass(frozen=True, slots=True, repr=False)
class PrecisionRecallResult:
    """A precision and a recall; nan where undefined.

    Examples
    --------
    >>> result = PrecisionRecallResult(1.0, 0.5)
    >>> result
    PrecisionRecallResult(precision=1.000, recall=0.500, f1=0.667)
    >>> result.fbeta(2)
    0.5555555555555556
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall; recall weighs beta times as much."""
        return float(f_measure(self.precision, self.recall, beta))

    def values(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"{type(self).__name__}({numbers})"


@dataclass(frozen=True, slots=True, repr=False)
class ValueResult:
    """One number, or one length of time; nan or NaT where undefined.

    Examples
    --------
    >>> ValueResult(0.25), ValueResult(np.timedelta64(101_400_000, "ms"))
    (ValueResult(value=0.25), ValueResult(value=1 d 4 h))
    """

    value: Any

    def values(self) -> dict[str, Any]:
        """Return the number by name."""
        return {"value": self.value}

    def __repr__(self) -> str:
        text = f"{self.value:.6g}" if isinstance(self.value, float) else f"{self.value}"
        if isinstance(self.value, np.timedelta64) and not np.isnat(self.value):
            text = in_words(plain(self.value))
        return f"{type(self).__name__}(value={text})"

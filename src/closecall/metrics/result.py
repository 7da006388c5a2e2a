"""What metrics return: a precision with a recall, or one value; and the signature of either."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from inspect import Parameter, signature
from math import nan
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from closecall.fscore import f_measure
from closecall.plain import plain
from closecall.signature import sign, value_text
from closecall.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from closecall.series import TruthInSpan
    from closecall.signature import Signature

# What every metric takes, and how an average treats what is undefined, are not its parameters.
_SHARED = {"truth", "predicted", "scores", "times", "end", "span", "ignore", "max_step"}
_SHARED |= {"nan", "point_length", "close", "zero_division"}


class MetricResult:
    """What a metric returns."""

    _sign: partial[Signature]

    @cached_property
    def signature(self) -> Signature:
        """What decided these digits, in one line; see `closecall.signature`."""
        return self._sign()

    def signed(
        self,
        metric: str,
        data: TruthInSpan | str,
        parameters: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Return the same with what its signature is made of: metric, series and parameters.

        `options` are those of `closecall.signature.sign`. The signature itself, with the hash of
        the data, is computed when it is first asked for.
        """
        # Results are frozen.
        vars(self)["_sign"] = partial(_sign, metric, data, parameters or {}, **options)
        return self


def _sign(metric: str, data: Any, parameters: Mapping[str, Any], **options: Any) -> Signature:
    from closecall import metrics

    defaults = parameters_of(getattr(metrics, metric))
    return sign({metric: changed(parameters, defaults)}, data, **options)


def parameters_of(metric: Callable[..., Any]) -> dict[str, Any]:
    """Return the names and defaults of a metric's own parameters."""
    return {
        name: parameter.default
        for name, parameter in signature(metric).parameters.items()
        if name not in _SHARED
    }


def changed(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not their defaults."""
    return {
        name: value
        for name, value in parameters.items()
        if defaults.get(name, Parameter.empty) is Parameter.empty
        or value_text(value, name) != value_text(defaults[name], name)
    }


def ratio(part: float, whole: float) -> float:
    """Divide; nothing of nothing is nan."""
    return part / whole if whole else nan


@dataclass(frozen=True, repr=False)
class PrecisionRecallResult(MetricResult):
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


@dataclass(frozen=True, repr=False)
class ValueResult(MetricResult):
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

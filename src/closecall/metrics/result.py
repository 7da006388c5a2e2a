"""What metrics return: a precision with a recall, or one value; and the signature of either."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from math import nan
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

import numpy as np

from closecall.fscore import f_measure
from closecall.plain import plain
from closecall.series import Scored
from closecall.signature import sign, value_text
from closecall.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from closecall.series import Pair
    from closecall.signature import Signature

# What every metric takes, and how an average treats what is undefined, are not its parameters.
_AXIS = ("times", "end", "span")
_SHARED = {"truth", "predicted", "scores", *_AXIS, "ignore", "max_step"}
_SHARED |= {"nan", "point_length", "zero_division"}


class MetricResult:
    """What a metric returns."""

    _sign: partial[Signature]

    @cached_property
    def signature(self) -> Signature:
        """What decided these digits, in one line; see `closecall.signature`."""
        return self._sign()

    def signed(self, metrics: Any, data: Any, **options: Any) -> Self:
        """Return the same with what `sign` takes, which is asked when the signature is."""
        vars(self)["_sign"] = partial(sign, metrics, data, **options)  # results are frozen
        return self


_P = ParamSpec("_P")
_Result = TypeVar("_Result", bound=MetricResult)


def signed(
    read: Callable[..., Pair | Scored], *, draws_samples: bool = False
) -> Callable[[Callable[_P, _Result]], Callable[_P, _Result]]:
    """Let a metric take what `read` makes of its arguments, and sign its result.

    `draws_samples` is that of its line in the registry.
    """

    def decorate(metric: Callable[_P, _Result]) -> Callable[_P, _Result]:
        compute: Callable[..., _Result] = metric
        own, known = inspect.signature(metric), parameters_of(metric)
        taken = {*_AXIS, *inspect.signature(read).parameters}

        @wraps(metric)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _Result:
            bound = own.bind(*args, **kwargs)
            (truth, other), given = bound.args, bound.kwargs
            series = read(truth, other, **{name: given[name] for name in given if name in taken})
            result = compute(series, other, **given)  # which takes as it is what has been read
            asked = changed({name: given[name] for name in given if name in known}, known)
            result.signed({metric.__name__: asked}, series, samples=draws_samples)
            if isinstance(series, Scored) or any(
                value_text(own)[0] == "#" for own in asked.values()
            ):
                _ = result.signature  # now: the caller may write other scores into the array
            return result

        return call

    return decorate


def parameters_of(metric: Callable[..., Any]) -> dict[str, Any]:
    """Return the names and defaults of a metric's own parameters."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(metric).parameters.items()
        if name not in _SHARED
    }


def changed(parameters: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not their defaults."""
    return {
        name: own for name, own in parameters.items() if value_text(own) != value_text(known[name])
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

"""What the registry knows of a metric."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

from closecall.errors import InputError, InputTypeError, expected

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What every metric takes, and how an average treats what is undefined, are not its parameters.
_SHARED = {"truth", "predicted", "scores", "times", "end", "span", "zero_division"}

REQUIRED = Parameter.empty
"""Stands for the default of a parameter that has none."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what it takes and gives, what it handles, and where it comes from."""

    name: str
    function: Callable[..., Any]
    """The public function ``(truth, predicted or scores, *, times, end, span, ...)``.

    It also takes a `Pair` or `Scored` that has been read already, in the place of the truth.
    """
    family: Literal["affiliation", "pointwise", "range", "window", "distance", "threshold-free"]
    mainly_for: Literal["point", "range", "both"]
    paper: str
    takes: Literal["labels", "scores"] = "labels"
    gives: tuple[str, ...] = ("precision", "recall", "f1")
    """Names of the numbers in the result: precision, recall and f1; or value; or its own."""
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool = True
    handles_adjacency: bool = False
    """Limitation (A) of the paper: does a near miss count for more than a far one?"""
    handles_durations: bool = False
    """Limitation (B): does a long event count no more than a short one?"""
    counts_samples: bool = False
    """Whether label vectors are compared sample by sample, whatever their times."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Names and defaults of the metric's own parameters."""
        return {
            name: parameter.default
            for name, parameter in signature(self.function).parameters.items()
            if name not in _SHARED
        }

    def check(self, parameters: Mapping[str, Any], *, alone: bool = False) -> None:
        """Refuse parameters that the metric does not have, and missing ones without a default.

        They are those of one metric that is `alone`, or of one among `metrics`.
        """
        known = self.parameters
        for name in parameters:
            if name not in known:
                has = ", ".join(known) or "no parameters"
                raise InputError(expected(f"a parameter of {self.name} ({has})", repr(name)))
        for name, default in known.items():
            if default is REQUIRED and name not in parameters:
                raise InputTypeError(
                    expected(
                        f"`{name}` for the metric {self.name!r}, which has no default",
                        "none",
                        f"Pass parameters={{{name!r}: ...}}."
                        if alone
                        else f"Pass metrics={{{self.name!r}: {{{name!r}: ...}}}}.",
                    )
                )

"""The detectors of a page: labels or events as they are, scores with every threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import Affiliation, AffiliationCurve, affiliation, affiliation_curve
from closecall.axis import Axis, read_axis
from closecall.compare.reading import saying
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT_FLOAT = 2**53  # every integer up to here is a float64


@dataclass(frozen=True, eq=False)
class Detector:
    """A detector, and its result where the page opens."""

    name: str
    result: Affiliation
    curve: AffiliationCurve | None = None
    threshold: float = nan


@dataclass(frozen=True, eq=False)
class Inputs:
    """What `report` was given about time and truth."""

    truth: Any
    times: Any = None
    end: Any = None
    span: Any = None

    @property
    def axis_options(self) -> dict[str, Any]:
        """The options of the time axis, as every metric takes them."""
        return {"times": self.times, "end": self.end, "span": self.span}

    @cached_property
    def true_events(self) -> Events:
        """The true events, whatever they were given as."""
        if isinstance(self.truth, Events):
            return self.truth
        return Events.from_labels(self.truth, times=self.times, end=self.end)

    def axis(self, length: int) -> Axis:
        """Read the axis under a vector of that length."""
        return read_axis(length, self.times, self.end, of="values")

    def score(self, predicted: Any) -> Affiliation:
        """Score labels or events, also where truth is given as the other one."""
        if not isinstance(self.truth, Events) and not isinstance(predicted, Events):
            return affiliation(self.truth, predicted, **self.axis_options)
        if not isinstance(predicted, Events):
            predicted = Events.from_labels(predicted, times=self.times, end=self.end)
        return affiliation(self.true_events, predicted, span=self._events_span())

    def _events_span(self) -> Any:
        if self.span is not None or (self.times is None and isinstance(self.truth, Events)):
            return self.span
        length = len(self.truth if self.times is None else self.times)
        axis = self.axis(length)
        return axis.clock.scalar(axis.start), axis.clock.scalar(axis.end)


def read_detectors(
    inputs: Inputs, predicted: Any, scores: Any, thresholds: Any
) -> tuple[Detector, ...]:
    """Read predictions and scores, each one or by name, and score them."""
    fixed, scored = by_name(predicted, "predicted"), by_name(scores, "detector")
    given = {"predicted": predicted, "scores": scores}
    both = fixed.keys() & scored.keys()
    if both:
        raise InputError(expected("each detector's name once", f"{min(both)!r} in both groups"))
    if not fixed and not scored:
        raise InputTypeError(
            expected("`predicted` or `scores`", "neither", "Pass 0/1 predictions, scores, or both.")
        )
    chosen = _thresholds(thresholds, scored)
    detectors = []
    for name, values in scored.items():
        with saying("scores", entry("scores", name, given)):
            detectors.append(_scored(inputs, name, values, chosen.get(name)))
    for name, values in fixed.items():
        with saying("predicted", entry("predicted", name, given)):
            detectors.append(Detector(name, inputs.score(values)))
    return tuple(detectors)


def _scored(inputs: Inputs, name: str, scores: Any, threshold: float | None) -> Detector:
    curve = affiliation_curve(inputs.truth, scores, **inputs.axis_options)
    require_exact(curve.scored.scores, "scores")
    start = curve.best().threshold if threshold is None else threshold
    return Detector(name, curve.at(start), curve, start)


def require_exact(scores: NDArray[Any], called: str) -> None:
    """Refuse integers that the page, which has only floats, would round."""
    if scores.dtype.kind in "iu" and max(-int(scores.min()), int(scores.max())) > _EXACT_FLOAT:
        raise InputError(
            expected(
                f"`{called}` to be exact as 64-bit floats",
                f"integers from {scores.min()} to {scores.max()}",
                "Subtract a common origin first.",
            )
        )


def entry(argument: str, name: str, given: Mapping[str, Any]) -> str:
    """Say what messages call one detector of an argument; the argument itself if it is alone."""
    return f"{argument}[{name!r}]" if isinstance(given[argument], Mapping) else argument


def by_name(given: Any, name: str) -> dict[str, Any]:
    """Read detectors by name; a single one gets the name."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return {name: given}
    return {str(key): values for key, values in given.items()}


def _thresholds(thresholds: Any, scored: dict[str, Any]) -> dict[str, float]:
    if thresholds is None:
        return {}
    if not isinstance(thresholds, Mapping):
        thresholds = dict.fromkeys(scored, thresholds)
    chosen = {str(name): threshold for name, threshold in thresholds.items()}
    for name, threshold in chosen.items():
        if name not in scored:
            raise InputError(
                expected("`thresholds` to be for detectors in `scores`", f"one for {name!r}")
            )
        if not isinstance(threshold, (int, float, np.number)) or isnan(threshold):
            raise InputError(
                expected(f"the threshold of {name!r} to be a number, or inf", f"{threshold!r}")
            )
    return {name: float(threshold) for name, threshold in chosen.items()}

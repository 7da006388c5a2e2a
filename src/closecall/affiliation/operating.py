"""Choosing a threshold: the best F-beta under the constraints people work under."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, UndefinedMetricError, expected

if TYPE_CHECKING:
    from closecall.affiliation.curve import AffiliationCurve
    from closecall.clock import Clock, Tick


@dataclass(frozen=True, slots=True, repr=False)
class OperatingPoint:
    """A threshold and what it gives."""

    threshold: float
    precision: float
    recall: float
    fbeta: float
    """The F-beta that was maximised."""
    beta: float
    alarms: int
    """Number of predicted events."""

    def __repr__(self) -> str:
        return (
            f"OperatingPoint(threshold={self.threshold:.6g}, precision={self.precision:.3f}, "
            f"recall={self.recall:.3f}, f{self.beta:g}={self.fbeta:.3f}, alarms={self.alarms})"
        )


def choose(
    curve: AffiliationCurve,
    beta: float,
    *,
    min_precision: float | None,
    min_recall: float | None,
    max_alarms: float,
) -> OperatingPoint:
    """Take the highest threshold that maximises F-beta within the constraints."""
    values = curve.fbeta(beta)
    # Low thresholds join alarms until all is one; only what stays within budget from above counts.
    allowed = np.logical_and.accumulate(curve.alarms <= max_alarms)
    for name, column, floor in (
        ("min_precision", curve.precision, min_precision),
        ("min_recall", curve.recall, min_recall),
    ):
        if floor is not None:
            if not 0 <= floor <= 1:
                raise InputError(expected(f"`{name}` to be from 0 to 1", f"{floor}"))
            allowed &= column >= floor
    if not allowed.any():
        raise UndefinedMetricError(
            expected(
                "a threshold within the constraints",
                f"none (precision reaches {curve.precision.max():.3f}, recall "
                f"{curve.recall.max():.3f}, and the fewest alarms are {curve.alarms.min()})",
                "Loosen a constraint.",
            )
        )
    index = int(np.where(allowed, values, -1.0).argmax())
    return OperatingPoint(
        threshold=curve.thresholds[index].item(),
        precision=float(curve.precision[index]),
        recall=float(curve.recall[index]),
        fbeta=float(values[index]),
        beta=beta,
        alarms=int(curve.alarms[index]),
    )


def alarm_budget(max_alarms_per: Any, span: Tick, clock: Clock) -> float:
    """Turn a budget of alarms per duration into the largest number of alarms over the span."""
    if max_alarms_per is None:
        return np.inf
    if isinstance(max_alarms_per, tuple):
        count, duration = max_alarms_per
    elif clock.kind != "datetime":
        count, duration = max_alarms_per, 1
    else:
        raise InputTypeError(
            expected(
                "`max_alarms_per` to be a pair (count, duration) on a datetime axis",
                f"{max_alarms_per!r}",
                "For example `max_alarms_per=(2, timedelta(days=1))`.",
            )
        )
    if isinstance(duration, (timedelta, np.timedelta64)) != (clock.kind == "datetime"):
        raise InputTypeError(
            expected(
                "the duration in `max_alarms_per` to be a timedelta on a datetime axis, and a "
                "number otherwise",
                f"{duration!r}",
                "For example (2, timedelta(days=1)), or (3, 100) on a numeric axis.",
            )
        )
    if clock.kind == "datetime":
        duration = np.timedelta64(duration) / np.timedelta64(1, clock.unit)  # type: ignore[call-overload]
    if not (count >= 0 and duration > 0):
        raise InputError(
            expected("`max_alarms_per` to be a count and a duration above 0", f"{max_alarms_per!r}")
        )
    return float(count * span / duration)

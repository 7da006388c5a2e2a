"""Choosing a threshold: the best F-beta under the constraints people work under."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, UndefinedMetricError, expected
from closecall.fscore import first_highest

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


def best_threshold(
    curve: AffiliationCurve,
    beta: float,
    *,
    min_precision: float | None,
    min_recall: float | None,
    max_alarms: float,
) -> OperatingPoint:
    """Return the highest threshold that maximises F-beta within the constraints."""
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
    index = first_highest(np.where(allowed, values, -1.0))
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
    dated = clock.kind == "datetime"
    single = isinstance(max_alarms_per, (int, float)) and not dated
    pair = (max_alarms_per, 1) if single else max_alarms_per
    example = "(2, timedelta(days=1))" if dated else "(3, 100)"
    try:
        count, duration = pair
        ticks = _ticks(duration, clock)
    except (TypeError, ValueError):
        raise InputTypeError(
            expected(
                "`max_alarms_per` to be a count and a duration, which is "
                + ("a timedelta on this axis" if dated else "a number on this axis"),
                f"{max_alarms_per!r}",
                f"For example `max_alarms_per={example}`.",
            )
        ) from None
    if not (isinstance(count, (int, float)) and count >= 0 and ticks > 0):
        raise InputError(
            expected("`max_alarms_per` to be a count and a duration above 0", f"{max_alarms_per!r}")
        )
    return float(count * span / ticks)


def _ticks(duration: Any, clock: Clock) -> float:
    """Return a duration in ticks; raise TypeError or ValueError if it is of another kind."""
    if clock.kind != "datetime":
        if isinstance(duration, (timedelta, np.timedelta64)):
            raise TypeError
        return float(duration)
    if not isinstance(duration, (timedelta, np.timedelta64)):
        raise TypeError
    exact = np.timedelta64(duration)
    if np.isnat(exact):
        return np.nan
    if np.datetime_data(exact.dtype)[0] in {"generic", "Y", "M"}:
        raise TypeError
    return float(exact / np.timedelta64(1, "s")) * clock.ticks_per_second

"""Parameters that are lengths of time: samples of a vector, numbers, or timedeltas."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.number import is_number, shown

if TYPE_CHECKING:
    from closecall.clock import Clock

# Years, months and bare counts are left out: they are no fixed length of time.
_SECONDS = {"W": Fraction(604_800), "D": Fraction(86_400), "h": Fraction(3_600), "m": Fraction(60)}
_PARTS_OF_A_SECOND = ("s", "ms", "us", "ns", "ps", "fs", "as")
_SECONDS |= {unit: Fraction(1, 1000**power) for power, unit in enumerate(_PARTS_OF_A_SECOND)}


DATED = "The times are datetimes; pass, for example, `datetime.timedelta(minutes=5)`."
"""The hint beside datetimes, which the command line puts in its own words."""


def read_length(value: Any, clock: Clock, name: str, *, at_least: float = 0) -> float:
    """Read a length of time and give it in ticks of the clock.

    Parameters
    ----------
    value
        On an axis of samples or numbers, a number; on an axis of datetimes, a timedelta of the
        standard library, numpy or pandas. Zero is the same in every unit, so 0 is always allowed.
    clock
        What one tick of the axis means.
    name
        Of the parameter, for the message.
    at_least
        The smallest length allowed, in ticks.

    Examples
    --------
    >>> from closecall.clock import Clock
    >>> read_length(3, Clock("integer"), "margin")
    3.0
    >>> read_length(timedelta(minutes=2), Clock("datetime", "ms"), "margin")
    120000.0
    """
    dated = clock.kind == "datetime"
    kind = "timedelta" if dated else "finite number"
    rule = f"`{name}` to be a {kind} of {_text(at_least, clock)} or more"
    of_time = isinstance(value, timedelta | np.timedelta64)
    if (of_time and not dated) or not (of_time or is_number(value)):
        raise InputTypeError(expected(rule, shown(value), _hint(clock)))
    if dated and not of_time and value != 0:
        raise InputTypeError(expected(rule, shown(value), _hint(clock)))
    try:
        ticks = _timedelta_ticks(value, clock, name) if of_time else float(value)
    except OverflowError:
        raise InputError(expected(rule, shown(value))) from None
    if not (isfinite(ticks) and ticks >= at_least):
        raise InputError(expected(rule, shown(value)))
    return ticks


def _timedelta_ticks(value: timedelta | np.timedelta64, clock: Clock, name: str) -> float:
    # A pandas timedelta is a timedelta that also counts nanoseconds.
    exact = value.to_timedelta64() if hasattr(value, "to_timedelta64") else value
    if isinstance(exact, timedelta):
        seconds = Fraction(exact // timedelta(microseconds=1), 1_000_000)
        return float(seconds * clock.ticks_per_second)
    if np.isnat(exact):
        raise InputError(expected(f"`{name}` to be a length of time of 0 or more", "NaT"))
    unit, count = np.datetime_data(exact.dtype)
    if unit not in _SECONDS:
        raise InputError(
            expected(
                f"`{name}` to have a unit of fixed length",
                f"{exact!r}",
                "Months and years differ in length; say it in days.",
            )
        )
    seconds = int(exact.astype(np.int64)) * count * _SECONDS[unit]
    return float(seconds * clock.ticks_per_second)


def _hint(clock: Clock) -> str:
    if clock.kind == "integer":
        return "The axis counts samples, or whole numbers; give the length in those."
    if clock.kind == "number":
        return "The times are numbers; give the length in the same unit."
    return DATED


def _text(ticks: float, clock: Clock) -> str:
    if clock.kind == "datetime" and ticks:
        return f"{ticks * clock.seconds:g} s"
    return f"{ticks:g}"

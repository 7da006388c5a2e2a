"""Options of public functions: numbers, counts and durations, and one wording for bad ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from fractions import Fraction
from inspect import signature
from math import isfinite
from numbers import Rational, Real
from os import PathLike, fsencode, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; truth values and lengths of time are none.

    >>> is_number(1), is_number(np.float32(0.5)), is_number(True), is_number(np.timedelta64(1, "s"))
    (True, True, False, False)
    """
    # numpy counts its timedelta among the integers.
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def read_number(
    value: Any, name: str, rule: str, allowed: Callable[[float], bool], hint: str = ""
) -> float:
    """Read a number of Python or numpy; `rule` says its range in words, and `allowed` tests it.

    >>> read_number(np.int8(1), "alpha", "a number from 0 to 1", lambda x: 0 <= x <= 1)
    1.0
    """
    return _checked(value, allowed, f"to be {rule}", argument=name, hint=hint)


def read_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Read one number, or an array of them; nan is one.

    >>> read_numbers([1, 0.5], "filled")
    array([1. , 0.5])
    """
    try:
        given = np.asarray(values)
        plain = given.dtype.kind in "iuf" or (
            given.dtype.kind == "O" and all(map(is_number, given.flat))
        )
        numbers = given.astype(np.float64) if plain else None
    except (TypeError, ValueError, OverflowError, MemoryError):
        numbers = None
    if numbers is None:
        raise InputTypeError("to be numbers", shown(values), argument=name)
    return numbers


def require_choice(value: Any, name: str, choices: Iterable[str], hint: str = "") -> None:
    """Raise unless a value is one of some words.

    >>> require_choice("b", "part", ("a", "b"))
    """
    *others, last = map(repr, choices)
    if not isinstance(value, str) or repr(str(value)) not in (*others, last):
        rule = f"to be {', '.join(others)} or {last}"
        raise InputError(rule, shown(value), argument=name, hint=hint)


def read_flag(value: Any, name: str) -> bool:
    """Read True or False."""
    if not isinstance(value, bool):
        raise InputTypeError("to be True or False", shown(value), argument=name)
    return value


def read_name(value: Any, name: str) -> str:
    """Read the name of a column."""
    if not is_text(value) or not value:
        raise InputTypeError("to be the name of a column", shown(value), argument=name)
    return str(value)


def read_names(value: Any, name: str) -> tuple[str, ...]:
    """Read the name of a column, or several."""
    if isinstance(value, str):
        return (read_name(value, name),)
    if not is_listed(value):
        raise InputTypeError("to be a column or a list of columns", shown(value), argument=name)
    return tuple(read_name(one, name) for one in value)


def is_listed(value: Any) -> bool:
    """Return whether a value holds others without names; a text is one value."""
    single = isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def is_text(value: Any) -> bool:
    """Return whether a value is text that can be written: Python's may hold half a character."""
    return isinstance(value, str) and value.encode(errors="ignore").decode() == value


def takes(value: Any, count: int) -> bool:
    """Return whether a value can be called with so many arguments."""
    if not callable(value):
        return False
    try:
        signature(value).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in function does not say
        return True
    return True


def require_progress(value: Any) -> None:
    """Raise unless a value is None or can be called as ``progress(done, all)``."""
    if value is not None and not takes(value, 2):
        rule = "to be a function that can be called as progress(done, all)"
        raise InputTypeError(rule, shown(value), argument="progress")


def read_path(value: Any, name: str) -> Path:
    """Read the path of a file or a folder, which may not be there.

    >>> read_path("scores.csv", "path")
    PosixPath('scores.csv')
    """
    rule = f"`{name}` to be a path"
    if not isinstance(value, str | PathLike) or not isinstance(fspath(value), str):
        raise InputTypeError(rule, shown(value))
    try:
        encoded = fsencode(value)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InputError(f"{rule} that the system can open", shown(value))
    return Path(value)


def read_fraction(value: Any, name: str) -> float:
    """Read a number from 0 to 1."""
    return read_number(value, name, "a number from 0 to 1", lambda x: 0 <= x <= 1)


def read_amount(value: Any, name: str) -> float:
    """Read a finite number of 0 or more."""
    return read_number(
        value, name, "a finite number of 0 or more", lambda x: isfinite(x) and x >= 0
    )


def call_option(
    function: Callable[..., Any], name: str, rule: str, allowed: Callable[[float], bool], *at: float
) -> float:
    """Call a function that was passed as a parameter, and read the number it returns.

    >>> call_option(lambda x: 1 / x, "weight", "a factor from 0 to 1", lambda x: 0 <= x <= 1, 2)
    0.5
    """
    places = f"({', '.join(f'{place:g}' for place in at)})"
    try:
        value = function(*at)
    except TypeError as error:
        # Raised by the call itself, and not inside the function: it takes other arguments.
        if error.__traceback__ is None or error.__traceback__.tb_next is None:
            rule = f"`{name}` to be a function that can be called as {name}{places}"
            raise InputTypeError(rule, f"one that cannot ({error})") from None
        raise
    return _checked(value, allowed, f"to return {rule}", f" for {name}{places}", argument=name)


def _checked(
    value: Any, allowed: Callable[[float], bool], rule: str, where: str = "", **fields: Any
) -> float:
    """Return a number that is allowed; a message shows the value and `where` it comes from."""
    if not is_number(value):
        raise InputTypeError(rule, shown(value) + where, **fields)
    try:
        number = float(value)
    except OverflowError:
        raise InputError(rule, shown(value) + where, **fields) from None
    if not allowed(number):
        raise InputError(rule, shown(value) + where, **fields)
    return number


def require_count(value: Any, name: str, least: int, most: int | None = None) -> None:
    """Raise unless a value is a whole number within the limits."""
    whole = is_number(value) and isinstance(value, int | np.integer)
    if not whole:
        raise InputTypeError("to be a whole number", shown(value), argument=name)
    if value < least:
        raise InputError(f"to be {least} or more", shown(int(value)), argument=name)
    if most is not None and value > most:
        raise InputError(f"to be at most {most:,}", shown(int(value)), argument=name)


_LONGEST = 2**62  # in whole ticks; no span is as long
# Years, months and bare counts are left out: they are no fixed length of time.
_SECONDS = {"W": Fraction(604_800), "D": Fraction(86_400), "h": Fraction(3_600), "m": Fraction(60)}
_PARTS_OF_A_SECOND = ("s", "ms", "us", "ns", "ps", "fs", "as")
_SECONDS |= {unit: Fraction(1, 1000**power) for power, unit in enumerate(_PARTS_OF_A_SECOND)}


_DATED_HINT = "The times are datetimes; pass, for example, `datetime.timedelta(minutes=5)`."
"""The hint beside datetimes, which the command line puts in its own words."""


def read_duration(value: Any, clock: Clock, name: str) -> float:
    """Read a length of time, 0 or more, and return it in ticks of the clock.

    On an axis of samples or numbers it is a number; on an axis of datetimes, a timedelta of the
    standard library, numpy or pandas. Zero is the same in every unit, so 0 is always allowed.

    >>> from closecall.clock import Clock
    >>> read_duration(3, Clock("integer"), "margin")
    3.0
    >>> read_duration(timedelta(minutes=2), Clock("datetime", "ms"), "margin")
    120000.0
    """
    dated = clock.kind == "datetime"
    rule = f"to be a {('timedelta' if dated else 'finite number')} of 0 or more"
    of_time = isinstance(value, timedelta | np.timedelta64)
    fits = dated if of_time else is_number(value) and (not dated or value == 0)
    if not fits:
        code = "dated_length" if dated else ""
        hint = _length_hint(clock)
        raise InputTypeError(rule, shown(value), argument=name, hint=hint, code=code)
    try:
        ticks = float(_timedelta_ticks(value, clock, name) if of_time else value)
    except OverflowError:
        raise InputError(rule, shown(value), argument=name) from None
    if not (isfinite(ticks) and ticks >= 0):
        raise InputError(rule, shown(value), argument=name)
    return ticks


def read_length(value: Any, clock: Clock, name: str) -> Tick:
    """Read a length of time above 0 that can be added to times: whole ticks of an exact clock.

    >>> from closecall.clock import Clock
    >>> read_length(timedelta(minutes=2), Clock("datetime", "ms"), "max_step")
    120000
    """
    ticks = read_duration(value, clock, name)
    if ticks == 0:
        raise InputError("to be longer than 0", shown(value), argument=name)
    if clock.kind == "number":
        return ticks
    if isinstance(value, timedelta | np.timedelta64):
        exact = _timedelta_ticks(value, clock, name)
    else:
        exact = Fraction(value) if isinstance(value, Rational) else Fraction(ticks)
    if exact.denominator != 1:
        unit = f"whole {clock.unit}" if clock.kind == "datetime" else "a whole number"
        raise InputError(
            f"to be {unit}, as the times are",
            shown(value),
            argument=name,
            hint="Give the times in a finer unit.",
        )
    return min(int(exact), _LONGEST)


UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
"""The units of time in texts such as ``2/1d`` and ``10min``."""
_PERIODS = ("second", "minute", "hour", "day", "week")  # in words, where a rate is read
_LENGTHS = UNITS | {
    word: timedelta(**{f"{period}s": 1}) for period in _PERIODS for word in (period, f"{period}s")
}
_NO_LENGTHS = ("month", "months", "year", "years")
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_DURATION = re.compile(rf"({_NUMBER})({'|'.join(UNITS)})", re.IGNORECASE)
_RATE = re.compile(
    rf"({_NUMBER})\s*/\s*(?=\S)({_NUMBER})?\s*({'|'.join((*_LENGTHS, *_NO_LENGTHS))})?",
    re.IGNORECASE,
)


def duration_of_text(text: str) -> timedelta | None:
    """Read a duration such as ``10min``, or return None; also for one longer than any timedelta.

    >>> duration_of_text("1.5h"), duration_of_text("7")
    (datetime.timedelta(seconds=5400), None)
    """
    found = _DURATION.fullmatch(text.strip())
    return None if found is None else _times(float(found[1]), found[2])


def read_rate(value: Any, name: str) -> Any:
    """Read a rate that is written as text, a count and a duration; any other stays as it is.

    A duration without a unit is a number.

    >>> read_rate("2/week", "rate"), read_rate("3/100", "rate"), read_rate((1, 5), "rate")
    ((2.0, datetime.timedelta(days=7)), (3.0, 100.0), (1, 5))
    """
    if not isinstance(value, str):
        return value
    found = _RATE.fullmatch(value.strip())
    if found and (found[3] or "").lower() in _NO_LENGTHS:
        hint = "Months and years differ in length; say it in days or weeks, as 2/30d."
        raise InputError("to have a period of fixed length", shown(value), argument=name, hint=hint)
    number = float(found[2] or 1) if found else 0.0
    length = _times(number, found[3]) if found and found[3] else number
    if found is None or length is None:
        rule = "to be COUNT/DURATION such as 2/week, 1/day, 5/8h or 3/100"
        hint = f"Units of time are {', '.join((*UNITS, *_PERIODS))}."
        raise InputError(rule, shown(value), argument=name, hint=hint)
    return float(found[1]), length


def _times(number: float, unit: str) -> timedelta | None:
    try:
        return number * _LENGTHS[unit.lower()]
    except OverflowError:
        return None


def _timedelta_ticks(value: timedelta | np.timedelta64, clock: Clock, name: str) -> Fraction:
    # A pandas timedelta is a timedelta that also counts nanoseconds.
    exact = value.to_timedelta64() if hasattr(value, "to_timedelta64") else value
    if isinstance(exact, timedelta):
        seconds = Fraction(exact // timedelta(microseconds=1), 1_000_000)
        return seconds * clock.ticks_per_second
    if np.isnat(exact):
        raise InputError("to be a length of time of 0 or more", "NaT", argument=name)
    unit, count = np.datetime_data(exact.dtype)
    if unit not in _SECONDS:
        raise InputError(
            "to have a unit of fixed length",
            f"{exact!r}",
            argument=name,
            hint="Months and years differ in length; say it in days.",
        )
    seconds = int(exact.astype(np.int64)) * count * _SECONDS[unit]
    return seconds * clock.ticks_per_second


def _length_hint(clock: Clock) -> str:
    if clock.kind == "integer":
        return "The axis counts samples, or whole numbers; give the length in those."
    if clock.kind == "number":
        return "The times are numbers; give the length in the same unit."
    return _DATED_HINT

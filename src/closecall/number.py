"""Options that are numbers: one way to read them, and one wording of what is refused."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_WRITABLE = 10**30


def is_number(value: Any) -> bool:
    """Say whether a value is a real number; truth values and lengths of time are none.

    Examples
    --------
    >>> is_number(1), is_number(np.float32(0.5)), is_number(True), is_number(np.timedelta64(1, "s"))
    (True, True, False, False)
    """
    # numpy counts its timedelta among the integers.
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def shown(value: Any) -> str:
    """Write a value for a message, however long it is.

    Examples
    --------
    >>> shown("half"), shown(10**5000)
    ("'half'", 'a number of more than 30 digits')
    """
    if isinstance(value, int) and abs(value) >= _WRITABLE:
        return "a number of more than 30 digits"
    try:
        return f"{value!r:.80}"
    except ValueError:  # it holds an int of thousands of digits, which has no text
        return f"a {type(value).__name__}"


def read_number(
    value: Any, name: str, rule: str, allowed: Callable[[float], bool], hint: str = ""
) -> float:
    """Read a number that lies in a range.

    Parameters
    ----------
    value
        Any real number of Python or numpy.
    name
        Of the parameter, for the message.
    rule
        What it must be, in words, with its range.
    allowed
        The same as a condition.
    hint
        How to mend it.

    Examples
    --------
    >>> read_number(np.int8(1), "alpha", "a number from 0 to 1", lambda x: 0 <= x <= 1)
    1.0
    """
    return _checked(value, allowed, expected(f"`{name}` to be {rule}", shown(value), hint))


def read_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Read one number, or an array of them; nan is one.

    Examples
    --------
    >>> read_numbers([1, 0.5], "filled")
    array([1. , 0.5])
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(expected(f"`{name}` to be numbers", shown(values))) from None


def read_fraction(value: Any, name: str) -> float:
    """Read a number from 0 to 1."""
    return read_number(value, name, "a number from 0 to 1", lambda x: 0 <= x <= 1)


def read_amount(value: Any, name: str) -> float:
    """Read a finite number of 0 or more."""
    return read_number(
        value, name, "a finite number of 0 or more", lambda x: isfinite(x) and x >= 0
    )


def ask(
    function: Callable[..., Any], name: str, rule: str, allowed: Callable[[float], bool], *at: float
) -> float:
    """Call a function that was passed as a parameter, and read the number it returns.

    Examples
    --------
    >>> ask(lambda x: 1 / x, "cardinality", "a factor from 0 to 1", lambda x: 0 <= x <= 1, 2)
    0.5
    """
    places = f"({', '.join(f'{place:g}' for place in at)})"
    try:
        value = function(*at)
    except TypeError as error:
        # Raised by the call itself, and not inside the function: it takes other arguments.
        if error.__traceback__ is None or error.__traceback__.tb_next is None:
            rule = f"`{name}` to be a function that can be called as {name}{places}"
            raise InputTypeError(expected(rule, f"one that cannot ({error})")) from None
        raise
    got = f"{shown(value)} for {name}{places}"
    return _checked(value, allowed, expected(f"`{name}` to return {rule}", got))


def _checked(value: Any, allowed: Callable[[float], bool], message: str) -> float:
    if not is_number(value):
        raise InputTypeError(message)
    try:
        number = float(value)
    except OverflowError:
        raise InputError(message) from None
    if not allowed(number):
        raise InputError(message)
    return number

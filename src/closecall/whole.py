"""Options that count something."""

from __future__ import annotations

from typing import Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.number import is_number, shown

_WRITABLE = 10**30


def require_whole(value: Any, name: str, least: int, most: int | None = None) -> None:
    """Refuse what is not a whole number, or too small a one, or too large a one."""
    whole = is_number(value) and isinstance(value, int | np.integer)
    if not whole:
        raise InputTypeError(expected(f"`{name}` to be a whole number", shown(value)))
    if value < least:
        got = f"{value}" if abs(value) < _WRITABLE else "a number of more than 30 digits"
        raise InputError(expected(f"`{name}` to be {least} or more", got))
    if most is not None and value > most:
        # An int of thousands of digits cannot be written as text at once.
        got = f"{value}" if value < _WRITABLE else "a number of more than 30 digits"
        raise InputError(expected(f"`{name}` to be at most {most:,}", got))

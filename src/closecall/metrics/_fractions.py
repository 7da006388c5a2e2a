"""Parameters that are a fraction of a whole."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected


def read_fraction(value: Any, name: str) -> float:
    """Read a number from 0 to 1."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputTypeError(expected(f"`{name}` to be a number from 0 to 1", f"{value!r:.80}"))
    fraction = float(value)
    if not 0 <= fraction <= 1:
        raise InputError(expected(f"`{name}` to lie between 0 and 1", f"{value!r}"))
    return fraction

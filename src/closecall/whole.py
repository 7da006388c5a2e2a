"""Options that count something."""

from __future__ import annotations

from typing import Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected


def require_whole(value: Any, name: str, least: int) -> None:
    """Refuse what is not a whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputTypeError(expected(f"`{name}` to be a whole number", f"{value!r:.80}"))
    if value < least:
        raise InputError(expected(f"`{name}` to be {least} or more", f"{value}"))

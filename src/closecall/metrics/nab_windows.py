"""Windows in which a detection counts, as Events or pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import InputTypeError, expected, renamed
from closecall.events import Events
from closecall.parameters import is_number, shown

if TYPE_CHECKING:
    from closecall.events import Intervals


def read_intervals(windows: Any, name: str) -> Intervals:
    """Read windows; what is wrong with them is said of the argument that they came by."""
    if isinstance(windows, Events):
        return windows.intervals
    if isinstance(windows, str | bytes) or hasattr(windows, "keys") or is_number(windows):
        rule = f"`{name}` to be Events, or pairs (start, stop)"
        raise InputTypeError(expected(rule, shown(windows)))
    with renamed({"intervals": name}):
        return Events(windows).intervals

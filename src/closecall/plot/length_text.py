"""Lengths of time as people read them beside a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.wording import in_words

if TYPE_CHECKING:
    from closecall.clock import Clock

_LARGE, _HUGE = 1e4, 1e12


def length_text(ticks: float, clock: Clock) -> str:
    """Write words on a dated axis (``1 min 30 s``), else the number."""
    if clock.kind == "datetime":
        return in_words(ticks * clock.seconds)
    # Whole numbers are kept whole, and large ones are not written with an exponent.
    return f"{ticks:.0f}" if _LARGE <= abs(ticks) < _HUGE else f"{ticks:.4g}"

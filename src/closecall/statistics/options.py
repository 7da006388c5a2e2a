"""Options that every interval takes: its level, how many resamples are drawn, and their seed."""

from __future__ import annotations

from math import isnan
from typing import Any

from closecall.errors import InputError, expected
from closecall.parameters import read_number, require_count

_FEWEST_RESAMPLES = 100
_MOST_RESAMPLES = 1_000_000  # they are all held; the last digits settle long before


def read_level(level: Any) -> float:
    """Refuse a level that is not between 0 and 1."""
    rule = "a number between 0 and 1"
    return read_number(level, "level", rule, lambda x: 0 < x < 1, "Pass 0.95 for 95 %.")


def read_bounds(low: Any, high: Any) -> tuple[float, float]:
    """Refuse bounds that are no numbers, or the wrong way round; they may be infinite."""
    least, most = (
        read_number(bound, name, "a number, which may be infinite", lambda x: not isnan(x))
        for name, bound in (("low", low), ("high", high))
    )
    if least >= most:
        raise InputError(expected("`low` to be below `high`", f"{least:g} and {most:g}"))
    return least, most


def read_drawing(n: Any, seed: Any) -> tuple[int, int]:
    """Refuse too few resamples and too many, and a seed that is none."""
    require_count(n, "n", _FEWEST_RESAMPLES, _MOST_RESAMPLES)
    require_count(seed, "seed", 0)
    return int(n), int(seed)

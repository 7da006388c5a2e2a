"""Options that every interval takes: its level, how many resamples are drawn, and their seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.whole import require_whole

_FEWEST_RESAMPLES = 100
_MOST_RESAMPLES = 1_000_000  # they are all held; the last digits settle long before


def read_level(level: Any) -> float:
    """Refuse a level that is not between 0 and 1."""
    number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
    if not number or not 0 < level < 1:
        raise InputError(
            expected("`level` to lie between 0 and 1", f"{level!r:.80}", "Pass 0.95 for 95 %.")
        )
    return float(level)


def read_drawing(n: Any, seed: Any) -> tuple[int, int]:
    """Refuse too few resamples and too many, and a seed that is none."""
    require_whole(n, "n", _FEWEST_RESAMPLES, _MOST_RESAMPLES)
    require_whole(seed, "seed", 0)
    return int(n), int(seed)

"""The order in which the pairs of a comparison are shown: the best detectors first."""

from __future__ import annotations

from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closecall.compare import Comparison


def ranked_pairs(comparison: Comparison) -> list[tuple[str, str]]:
    """Name every two detectors, those with the highest F1 first."""
    ranked = sorted(comparison.detectors, key=lambda row: -comparable(row.f1))
    return list(combinations((row.name for row in ranked), 2))


def comparable(score: float) -> float:
    """Put what is undefined below every score."""
    return score if isfinite(score) else -1.0

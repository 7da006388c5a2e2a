"""Is a detector better than chance? A test that moves its predictions, and nothing else."""

from closecall.chance.result import (
    EventSignificance,
    EventTests,
    ScoresSignificance,
    ShiftTest,
    Significance,
    adjust_pvalues,
)
from closecall.chance.shifts import significance

__all__ = [
    "EventSignificance",
    "EventTests",
    "ScoresSignificance",
    "ShiftTest",
    "Significance",
    "adjust_pvalues",
    "significance",
]

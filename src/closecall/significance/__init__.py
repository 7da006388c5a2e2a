"""Is a detector better than chance? A test that moves its predictions, and nothing else."""

from closecall.significance.correction import adjust_pvalues
from closecall.significance.result import (
    EventSignificance,
    EventTests,
    ScoresSignificance,
    ShiftTest,
    Significance,
)
from closecall.significance.run import significance

__all__ = [
    "EventSignificance",
    "EventTests",
    "ScoresSignificance",
    "ShiftTest",
    "Significance",
    "adjust_pvalues",
    "significance",
]

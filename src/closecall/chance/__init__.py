"""Is a detector better than chance? A test that moves its predictions, and nothing else."""

from closecall.chance.correction import adjust_pvalues
from closecall.chance.result import (
    EventSignificance,
    EventTests,
    ScoresSignificance,
    ShiftTest,
    Significance,
)
from closecall.chance.run import significance

__all__ = [
    "EventSignificance",
    "EventTests",
    "ScoresSignificance",
    "ShiftTest",
    "Significance",
    "adjust_pvalues",
    "significance",
]

"""The affiliation metrics: precision and recall that are local to each true event."""

from closecall.affiliation.result import Affiliation, EventScores
from closecall.affiliation.score import affiliation
from closecall.affiliation.scorers import (
    affiliation_f1_score,
    affiliation_precision_score,
    affiliation_recall_score,
)

__all__ = [
    "Affiliation",
    "EventScores",
    "affiliation",
    "affiliation_f1_score",
    "affiliation_precision_score",
    "affiliation_recall_score",
]

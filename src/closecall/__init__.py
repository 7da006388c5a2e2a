"""Local, parameter-free evaluation of time series anomaly detectors."""

from closecall import theory
from closecall.affiliation import (
    Affiliation,
    EventScores,
    affiliation,
    affiliation_f1_score,
    affiliation_precision_score,
    affiliation_recall_score,
)
from closecall.events import Events

__version__ = "0.1.0"

__all__ = [
    "Affiliation",
    "EventScores",
    "Events",
    "affiliation",
    "affiliation_f1_score",
    "affiliation_precision_score",
    "affiliation_recall_score",
    "theory",
]

"""Local, parameter-free evaluation of time series anomaly detectors."""

from closecall import datasets, metrics, theory
from closecall.affiliation import (
    Affiliation,
    AffiliationCurve,
    EventScores,
    affiliation,
    affiliation_average_precision_score,
    affiliation_curve,
    affiliation_f1_score,
    affiliation_precision_score,
    affiliation_recall_score,
)
from closecall.evaluate import evaluate
from closecall.events import Events

__version__ = "0.1.0"

__all__ = [
    "Affiliation",
    "AffiliationCurve",
    "EventScores",
    "Events",
    "affiliation",
    "affiliation_average_precision_score",
    "affiliation_curve",
    "affiliation_f1_score",
    "affiliation_precision_score",
    "affiliation_recall_score",
    "datasets",
    "evaluate",
    "metrics",
    "theory",
]

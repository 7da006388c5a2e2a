"""Local, parameter-free evaluation of time series anomaly detectors."""

from closecall import adversary, datasets, metrics, theory
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
from closecall.audit import audit
from closecall.compare import compare
from closecall.evaluate import evaluate
from closecall.events import Events
from closecall.report import Report, report, report_batch

__version__ = "0.1.0"

__all__ = [
    "Affiliation",
    "AffiliationCurve",
    "EventScores",
    "Events",
    "Report",
    "adversary",
    "affiliation",
    "affiliation_average_precision_score",
    "affiliation_curve",
    "affiliation_f1_score",
    "affiliation_precision_score",
    "affiliation_recall_score",
    "audit",
    "compare",
    "datasets",
    "evaluate",
    "metrics",
    "report",
    "report_batch",
    "theory",
]

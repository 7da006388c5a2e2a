"""Local, parameter-free evaluation of time series anomaly detectors."""

from closecall import adversary, compat, datasets, metrics, theory
from closecall.affiliation import (
    Affiliation,
    AffiliationCurve,
    AffiliationStream,
    Chance,
    EventScores,
    affiliation,
    affiliation_average_precision_score,
    affiliation_curve,
    affiliation_f1_score,
    affiliation_precision_score,
    affiliation_recall_score,
    chance,
)
from closecall.audit import audit
from closecall.compare import compare
from closecall.evaluate import evaluate
from closecall.events import Events
from closecall.frames import BatchResult, evaluate_frame
from closecall.report import Report, report, report_batch
from closecall.significance import significance

__version__ = "0.1.0"

__all__ = [
    "Affiliation",
    "AffiliationCurve",
    "AffiliationStream",
    "BatchResult",
    "Chance",
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
    "chance",
    "compare",
    "compat",
    "datasets",
    "evaluate",
    "evaluate_frame",
    "metrics",
    "report",
    "report_batch",
    "significance",
    "theory",
]

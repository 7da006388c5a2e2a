"""The affiliation metrics: precision and recall that are local to each true event."""

from closecall.affiliation.curve import AffiliationCurve, CurveChance, EventCurve, affiliation_curve
from closecall.affiliation.event_scores import EventScores
from closecall.affiliation.result import Affiliation
from closecall.affiliation.rules import ChosenThreshold, choose_threshold
from closecall.affiliation.score import affiliation
from closecall.affiliation.scorers import (
    affiliation_average_precision_score,
    affiliation_f1_score,
    affiliation_precision_score,
    affiliation_recall_score,
)
from closecall.affiliation.shifts import Chance
from closecall.affiliation.thresholds import CrossFitted, OperatingPoint

__all__ = [
    "Affiliation",
    "AffiliationCurve",
    "Chance",
    "ChosenThreshold",
    "CrossFitted",
    "CurveChance",
    "EventCurve",
    "EventScores",
    "OperatingPoint",
    "affiliation",
    "affiliation_average_precision_score",
    "affiliation_curve",
    "affiliation_f1_score",
    "affiliation_precision_score",
    "affiliation_recall_score",
    "choose_threshold",
]

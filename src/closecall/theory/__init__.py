"""Closed forms: what the affiliation metrics are worth for one event, and for random points."""

from closecall.theory.random_points import (
    Moments,
    averaged_precision,
    averaged_recall,
    mean_recall_of_points,
    precision_of_points,
    recall_of_one_point,
)
from closecall.theory.single_event import (
    Position,
    PrecisionRecall,
    Survival,
    precision_survival,
    recall_survival,
    single_prediction,
    single_random_prediction,
    whole_interval,
)

__all__ = [
    "Moments",
    "Position",
    "PrecisionRecall",
    "Survival",
    "averaged_precision",
    "averaged_recall",
    "mean_recall_of_points",
    "precision_of_points",
    "precision_survival",
    "recall_of_one_point",
    "recall_survival",
    "single_prediction",
    "single_random_prediction",
    "whole_interval",
]

"""The metrics that the affiliation metrics are compared with, all called in one way."""

from closecall.affiliation.score import affiliation
from closecall.metrics.affiliation_variants import normalised_affiliation, unbiased_affiliation
from closecall.metrics.distance import hausdorff, modified_hausdorff, segmentation, semimetric
from closecall.metrics.nab import NabProfile, nab
from closecall.metrics.nab_corpus import nab_corpus
from closecall.metrics.pate import pate
from closecall.metrics.point_adjust_curve import point_adjust_curve
from closecall.metrics.pointwise import (
    classical,
    composite,
    event_wise,
    point_adjust,
    point_adjust_k,
    point_adjust_k_area,
)
from closecall.metrics.range_based import range_based
from closecall.metrics.registry import table
from closecall.metrics.result import PrecisionRecallResult, ValueResult
from closecall.metrics.threshold_free import (
    affiliation_average_precision,
    auc_roc,
    average_precision,
)
from closecall.metrics.time_aware import enhanced_time_aware, time_aware
from closecall.metrics.vus import vus
from closecall.metrics.window import margin, two_sided, two_sided_null, window_once

__all__ = [
    "NabProfile",
    "PrecisionRecallResult",
    "ValueResult",
    "affiliation",
    "affiliation_average_precision",
    "auc_roc",
    "average_precision",
    "classical",
    "composite",
    "enhanced_time_aware",
    "event_wise",
    "hausdorff",
    "margin",
    "modified_hausdorff",
    "nab",
    "nab_corpus",
    "normalised_affiliation",
    "pate",
    "point_adjust",
    "point_adjust_curve",
    "point_adjust_k",
    "point_adjust_k_area",
    "range_based",
    "segmentation",
    "semimetric",
    "table",
    "time_aware",
    "two_sided",
    "two_sided_null",
    "unbiased_affiliation",
    "vus",
    "window_once",
]

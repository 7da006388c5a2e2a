"""Several detectors on one series: who does better on which event, and what they give together."""

from closecall.compare.ensemble import Ensemble
from closecall.compare.pairs import PairComparison
from closecall.compare.result import Comparison, DetectorSummary, compare
from closecall.compare.uncertainty import ComparisonIntervals, PairIntervals

__all__ = [
    "Comparison",
    "ComparisonIntervals",
    "DetectorSummary",
    "Ensemble",
    "PairComparison",
    "PairIntervals",
    "compare",
]

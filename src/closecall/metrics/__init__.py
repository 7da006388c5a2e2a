"""The metrics that the affiliation metrics are compared with, all with one signature."""

from closecall.metrics.pointwise import classical
from closecall.metrics.registry import table
from closecall.metrics.result import PrecisionRecallResult, ValueResult

__all__ = ["PrecisionRecallResult", "ValueResult", "classical", "table"]

"""A gate: numbers of detectors against limits and an earlier run; pass, fail or investigate."""

from closecall.check.gate import check
from closecall.check.result import Check, Limit, Moved

__all__ = ["Check", "Limit", "Moved", "check"]

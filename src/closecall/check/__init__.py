"""A gate: numbers of detectors against limits and an earlier run; pass, fail or investigate."""

from closecall.check.gate import Check, Limit, Moved, check

__all__ = ["Check", "Limit", "Moved", "check"]

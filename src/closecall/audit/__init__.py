"""The audit: which metrics a prediction without information beats, and what they reward."""

from closecall.audit.result import Audit, Verdict
from closecall.audit.run import audit
from closecall.audit.targets import TARGETS, Target

__all__ = ["TARGETS", "Audit", "Target", "Verdict", "audit"]

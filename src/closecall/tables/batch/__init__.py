"""Many series and detectors at once: the options, the units, the engines, and what comes out."""

from __future__ import annotations

from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.result import BatchResult

__all__ = ["BatchResult", "evaluate_frame"]

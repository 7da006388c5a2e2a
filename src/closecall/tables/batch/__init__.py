"""Many series and detectors at once: the options, the units, the engines, and what comes out."""

from __future__ import annotations

from closecall.tables.batch.evaluate import evaluate_frame, evaluate_table, rows_schema
from closecall.tables.batch.options import BatchOptions
from closecall.tables.batch.result import BatchResult

__all__ = ["BatchOptions", "BatchResult", "evaluate_frame", "evaluate_table", "rows_schema"]

"""Tables in, scores out: CSV and Parquet files, and the columns that are scored."""

from __future__ import annotations

from closecall.tables.batch import BatchResult, evaluate_frame
from closecall.tables.compare import compare_files, compare_tables
from closecall.tables.curve import (
    alarm_rate,
    curve_columns,
    curve_files,
    curve_report,
    curve_tables,
)
from closecall.tables.files import read_table, write_table
from closecall.tables.score import score_files, score_tables

__all__ = [
    "BatchResult",
    "alarm_rate",
    "compare_files",
    "compare_tables",
    "curve_columns",
    "curve_files",
    "curve_report",
    "curve_tables",
    "evaluate_frame",
    "read_table",
    "score_files",
    "score_tables",
    "write_table",
]

"""Tables in, scores out: CSV and Parquet files, and the columns that are scored."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from closecall.tables.batch import (
        BatchOptions,
        BatchResult,
        evaluate_frame,
        evaluate_table,
        rows_schema,
    )
    from closecall.tables.incidents import read_events
    from closecall.tables.reading import read_table, write_table
    from closecall.tables.scoring import (
        alarm_rate,
        compare_files,
        curve_columns,
        curve_files,
        curve_report,
        score_files,
    )
    from closecall.tables.series import Inputs

__all__ = [
    "BatchOptions",
    "BatchResult",
    "Inputs",
    "alarm_rate",
    "compare_files",
    "curve_columns",
    "curve_files",
    "curve_report",
    "evaluate_frame",
    "evaluate_table",
    "read_events",
    "read_table",
    "rows_schema",
    "score_files",
    "write_table",
]

# Names are loaded when first used: a score must not wait for what batches need.
_HOMES = {
    "BatchOptions": "batch",
    "BatchResult": "batch",
    "evaluate_frame": "batch",
    "evaluate_table": "batch",
    "rows_schema": "batch",
    "Inputs": "series",
    "read_events": "incidents",
} | dict.fromkeys(("read_table", "write_table"), "reading")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'scoring')}"), name)

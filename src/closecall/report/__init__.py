"""The explorer: a self-contained interactive page for one series or many."""

from __future__ import annotations

from closecall.report.batch import report_batch
from closecall.report.explorer import Report, report

__all__ = ["Report", "report", "report_batch"]

"""Anything tabular in, units of whole series out."""

from __future__ import annotations

from closecall.tables.sources.opening import open_source
from closecall.tables.sources.source import Source
from closecall.tables.sources.unit import Unit

__all__ = ["Source", "Unit", "open_source"]

"""Anything tabular in, units of whole series out."""

from __future__ import annotations

from closecall.frames.sources.opening import open_source
from closecall.frames.sources.source import Source
from closecall.frames.sources.unit import Unit

__all__ = ["Source", "Unit", "open_source"]

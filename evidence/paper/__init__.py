"""The paper's tables, computed again and set beside what it prints."""

from __future__ import annotations

from closecall.paper.reproduce import reproduce
from closecall.paper.result import Cell, Reproduction, Row, Table

__all__ = ["Cell", "Reproduction", "Row", "Table", "reproduce"]

"""Data to try things on."""

from __future__ import annotations

from closecall.datasets.demo import Demo, demo

__all__ = ["Demo", "demo"]

"""The one place where a result reaches up to the plots, which are drawn from results."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def plots() -> Any:
    """Import the plotting layer when something is to be drawn."""
    return import_module("closecall.plot")

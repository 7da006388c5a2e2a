"""Pictures of events and scores, with matplotlib: an axes in, the same axes out."""

from __future__ import annotations

from closecall.plot.curve import plot_curve
from closecall.plot.events import plot_events

__all__ = ["plot_curve", "plot_events"]

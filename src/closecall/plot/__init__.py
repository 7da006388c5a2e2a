"""Pictures of events and scores, with matplotlib: an axes in, the same axes out."""

from __future__ import annotations

from closecall.plot.batch import plot_batch
from closecall.plot.comparison import plot_comparison
from closecall.plot.curve import plot_curve
from closecall.plot.distances import plot_distances
from closecall.plot.events import plot_events
from closecall.plot.single_prediction import plot_single_prediction
from closecall.plot.survival import plot_survival

__all__ = [
    "plot_batch",
    "plot_comparison",
    "plot_curve",
    "plot_distances",
    "plot_events",
    "plot_single_prediction",
    "plot_survival",
]

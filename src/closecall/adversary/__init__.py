"""Predictions built to fool metrics, and a search for the one that fools a metric best.

Every function takes a 0/1 vector and gives a vector of the same length, or takes `Events` with
their ``span`` and gives `Events`. On vectors, lengths and counts are in samples.
"""

from closecall.adversary.families import FAMILIES
from closecall.adversary.predictions import (
    against_composite,
    everything,
    from_trivial,
    random_points,
    random_ranges,
    trivial_event,
)
from closecall.adversary.search import Found, Trial, search

__all__ = [
    "FAMILIES",
    "Found",
    "Trial",
    "against_composite",
    "everything",
    "from_trivial",
    "random_points",
    "random_ranges",
    "search",
    "trivial_event",
]

"""Predictions built to fool metrics, the search for the best of them, and the audit of metrics.

Every construction takes a 0/1 vector and gives a vector of the same length, or takes `Events` with
their ``span`` and gives `Events`. On vectors, lengths and counts are in samples.
"""

from closecall.adversary.audit import Audit, Verdict, Verdicts
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
from closecall.adversary.targets import TARGETS, Target

__all__ = [
    "FAMILIES",
    "TARGETS",
    "Audit",
    "Found",
    "Target",
    "Trial",
    "Verdict",
    "Verdicts",
    "against_composite",
    "everything",
    "from_trivial",
    "random_points",
    "random_ranges",
    "search",
    "trivial_event",
]

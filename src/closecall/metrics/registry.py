"""Every metric by name, and what is known of it."""

from __future__ import annotations

import difflib
from typing import Any

from closecall.errors import InputError, expected
from closecall.metrics.adjusted import ENTRIES as ADJUSTED
from closecall.metrics.distance import ENTRIES as DISTANCE
from closecall.metrics.enhanced_time_aware import ENTRIES as ENHANCED_TIME_AWARE
from closecall.metrics.entry import REQUIRED, Metric
from closecall.metrics.nab import ENTRIES as NAB
from closecall.metrics.pate import ENTRIES as PATE
from closecall.metrics.pointwise import ENTRIES as POINTWISE
from closecall.metrics.range_based import ENTRIES as RANGE_BASED
from closecall.metrics.threshold_free import ENTRIES as THRESHOLD_FREE
from closecall.metrics.time_aware import ENTRIES as TIME_AWARE
from closecall.metrics.two_sided import ENTRIES as TWO_SIDED
from closecall.metrics.variants import ENTRIES as VARIANTS
from closecall.metrics.vus import ENTRIES as VUS
from closecall.metrics.window import ENTRIES as WINDOW

METRICS: dict[str, Metric] = {
    entry.name: entry
    for entry in (
        *VARIANTS,
        *POINTWISE,
        *ADJUSTED,
        *RANGE_BASED,
        *TIME_AWARE,
        *ENHANCED_TIME_AWARE,
        *WINDOW,
        *TWO_SIDED,
        *NAB,
        *DISTANCE,
        *THRESHOLD_FREE,
        *VUS,
        *PATE,
    )
}


LISTED = "`closecall.metrics.table()` lists them all."
"""The hint beside an unknown name, which the command line puts in its own words."""


def find(name: str) -> Metric:
    """Look a metric up, and suggest the nearest name if there is none."""
    if name in METRICS:
        return METRICS[name]
    close = difflib.get_close_matches(name, METRICS, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise InputError(expected("the name of a metric", repr(name), f"{hint}{LISTED}"))


def table() -> list[dict[str, Any]]:
    """List every metric: name, family, range, direction, parameters, what it handles, paper.

    Examples
    --------
    >>> from closecall import metrics
    >>> row = metrics.table()[0]
    >>> row["name"], row["range"], row["parameters"]
    ('affiliation', (0.0, 1.0), {})
    """
    return [
        {
            "name": entry.name,
            "family": entry.family,
            "takes": entry.takes,
            "gives": entry.gives,
            "range": (entry.lowest, entry.highest),
            "higher_is_better": entry.higher_is_better,
            "mainly_for": entry.mainly_for,
            "handles_adjacency": entry.handles_adjacency,
            "handles_durations": entry.handles_durations,
            "parameters": {
                name: "required" if default is REQUIRED else default
                for name, default in entry.parameters.items()
            },
            "paper": entry.paper,
        }
        for entry in METRICS.values()
    ]

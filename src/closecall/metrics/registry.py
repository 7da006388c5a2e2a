"""Every metric by name, and what is known of it."""

from __future__ import annotations

import difflib
from typing import Any

from closecall.errors import InputError, expected
from closecall.metrics import pointwise
from closecall.metrics.entry import REQUIRED, Metric

METRICS: dict[str, Metric] = {
    entry.name: entry for family in (pointwise,) for entry in family.ENTRIES
}


def find(name: str) -> Metric:
    """Look a metric up, and suggest the nearest name if there is none."""
    if name in METRICS:
        return METRICS[name]
    close = difflib.get_close_matches(name, METRICS, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise InputError(
        expected(
            "the name of a metric", repr(name), f"{hint}`closecall.metrics.table()` lists them all."
        )
    )


def table() -> list[dict[str, Any]]:
    """List every metric: name, family, range, direction, parameters, what it handles, paper.

    Examples
    --------
    >>> from closecall import metrics
    >>> row = metrics.table()[0]
    >>> row["name"], row["range"], row["parameters"]
    ('classical', (0.0, 1.0), {'by': 'samples'})
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
                name: None if default is REQUIRED else default
                for name, default in entry.parameters.items()
            },
            "paper": entry.paper,
        }
        for entry in METRICS.values()
    ]

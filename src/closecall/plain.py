"""Results as plain values: for JSON, for trackers of experiments, and in dataframes."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from closecall.errors import MissingExtraError

_VERSION = 1  # of the shapes of JSON; raised by a change that breaks a reader


def schema_name(command: str) -> str:
    """Return what JSON of a command says of its own shape; `closecall schema` prints it."""
    return f"closecall/{command}/{_VERSION}"


def plain(value: Any) -> Any:
    """Return a value, with all that is in it, as one of JSON's; what is not finite becomes None.

    Lengths of time become seconds, and times ISO 8601 text.

    >>> plain({"f1": float("nan"), "events": [{"recall": 0.5}]})
    {'f1': None, 'events': [{'recall': 0.5}]}
    """
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, np.timedelta64):
        value = float(value / np.timedelta64(1, "s"))  # nan for NaT
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def flat_numbers(values: dict[str, Any]) -> dict[str, float]:
    """Return the numbers of nested plain values by dotted names; nothing else, and no list.

    >>> flat_numbers({"f1": 0.5, "chance": {"f1": 0.4, "exact": True, "events": [1], "std": None}})
    {'f1': 0.5, 'chance.f1': 0.4}
    """
    numbers: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            numbers |= {f"{name}.{key}": number for key, number in flat_numbers(value).items()}
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[name] = value
    return numbers


def rows_frame(rows: list[dict[str, Any]], backend: Any) -> Any:
    """Return rows with the same keys as a dataframe of that package."""
    import narwhals as nw

    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ImportError as error:
        raise MissingExtraError(backend) from error

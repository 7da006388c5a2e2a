"""Intervals of a comparison or of a batch as CSV, with one header for both."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COLUMNS = ("detector", "against", "number", "value", "low", "high", "probability", "caution")


def interval_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write the rows with a header; what is undefined is left blank."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: None if value != value else value for name, value in row.items()})  # noqa: PLR0124 - nan differs from itself
    return text.getvalue()

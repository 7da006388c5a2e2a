"""Small tables of several series, and what must come out of every way to read them."""

from __future__ import annotations

import datetime as dt
import math

import pyarrow as pa

from closecall.tables.batch.options import BatchOptions
from tests.tables.unit_sizes import sizes

LENGTHS = (5, 1, 7, 3)
KEYS = {
    "strings": [("pump",), ("fan",), ("valve",), ("",)],
    "integers": [(7,), (-2,), (40,), (0,)],
    "two columns": [("b", 1), ("a", 1), ("b", 2), ("a", 2)],
    "dates": [(dt.date(2024, 1, day),) for day in (3, 1, 9, 2)],
    "with a null": [("pump",), (None,), ("valve",), ("fan",)],
}
TINY = sizes(smallest=1, largest=8, held=10**9)


def key_names(keys):
    return [f"key{number}" for number in range(len(keys[0]))]


def ask(by, **options):
    return BatchOptions.read(by=by, truth="label", score=["a", "b"], time="t", **options)


def series_table(keys, lengths=LENGTHS):
    """Return a table with one series after the other; `unused` is never asked for."""
    names = key_names(keys)
    columns = {
        name: [key[place] for key, n in zip(keys, lengths, strict=True) for _ in range(n)]
        for place, name in enumerate(names)
    }
    total = sum(lengths)
    return pa.table(
        {
            **columns,
            "t": [sample for n in lengths for sample in range(n)],
            "unused": ["x"] * total,
            "label": [number % 2 for number in range(total)],
            "a": [number / 4 for number in range(total)],
            "b": [-number / 8 for number in range(total)],
        }
    )


def expected_groups(table, by):
    """Group row by row in plain Python: the oracle."""
    groups = {}
    for row in table.to_pylist():
        # Nan differs from itself, unless it is the same object.
        key = tuple(math.nan if row[name] != row[name] else row[name] for name in by)
        kept = {name: row[name] for name in ("t", "label", "a", "b")}
        groups.setdefault(key, []).append(kept)
    return groups


def read_groups(units):
    """Return the rows of each key; a key that comes twice is an error."""
    groups = {}
    for unit in units:
        for key, rows in unit.groups():
            assert key not in groups, f"{key} came twice"
            groups[key] = rows.select(["t", "label", "a", "b"]).to_pylist()
    return groups

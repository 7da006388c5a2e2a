"""A unit made by hand, and small series to put in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from closecall.tables.batch.engines import open_engine, run


class HandMade:
    """A unit that holds its groups."""

    def __init__(self, groups, key="000000-hand"):
        self.key = key
        self._groups = list(groups)

    @property
    def rows(self):
        return sum(table.num_rows for _, table in self._groups)

    def groups(self):
        return iter(self._groups)


def group(key, **columns):
    """One series under its key, which is also a column."""
    length = len(next(iter(columns.values())))
    return (key,), pa.table({"series": pa.array([key] * length, pa.string()), **columns})


def random_series(generator, length, *, decimals=2):
    """True labels with some events, and two detectors' scores with ties."""
    labels = np.zeros(length, dtype=np.int8)
    for first in generator.integers(0, length - 6, 3):
        labels[first : first + generator.integers(1, 6)] = 1
    noise = generator.random((2, length))
    return {
        "label": labels,
        "a": np.round(noise[0] + 0.5 * labels, decimals),
        "b": np.round(noise[1], decimals),
    }


def run_with(units, function, *, engine=None, workers=None, say=lambda _: None):
    """Open an engine, call the function with every unit, and close it again."""
    with open_engine(engine, workers) as opened:
        yield from run(units, function, opened, say=say)

"""A file that is cut into several units, for tests that stop a batch in the middle."""

import os
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tables.unit_sizes import patched, sizes

SERIES = 12
SAMPLES = 10_000
UNITS = 4  # a unit ends at the first border between series after so many values:
SMALLER = sizes(100_000, 400_000, 1_600_000, 6_400_000)  # a tenth of what they are


@contextmanager
def large_file(folder):
    """Write such a file, and have it cut into units as if it were ten times as large."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        pytest.skip("too slow without the compiler")
    with patched(SMALLER):
        yield write_series(folder / "large.parquet")


def write_series(path):
    """Write series one after the other, each in a row group of its own; some are in trouble."""
    generator = np.random.default_rng(6)
    with pq.ParquetWriter(path, schema()) as writer:
        for number in range(SERIES):
            label = np.arange(SAMPLES) // 25 % 40 == number
            label &= number != 3  # it has no true event
            noise = generator.random((2, SAMPLES), dtype=np.float32)
            columns = (np.full(SAMPLES, number), label, noise[0] + label / 3, noise[1])
            writer.write_table(pa.table(columns, schema=schema()))
    return path


def schema():
    return pa.schema(
        [
            ("series", pa.int64()),
            ("label", pa.bool_()),
            ("good", pa.float32()),
            ("noise", pa.float32()),
        ]
    )

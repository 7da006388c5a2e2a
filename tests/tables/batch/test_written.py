"""The name of a file says what it is."""

import errno
import resource

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.tables.batch.written import require_suffix, write_rows

ROWS = pa.table({"f1": [0.5, 1.0]})


def test_parquet_and_csv(tmp_path, capfdbinary):
    for name in ("rows.parquet", "rows.pq"):
        write_rows(ROWS, tmp_path / name)
        assert pq.read_table(tmp_path / name).equals(ROWS)
    write_rows(ROWS, str(tmp_path / "rows.csv"))
    assert (tmp_path / "rows.csv").read_text() == "f1\n0.5\n1\n"


def test_nothing_else(tmp_path):
    with pytest.raises(
        InputError, match=r"Expected `path` to end in .parquet or .csv, got '.*xlsx'"
    ):
        write_rows(ROWS, tmp_path / "rows.xlsx")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="Expected `out` to end"):
        require_suffix("rows", "out")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_lengths_of_time_are_seconds_in_text_only(tmp_path, capfd, unit):
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    lengths = pa.array([90 * ticks, None, -ticks], pa.duration(unit))
    table = pa.table({"early": lengths, "f1": [0.5, 1.0, 0.0]})
    write_rows(table, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "early,f1\n90,0.5\n,1\n-1,0\n"
    write_rows(table, tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").equals(table)
    write_rows(table, "-")
    assert capfd.readouterr().out.startswith("early,f1\n90,0.5\n")


def test_parts_of_seconds_have_the_digits_of_a_float(tmp_path):
    lengths = np.array([1, 2**53 + 1, 123_456_789_012], dtype="m8[ns]")
    write_rows(pa.table({"early": lengths}), tmp_path / "rows.csv")
    written = (tmp_path / "rows.csv").read_text().split()[1:]
    assert [float(text) for text in written] == (lengths / np.timedelta64(1, "s")).tolist()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_full_disk_names_the_file(tmp_path, name):
    table = pa.table({"f1": np.random.default_rng(0).random(20_000)})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"rows\.") as caught:
            write_rows(table, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename == str(tmp_path / name)

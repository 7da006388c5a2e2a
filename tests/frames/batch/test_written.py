"""The name of a file says what it is."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.frames.batch.written import require_suffix, write_rows

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

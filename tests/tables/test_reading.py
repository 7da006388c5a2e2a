"""Reading and writing real files: CSV, Parquet, gzip, standard input, and everything broken."""

import gzip
import io
import sys
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from closecall.errors import InputError
from closecall.tables import read_table, write_table
from closecall.tables.reading import CsvText
from tests.conftest import run_program

TABLE = {"time": [1, 2, 3], "label": [0, 1, 0]}
CSV = b"time,label\n1,0\n2,1\n3,0\n"


def parquet_bytes():
    sink = io.BytesIO()
    pq.write_table(pa.table(TABLE), sink)
    return sink.getvalue()


CONTENTS = {
    "csv": CSV,
    "parquet": parquet_bytes(),
    "gzipped csv": gzip.compress(CSV),
    "gzipped parquet": gzip.compress(parquet_bytes()),
    "semicolons": CSV.replace(b",", b";"),
    "tabs": CSV.replace(b",", b"\t"),
    "byte order mark": b"\xef\xbb\xbf" + CSV,
    "windows line ends": CSV.replace(b"\n", b"\r\n"),
    "line ends of old": CSV.replace(b"\n", b"\r"),
    "no last line end": CSV.rstrip(b"\n"),
    "blank lines around": b"\n" + CSV + b"\n\n",
    "quoted names": b'"time","label"\n1,0\n2,1\n3,0\n',
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_content_decides_not_the_name(tmp_path, content):
    path = tmp_path / "table.dat"
    path.write_bytes(content)
    assert read_table(path).to_pydict() == TABLE


@pytest.mark.parametrize(
    "content", [CSV, parquet_bytes(), gzip.compress(CSV)], ids=["csv", "parquet", "gzipped csv"]
)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_table("-").to_pydict() == TABLE


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"0\n1\n1\n", {"column1": [0, 1, 1]}),
        (b"0.5,1\n1.5,0\n", {"column1": [0.5, 1.5], "column2": [1, 0]}),
        (
            b"2024-01-01T00:00:00,1\n2024-01-01T00:05:00,0\n",
            {
                "column1": [datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 5)],  # noqa: DTZ001 - naive on purpose
                "column2": [1, 0],
            },
        ),
        (b"label\n0\n1\n", {"label": [0, 1]}),
    ],
)
def test_a_first_line_of_values_is_no_header(tmp_path, content, expected):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert read_table(path).to_pydict() == expected


def test_offsets_become_instants_in_utc(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("time\n2024-01-01T02:00:00+02:00\n2024-01-01T02:05:00+02:00\n")
    times = read_table(path).column("time")
    assert times.type.tz == "UTC"
    assert times[0].as_py() == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0\n\n1\n", {"column1": [0, None, 1]}),
        ("a,b\n1,2\n\n3,4\n", {"a": [1, None, 3], "b": [2, None, 4]}),
    ],
)
def test_a_blank_line_inside_is_a_missing_row(tmp_path, content, expected):
    path = tmp_path / "labels.csv"
    path.write_text(content)
    assert read_table(path).to_pydict() == expected


def message_of(source):
    with pytest.raises(InputError) as caught:
        read_table(source)
    return str(caught.value)


def test_missing_file_suggests_its_neighbour(tmp_path):
    (tmp_path / "truth.csv").write_bytes(CSV)
    message = message_of(tmp_path / "thruth.csv")
    assert message == (
        f"Expected a file at {tmp_path / 'thruth.csv'}, got none.\n\n"
        f"Hint: Did you mean {tmp_path / 'truth.csv'}?"
    )


def test_missing_file_without_a_neighbour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message_of("truth.csv").endswith(f"paths are relative to {tmp_path}.")


def test_missing_folder(tmp_path):
    assert f"There is no folder {tmp_path / 'no'}." in message_of(tmp_path / "no" / "truth.csv")


def test_folder(tmp_path):
    assert message_of(tmp_path) == f"Expected a file at {tmp_path}, got a folder."


BROKEN = {
    "empty": (b"", "to hold a table, got an empty file."),
    "only blank lines": (b"\n\n", "to hold a table, got an empty file."),
    "empty gzip": (gzip.compress(b""), "to hold a table, got an empty file."),
    "cut gzip": (gzip.compress(CSV * 100)[:-10], "to be a whole gzip file, got `"),
    "cut parquet": (parquet_bytes()[:-20], "to be a whole Parquet file, got `"),
    "binary": (b"\x93NUMPY\x01\x00v\x00", r"to be a CSV or Parquet file, got bytes that start"),
    "ragged": (b"a,b\n1,2\n3\n", "to be a CSV file, got `CSV parse error: Row #3: Expected 2"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_file(tmp_path, content, message):
    path = tmp_path / "broken"
    path.write_bytes(content)
    assert message in message_of(path)
    assert message_of(path).startswith(f"Expected {path} ")


def test_a_parquet_name_with_other_content(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(CSV)
    assert "to be a CSV or Parquet file, got bytes that start with b'time,lab'" in message_of(path)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_written_tables_read_back(tmp_path, name):
    times = np.datetime64("2024-03-04T00:00:00", "s") + np.arange(2)
    write_table({"time": times, "label": np.array([0, 1], dtype=np.uint8)}, tmp_path / name)
    back = read_table(tmp_path / name)
    assert back.column("time").to_numpy().astype("M8[s]").tolist() == times.tolist()
    assert back.column("label").to_pylist() == [0, 1]


def test_written_csv_is_plain(tmp_path):
    times = np.datetime64("2024-03-04T00:00:00", "s") + np.arange(1)
    write_table({"time": times, "label": [1]}, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "time,label\n2024-03-04 00:00:00,1\n"


def test_csv_on_standard_output(capfdbinary):
    write_table({"threshold": np.array([np.inf, 0.1]), "alarms": [1, 2]}, "-")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"threshold,alarms\ninf,1\n0.1,2\n"


INTERRUPTED = """
import os, signal, sys

class Interrupt:
    sent = False

    def find_spec(self, name, path=None, target=None):
        if name == "pandas.core" and not self.sent:
            self.sent = True
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from closecall.tables.reading import arrow
try:
    column = arrow("pyarrow.parquet").ParquetFile(sys.argv[1]).read().column(0)
    column.chunk(0).to_numpy()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_is_not_lost_while_arrow_looks_for_pandas(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(parquet_bytes())
    done = run_program([sys.executable, "-c", INTERRUPTED, path])
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_a_parquet_file_whose_text_is_none(tmp_path):
    """As bytes that were flipped on a disk: Arrow reads them, and fails where they are used."""
    names = pa.array([b"a", b"\xff"]).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"series": names, "label": [0, 1]}), tmp_path / "flipped.parquet")
    with pytest.raises(InputError, match="to be a whole Parquet file, got `Column"):
        read_table(tmp_path / "flipped.parquet")


def test_arrow_holds_no_memory_of_pythons(monkeypatch):
    """Its threads may let go of it while Python ends, which aborts the process."""
    text, lines, read_csv = bytearray(CSV), CsvText(io.BytesIO(CSV), "x.csv", "utf-8"), csv.read_csv

    def read(*arguments):
        text.clear()  # which is refused while something else holds its memory
        return read_csv(*arguments)

    monkeypatch.setattr(csv, "read_csv", read)
    assert lines._parse(text, {}, None).to_pydict() == TABLE

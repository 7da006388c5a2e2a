"""Files that are damaged, in another encoding, or larger than they look: one line, never more."""

import gzip
import os
import sys
from itertools import islice
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks import fuzz_files

import closecall as cc
from closecall.errors import InputError
from closecall.tables import read_table, score_files
from tests.conftest import run_program

TEXT = "time,truth,predicted,Lärm\n0,0,0,é\n1,1,1,é\n2,0,1,é\n"


def run(*arguments, limit=None, cwd=None):
    code = "from closecall.cli import main; main()"
    if limit is not None:
        code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit},) * 2); {code}"
    return run_program(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_text_in_another_encoding(tmp_path, encoding, pack):
    path = tmp_path / "x.csv"
    path.write_bytes(pack(TEXT.encode(encoding)))
    table = read_table(path, encoding=encoding)
    assert table.column_names == ["time", "truth", "predicted", "Lärm"]
    assert table["Lärm"].to_pylist() == ["é"] * 3
    assert score_files(path, encoding=encoding, time="time").recall == 1


def test_keys_in_another_encoding(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("series,label,a\nKäse,0,0.1\nKäse,1,0.9\n".encode("latin-1"))
    found = cc.evaluate_frame(path, by="series", truth="label", score="a", encoding="latin-1")
    assert found.table["series"].to_pylist() == ["Käse"]


MESSAGES = {
    "latin-1 value": (b"a,b\n1,2\n3,\xe9\n", "to be text in utf-8, got `.*` in line 3.*'latin-1'"),
    "latin-1 header": (b"a,\xe9\n1,2\n", "to be text in utf-8, got `.*` in line 1.*'latin-1'"),
    "utf-16": (TEXT.encode("utf-16"), "to be a CSV or Parquet file, got bytes.*encoding='utf-16'"),
    "utf-16 without a mark": (TEXT.encode("utf-16-le"), "to be a CSV or Parquet file, got bytes"),
    "NUL": (b"a,b\n1,2\n1,\0\n", "to be text in utf-8, got a NUL in line 3.*encoding='latin-1'"),
    "NUL in a name": (b"a,b\0\n1,2\n1,3\n", "got a NUL in line 1"),
    "late NUL": (b"a,b\n" + b"1,2\n" * 2000 + b"1,\0\n", "got a NUL in line 2002"),
    "long name": (b'"' + b"x" * 140_000 + b'",b\n1,2\n', "to begin with a line of names or values"),
    "long line": (b"x" * (18 << 20), "to be shorter than 16 MB"),
    "cut gzip": (gzip.compress(TEXT.encode())[:-9], "to be a whole gzip file"),
}


@pytest.mark.parametrize(("content", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages_name_the_file_the_line_and_the_option(tmp_path, content, message):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"(?s)x\.csv {message}|x\.csv.*{message}"):
        read_table(path)


@pytest.mark.parametrize("encoding", ["no-such", "gzip", "rot13", "", "\0"])
def test_an_encoding_that_python_does_not_know(tmp_path, encoding):
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="`encoding` to be an encoding of text"):
        read_table(tmp_path / "x.csv", encoding=encoding)


def test_what_a_file_holds_decides_and_not_its_size(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"truth,predicted\n" + (b"0,0\n" * 1023 + b"1,1\n") * 2**11))
    with pytest.raises(
        InputError, match=r"`memory` of 0.1 GB .* [\d,]+ lines \(\d+ MB of text\) that take"
    ):
        read_table(path, memory=0.1)
    assert read_table(path, memory=1).num_rows == 2**21
    pq.write_table(pa.table({"truth": [0, 1] * 2**20}), tmp_path / "x.parquet")
    with pytest.raises(
        InputError, match=r"`memory` of 0.1 GB .* 2,097,152 rows of 1 column, .* about 0.266 GB"
    ):
        read_table(tmp_path / "x.parquet", memory=0.1)
    found = cc.evaluate_frame(path, truth="truth", predicted="predicted", memory=0.1)
    assert found.table["affiliation_recall"].to_pylist() == [1.0]
    with pytest.raises(InputError, match=r"`memory` of 0.1 GB .* one series .* 2,097,152 rows"):
        cc.evaluate_frame(path, truth="truth", score="predicted", memory=0.1)


@pytest.fixture(scope="module")
def too_many(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "x.csv.gz"
    rows = b"".join(b"0,0,0.%d\n1,1,0.%d\n" % (i, i) for i in range(1000)) * 100
    path.write_bytes(gzip.compress(b"truth,predicted,score\n") + gzip.compress(rows, 1) * 30)
    return path


@pytest.mark.parametrize(
    ("command", "options"),
    [("score", ()), ("batch", ("--truth", "truth", "--score", "score"))],
)
def test_no_memory_left_is_one_line(too_many, command, options):
    done = run(command, too_many, *options, "--memory", "9", limit=1100 << 20)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "memory" in done.stderr.lower() or "malloc" in done.stderr or "allocate" in done.stderr


def test_a_refusal_while_much_is_read_ends_in_order(tmp_path):
    """Arrow's threads must not be left reading a file of Python's when Python ends."""
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"truth,predicted\n" + b"0,0\n1,1\n" * 2**19, 1))
    for _ in range(3):
        done = run("score", path, "--memory", "0.05")
        assert (done.returncode, done.stderr.count("\n")) == (1, 2)


# The compiler, which workers would load for nothing here, is left out; pandas is loaded once.
ABORTING = """
import os, sys, types
import pandas, pyarrow.parquet as pq

sys.modules["closecall.tables.batch.preload"] = types.ModuleType("preload")

kind = pq.ParquetFile
class ParquetFile(kind):
    def __init__(self, path, **options):
        super().__init__(path, **options)
        self.bad = "bad" in str(path)
    def read_row_groups(self, *arguments, **options):
        if self.bad:
            os.abort()
        return super().read_row_groups(*arguments, **options)
pq.ParquetFile = ParquetFile
"""


def test_a_file_that_aborts_the_reader_is_a_failed_unit(tmp_path):
    """No file is known that does so with today's Arrow; the call that reads it aborts instead."""
    for name in ("a", "bad", "c"):
        (tmp_path / f"data/series={name}").mkdir(parents=True)
        table = pa.table({"label": [0, 1, 1, 0, 0], "score": [0.1, 0.8, 0.9, 0.2, 0.3]})
        pq.write_table(table, tmp_path / f"data/series={name}/one.parquet")
    # Read by every Python that starts, so that a worker which replaces another one aborts as well.
    (tmp_path / "sitecustomize.py").write_text(ABORTING)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    line = "batch data --by series --truth label --score score --out rows.csv --workers 2"
    done = run_program(
        [sys.executable, "-c", "from closecall.cli import main; main()", *line.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 1, done
    assert "The worker process died" in done.stderr
    assert "Traceback" not in done.stderr


def test_mutated_files():
    # A longer run is `python -m benchmarks fuzz`.
    tried = list(islice(fuzz_files.attempts(Random(3)), 300))  # noqa: S311 - it only has to repeat
    assert [attempt for attempt in tried if attempt.outcome == "failed"] == []
    assert {attempt.outcome for attempt in tried} == {"accepted", "refused"}

"""CSV files, read whole or streamed, alone and together."""

import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.tables.batch.options import BatchOptions
from tests.tables.series_tables import ask, expected_groups, read_groups, series_table
from tests.tables.unit_sizes import open_source, sizes

KEYS = [("pump",), ("fan",), ("valve",)]
SPOOLED = sizes(smallest=10, largest=20, held=0)


def text_of(table, separator=","):
    lines = [separator.join(table.column_names)]
    lines += [separator.join(str(value) for value in row.values()) for row in table.to_pylist()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("whole_bytes", [0, 10**6])
def test_streamed_and_whole_give_the_same(tmp_path, separator, packed, whole_bytes):
    table = series_table(KEYS, (5, 4, 6))
    content = text_of(table, separator).encode()
    path = tmp_path / "x.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    source = open_source(path, ask("key0"), SPOOLED, WHOLE_BYTES=whole_bytes)
    units = source.units()
    assert len(units) > 1
    assert read_groups(units) == expected_groups(table, ["key0"])


@pytest.mark.parametrize("whole_bytes", [0, 10**6])
def test_a_folder_of_files(tmp_path, whole_bytes):
    table = series_table(KEYS, (5, 4, 6))
    for (name,), start, rows in zip(KEYS, (0, 5, 9), (5, 4, 6), strict=True):
        (tmp_path / f"key0={name}").mkdir()
        part = table.slice(start, rows).drop_columns(["key0"])
        (tmp_path / f"key0={name}" / "x.csv").write_text(text_of(part))
    source = open_source(tmp_path, ask("key0"), WHOLE_BYTES=whole_bytes)
    assert read_groups(source.units()) == expected_groups(table, ["key0"])


def test_the_name_of_a_folder_wins_over_a_column(tmp_path):
    (tmp_path / "key0=7").mkdir()
    (tmp_path / "key0=7" / "x.csv").write_text("key0,label,a,b,t\n9,0,0.5,0.5,0\n")
    [unit] = open_source(tmp_path, ask("key0")).units()
    assert [key for key, _ in unit.groups()] == [(7,)]


def test_whole_numbers_in_one_file_and_fractions_in_the_next(tmp_path):
    (tmp_path / "1.csv").write_text("label,a,b,t\n0,1,1,0\n")
    (tmp_path / "2.csv").write_text("label,a,b,t\n1,0.5,2,1\n")
    [unit] = open_source(tmp_path, ask((), series="one")).units()
    [(_, rows)] = unit.groups()
    assert rows["a"].to_pylist() == [1.0, 0.5]


def test_types_that_do_not_go_together_are_named(tmp_path):
    (tmp_path / "1.csv").write_text("label,a,b,t\n0,1,1,0\n")
    (tmp_path / "2.csv").write_text("label,a,b,t\nyes,0.5,2,1\n")
    with pytest.raises(InputError, match=r"'label' of .*2.csv to hold numbers, as in .*1.csv"):
        open_source(tmp_path, ask((), series="one"))
    (tmp_path / "2.csv").write_text("label,a,b,t\n1,0.5,2,noon\n")
    with pytest.raises(InputError, match=r"columns of .*2.csv to have the types of .*1.csv"):
        open_source(tmp_path, ask((), series="one"))


def write_large(path, line, last):
    """Write more than Arrow parses at a time, most of it in a column that nobody asks for."""
    rest = f",{'x' * 1000}\n"
    lines = 18 * 2**20 // len(line + rest)
    path.write_text(f"label,a,b,t,rest\n{(line + rest) * lines}{last},\n")


def test_a_type_that_changes_within_a_large_file_is_named(tmp_path):
    path = tmp_path / "x.csv"
    write_large(path, "0,0.25,0.5,1", "yes,0.25,0.5,1")
    with pytest.raises(InputError, match=r"x.csv to be a CSV file, got `.*conversion error"):
        open_source(path, ask(()), WHOLE_BYTES=0)


def test_scores_may_begin_with_whole_numbers(tmp_path):
    path = tmp_path / "x.csv"
    write_large(path, "0,1,2,1", "0,0.25,0.5,1")
    source = open_source(path, ask(()), WHOLE_BYTES=0)
    last = source.units()[-1]
    [(_, rows)] = last.groups()
    assert rows["a"].to_pylist()[-2:] == [1.0, 0.25]


LIKE_NUMBERS = "key0,label,a,b,t\n001,0,1,1,0\n1,1,2,2,0\n01,0,3,3,0\n,1,4,4,0\n1.0,1,5,5,0\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("whole_bytes", [0, 10**6])
def test_keys_are_text_as_it_stands_in_the_file(tmp_path, packed, whole_bytes):
    path = tmp_path / "x.csv"
    content = b"\xef\xbb\xbf\n" + LIKE_NUMBERS.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    source = open_source(path, ask("key0"), WHOLE_BYTES=whole_bytes)
    groups = read_groups(source.units())
    assert {key: [row["a"] for row in rows] for key, rows in groups.items()} == {
        ("001",): [1],
        ("1",): [2],
        ("01",): [3],
        ("",): [4],
        ("1.0",): [5],
    }


def test_keys_without_a_header_and_in_files_of_numbers_and_of_text(tmp_path):
    (tmp_path / "1.csv").write_text("007,0,1.5\n008,1,1.5\n")
    (tmp_path / "2.csv").write_text("bond,0,1.5\n")
    question = BatchOptions.read(by="column1", truth="column2", score="column3")
    with pytest.raises(InputError, match="to name a column of"):
        open_source(tmp_path, question)
    (tmp_path / "1.csv").write_text("key,label,a\n007,0,1.5\n008,1,1.5\n")
    (tmp_path / "2.csv").write_text("key,label,a\nbond,0,1.5\n")
    question = BatchOptions.read(by="key", truth="label", score="a")
    [unit] = open_source(tmp_path, question).units()
    assert [key for key, _ in unit.groups()] == [("007",), ("008",), ("bond",)]


def test_gzipped_parquet_keeps_the_types_of_its_keys(tmp_path):
    table = series_table([(7,), (8,)], (2, 3))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    (tmp_path / "x.gz").write_bytes(gzip.compress(sink.getvalue()))
    source = open_source(tmp_path / "x.gz", ask("key0"))
    assert read_groups(source.units()) == expected_groups(table, ["key0"])
    with pytest.raises(InputError, match=r"x.gz to be plain Parquet, since it is large, got gzip"):
        open_source(tmp_path / "x.gz", ask("key0"), WHOLE_BYTES=0)


@pytest.mark.parametrize("content", [LIKE_NUMBERS, LIKE_NUMBERS.replace("001,0,1,1,0", "001,0")])
def test_keys_of_standard_input(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    if content != LIKE_NUMBERS:
        with pytest.raises(InputError, match=r"^Expected standard input to be a CSV file, got"):
            open_source("-", ask("key0"))
        return
    [unit] = open_source("-", ask("key0")).units()
    assert [key for (key,), _ in unit.groups()] == ["001", "1", "01", "", "1.0"]


def test_the_fingerprint_of_standard_input_is_its_content(monkeypatch):
    def fingerprint(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        return open_source("-", ask("key0")).fingerprint()

    first = fingerprint(LIKE_NUMBERS)
    assert first == fingerprint(LIKE_NUMBERS)
    assert first != fingerprint(LIKE_NUMBERS.replace("1.0,1,5,5,0", "1.0,1,5,6,0"))


@pytest.mark.parametrize("whole_bytes", [0, 10**6])
def test_a_file_without_rows_is_a_series_without_rows(tmp_path, whole_bytes):
    for name, rows in (("1", ""), ("2", "0,0.5,0.5,0\n"), ("3", "")):
        (tmp_path / f"key0={name}").mkdir()
        (tmp_path / f"key0={name}" / "x.csv").write_text("label,a,b,t\n" + rows)
    (tmp_path / "key0=3" / "y.csv").write_text("label,a,b,t\n1,0.5,0.5,0\n")
    source = open_source(tmp_path, ask("key0"), WHOLE_BYTES=whole_bytes)
    groups = read_groups(source.units())
    assert {key: len(rows) for key, rows in groups.items()} == {(1,): 0, (2,): 1, (3,): 1}


def test_a_stream_of_files_without_rows(tmp_path):
    (tmp_path / "x.csv").write_text("key0,label,a,b,t\n")
    source = open_source(tmp_path / "x.csv", ask("key0"), WHOLE_BYTES=0)
    assert source.units() == []


def test_standard_input(monkeypatch):
    table = series_table(KEYS, (5, 4, 6))
    content = io.TextIOWrapper(io.BytesIO(text_of(table).encode()))
    monkeypatch.setattr("sys.stdin", content)
    source = open_source("-", ask("key0"))
    assert source.name == "standard input"
    assert read_groups(source.units()) == expected_groups(table, ["key0"])

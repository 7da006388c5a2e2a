"""Rows that lie apart are sorted on disk, or refused with the remedy."""

import _thread
import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError, MissingExtraError
from closecall.tables import grouping
from closecall.tables.batch.options import BatchOptions
from closecall.tables.grouping import group
from tests.conftest import full_disk
from tests.tables.series_tables import (
    KEYS,
    ask,
    expected_groups,
    key_names,
    read_groups,
    series_table,
)
from tests.tables.test_parquet_units import all_copied, rows_of
from tests.tables.unit_sizes import open_source


def scattered(keys, seed=0):
    table = series_table(keys, (40, 1, 30, 25))
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


def units_of(table, path, question, size):
    pq.write_table(table, path, row_group_size=10)
    return open_source(path, question, size=size).units()


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()], ids=str)
def test_zero_has_no_sign(tmp_path, kind):
    """DuckDB takes -0.0 for 0.0, and Arrow does not."""
    table = scattered([(0.0,), (-0.0,), (1.0,), (float("nan"),)])
    table = table.set_column(0, "key0", table["key0"].cast(kind))
    units = units_of(table, tmp_path / "x.parquet", ask("key0"), rows_of(8))
    assert all_copied(units)
    groups = [(str(key), rows) for unit in units for key, rows in unit.groups()]
    assert {key: rows.num_rows for key, rows in groups} == {
        "(0.0,)": 41,
        "(1.0,)": 30,
        "(nan,)": 25,
    }
    in_memory = [(str(key), rows.num_rows) for key, rows in group(table, ["key0"])]
    assert sorted(in_memory) == sorted((key, rows.num_rows) for key, rows in groups)


@pytest.mark.parametrize("name", ["two columns", "with a null"])
def test_sorted_on_disk(tmp_path, name):
    keys = KEYS[name]
    table, path = scattered(keys), tmp_path / "x.parquet"
    units = units_of(table, path, ask(key_names(keys)), rows_of(8))
    assert read_groups(units) == expected_groups(table, key_names(keys))
    # A sorted file takes the place of the other one, and goes when nobody reads it any more.
    [sorted_path] = {rows.file.path for unit in units for rows, _ in unit.parts}
    assert sorted_path != str(path)
    assert Path(sorted_path).exists()
    assert all_copied(units)
    del units
    assert not Path(sorted_path).parent.exists()


def test_types_survive_the_sort(tmp_path):
    table = scattered(KEYS["strings"])
    numbers = np.arange(table.num_rows)
    columns = {
        "t": pa.array(10**18 + 7 * numbers, pa.timestamp("ns", "Europe/Paris")),
        "label": pa.array(numbers % 2, pa.uint8()),
        "a": pa.array(numbers.astype(np.float16) / 8),
    }
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    units = units_of(table, tmp_path / "x.parquet", ask("key0"), rows_of(8))
    assert all_copied(units)
    assert read_groups(units) == expected_groups(table, ["key0"])
    kinds = {
        rows.schema.field(name).type for u in units for _, rows in u.groups() for name in columns
    }
    assert kinds == {column.type for column in columns.values()}


def test_names_that_differ_in_case_only(tmp_path):
    table = scattered(KEYS["strings"]).select(["key0", "label", "a", "b"])
    named = table.rename_columns(["S", "label", "s", "LABEL"])
    question = BatchOptions.read(by="S", truth="label", score=["s", "LABEL"])
    units = units_of(named, tmp_path / "x.parquet", question, rows_of(8))
    groups = {key: rows for unit in units for key, rows in unit.groups()}
    wanted = {key: [] for key in KEYS["strings"]}
    for row in named.to_pylist():
        wanted[(row["S"],)].append(row)
    assert {key: rows.to_pylist() for key, rows in groups.items()} == wanted
    assert all_copied(units)


def test_keys_and_folders_may_have_any_name(tmp_path, monkeypatch):
    (tmp_path / "it's").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "it's"))
    names = ["closecall row number", "number", "c0", "c8", 'a "key"']  # c8 is the row's number
    table = scattered([(key,) * 5 for (key,) in KEYS["strings"]])
    named = table.rename_columns([*names, *table.column_names[5:]])
    units = units_of(named, tmp_path / "x.parquet", ask(names), rows_of(8))
    assert all_copied(units)
    assert read_groups(units) == expected_groups(named, names)


KINDS = [
    (pa.duration("s"), [3600, 0, -60, 1]),
    (pa.duration("us"), [3600, 0, -60, 1]),
    (pa.time32("s"), [3600, 0, 60, 1]),
    (pa.time64("us"), [3600, 0, 60, 1]),
    (pa.timestamp("ms", "UTC"), [3600, 0, -60, 1]),
    (pa.date32(), [dt.date(2024, 1, day) for day in (3, 1, 9, 2)]),
    (pa.date64(), [dt.date(2024, 1, day) for day in (3, 1, 9, 2)]),
    (pa.decimal128(20, 2), [Decimal(text) for text in ("2.50", "0", "-1", "3")]),
    (pa.int64(), [7, -2, 40, 0]),
    (pa.large_string(), ["b", "a", "c", ""]),
    (pa.bool_(), [True, False, True, None]),
]


def test_keys_may_have_any_type(tmp_path):
    table = scattered([(place,) * len(KINDS) for place in range(4)])
    places, by = table["key0"], [f"key{number}" for number in range(len(KINDS))]
    for number, (kind, values) in enumerate(KINDS):
        table = table.set_column(number, by[number], pa.array(values, kind).take(places))
    units = units_of(table, tmp_path / "x.parquet", ask(by), rows_of(8))
    assert all_copied(units)
    assert read_groups(units) == expected_groups(table, by)


def in_numbers(count):
    """Return a schema, and tables whose one series lies apart, with values nobody can shorten."""
    schema = pa.schema([("key", pa.int64()), ("value", pa.float64())])
    random = np.random.default_rng(0)
    tables = (
        pa.table({"key": random.integers(0, 9, 500), "value": random.random(500)}, schema)
        for _ in range(count)
    )
    return tables, schema, ("key",)


def sort(tables, schema, by, folder):
    (folder / "sort").mkdir()
    target = folder / "sort" / "sorted.parquet"
    grouping.sort_out_of_core(tables, schema, by, target, name="x", key=(1,), rows=10_000)


def test_ctrl_c_is_a_keyboard_interrupt_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tables, *keyed = in_numbers(20_000)
    taken = []

    def interrupted():
        for number, table in enumerate(tables):
            taken.append(number)
            if number == 3:
                _thread.interrupt_main()
            yield table

    with pytest.raises(KeyboardInterrupt):
        sort(interrupted(), *keyed, tmp_path)
    assert not list(tmp_path.iterdir())
    assert len(taken) < 20_000, "the sort went on to its end"


@pytest.mark.parametrize("memory", ["512MB", "5MB"])  # the sorted file is too large, or the spill
def test_a_full_disk_is_one_clear_message_and_leaves_nothing(tmp_path, monkeypatch, memory):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(grouping, "_MEMORY", memory)
    tables, *keyed = in_numbers(1000)
    with full_disk(1_000_000), pytest.raises(InputError) as got:
        sort(tables, *keyed, tmp_path)
    assert str(got.value).startswith(f"Expected room in {tmp_path} to sort x by key, got `")
    assert "TMPDIR" in str(got.value)
    assert not list(tmp_path.iterdir())


def test_damaged_rows_name_the_file_and_leave_nothing(tmp_path, monkeypatch):
    path = tmp_path / "damaged.parquet"
    pq.write_table(scattered(KEYS["strings"]), path, row_group_size=10)
    chunk = pq.read_metadata(path).row_group(4).column(4)
    assert chunk.path_in_schema == "a"
    content = bytearray(path.read_bytes())
    start, length = chunk.dictionary_page_offset, chunk.total_compressed_size
    content[start : start + length] = b"\xff" * length
    path.write_bytes(content)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    with pytest.raises(InputError, match=r"damaged\.parquet to be"):
        open_source(path, ask("key0"), size=rows_of(8)).units()
    assert not list((tmp_path / "tmp").iterdir())


def test_what_duckdb_cannot_sort_is_refused_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    schema = pa.schema([("key", pa.decimal256(50, 3))])
    tables = iter([pa.table({"key": [None]}, schema)])
    with pytest.raises(InputError, match="DuckDB to sort x by key") as got:
        sort(tables, schema, ("key",), tmp_path)
    assert "Sort the rows by key before" in str(got.value)
    assert not list(tmp_path.iterdir())


def test_without_duckdb_it_is_refused_with_the_remedy(tmp_path, monkeypatch):
    pq.write_table(scattered(KEYS["two columns"]), tmp_path / "x.parquet", row_group_size=10)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    source = open_source(tmp_path / "x.parquet", ask(["key0", "key1"]), size=rows_of(8))
    with pytest.raises(MissingExtraError) as got:
        source.units()
    assert "lie apart in" in str(got.value)
    assert "must be sorted by key0, key1" in str(got.value)
    assert "pip install 'closecall[duckdb]'" in str(got.value)
    assert str(got.value).endswith(", or sort the rows by key0, key1 before.")

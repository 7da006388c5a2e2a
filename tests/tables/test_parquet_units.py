"""Parquet files: units hold whole series wherever row groups are cut, and read little at a time."""

import math
import multiprocessing
import pickle
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closecall.errors import InputError, MissingExtraError
from closecall.tables.units import ParquetRows, copied
from tests.tables.series_tables import (
    KEYS,
    TINY,
    ask,
    expected_groups,
    key_names,
    read_groups,
    series_table,
)
from tests.tables.unit_sizes import open_source, sizes

WIDTH = 5  # key, time, label and two scores


def write_row_groups(path, table, sizes):
    with pq.ParquetWriter(path, table.schema) as writer:
        start = 0
        for rows in sizes:
            writer.write_table(table.slice(start, rows), row_group_size=max(1, rows))
            start += rows
    assert start >= table.num_rows


def rows_of(rows):
    """Return a unit size of so many rows, that never falls back on memory."""
    return sizes(smallest=rows * WIDTH, largest=rows * WIDTH, held=0)


def all_copied(units):
    """Return whether all units are read from temporary files."""
    return all(rows.file.folder is not None for unit in units for rows, _ in unit.parts)


def test_series_that_end_with_row_groups_are_cut_there(tmp_path, monkeypatch):
    table = series_table([("a",), ("b",), ("c",), ("d",)], (4, 4, 4, 4))
    write_row_groups(tmp_path / "x.parquet", table, [4] * 4)
    noted = []
    original = ParquetRows.read

    def noting(rows, numbers, columns=()):
        noted.extend(numbers if columns else ())
        return original(rows, numbers, columns)

    monkeypatch.setattr(ParquetRows, "read", noting)
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(4)).units()
    assert [unit.rows for unit in units] == [4, 4, 4, 4]
    assert noted == [0, 1, 2, 3]
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_small_row_groups_and_files_share_a_unit(tmp_path):
    table = series_table([(n,) for n in range(12)], (2,) * 12)
    for number in range(12):
        name = tmp_path / f"part.{number}.parquet"
        write_row_groups(name, table.slice(2 * number, 2), [1, 1])
    units = open_source(tmp_path, ask("key0"), size=rows_of(8)).units()
    assert [unit.rows for unit in units] == [8, 8, 8]
    assert [unit.key for unit in units] == [
        "rows 0-8 from part.0.parquet",
        "rows 0-8 from part.4.parquet",
        "rows 0-8 from part.8.parquet",
    ]
    assert list(read_groups(units)) == [(n,) for n in range(12)]


def test_a_footer_is_read_once_for_all_units(tmp_path, monkeypatch):
    table = series_table([(n,) for n in range(20)], (4,) * 20)
    write_row_groups(tmp_path / "x.parquet", table, [4] * 20)
    read = []
    original = pq.read_metadata
    monkeypatch.setattr(pq, "read_metadata", lambda path: read.append(path) or original(path))
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(4)).units()
    assert len(units) == 20
    assert sum(len(rows) for rows in read_groups(units).values()) == 80
    assert len(read) == 1


def test_a_series_across_a_border_belongs_to_the_unit_where_it_begins(tmp_path):
    table = series_table([("a",), ("b",), ("c",)], (6, 5, 5))
    write_row_groups(tmp_path / "x.parquet", table, [8, 8])
    first, second = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(8)).units()
    assert (first.skipped, second.skipped) == (0, 3)
    assert (first.rows, second.rows) == (11, 5)
    assert [list(read_groups([unit])) for unit in (first, second)] == [[("a",), ("b",)], [("c",)]]


def test_series_that_overlap_in_order_are_cut_where_they_end(tmp_path):
    table = series_table([("a",), ("z",), ("b",), ("y",)], (4, 4, 4, 4))
    write_row_groups(tmp_path / "x.parquet", table, [8, 8])
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(8)).units()
    assert [list(read_groups([unit])) for unit in units] == [[("a",), ("z",)], [("b",), ("y",)]]


def test_two_key_columns(tmp_path):
    keys = [(outer, inner) for outer in "ab" for inner in range(6)]
    table = series_table(keys, (4,) * 12)
    write_row_groups(tmp_path / "x.parquet", table, [8, 8, 16, 8, 8])
    units = open_source(
        tmp_path / "x.parquet", ask(["key0", "key1"]), size=sizes(48, 48, 0)
    ).units()
    assert [unit.rows for unit in units] == [8, 8, 16, 8, 8]
    assert list(read_groups(units)) == keys


def test_a_series_inside_two_row_groups_is_found(tmp_path, monkeypatch):
    keys = ["b", "b", "a", "a", "c", "c", "b", "b"]
    table = series_table([(key,) for key in keys], (1,) * 8)
    write_row_groups(tmp_path / "x.parquet", table, [4, 4])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    source = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(4))
    with pytest.raises(MissingExtraError, match=r"the rows of key0='b' lie apart in .*x.parquet"):
        source.units()


def test_disorder_inside_one_unit_needs_no_sort_on_disk(tmp_path, monkeypatch):
    table = series_table([(key,) for key in "abab"], (1,) * 4)
    write_row_groups(tmp_path / "x.parquet", table, [4])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(1)).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_a_series_that_comes_back_later_is_found(tmp_path, monkeypatch):
    table = series_table([(key,) for key in "abca"], (4,) * 4)
    write_row_groups(tmp_path / "x.parquet", table, [4] * 4)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    source = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(4))
    with pytest.raises(MissingExtraError, match="the rows of key0='a' lie apart"):
        source.units()


def test_a_series_that_goes_on_and_comes_back_is_found(tmp_path, monkeypatch):
    # b crosses the border, and is in the second row group once more.
    table = series_table([(key,) for key in "abcb"], (4, 6, 3, 3))
    write_row_groups(tmp_path / "x.parquet", table, [8, 8])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    source = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(8))
    with pytest.raises(MissingExtraError, match="the rows of key0='b' lie apart"):
        source.units()


@st.composite
def layouts(draw):
    """Draw runs of keys, cuts into row groups and files, a unit size, and a type of key."""
    runs = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), min_size=1, max_size=9))
    if draw(st.booleans()):  # every series in one piece
        runs = list({key: (key, length) for key, length in runs}.values())
    total = sum(length for _, length in runs)
    cuts = draw(st.lists(st.integers(1, 8), min_size=1, max_size=total))
    convert = draw(
        st.sampled_from(
            [
                int,
                str,
                lambda n: None if n == 3 else n,
                lambda n: (None, "", "a", "b")[n % 4],
                lambda n: math.nan if n == 1 else n / 2,
            ]
        )
    )
    keys = [(convert(key),) for key, _ in runs]
    return keys, [n for _, n in runs], cuts, draw(st.integers(1, 12))


@settings(max_examples=60)
@given(layouts(), st.integers(0, 3), st.sampled_from([0, 10**9]))
def test_any_cut_gives_the_same_series(layout, files, held):
    keys, lengths, cuts, rows = layout
    table = series_table(keys, lengths)
    with tempfile.TemporaryDirectory() as folder:
        start, number = 0, 0
        while start < table.num_rows:
            sizes = cuts if files == 0 else cuts[: files + 1]
            part, path = table.slice(start, sum(sizes)), Path(folder, f"{number}.parquet")
            write_row_groups(path, part, sizes)
            start, number = start + part.num_rows, number + 1
        # Rows that lie apart are brought together on disk, or in memory.
        units = open_source(folder, ask("key0"), size={**rows_of(rows), "HELD": held}).units()
        groups = [(str(key), part) for unit in units for key, part in unit.groups()]
    assert sum(unit.rows for unit in units) == table.num_rows
    wanted = expected_groups(table, ["key0"])
    assert len(groups) == len(wanted)
    found = dict(groups)
    for key, rows in wanted.items():
        assert found[str(key)].select(["t", "label", "a", "b"]).to_pylist() == rows


SMALL = sizes(smallest=20, largest=40, held=30, readable=50)


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_a_giant_row_group_has_the_same_series(tmp_path, keys, monkeypatch):
    by, table = key_names(keys), series_table(keys)
    pq.write_table(table, tmp_path / "x.parquet")
    read = []
    original = ParquetRows.read

    def noting(rows, numbers, columns=()):
        read.extend([] if columns else [rows.file.path])
        return original(rows, numbers, columns)

    monkeypatch.setattr(ParquetRows, "read", noting)
    units = open_source(tmp_path / "x.parquet", ask(by), size=SMALL).units()
    assert len(units) > 1
    assert all_copied(units)
    assert read_groups(units) == expected_groups(table, by)
    assert str(tmp_path / "x.parquet") not in read


def test_folders_and_other_files_come_along(tmp_path):
    table = series_table([("a",), ("b",)], (9, 4)).drop_columns(["key0"])
    for name, rows in (("a", slice(0, 9)), ("b", slice(9, 13))):
        (tmp_path / f"key0={name}").mkdir()
        own = table.slice(rows.start, rows.stop - rows.start)
        pq.write_table(own, tmp_path / f"key0={name}" / "x.parquet")
    size = sizes(smallest=20, largest=40, held=30, readable=40)
    units = open_source(tmp_path, ask("key0"), size=size).units()
    assert {key: len(rows) for key, rows in read_groups(units).items()} == {("a",): 9, ("b",): 4}


def test_the_copy_goes_with_the_units(tmp_path):
    pq.write_table(series_table(KEYS["strings"]), tmp_path / "x.parquet")
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=SMALL).units()
    folder = Path(units[0].parts[0][0].file.path).parent
    assert folder.exists()
    assert folder != tmp_path
    units.clear()
    assert not folder.exists()


def test_keys_name_the_rows(tmp_path):
    pq.write_table(series_table([("a",), ("b",), ("c",)], (4, 4, 4)), tmp_path / "x.parquet")
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=SMALL).units()
    assert [unit.key for unit in units] == [
        "rows 0-4 from rows.parquet",
        "rows 4-8 from rows.parquet",
        "rows 8-12 from rows.parquet",
    ]


@pytest.mark.parametrize("parts", [[7], [1] * 7, [0, 3, 0, 4], [6, 1]])
def test_row_groups_do_not_depend_on_the_parts(parts):
    table, tables, start = pa.table({"a": range(7)}), [], 0
    for rows in parts:
        tables.append(table.slice(start, rows))
        start += rows
    copy = copied(tables, (), 3)
    metadata = pq.read_metadata(copy.path)
    assert [metadata.row_group(n).num_rows for n in range(3)] == [3, 3, 1]
    assert pq.read_table(copy.path).equals(table)


ROWS, ROW_GROUPS = 10_000, 40


def largest_allocation(path):
    """Read all series, and return the most bytes that Arrow held (in a process of its own)."""
    units = open_source(path, ask("key0"), size=rows_of(ROWS)).units()
    rows = sum(part.num_rows for unit in units for _, part in unit.groups())
    return rows, len(units), pa.default_memory_pool().max_memory()


def test_memory_is_bounded_by_row_groups_not_by_the_file(tmp_path):
    total = ROWS * ROW_GROUPS
    table = pa.table(
        {
            "key0": np.repeat(np.arange(total // 1000), 1000),
            "t": np.arange(total),
            "label": np.zeros(total, dtype=np.int64),
            "a": np.random.default_rng(0).random(total),
            "b": np.random.default_rng(1).random(total),
        }
    )
    # Series cross every border between row groups.
    write_row_groups(tmp_path / "x.parquet", table.slice(300), [ROWS] * ROW_GROUPS)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        rows, units, most = pool.submit(largest_allocation, str(tmp_path / "x.parquet")).result()
    assert (rows, units) == (total - 300, ROW_GROUPS)
    one_row_group = table.nbytes / ROW_GROUPS
    # Two as they are read and as they are stored, and those before, whose last series is still
    # held; how much Arrow has freed of what it read is up to its threads.
    assert one_row_group < most < 16 * one_row_group


def test_a_unit_is_small_whatever_the_file_holds(tmp_path):
    table = series_table([(n,) for n in range(100)], (100,) * 100)
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=1000)
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(1000)).units()
    assert len(units) == 10
    assert max(len(pickle.dumps(unit)) for unit in units) < 2000


def test_only_the_columns_that_are_asked_for_are_read(tmp_path):
    table = series_table(KEYS["strings"])
    pq.write_table(table, tmp_path / "x.parquet")
    [unit] = open_source(tmp_path / "x.parquet", ask("key0")).units()
    assert {tuple(rows.column_names) for _, rows in unit.groups()} == {
        ("key0", "t", "label", "a", "b")
    }


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_files_with_and_without_categories_go_together(tmp_path, keys):
    table = series_table(keys)
    by = key_names(keys)
    encoded = pa.table(
        {
            name: column.dictionary_encode() if name in by else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )
    pq.write_table(encoded.slice(0, 7), tmp_path / "1.parquet")
    pq.write_table(table.slice(7), tmp_path / "2.parquet")
    for size in (TINY, None):
        units = open_source(tmp_path, ask(by), size=size).units()
        assert read_groups(units) == expected_groups(table, by)


def test_times_as_categories_in_one_file_only(tmp_path):
    table = series_table(KEYS["strings"])
    times = pa.array([f"2024-01-{day + 1:02d}" for day in table["t"].to_pylist()])
    table = table.set_column(1, "t", times)
    encoded = table.set_column(1, "t", times.dictionary_encode())
    pq.write_table(encoded.slice(0, 7), tmp_path / "1.parquet")
    pq.write_table(table.slice(7), tmp_path / "2.parquet")
    units = open_source(tmp_path, ask("key0")).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_many_small_row_groups_are_joined_in_one_piece(tmp_path):
    table = series_table(KEYS["strings"])
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=1)
    [unit] = open_source(tmp_path / "x.parquet", ask("key0")).units()
    assert {rows["a"].num_chunks for _, rows in unit.groups()} == {1}
    assert read_groups([unit]) == expected_groups(table, ["key0"])


def test_a_type_that_differs_between_files_is_named(tmp_path):
    table = series_table(KEYS["strings"])
    pq.write_table(table, tmp_path / "1.parquet")
    other = table.set_column(3, "label", table["label"].cast(pa.float32()))
    pq.write_table(other, tmp_path / "2.parquet")
    match = r"column 'label' to have one type in all files, got int64 in .*1.parquet and float in "
    with pytest.raises(InputError, match=match):
        open_source(tmp_path, ask("key0"))


def test_a_column_that_one_file_lacks_is_named_with_the_file(tmp_path):
    table = series_table(KEYS["strings"])
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(table.drop_columns(["b"]), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"`score` to name a column of .*2.parquet, got 'b'"):
        open_source(tmp_path, ask("key0"))


def test_columns_that_nobody_asks_for_may_differ(tmp_path):
    table = series_table(KEYS["strings"])
    pq.write_table(table.slice(0, 7), tmp_path / "1.parquet")
    pq.write_table(table.slice(7).drop_columns(["unused"]), tmp_path / "2.parquet")
    units = open_source(tmp_path, ask("key0")).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_a_nested_key_is_refused(tmp_path):
    table = series_table(KEYS["strings"])
    nested = pa.array([[1]] * table.num_rows)
    pq.write_table(table.set_column(0, "key0", nested), tmp_path / "x.parquet")
    with pytest.raises(TypeError, match=r"`by` column 'key0' to hold plain values, got list"):
        open_source(tmp_path / "x.parquet", ask("key0"))


def test_empty_row_groups_and_files_are_passed_over(tmp_path):
    table = series_table(KEYS["strings"])
    write_row_groups(tmp_path / "1.parquet", table, [5, 0, 3, 0, 8])
    pq.write_table(table.slice(0, 0), tmp_path / "2.parquet")
    units = open_source(tmp_path, ask("key0"), size=TINY).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_units_of_a_giant_series_follow_the_file(tmp_path):
    table = series_table([(0,)], (100,))
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=10)
    units = open_source(tmp_path / "x.parquet", ask(()), size=sizes(1, 30 * 4, 0)).units()
    assert [unit.rows for unit in units] == [30, 30, 30, 10]
    parts = [rows["t"].to_pylist() for unit in units for _, rows in unit.groups()]
    assert sum(parts, []) == list(range(100))  # noqa: RUF017 - four short lists

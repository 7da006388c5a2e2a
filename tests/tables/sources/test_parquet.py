"""Units of Parquet files: what they hold, what they read, and how much of it at a time."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.tables.sources import open_source
from closecall.tables.sources.source import UnitSize
from tests.tables.sources.tables import (
    KEYS,
    TINY,
    ask,
    expected_groups,
    key_names,
    read_groups,
    series_table,
)
from tests.tables.sources.test_planning import rows_of, write_row_groups

ROWS, ROW_GROUPS = 50_000, 50


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
    # One as it is read and as it is stored, and the one before, whose last series is still held.
    assert one_row_group < most < 6 * one_row_group


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
    for size in (TINY, UnitSize()):
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
    [unit] = open_source(tmp_path / "x.parquet", ask("key0")).units()
    with pytest.raises(TypeError, match=r"`by` column 'key0' to hold plain values, got list"):
        list(unit.groups())


def test_empty_row_groups_and_files_are_passed_over(tmp_path):
    table = series_table(KEYS["strings"])
    write_row_groups(tmp_path / "1.parquet", table, [5, 0, 3, 0, 8])
    pq.write_table(table.slice(0, 0), tmp_path / "2.parquet")
    units = open_source(tmp_path, ask("key0"), size=TINY).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_units_of_a_giant_series_follow_the_file(tmp_path):
    table = series_table([(0,)], (100,))
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=10)
    units = open_source(tmp_path / "x.parquet", ask(()), size=UnitSize(1, 30 * 4, 0)).units()
    assert [unit.rows for unit in units] == [30, 30, 30, 10]
    parts = [rows["t"].to_pylist() for unit in units for _, rows in unit.groups()]
    assert sum(parts, []) == list(range(100))  # noqa: RUF017 - four short lists

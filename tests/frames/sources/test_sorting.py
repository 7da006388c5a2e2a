"""Rows that lie apart are sorted on disk, or refused with the remedy."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import MissingExtraError
from closecall.frames.sources import open_source

from .tables import KEYS, ask, expected_groups, key_names, read_groups, series_table
from .test_planning import rows_of


def scattered(keys, seed=0):
    table = series_table(keys, (40, 1, 30, 25))
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_sorted_on_disk(tmp_path, keys):
    table = scattered(keys)
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=10)
    source = open_source(tmp_path / "x.parquet", ask(key_names(keys)), size=rows_of(8))
    units = source.units()
    assert read_groups(units) == expected_groups(table, key_names(keys))
    # A sorted file takes the place of the other one, and goes when nobody reads it any more.
    [path] = {stretch.file.path for unit in units for stretch in unit.stretches}
    assert path != str(tmp_path / "x.parquet")
    assert Path(path).exists()
    assert all(unit.temporary for unit in units)
    del units
    assert not Path(path).parent.exists()


def test_types_survive_the_sort(tmp_path):
    table = scattered(KEYS["strings"])
    times = pa.array(np.arange(table.num_rows), pa.timestamp("ms", "Europe/Paris"))
    table = table.set_column(table.column_names.index("t"), "t", times)
    label = table["label"].cast(pa.uint8())
    table = table.set_column(table.column_names.index("label"), "label", label)
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=10)
    source = open_source(tmp_path / "x.parquet", ask("key0"), size=rows_of(8))
    units = source.units()
    assert read_groups(units) == expected_groups(table, ["key0"])
    for unit in units:
        for _, rows in unit.groups():
            assert rows.schema.field("t").type == pa.timestamp("ms", "Europe/Paris")
            assert rows.schema.field("label").type == pa.uint8()


def test_names_and_folders_are_quoted(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "it's").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "it's"))
    table = scattered(KEYS["strings"])
    named = table.rename_columns(
        ['a "key"' if name == "key0" else name for name in table.column_names]
    )
    pq.write_table(named, tmp_path / "x.parquet", row_group_size=10)
    units = open_source(tmp_path / "x.parquet", ask('a "key"'), size=rows_of(8)).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_without_duckdb_it_is_refused_with_the_remedy(tmp_path, monkeypatch):
    pq.write_table(scattered(KEYS["two columns"]), tmp_path / "x.parquet", row_group_size=10)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    source = open_source(tmp_path / "x.parquet", ask(["key0", "key1"]), size=rows_of(8))
    with pytest.raises(MissingExtraError) as got:
        source.units()
    assert "lie apart in" in str(got.value)
    assert "must be sorted by key0, key1" in str(got.value)
    assert "pip install 'closecall[duckdb]'" in str(got.value)

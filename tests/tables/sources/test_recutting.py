"""Row groups that are too large to be read at once are cut anew."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closecall as cc
from closecall.tables.sources import open_source
from closecall.tables.sources.recutting import write_in_row_groups
from closecall.tables.sources.row_groups import Layout
from closecall.tables.sources.unit import UnitSize

from .tables import KEYS, ask, expected_groups, key_names, read_groups, series_table

SMALL = UnitSize(smallest=20, largest=40, held=30, readable=50)


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_a_giant_row_group_has_the_same_series(tmp_path, keys, monkeypatch):
    by, table = key_names(keys), series_table(keys)
    pq.write_table(table, tmp_path / "x.parquet")
    read = []
    original = Layout.read

    def noting(self, file, row_groups, columns=None):
        part = original(self, file, row_groups, columns)
        read.append(part.num_rows)
        return part

    monkeypatch.setattr(Layout, "read", noting)
    units = open_source(tmp_path / "x.parquet", ask(by), size=SMALL).units()
    assert len(units) > 1
    assert all(unit.temporary for unit in units)
    assert read_groups(units) == expected_groups(table, by)
    assert max(read) < table.num_rows


def test_folders_and_other_files_come_along(tmp_path):
    table = series_table([("a",), ("b",)], (9, 4)).drop_columns(["key0"])
    for name, rows in (("a", slice(0, 9)), ("b", slice(9, 13))):
        (tmp_path / f"key0={name}").mkdir()
        own = table.slice(rows.start, rows.stop - rows.start)
        pq.write_table(own, tmp_path / f"key0={name}" / "x.parquet")
    size = UnitSize(smallest=20, largest=40, held=30, readable=40)
    units = open_source(tmp_path, ask("key0"), size=size).units()
    assert {key: len(rows) for key, rows in read_groups(units).items()} == {("a",): 9, ("b",): 4}


def test_the_copy_goes_with_the_units(tmp_path):
    pq.write_table(series_table(KEYS["strings"]), tmp_path / "x.parquet")
    units = open_source(tmp_path / "x.parquet", ask("key0"), size=SMALL).units()
    folder = Path(units[0].stretches[0].file.path).parent
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
def test_row_groups_do_not_depend_on_the_parts(tmp_path, parts):
    table, tables, start = pa.table({"a": range(7)}), [], 0
    for rows in parts:
        tables.append(table.slice(start, rows))
        start += rows
    write_in_row_groups(str(tmp_path / "x.parquet"), tables, rows=3, by=())
    metadata = pq.read_metadata(tmp_path / "x.parquet")
    assert [metadata.row_group(n).num_rows for n in range(3)] == [3, 3, 1]
    assert pq.read_table(tmp_path / "x.parquet").equals(table)


def test_one_giant_series_is_cut_in_time(tmp_path, monkeypatch):
    labels = [0, 1, 1, 0, 0, 0, 1, 0, 0, 0] * 20
    found = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0] * 20
    pq.write_table(pa.table({"label": labels, "p": found}), tmp_path / "x.parquet")
    monkeypatch.setattr(
        "closecall.tables.sources.open_source",
        lambda data, question: open_source(data, question, size=SMALL),
    )
    [row] = cc.evaluate_frame(
        tmp_path / "x.parquet", truth="label", predicted="p", metrics=["affiliation"]
    ).table.to_pylist()
    whole = cc.affiliation(labels, found)
    assert (row["affiliation_precision"], row["affiliation_recall"]) == (
        whole.precision,
        whole.recall,
    )

"""Files without rows whose folders name a series."""

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.sources import open_source

from .tables import TINY, ask, read_groups, series_table

ROWS = series_table([("x",)], (4,)).drop_columns(["key0"])
NOTHING = ROWS.slice(0, 0)


def write(folder, parts):
    """Write a file for each pair of a folder and its rows."""
    for number, (name, table) in enumerate(parts):
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name / f"{number}.parquet", row_group_size=2)


@pytest.mark.parametrize("size", [None, TINY])
def test_a_series_without_rows_is_a_group_without_rows(tmp_path, size):
    write(tmp_path, [("key0=c", NOTHING), ("key0=a", ROWS), ("key0=b", NOTHING)])
    source = open_source(tmp_path, ask("key0"), size=size)
    units = pickle.loads(pickle.dumps(source.units()))  # noqa: S301 - pickled here
    assert len({unit.key for unit in units}) == len(units)
    groups = read_groups(units)
    assert {key: len(rows) for key, rows in groups.items()} == {("a",): 4, ("b",): 0, ("c",): 0}
    assert all(rows.schema.equals(source.schema) for _, rows in units[-1].groups())


def test_rows_in_another_file_of_the_series_count(tmp_path):
    write(tmp_path, [("key0=a", NOTHING), ("key0=a", ROWS), ("key0=a", NOTHING)])
    groups = read_groups(open_source(tmp_path, ask("key0")).units())
    assert {key: len(rows) for key, rows in groups.items()} == {("a",): 4}


def test_folders_must_name_all_keys(tmp_path):
    keyed = ROWS.append_column("key1", pa.array(["m"] * 4))
    write(tmp_path, [("key0=a", keyed), ("key0=b", keyed.slice(0, 0))])
    groups = read_groups(open_source(tmp_path, ask(["key0", "key1"])).units())
    assert list(groups) == [("a", "m")]


def test_types_of_columns_without_values_do_not_matter(tmp_path):
    untyped = pa.table({name: pa.nulls(0) for name in NOTHING.column_names})
    write(tmp_path, [("key0=a", untyped), ("key0=b", ROWS)])
    source = open_source(tmp_path, ask("key0"))
    assert source.schema.field("a").type == pa.float64()
    assert {key: len(rows) for key, rows in read_groups(source.units()).items()} == {
        ("a",): 0,
        ("b",): 4,
    }


@pytest.mark.parametrize("threshold", ["best_f1", "best_f1_global"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_batch_gives_it_rows(tmp_path, threshold, suffix):
    for name, rows in (("1", "0,0.5\n1,0.9\n"), ("2", "")):
        path = tmp_path / "data" / f"site={name}" / f"x.{suffix}"
        path.parent.mkdir(parents=True)
        path.write_text("label,score\n" + rows)
        if suffix == "parquet":
            table = pa.table(
                {"label": [0, 1], "score": [0.5, 0.9]} if rows else {"label": [], "score": []}
            )
            pq.write_table(table, path)
    asked = {"by": "site", "truth": "label", "score": "score", "threshold": threshold}
    result = evaluate_frame(tmp_path / "data", **asked, out=tmp_path / "out.parquet")
    assert result.table.select(["site", "status", "samples"]).to_pylist() == [
        {"site": 1, "status": "ok", "samples": 2},
        {"site": 2, "status": "empty", "samples": 0},
    ]
    assert result.table["site"].type == pa.int32()


def test_nothing_but_series_without_rows(tmp_path):
    write(tmp_path, [("key0=a", NOTHING), ("key0=b", NOTHING)])
    result = evaluate_frame(tmp_path, by="key0", truth="label", score="a")
    assert result.table["status"].to_pylist() == ["empty", "empty"]
    with pytest.raises(InputError, match="to hold at least one series, got none"):
        evaluate_frame(tmp_path, truth="label", score="a")

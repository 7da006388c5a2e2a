"""The same series come out of every kind of input."""

import pickle
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.tables.batch.options import BatchOptions
from tests.tables.series_tables import (
    KEYS,
    TINY,
    ask,
    expected_groups,
    key_names,
    read_groups,
    series_table,
)
from tests.tables.unit_sizes import open_source


class OnlyStream:
    """Knows nothing but Arrow's protocol for tables."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def _parquet(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=4)
    return folder / "rows.parquet"


def _parquet_folder(table, folder):
    for number, start in enumerate(range(0, table.num_rows, 3)):
        pq.write_table(table.slice(start, 3), folder / f"part.{number}.parquet")
    return folder


def _csv(table, folder):
    pyarrow.csv.write_csv(table, folder / "rows.csv")
    return str(folder / "rows.csv")


WAYS = {
    "pandas": ("pandas", lambda table, _folder: table.to_pandas()),
    "pandas categories": (
        "pandas",
        lambda table, _folder: table.to_pandas().astype(
            dict.fromkeys((n for n in table.column_names if n.startswith("key")), "category")
        ),
    ),
    "polars": ("polars", lambda table, _folder: pl.from_arrow(table)),
    "lazy polars": ("polars", lambda table, _folder: pl.from_arrow(table).lazy()),
    "pyarrow": ("arrow", lambda table, _folder: table),
    "dictionaries": (
        "arrow",
        lambda table, _folder: pa.table(
            {
                name: column.dictionary_encode() if name.startswith("key") else column
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        ),
    ),
    "record batch": ("arrow", lambda table, _folder: table.combine_chunks().to_batches()[0]),
    "record batch reader": ("arrow", lambda table, _folder: table.to_reader(max_chunksize=2)),
    "dataset": ("arrow", lambda table, _folder: pyarrow.dataset.dataset(table)),
    "Arrow protocol": ("arrow", lambda table, _folder: OnlyStream(table)),
    "DuckDB": ("arrow", lambda table, _folder: duckdb.from_arrow(table)),
    # Dask makes text of dates that are Python objects, so columns keep their Arrow types.
    "Dask": (
        "pandas",
        lambda table, _folder: pytest.importorskip("dask.dataframe").from_pandas(
            table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=5, sort=False
        ),
    ),
    "Parquet file": ("arrow", _parquet),
    "Parquet folder": ("arrow", _parquet_folder),
    "Parquet glob": ("arrow", lambda t, folder: str(_parquet_folder(t, folder) / "part*.parquet")),
    "list of files": (
        "arrow",
        lambda t, folder: [_parquet(t.slice(0, 9), folder), *_second(t.slice(9), folder)],
    ),
    "CSV file": ("arrow", _csv),
}


def _second(table, folder):
    pq.write_table(table, folder / "second.parquet")
    return [folder / "second.parquet"]


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_same_series(tmp_path, keys, way):
    if way == "CSV file" and any(None in key for key in keys):
        pytest.skip("CSV does not tell empty text from a missing value")
    by = key_names(keys)
    table = series_table(keys)
    kind, convert = WAYS[way]
    source = open_source(convert(table, tmp_path), ask(by), size=TINY)
    assert source.kind == kind
    assert sorted(source.schema.names) == sorted([*by, "t", "label", "a", "b"])
    units = source.units()
    assert sum(unit.rows for unit in units) == table.num_rows
    wanted = expected_groups(table, by)
    if way == "CSV file":  # which has no types
        wanted = {tuple(str(part) for part in key): rows for key, rows in wanted.items()}
    assert read_groups(units) == wanted
    assert list(read_groups(units)) == list(wanted)
    travelled = pickle.loads(pickle.dumps(units))  # noqa: S301 - pickled here
    assert read_groups(travelled) == wanted
    assert len({unit.key for unit in units}) == len(units) > 1


@pytest.mark.parametrize("way", WAYS)
def test_scattered_rows_come_together_in_their_order(tmp_path, way):
    table = series_table(KEYS["strings"])
    table = table.take(pa.array([(7 * n) % table.num_rows for n in range(table.num_rows)]))
    source = open_source(WAYS[way][1](table, tmp_path), ask("key0"), size=TINY)
    assert read_groups(source.units()) == expected_groups(table, ["key0"])


@pytest.mark.parametrize("way", WAYS)
def test_without_keys_the_table_is_one_series(tmp_path, way):
    table = series_table(KEYS["integers"])
    data = WAYS[way][1](table, tmp_path)
    asked = ask((), series="one" if isinstance(data, (str, Path, list)) else None)
    units = open_source(data, asked, size=TINY).units()
    groups = [group for unit in units for group in unit.groups()]
    assert {key for key, _ in groups} == {()}
    assert len(groups) == len(units)
    rows = [row for _, part in groups for row in part.select(["t", "label", "a", "b"]).to_pylist()]
    assert rows == expected_groups(table, [])[()]


@pytest.mark.parametrize("way", [way for way in WAYS if way not in {"CSV file", "Parquet folder"}])
def test_a_missing_column_is_named(tmp_path, way):
    data = WAYS[way][1](series_table(KEYS["strings"]), tmp_path)
    with pytest.raises(
        InputError, match=r"Expected `by` to name a column of .*, got 'key1'"
    ) as got:
        open_source(data, ask("key1"))
    assert "Did you mean 'key0'? Its columns are: key0, t, unused, label, a, b." in str(got.value)


@pytest.mark.parametrize(
    "way", ["pandas", "polars", "lazy polars", "pyarrow", "DuckDB", "Parquet file", "CSV file"]
)
@pytest.mark.parametrize("by", ["key0", ()])
def test_no_rows_are_no_units(tmp_path, way, by):
    table = series_table(KEYS["integers"]).slice(0, 0)
    if way == "CSV file":
        (tmp_path / "rows.csv").write_text("key0,t,label,a,b\n")
        data = tmp_path / "rows.csv"
    else:
        data = WAYS[way][1](table, tmp_path)
    assert open_source(data, ask(by)).units() == []


def test_what_is_no_table_is_refused():
    with pytest.raises(InputTypeError, match=r"Expected `data` to be a dataframe.*, got dict"):
        open_source({"label": [0]}, ask(()))


def test_a_missing_file_is_named(tmp_path):
    pq.write_table(series_table(KEYS["strings"]), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"Expected a file at .*rowz.parquet, got none") as got:
        open_source(tmp_path / "rowz.parquet", ask("key0"))
    assert "Did you mean" in str(got.value)
    with pytest.raises(InputError, match=r"Expected a file at .*rowz.parquet, got none"):
        open_source([tmp_path / "rows.parquet", tmp_path / "rowz.parquet"], ask("key0"))


def test_files_of_two_kinds_are_refused(tmp_path):
    pq.write_table(series_table(KEYS["strings"]), tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("label\n0\n")
    with pytest.raises(InputError, match=r"of one kind, got .*rows.csv and .*rows.parquet"):
        open_source(str(tmp_path / "rows.*"), ask("key0"))
    with pytest.raises(InputError, match=r"of one kind, got rows.parquet and rows.csv"):
        open_source(tmp_path, ask("key0"))


def test_an_unreadable_file_is_named(tmp_path):
    (tmp_path / "half.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"Expected .*half.parquet to be a whole Parquet file"):
        open_source(tmp_path / "half.parquet", ask("key0"))


def test_nan_scores_of_pandas_stay_nan():
    frame = pd.DataFrame({"label": [0, 1], "a": [0.5, float("nan")], "b": [1.0, 2.0], "t": [0, 1]})
    [unit] = open_source(frame, ask(())).units()
    [(_, rows)] = unit.groups()
    assert rows["a"].null_count == 0
    assert str(rows["a"].to_pylist()) == "[0.5, nan]"


def test_all_series_of_nab(data_folder):
    path = data_folder / "nab" / "scores.parquet"
    detectors = ["numenta", "skyline", "windowedGaussian", "random", "relativeEntropy"]
    question = BatchOptions.read(by="series", truth="label", score=detectors, time="timestamp")
    source = open_source(path, question)
    groups = [(key, rows) for unit in source.units() for key, rows in unit.groups()]
    assert len(groups) == len({key for key, _ in groups}) == 58
    assert sum(rows.num_rows for _, rows in groups) == 365_558


def test_fingerprints_tell_data_apart(tmp_path):
    table = series_table(KEYS["strings"])
    question = ask("key0")
    for way in ("pandas", "lazy polars", "pyarrow", "record batch reader", "DuckDB", "Dask"):
        convert = WAYS[way][1]
        first = open_source(convert(table, tmp_path), question).fingerprint()
        again = open_source(convert(table, tmp_path), question).fingerprint()
        fewer = open_source(convert(table.slice(1), tmp_path), question).fingerprint()
        moved = table.take(pa.array([*range(5, table.num_rows), *range(5)]))
        other = open_source(convert(moved, tmp_path), question).fingerprint()
        flipped = table.set_column(4, "a", pa.array([-x for x in table["a"].to_pylist()]))
        changed = open_source(convert(flipped, tmp_path), question).fingerprint()
        unread = table.set_column(2, "unused", pa.array(["y"] * table.num_rows))
        assert first == again == open_source(convert(unread, tmp_path), question).fingerprint()
        assert len({first, fewer, other, changed}) == 4
    path = _parquet(table, tmp_path)
    before = open_source(path, question).fingerprint()
    assert before == open_source(str(path), question).fingerprint()
    _parquet(table.slice(1), tmp_path)
    assert open_source(path, question).fingerprint() != before

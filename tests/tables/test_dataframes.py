"""Dataframes beyond the usual ones, and columns that cannot be read."""

import pickle
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.tables.sources import _from_any
from tests.tables.series_tables import (
    KEYS,
    ask,
    expected_groups,
    key_names,
    read_groups,
    series_table,
)
from tests.tables.test_parquet_units import all_copied
from tests.tables.unit_sizes import open_source, sizes

TABLE = series_table(KEYS["strings"])


def dask_frame(table, partitions):
    """Import Dask where it is needed: it takes long, and tests are collected by many processes."""
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return pytest.importorskip("dask.dataframe").from_pandas(
        frame, npartitions=partitions, sort=False
    )


@pytest.mark.parametrize("data", [TABLE, pl.from_arrow(TABLE).lazy()], ids=["eager", "lazy"])
def test_narwhals_reads_what_it_knows(data):
    units = open_source(_from_any(data, ask("key0")), ask("key0")).units()
    assert read_groups(units) == expected_groups(TABLE, ["key0"])


@pytest.mark.parametrize(
    ("native", "kind"), [(TABLE.to_pandas(), "pandas"), (pl.from_arrow(TABLE), "polars")]
)
def test_a_frame_of_narwhals_is_what_it_wraps(native, kind):
    source = open_source(nw.from_native(native), ask("key0"))
    assert source.kind == kind
    assert read_groups(source.units()) == expected_groups(TABLE, ["key0"])


def test_a_pandas_column_of_mixed_values_is_named():
    frame = pd.DataFrame({"label": [0, "yes"], "t": [0, 1], "a": [0.5, 0.5], "b": [0.5, 0.5]})
    with pytest.raises(InputError, match=r"column 'label' of `data` to hold values of one kind"):
        open_source(frame, ask(()))


def test_a_missing_key_of_pandas_is_none():
    frame = TABLE.to_pandas().assign(key0=[1.0] * 5 + [np.nan] * 11)
    [unit] = open_source(frame, ask("key0")).units()
    assert [(key, rows.num_rows) for key, rows in unit.groups()] == [((1.0,), 5), ((None,), 11)]


def test_what_is_no_table_is_refused_by_name():
    for column in (
        TABLE.to_pandas()["a"],
        pl.from_arrow(TABLE)["a"],
        TABLE["a"],
        TABLE["a"].chunk(0),
        dask_frame(TABLE, 2)["a"],
        nw.from_native(TABLE.to_pandas())["a"],
        TABLE.to_pandas().groupby("key0"),
    ):
        wrapped = type(column).__module__.startswith("narwhals")
        named = "Series" if wrapped else type(column).__name__
        match = f"Expected `data` to be a dataframe.*, got {named}"
        with pytest.raises(InputTypeError, match=match):
            open_source(column, ask("key0"))


def test_a_connection_is_no_table():
    with duckdb.connect() as connection, pytest.raises(InputTypeError, match="got DuckDBPyConn"):
        open_source(connection, ask("key0"))


def test_categories_that_no_row_has_are_no_series():
    frame = TABLE.to_pandas()
    kinds = pd.CategoricalDtype(["pump", "fan", "valve", "", "unobserved"])
    [unit] = open_source(frame.astype({"key0": kinds}), ask("key0")).units()
    assert [key for key, _ in unit.groups()] == KEYS["strings"]


def test_columns_that_share_a_name_are_refused():
    doubled = pa.Table.from_arrays(
        [TABLE["key0"], *TABLE.columns], names=["key0", *TABLE.column_names]
    )
    with pytest.raises(InputError, match="got 'key0', which 2 columns are called"):
        open_source(doubled, ask("key0"))


def test_a_stream_that_is_no_table_of_columns_by_that_name():
    reader = TABLE.drop_columns(["label"]).to_reader()
    with pytest.raises(InputError, match="Expected `truth` to name a column of `data`"):
        open_source(reader, ask("key0"))


ON_DISK = sizes(smallest=20, largest=40, held=30)
STREAMS = {
    "reader": lambda table: table.to_reader(max_chunksize=3),
    # Not DuckDB's own function: what a module holds of those is listed as leaked at the end.
    "DuckDB": lambda table: duckdb.connect().from_arrow(table),
    "lazy polars": lambda table: pl.from_arrow(table).lazy(),
    "Dask": lambda table: dask_frame(table, 6),
}


@pytest.mark.parametrize(
    ("keys", "stream"),
    [(keys, "reader") for keys in KEYS]
    + [(keys, stream) for keys in ("dates", "with a null") for stream in list(STREAMS)[1:]],
)
def test_on_disk_as_in_memory(keys, stream):
    by = key_names(KEYS[keys])
    table = series_table(KEYS[keys])
    source = open_source(STREAMS[stream](table), ask(by), size=ON_DISK)
    units = source.units()
    assert len(units) > 1
    assert all_copied(units)
    assert read_groups(units) == expected_groups(table, by)


def test_the_file_goes_with_the_last_unit():
    table = series_table(KEYS["strings"])
    source = open_source(STREAMS["reader"](table), ask("key0"), size=ON_DISK)
    units = source.units()
    path = Path(units[0].parts[0][0].file.path)
    del source
    assert path.exists()
    del units[1:]
    assert path.exists()
    units.clear()
    assert not path.parent.exists()


def test_row_groups_do_not_depend_on_how_the_rows_came():
    table = series_table(KEYS["strings"])
    fingerprints, rows = set(), set()
    for chunk in (1, 3, 7):
        source = open_source(table.to_reader(max_chunksize=chunk), ask("key0"), size=ON_DISK)
        fingerprints.add(source.fingerprint())
        rows.add(tuple(unit.rows for unit in source.units()))
    assert len(fingerprints) == len(rows) == 1
    moved = table.take(pa.array([*range(1, table.num_rows), 0]))
    other = open_source(moved.to_reader(max_chunksize=3), ask("key0"), size=ON_DISK)
    assert other.fingerprint() not in fingerprints
    place = table.column_names.index("a")
    flipped = table.set_column(place, "a", pa.array([-x for x in table["a"].to_pylist()]))
    changed = open_source(flipped.to_reader(max_chunksize=3), ask("key0"), size=ON_DISK)
    assert changed.fingerprint() not in fingerprints


def test_a_copy_that_a_worker_cannot_see_is_named_in_one_line():
    table = series_table(KEYS["strings"])
    units = open_source(table.to_reader(), ask("key0"), size=ON_DISK).units()
    elsewhere = pickle.loads(pickle.dumps(units[0]))  # noqa: S301 - pickled here
    path = elsewhere.parts[0][0].file.path
    units.clear()
    with pytest.raises(InputError, match="got no such file on ") as got:
        list(elsewhere.groups())
    [line] = str(got.value).splitlines()
    assert f"the temporary copy of the rows, {path}, to be on a disk that every worker" in line
    assert "TMPDIR" in line


def test_partitions_that_disagree_are_refused():
    first = pd.DataFrame({"label": [0], "t": [0], "a": [0.5], "b": [0.5]})
    second = first.assign(label=["yes"])
    delayed = pytest.importorskip("dask").delayed
    frame = pytest.importorskip("dask.dataframe").from_delayed(
        [delayed(first), delayed(second)], meta=first, verify_meta=False
    )
    with pytest.raises(InputError, match=r"parts of `data` to have one schema, got"):
        open_source(frame, ask(()))


@pytest.mark.parametrize("cell", [10**30, "\ud800"])
def test_cells_that_arrow_cannot_hold_are_refused_with_their_column(cell):
    cells = pd.Series([cell, cell], dtype=object)
    frame = pd.DataFrame({"label": [0, 1], "t": [0, 1], "a": cells, "b": [0.5, 0.5]})
    with pytest.raises(InputError, match="Expected column 'a' of `data` to hold"):
        open_source(frame, ask([]))

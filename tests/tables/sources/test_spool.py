"""Streams that do not fit in memory go through a temporary Parquet file."""

import pickle
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from closecall.errors import InputError
from closecall.tables.sources import open_source
from closecall.tables.sources.unit import UnitSize

from .tables import KEYS, ask, expected_groups, key_names, read_groups, series_table

dask = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed

ON_DISK = UnitSize(smallest=20, largest=40, held=30)
STREAMS = {
    "reader": lambda table: table.to_reader(max_chunksize=3),
    "DuckDB": duckdb.from_arrow,
    "lazy polars": lambda table: pl.from_arrow(table).lazy(),
    "Dask": lambda table: dask.from_pandas(
        table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=6, sort=False
    ),
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_on_disk_as_in_memory(keys, stream):
    by = key_names(keys)
    table = series_table(keys)
    source = open_source(stream(table), ask(by), size=ON_DISK)
    units = source.units()
    assert len(units) > 1
    assert all(unit.temporary for unit in units)
    assert read_groups(units) == expected_groups(table, by)


def test_the_file_goes_with_the_last_unit():
    table = series_table(KEYS["strings"])
    source = open_source(STREAMS["reader"](table), ask("key0"), size=ON_DISK)
    units = source.units()
    path = Path(units[0].stretches[0].file.path)
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
        fingerprints.add(source.fingerprint)
        rows.add(tuple(unit.rows for unit in source.units()))
    assert len(fingerprints) == len(rows) == 1
    moved = table.take(pa.array([*range(1, table.num_rows), 0]))
    other = open_source(moved.to_reader(max_chunksize=3), ask("key0"), size=ON_DISK)
    assert other.fingerprint not in fingerprints
    place = table.column_names.index("a")
    flipped = table.set_column(place, "a", pa.array([-x for x in table["a"].to_pylist()]))
    changed = open_source(flipped.to_reader(max_chunksize=3), ask("key0"), size=ON_DISK)
    assert changed.fingerprint not in fingerprints


def test_a_copy_that_a_worker_cannot_see_is_named_in_one_line():
    table = series_table(KEYS["strings"])
    units = open_source(table.to_reader(), ask("key0"), size=ON_DISK).units()
    elsewhere = pickle.loads(pickle.dumps(units[0]))  # noqa: S301 - pickled here
    path = elsewhere.stretches[0].file.path
    units.clear()
    with pytest.raises(InputError, match="got no such file on ") as got:
        list(elsewhere.groups())
    [line] = str(got.value).splitlines()
    assert f"the temporary copy of the rows, {path}, to be on a disk that every worker" in line
    assert "TMPDIR" in line


def test_partitions_that_disagree_are_refused():
    first = pd.DataFrame({"label": [0], "t": [0], "a": [0.5], "b": [0.5]})
    second = first.assign(label=["yes"])
    frame = dask.from_delayed(
        [delayed(first), delayed(second)],
        meta=first,
        verify_meta=False,
    )
    with pytest.raises(InputError, match=r"parts of `data` to have one schema, got"):
        open_source(frame, ask(()))

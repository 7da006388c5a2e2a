"""Units of tables in memory: their size, and what travels with them."""

import math
import multiprocessing
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closecall.errors import InputError
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.journal import Journal
from closecall.tables.grouping import group
from closecall.tables.units import TemporaryFolder, _remove
from tests.tables.series_tables import ask, expected_groups, read_groups, series_table
from tests.tables.unit_sizes import open_source, sizes


def test_units_end_where_series_do():
    table = series_table([(n,) for n in range(6)], (3, 3, 3, 9, 1, 1))
    units = open_source(table, ask("key0"), size=sizes(smallest=5 * 5)).units()
    assert [unit.rows for unit in units] == [6, 12, 2]
    assert [unit.key for unit in units] == ["rows 0-6", "rows 6-18", "rows 18-20"]


def test_only_its_own_rows_travel():
    table = series_table([(n,) for n in range(20)], (500,) * 20)
    keys = pa.array([f"{'a long name ' * 30}of series {n}" for n in table["key0"].to_pylist()])
    table = table.set_column(0, "key0", keys.dictionary_encode())
    units = open_source(table, ask("key0"), size=sizes(smallest=2500)).units()
    assert len(units) == 20
    # Four columns of eight bytes, codes of four, and one name instead of twenty.
    assert max(len(pickle.dumps(unit)) for unit in units) < 500 * (4 * 8 + 4) + 2500
    travelled = pickle.loads(pickle.dumps(units))  # noqa: S301 - pickled here
    assert read_groups(travelled) == expected_groups(table, ["key0"])


def test_content_is_hashed_only_when_it_is_asked_for(monkeypatch):
    hashed = []

    def count(tables):
        hashed.extend(table.column_names for table in tables)
        return "digest"

    monkeypatch.setattr("closecall.tables.units.content_digest", count)
    source = open_source(series_table([(1,), (2,)], (10, 10)), ask("key0"))
    read_groups(source.units())
    assert hashed == []
    assert source.fingerprint() == "arrow:digest"
    assert hashed == [["key0", "t", "label", "a", "b"]]


def test_a_batch_does_not_go_on_with_other_scores(tmp_path, monkeypatch):
    table = series_table([(1,), (2,)], (10, 10))
    other = table.set_column(4, "a", pa.array(np.arange(20) / 8))
    asked = {"by": "key0", "truth": "label", "score": "a", "out": tmp_path / "out.parquet"}

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "complete", stop)
        with pytest.raises(KeyboardInterrupt):
            evaluate_frame(table, **asked)
    with pytest.raises(InputError, match="got other data"):
        evaluate_frame(other, **asked, resume=True)
    halves = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    assert evaluate_frame(halves, **asked, resume=True).table.num_rows == 2


def test_groups_are_in_one_piece_whatever_the_chunks():
    table = pa.concat_tables([series_table([(n // 2,)], (1,)) for n in range(20)])
    [unit] = open_source(table, ask("key0")).units()
    assert {rows["a"].num_chunks for _, rows in unit.groups()} == {1}


def test_groups_share_the_memory_of_the_table():
    table = series_table([(1,), (2,)], (10, 10)).combine_chunks()
    before = pa.total_allocated_bytes()
    units = open_source(table, ask("key0")).units()
    held = [rows for unit in units for _, rows in unit.groups()]
    assert len(held) == 2
    assert np.shares_memory(held[1]["a"].to_numpy(), table["a"].to_numpy())
    assert pa.total_allocated_bytes() - before < table.nbytes


KEY_TYPES = {
    "integers": pa.int16(),
    "text": pa.string(),
    "long text": pa.large_string(),
    "views": pa.string_view(),
    "categories": pa.dictionary(pa.int8(), pa.string()),
    "times": pa.timestamp("us"),
    "fractions": pa.float64(),
    "booleans": pa.bool_(),
}


def column(codes, kind):
    """Make keys of numbers: 0 is a null."""
    if pa.types.is_boolean(kind):
        values = [None if code == 0 else code % 2 == 0 for code in codes]
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = [None if code == 0 else code for code in codes]
    elif pa.types.is_timestamp(kind):
        values = [None if code == 0 else np.datetime64(code, "us").item() for code in codes]
    else:
        values = [None if code == 0 else f"s{code}" for code in codes]
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode().cast(kind)
    return pa.array(values, kind)


@pytest.mark.parametrize("kind", KEY_TYPES.values(), ids=KEY_TYPES)
@settings(max_examples=40)
@given(
    codes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=30),
    chunks=st.integers(1, 3),
)
def test_the_same_as_row_by_row(kind, codes, chunks):
    first, second = ([code[place] for code in codes] for place in (0, 1))
    parts = np.array_split(np.arange(len(codes)), chunks)
    table = pa.table(
        {
            "key": pa.chunked_array(
                [column([first[i] for i in part], kind) for part in parts], kind
            ),
            "other": second,
            "row": np.arange(len(codes)),
        }
    )
    wanted = {}
    for row in table.to_pylist():
        wanted.setdefault((row["key"], row["other"]), []).append(row["row"])
    found = [(key, rows["row"].to_pylist()) for key, rows in group(table, ["key", "other"])]
    assert found == list(wanted.items())


def test_rows_that_lie_together_are_not_copied():
    table = pa.table({"key": [1, 1, 2], "x": np.arange(3.0)})
    address = table["x"].chunk(0).buffers()[1].address
    for _, rows in group(table, ["key"]):
        assert rows["x"].chunk(0).buffers()[1].address == address


def test_nan_is_one_key():
    table = pa.table({"key": [math.nan, 1.0, math.nan, math.nan], "row": range(4)})
    (nan, rows), (one, others) = group(table, ["key"])
    assert math.isnan(nan[0])
    assert one == (1.0,)
    assert (rows["row"].to_pylist(), others["row"].to_pylist()) == ([0, 2, 3], [1])


def test_dictionaries_that_differ_between_chunks():
    chunks = [pa.array(values).dictionary_encode() for values in (["b", "a"], ["a", "b", "c"])]
    table = pa.table({"key": pa.chunked_array(chunks), "row": range(5)})
    found = [(key, rows["row"].to_pylist()) for key, rows in group(table, ["key"])]
    assert found == [(("b",), [0, 3]), (("a",), [1, 2]), (("c",), [4])]


def test_times_in_nanoseconds_are_python_times_where_they_can_be():
    stamps = np.array(["2024-01-01T00:00:00.000001", "2024-01-02"], dtype="datetime64[ns]")
    (first, _), (second, _) = group(pa.table({"key": stamps}), ["key"])
    assert type(first[0]).__name__ == type(second[0]).__name__ == "datetime"
    assert first[0].microsecond == 1


def test_nanoseconds_that_python_cannot_hold_stay_apart():
    stamps = np.array([1, 2, 1], dtype="datetime64[ns]")
    grouped = list(group(pa.table({"key": stamps}), ["key"]))
    assert [(key[0].nanosecond, rows.num_rows) for key, rows in grouped] == [(1, 2), (2, 1)]


def test_more_keys_than_short_numbers_count():
    keys = np.concatenate([np.arange(70_000), np.arange(70_000)])
    grouped = list(group(pa.table({"key": keys, "row": np.arange(140_000)}), ["key"]))
    assert len(grouped) == 70_000
    key, rows = grouped[66_000]
    assert (key, rows["row"].to_pylist()) == ((66_000,), [66_000, 136_000])


def test_the_folder_goes_with_the_object():
    folder = TemporaryFolder()
    path = folder.path
    (path / "rows.parquet").write_bytes(b"rows")
    assert path.is_dir()
    del folder
    assert not path.exists()


def test_another_process_leaves_it_alone():
    folder = TemporaryFolder()
    _remove(folder.path, multiprocessing.current_process().pid + 1)
    assert folder.path.is_dir()

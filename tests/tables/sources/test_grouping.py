"""Grouping: runs of equal keys, and the sort that brings them together."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.tables.sources.grouping import group

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

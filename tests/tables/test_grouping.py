"""Rows by key, the same as row by row; and the hash of a table, which only equal tables share."""

import datetime as dt
import math
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closecall.tables.grouping import content_digest, group

COLUMNS = {
    "integers": pa.array([3, None, -1, 7, 0, 0, None], pa.int16()),
    "fractions": pa.array([0.5, float("nan"), None, -0.25, 1e300, 0.0, 2.0]),
    "booleans": pa.array([True, False, None, True, True, False, False]),
    "text": pa.array(["pump", "", None, "Lüfter", "a", "b", "ab"]),
    "long text": pa.array(["pump", "", None, "Lüfter", "a", "b", "ab"], pa.large_string()),
    "views": pa.array(["pump", "", None, "a text that is too long", "a", "b", "c"]).cast(
        pa.string_view()
    ),
    "categories": pa.array(["b", "a", None, "b", "a", "c", "c"]).dictionary_encode(),
    "bytes": pa.array([b"x", b"", None, b"\0", b"yz", b"y", b"z"]),
    "times": pa.array(
        [dt.datetime(2024, 1, day, tzinfo=dt.UTC) for day in range(1, 8)], pa.timestamp("ms", "UTC")
    ),
    "decimals": pa.array([Decimal(n) for n in range(7)], pa.decimal128(5, 1)),
    "nothing": pa.nulls(7),
    "lists": pa.array([[1], [], None, [1, 2], [3], [4], [5]]),
}


def digest_of(table):
    return content_digest([table])


@given(cuts=st.lists(st.integers(0, 7), max_size=4), before=st.integers(0, 3))
def test_chunks_and_slices_make_no_difference(cuts, before):
    wanted = digest_of(pa.table(COLUMNS))
    # The rows before and after are sliced off again, so that buffers begin and end elsewhere.
    padded = pa.table(
        {
            name: pa.concat_arrays([column.slice(0, before), column, column]).slice(before, 7)
            for name, column in COLUMNS.items()
        }
    )
    parts = [padded.slice(a, b - a) for a, b in pairwise([0, *sorted(cuts), 7])]
    assert digest_of(pa.concat_tables(parts)) == wanted
    assert content_digest(iter(parts)) == wanted


def typed(values, kind):
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    return pa.array(values, kind)


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_every_change_of_a_value_is_seen(column):
    original = column.to_pylist()
    lists = []
    for place, other in ((0, 3), (2, 3), (3, 2), (6, 4)):
        values = list(original)
        values[place] = original[other]
        lists.append(values)
    distinct = {repr(values): values for values in (original, *lists)}
    digests = {
        digest_of(pa.table({"x": typed(values, column.type)})) for values in distinct.values()
    }
    assert len(digests) == len(distinct)
    assert digest_of(pa.table({"x": column})) in digests
    assert digest_of(pa.table({"x": column.slice(0, 6)})) not in digests
    assert digest_of(pa.table({"y": column})) not in digests


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["ab", "c"], ["a", "bc"]),
        ([None, 1, 1], [1, None, 1]),
        (["", None], [None, ""]),
        ([1, 2], [1.0, 2.0]),
        (pa.array([1], pa.int32()), pa.array([1], pa.int64())),
        ([0.5, None], [0.5, float("nan")]),
        ([1, 2], [2, 1]),
        ([], pa.nulls(1)),
    ],
)
def test_what_is_almost_the_same(one, other):
    assert digest_of(pa.table({"x": one})) != digest_of(pa.table({"x": other}))


def test_values_may_not_change_columns():
    first = pa.table({"x": [1, 2], "y": [3, 4]})
    second = pa.table({"x": [3, 4], "y": [1, 2]})
    assert digest_of(first) != digest_of(second)


def test_what_lies_under_a_null_means_nothing():
    valid = pa.array([True, False]).buffers()[1]
    arrays = [
        pa.Array.from_buffers(pa.int64(), 2, [valid, pa.py_buffer(np.array([1, hidden]))])
        for hidden in (7, 8)
    ]
    assert arrays[0].equals(arrays[1])
    assert len({digest_of(pa.table({"x": array})) for array in arrays}) == 1


def test_codes_make_no_difference_to_categories():
    values = pa.array(["b", "a", "b"])
    turned = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["a", "b", "unused"]))
    digests = {digest_of(pa.table({"x": x})) for x in (values.dictionary_encode(), turned)}
    assert digests == {digest_of(pa.table({"x": values}))}


def test_columns_longer_than_a_block():
    rows = 2**18 + 5
    text = pa.array(np.arange(rows)).cast(pa.string())
    assert digest_of(pa.table({"x": text})) == digest_of(
        pa.table({"x": pa.chunked_array([text.slice(0, 9), text.slice(9)])})
    )
    swapped = pa.chunked_array(
        [text.slice(0, rows - 2), text.slice(rows - 1), text.slice(rows - 2, 1)]
    )
    assert digest_of(pa.table({"x": swapped})) != digest_of(pa.table({"x": text}))


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

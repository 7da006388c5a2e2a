"""The hash of a table's content: equal for equal tables, and for no others."""

import datetime as dt
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.tables.grouping import content_digest

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

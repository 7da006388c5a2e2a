"""What footers tell of the keys of a row group, and what they do not."""

import datetime as dt
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.tables.sources.bounds import Bounds, ColumnRange, column_range, place


def written_range(tmp_path, values, **options):
    table = pa.table({"key": values})
    pq.write_table(table, tmp_path / "x.parquet", **options)
    metadata = pq.read_metadata(tmp_path / "x.parquet")
    return column_range(metadata.row_group(0), 0, table.schema.field("key").type)


@pytest.mark.parametrize(
    ("values", "lower", "upper"),
    [
        ([3, 1, 2], 1, 3),
        (["b", "a"], "a", "b"),
        ([True, False], False, True),
        ([dt.date(2024, 1, 2), dt.date(2024, 1, 1)], dt.date(2024, 1, 1), dt.date(2024, 1, 2)),
        ([3, None, 1], 1, None),
        (pa.array([None, None], pa.string()), None, None),
    ],
)
def test_ranges_of_statistics(tmp_path, values, lower, upper):
    assert written_range(tmp_path, values) == ColumnRange(place(lower), place(upper))


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([1.0, math.nan], {}),  # statistics leave nan out
        (pa.array([1, 2], pa.timestamp("ns")), {}),  # Python's times are coarser
        ([1, 2], {"write_statistics": False}),
    ],
)
def test_no_range_where_statistics_may_mislead(tmp_path, values, options):
    assert written_range(tmp_path, values, **options) is None


def test_nothing_is_known_of_a_column_that_is_not_there(tmp_path):
    pq.write_table(pa.table({"key": [1]}), tmp_path / "x.parquet")
    row_group = pq.read_metadata(tmp_path / "x.parquet").row_group(0)
    assert column_range(row_group, None, pa.int64()) is None


def test_order_of_values():
    values = [place(value) for value in (None, math.nan, math.inf, 0.0, -math.inf)]
    assert sorted(values) == values[::-1]


def test_unknown_columns_widen_what_follows():
    one, other = ColumnRange.of_one("a"), ColumnRange.of_one("b")
    known = Bounds.of_ranges([one, other])
    assert known.lower == known.upper == (place("a"), place("b"))
    unknown = Bounds.of_ranges([one, None, other])
    assert unknown.lower < (place("a"), place("x"), place("b")) < unknown.upper
    assert unknown.lower < (place("a"), place(None), place(None)) < unknown.upper

"""Columns of any make come in as the same array, with their time zone."""

from array import array
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import closecall as cc
from closecall.columns import read_column, time_zone
from closecall.errors import InputError, InputTypeError
from tests.messages import message

VALUES = [3, 1, 2]


@pytest.mark.parametrize(
    "column",
    [
        VALUES,
        tuple(VALUES),
        np.array(VALUES),
        np.array([3, 9, 1, 9, 2, 9])[::2],
        np.array(VALUES[::-1])[::-1],
        np.array([[3, 0], [1, 0], [2, 0]])[:, 0],
        np.ma.MaskedArray(VALUES),
        pd.Series(VALUES, index=[7, 7, 8]),
        pd.Series(VALUES, dtype="Int64"),
        pd.Series(VALUES, dtype="int64[pyarrow]"),
        pd.Series(VALUES).array,
        pd.Index(VALUES),
        pl.Series(VALUES),
        pa.array(VALUES),
        pa.chunked_array([[3], [], [1, 2]]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_every_make(column):
    array, zone = read_column(column, "truth")
    assert zone is None
    assert array.dtype.kind == "i"
    assert array.tolist() == VALUES


@pytest.mark.parametrize(
    "kind",
    [
        *("int8", "uint16", "uint64", "float16", "float32", "float64", "bool", "date32"),
        *("timestamp[s]", "timestamp[ns]", "duration[us]"),
    ],
)
def test_every_kind_of_arrow_column_as_its_own_conversion_gives_it(kind):
    base = {"float16": "f2", "date32": "i4"}.get(kind, "i8")
    whole = pa.array(np.array([1, 0, 1, 1], base)).cast(pa.type_for_alias(kind))
    column = pa.chunked_array([whole.slice(1), whole.slice(0, 0), whole.slice(2, 1)])
    read, _ = read_column(column, "truth")
    expected = column.to_numpy()
    assert read.dtype == (np.dtype("M8[ms]") if kind == "timestamp[s]" else expected.dtype)
    assert (read == expected).all()
    assert read.flags.writeable


def test_range():
    assert read_column(range(2, 8, 3), "times")[0].tolist() == [2, 5]


@pytest.mark.parametrize(
    ("column", "shape"),
    [
        ([(1, 2), (3, 4)], "(2, 2)"),
        (np.zeros((2, 1)), "(2, 1)"),
        (np.array(1), "()"),
        (pd.DataFrame({"a": [0, 1], "b": [1, 1], "c": [0, 0]}), "(2, 3)"),
        (pl.DataFrame({"a": [0, 1], "b": [1, 1], "c": [0, 0]}), "(2, 3)"),
    ],
    ids=["intervals", "matrix", "scalar", "pandas", "polars"],
)
def test_more_or_less_than_one_column(column, shape):
    assert message(InputTypeError, read_column, column, "truth") == (
        f"Expected `truth` to be one-dimensional, got an array of shape {shape}.\n\n"
        "Hint: Pass one column. Intervals go in `closecall.Events([(start, stop), ...])`."
    )


def test_a_table_of_arrow_is_not_a_column():
    table = pa.table({"a": [0, 1], "b": [1, 1]})
    assert "`truth`" in message(InputTypeError, read_column, table, "truth")


@pytest.mark.parametrize(
    ("column", "kind"),
    [(None, "NoneType"), ("0110", "str"), (7, "int"), ({0, 1}, "set"), (iter([0, 1]), "iterator")],
)
def test_not_a_column(column, kind):
    text = message(InputTypeError, read_column, column, "truth")
    assert text.startswith("Expected `truth` to be a column of values, got ")
    assert kind in text
    assert text.endswith(
        "\n\nHint: Pass a list, a numpy array, or a pandas, polars or pyarrow column."
    )


def test_an_array_of_the_standard_library_is_read_or_refused_by_name():
    try:
        found = read_column(array("b", VALUES), "truth")[0].tolist()
    except InputTypeError as error:
        assert "array" in str(error)  # noqa: PT017 - either answer is right
    else:
        assert found == VALUES


def test_ragged():
    text = message(InputTypeError, read_column, [[1, 2], [3]], "truth")
    assert text.startswith("Expected `truth` to be one flat column, got a sequence numpy cannot")


MISSING = (
    "Expected `{}` to have no missing values, got one (nan, NaT or null) at index 1.\n\n"
    "Hint: Drop or fill those rows first."
)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([0, None, 1]),
        pd.Series([0, None, 1], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([0, None, 1], dtype="int64[pyarrow]"),
        pd.Series(pd.to_datetime(["2024-01-01", None])),
        pd.DatetimeIndex(["2024-01-01", None], tz="Europe/Paris"),
        pl.Series([0, None, 1]),
        pl.Series([True, None]),
        pl.Series([datetime(2024, 1, 1, tzinfo=UTC), None]),
        pa.chunked_array([[0], [None, 1]]),
        pa.array([0, None, 1]),
        pa.array([True, None, False]),
        pa.array([datetime(2024, 1, 1, tzinfo=UTC), None]),
        np.ma.MaskedArray([0, 5, 1], mask=[False, True, False]),
    ],
    ids=lambda column: (
        f"{type(column).__module__}-{column.dtype if hasattr(column, 'dtype') else column.type}"
    ),
)
def test_missing_value(column):
    assert message(InputError, read_column, column, "times") == MISSING.format("times")


PARIS = ZoneInfo("Europe/Paris")
NOON = datetime(2024, 7, 1, 12, tzinfo=PARIS)
NOON_UTC = np.datetime64("2024-07-01T10:00:00")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(
    "build",
    [
        pd.Series([NOON]).dt.as_unit,
        pd.DatetimeIndex([NOON]).as_unit,
        lambda unit: pd.Series([NOON]).astype(f"timestamp[{unit}, tz=Europe/Paris][pyarrow]"),
        lambda unit: pa.chunked_array([pa.array([NOON], pa.timestamp(unit, "Europe/Paris"))]),
        lambda unit: pa.array([NOON], pa.timestamp(unit, "Europe/Paris")),
        lambda unit: pl.Series([NOON]).cast(
            pl.Datetime(unit if unit != "s" else "ms", "Europe/Paris")
        ),
    ],
    ids=["pandas", "index", "pandas-arrow", "chunked", "array", "polars"],
)
def test_zoned_times_come_in_utc_with_their_zone(build, unit):
    stamps, zone = read_column(build(unit), "times")
    assert stamps[0] == NOON_UTC
    assert zone is not None
    assert NOON_UTC.astype("datetime64[us]").item().replace(tzinfo=UTC).astimezone(zone) == NOON
    assert str(zone) == "Europe/Paris"


@pytest.mark.parametrize(
    ("offset", "minutes"), [("+02:00", 120), ("-03:30", -210), ("+00:00", 0), ("+05:45", 345)]
)
def test_fixed_offsets_of_arrow(offset, minutes):
    column = pa.chunked_array([pa.array([NOON], pa.timestamp("us", offset))])
    stamps, zone = read_column(column, "times")
    assert stamps[0] == NOON_UTC
    assert zone.utcoffset(None) == timedelta(minutes=minutes)


@pytest.mark.parametrize("name", [None, "CEST"])
def test_fixed_offsets_of_pandas(name):
    offset = timedelta(hours=2)
    zone = timezone(offset, name) if name else timezone(offset)
    stamps, found = read_column(pd.Series([NOON]).dt.tz_convert(zone), "times")
    assert stamps[0] == NOON_UTC
    assert found.utcoffset(None) == offset


def test_times_before_the_epoch_are_not_rounded():
    for unit in ("s", "ms", "us", "ns"):
        before = np.array([-1001, -1, 1], dtype=f"datetime64[{unit}]")
        stamps, _ = read_column(pd.Series(before), "times")
        np.testing.assert_array_equal(stamps, before)


@pytest.mark.parametrize("name", ["Europe/Paris", "UTC", "America/St_Johns"])
def test_named_zone(name):
    assert time_zone(name) == ZoneInfo(name)


@pytest.mark.parametrize("name", ["+02:00", "UTC+02:00"])
def test_zone_by_offset(name):
    assert time_zone(name) == timezone(timedelta(hours=2))


def test_unknown_zone():
    assert message(InputError, time_zone, "Mars/Olympus") == (
        "Expected a known time zone, got 'Mars/Olympus'.\n\n"
        "Hint: Convert the times to UTC, or install tzdata."
    )


TRUTH, ALARMS = [0, 0, 1, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1, 0, 0, 1]
STAMPS = pd.date_range("2024-01-01", periods=8, freq="h")
TABLE = pd.DataFrame({"truth": TRUTH, "alarm": ALARMS, "score": np.arange(8.0)}, index=STAMPS)
CALLS = {
    "affiliation": lambda t, **axis: cc.affiliation(t["truth"], t["alarm"], **axis),
    "curve": lambda t, **axis: cc.affiliation_curve(t["truth"], t["score"], **axis),
    "scorer": lambda t: cc.affiliation_f1_score(t["truth"], t["alarm"]),
    "metric": lambda t, **axis: cc.metrics.classical(t["truth"], t["alarm"], **axis),
    "evaluate": lambda t, **axis: cc.evaluate(t["truth"], t["alarm"], **axis),
    "compare": lambda t, **axis: cc.compare(
        t["truth"], {"alarm": t["alarm"]}, scores={"score": t["score"]}, **axis
    ),
    "stream": lambda t, **axis: cc.AffiliationStream().update(t["truth"], t["alarm"], **axis),
    "events": lambda t, **axis: cc.Events.from_labels(t["alarm"], **axis),
    "report": lambda t, **axis: cc.report_batch(
        {"a": {"truth": t["truth"], "scores": t["score"], **axis}}, script="cdn"
    ),
}


@pytest.mark.parametrize("call", [CALLS[name] for name in CALLS if name != "events"])
def test_columns_with_different_indexes_are_refused(call):
    columns = {
        "truth": TABLE["truth"],
        "alarm": TABLE["alarm"][::-1],
        "score": TABLE["score"][::-1],
    }
    with pytest.raises(InputError, match=r"to have the index of `truth`, got .* at index 0"):
        call(columns)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_columns_in_another_order_than_their_index_are_refused(call):
    shuffled = TABLE.iloc[[0, 1, 5, 3, 4, 2, 6, 7]]
    rule = "to be in the order of its index, got .* after .* at index 3"
    with pytest.raises(InputError, match=rule) as caught:
        call(shuffled)
    assert "`sort_index()`" in caught.value.hint
    call(shuffled.sort_index())
    call(shuffled.reset_index(drop=True))


@pytest.mark.parametrize("name", [name for name in CALLS if name != "scorer"])
def test_times_say_the_order_and_not_the_index(name):
    mixed = TABLE.assign(t=STAMPS.to_numpy()).set_axis([3, 1, 2, 0, 5, 4, 7, 6])
    CALLS[name](mixed, times=mixed["t"])


def test_a_column_goes_with_an_array_and_with_another_type_of_the_same_index():
    truth, alarm = TABLE["truth"], TABLE["alarm"]
    expected = cc.affiliation(TRUTH, ALARMS).f1
    same = pd.Series(ALARMS, index=pd.Index(STAMPS.to_list(), dtype=object))
    plain = pd.Series(TRUTH), pd.Series(ALARMS, index=[0.0, 1, 2, 3, 4, 5, 6, 7])
    for pair in ((truth, ALARMS), (np.array(TRUTH), alarm), (pd.Series(TRUTH), ALARMS), plain):
        assert cc.affiliation(*pair).f1 == expected
    assert cc.affiliation(truth, same).f1 == expected
    repeated = pd.Series(TRUTH, index=[0, 0, 1, 1, 2, 2, 3, 3])
    assert cc.affiliation(repeated, ALARMS).f1 == expected


MIXED = pd.Series(TRUTH, index=[0, 1, "b", 3, 4, 5, 6, 7])


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        (
            pd.Series(TRUTH),
            pd.Series(ALARMS, index=[0, 1, 2, 4, 3, 5, 6, 7]),
            "Expected `predicted` to have the index of `truth`, got 4 where `truth` has 3 at",
        ),
        (
            pd.Series(TRUTH)[::-1],
            ALARMS,
            "Expected `truth` to be in the order of its index, got 6 after 7 at index 1.",
        ),
        (MIXED, ALARMS, "Expected `truth` to be in the order of its index, got 'b' after 1 at"),
        (pd.Series(TRUTH), pd.Series(ALARMS[:4]), "Expected `predicted` to have as many labels"),
    ],
)
def test_messages_about_indexes(truth, predicted, message):
    with pytest.raises(InputError) as caught:
        cc.affiliation(truth, predicted)
    assert str(caught.value).startswith(message)

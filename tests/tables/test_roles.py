"""Columns of tables in, the library's own result out."""

from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.tables import score_files

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
PREDICTED = [0, 0, 0, 1, 1, 0, 0, 1, 0, 0]
EXPECTED = cc.affiliation(TRUTH, PREDICTED)
LABELS = pa.table({"truth": TRUTH, "predicted": PREDICTED})
STAMPS = [datetime(2024, 1, 1, 0, 5 * step) for step in range(10)]  # noqa: DTZ001 - naive on purpose


def same(result, expected=EXPECTED, signed=None):
    assert result.to_dict() == expected.to_dict() | (
        {} if signed is None else {"signature": signed}
    )


def test_one_table_with_both_columns():
    same(score_files(LABELS))


def test_one_table_with_named_columns():
    renamed = LABELS.rename_columns(["label", "alarm"])
    same(score_files(renamed, truth="label", predicted="alarm"))


def test_the_only_column_of_each_table():
    same(score_files(pa.table({"a": TRUTH}), pa.table({"a": PREDICTED})))


def test_the_only_column_beside_the_times():
    times = list(range(10))
    truth, predicted = pa.table({"t": times, "a": TRUTH}), pa.table({"b": PREDICTED})
    same(score_files(truth, predicted, time="t"))
    same(score_files(predicted, truth, time="t"), cc.affiliation(PREDICTED, TRUTH))


def test_datetimes_in_both_tables_that_agree_across_units():
    seconds = pa.array(STAMPS, pa.timestamp("s"))
    nanoseconds = pa.array(STAMPS, pa.timestamp("ns"))
    result = score_files(
        pa.table({"t": seconds, "a": TRUTH}), pa.table({"t": nanoseconds, "b": PREDICTED}), time="t"
    )
    # Seconds of Arrow are read in milliseconds; the unit is part of the data.
    coarser = cc.affiliation(TRUTH, PREDICTED, times=np.array(STAMPS, "M8[ms]"))
    same(result, cc.affiliation(TRUTH, PREDICTED, times=STAMPS), str(coarser.signature))
    assert result.to_dict()["events"][0]["delay"] == 300


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris"])
def test_time_zones_are_kept(zone):
    stamps = pa.array(STAMPS, pa.timestamp("s", tz=zone))
    rows = score_files(LABELS.append_column("t", stamps), time="t").to_dict()["events"]
    offset = {"UTC": "00:10:00+00:00", "Europe/Paris": "01:10:00+01:00"}[zone]
    assert rows[0]["start"] == f"2024-01-01T{offset}"


@pytest.mark.parametrize(
    ("texts", "start"),
    [
        ([f"2024-01-01 00:{5 * step:02}:00" for step in range(10)], "2024-01-01T00:10:00"),
        (
            [f"2024-01-01T00:{5 * step:02}:00+01:00" for step in range(10)],
            "2023-12-31T23:10:00+00:00",
        ),
    ],
)
def test_iso_text_is_read_as_times(texts, start):
    rows = score_files(LABELS.append_column("t", pa.array(texts)), time="t").to_dict()["events"]
    assert rows[0]["start"] == start


def test_dates():
    dates = pa.array(range(19723, 19733), pa.int32()).cast(pa.date32())
    rows = score_files(LABELS.append_column("t", dates), time="t").to_dict()["events"]
    assert (rows[0]["start"], rows[0]["delay"]) == ("2024-01-03T00:00:00", 86400)


def test_event_lists():
    truth = pa.table({"start": [2, 8], "stop": [4, 9]})
    predicted = pa.table({"from": [3, 7], "to": [5, 8]})
    same(score_files(truth, predicted, predicted="from,to", span=(0, 10)))
    same(score_files(truth, predicted, predicted="from, to", span=(0, 10)))


def test_points_are_one_column_named_twice():
    truth = pa.table({"start": [2, 8], "stop": [4, 9]})
    result = score_files(truth, pa.table({"at": [3, 7]}), predicted="at,at", span=(0, 10))
    expected = cc.affiliation(
        cc.Events([(2, 4), (8, 9)]), cc.Events.from_points([3, 7]), span=(0, 10)
    )
    same(result, expected)


def test_event_list_against_labels():
    truth = pa.table({"start": [STAMPS[2], STAMPS[8]], "stop": [STAMPS[4], STAMPS[9]]})
    labels = pa.table({"t": STAMPS, "alarm": PREDICTED})
    span = (STAMPS[0], datetime(2024, 1, 1, 0, 50))  # noqa: DTZ001 - naive on purpose
    found = score_files(truth, labels, time="t", span=span)
    expected = cc.affiliation(TRUTH, PREDICTED, times=STAMPS)
    same(found, expected)


def test_an_empty_event_list_predicts_nothing(tmp_path):
    (tmp_path / "truth.csv").write_text("start,stop\n2,4\n")
    (tmp_path / "alarms.csv").write_text("start,stop\n")
    result = score_files(tmp_path / "truth.csv", tmp_path / "alarms.csv", span=(0, 10))
    assert result.recall == 0
    assert result.to_dict()["precision"] is None


def test_a_column_called_with_a_comma():
    table = pa.table({"truth": TRUTH, "a,b": PREDICTED})
    same(score_files(table, predicted="a,b"))


COLUMNS = "Its columns are: truth, predicted."
REFUSED = {
    "misspelt": (
        lambda: score_files(LABELS, truth="thruth"),
        (
            "Expected `truth` to name a column of the first table, got 'thruth'.\n\n"
            f"Hint: Did you mean 'truth'? {COLUMNS}"
        ),
    ),
    "unknown": (
        lambda: score_files(LABELS, LABELS, predicted="zebra"),
        (
            "Expected `predicted` to name a column of the second table, got 'zebra'.\n\n"
            f"Hint: {COLUMNS}"
        ),
    ),
    "no name": (
        lambda: score_files(LABELS.rename_columns(["a", "b"])),
        (
            "Expected `truth` to name a column of the first table, got no name.\n\n"
            "Hint: Its columns are: a, b."
        ),
    ),
    "one table with one column": (
        lambda: score_files(pa.table({"truth": TRUTH})),
        (
            "Expected `predicted` to name a column of the first table, got no name.\n\n"
            "Hint: Its columns are: truth."
        ),
    ),
    "one event list for both sides": (
        lambda: score_files(pa.table({"start": [1], "stop": [2]}), span=(0, 3)),
        (
            "Expected `truth` to name a column of the first table, got no name.\n\n"
            "Hint: Its columns are: start, stop."
        ),
    ),
    "repeated": (
        lambda: score_files(LABELS.rename_columns(["a", "a"]), truth="a"),
        (
            "Expected `truth` to name a column of the first table, got 'a', which 2 columns are "
            "called."
        ),
    ),
    "no time column": (
        lambda: score_files(LABELS, time="t"),
        f"Expected `time` to name a column of the first table, got 't'.\n\nHint: {COLUMNS}",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_columns(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_times_that_differ():
    late = [*range(9), 10]
    with pytest.raises(
        InputError,
        match=r"the first table and the second table to agree, got 9 and 10 at index 9\.",
    ):
        score_files(
            LABELS.append_column("t", pa.array(range(10))),
            LABELS.append_column("t", pa.array(late)),
            time="t",
        )


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (pa.array(STAMPS, pa.timestamp("s", tz="UTC")), "got a time zone in only one of them"),
        (pa.array(range(10)), "got datetimes in only one of them"),
    ],
)
def test_times_of_two_kinds(other, message):
    naive = LABELS.append_column("t", pa.array(STAMPS, pa.timestamp("s")))
    with pytest.raises(InputError, match=message):
        score_files(naive, LABELS.append_column("t", other), time="t")


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (
            pa.array(["2024-03-01"] * 8 + ["03/01/2024"] * 2),
            "hold numbers or ISO times, got '03/01/2024' at index 8",
        ),
        (pa.array([0] * 10, pa.time32("s")), "got times of day without a date"),
    ],
)
def test_times_that_are_none(times, message):
    with pytest.raises(InputTypeError, match=message):
        score_files(LABELS.append_column("t", times), time="t")


def test_lengths_that_differ():
    with pytest.raises(InputError, match=r"as many values as `truth` \(10\), got 9"):
        score_files(
            LABELS.append_column("t", pa.array(range(10))),
            LABELS.append_column("t", pa.array(range(10)))[:9],
            time="t",
        )


def test_standard_input_only_once():
    with pytest.raises(InputError, match="standard input to be read once, got `-` for both files"):
        score_files("-", "-")


def minutes(*steps):
    return [datetime(2024, 1, 1, 0, 5 * step) for step in steps]  # noqa: DTZ001 - naive on purpose


LISTS = pa.table({"start": [2, 8], "stop": [4, 9]}), pa.table({"start": [3, 7], "stop": [5, 8]})
EVENTS = cc.Events([(2, 4), (8, 9)]), cc.Events([(3, 5), (7, 8)])
TIMED = LABELS.append_column("t", pa.array(STAMPS)).append_column(
    "off", pa.array([0] * 6 + [1] * 4)
)


@pytest.fixture
def ignore_file(tmp_path):
    (tmp_path / "maintenance.csv").write_text("start,stop\n7,10\n6,8\n0,1\n")
    return tmp_path / "maintenance.csv"


@pytest.mark.parametrize(
    ("options", "ignore"),
    [
        ({"ignore": "off"}, [(6, 10)]),
        ({"since": STAMPS[1]}, [(0, 1)]),
        ({"until": STAMPS[7]}, [(7, 10)]),
        ({"ignore": "off", "since": STAMPS[2], "until": STAMPS[8]}, [(0, 2), (6, 10)]),
    ],
)
def test_ignored_samples(options, ignore):
    stamps = [*STAMPS, *minutes(10)]
    pairs = [(stamps[start], stamps[stop]) for start, stop in ignore]
    same(
        score_files(TIMED, time="t", **options),
        cc.affiliation(TRUTH, PREDICTED, times=STAMPS, ignore=pairs),
    )
    samples = {name: value if name == "ignore" else STAMPS.index(value)
               for name, value in options.items()}  # fmt: skip
    same(score_files(TIMED, **samples), cc.affiliation(TRUTH, PREDICTED, ignore=ignore))


def test_a_file_of_ignored_time_is_a_set(ignore_file):
    ignore = [(0, 1), (6, 10)]
    same(score_files(LABELS, ignore=ignore_file), cc.affiliation(TRUTH, PREDICTED, ignore=ignore))
    expected = cc.affiliation(*EVENTS, span=(0, 10), ignore=ignore)
    same(score_files(*LISTS, span=(0, 10), ignore=ignore_file), expected)
    assert expected.left_out == (1, 1)


def test_long_steps_beside_a_list_of_events():
    times = [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]
    labels = pa.table({"t": times, "predicted": PREDICTED})
    found = score_files(LISTS[0], labels, time="t", span=(0, 25), max_step=1, since=1)
    predicted = cc.Events([(3, 5), (22, 23)])
    expected = cc.affiliation(EVENTS[0], predicted, span=(0, 25), ignore=[(0, 1), (5, 20)])
    same(found, expected, str(expected.signature.adding(max_step=1)))
    with pytest.raises(InputTypeError, match="no `max_step` beside Events"):
        score_files(*LISTS, span=(0, 10), max_step=1)


def test_long_steps_of_samples():
    times = [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]
    found = score_files(LABELS.append_column("t", pa.array(times)), time="t", max_step=2)
    same(found, cc.affiliation(TRUTH, PREDICTED, times=times, end=25, max_step=2))
    assert found.ignored_time == 14


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore": "of"}, r"or a file of events, got 'of'\.\n\nHint: Did you mean 'off'\?"),
        ({"ignore": "t"}, "`ignore`"),
        ({"time": "t", "since": 3}, "`times` and `since` to be on one kind of time axis"),
        ({"since": 11}, "`since` to lie between 0 and 10, got 11"),
        ({"since": 7, "until": 7}, "`since` to lie before `until`, got 7 and 7"),
    ],
)  # fmt: skip
def test_refused_evaluated_time(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        score_files(TIMED, **options)

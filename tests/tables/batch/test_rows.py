"""Rows under their columns, each under its series' own key."""

from __future__ import annotations

import importlib
import pickle
from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.affiliation.event_scores import COLUMNS
from closecall.tables.batch.options import HIDDEN, BatchOptions
from closecall.tables.batch.rows import evaluate_unit, in_order, rows_table
from tests.tables.batch.groups import HandMade, group, random_series

DAYS = BatchOptions.read(by=["day", "site"], truth="label", predicted="a")


def test_keys_are_repeated_in_the_types_of_the_table():
    schema = pa.schema([("day", pa.date32()), ("site", pa.large_string())])
    keys = [(date(2024, 1, 1), "n"), (date(2024, 1, 1), "n"), (date(2024, 1, 2), None)]
    rows = [{**DAYS.blank_row, "day": day, "site": site} for day, site in keys]
    table = rows_table(rows, DAYS, schema)
    assert table.schema.field("day").type == pa.date32()
    assert table["day"].to_pylist() == [date(2024, 1, 1), date(2024, 1, 1), date(2024, 1, 2)]
    assert table.schema.field("site").type == pa.large_string()
    assert table["site"].to_pylist() == ["n", "n", None]


def test_keys_that_the_table_does_not_hold_take_the_type_of_their_values():
    schema = pa.schema([("label", pa.int64())])
    table = rows_table([{**DAYS.blank_row, "day": 1, "site": "n"}], DAYS, schema)
    assert table.schema.types[:2] == [pa.int64(), pa.string()]


def test_columns_have_types_of_their_own_even_without_rows():
    question = BatchOptions.read(truth="label", score="a")
    schema = rows_table([], question).schema
    assert schema.names == [*question.row_columns, *HIDDEN]
    assert schema.field("reason").type == pa.string()
    assert schema.field("alarmed_events").type == pa.int64()
    assert schema.field("chance_f1").type == pa.float64()


LABELS = [0, 1, 1, 0, 0, 1, 0, 0]
PREDICTED = [0, 0, 1, 1, 0, 0, 0, 0]


def events(time=None):
    columns = {"label": LABELS, "p": PREDICTED}
    if time is not None:
        columns["t"] = time
    question = BatchOptions.read(
        by="series",
        truth="label",
        predicted="p",
        per_event=True,
        time=None if time is None else "t",
    )
    return evaluate_unit(HandMade([group("s", **columns)]), question).events


@pytest.mark.parametrize(
    ("time", "start", "delay"),
    [
        (None, pa.int64(), pa.float64()),
        (np.arange(8) * 10, pa.int64(), pa.float64()),
        (np.arange(8) * 0.5, pa.float64(), pa.float64()),
        (pa.array(range(8), pa.timestamp("s")), pa.timestamp("s"), pa.duration("ns")),
        (
            pa.array(range(8), pa.timestamp("ms", "UTC")),
            pa.timestamp("ms", "UTC"),
            pa.duration("ns"),
        ),
        (pa.array(range(8), pa.date32()), pa.timestamp("s"), pa.duration("ns")),
    ],
)
def test_times_and_lengths_are_of_the_axis(time, start, delay):
    table = events(time)
    assert table.column_names == [
        "series",
        "detector",
        "event",
        "first_sample",
        "last_sample",
        *COLUMNS,
    ]
    assert table.schema.field("start").type == start
    assert table.schema.field("delay").type == delay
    assert table["first_sample"].to_pylist() == [1, 5]
    assert table["last_sample"].to_pylist() == [2, 5]


def test_what_has_no_prediction_is_missing():
    table = events(pa.array(range(8), pa.timestamp("s")))
    assert table["delay"].null_count == 1
    assert np.isnan(table["precision"].to_numpy()).tolist() == [False, True]
    assert table["recall"].to_pylist()[1] == 0


GENERATOR = np.random.default_rng(8)
SERIES = [random_series(GENERATOR, length) for length in (20, 30, 25)]
UNIT = HandMade([group(f"s{number}", **columns) for number, columns in enumerate(SERIES)])
ASKED = {"by": "series", "truth": "label", "score": ["a", "b"]}


def test_the_types_do_not_depend_on_the_values():
    question = BatchOptions.read(**ASKED)
    clean = evaluate_unit(UNIT, question).rows
    empty = {**SERIES[0], "label": np.full(20, 5)}
    troubled = evaluate_unit(HandMade([group("s9", **empty)]), question).rows
    assert troubled["status"].to_pylist() == ["bad_labels", "bad_labels"]
    assert clean.schema == troubled.schema
    assert evaluate_unit(HandMade([]), question).rows.num_rows == 0


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ([3, 4], pa.int16()),
        ([datetime(2024, 1, 1, tzinfo=UTC), None], pa.timestamp("ms", "UTC")),
        ([True, False], pa.bool_()),
    ],
)
def test_keys_keep_their_type(keys, kind):
    tables = [
        ((key,), pa.table({"series": pa.array([key] * 20, kind), **SERIES[0]})) for key in keys
    ]
    rows = evaluate_unit(HandMade(tables), BatchOptions.read(**ASKED)).rows
    assert rows.schema.field("series").type == kind
    assert rows["series"].to_pylist() == [keys[0], keys[0], keys[1], keys[1]]


def test_categories_become_their_values():
    column = pa.array(["x"] * 20).dictionary_encode()
    tables = [(("x",), pa.table({"series": column, **SERIES[0]}))]
    rows = evaluate_unit(HandMade(tables), BatchOptions.read(**ASKED)).rows
    assert rows.schema.field("series").type == pa.string()


def test_rows_travel():
    result = evaluate_unit(UNIT, BatchOptions.read(**ASKED, per_event=True))
    back = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own bytes
    # nan is not itself, but it is written as such.
    assert str(back.rows.to_pylist()) == str(result.rows.to_pylist())
    assert str(back.events.to_pylist()) == str(result.events.to_pylist())
    assert (back.rows.schema, back.events.schema) == (result.rows.schema, result.events.schema)


def test_rows_of_events_are_those_of_affiliation():
    start = datetime(2024, 3, 30, 12, tzinfo=UTC)
    times = [start + timedelta(minutes=5 * k) for k in range(30)]
    stamps = pa.array(times, pa.timestamp("us", "Europe/Paris"))
    unit = HandMade([group("s1", **SERIES[1], t=stamps)])
    asked = BatchOptions.read(**ASKED, time="t", per_event=True, threshold=0.8)
    events = evaluate_unit(unit, asked).events
    for detector in ("a", "b"):
        part = events.filter(pa.compute.field("detector") == detector)
        labels, predicted = SERIES[1]["label"], SERIES[1][detector] >= 0.8
        plain = cc.affiliation(labels, predicted, times=times).events
        assert part["event"].to_pylist() == list(range(len(plain)))
        first = np.flatnonzero(np.diff(labels, prepend=0) == 1)
        assert part["first_sample"].to_pylist() == first.tolist()
        last = np.flatnonzero(np.diff(labels, append=0) == -1)
        assert part["last_sample"].to_pylist() == last.tolist()
        assert part["start"].to_pylist() == [times[k] for k in first]
        assert str(part.schema.field("zone_stop").type) == "timestamp[us, tz=Europe/Paris]"
        for name in ("precision", "recall", "precision_above_chance", "f1_above_chance"):
            np.testing.assert_array_equal(part[name].to_numpy(), getattr(plain, name))
        for name in ("delay", "early", "predicted_duration"):
            np.testing.assert_array_equal(part[name].to_numpy(), getattr(plain, name))


def test_events_of_a_series_whose_times_are_ignored_are_known_by_their_samples():
    ordered = {**SERIES[0], "t": np.arange(20)}
    disordered = {**SERIES[1], "t": np.repeat(np.arange(15), 2)}
    unit = HandMade([group("s0", **ordered), group("s1", **disordered)])
    asked = BatchOptions.read(**ASKED, time="t", per_event=True, disorder="index")
    events = evaluate_unit(unit, asked).events.to_pylist()
    ignored = [row for row in events if row["series"] == "s1"]
    assert len(ignored) == 2 * len(cc.Events.from_labels(SERIES[1]["label"]))
    assert all(row["start"] is None and row["delay"] is None for row in ignored)
    assert all(SERIES[1]["label"][row["first_sample"]] == 1 for row in ignored)
    assert all(row["start"] == row["first_sample"] for row in events if row["series"] == "s0")


def test_a_column_of_detectors_is_the_detector():
    tables = [
        ((name, "s0"), pa.table({"label": SERIES[0]["label"], "score": SERIES[0][name]}))
        for name in ("a", "b")
    ]
    question = BatchOptions.read(
        by=["detector", "series"], truth="label", score="score", per_event=True
    )
    result = evaluate_unit(HandMade(tables), question)
    wide = evaluate_unit(
        HandMade([group("s0", **SERIES[0])]), BatchOptions.read(**ASKED, per_event=True)
    )
    assert result.rows.column_names[:3] == ["detector", "series", "status"]
    assert result.rows["detector"].to_pylist() == ["a", "b"]
    assert result.rows["affiliation_f1"].equals(wide.rows["affiliation_f1"])
    assert result.events.column_names[:3] == ["detector", "series", "event"]
    assert result.events["recall"].equals(wide.events["recall"])


def test_a_strict_question_stops_at_the_first_series_in_trouble():
    bad = {**SERIES[1], "label": np.full(30, 9)}
    unit = HandMade([group("s0", **SERIES[0]), group("s1", **bad), group("s2", **SERIES[2])])
    rows = evaluate_unit(unit, BatchOptions.read(**ASKED, strict=True)).rows
    assert rows["series"].to_pylist() == ["s0", "s0", "s1", "s1"]
    assert rows["status"].to_pylist() == ["ok", "ok", "bad_labels", "bad_labels"]


@pytest.mark.parametrize("threshold", ["best_f1", "quantile:0.8", 2**60 + 1])
def test_scores_that_no_float_can_hold_are_rounded_in_the_row_only(threshold):
    large = np.full(20, 2**60, dtype=np.int64)
    large[5:8] += 1
    labels = (large > 2**60).astype(np.int8)
    unit = HandMade([group("large", label=labels, a=large), group("s0", **SERIES[0])])
    question = BatchOptions.read(by="series", truth="label", score="a", threshold=threshold)
    first, second = evaluate_unit(unit, question).rows.to_pylist()
    assert (first["status"], first["affiliation_f1"]) == ("ok", 1.0)  # compared exactly
    assert (first["threshold"], first["predicted_samples"]) == (2.0**60, 3)
    assert second["series"] == "s0"


@pytest.mark.parametrize("broken", ["rows.score_pair", "rows.event_rows"])
def test_a_bug_in_one_series_does_not_lose_the_others(monkeypatch, broken):
    module, _, name = broken.partition(".")
    path = f"closecall.tables.batch.{module}"
    real = getattr(importlib.import_module(path), name)
    calls = []

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            raise ZeroDivisionError("by a bug")
        return real(*arguments, **options)

    question = BatchOptions.read(**ASKED, per_event=True)
    clean = evaluate_unit(UNIT, question)
    monkeypatch.setattr(f"{path}.{name}", failing)
    result = evaluate_unit(UNIT, question)
    rows = result.rows.to_pylist()
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "ok", "ok", "ok"]
    assert rows[1]["reason"] == "ZeroDivisionError: by a bug"
    lost = int(clean.rows["true_events"][1].as_py())
    assert result.events.num_rows == clean.events.num_rows - lost


QUESTION = BatchOptions.read(by=["site", "series"], truth="label", score=["z", "a"])


def part(site, series, detector, event=None):
    row = {"site": [site], "series": [series], "detector": [detector]}
    return pa.table({**row, **({} if event is None else {"event": [event]})})


def test_keys_then_detectors_as_given_then_events():
    wanted = [
        part("n", 2, "z", 0),
        part("n", 2, "z", 1),
        part("n", 2, "a", 0),
        part("n", 10, "z", 0),
        part("s", 1, "a", 0),
    ]
    for tables in permutations(wanted):
        assert in_order(tables, QUESTION).equals(pa.concat_tables(wanted).combine_chunks())


def test_detectors_in_a_column_are_keys():
    question = BatchOptions.read(by=["detector"], truth="label", score="score")
    table = in_order([pa.table({"detector": ["b"]}), pa.table({"detector": ["a"]})], question)
    assert table["detector"].to_pylist() == ["a", "b"]


def test_missing_keys_come_last_and_units_without_rows_do_no_harm():
    empty = pa.table(
        {"site": pa.nulls(0), "series": pa.nulls(0), "detector": pa.array([], "string")}
    )
    table = in_order([empty, part(None, 1, "z"), part("n", 1, "z")], QUESTION)
    assert table["site"].to_pylist() == ["n", None]


def test_keys_of_half_precision_are_sorted_too():
    question = BatchOptions.read(by="series", truth="label", score="a")
    keys = pa.array(np.array([2.5, -1, 0.5], dtype=np.float16))
    rows = in_order([pa.table({"series": keys, "detector": ["a"] * 3})], question)
    assert rows["series"].type == pa.float16()
    assert rows["series"].to_pylist() == [-1, 0.5, 2.5]


@pytest.mark.parametrize(
    ("threshold", "fit_until"),
    [(0.6, None), ("best_f1", None), ("best_f1", 30), ("best_f1_global", 30), ("cross_fit", None)],
)
def test_each_detector_on_its_own_time_has_the_rows_of_a_batch_of_its_own(threshold, fit_until):
    rng, tables = np.random.default_rng(6), []
    for name in "xyz":
        columns = {"series": [name] * 80, "t": np.arange(80), "label": random_labels(rng)}
        for detector in ("a", "b", "c"):
            columns[detector] = rng.random(80)
        columns["a"][rng.integers(0, 80, 20)] = np.nan
        columns["b"][20:60] = np.nan
        tables.append(pa.table(columns))
    given = {"by": "series", "truth": "label", "time": "t", "threshold": threshold}
    given |= {"fit_until": fit_until, "per_event": True}
    table = pa.concat_tables(tables)
    found = cc.evaluate_frame(table, score=["a", "b", "c"], nan="each", **given)
    for name in "abc":
        alone = cc.evaluate_frame(table, score=name, nan="ignore", **given)
        for part in ("rows", "events"):
            ours = [row for row in getattr(found, part).to_pylist() if row["detector"] == name]
            theirs = getattr(alone, part).to_pylist()
            assert str(ours) == str(theirs)  # nan is not itself
    assert "|nan:each|" in str(found.signature)


def random_labels(rng):
    return np.repeat(rng.random(20) < 0.3, 4).astype(int)


def test_a_detector_that_was_not_run_has_a_status_on_its_own_time():
    scores = np.array([0, 1, 0, np.nan, 1, 0, 0, 0.5])
    table = pa.table({"label": LABELS, "a": scores, "b": np.full(8, np.nan), "c": np.arange(8.0)})
    found = cc.evaluate_frame(table, truth="label", score=["a", "b", "c"], nan="each")
    assert found.rows["status"].to_pylist() == ["ok", "nan_score", "ok"]
    assert found.rows["ignored_time"].to_pylist() == [1, 0, 0]
    assert found.notes[0] == "a: Ignored: 1 of 8."


def test_rows_say_whose_missing_scores_leave_out_events():
    scores = np.array([0, np.nan, np.nan, 0, 1, 0, 0, 0.5])
    table = pa.table({"s": ["x"] * 8, "label": LABELS, "weak": scores, "b": np.arange(8.0)})
    found = cc.evaluate_frame(table, by="s", truth="label", score=["weak", "b"], nan="ignore")
    sentence = "x: 1 of 2 true events is left out because `weak` has no scores there."
    assert found.notes[0] == sentence
    both = pa.concat_tables([table, table.set_column(0, "s", pa.array(["y"] * 8))])
    found = cc.evaluate_frame(both, by="s", truth="label", score=["weak", "b"], nan="ignore")
    assert found.advice[-2:] == (
        "2 of 4 true events are left out because `weak` has no scores there.",
        "--nan each scores each detector on its own time.",
    )
    found = cc.evaluate_frame(both, by="s", truth="label", score=["weak", "b"], nan="each")
    assert found.rows["true_events"].to_pylist() == [1, 2, 1, 2]
    assert not any("left out because" in text for text in (*found.advice, *found.notes))

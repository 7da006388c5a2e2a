"""Some series in, their rows out, each under its own key."""

from __future__ import annotations

import importlib
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.tables.batch.question import Question
from closecall.tables.batch.unit import evaluate_unit

from .groups import HandMade, group, random_series

GENERATOR = np.random.default_rng(8)
SERIES = [random_series(GENERATOR, length) for length in (20, 30, 25)]
UNIT = HandMade([group(f"s{number}", **columns) for number, columns in enumerate(SERIES)])
ASKED = {"by": "series", "truth": "label", "score": ["a", "b"]}


def test_a_row_for_each_series_and_detector_in_order():
    question = Question.ask(**ASKED)
    result = evaluate_unit(UNIT, question)
    assert result.key == UNIT.key
    assert result.events is None
    assert result.rows.column_names == ["series", *question.row_columns]
    assert list(
        zip(*(result.rows[name].to_pylist() for name in ("series", "detector")), strict=True)
    ) == [
        ("s0", "a"),
        ("s0", "b"),
        ("s1", "a"),
        ("s1", "b"),
        ("s2", "a"),
        ("s2", "b"),
    ]
    assert result.rows["samples"].to_pylist() == [20, 20, 30, 30, 25, 25]


def test_the_types_do_not_depend_on_the_values():
    question = Question.ask(**ASKED)
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
    rows = evaluate_unit(HandMade(tables), Question.ask(**ASKED)).rows
    assert rows.schema.field("series").type == kind
    assert rows["series"].to_pylist() == [keys[0], keys[0], keys[1], keys[1]]


def test_categories_become_their_values():
    column = pa.array(["x"] * 20).dictionary_encode()
    tables = [(("x",), pa.table({"series": column, **SERIES[0]}))]
    rows = evaluate_unit(HandMade(tables), Question.ask(**ASKED)).rows
    assert rows.schema.field("series").type == pa.string()


def test_rows_travel():
    result = evaluate_unit(UNIT, Question.ask(**ASKED, per_event=True))
    back = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own bytes
    assert back.rows.equals(result.rows)
    assert back.events.equals(result.events)


def test_rows_of_events_are_those_of_affiliation():
    start = datetime(2024, 3, 30, 12, tzinfo=UTC)
    times = [start + timedelta(minutes=5 * k) for k in range(30)]
    stamps = pa.array(times, pa.timestamp("us", "Europe/Paris"))
    unit = HandMade([group("s1", **SERIES[1], t=stamps)])
    asked = Question.ask(**ASKED, time="t", per_event=True, threshold=0.8)
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
        for name in ("precision", "recall", "precision_above_chance"):
            np.testing.assert_array_equal(part[name].to_numpy(), getattr(plain, name))
        for name in ("delay", "early", "predicted_duration"):
            np.testing.assert_array_equal(part[name].to_numpy(), getattr(plain, name))


def test_events_of_a_series_whose_times_are_ignored_are_known_by_their_samples():
    ordered = {**SERIES[0], "t": np.arange(20)}
    disordered = {**SERIES[1], "t": np.repeat(np.arange(15), 2)}
    unit = HandMade([group("s0", **ordered), group("s1", **disordered)])
    asked = Question.ask(**ASKED, time="t", per_event=True, disorder="index")
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
    question = Question.ask(by=["detector", "series"], truth="label", score="score", per_event=True)
    result = evaluate_unit(HandMade(tables), question)
    wide = evaluate_unit(
        HandMade([group("s0", **SERIES[0])]), Question.ask(**ASKED, per_event=True)
    )
    assert result.rows.column_names[:3] == ["detector", "series", "status"]
    assert result.rows["detector"].to_pylist() == ["a", "b"]
    assert result.rows["affiliation_f1"].equals(wide.rows["affiliation_f1"])
    assert result.events.column_names[:3] == ["detector", "series", "event"]
    assert result.events["recall"].equals(wide.events["recall"])


def test_a_strict_question_stops_at_the_first_series_in_trouble():
    bad = {**SERIES[1], "label": np.full(30, 9)}
    unit = HandMade([group("s0", **SERIES[0]), group("s1", **bad), group("s2", **SERIES[2])])
    rows = evaluate_unit(unit, Question.ask(**ASKED, strict=True)).rows
    assert rows["series"].to_pylist() == ["s0", "s0", "s1", "s1"]
    assert rows["status"].to_pylist() == ["ok", "ok", "bad_labels", "bad_labels"]


@pytest.mark.parametrize("threshold", ["best_f1", "quantile:0.99", 2**60 + 1])
def test_scores_that_no_float_can_hold_are_rounded_in_the_row_only(threshold):
    large = np.full(20, 2**60, dtype=np.int64)
    large[5:8] += 1
    labels = (large > 2**60).astype(np.int8)
    unit = HandMade([group("large", label=labels, a=large), group("s0", **SERIES[0])])
    question = Question.ask(by="series", truth="label", score="a", threshold=threshold)
    first, second = evaluate_unit(unit, question).rows.to_pylist()
    assert (first["status"], first["affiliation_f1"]) == ("ok", 1.0)  # compared exactly
    assert (first["threshold"], first["predicted_samples"]) == (2.0**60, 3)
    assert second["series"] == "s0"


@pytest.mark.parametrize("broken", ["one_series.score_pair", "unit.event_rows"])
def test_a_bug_in_one_series_does_not_lose_the_others(monkeypatch, broken):
    module, _, name = broken.partition(".")
    path = f"closecall.tables.batch.{module}"
    real = getattr(importlib.import_module(path), name)
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise ZeroDivisionError("by a bug")
        return real(*arguments)

    question = Question.ask(**ASKED, per_event=True)
    clean = evaluate_unit(UNIT, question)
    monkeypatch.setattr(f"{path}.{name}", failing)
    result = evaluate_unit(UNIT, question)
    rows = result.rows.to_pylist()
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "ok", "ok", "ok"]
    assert rows[1]["reason"] == "ZeroDivisionError: by a bug"
    lost = int(clean.rows["true_events"][1].as_py())
    assert result.events.num_rows == clean.events.num_rows - lost

"""A giant series, read part by part: its rows are those of the whole series, to the last digit."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closecall.tables.batch.long_series import LongSeries, WholeSeries, can_be_cut
from closecall.tables.batch.options import BatchOptions
from closecall.tables.batch.rows import evaluate_unit
from tests.tables.batch.groups import HandMade
from tests.tables.unit_sizes import open_source, sizes

AFFILIATION = {"metrics": ["affiliation"]}


@dataclass(frozen=True)
class Slice:
    """A unit of a series in memory."""

    key: str
    table: pa.Table

    @property
    def rows(self):
        return self.table.num_rows

    def groups(self):
        yield (), self.table


def cut(table, places):
    bounds = [0, *sorted(places), table.num_rows]
    return [
        Slice(f"part {number}", table.slice(start, stop - start))
        for number, (start, stop) in enumerate(pairwise(bounds))
    ]


def evaluate_parts(units, options):
    return evaluate_unit(WholeSeries(tuple(units), cut=True), options)


def assert_same_rows(units, question):
    assert can_be_cut(question)
    found = evaluate_parts(units, question)
    expected = evaluate_unit(WholeSeries(tuple(units)), question)
    # nan is not itself, but it is written as such.
    assert str(found.rows.to_pylist()) == str(expected.rows.to_pylist())
    assert found.rows.schema == expected.rows.schema
    if question.per_event and expected.events is not None:
        assert str(found.events.to_pylist()) == str(expected.events.to_pylist())
        assert found.events.schema == expected.events.schema
    return found.rows.to_pylist()


def test_only_samples_where_a_label_changes_are_kept():
    options = BatchOptions.read(
        truth="label", score=["a", "b"], threshold=0.5, time="t", **AFFILIATION
    )
    table = pa.table(
        {
            "t": [10, 20, 30, 40, 50, 60, 70],
            "label": [0, 0, 1, 1, 1, 0, 0],
            "a": [0.1, 0.2, 0.7, 0.5, 0.9, 0.8, 0.6],
            "b": [0.25] * 7,
        }
    )
    whole = LongSeries(options)
    for part in (table.slice(0, 3), table.slice(0, 0), table.slice(3, 1), table.slice(4)):
        whole.add(part)
    series = whole.series()
    assert (whole.samples, series.numbers.tolist()) == (7, [0, 2, 5, 7])
    assert series.axis.ticks.tolist() == [10, 30, 60]
    assert [whole.column(name).tolist() for name in ("label", "a", "b")] == [
        [0, 1, 0],
        [0, 1, 1],
        [0, 0, 0],
    ]
    assert (series.axis.end, series.axis.even_step()) == (80, 10)
    assert (whole.constant("a"), whole.constant("b")) == (None, 0.25)
    alarms = series.predicting(whole.column("a")).predicted
    assert (alarms.starts.tolist(), alarms.stops.tolist()) == ([30], [80])
    assert series.count_samples(alarms) == (5, 3)


def test_memory_holds_events_and_no_samples():
    question = BatchOptions.read(
        truth="label", score="score", threshold=0.5, time="t", **AFFILIATION
    )
    whole, random = LongSeries(question), np.random.default_rng(0)
    for part in range(10):
        numbers = np.arange(part * 100_000, (part + 1) * 100_000)
        labels = numbers % 10_000 == 5_000
        scores = 0.51 * random.random(labels.size)
        whole.add(pa.table({"t": numbers, "label": labels, "score": scores}))
    assert whole.samples == 1_000_000
    assert whole.series().in_span.truth.starts.size == 100
    assert len(pickle.dumps(whole)) < 1_000_000 + 1_000_000  # 40,000 changes, and the last steps


def series_table(size=300, seed=1, step=60):
    random = np.random.default_rng(seed)
    runs = np.repeat(random.random((3, size // 5 + 1)) < 0.2, 5, axis=1)[:, :size]
    times = np.datetime64("2024-01-01", "s") + step * np.arange(size)
    return pa.table(
        {
            "t": pa.array(times).cast(pa.timestamp("s", "Europe/Paris")),
            "label": runs[0].astype(np.int64),
            "a": runs[1].astype(np.int64),
            "b": runs[2],
            "score": random.random(size).astype(np.float32),
            "level": random.integers(0, 5, size),
        }
    )


@given(st.lists(st.integers(0, 300), max_size=8), st.integers(0, 50), st.booleans())
def test_any_cut_gives_the_rows_of_the_whole(places, seed, timed):
    question = BatchOptions.read(
        truth="label",
        predicted=["a", "b"],
        time="t" if timed else None,
        per_event=True,
        **AFFILIATION,
    )
    rows = assert_same_rows(cut(series_table(seed=seed), places), question)
    assert [row["status"] for row in rows] == ["ok", "ok"]


@pytest.mark.parametrize(
    "times", [np.arange(300.0) / 10, np.arange(300, dtype=np.float32) / 10, 7 * np.arange(300)]
)
@pytest.mark.parametrize("unit", [None, "s", "ms"])
def test_times_that_are_numbers(times, unit):
    options = {"time": "t", "time_unit": unit, "per_event": True}
    question = BatchOptions.read(truth="label", predicted=["a", "b"], **options, **AFFILIATION)
    table = series_table().set_column(0, "t", pa.array(times))
    assert_same_rows(cut(table, [10, 100, 101]), question)


@pytest.mark.parametrize("threshold", [0.9, 2, np.float64(0.5), -1.0, 7])
def test_scores_and_a_threshold(threshold):
    question = BatchOptions.read(
        truth="label", score=["score", "level"], threshold=threshold, **AFFILIATION
    )
    assert_same_rows(cut(series_table(), [100, 101, 200]), question)


def test_uneven_times_end_with_the_usual_step_of_the_last_unit():
    table = series_table()
    jitter = np.random.default_rng(3).integers(-20, 20, table.num_rows)
    jitter[-100:] = 0  # the last unit is even, and its step is the median of the whole
    times = np.datetime64("2024-01-01", "s") + 60 * np.arange(table.num_rows) + jitter
    table = table.set_column(0, "t", pa.array(times))
    question = BatchOptions.read(
        truth="label", predicted="a", time="t", per_event=True, metrics=["affiliation"]
    )
    steps = np.sort(np.diff(times).astype(int))
    assert steps[steps.size // 2] == 60
    assert_same_rows(cut(table, [100, 250]), question)
    assert_same_rows(cut(table, [100, 299]), question)  # one sample has no step of its own


@pytest.mark.parametrize(
    "options",
    [{"ignore": "a"}, {"since": 3}, {"until": 3}, {"max_step": 2, "time": "t"}],
)
def test_a_series_with_ignored_time_is_not_cut(options):
    question = BatchOptions.read(truth="label", predicted="b", **AFFILIATION, **options)
    assert not can_be_cut(question)


@pytest.mark.parametrize(
    ("column", "values", "options", "statuses"),
    [
        ("label", [0], {}, ["no_event", "no_event"]),
        ("a", [0], {}, ["undefined", "ok"]),
        ("t", [5], {"time": "t"}, ["bad_times", "bad_times"]),
        ("label", [0, 1, 2], {}, ["bad_labels", "bad_labels"]),
        ("a", [0, 1, None], {}, ["bad_labels", "ok"]),
    ],
)
def test_trouble_has_a_status(column, values, options, statuses):
    table = series_table()
    place = table.column_names.index(column)
    other = pa.array((values * table.num_rows)[: table.num_rows])
    table = table.set_column(place, column, other)
    question = BatchOptions.read(truth="label", predicted=["a", "b"], **AFFILIATION, **options)
    units = cut(table, [100, 200])
    rows = assert_same_rows(units, question)
    assert [row["status"] for row in rows] == statuses


@pytest.mark.parametrize("place", [1, 99, 100, 101, 170, 200, 299])
@pytest.mark.parametrize("value", ["back", "same", "null"])
def test_bad_times_have_the_reason_of_the_whole_series(place, value):
    table = series_table()
    times = table["t"].cast(pa.int64()).to_pylist()
    times[place] = {"back": times[place - 1] - 7, "same": times[place - 1], "null": None}[value]
    times = pa.array(times).cast(table["t"].type)
    question = BatchOptions.read(truth="label", predicted=["a", "b"], time="t", **AFFILIATION)
    rows = assert_same_rows(cut(table.set_column(0, "t", times), [100, 200]), question)
    assert rows[0]["status"] == "bad_times"
    assert "`t`" in rows[0]["reason"]
    assert rows[0]["reason"].endswith(f" at index {place}.")


@pytest.mark.parametrize("place", [0, 99, 100, 250])
def test_bad_predictions_have_the_reason_of_the_whole_series(place):
    labels = series_table()["a"].to_pylist()
    labels[place] = 2
    table = series_table().set_column(2, "a", pa.array(labels))
    question = BatchOptions.read(truth="label", predicted=["a", "b"], **AFFILIATION)
    rows = assert_same_rows(cut(table, [100, 200]), question)
    assert [row["status"] for row in rows] == ["bad_labels", "ok"]
    assert rows[0]["reason"].endswith(f" at index {place}.")


def test_scores_in_trouble():
    table = series_table()
    scores = table["score"].to_numpy().copy()
    scores[150] = np.nan
    constant = pa.array(np.full(table.num_rows, 0.25))
    table = table.set_column(4, "score", pa.array(scores)).append_column("flat", constant)
    question = BatchOptions.read(
        truth="label", score=["score", "flat"], threshold=0.5, **AFFILIATION
    )
    rows = evaluate_parts(cut(table, [100, 200]), question).rows.to_pylist()
    assert [row["status"] for row in rows] == ["nan_score", "constant_score"]
    assert rows[0]["reason"] == "Expected `score` to be numbers, or inf, got nan at index 150."
    assert_same_rows(
        cut(table.drop_columns(["score"]).append_column("score", constant), [9]), question
    )


def test_units_that_do_not_follow_each_other():
    first, second = cut(series_table(), [150])
    question = BatchOptions.read(truth="label", predicted="a", time="t", **AFFILIATION)
    row = evaluate_parts([second, first], question).rows.to_pylist()[0]
    assert row["status"] == "bad_times"
    assert row["reason"] == (
        "Expected `t` to be strictly increasing, "
        "got 2024-01-01 01:00:00+01:00 after 2024-01-01 05:59:00+01:00 at index 150."
    )
    assert row["samples"] == 300


def test_a_series_without_samples():
    question = BatchOptions.read(truth="label", predicted="a", **AFFILIATION)
    assert_same_rows(cut(series_table().slice(0, 0), [0]), question)


def test_a_single_time_does_not_say_how_long_a_sample_is():
    question = BatchOptions.read(truth="label", predicted=["a", "b"], time="t", **AFFILIATION)
    table = series_table().slice(0, 1).set_column(1, "label", pa.array([1]))
    found = evaluate_parts(cut(table, [1]), question).rows.to_pylist()
    assert {row["status"] for row in found} == {"bad_times"}
    whole = evaluate_unit(WholeSeries(tuple(cut(table, [1]))), question).rows.to_pylist()
    assert [row["reason"] for row in found] == [row["reason"] for row in whole]


@pytest.mark.parametrize(
    "options",
    [
        {"score": "score"},
        {"score": "score", "threshold": 0.5},  # and its average precision
        {"score": "score", "threshold": "quantile:0.9", "metrics": ["affiliation"]},
        {"predicted": "a", "metrics": ["classical"]},
        {"predicted": "a", "by": "b", "metrics": ["affiliation"]},
        {"predicted": "a", "time": "t", "disorder": "sort", "metrics": ["affiliation"]},
    ],
)
def test_questions_about_the_whole_are_refused(options):
    question = BatchOptions.read(truth="label", **options)
    assert not can_be_cut(question)


def test_row_groups_of_a_file(tmp_path):
    path = tmp_path / "giant.parquet"
    pq.write_table(series_table(size=5_000), path, row_group_size=700)
    question = BatchOptions.read(
        truth="label", predicted=["a", "b"], time="t", per_event=True, **AFFILIATION
    )
    size = sizes(smallest=1_000, largest=2_000, held=3_000)
    units = open_source(str(path), question, size=size).units()
    assert len(units) > 3
    whole = pickle.loads(pickle.dumps(WholeSeries(tuple(units), cut=True)))  # noqa: S301 - ours
    assert_same_rows(whole.parts, question)


def test_parts_become_one_group_in_their_order():
    parts = [
        HandMade([((), pa.table({"label": labels}))], key=f"{number}")
        for number, labels in enumerate(([0, 1], [1, 0, 0]))
    ]
    joined = WholeSeries(tuple(parts))
    ((key, table),) = joined.groups()
    assert (key, table["label"].to_pylist()) == ((), [0, 1, 1, 0, 0])
    assert (joined.key, joined.rows) == ("0", 5)

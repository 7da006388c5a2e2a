"""One series read once: its axis, its order, and the samples behind its events."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from closecall.tables.batch.question import Question
from closecall.tables.batch.series import read_series
from closecall.tables.batch.trouble import TroubleError

LABELS = [0, 1, 1, 0, 0, 1]
SCORES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def read(time=None, **options):
    columns = {"label": LABELS, "score": SCORES}
    if time is not None:
        columns["t"] = time
        options["time"] = "t"
    table = pa.table(columns)
    question = Question.ask(truth="label", score="score", **options)
    return read_series(table, question), table


def test_samples_are_counted_without_times():
    series, _ = read()
    assert series.axis.ticks is None
    assert series.by_samples is series
    assert (series.in_span.start, series.in_span.stop) == (0, 6)
    assert not series.timed


def test_times_are_an_axis_and_samples_remain_known():
    series, _ = read([10, 20, 30, 40, 50, 60])
    truth = series.in_span.truth
    assert (truth.starts.tolist(), truth.stops.tolist()) == ([20, 60], [40, 70])
    assert series.sample_numbers(truth.starts).tolist() == [1, 5]
    assert series.sample_numbers(truth.stops).tolist() == [3, 6]
    own = series.by_samples.in_span.truth
    assert (own.starts.tolist(), own.stops.tolist()) == ([1, 5], [3, 6])
    assert series.positives_before.tolist() == [0, 0, 1, 2, 2, 2, 3]


@pytest.mark.parametrize(
    ("times", "end"),
    [
        ([0, 1, 2, 3, 4, 5], 6),
        ([0, 1, 2, 3, 10, 12], 13),
        ([0.0, 0.5, 1.0, 4.0, 8.0, 9.0], 10.0),
        ([0, 2, 4, 10, 20, 30], 36),
    ],
)
def test_the_last_sample_lasts_the_median_step(times, end):
    assert read(times)[0].axis.end == end


def test_sorted_samples_take_their_scores_along():
    series, table = read([60, 10, 20, 30, 40, 50], disorder="sort")
    assert series.order.tolist() == [1, 2, 3, 4, 5, 0]
    assert series.labels.tolist() == [1, 1, 0, 0, 1, 0]
    scored = series.scored(table["score"], "score")
    assert scored.scores.tolist() == [0.2, 0.3, 0.4, 0.5, 0.6, 0.1]
    assert series.labelled(table["label"], "label").tolist() == [1, 1, 0, 0, 1, 0]


def test_times_out_of_order_are_ignored_if_that_is_asked_for():
    series, _ = read([60, 10, 20, 30, 40, 50], disorder="index")
    assert (series.axis.ticks, series.order, series.timed) == (None, None, False)


@pytest.mark.parametrize(
    "times",
    [
        [0, 1, None, 3, 4, 5],
        [0.0, 1.0, float("nan"), 3.0, 4.0, 5.0],
        [0.0, 1.0, 2.0, 3.0, 4.0, float("inf")],
        np.array(["2024-01-01", "NaT", *["2024-01-02"] * 4], dtype="M8[s]"),
        [0, 0, 0, 0, 0, 0],
    ],
    ids=["null", "nan", "inf", "NaT", "repeated"],
)
def test_samples_are_counted_where_times_are_missing(times):
    series, _ = read(times, disorder="index")
    assert (series.axis.ticks, series.axis.length, series.timed) == (None, 6, False)
    for disorder in ("error", "sort"):
        with pytest.raises(TroubleError) as caught:
            read(times, disorder=disorder)
        assert caught.value.status == "bad_times"


def test_one_sample_is_counted():
    table = pa.table({"label": [1], "score": [0.5], "t": [7]})
    ask = {"truth": "label", "score": "score", "time": "t"}
    series = read_series(table, Question.ask(**ask, disorder="index"))
    assert (series.axis.length, series.axis.end, series.timed) == (1, 1, False)
    with pytest.raises(TroubleError, match="`t` to have at least two times"):
        read_series(table, Question.ask(**ask))


def test_a_column_that_holds_no_times_is_trouble_even_so():
    with pytest.raises(TroubleError) as caught:
        read([True, False] * 3, disorder="index")
    assert caught.value.status == "bad_times"


def test_predictions_stand_beside_the_truth():
    series, _ = read([10, 20, 30, 40, 50, 60])
    pair = series.predicting(np.array([1, 0, 0, 0, 0, 1]))
    assert (pair.predicted.starts.tolist(), pair.predicted.stops.tolist()) == ([10, 60], [20, 70])
    assert pair.truth is series.in_span.truth


def test_trouble_names_the_column_and_the_status():
    with pytest.raises(TroubleError, match="`t` to be strictly increasing") as caught:
        read([0, 1, 1, 2, 3, 4])
    assert caught.value.status == "bad_times"

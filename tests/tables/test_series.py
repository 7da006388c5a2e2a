"""One series read once: its axis, its order, and the samples behind its events."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from math import inf, isnan, nan

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError
from closecall.metrics.registry import METRICS, REQUIRED
from closecall.tables.batch.options import NOTES, BatchOptions
from closecall.tables.batch.rows import evaluate_series, evaluate_unit
from closecall.tables.roles import NamedTable
from closecall.tables.series import read_series, with_status
from tests.tables.batch.groups import HandMade

LABELS = [0, 1, 1, 0, 0, 1]
SCORES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def read(time=None, **options):
    columns = {"label": LABELS, "score": SCORES}
    if time is not None:
        columns["t"] = time
        options["time"] = "t"
    table = pa.table(columns)
    question = BatchOptions.read(truth="label", score="score", **options)
    return read_series([NamedTable("", table)], question)


def test_times_are_an_axis_and_samples_remain_known():
    series = read([10, 20, 30, 40, 50, 60])
    truth = series.in_span.truth
    assert (truth.starts.tolist(), truth.stops.tolist()) == ([20, 60], [40, 70])
    assert [numbers.tolist() for numbers in series.sample_numbers(truth)] == [[1, 5], [3, 6]]
    own = series.in_samples(series.predicting(series.labels))
    for events in (own.truth, own.predicted):
        assert (events.starts.tolist(), events.stops.tolist()) == ([1, 5], [3, 6])
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
    assert read(times).axis.end == end


def test_sorted_samples_take_their_scores_along():
    series = read([60, 10, 20, 30, 40, 50], disorder="sort")
    assert series.labels.tolist() == [1, 1, 0, 0, 1, 0]
    assert series.detector("score").scores.tolist() == [0.2, 0.3, 0.4, 0.5, 0.6, 0.1]
    assert series.column("label", "truth").to_pylist() == [1, 1, 0, 0, 1, 0]


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
    series = read(times, disorder="index")
    assert (series.axis.ticks, series.axis.length, series.timed) == (None, 6, False)
    for disorder in ("error", "sort"):
        with pytest.raises(InputError) as caught:
            read(times, disorder=disorder)
        assert caught.value.status == "bad_times"


def test_one_sample_is_counted():
    table = pa.table({"label": [1], "score": [0.5], "t": [7]})
    ask = {"truth": "label", "score": "score", "time": "t"}
    tables = [NamedTable("", table)]
    series = read_series(tables, BatchOptions.read(**ask, disorder="index"))
    assert (series.axis.length, series.axis.end, series.timed) == (1, 1, False)
    with pytest.raises(InputError, match="for a series of one sample"):
        read_series(tables, BatchOptions.read(**ask))


def test_a_column_that_holds_no_times_is_trouble_even_so():
    with pytest.raises(InputTypeError) as caught:
        read([True, False] * 3, disorder="index")
    assert caught.value.status == "bad_times"


def test_predictions_stand_beside_the_truth():
    series = read([10, 20, 30, 40, 50, 60])
    pair = series.predicting(np.array([1, 0, 0, 0, 0, 1]))
    assert (pair.predicted.starts.tolist(), pair.predicted.stops.tolist()) == ([10, 60], [20, 70])
    assert pair.truth is series.in_span.truth


def test_one_chunk_of_numbers_is_not_copied():
    values = np.arange(5.0)
    assert np.shares_memory(read_column(pa.chunked_array([pa.array(values)]), "x")[0], values)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.chunked_array([[1, 2], [3]]), np.array([1, 2, 3])),
        (pa.chunked_array([[True, False]]), np.array([True, False])),
        (
            pa.chunked_array([pa.array([None, True, False])[1:]]),
            np.array([True, False]),
        ),
        (pa.chunked_array([[Decimal("0.5")]]), np.array([0.5])),
        (pa.chunked_array([pa.array([3, 3, 1]).dictionary_encode()]), np.array([3, 3, 1])),
        (
            pa.chunked_array([pa.array([7], pa.timestamp("ms", "Asia/Tokyo"))]),
            np.array([7], dtype="datetime64[ms]"),
        ),
    ],
)
def test_every_type_keeps_its_values(column, expected):
    array, _ = read_column(column, "x")
    np.testing.assert_array_equal(array, expected)
    assert array.dtype == expected.dtype


LENGTH = 240
GENERATOR = np.random.default_rng(7)
TRUTH = np.zeros(LENGTH, dtype=np.int8)
for first in (20, 90, 91, 200):
    TRUTH[first : first + 12] = 1
SCORED_ROWS = GENERATOR.random(LENGTH) + 0.6 * TRUTH
EVEN = np.datetime64("2024-03-01T00:00", "us") + np.arange(LENGTH) * np.timedelta64(5, "m")


def answers(columns, **options):
    table = pa.table(columns)
    given = {"truth": "label", **options}
    return evaluate_series(table, BatchOptions.read(**given))


def row_of(columns, **options):
    (answer,) = answers(columns, **{"score": "score", **options})
    return answer.row


def same_numbers(row, plain):
    for name, value in plain.items():
        number = value / np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else value
        assert row[name] == pytest.approx(number, rel=0, abs=0, nan_ok=True), name


def without_required(takes):
    return [
        name
        for name, entry in METRICS.items()
        if entry.takes in takes and REQUIRED not in entry.parameters.values()
    ]


@pytest.mark.parametrize("times", [None, EVEN, np.arange(LENGTH) * 3, np.arange(LENGTH) * 0.1])
def test_every_metric_is_what_evaluate_gives_to_the_last_digit(times):
    metrics = without_required(("labels", "scores"))
    columns = {"label": TRUTH, "score": SCORED_ROWS}
    if times is not None:
        columns["t"] = times
    row = row_of(columns, metrics=metrics, threshold=0.8, time=None if times is None else "t")
    plain = cc.evaluate(TRUTH, SCORED_ROWS >= 0.8, scores=SCORED_ROWS, metrics=metrics, times=times)
    assert set(plain) <= set(row)
    same_numbers(row, plain)
    assert (row["status"], row["reason"]) == ("ok", None)


def test_predictions_are_taken_as_they_are():
    predicted = SCORED_ROWS >= 0.9
    columns = {"label": TRUTH, "p": predicted, "t": EVEN}
    metrics = without_required(("labels",))
    row = row_of(columns, score=None, predicted="p", metrics=metrics, time="t")
    same_numbers(row, cc.evaluate(TRUTH, predicted, metrics=metrics, times=EVEN))
    assert isnan(row["threshold"])


def test_the_default_is_the_best_f1_of_the_curve():
    row = row_of({"label": TRUTH, "score": SCORED_ROWS})
    curve = cc.affiliation_curve(TRUTH, SCORED_ROWS)
    best = curve.best()
    result = curve.at(best.threshold)
    assert row["threshold"] == best.threshold
    assert row["predicted_events"] == best.alarms
    assert row["affiliation_average_precision"] == curve.average_precision
    same_numbers(row, {f"affiliation_{name}": value for name, value in result.values().items()})


def test_counts_of_samples_and_events():
    predicted = SCORED_ROWS >= 0.9
    row = row_of({"label": TRUTH, "score": SCORED_ROWS, "t": EVEN}, threshold=0.9, time="t")
    result = cc.affiliation(TRUTH, predicted)
    assert row["samples"] == LENGTH
    assert row["true_samples"] == TRUTH.sum() == 37
    assert row["predicted_samples"] == predicted.sum()
    assert row["hit_samples"] == (predicted & (TRUTH == 1)).sum()
    assert row["true_events"] == 3
    assert row["predicted_events"] == len(cc.Events.from_labels(predicted))
    assert row["alarmed_events"] == (~np.isnan(result.events.precision)).sum()


def test_what_happened_to_the_events():
    truth = [0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    scores = [0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    times = np.datetime64("2024-03-01", "s") + np.arange(12) * np.timedelta64(2, "h")
    row = row_of({"label": truth, "score": scores, "t": times}, threshold=1, time="t")
    assert (row["caught"], row["false_alarms"], row["alarmed"]) == (1, 1, 0.25)
    assert (row["median_delay"], row["evaluated_days"]) == (inf, 1.0)
    row = row_of({"label": truth[:9], "score": scores[:9], "t": times[:9]}, threshold=1, time="t")
    assert (row["median_delay"], row["evaluated_days"]) == (7200.0, 0.75)
    row = row_of({"label": truth[:9], "score": scores[:9]}, threshold=1)
    assert row["median_delay"] == 1.0
    assert isnan(row["evaluated_days"])
    # Without a true event every alarm is false.
    row = row_of({"label": [0] * 12, "score": scores, "t": times}, threshold=1, time="t")
    assert (row["status"], row["caught"], row["false_alarms"]) == ("no_event", 0, 2)
    assert (row["alarmed"], row["evaluated_days"]) == (0.25, 1.0)
    assert isnan(row["median_delay"])


GAPS = EVEN + (np.arange(LENGTH) >= 60) * np.timedelta64(7, "h")
OFF = (np.arange(LENGTH) // 7 % 5 == 0).astype(np.int8)
HOLES = np.where(np.arange(LENGTH) % 31 < 2, nan, SCORED_ROWS)
LISTED = [(GAPS[0] - np.timedelta64(1, "D"), GAPS[9]), (GAPS[70], GAPS[81])]
EVALUATED = {
    "a column": ({"ignore": "off"}, {"ignore": OFF}),
    "a list": ({"ignore": cc.Events(LISTED)}, {"ignore": LISTED}),
    "gaps": ({"max_step": timedelta(minutes=6)}, {"max_step": timedelta(minutes=6)}),
    "scores": ({"nan": "ignore"}, {"nan": "ignore"}),
    "a start": ({"since": GAPS[25].item()}, {"ignore": [(GAPS[0], GAPS[25])]}),
    "a start inside a sample": (
        {"since": GAPS[25].item() + timedelta(minutes=2)},
        {"ignore": [(GAPS[0], GAPS[25] + np.timedelta64(2, "m"))]},
    ),
    "an end": (
        {"until": GAPS[210].item()},
        {"ignore": [(GAPS[210], GAPS[-1] + np.timedelta64(1, "D"))]},
    ),
    "all": (
        {"ignore": "off", "max_step": timedelta(minutes=5), "nan": "ignore"},
        {"ignore": OFF, "max_step": timedelta(minutes=5), "nan": "ignore"},
    ),
}


@pytest.mark.parametrize(("asked", "plain"), EVALUATED.values(), ids=EVALUATED)
def test_evaluated_time_is_that_of_evaluate(asked, plain):
    scores = HOLES if "nan" in asked else SCORED_ROWS
    metrics = without_required(("labels", "scores"))
    columns = {"label": TRUTH, "score": scores, "t": GAPS, "off": OFF}
    row = row_of(columns, metrics=metrics, threshold=0.9, time="t", **asked)
    end = None if "max_step" in plain else GAPS[-1] + np.timedelta64(5, "m")
    known = cc.evaluate(
        TRUTH, scores=scores, threshold=0.9, metrics=metrics, times=GAPS, end=end, **plain
    )
    same_numbers(row, known)
    curve = cc.affiliation_curve(TRUTH, scores, times=GAPS, end=end, **plain)
    result = curve.at(0.9)
    assert (row["caught"], row["false_alarms"]) == (result.caught, result.false_alarms)
    assert (row["true_events"], row["predicted_events"]) == (len(result.events), result.alarms)
    assert row["ignored_time"] == result.ignored_time / np.timedelta64(1, "s") > 0
    assert (row["left_out_events"], row["left_out_alarms"]) == result.left_out
    same_numbers(row, {f"chance_{name}": x for name, x in result.chance.values().items()})


def test_ignored_samples_are_as_if_they_were_deleted():
    kept = OFF == 0
    whole = {"label": TRUTH, "score": np.where(kept, SCORED_ROWS, nan), "off": OFF}
    row = row_of(whole, ignore="off", threshold="best_f1")
    deleted = row_of({"label": TRUTH[kept], "score": SCORED_ROWS[kept]}, threshold="best_f1")
    assert (row["samples"], row["ignored_time"]) == (LENGTH, OFF.sum())
    same_numbers(row, {name: x for name, x in deleted.items() if isinstance(x, float)})
    counts = ("true_samples", "predicted_samples", "hit_samples", "true_events", "caught")
    assert [row[name] for name in counts] == [deleted[name] for name in counts]


def test_events_keep_the_numbers_of_their_samples():
    columns = {"label": [1, 1, 1, 0, 0, 1], "score": [3, 2, 1, 0, 0, 1], "off": [1, 0, 1, 0, 1, 0]}
    unit = HandMade([((), pa.table(columns))])
    options = BatchOptions.read(
        truth="label", score="score", threshold=1, ignore="off", per_event=True
    )
    events = evaluate_unit(unit, options).events.to_pylist()
    assert [(row["first_sample"], row["last_sample"]) for row in events] == [(1, 1), (5, 5)]
    assert [(row["start"], row["stop"]) for row in events] == [(1, 2), (5, 6)]
    assert [(row["outcome"], row["delay"]) for row in events] == [("caught", 0), ("caught", 0)]


def test_a_sample_without_a_score_is_ignored_for_all_detectors():
    columns = {"label": TRUTH, "a": SCORED_ROWS, "b": HOLES, "c": np.full(LENGTH, nan)}
    first, second, third = answers(columns, score=["a", "b", "c"], threshold=0.9, nan="ignore")
    assert first.row["ignored_time"] == second.row["ignored_time"] == np.isnan(HOLES).sum()
    # A detector that was not run takes nothing from the others.
    assert third.row["status"] == "nan_score"
    nulls = {**columns, "b": pa.array(HOLES, from_pandas=True)}
    again = answers(nulls, score=["a", "b", "c"], threshold=0.9, nan="ignore")
    assert str(again[1].row) == str(second.row)


def test_times_with_a_zone_are_limited_by_times_with_a_zone():
    times = pa.array(EVEN).cast(pa.timestamp("us", "Europe/Paris"))
    since = datetime(2024, 3, 1, 2, tzinfo=timezone(timedelta(hours=1)))
    columns = {"label": TRUTH, "score": SCORED_ROWS, "t": times}
    row = row_of(columns, time="t", since=since, threshold=0.9)
    assert (row["status"], row["ignored_time"]) == ("ok", 3600.0)
    row = row_of(columns, time="t", since=since.replace(tzinfo=None), threshold=0.9)
    assert row["status"] == "bad_times"
    assert row["reason"].startswith("Expected `t` and `since` to have a time zone everywhere")
    ends = [since - timedelta(hours=1), since]
    row = row_of(columns, time="t", ignore=cc.Events([ends]), threshold=0.9)
    assert (row["status"], row["ignored_time"]) == ("ok", 3600.0)
    naive = cc.Events([[end.replace(tzinfo=None) for end in ends]])
    row = row_of(columns, time="t", ignore=naive, threshold=0.9)
    assert row["reason"].startswith("Expected `span` and `ignore` to have a time zone")


TROUBLE = {
    "a column that is not 0/1": ({"ignore": "off"}, "bad_labels", "`off` labels to be 0 or 1"),
    "nothing left": (
        {"since": GAPS[-1].item() + timedelta(days=9)},
        "empty",
        "`since` to lie between",
    ),
    "a step of another kind": ({"max_step": 7}, "bad_times", "`max_step` to be a timedelta"),
    "events left out": ({"since": GAPS[220].item()}, "no_event", "none in evaluated time, and 3"),
    "numbers for dates": ({"until": 7}, "bad_times", "`until`"),
    "a list of numbers": ({"ignore": cc.Events([(1, 2)])}, "bad_times", "`ignore`"),
}


@pytest.mark.parametrize(("asked", "status", "reason"), TROUBLE.values(), ids=TROUBLE)
def test_trouble_with_evaluated_time(asked, status, reason):
    columns = {"label": TRUTH, "score": SCORED_ROWS, "t": GAPS, "off": 3 * OFF}
    row = row_of(columns, time="t", threshold=0.9, **asked)
    assert row["status"] == status
    assert reason in row["reason"]


def test_a_quantile_is_a_score_that_predicts_at_most_the_rest():
    for level in (0, 0.5, 0.9, 0.99):
        row = row_of({"label": TRUTH, "score": SCORED_ROWS}, threshold={"quantile": level})
        assert row["threshold"] in SCORED_ROWS
        assert row["predicted_samples"] == int((1 - level) * TRUTH.size + 1e-9)
        assert row[NOTES] is None or level == 0


def test_a_quantile_of_tied_scores_gives_no_alarm_and_a_note():
    tied = np.where(np.quantile(SCORED_ROWS, 0.8) < SCORED_ROWS, 1.0, 0.0)
    row = row_of({"label": TRUTH, "score": tied}, threshold="quantile:0.9")
    assert (row["threshold"], row["predicted_samples"], row["affiliation_recall"]) == (inf, 0, 0)
    why = "every threshold puts more than 10 % of the time in alarm"
    assert row[NOTES] == [f"`quantile:0.9` gives no alarm: {why}."]


def test_a_quantile_among_infinite_scores():
    scores = SCORED_ROWS.copy()
    scores[5:60] = inf
    row = row_of({"label": TRUTH, "score": scores}, threshold="quantile:0.77")
    assert (row["threshold"], row["predicted_samples"], row["status"]) == (inf, 55, "ok")
    row = row_of({"label": TRUTH, "score": scores}, threshold="quantile:0.85")
    assert row["status"] == "undefined"
    assert "of the time has the score inf" in row["reason"]


def test_threshold_free_metrics_need_no_threshold():
    row = row_of({"label": TRUTH, "score": SCORED_ROWS}, metrics=["auc_roc"], threshold=0.5)
    assert row["auc_roc"] == cc.metrics.auc_roc(TRUTH, SCORED_ROWS).value
    assert isnan(row["threshold"])
    assert row["predicted_events"] is None
    assert row["status"] == "ok"


@pytest.mark.parametrize(
    "labels",
    [
        TRUTH.astype(bool),
        TRUTH.astype(np.float64),
        pa.array(TRUTH.tolist(), pa.decimal128(3, 1)),
        pa.array(TRUTH).dictionary_encode(),
        pa.chunked_array([TRUTH[:100], TRUTH[100:]]),
    ],
)
def test_labels_of_any_make(labels):
    row = row_of({"label": labels, "score": SCORED_ROWS})
    assert row["affiliation_f1"] == row_of({"label": TRUTH, "score": SCORED_ROWS})["affiliation_f1"]


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int16])
def test_scores_of_any_make(kind):
    scores = (SCORED_ROWS * 100).astype(kind)
    row = row_of({"label": TRUTH, "score": scores})
    curve = cc.affiliation_curve(TRUTH, scores)
    assert row["threshold"] == curve.best().threshold
    assert row["affiliation_average_precision"] == curve.average_precision


BASE = {"label": [0, 1, 1, 0, 0, 0], "score": [0.1, 0.2, 0.9, 0.4, 0.1, 0.0]}


def dirty(**columns):
    return {**BASE, **columns}


@pytest.mark.parametrize(
    ("columns", "status", "reason"),
    [
        (
            {"label": pa.array([], pa.int8()), "score": pa.array([], pa.float64())},
            "empty",
            "Expected `label` to have at least one sample, got an empty vector.",
        ),
        (
            dirty(label=[0, 2, 1, 0, 0, 0]),
            "bad_labels",
            "Expected `label` labels to be 0 or 1, got 2 at index 1.",
        ),
        (
            dirty(label=[0, None, 1, 0, 0, 0]),
            "bad_labels",
            "Expected `label` to have no missing values, got one (nan, NaT or null) at index 1.",
        ),
        (
            dirty(label=list("abcdef")),
            "bad_labels",
            (
                "Expected `label` to be a vector of 0 and 1, or closecall.Events, "
                "got values of type str."
            ),
        ),
        (
            dirty(label=[0] * 6),
            "no_event",
            (
                "Expected at least one true event (affiliation is undefined for a series without "
                "any), got none in `label`."
            ),
        ),
        (
            dirty(score=[0.1, nan, 0.9, 0.4, 0.1, 0.0]),
            "nan_score",
            "Expected `score` to be numbers, or inf, got nan at index 1.",
        ),
        (
            dirty(score=[0.1, 0.2, None, 0.4, 0.1, 0.0]),
            "nan_score",
            "Expected `score` to be numbers, or inf, got nan at index 2.",
        ),
        (
            dirty(score=list("abcdef")),
            "bad_scores",
            "Expected `score` to be numbers, got values of type object.",
        ),
        (
            dirty(score=[0.5] * 6),
            "constant_score",
            "Expected `score` to tell samples apart, got 0.5 for every sample.",
        ),
    ],
)
def test_every_trouble_has_its_word_and_its_line(columns, status, reason):
    row = row_of(columns)
    assert (row["status"], row["reason"]) == (status, reason)
    assert row["samples"] == len(columns["label"])


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ([0, 1, 1, 2, 3, 4], "strictly increasing, got 1 after 1 at index 2"),
        ([0, 2, 1, 3, 4, 5], "strictly increasing, got 1 after 2 at index 2"),
        ([0, 1, None, 2, 3, 4], "no missing values, got one (nan, NaT or null) at index 2"),
        ([0.0, 1.0, nan, 3.0, 4.0, 5.0], "finite, got nan at index 2"),
        (["2024-01-01", *"bcdef"], "to hold numbers or ISO times, got 'b' at index 1"),
    ],
)
def test_times_in_trouble(times, reason):
    row = row_of(dirty(t=times), time="t")
    assert row["status"] == "bad_times"
    assert row["reason"].startswith("Expected `t` to ")
    assert reason in row["reason"]
    assert isnan(row["affiliation_f1"])


@pytest.mark.parametrize("zone", ["", "+01:00"])
def test_times_may_be_text(zone):
    times = [f"2024-01-01 00:0{minute}{zone}" for minute in (0, 1, 2, 4, 5, 6)]
    stamps = pa.array([datetime.fromisoformat(time) for time in times])
    since = datetime.fromisoformat(times[1])
    for options in ({}, {"since": since}, {"disorder": "last"}):
        row, expected = (row_of(dirty(t=own), time="t", **options) for own in (times, stamps))
        assert row["status"] == "ok"
        # The note on the end writes it in the zone of the times, which is UTC for text.
        del row["__notes__"], expected["__notes__"]
        assert repr(row) == repr(expected)


def test_a_constant_score_has_its_numbers():
    row = row_of(dirty(score=[0.5] * 6))
    plain = cc.evaluate(BASE["label"], [1] * 6, metrics=["affiliation"])
    assert row["threshold"] == 0.5
    same_numbers(row, plain)


def test_nothing_predicted_is_undefined_and_keeps_its_recall():
    row = row_of(BASE, threshold=2.0)
    assert row["status"] == "undefined"
    assert row["reason"] == (
        "Expected at least one prediction "
        "(affiliation_precision, affiliation_f1 are undefined), got none."
    )
    assert (row["affiliation_recall"], row["predicted_events"], row["alarmed_events"]) == (0, 0, 0)
    assert (row["chance_recall"], isnan(row["chance_precision"])) == (0, True)


def test_a_metric_that_is_undefined_is_named():
    row = row_of(dirty(label=[1] * 6), metrics=["affiliation", "auc_roc"])
    assert row["status"] == "undefined"
    assert "auc_roc is undefined" in row["reason"]
    assert row["affiliation_recall"] == 1


def test_a_series_without_events_still_counts_its_false_alarms():
    row = row_of(dirty(label=[0] * 6), threshold=0.3, metrics=["affiliation", "classical"])
    assert (row["status"], row["true_events"], row["predicted_events"]) == ("no_event", 0, 1)
    assert (row["predicted_samples"], row["hit_samples"]) == (2, 0)
    assert row["classical_precision"] == 0
    assert isnan(row["affiliation_precision"])


def test_one_metric_that_fails_leaves_the_others_alone():
    windows = {"windows": [(0, 1000)]}  # legal on other series
    row = row_of(BASE, metrics={"nab": windows, "affiliation": {}}, threshold=0.3)
    assert row["status"] == "failed"
    assert row["reason"].startswith("nab: Expected `windows`")
    assert row["affiliation_f1"] == row_of(BASE, threshold=0.3)["affiliation_f1"]


SHUFFLED = [3, 0, 5, 1, 2, 4]


def test_disorder_sort_is_a_stable_sort_by_time():
    times = np.array([10, 20, 30, 40, 50, 60])
    shuffled = {name: np.asarray(values)[SHUFFLED] for name, values in BASE.items()}
    shuffled["t"] = times[SHUFFLED]
    sorted_row = row_of(shuffled, time="t", disorder="sort")
    assert sorted_row["__notes__"].pop(0).startswith("Samples are put in the order")
    assert sorted_row == row_of({**BASE, "t": times}, time="t")
    assert row_of(shuffled, time="t")["status"] == "bad_times"


def test_disorder_index_ignores_the_times_of_series_out_of_order_only():
    disordered = row_of(dirty(t=[0, 1, 1, 2, 3, 4]), time="t", disorder="index")
    assert disordered == row_of(BASE)
    uneven = dirty(t=[0, 1, 5, 6, 7, 8])
    assert row_of(uneven, time="t", disorder="index") == row_of(uneven, time="t")
    assert row_of(uneven, time="t")["affiliation_recall"] != disordered["affiliation_recall"]


def test_errors_get_a_status_and_bugs_pass():
    with pytest.raises(InputError) as caught, with_status("bad_times"):
        raise InputError("a", "b")
    assert caught.value.status == "bad_times"
    with pytest.raises(ZeroDivisionError), with_status("bad_times"):
        _ = 1 / 0


def test_the_first_status_stays():
    with pytest.raises(InputError) as caught, with_status("bad_scores"), with_status("nan_score"):
        raise InputError("a", "nan")
    assert caught.value.status == "nan_score"

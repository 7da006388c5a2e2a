"""Columns of tables in, the library's own curve out; and the curve as rows."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.tables import alarm_rate, curve_columns, curve_files, curve_report, curve_tables

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.3, 0.2, 0.9, 0.8, 0.1, 0.0, 0.7, 0.4, 0.1]
EXPECTED = cc.affiliation_curve(TRUTH, SCORES)
TABLE = pa.table({"truth": TRUTH, "score": SCORES})
STAMPS = [datetime(2024, 1, 1, 0, 5 * step) for step in range(10)]  # noqa: DTZ001 - naive on purpose


def same(curve, expected=EXPECTED):
    assert curve.to_dict() == expected.to_dict()
    chosen = expected.best().threshold
    assert curve.at(chosen).to_dict() == expected.at(chosen).to_dict()


def test_one_table_with_both_columns():
    same(curve_tables(TABLE))


def test_named_columns():
    renamed = TABLE.rename_columns(["label", "likelihood"])
    same(curve_tables(renamed, truth="label", score="likelihood"))


def test_the_only_column_of_each_table():
    same(curve_tables(pa.table({"a": TRUTH}), pa.table({"b": SCORES})))


def test_times_in_either_table():
    dated = cc.affiliation_curve(TRUTH, SCORES, times=STAMPS)
    truth, scores = pa.table({"a": TRUTH}), pa.table({"b": SCORES})
    same(curve_tables(truth.append_column("t", pa.array(STAMPS)), scores, time="t"), dated)
    same(curve_tables(truth, scores.append_column("t", pa.array(STAMPS)), time="t"), dated)


def test_an_event_list_beside_scores():
    incidents = pa.table({"start": [STAMPS[2], STAMPS[8]], "stop": [STAMPS[4], STAMPS[9]]})
    scores = pa.table({"t": STAMPS, "score": SCORES})
    same(
        curve_tables(incidents, scores, time="t"),
        cc.affiliation_curve(TRUTH, SCORES, times=STAMPS),
    )


def test_the_times_of_an_event_list_are_no_samples():
    incidents = pa.table({"t": [2, 8], "until": [4, 9]})
    scores = pa.table({"t": list(range(10)), "score": SCORES})
    same(curve_tables(incidents, scores, truth="t,until", time="t"))


def test_end_and_span_reach_the_library():
    table = pa.table({"truth": [0, 1, 0], "score": [0.1, 0.2, 0.3], "t": [0, 1, 5]})
    same(
        curve_tables(table, time="t", end=9, span=(-4, 12)),
        cc.affiliation_curve([0, 1, 0], [0.1, 0.2, 0.3], times=[0, 1, 5], end=9, span=(-4, 12)),
    )


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.uint8()])
def test_scores_of_every_kind(kind):
    scores = pa.array([round(10 * score) for score in SCORES], kind)
    curve = curve_tables(pa.table({"truth": TRUTH, "score": scores}))
    assert curve.thresholds.tolist() == [9, 8, 7, 4, 3, 2, 1, 0]
    assert curve.average_precision == EXPECTED.average_precision


def test_files(tmp_path):
    rows = "".join(f"{truth},{score}\n" for truth, score in zip(TRUTH, SCORES, strict=True))
    (tmp_path / "both.csv").write_text(f"truth,score\n{rows}")
    same(curve_files(tmp_path / "both.csv"))


NAMES = ("truth.csv", "scores.csv")
INCIDENTS = pa.table({"start": [2], "stop": [4]})
REFUSED = {
    "misspelt": (
        lambda: curve_tables(TABLE, score="scores", names=NAMES),
        InputError,
        (
            "Expected `score` to name a column of truth.csv, got 'scores'.\n\n"
            "Hint: Did you mean 'score'? Its columns are: truth, score."
        ),
    ),
    "no name": (
        lambda: curve_tables(TABLE.rename_columns(["truth", "b"]), names=NAMES),
        InputError,
        (
            "Expected `score` to name a column of truth.csv, got no name.\n\n"
            "Hint: Its columns are: truth, b."
        ),
    ),
    "two columns as score": (
        lambda: curve_tables(TABLE, score="truth,score", names=NAMES),
        InputError,
        "Expected `score` to name a column of truth.csv, got 'truth,score'.",
    ),
    "nan": (
        lambda: curve_tables(pa.table({"truth": [0, 1], "score": [1.0, float("nan")]})),
        InputError,
        "Expected `scores` to be numbers, or inf, got nan at index 1.",
    ),
    "missing": (
        lambda: curve_tables(pa.table({"truth": [0, 1], "score": [1.0, None]})),
        InputError,
        "Expected `scores` to have no missing values, got one (nan, NaT or null) at index 1.",
    ),
    "text": (
        lambda: curve_tables(pa.table({"truth": [0, 1], "score": ["low", "high"]})),
        InputTypeError,
        "Expected `scores` to be numbers, got ",
    ),
    "lengths": (
        lambda: curve_tables(pa.table({"a": TRUTH}), pa.table({"b": SCORES[:9]})),
        InputError,
        "Expected `scores` to have as many values as `truth` (10), got 9.",
    ),
    "event list without times": (
        lambda: curve_tables(INCIDENTS, pa.table({"score": SCORES})),
        InputTypeError,
        "Expected `time` beside a list of events, got none.\n\nHint: Name the column",
    ),
    "nothing true": (
        lambda: curve_tables(pa.table({"truth": [0, 0], "score": [1, 2]})),
        UndefinedMetricError,
        "Expected at least one true event",
    ),
    "standard input twice": (
        lambda: curve_files("-", "-"),
        InputError,
        "Expected standard input to be read once, got `-` for both files.",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_all_thresholds_as_columns():
    columns = curve_columns(EXPECTED, points=None)
    assert list(columns) == ["threshold", "precision", "recall", "f1", "alarms"]
    assert columns["threshold"].tolist() == sorted(set(SCORES), reverse=True)
    for name in ("precision", "recall", "f1", "alarms"):
        assert columns[name].tolist() == getattr(EXPECTED, name).tolist()


def test_few_points_hold_the_chosen_one():
    chosen = replace(EXPECTED.best(), threshold=0.7)
    columns = curve_columns(EXPECTED, points=1, chosen=chosen)
    assert chosen.threshold not in curve_columns(EXPECTED, points=1)["threshold"]
    row = columns["threshold"].tolist().index(chosen.threshold)
    assert columns["precision"][row] == EXPECTED.at(0.7).precision
    assert columns["alarms"][row] == 2


def test_float32_thresholds_keep_their_value():
    scores = np.array(SCORES, dtype=np.float32)
    columns = curve_columns(cc.affiliation_curve(TRUTH, scores), points=None)
    assert columns["threshold"].dtype == np.float64
    assert (columns["threshold"] == np.unique(scores)[::-1].astype(np.float64)).all()


def test_report_adds_the_chosen_point_to_the_curve():
    report = curve_report(EXPECTED, EXPECTED.best(), points=50)
    chosen = report.pop("chosen")
    assert report == EXPECTED.to_dict(50)
    at_best = EXPECTED.at(EXPECTED.best().threshold).to_dict()
    assert {name: chosen[name] for name in at_best} == at_best
    assert chosen["alarms_per_unit"] == EXPECTED.best().alarms / 10


def test_report_of_infinite_scores_is_json():
    scores = [-np.inf, *SCORES[1:3], np.inf, *SCORES[4:]]
    curve = cc.affiliation_curve(TRUTH, scores)
    report = curve_report(curve, curve.best(beta=0), points=None)
    thresholds = json.loads(json.dumps(report, allow_nan=False))["curve"]["thresholds"]
    assert thresholds == ["inf", 0.8, 0.7, 0.4, 0.3, 0.2, 0.1, 0.0, "-inf"]
    assert report["chosen"]["threshold"] == "inf"


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_alarm_rate_per_day(unit):
    times = np.datetime64("2024-01-01", unit) + np.arange(10) * np.timedelta64(6, "h")
    curve = cc.affiliation_curve(TRUTH, SCORES, times=times)
    assert alarm_rate(curve, 5) == pytest.approx(2, rel=1e-15)
    limited = curve.best(max_alarms_per=(0.4, timedelta(days=1)))
    assert alarm_rate(curve, limited.alarms) <= 0.4

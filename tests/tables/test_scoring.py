"""Columns of tables in, the library's own curve or comparison out; and the curve as rows."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closecall as cc
from closecall.compare import compare
from closecall.errors import InputError, InputTypeError
from closecall.tables import (
    alarm_rate,
    compare_files,
    curve_columns,
    curve_files,
    curve_report,
)
from closecall.tables.scoring import threshold_text

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.3, 0.2, 0.9, 0.8, 0.1, 0.0, 0.7, 0.4, 0.1]
EXPECTED = cc.affiliation_curve(TRUTH, SCORES)
SCORED = pa.table({"truth": TRUTH, "score": SCORES})
STAMPS = [datetime(2024, 1, 1, 0, 5 * step) for step in range(10)]  # noqa: DTZ001 - naive on purpose


def same(curve, expected=EXPECTED):
    assert curve.to_dict() == expected.to_dict()
    chosen = expected.best().threshold
    assert curve.at(chosen).to_dict() == expected.at(chosen).to_dict()


def test_an_event_list_beside_scores():
    incidents = pa.table({"start": [STAMPS[2], STAMPS[8]], "stop": [STAMPS[4], STAMPS[9]]})
    scores = pa.table({"t": STAMPS, "score": SCORES})
    same(
        curve_files(incidents, scores, time="t"),
        cc.affiliation_curve(TRUTH, SCORES, times=STAMPS),
    )


def test_the_times_of_an_event_list_are_no_samples():
    incidents = pa.table({"t": [2, 8], "until": [4, 9]})
    scores = pa.table({"t": list(range(10)), "score": SCORES})
    same(curve_files(incidents, scores, truth="t,until", time="t"))


def test_end_and_span_reach_the_library():
    table = pa.table({"truth": [0, 1, 0], "score": [0.1, 0.2, 0.3], "t": [0, 1, 5]})
    same(
        curve_files(table, time="t", end=9, span=(-4, 12)),
        cc.affiliation_curve([0, 1, 0], [0.1, 0.2, 0.3], times=[0, 1, 5], end=9, span=(-4, 12)),
    )


def test_evaluated_time():
    scores = [*SCORES[:4], float("nan"), *SCORES[5:]]
    table = pa.table({"t": STAMPS, "truth": TRUTH, "score": scores, "quiet": [0] * 5 + [1] * 5})
    expected = cc.affiliation_curve(
        TRUTH, scores, times=STAMPS, ignore=[(STAMPS[0], STAMPS[1]), (STAMPS[5], STAMPS[9])],
        nan="ignore", end=datetime(2024, 1, 1, 0, 50),  # noqa: DTZ001 - naive on purpose
    )  # fmt: skip
    until = STAMPS[9]
    early = pa.table({"truth": [*TRUTH[:9], 1]} | {n: table[n] for n in ("t", "score")})
    assert expected.left_out.events == 1
    table = table.set_column(3, "quiet", pa.array([0] * 5 + [1] * 4 + [0]))
    same(curve_files(table, time="t", ignore="quiet", since=STAMPS[1], nan="ignore"), expected)
    assert curve_files(early, time="t", until=until, nan="ignore").left_out.events == 0


INCIDENTS = pa.table({"start": [2], "stop": [4]})
REFUSED = {
    "two columns as score": (
        lambda: curve_files(SCORED, score="truth,score"),
        InputError,
        "Expected `score` to name a column of the first table, got 'truth,score'.",
    ),
    "missing": (
        lambda: curve_files(pa.table({"truth": [0, 1], "score": [1.0, None]})),
        InputError,
        "Expected `scores` to be numbers, or inf, got nan at index 1.",
    ),
    "text": (
        lambda: curve_files(pa.table({"truth": [0, 1], "score": ["low", "high"]})),
        InputTypeError,
        "Expected `scores` to be numbers, got ",
    ),
    "event list without times": (
        lambda: curve_files(INCIDENTS, pa.table({"score": SCORES})),
        InputTypeError,
        "Expected `time` beside a list of events, got none.\n\nHint: Name the column",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(message)


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


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_alarm_rate_per_day(unit):
    times = np.datetime64("2024-01-01", unit) + np.arange(10) * np.timedelta64(6, "h")
    curve = cc.affiliation_curve(TRUTH, SCORES, times=times)
    assert alarm_rate(curve, 5) == pytest.approx(2, rel=1e-15)
    limited = curve.best(max_alarms_per=(0.4, timedelta(days=1)))
    assert alarm_rate(curve, limited.alarms) <= 0.4


MINE = [0, 0, 0, 1, 1, 0, 0, 1, 0, 0]
THEIRS = [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
SCORE = [0, 1, 5, 9, 2, 0, 3, 0, 8, 1]
TABLE = pa.table({"truth": TRUTH, "mine": MINE, "theirs": THEIRS, "score": SCORE})
COLUMNS = "The columns of the first table are: truth, mine, theirs, score."


def same_comparison(compared, expected):
    assert compared.to_dict() == expected.to_dict()


def test_labels_and_scores_of_one_table():
    options = {"thresholds": {"score": 5}, "decimals": 1}
    same_comparison(
        compare_files(TABLE, predicted=["mine", "theirs"], scores=["score"], **options),
        compare(TRUTH, {"mine": MINE, "theirs": THEIRS}, scores={"score": SCORE}, **options),
    )


def test_two_tables_with_times_in_either():
    times = list(range(5, 55, 5))
    expected = compare(TRUTH, {"mine": MINE, "theirs": THEIRS}, times=times)
    truth, detectors = TABLE.select(["truth"]), TABLE.select(["mine", "theirs"])
    for tables in (
        (truth.append_column("t", pa.array(times)), detectors),
        (truth, detectors.append_column("t", pa.array(times))),
    ):
        same_comparison(compare_files(*tables, predicted=["mine", "theirs"], time="t"), expected)


def test_an_event_list_against_scores_and_labels():
    incidents = pa.table({"from": [2, 8], "to": [4, 9]})
    detectors = TABLE.append_column("t", pa.array(range(10)))
    compared = compare_files(
        *(incidents, detectors), truth="from,to", predicted=["mine"], scores=["score"], time="t"
    )
    expected = compare(
        cc.Events([(2, 4), (8, 9)]), {"mine": MINE}, scores={"score": SCORE}, times=range(10)
    )
    same_comparison(compared, expected)


REFUSED_COLUMNS = {
    "none": (
        {},
        f"Expected columns of at least two detectors to compare, got none.\n\nHint: {COLUMNS}",
    ),
    "one": (
        {"scores": ["score"]},
        (
            "Expected columns of at least two detectors to compare, got only 'score'.\n\n"
            f"Hint: {COLUMNS}"
        ),
    ),
    "twice": (
        {"predicted": ["mine"], "scores": ["mine"]},
        (
            "Expected each detector's column to be named once, got 'mine' 2 times.\n\n"
            f"Hint: {COLUMNS}"
        ),
    ),
    "misspelt": (
        {"predicted": ["mine", "their"]},
        (
            "Expected `predicted` to name a column of the first table, got 'their'.\n\n"
            "Hint: Did you mean 'theirs'? Its columns are: truth, mine, theirs, score."
        ),
    ),
}


@pytest.mark.parametrize(("columns", "message"), REFUSED_COLUMNS.values(), ids=REFUSED_COLUMNS)
def test_refused_columns(columns, message):
    with pytest.raises(InputError) as caught:
        compare_files(TABLE, **columns)
    assert str(caught.value) == message


scores = st.lists(st.floats(allow_nan=False), min_size=2, max_size=12)


@given(scores, st.sampled_from([np.float32, np.float64]))
def test_the_text_predicts_what_the_threshold_does(values, kind):
    with np.errstate(over="ignore"):
        column = np.array(values).astype(kind)
    curve = cc.affiliation_curve([1] + [0] * (len(values) - 1), column)
    wide = column.astype(np.float64)
    for threshold in curve.thresholds.tolist():
        text = threshold_text(curve, threshold)
        assert ((wide >= float(text)) == (wide >= threshold)).all()


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.5, 24.0, 165.4], ["165.4", "24", "0.5"]),
        ([1 / 3, 2 / 3], ["0.6666", "0.3333"]),
        ([0.97543, 0.975434567], ["0.975434", "0.97543"]),
        ([0.0, 123456.789012], ["123456", "0"]),
        ([-1 / 3, -2 / 3], ["-0.3334", "-0.6667"]),
        ([1e-9 / 3, 1.0], ["1", "3.333e-10"]),
        ([1.0, np.nextafter(1, 2)], ["1.0000000000000002", "1"]),
        ([-np.inf, np.inf], ["inf", "-inf"]),
        ([2**60, 2**60 + 1], [str(2**60 + 1), str(2**60)]),
    ],
)
def test_texts(values, texts):
    curve = cc.affiliation_curve([1, *[0] * (len(values) - 1)], np.array(values))
    assert [threshold_text(curve, value) for value in curve.thresholds.tolist()] == texts

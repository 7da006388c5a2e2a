"""What every command reads, as Python calls it."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.tables import Inputs, compare_files, curve_files, score_files

START = datetime(2024, 1, 1, tzinfo=UTC)
TIMES = [START + timedelta(hours=hour) for hour in range(12)]
TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0]
ALARM = [0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0]
SAMPLES = pa.table({"t": TIMES, "alarm": ALARM, "det_a": ALARM, "det_b": TRUTH})
EXPECTED = cc.affiliation(TRUTH, ALARM, times=TIMES)


def close(result, expected=EXPECTED):
    for name in ("precision", "recall", "f1"):
        assert getattr(result, name) == pytest.approx(getattr(expected, name), rel=1e-12)


def test_a_list_in_local_time_that_is_open_overlaps_and_reaches_out(tmp_path):
    path = tmp_path / "incidents.json"
    records = [
        {"start": "2024-01-01T03:00", "end": "2024-01-01T04:30"},
        {"start": "2024-01-01T04:00", "end": "2024-01-01T05:00"},
        {"start": "2024-01-01T09:00", "end": "2024-01-01T10:00"},
        {"start": "2023-12-31T09:00", "end": "2023-12-31T10:00"},
    ]
    path.write_text(json.dumps(records))
    options = {"timezone": "Europe/Berlin", "merge": True, "clip": True}
    close(score_files(path, SAMPLES, predicted="alarm", time="t", **options))
    path.write_text(json.dumps([*records[:2], {"start": "2024-01-01T09:00"}]))
    found = score_files(path, SAMPLES, predicted="alarm", time="t", open="until-end", **options)
    assert found.events.stop[-1] == found.events.zone_stop[-1]


def test_events_in_samples_lie_where_the_samples_do(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("2-3:1\n8-8:1\n")
    close(score_files(path, SAMPLES, predicted="alarm", time="t"))
    close(score_files(path, SAMPLES, predicted="alarm"), cc.affiliation(TRUTH, ALARM))
    scores = SAMPLES.append_column("score", pa.array(range(12)))
    expected = cc.affiliation_curve(TRUTH, range(12))
    assert curve_files(path, scores, score="score").f1.tolist() == expected.f1.tolist()


def test_patterns_match_no_truth_and_no_time():
    table = SAMPLES.append_column("truth", pa.array(TRUTH))
    compared = compare_files(table, predicted=["*"], time="t")
    assert compared.names == ("alarm", "det_a", "det_b")
    assert compare_files(table, predicted=["alarm", "det_?"], time="t").names == compared.names


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"open": "never"}, InputError, "`open`"),
        ({"disorder": "reverse"}, InputError, "`disorder`"),
        ({"timezone": 5}, InputTypeError, "`timezone` to name a time zone"),
        ({"time": "t", "span": (0, 9)}, InputTypeError, "no `time` beside lists of events"),
        ({"end": 9, "span": (0, 9)}, InputTypeError, "no `end` beside lists of events"),
    ],
)
def test_refused(options, error, message):
    events = pa.table({"start": [1], "stop": [2]})
    with pytest.raises(error, match=message):
        Inputs((events, events), **options).read([None])

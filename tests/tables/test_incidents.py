"""Event lists as people keep them, each format from a small file written by hand."""

import io
import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError


def written(tmp_path, text, name="incidents.csv"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


@pytest.mark.parametrize(
    "header",
    [
        "start,stop",
        "start,end",
        "begin,end",
        "from,to",
        "startsAt,endsAt",
        "start_time,end_time",
        "Start,End",
        "timestamp,duration",
    ],
)
def test_two_columns_by_the_names_that_people_give_them(tmp_path, header):
    second = "20,3\n3,4" if "duration" in header else "20,23\n3,7"
    events = cc.read_events(written(tmp_path, f"{header}\n{second}\n"))
    assert events == cc.Events([(3, 7), (20, 23)])


def test_order_means_nothing_and_details_follow_their_events(tmp_path):
    text = "name,start,end,severity\nb,2024-03-01T05:00,2024-03-01T06:00,\n"
    text += "a,2024-03-01T01:00,2024-03-01T02:30,high\n"
    events = cc.read_events(written(tmp_path, text))
    assert str(events) == (
        "Events([(2024-03-01 01:00:00, 2024-03-01 02:30:00), "
        "(2024-03-01 05:00:00, 2024-03-01 06:00:00)])"
    )
    assert events.details["name"].tolist() == ["a", "b"]
    assert events.details["severity"].tolist() == ["high", None]


@pytest.mark.parametrize("lasts", ["90min", "1.5h", "5400"])
def test_a_duration_is_added_to_the_time(tmp_path, lasts):
    path = written(tmp_path, f"timestamp,duration\n2024-03-01T01:00:00Z,{lasts}\n")
    start = datetime(2024, 3, 1, 1, tzinfo=UTC)
    assert list(cc.read_events(path)) == [(start, start + timedelta(minutes=90))]


def test_nothing_is_guessed_between_two_candidates(tmp_path):
    path = written(tmp_path, "start,stop,end\n1,2,3\n")
    with pytest.raises(
        InputError, match=r'Choose: `columns="start,stop"` or `columns="start,end"`'
    ):
        cc.read_events(path)
    assert cc.read_events(path, columns="start,end") == cc.Events([(1, 3)])
    assert cc.read_events(path, columns=("start", "stop")) == cc.Events([(1, 2)])


def test_an_open_event_is_an_error_that_names_row_and_column_or_lasts_as_long_as_told(tmp_path):
    path = written(tmp_path, "opened,closed\n3,7\n20,\n")
    with pytest.raises(InputError, match=r"an end, 'closed', of the event in row 2 of .*none"):
        cc.read_events(path, columns="opened,closed")
    events = cc.read_events(path, columns="opened,closed", open_until=30)
    assert events == cc.Events([(3, 7), (20, 30)])
    path = written(tmp_path, "start,end\n2024-03-01 08:00,\n")
    events = cc.read_events(path, open_until="2024-03-01 09:30", timezone="Europe/Berlin")
    assert str(events.durations[0].astype("timedelta64[m]")) == "90 minutes"
    with pytest.raises(InputError, match="`open_until` to be a number or an ISO time"):
        cc.read_events(path, open_until="tomorrow")


def test_wall_clocks_are_read_in_their_zone(tmp_path):
    path = written(tmp_path, "start,end\n2024-06-01 10:00,2024-06-01 11:00\n")
    events = cc.read_events(path, timezone="Europe/Berlin")
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2024, 6, 1, 10, tzinfo=zone)
    assert list(events) == [(start, start + timedelta(hours=1))]
    assert events.tz == zone
    with_offset = written(tmp_path, "start,end\n2024-06-01T08:00Z,2024-06-01T09:00Z\n", "utc.csv")
    assert cc.read_events(with_offset, timezone="America/Lima") == events


def test_hours_that_clocks_skip_are_told(tmp_path):
    path = written(tmp_path, "start,end\n2024-01-01,2024-01-02\n2024-03-31 02:30,2024-12-01\n")
    with pytest.raises(InputError, match=r"'start' in row 2 of .* which is skipped"):
        cc.read_events(path, timezone="Europe/Berlin")


def test_overlaps_are_kept_until_they_are_joined_with_their_details(tmp_path):
    path = written(tmp_path, "start,end,who\n1,5,a\n3,8,b\n8,9,a\n20,22,c\n")
    with pytest.raises(InputError, match="disjoint"):
        cc.affiliation(cc.read_events(path), cc.Events([(2, 3)]), span=(0, 30))
    joined = cc.read_events(path, merge=True)
    assert joined == cc.Events([(1, 9), (20, 22)])
    assert joined.details["who"].tolist() == ["a; b", "c"]
    tags = [(1, 5, ["a"]), (4, 9, ["a"]), (8, 11, {"b": 1}), (20, 22, ["c"])]
    records = [{"start": start, "end": end, "tags": own} for start, end, own in tags]
    (tmp_path / "records.json").write_text(json.dumps(records))
    joined = cc.read_events(tmp_path / "records.json", merge=True)
    assert joined.details["tags"].tolist() == ["['a']; {'b': 1}", ["c"]]


LIST = "start,end,title,severity\n1,5,disk full,high\n3,8,disk slow,low\n8,9,,\n20,22,cpu,low\n"


@pytest.mark.parametrize("order", ["low,high", " low , high ", ["low", "high"]])
def test_joined_incidents_keep_the_highest_severity_and_list_their_titles(tmp_path, order):
    path = written(tmp_path, LIST)
    unordered = cc.read_events(path, merge=True)
    joined = cc.read_events(path, merge=True, severity_order=order)
    for events in (unordered, joined, cc.read_events(path).merged(severity_order=order)):
        assert events == cc.Events([(1, 9), (20, 22)])
        assert events.details["title"].tolist() == ["disk full; disk slow", "cpu"]
    assert unordered.details["severity"].tolist() == ["high; low", "low"]
    assert joined.details["severity"].tolist() == ["high", "low"]
    numbers = written(tmp_path, LIST.replace("high", "1").replace("low", "2"))
    joined = cc.read_events(numbers, merge=True, severity_order=(3, 2, 1))
    assert joined.details["severity"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"severity_order": "high"}, "to list every severity.*got high beside events of low"),
        ({"severity_order": "low,low"}, "to list different severities"),
        ({"severity_order": "low,"}, "to list different severities"),
        ({"severity_order": 3}, "to list different severities"),
        ({"severity_order": "low,high", "merge": False}, "`severity_order` only beside `merge`"),
    ],
)
def test_bad_orders_of_severities(tmp_path, options, told):
    with pytest.raises((InputError, cc.errors.InputTypeError), match=told):
        cc.read_events(written(tmp_path, LIST), **{"merge": True, **options})


def test_windows_of_nab(tmp_path):
    windows = {
        "a.csv": [["2014-01-02 00:00:00.000000", "2014-01-02 06:00:00.000000"]],
        "b.csv": [],
    }
    path = written(tmp_path, windows, "combined_windows.json")
    events = cc.read_events(path, series="a.csv")
    assert str(events) == "Events([(2014-01-02 00:00:00, 2014-01-02 06:00:00)])"
    assert len(cc.read_events(path, series="b.csv")) == 0
    with pytest.raises(InputError, match=r"(?s)one of the 2 series.*are: a\.csv, b\.csv"):
        cc.read_events(path)


def test_annotations_of_grafana(tmp_path):
    region = {"id": 1, "time": 1700000000000, "timeEnd": 1700003600000, "text": "slow disk"}
    point = {"id": 2, "time": 1700010000123, "timeEnd": 0, "text": "deploy", "tags": ["web", "eu"]}
    events = cc.read_events(written(tmp_path, [point, region], "annotations.json"))
    first = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert next(iter(events)) == (first, first + timedelta(hours=1))
    assert events.durations[1] == np.timedelta64(0, "s")
    assert events.details["text"].tolist() == ["slow disk", "deploy"]
    assert events.details["tags"].tolist() == [None, "web, eu"]


@pytest.mark.parametrize("webhook", [False, True])
def test_alerts_of_alertmanager(tmp_path, webhook):
    def alert(start, end, severity, status):
        labels = {"alertname": "HighLatency", "severity": severity}
        return {"startsAt": start, "endsAt": end, "labels": labels, "status": status}

    resolved = "resolved" if webhook else {"state": "suppressed"}
    firing = "firing" if webhook else {"state": "active"}
    end = "0001-01-01T00:00:00Z" if webhook else "2024-05-02T00:00:00.000Z"
    alerts = [
        alert("2024-05-01T12:00:00.000Z", end, "page", firing),
        alert("2024-05-01T08:00:00.000Z", "2024-05-01T09:00:00.000Z", "warning", resolved),
    ]
    path = written(tmp_path, {"alerts": alerts} if webhook else alerts, "alerts.json")
    with pytest.raises(InputError, match=r"an end, 'endsAt', of the event in row 1 of"):
        cc.read_events(path)
    until = datetime(2024, 5, 1, 20, tzinfo=UTC)
    events = cc.read_events(path, open_until=until)
    assert list(events) == [
        (datetime(2024, 5, 1, 8, tzinfo=UTC), datetime(2024, 5, 1, 9, tzinfo=UTC)),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), until),
    ]
    assert events.details["severity"].tolist() == ["warning", "page"]


def test_labels_of_label_studio(tmp_path):
    def labelled(start, end, *labels):
        value = {"start": start, "end": end, "instant": start == end, "timeserieslabels": labels}
        return {"type": "timeserieslabels", "value": value}

    other = {"type": "choices", "value": {"choices": ["noisy"]}}
    results = [labelled(40.5, 44.0, "drift", "noise"), other, labelled(7.0, 7.0, "spike")]
    path = written(tmp_path, [{"id": 5, "annotations": [{"result": results}]}], "export.json")
    events = cc.read_events(path)
    assert events == cc.Events([(7.0, 7.0), (40.5, 44.0)])
    assert events.details["label"].tolist() == ["spike", "drift, noise"]


def test_channels_of_smap(tmp_path):
    text = "chan_id,spacecraft,anomaly_sequences,class,num_values\n"
    text += 'P-2,SMAP,"[[5300, 6575]]",[point],8209\n'
    text += 'E-1,SMAP,"[[5000, 5030], [5610, 6086]]","[contextual, contextual]",8516\n'
    text += 'P-2,SMAP,"[[100, 109]]",[contextual],8209\n'
    path = written(tmp_path, text, "labeled_anomalies.csv")
    assert cc.read_events(path, series="E-1") == cc.Events([(5000, 5031), (5610, 6087)])
    both = cc.read_events(path, series="P-2")
    assert both == cc.Events([(100, 110), (5300, 6576)])
    assert both.details["class"].tolist() == ["contextual", "point"]
    with pytest.raises(InputError, match="one of the 2 series"):
        cc.read_events(path, series="T-10")


def test_labels_of_smd(tmp_path):
    labels = cc.read_events(written(tmp_path, "0\n1\n1\n0\n1\n", "machine-1-1.txt"))
    assert labels == cc.Events([(1, 3), (4, 5)])
    lines = cc.read_events(written(tmp_path, "16963-17517:1,2\n15849-16368:1,9\n", "smd.txt"))
    assert lines == cc.Events([(15849, 16369), (16963, 17518)])
    assert lines.details["dimensions"].tolist() == ["1,9", "1,2"]


def test_names_of_the_ucr_archive(tmp_path):
    name = "001_UCR_Anomaly_DISTORTED1sddb40_35000_52000_52620.txt"
    assert cc.read_events(written(tmp_path, "0.5\n0.7\n", name)) == cc.Events([(52000, 52621)])


@pytest.mark.parametrize("package", [pd, pl])
def test_dataframes(package):
    frame = package.DataFrame({"start": [20, 3], "end": [23.0, None], "team": ["x", None]})
    events = cc.read_events(frame, open_until=9)
    assert events == cc.Events([(3, 9), (20, 23)])
    assert events.details["team"].tolist() == [None, "x"]


def test_records_of_json_and_standard_input(tmp_path, monkeypatch):
    records = [{"start": "2024-01-01T00:00Z", "end": "2024-01-01T01:00Z", "id": 7}]
    events = cc.read_events(written(tmp_path, records, "events.json"))
    assert events.details["id"].tolist() == [7]
    content = io.TextIOWrapper(io.BytesIO(json.dumps(records).encode()))
    monkeypatch.setattr("sys.stdin", content)
    assert cc.read_events("-") == events


def test_details_reach_the_rows_of_a_result(tmp_path):
    text = "start,end,severity,delay\n2,4,low,x\n10,12,high,y\n20,22,low,z\n"
    truth = cc.read_events(written(tmp_path, text))
    r = cc.affiliation(truth, cc.Events([(10, 11)]), span=(0, 30), ignore=[(1, 5)])
    assert [row["details"] for row in r.events.rows()] == [
        {"severity": "high", "delay": "y"},
        {"severity": "low", "delay": "z"},
    ]
    for backend in ("pandas", "polars"):
        frame = r.to_frame(backend)
        assert frame["severity"].to_list() == ["high", "low"]
        assert frame["event_delay"].to_list() == ["y", "z"]
    scores = np.linspace(0, 1, 30)
    curve = cc.affiliation_curve(truth, scores, times=np.arange(30))
    assert curve.at(0.5).events.details["severity"].tolist() == ["low", "high", "low"]


def test_clipped_events_keep_their_details(tmp_path):
    text = "start,end,name\n1,4,a\n6,8,b\n9,12,c\n8,8,d\n"
    events = cc.read_events(written(tmp_path, text)).clipped(3, 10)
    assert events == cc.Events([(3, 4), (6, 8), (8, 8), (9, 10)])
    assert events.details["name"].tolist() == ["a", "b", "d", "c"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("opened,closed\n1,2\n", {}, "two columns of .* got the columns opened, closed"),
        ("start,end\nsoon,2\n", {}, "'start' in row 1 of .* ISO time .* got 'soon'"),
        ("start,end\n,2\n", {}, "a time as 'start' in row 1 of"),
        ("timestamp,duration\n1,long\n", {}, "'duration' in row 1 of .* such as 5min"),
        ("start,end\n5,2\n", {}, "Expected events that start before they stop"),
        ("start,end\n1,2\n", {"columns": "a,b"}, "a column 'a' of"),
        ("start,end\n1,2\n", {"timezone": "Mars/Base"}, "a known time zone"),
        ("0.5\n0.7\n", {}, "two columns of times, or one 0/1 label"),
        ('{"a": 1}', {}, "a list of events, got JSON with the keys a"),
        ("[[1, 2]]", {}, "a list of events, got JSON with list of 1"),
        ("[", {}, "to be JSON"),
        ("[" * 100_000, {}, "to be JSON"),
        ('[{"startsAt": "x", "labels": {}}, 5]', {}, "to hold events as its first one does"),
        ('[{"startsAt": "x", "labels": "low"}]', {}, "to hold events as its first one does"),
        ('[{"time": 1e300, "text": "x"}]', {}, "to hold events as its first one does"),
        ('{"a": [["x", "y", "z"]]}', {}, "to hold events as its first one does"),
    ],
)
def test_messages(tmp_path, text, options, message):
    with pytest.raises(InputError, match=message):
        cc.read_events(written(tmp_path, text, "file"), **options)


@pytest.mark.parametrize("options", [{"columns": "a"}, {"columns": 5}, {"timezone": 5}])
def test_types(tmp_path, options):
    with pytest.raises(InputTypeError):
        cc.read_events(written(tmp_path, "start,end\n1,2\n"), **options)
    with pytest.raises(InputTypeError, match="a path or a dataframe"):
        cc.read_events(5)

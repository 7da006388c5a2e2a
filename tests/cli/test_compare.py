"""`closecall compare` on real files, in every format and width."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from closecall.affiliation.result import headlines
from closecall.cli.compare import _print_intervals
from closecall.cli.intervals import lead_texts
from closecall.compare import compare
from closecall.datasets import demo
from closecall.signature import parse
from closecall.statistics import caution_about, caution_about_pairs
from tests.cli.conftest import lines, unsigned

COLUMNS = ("--truth", "label", "--predicted", "threshold", "--predicted", "forecast")


def test_scores_are_shown_with_their_thresholds(run, demo_file):
    scores = ("--score", "threshold_score", "--score", "forecast_score")
    given = ("--threshold", "forecast_score=30")
    printed = unsigned(run("compare", demo_file, "--truth", "label", *scores, *given))
    table = next(place for place, line in enumerate(printed) if line.startswith("detector "))
    assert printed[table].endswith("threshold")
    assert printed[table + 1].startswith("threshold_score")
    assert printed[table + 1].endswith("165.4")
    assert printed[table + 2].startswith("forecast_score")
    assert printed[table + 2].endswith("30")
    assert printed[-1].startswith("Times are in the units of the input")


def test_json_is_the_result_itself_and_what_chance_reaches(run, demo_file):
    data = demo()
    options = ("--time", "time", "--decimals", "2", "--format", "json")
    result = run("compare", demo_file, *COLUMNS, *options)
    expected = compare(data.truth, data.predicted, times=data.times, decimals=2)
    printed = json.loads(result.stdout)
    assert printed.pop("schema") == "closecall/compare/1"
    for row, level in zip(printed["detectors"], expected.results.values(), strict=True):
        for score in ("precision", "recall", "f1"):
            assert row[f"chance_{score}"] == getattr(level.chance, score)
    assert printed.pop("headlines") == headlines(expected.results)
    assert printed.pop("notes") == []
    assert (printed.pop("ignored_time"), printed.pop("left_out")) == (0, {"events": 0, "alarms": 0})
    # Times of a file are read in milliseconds, and those of Python are seconds here.
    assert printed | {"signature": str(expected.signature)} == expected.to_dict()
    assert parse(printed["signature"]).options == expected.signature.options == {"decimals": 2}


def test_csv_has_one_row_per_event_and_detector(run, demo_file):
    result = run("compare", demo_file, *COLUMNS, "--time", "time", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["event"], row["detector"]) for row in rows[:3]] == [
        ("0", "threshold"),
        ("0", "forecast"),
        ("1", "threshold"),
    ]
    assert len(rows) == 14
    assert (rows[1]["delay"], rows[1]["best"], rows[2]["precision"]) == ("0.0", "True", "")


def test_events_that_nobody_finds_and_a_note_on_rounding(run):
    content = "truth,a,b\n" + "0,0,0\n1,1,1\n0,0,0\n" + "0,0,0\n1,0,0\n0,0,0\n" * 2
    columns = ("--predicted", "a", "--predicted", "b", "--decimals", "1")
    printed = lines(run("compare", "-", *columns, input=content))
    assert printed[0] == "3 true events; all miss #2 and #3"
    row = ["on", "time", "1.00", "1.00", "1.00="]
    rows = [line.split() for line in printed]
    first = rows.index(["1", "1", "1", "a", *row])
    assert rows[first + 1] == ["b", *row]
    assert "Scores are rounded to 1 decimal before they are compared." in printed
    assert "None of these is better than a alone, with 0.50." in printed


def test_a_list_of_incidents_with_points_and_offsets(run):
    Path("incidents.csv").write_text(
        "start,stop\n2024-01-01T01:10+01:00,2024-01-01T01:20+01:00\n"
        "2024-01-01T01:40+01:00,2024-01-01T01:40+01:00\n"
    )
    alarms = [(0, 1), (1, 0), (0, 0), (0, 1), (0, 1), (1, 0)]
    Path("alarms.csv").write_text(
        "t,a,b\n"
        + "".join(f"2024-01-01T01:{step}0+01:00,{a},{b}\n" for step, (a, b) in enumerate(alarms))
    )
    detectors = ("--predicted", "a", "--predicted", "b", "--time", "t")
    printed = lines(run("compare", "incidents.csv", "alarms.csv", *detectors))
    place = next(place for place, line in enumerate(printed) if line.startswith("2  2024"))
    first, second, zone = printed[place : place + 3]
    assert first.startswith("2  2024-01-01 00:40  a point  a         missed, nearest 10 min after")
    assert second.split()[:4] == ["b", "10", "min", "early"]
    assert zone == "Times are at UTC+00:00."


def test_many_events_that_nobody_finds(run):
    content = "truth,a,b\n" + "0,0,0\n1,1,1\n" + "0,0,0\n1,0,0\n" * 35
    printed = run("compare", "-", "--predicted", "a", "--predicted", "b", input=content).stdout
    head = " ".join(printed.split("\n\n")[0].split())
    assert head.startswith("36 true events; all miss #2, #3, #4,")
    assert head.endswith("#31 and 5 more")


def test_nobody_predicts_anything(run):
    content = "truth,a,b\n0,0,0\n1,0,0\n"
    printed = lines(run("compare", "-", "--predicted", "a", "--predicted", "b", input=content))
    assert printed[0] == "1 true event; all miss #1"
    assert "Nobody predicts anything." in printed


HOSTILE = ["[red]boom[/red]", "\x1b[31mred", "a\nb", "<img src=x onerror=alert(1)>", "=1+1"]


@pytest.fixture
def crowd(tmp_path):
    truth = np.tile([0, 0, 1, 1, 0], 50)
    names = HOSTILE + [f"a_detector_with_a_long_name_{number}" for number in range(10)]
    columns = {name: np.roll(truth, shift) for shift, name in enumerate(names)}
    pq.write_table(pa.table({"truth": truth} | columns), tmp_path / "crowd.parquet")
    return ["crowd.parquet", *(part for name in names for part in ("--predicted", name))]


def test_many_detectors_with_hostile_names(run, crowd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    printed = lines(run("compare", *crowd))
    assert "\x1b" not in "".join(printed)
    assert max(map(len, printed)) <= 80
    for name in ("[red]boom[/red] ", r"\x1b[31mred ", r"a\nb "):
        assert len([line for line in printed if line.startswith(name)]) >= 2
    assert "... and 45 more events; `--all` shows all." in printed
    assert "... and 90 more pairs; `--all` shows all." in printed
    assert not any("more pairs" in line for line in lines(run("compare", *crowd, "--all")))


def test_evaluated_time(run, demo_file):
    options = ("--time", "time", "--from", "2024-03-08T12:00")
    printed = lines(run("compare", demo_file, *COLUMNS, *options))
    left = "left out: 2 true events, 9 alarms of threshold, 2 alarms of forecast"
    assert f"Ignored: 4 d 12 h of 14 d; {left}." in " ".join(printed)
    data = demo()
    since = [(data.times[0], np.datetime64("2024-03-08T12:00", "s"))]
    expected = compare(data.truth, data.predicted, times=data.times, ignore=since)
    values = json.loads(run("compare", demo_file, *COLUMNS, *options, "--format", "json").stdout)
    for row, known in zip(values["detectors"], expected.to_dict()["detectors"], strict=True):
        assert row == pytest.approx(known, abs=1e-12)  # rounding depends on the unit of time
    assert values["left_out"]["events"] == 2


def test_intervals_in_json_and_csv(run, demo_file):
    data = demo()
    options = ("--intervals", "--level", "0.9", "--resamples", "500", "--time", "time")
    expected = compare(data.truth, data.predicted, times=data.times)
    intervals = expected.intervals(level=0.9, n=500)
    printed = run("compare", demo_file, *COLUMNS, *options, "--format", "json").stdout
    assert json.loads(printed)["intervals"] == intervals.to_dict()
    printed = run("compare", demo_file, *COLUMNS, *options, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [float(row["low"]) for row in rows] == [row["low"] for row in intervals.rows()]
    assert rows[0]["pvalue"] == ""
    assert float(rows[-1]["pvalue"]) == intervals.pairs[0].f1.pvalue


def test_csv_has_the_header_of_a_batch_and_every_caution(run):
    truth = [0, 1, 1, 0, 0] * 2
    pq.write_table(pa.table({"truth": truth, "a": truth, "b": [1, 0, 0, 0, 0] * 2}), "two.parquet")
    chosen = ("two.parquet", "--predicted", "a", "--predicted", "b", "--intervals")
    printed = run("compare", *chosen, "--format", "csv").stdout
    batch = run("batch", *chosen, "--truth", "truth", "--format", "csv").stdout
    header = "detector,against,number,value,low,high,pvalue,caution,signature"
    assert printed.splitlines()[0] == batch.splitlines()[0] == header
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["caution"] for row in rows[:6]] == [caution_about(2)] * 6
    assert [row["caution"] for row in rows[6:]] == [caution_about_pairs(2)] * 3
    assert {row[name] for row in rows[6:] for name in ("low", "high", "pvalue")} == {""}
    alone = list(csv.DictReader(io.StringIO(batch)))
    assert {row[name] for row in alone for name in ("low", "high", "pvalue")} == {""}


def test_a_lead_of_nothing_has_no_minus(run):
    truth = [0, 1, 1, 0, 0] * 10
    pq.write_table(pa.table({"truth": truth, "a": truth, "b": truth}), "same.parquet")
    chosen = ("--predicted", "a", "--predicted", "b", "--intervals")
    printed = lines(run("compare", "same.parquet", *chosen))
    leads = [line.split() for line in printed if line.startswith(("a ", " ")) and "+0.00" in line]
    assert [lead[-4:] for lead in leads] == [["+0.00", "-0.25", "+0.25", "1"]] * 3
    assert lead_texts(-0.0, -0.001, 0.001, ".2f") == ["+0.00", "-0.00", "+0.00"]


def test_events_in_blocks(run):
    truth = [0, 1, 1, 0, 0] * 36
    failing = [
        label * kept
        for label, kept in zip(
            truth, [1] * 40 + [0] * 30 + [1] * 45 + [0] * 25 + [1] * 40, strict=True
        )
    ]
    pq.write_table(pa.table({"truth": truth, "a": truth, "b": failing}), "runs.parquet")
    chosen = ("compare", "runs.parquet", "--predicted", "a", "--predicted", "b")
    alone = " ".join(lines(run(*chosen, "--intervals")))
    assert "Caution: b: Consecutive events are alike:" in alone
    assert "take them in blocks of 6 (`block`)" in alone
    blocked = " ".join(lines(run(*chosen, "--intervals", "--block", "6")))
    assert "Caution: There are only 6 blocks of events" in blocked
    refused = run(*chosen, "--block", "6")
    assert refused.exit_code == 2
    assert "--level, --resamples and --block are of --intervals" in refused.stderr


def test_intervals_of_many_pairs_and_of_one_event(run):
    names = [f"detector_{number}" for number in range(7)]
    table = {"truth": [0, 1, 1, 0]} | {name: [0, 1, 0, 0] for name in names}
    pq.write_table(pa.table(table), "many.parquet")
    chosen = [part for name in names for part in ("--predicted", name)]
    printed = lines(run("compare", "many.parquet", *chosen, "--intervals"))
    start = printed.index("How sure: 95 % intervals over events")
    assert "detector_0  1.00 (-)   0.88 (-)  0.93 (-)" in printed
    assert "... and 6 more pairs; `--all` shows all." in printed[start:]
    assert any(line.startswith("Caution: There is only one event.") for line in printed)
    row = next(line for line in printed[start:] if line.startswith("detector_0  detector_1"))
    assert row.split() == ["detector_0", "detector_1", "precision", "+0.00", "-", "-", "-"]
    everything = lines(run("compare", "many.parquet", *chosen, "--intervals", "--all"))
    assert sum("precision  +0.00" in line for line in everything) == 21


@pytest.mark.parametrize(("events", "green"), [(2, 0), (5, 0), (6, 3)])
def test_a_lead_is_coloured_from_six_events_on(events, green):
    truth = [0, 1, 1, 0, 0] * events
    compared = compare(truth, {"right": truth, "early": [1, 0, 0, 0, 0] * events})
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system="standard", width=100)
    _print_intervals(compared, compared.intervals(), console, None)
    assert shown.getvalue().count("\x1b[32m") == green

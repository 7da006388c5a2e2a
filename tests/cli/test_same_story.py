"""`demo`, `score`, `curve`, `compare` and `batch` tell one story of the same data."""

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow.csv import read_csv
from pyarrow.parquet import write_table

import closecall as cc
from closecall.signature import parse
from closecall.wording import headline, outcome_text
from tests.cli.conftest import lines

THRESHOLD = 24  # where the scores give the labels of the detector
COLUMNS = ("--truth", "label", "--time", "time")
SCORES = ("precision", "recall", "f1")


@pytest.fixture
def stories(run, demo_file):
    """What each command says of the detector `forecast`, in JSON and on the terminal."""
    arguments = {
        "score": (*COLUMNS, "--predicted", "forecast"),
        "curve": (*COLUMNS, "--score", "forecast_score", "--threshold", f"{THRESHOLD}"),
        "compare": (*COLUMNS, "--predicted", "threshold", "--predicted", "forecast"),
        "batch": (*COLUMNS, "--predicted", "forecast", "--per-event"),
    }
    screens = {
        name: lines(run(name, demo_file, *options))
        for name, options in arguments.items()
        if name != "batch"
    }
    screens["demo"] = lines(run("demo"))
    values = {
        name: json.loads(run(name, demo_file, *options, "--format", "json").stdout)
        for name, options in arguments.items()
    }
    return screens, values


def told(values):
    """Return the counts, scores, levels of chance and events of each command, in one shape."""
    score, curve = values["score"], values["curve"]["chosen"]
    (compared,) = [row for row in values["compare"]["detectors"] if row["detector"] == "forecast"]
    events = [row | row["detectors"]["forecast"] for row in values["compare"]["events"]]
    (series,) = values["batch"]["rows"]
    columns = ("start", "stop", "outcome", "delay", "nearest", *SCORES)

    def story(headline, scores, levels, rows):
        return {
            "headline": headline,
            "scores": scores,
            "chance": levels,
            "events": [{name: row[name] for name in columns} for row in rows],
        }

    return {
        **{
            name: story(
                one["headline"],
                {key: one[key] for key in (*SCORES, "alarms")},
                {key: one["chance"][key] for key in SCORES},
                one["events"],
            )
            for name, one in (("score", score), ("curve", curve))
        },
        "compare": story(
            values["compare"]["headlines"]["forecast"],
            {key: compared[key] for key in (*SCORES, "alarms")},
            {key: compared[f"chance_{key}"] for key in SCORES},
            events,
        ),
        "batch": story(
            headline(
                series["caught"],
                series["true_events"],
                chance=series["chance_caught"],
                median_delay=series["median_delay"],
                alarmed=series["alarmed"],
                false_alarms=series["false_alarms"],
                length=series["evaluated_days"] * 86_400,
                dated=True,
            ),
            {key: series[f"affiliation_{key}"] for key in SCORES}
            | {"alarms": series["predicted_events"]},
            {key: series[f"chance_{key}"] for key in SCORES},
            values["batch"]["events"],
        ),
    }


def test_values_and_screens_are_the_same(stories):
    screens, values = stories
    found = told(values)
    assert found["score"] == found["curve"] == found["compare"] == found["batch"]
    assert [row["outcome"] for row in found["score"]["events"]].count("caught") == 6
    story = found["score"]
    assert story["headline"].startswith("6 of 7 caught (0.6 by chance), median delay 35 min")
    for name, screen in screens.items():
        text = "\n".join(screen)
        assert story["headline"] in text, name
        # Where several detectors are listed, the rows of this one come after its name.
        part = {"demo": "\nforecast: ", "compare": "\ndetector "}.get(name, "")
        rows = text[text.index(part) if part else 0 :]
        for row in story["events"]:
            outcome = outcome_text(row["outcome"], row["delay"], row["nearest"], dated=True)
            start = row["start"].replace("T", " ").removesuffix(":00")
            after = rows[rows.index(start) :].split("\n")[: 2 if name == "compare" else 1]
            assert outcome in after[-1], (name, row["start"])
        for key in SCORES:
            assert f"{story['scores'][key]:.2f}" in text, (name, key)
            assert name in ("demo", "compare") or f"{story['chance'][key]:.2f}" in text
        assert f"{story['chance']['f1']:.2f}" in text, name


def test_detectors_side_by_side_have_one_unit_of_time(run, demo_file):
    rates = {
        "threshold_score": "3 false alarms a week",
        "forecast_score": "0.5 false alarms a week",
    }
    options = (*COLUMNS, *(word for name in rates for word in ("--score", name)))
    for command in ("score", "curve", "compare"):
        printed = lines(run(command, demo_file, *options))
        values = json.loads(run(command, demo_file, *options, "--format", "json").stdout)
        for name, rate in rates.items():
            assert next(line for line in printed if line.startswith(name)).endswith(rate), command
            if command == "compare":
                assert values["headlines"][name].endswith(rate)
            else:
                (record,) = [row for row in values["detectors"] if row["detector"] == name]
                assert record.get("chosen", record)["headline"].endswith(rate)
    curves = " ".join(lines(run("curve", demo_file, *options)))
    assert "6.5 alarms a week" in curves
    assert " a day" not in curves


def test_commands_advise_to_leave_a_warm_up_out(run, tmp_path):
    rows = [f"{k},{int(k in (40, 41, 80))},{max(k - 20, 0) % 7},{k % 5}" for k in range(100)]
    file = str(tmp_path / "warm.csv")
    Path(file).write_text("\n".join(("t,label,cold,warm", *rows)) + "\n")
    options = ("--truth", "label", "--time", "t", "--score")
    alone = "The first 21% of the time has neither events nor a score that changes: if"
    for command in ("score", "curve"):
        assert alone in " ".join(lines(run(command, file, *options, "cold"))), command
    for command in ("score", "curve", "compare"):
        printed = " ".join(lines(run(command, file, *options, "warm", "--score", "cold")))
        assert f"cold: {alone}" in printed, command


def test_one_file_has_one_hash_in_every_command_format_and_backend(run, demo_file):
    table = read_csv(demo_file)
    nanoseconds = table["time"].cast(pa.timestamp("ns"))
    fine = table.set_column(table.column_names.index("time"), "time", nanoseconds)
    write_table(fine, "fine.parquet")
    found = {"alarms": set(), "scores": set(), "both": set()}

    def hashes(kind, *arguments):
        values = run(*arguments, *COLUMNS, "--format", "json").stdout
        found[kind].add(parse(json.loads(values)["signature"]).data)

    score, other = ("--score", "forecast_score"), ("--score", "threshold_score")
    for file in (demo_file, "fine.parquet"):
        for command in ("score", "batch"):
            hashes("alarms", command, file, "--predicted", "forecast")
        for command in ("score", "curve", "batch"):
            hashes("scores", command, file, *score)
        for command in ("compare", "batch"):
            hashes("both", command, file, *score, *other)
    for frame in (fine, table.to_pandas(), fine.to_pandas(), pl.from_arrow(fine)):
        for kind, sides in (
            ("alarms", {"predicted": "forecast"}),
            ("scores", {"score": "forecast_score"}),
            ("both", {"score": ["forecast_score", "threshold_score"]}),
        ):
            result = cc.evaluate_frame(frame, truth="label", time="time", **sides)
            found[kind].add(result.signature.data)
    assert {kind: len(rows) for kind, rows in found.items()} == {
        "alarms": 1,
        "scores": 1,
        "both": 1,
    }

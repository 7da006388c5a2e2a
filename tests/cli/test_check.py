"""`closecall check`: statuses, files that are written, bad input, the workflow of the documents."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from closecall.signature import parse
from tests.cli.conftest import lines
from tests.conftest import REPOSITORY

DATA = "demo.csv --truth label --time time"
FORECAST, THRESHOLD = (f"--predicted {name}" for name in ("forecast", "threshold"))


@pytest.fixture(scope="module")
def found():
    return {}


@pytest.fixture
def scored(run, demo_file, found):
    """JSON of one detector, of another, and of both, made once."""
    detectors = {"old": FORECAST, "new": THRESHOLD, "both": f"{FORECAST} {THRESHOLD}"}
    for name, options in detectors.items():
        if name not in found:
            found[name] = run(*f"score {DATA} {options} --format json".split()).stdout
        Path(f"{name}.json").write_text(found[name], encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("old.json --min affiliation_f1=0.5 --max false_alarms_per_day=2", 0),
        ("old.json --min affiliation_f1=0.8", 3),
        ("old.json --min affiliation_f1=0.999", 1),
        ("old.json --max missed=0", 1),
        ("old.json --baseline old.json", 0),
        ("new.json --baseline old.json --tolerance 0.02", 1),
        ("new.json --baseline old.json --tolerance 0.02 --max newly_missed=1", 3),
        ("both.json --max missed=1 --detector forecast", 0),
        ("both.json --max close_calls=0 --max missed=1", 0),
        (f"{DATA} {FORECAST} --min f1=0.5 --baseline old.json", 0),
        (f"{DATA} {FORECAST} --baseline both.json", 0),
        (f"{DATA} {FORECAST} --min event_wise_recall=0.9", 1),
        (f"{DATA} {FORECAST} --metric margin:margin=10min --max margin_f1=0", 1),
        (f"{DATA} --score forecast_score --threshold 1e9 --min f1=0.1", 1),
    ],
)
def test_the_status_is_the_verdict(run, scored, arguments, status):
    result = run("check", *arguments.split())
    assert (result.exit_code, result.stderr) == (status, "")
    verdict = {0: "pass", 1: "fail", 3: "investigate"}[status]
    assert result.stdout.startswith(f"{verdict}: ")


def test_results_come_through_a_pipe_and_data_too(run, scored):
    for name in ("old.json", "demo.csv"):
        options = [] if name == "old.json" else f"--truth label --time time {FORECAST}".split()
        text = Path(name).read_text(encoding="utf-8")
        found = run("check", "-", *options, "--max", "missed=1", input=text)
        assert found.exit_code == 0


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.json"])
def test_rows_of_a_batch(run, demo_file, name):
    batch = f"batch {DATA} --score forecast_score --score threshold_score"
    if name == "rows.json":
        Path(name).write_text(run(*batch.split(), "--format", "json").stdout, encoding="utf-8")
    else:
        run(*batch.split(), "--output", name)
    common = ["check", name, "--detector", "forecast_score", "--baseline", name]
    assert run(*common, "--min", "f1=0.9").exit_code == 0
    found = run(*common, "--max", "false_alarms_per_day=0.05", "--format", "json")
    limit = json.loads(found.stdout)["limits"][0]
    row = json.loads(run(*batch.split(), "--format", "json").stdout)["rows"][0]
    rate = row["false_alarms"] / row["evaluated_days"]
    assert (limit["value"], limit["status"]) == (
        pytest.approx(rate),
        "fail" if rate > 0.05 else "pass",
    )


def test_json_and_csv_hold_the_limits(run, scored):
    arguments = "check new.json --max missed=0 --baseline old.json"
    found = json.loads(run(*arguments.split(), "--format", "json").stdout)
    assert found["headline"] == "fail: 2 of 5 limits broken, 3 of 5 limits in doubt"
    assert {moved["change"] for moved in found["moved"]} >= {"newly missed", "newly caught"}
    table = run(*arguments.split(), "--format", "csv").stdout.splitlines()
    head = "detector,number,value,at_least,limit,low,high,baseline,status,reason,signature"
    assert table[:2] == [head, f",missed,1,False,0.0,,,,fail,,{found['signature']}"]
    for name, key in (("new.json", "signature"), ("old.json", "baseline_signature")):
        assert found[key] == json.loads(Path(name).read_text(encoding="utf-8"))["signature"]


def test_data_is_signed_as_by_score(run, scored):
    text = run("check", *DATA.split(), *FORECAST.split(), "--min", "f1=0").stdout
    old = json.loads(Path("old.json").read_text(encoding="utf-8"))
    assert text.splitlines()[-1] == f"signature: {parse(old['signature']).short}"


def test_notes_of_data_are_told(run, demo_file):
    told = lines(run("check", *DATA.split(), "--score", "forecast_score", "--min", "f1=0.5"))
    assert told[0] == "pass: 1 limit kept"
    assert told[1].startswith("Thresholds are those with the highest F1, chosen on the labels")


def test_files_are_written_whole_or_not_at_all(run, scored):
    arguments = "check new.json --baseline old.json --junit junit.xml --markdown {}/summary.md"
    assert run(*arguments.format("nowhere").split()).exit_code == 2
    assert not Path("junit.xml").exists()
    assert run(*arguments.format(".").split()).exit_code == 1
    root = ET.parse("junit.xml").getroot()  # noqa: S314 - our own
    assert [root[0].get(name) for name in ("tests", "failures", "skipped")] == ["4", "1", "3"]
    summary = Path("summary.md").read_text(encoding="utf-8")
    told = "fail: 1 of 4 limits broken, 3 of 4 limits in doubt"
    assert summary.startswith(f"## closecall check: {told}\n")
    assert "newly missed" in summary
    told = root.findall("testsuite/properties/property")
    assert [line.get("name") for line in told] == ["signature", "baseline_signature"]
    assert all(f"`{line.get('value')}`" in summary for line in told)
    left = {path.name for path in Path().iterdir()}
    assert left == {"demo.csv", "old.json", "new.json", "both.json", "junit.xml", "summary.md"}


def changed(name, change):
    """Write old.json, changed, under another name."""
    values = json.loads(Path("old.json").read_text(encoding="utf-8"))
    change(values)
    Path(name).write_text(json.dumps(values), encoding="utf-8")


BAD = {
    "old.json --min affilation_f1=0.8": "got 'affilation_f1'. Hint: Did you mean affiliation_f1",
    "old.json --min f1": "Invalid value for '--min': 'f1' is no NAME=VALUE",
    "old.json --min f1=1 --min f1=2": "--min is given twice for one number.",
    "old.json": "Give a limit, such as --min affiliation_f1=0.8, or a --baseline.",
    "both.json --baseline old.json": "`--baseline` to hold the detector 'forecast'",
    "none.json --min f1=1": "Expected a file at none.json, got none.",
    "old.json --baseline demo.csv": "Expected demo.csv to hold results of",
    "old.json --baseline curve.json": "closecall/batch/1, got 'closecall/curve/1'.",
    "old.json --baseline bare.json": "bare.json to follow the schema closecall/score/1, got Key",
    "old.json --baseline text.json": "text.json to follow the schema closecall/score/1, got Value",
    "old.json --baseline unsigned.json": "to have a signature that can be read, got 'x|y'",
    "old.json --baseline half.json": "Expected half.json to be whole JSON",
    "old.json --baseline deep.json": "Expected deep.json to be whole JSON",
    "cut.parquet --min f1=1": "Expected cut.parquet to be",
    "old.json --baseline twice.csv": "schema closecall/batch/1, got ValueError: a series twice.",
    "old.json --min f1=0.5 --junit old.json": "`--junit` to write to none of the files",
    "old.json --baseline new.json --markdown new.json": "`--markdown` to write to none of the",
    "old.json --min f1=0 --junit j.xml --output nowhere/x.json": "directory: nowhere/x.json",
    "old.json --min f1=0 --junit j.xml --markdown nowhere/m.md": "directory: nowhere/m.md",
    f"{DATA} {FORECAST} --threshold 3 --min f1=1": "--threshold is of --score",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_has_a_status_of_its_own_and_one_line(refuse, scored, arguments):
    changed("curve.json", lambda values: values.update(schema="closecall/curve/1"))
    changed("bare.json", lambda values: values.pop("events"))
    changed("unsigned.json", lambda values: values.update(signature="x|y"))
    changed("text.json", lambda values: values.update(f1="high"))
    whole = Path("old.json").read_text(encoding="utf-8")
    Path("half.json").write_text(whole[:-9], encoding="utf-8")
    Path("deep.json").write_text('{"schema": "closecall/score/1", "a": ' + "[" * 10**5, "utf-8")
    Path("cut.parquet").write_bytes(b"PAR1" + b"\x15" * 20)
    table = ["detector,status,true_events,predicted_events", *["forecast,ok,7,3"] * 2]
    Path("twice.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    before = {path.name for path in Path().iterdir()}
    told = refuse("check", *arguments.split(), code=2)
    assert len(told) <= 2
    assert BAD[arguments] in " ".join(told)
    assert {path.name for path in Path().iterdir()} == before


def workflow():
    """The commands of the workflow in docs/check.md, each with whether it always runs."""
    text = (REPOSITORY / "docs" / "check.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    steps = re.split(r"\n +- ", block.split("steps:")[1])
    ran = [
        re.search(r"run: (?:>-\n)?(.*?)(?:\n +if: (\S+))?\s*$", step, re.DOTALL) for step in steps
    ]
    return [(" ".join(found[1].split()), found[2]) for found in ran if found]


def test_the_workflow_turns_red_on_a_planted_regression(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    commands = workflow()
    assert [command.split()[:2] for command, _ in commands] == [
        ["pip", "install"],
        ["python", "detect.py"],
        ["closecall", "score"],
        ["closecall", "check"],
        ["cat", "summary.md"],
    ]
    (_, detect, score, _, _) = (command for command, _ in commands)

    def step(command):
        if command.startswith("closecall "):
            return run(*shlex.split(command)[1:]).exit_code
        line = command.replace("python", shlex.quote(sys.executable))
        return subprocess.run(["/bin/bash", "-e", "-c", line], check=False).returncode  # noqa: S603

    for missed in ((), range(9)):
        (tmp_path / "detect.py").write_text(DETECTOR.format(missed=list(missed)), encoding="utf-8")
        if not missed:
            assert [step(detect), step(score)] == [0, 0]
            (tmp_path / "new.json").rename(tmp_path / "baseline.json")
        failed = False
        for command, condition in commands[1:]:
            if not failed or condition == "always()":
                failed |= step(command) != 0
        assert failed == bool(missed)
        suite = ET.parse(tmp_path / "junit.xml").getroot()[0]  # noqa: S314 - our own
        assert (suite.get("failures") != "0") == bool(missed)
        summary = (tmp_path / "step.md").read_text(encoding="utf-8")
        assert summary.startswith(f"## closecall check: {'fail' if missed else 'pass'}: ")
        assert summary.count("| newly missed |") == len(missed)
        (tmp_path / "step.md").unlink()


DETECTOR = """
missed = {missed}
with open("data.csv", "w", encoding="utf-8") as file:
    print("time,label,alarm", file=file)
    for hour in range(12 * 24):
        event, at = divmod(hour, 24)
        label, alarm = 10 <= at < 14, 11 <= at < 14 and event not in missed
        print(f"2024-01-{{event + 1:02}}T{{at:02}}:00:00,{{label:d}},{{alarm:d}}", file=file)
"""

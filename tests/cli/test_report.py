"""`closecall report` on real files."""

import json
import re
from pathlib import Path

import pytest

import closecall as cc

FILE = "t,label,score,alarm,value,group\n" + "".join(
    f"2024-01-0{1 + step // 4} {6 * (step % 4):02}:00:00,{label},{score},{alarm},{step},{group}\n"
    for step, (label, score, alarm, group) in enumerate(
        [
            (0, 0.1, 0, "x"),
            (0, 0.3, 0, "x"),
            (1, 0.2, 1, "x"),
            (1, 0.9, 1, "x"),
            (0, 0.8, 0, "x"),
            (0, 0.1, 0, "y"),
            (0, 0.0, 0, "y"),
            (0, 0.7, 1, "y"),
            (1, 0.4, 0, "y"),
            (0, 0.1, 0, "y"),
        ]
    )
)
COLUMNS = ("--truth", "label", "--time", "t", "--score", "score", "--script", "cdn")


@pytest.fixture(autouse=True)
def data(tmp_path):
    (tmp_path / "data.csv").write_text(FILE)


def block(path, name):
    text = Path(path).read_text("utf-8")
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text)
    return json.loads(found[1])


def test_one_series(run):
    options = ("--predicted", "alarm", "--value", "value", "--title", "My page")
    result = run("report", "data.csv", "-o", "out.html", *COLUMNS, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines()[-1].startswith("Wrote out.html (0.1 MB).")
    about = block("out.html", "report")
    assert (about["title"], about["batch"]) == ("My page", False)
    series = block("out.html", "series-0")
    assert [row["name"] for row in series["detectors"]] == ["score", "alarm"]
    assert series["clock"]["kind"] == "datetime"
    truth, scores, alarms = (
        [float(line.split(",")[column]) for line in FILE.splitlines()[1:]] for column in (1, 2, 3)
    )
    assert series["detectors"][0]["f1"] == cc.affiliation_curve(truth, scores).best().fbeta
    assert series["detectors"][1]["recall"] == pytest.approx(cc.affiliation(truth, alarms).recall)
    assert series["values"]["type"] == "f4"


def test_one_page_for_many_series(run):
    result = run("report", "data.csv", "-o", "out.html", *COLUMNS, "--by", "group")
    assert result.exit_code == 0
    about = block("out.html", "report")
    assert (about["title"], about["batch"]) == ("data.csv", True)
    assert [(one["name"], one["samples"]) for one in about["series"]] == [("x", 5), ("y", 5)]


def test_standard_input_and_plain_samples(run):
    arguments = ("-o", "out.html", "--score", "s", "--script", "cdn")
    result = run("report", "-", *arguments, input="truth,s\n0,1\n1,5\n0,2\n")
    assert result.exit_code == 0
    assert block("out.html", "series-0")["clock"]["kind"] == "samples"


REFUSED = {
    "no such column": (
        ("--score", "scoer"),
        1,
        "Error: Expected `score` to name a column of data.csv, got 'scoer'.",
    ),
    "event columns": (
        ("--truth", "label,alarm"),
        1,
        "Error: Expected `truth` to name a column of data.csv, got 'label,alarm'.",
    ),
    "no folder": (("-o", "no/out.html"), 1, "Error: No such file or directory: no/out.html"),
    "no such script": (("--script", "inline"), 2, "Error: Invalid value for '--script'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(refuse, run, case):
    run("report", "data.csv", "-o", "out.html", *COLUMNS)  # so that nothing is compiled below
    options, code, message = REFUSED[case]
    lines = refuse("report", "data.csv", "-o", "out.html", *COLUMNS, *options, code=code)
    assert lines[0].startswith(message)


def test_an_output_is_required(refuse):
    lines = refuse("report", "data.csv", *COLUMNS, code=2)
    assert lines[0].startswith("Error: Missing option '-o'")

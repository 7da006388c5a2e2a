"""`closecall audit` on real files, in every format."""

import csv
import io
import json
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from closecall.adversary.audit import audit
from closecall.signature import parse

TRUTH = ([0] * 60 + [1] * 30) * 4 + [0] * 60
LATE = [0] * 10 + TRUTH[:-10]
HALF = [0] * 15 + TRUTH[:-15]
AFTER = [0] * 40 + TRUTH[:-40]  # ten samples after each event
CHOSEN = ("--metric", "affiliation", "--metric", "range_based", "--budget", "30")
COLUMNS = ("--truth", "label", "--predicted", "late", "--predicted", "half")


@pytest.fixture
def series(tmp_path):
    lines = ["t,label,late,half,after"]
    start = np.datetime64("2024-01-01T00:00:00")
    for step, labels in enumerate(zip(TRUTH, LATE, HALF, AFTER, strict=True)):
        lines.append(f"{start + np.timedelta64(60 * step, 's')},{','.join(map(str, labels))}")
    (tmp_path / "series.csv").write_text("\n".join(lines) + "\n")
    return "series.csv"


def expected(**options):
    metrics = {"affiliation": {}, "range_based": {}}
    return audit(TRUTH, {"late": LATE, "half": HALF}, metrics=metrics, budget=30, **options)


def test_every_metric_by_default_with_its_whole_name(run, series, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    printed = run("audit", series, *COLUMNS, "--budget", "5").stdout
    first = printed.partition("Beaten")[0].partition("Holds")[0]
    names = set(re.findall(r"^(\w+) +raw ", first, re.MULTILINE))
    assert names >= {"classical", "affiliation", "range_based", "time_aware", "hausdorff"}
    assert "affiliation_above_chance" in names
    assert "margin" not in names
    assert max(map(len, first.splitlines())) <= 80
    assert "verdict" in first.splitlines()[5]


def test_what_only_a_given_event_wins_is_said_apart(run):
    """Two events, and a detector that finds both late: who is told one of them does better."""
    truth = [0] * 200 + [1] * 100 + [0] * 700 + [1] * 40 + [0] * 400
    poor = np.roll(truth, 80).tolist()
    lines = ["truth,poor", *(f"{label},{other}" for label, other in zip(truth, poor, strict=True))]
    Path("poor.csv").write_text("\n".join(lines) + "\n")
    options = ("--truth", "truth", "--predicted", "poor", "--metric", "affiliation")
    printed = " ".join(run("audit", "poor.csv", *options).stdout.split())
    said = "Beaten only by a rival that knows a true event which the detectors do not: affiliation"
    assert said in printed
    assert printed.startswith(
        "1 of 1 metrics are beaten by a prediction without information, and 0"
    )


@pytest.mark.parametrize(("axis", "unit"), [((), "samples"), (("--time", "t"), "seconds")])
def test_distances_have_a_unit(run, series, axis, unit):
    chosen = ("--metric", "hausdorff", "--metric", "affiliation", "--budget", "5")
    printed = run("audit", series, *COLUMNS, *axis, *chosen).stdout
    assert f"hausdorff: in {unit}." in printed
    score = {"samples": "10", "seconds": "600"}[unit]
    assert re.search(rf"^hausdorff +raw +late +{score} ", printed, re.MULTILINE)


def test_json_is_the_result_itself(run, series):
    result = run("audit", series, *COLUMNS, *CHOSEN, "--format", "json")
    named = {"schema": "closecall/audit/1"} | expected().to_dict()
    assert json.loads(result.stdout) == json.loads(json.dumps(named))


def test_csv_has_one_row_per_metric_and_prediction(run, series):
    result = run("audit", series, *COLUMNS, *CHOSEN, "--format", "csv", "--output", "out.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert len(rows) == 16
    for comparison in ("raw", "joined"):
        beaten = [row[f"beaten_{comparison}"] for row in rows]
        assert beaten == ["False"] * 8 + ["True"] * 8
    assert [float(row["score"]) for row in rows] == [row["score"] for row in expected().table]


def test_times_and_parameters_with_a_unit(run, series):
    columns = ("--truth", "label", "--predicted", "after", "--time", "t")
    scores = {}
    for margin in ("9min", "660s"):
        arguments = ("audit", series, *columns, "--budget", "5", "--format", "json")
        result = run(*arguments, "--metric", f"margin:margin={margin}")
        assert result.exit_code == 0, result.stderr
        scores[margin] = json.loads(result.stdout)["table"][0]["score"]
    assert scores == {"9min": 0, "660s": 1}


def test_a_trivial_column_and_a_seed(run, series):
    table = np.genfromtxt(series, delimiter=",", names=True, dtype=None, encoding="utf-8")
    trivial = np.zeros(len(TRUTH), dtype=int)
    trivial[65:85] = 1
    lines = ["label,late,rule"]
    rows = zip(table["label"], table["late"], trivial, strict=True)
    lines += [",".join(map(str, row)) for row in rows]
    Path("rule.csv").write_text("\n".join(lines) + "\n")
    arguments = ("--truth", "label", "--predicted", "late", "--trivial", "rule", "--seed", "7")
    result = run("audit", "rule.csv", *arguments, *CHOSEN, "--format", "json")
    metrics = {"affiliation": {}, "range_based": {}}
    direct = audit(TRUTH, {"late": LATE}, metrics=metrics, budget=30, trivial=trivial, seed=7)
    named = {"schema": "closecall/audit/1"} | direct.to_dict()
    assert json.loads(result.stdout) == json.loads(json.dumps(named))


def test_a_series_on_which_every_metric_is_beaten(run):
    lines = ["truth,predicted", *(f"{label},{1 - label}" for label in [0] * 30 + [1] * 10)]
    Path("wrong.csv").write_text("\n".join(lines) + "\n")
    printed = run("audit", "wrong.csv", "--metric", "classical").stdout
    assert printed.startswith(
        "1 of 1 metrics are beaten by a prediction without information, and 1 if"
    )
    assert "Every metric is beaten: on this series the detectors may be no better" in printed
    assert "Left out: alternating, it is built from one true event" in printed


def test_time_is_ignored_as_in_python(run, series, tmp_path):
    (tmp_path / "outage.csv").write_text("start,stop\n2024-01-01T00:10,2024-01-01T00:25\n")
    ignored = ("--time", "t", "--ignore", "outage.csv", "--until", "2024-01-01T05:00")
    result = run("audit", series, *COLUMNS, *CHOSEN, *ignored, "--format", "json")
    kept = [*range(10), *range(25, 300)]
    cut = {"late": [LATE[one] for one in kept], "half": [HALF[one] for one in kept]}
    times = np.datetime64("2024-01-01") + 60 * np.arange(len(kept)).astype("timedelta64[s]")
    metrics = {"affiliation": {}, "range_based": {}}
    truth = [TRUTH[one] for one in kept]
    direct = audit(truth, cut, metrics=metrics, budget=30, times=times).to_dict()
    found = json.loads(result.stdout)
    signature, closed = parse(found.pop("signature")), parse(direct.pop("signature"))
    assert found == {"schema": "closecall/audit/1"} | direct
    assert signature.options == closed.options | {"until": datetime(2024, 1, 1, 5)}  # noqa: DTZ001

"""`closecall audit` on real files, in every format."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from closecall.adversary.audit import audit

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


def test_table(run, series):
    lines = run("audit", series, *COLUMNS, *CHOSEN).stdout.splitlines()
    assert lines[0].startswith(
        "1 of 2 metrics are beaten by a prediction without information (4 true events,"
    )
    header = next(line for line in lines if line.startswith("metric"))
    assert header.split() == [
        *("metric", "late", "half", "trivial", "alternating", "composite", "everything"),
        *("points", "ranges", "verdict"),
    ]
    verdicts = [line for line in lines if line.rstrip().endswith(("holds", "beaten"))]
    assert [line.split()[0] for line in verdicts] == ["affiliation", "range_based"]
    assert verdicts[0].rstrip().endswith("holds")
    assert verdicts[1].rstrip().endswith("beaten")
    scores = {row["prediction"]: row["score"] for row in expected().table[8:]}
    assert f"{scores['alternating']:.2f}*" in verdicts[1]
    assert f"{scores['late']:.2f}" in verdicts[1]


def test_a_narrow_terminal_shows_what_the_verdicts_compare(run, series, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("audit", series, *COLUMNS, *CHOSEN).stdout.splitlines()
    header = next(line for line in lines if line.startswith("metric"))
    assert header.split() == ["metric", "detector", "score", "rival", "score", "verdict"]
    said = " ".join(line.strip() for line in lines)
    wide = re.search(r"A terminal of (\d+) columns, json and csv show every prediction\.", said)
    monkeypatch.setenv("COLUMNS", wide[1])
    assert "everything" in run("audit", series, *COLUMNS, *CHOSEN).stdout
    beaten = next(line for line in lines if line.startswith("range_based"))
    assert "alternating" in beaten
    assert beaten.rstrip().endswith("beaten")
    assert max(len(line.rstrip()) for line in lines) <= 80


@pytest.mark.parametrize(("axis", "unit"), [((), "samples"), (("--time", "t"), "seconds")])
def test_distances_have_a_unit(run, series, axis, unit):
    chosen = ("--metric", "hausdorff", "--metric", "affiliation", "--budget", "5")
    printed = run("audit", series, *COLUMNS, *axis, *chosen).stdout
    assert f"hausdorff: in {unit}." in printed
    score = {"samples": "10", "seconds": "600"}[unit]
    assert re.search(rf"^hausdorff +{score} ", printed, re.MULTILINE)


def test_json_is_the_result_itself(run, series):
    result = run("audit", series, *COLUMNS, *CHOSEN, "--format", "json")
    assert json.loads(result.stdout) == json.loads(json.dumps(expected().to_dict()))


def test_csv_has_one_row_per_metric_and_prediction(run, series):
    result = run("audit", series, *COLUMNS, *CHOSEN, "--format", "csv", "--output", "out.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert len(rows) == 16
    assert [row["beaten"] for row in rows] == ["False"] * 8 + ["True"] * 8
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
    own = audit(TRUTH, {"late": LATE}, metrics=metrics, budget=30, trivial=trivial, seed=7)
    assert json.loads(result.stdout) == json.loads(json.dumps(own.to_dict()))


def test_every_metric_by_default(run, series):
    result = run("audit", series, *COLUMNS, "--budget", "5", "--format", "json")
    names = {row["metric"] for row in json.loads(result.stdout)["verdicts"]}
    assert {"classical", "affiliation", "range_based", "time_aware", "hausdorff"} <= names
    assert "margin" not in names


def test_a_series_on_which_every_metric_is_beaten(run):
    lines = ["truth,predicted", *(f"{label},{1 - label}" for label in [0] * 30 + [1] * 10)]
    Path("wrong.csv").write_text("\n".join(lines) + "\n")
    printed = run("audit", "wrong.csv", "--metric", "classical").stdout
    assert printed.startswith(
        "1 of 1 metrics are beaten by a prediction without information (1 true"
    )
    assert "Every metric is beaten: on this series the detectors may be no better" in printed
    assert "Left out: alternating, it is built from one true event" in printed

"""`closecall audit` on real files, in every format."""

import csv
import io
import json
import re
from datetime import timedelta
from pathlib import Path

import click
import numpy as np
import pytest

from closecall.adversary.audit import audit
from closecall.cli.audit import metric_choice, show_progress

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


def test_targets_carry_a_mark(run, series):
    lines = run("audit", series, *COLUMNS, *CHOSEN).stdout.splitlines()
    start = lines.index("Design targets, on a canonical series")
    affiliation, range_based = (
        line for line in lines[start:] if line.startswith(("affiliation", "range_based"))
    )
    assert affiliation.count("+") == 5
    assert range_based.split()[1:3] == ["0.00", "-"]
    assert "locality: largest change of precision or recall" in "\n".join(lines)


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


def test_names_are_shortened_and_headings_are_not(run, series, monkeypatch):
    Path("long.csv").write_text(Path(series).read_text().replace("late", "late_" * 8 + "alarm"))
    monkeypatch.setenv("COLUMNS", "80")
    columns = ("--truth", "label", "--predicted", "late_" * 8 + "alarm")
    result = run("audit", "long.csv", *columns, "--budget", "5")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if line.startswith("metric")).endswith("verdict")
    assert "\u2026" not in result.stdout  # where rich cuts text off
    assert "normalised_affiliation  late" in result.stdout


def test_detectors_with_similar_names_are_told_apart(run, series, monkeypatch):
    names = {name: f"{'window_' * 6}{name}{'_seed' * 6}" for name in ("late", "half")}
    content = Path(series).read_text()
    for name, long in names.items():
        content = content.replace(name, long)
    Path("long.csv").write_text(content)
    monkeypatch.setenv("COLUMNS", "80")
    columns = ("--truth", "label", "--predicted", names["late"], "--predicted", names["half"])
    printed = run("audit", "long.csv", *columns, "--budget", "5").stdout
    (row,) = [
        line for line in printed.splitlines() if line.startswith("normalised") and "..." in line
    ]
    assert "late" in row.split()[1]  # where it differs from the other, which is nowhere the best


@pytest.mark.parametrize(("axis", "unit"), [((), "samples"), (("--time", "t"), "seconds")])
def test_distances_have_a_unit(run, series, axis, unit):
    chosen = ("--metric", "hausdorff", "--metric", "affiliation", "--budget", "5")
    printed = run("audit", series, *COLUMNS, *axis, *chosen).stdout
    assert f"hausdorff: in {unit}." in printed
    score = {"samples": "10", "seconds": "600"}[unit]
    assert re.search(rf"^hausdorff +{score} ", printed, re.MULTILINE)


def test_a_detector_cannot_take_the_name_of_a_built_in_prediction(refuse, series):
    Path("taken.csv").write_text(Path(series).read_text().replace("half", "everything"))
    columns = ("--truth", "label", "--predicted", "late", "--predicted", "everything")
    lines = refuse("audit", "taken.csv", *columns, *CHOSEN)
    assert "other than those of the audit's own predictions" in lines[0]
    assert lines[0].endswith("got 'everything'.")


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


def test_a_bar_on_a_terminal_only(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        progress(3, 12)
    assert "Scoring predictions" in terminal.getvalue()
    assert "3/12" in terminal.getvalue()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with show_progress() as progress:
        assert progress is None


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--truth", "lable"), "`truth` to name a column of series.csv, got 'lable'."),
        (("--truth", "label"), "`predicted` to name a column of series.csv, got 'no name'."),
        ((*COLUMNS, "--trivial", "rule"), "`trivial` to name a column of series.csv, got 'rule'."),
        ((*COLUMNS, "--metric", "affilation"), "the name of a metric, got 'affilation'."),
        ((*COLUMNS, "--budget", "0"), "`budget` to be 1 or more, got 0."),
    ],
)
def test_bad_input_is_two_lines(refuse, series, arguments, complaint):
    lines = refuse("audit", series, *arguments)
    assert complaint.replace("'no name'", "no name") in lines[0]
    assert len(lines) <= 2


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("margin", "Hint: Pass --metric margin:margin=10, or margin=10min beside datetimes."),
        ("affilation", "Hint: Did you mean 'affiliation'? `closecall metrics` lists them all."),
        (
            "margin:margin=10",
            "Hint: The times are datetimes, so give the length a unit: ms, s, min, h or d, as in",
        ),
    ],
)
def test_hints_speak_of_the_command_line(refuse, series, metric, hint):
    printed = refuse("audit", series, *COLUMNS, "--time", "t", "--metric", metric)[1]
    assert printed.startswith(hint)


def test_a_metric_is_named_once(refuse, series):
    twice = ("--metric", "range_based:alpha=0", "--metric", "range_based:alpha=1")
    lines = refuse("audit", series, *COLUMNS, *twice, code=2)
    assert lines[0].startswith("Error: --metric range_based is given twice;")
    lines = refuse("audit", series, *COLUMNS, "--metric", "point_adjust_k:k=20,k=30", code=2)
    assert lines[0].endswith("k is given twice in 'point_adjust_k:k=20,k=30'.")


def test_bad_usage(refuse, series):
    lines = refuse("audit", series, *COLUMNS, "--metric", "margin:10", code=2)
    assert "'10' in 'margin:10' is no PARAMETER=VALUE, such as theta=0.5." in lines[0]


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("nab", {}),
        ("nab:profile=standard,probation=.15", {"profile": "standard", "probation": 0.15}),
        ("margin:margin=3", {"margin": 3}),
        ("margin:margin=1.5h", {"margin": timedelta(minutes=90)}),
        ("margin: margin = 2d", {"margin": timedelta(days=2)}),
    ],
)
def test_metric_choice(text, parameters):
    name, read = metric_choice(text)
    assert (name, read) == (text.partition(":")[0], parameters)
    assert [type(value) for value in read.values()] == [type(v) for v in parameters.values()]


@pytest.mark.parametrize("text", ["margin:", "margin:=3", "margin:margin=", "margin:a=1,,b=2"])
def test_bad_metric_choice(text):
    with pytest.raises(click.BadParameter, match="is no PARAMETER=VALUE"):
        metric_choice(text)

"""`closecall curve` on real files, in every format."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib import pyplot as plt

import closecall as cc
from closecall.cli.picture import save_curve
from closecall.datasets import demo

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
SCORES = [0.1, 0.3, 0.2, 0.9, 0.8, 0.1, 0.0, 0.7, 0.4, 0.1]
STAMPS = [f"2024-01-0{1 + step // 4} {6 * (step % 4):02}:00:00" for step in range(10)]
FILE = "t,label,score\n" + "".join(
    f"{stamp},{label},{score}\n" for stamp, label, score in zip(STAMPS, TRUTH, SCORES, strict=True)
)
COLUMNS = ("--truth", "label", "--score", "score")
CURVE = cc.affiliation_curve(TRUTH, SCORES)


@pytest.fixture(autouse=True)
def scores(tmp_path):
    (tmp_path / "scores.csv").write_text(FILE)
    return "scores.csv"


def lines_of(result):
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


TABLE = """\
threshold 0.2   precision 0.75   recall 1.00   F1 0.86
                by chance 0.55          0.41      0.46
2 alarms (0.8 per day); 2 true events, 0 missed
The highest F1 of all thresholds.
Alarms cover 60% of the series; random ones are points. So recall and F1 look
better than they are.

                                                           alarm to  event to
#  start             lasts  prec.  recall    F1  alarms       event     alarm  first alarm
1  2024-01-01 12:00   12 h   0.75    1.00  0.86       1  1 h 30 min       0 s    6 h early
2  2024-01-03 00:00    6 h   0.75    1.00  0.86       1  1 h 30 min       0 s    6 h early

average precision 0.82 over 8 thresholds; by chance about 0.60

threshold  prec.  recall    F1  alarms
      0.9   1.00    0.46  0.63       1
      0.8   0.75    0.46  0.57       1
      0.7   0.62    0.83  0.71       2
      0.4   0.75    0.96  0.84       2
      0.3   0.71    0.98  0.82       3
      0.2   0.75    1.00  0.86       2  <- chosen, best F1
      0.1   0.61    1.00  0.76       2
        0   0.54    1.00  0.70       1

by chance: mean scores of 2 alarms at random times
alarm to event: mean distance from the alarms to the event (precision)
event to alarm: mean distance from the event to the nearest alarm (recall)
first alarm: the first one in the event's zone, relative to the event's start"""


def test_table(run, scores):
    lines = lines_of(run("curve", scores, *COLUMNS, "--time", "t"))
    assert lines == TABLE.splitlines()


@pytest.mark.parametrize(
    ("options", "best", "reason"),
    [
        (("--min-precision", "0.9"), {"min_precision": 0.9}, "F1 with precision >= 0.9"),
        (("--beta", "3"), {"beta": 3}, "F3 of all thresholds"),
        (
            ("--beta", "0.5", "--min-recall", "0.5"),
            {"beta": 0.5, "min_recall": 0.5},
            "F0.5 with recall >= 0.5",
        ),
        (
            ("--max-alarms-per", "1/10", "--min-precision", "0.6"),
            {"max_alarms_per": (1, 10), "min_precision": 0.6},
            "F1 with precision >= 0.6 and at most 1 alarm per 10",
        ),
    ],
)
def test_constraints(run, scores, options, best, reason):
    point = CURVE.best(**best)
    lines = lines_of(run("curve", scores, *COLUMNS, *options))
    assert lines[0].startswith(f"threshold {point.threshold:g}   precision {point.precision:.2f}")
    assert lines[0].endswith(f"F{point.beta:g} {point.fbeta:.2f}")
    assert lines[3] == f"The highest {reason}."
    (row,) = [line for line in lines if "<- chosen" in line]
    assert row.split()[0] == f"{point.threshold:g}"
    assert row.split()[1:4] == lines[0].split()[3::2]
    (heading,) = [line for line in lines if line.startswith("threshold  ")]
    assert heading.split()[3] == f"F{point.beta:g}"


def test_chance_is_that_of_the_alarms_at_the_threshold(run, scores, monkeypatch):
    level = CURVE.at(CURVE.best(min_precision=0.9).threshold).chance
    lines = lines_of(run("curve", scores, *COLUMNS, "--min-precision", "0.9"))
    texts = [f"{value:.2f}" for value in (level.precision, level.recall, level.f1)]
    assert lines[1].split() == ["by", "chance", *texts]
    assert level.alarms == 1
    assert "by chance: mean scores of 1 alarm at random times" in lines
    other = lines_of(run("curve", scores, *COLUMNS, "--beta", "3"))
    assert len(other[1].split()) == 4  # there is no level of other than F1
    monkeypatch.setenv("COLUMNS", "40")
    narrow = lines_of(run("curve", scores, *COLUMNS, "--min-precision", "0.9"))
    assert narrow[0] == "threshold 0.9"
    assert narrow[2] == lines[1].strip()


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_no_number_is_cut_on_a_narrow_terminal(run, monkeypatch, width):
    run("demo", "--save", "demo.csv")
    monkeypatch.setenv("COLUMNS", str(width))
    arguments = ("--truth", "label", "--score", "threshold_score", "--time", "time")
    lines = lines_of(run("curve", "demo.csv", *arguments))
    assert max(map(len, lines)) <= width
    assert not any("\u2026" in line for line in lines)
    assert sum(line.startswith("1  ") for line in lines) == {30: 4, 40: 3, 60: 2, 80: 1}[width]
    assert sum("<- chosen, best F1" in line for line in lines) == 1


def test_a_budget_in_time(run):
    run("demo", "--save", "demo.csv")
    arguments = ("--truth", "label", "--score", "threshold_score", "--time", "time")
    lines = lines_of(run("curve", "demo.csv", *arguments, "--max-alarms-per", "5/1w"))
    data = demo()
    curve = cc.affiliation_curve(data.truth, data.scores["threshold"], times=data.times)
    point = curve.best(max_alarms_per=(5, np.timedelta64(7, "D")))
    assert point.alarms <= 10
    assert curve.best().alarms > 10
    assert lines[0].startswith(f"threshold {point.threshold:g} ")
    assert lines[2].startswith(f"{point.alarms} alarms ({point.alarms / 14:.2g} per day);")
    assert lines[3] == "The highest F1 with at most 5 alarms per 7 d."
    assert [line.split()[-2:] for line in lines if "<-" in line] == [
        ["<-", "chosen"],
        ["best", "F1"],
    ]


def test_json_is_the_curve_and_the_events_at_the_chosen_threshold(run, scores):
    arguments = ("curve", scores, *COLUMNS, "--min-precision", "0.9", "--format", "json")
    report = json.loads(run(*arguments).stdout)
    chosen = report.pop("chosen")
    point = CURVE.best(min_precision=0.9)
    assert report == CURVE.to_dict()
    assert (chosen["threshold"], chosen["alarms"]) == (point.threshold, point.alarms)
    assert chosen["events"] == CURVE.at(point.threshold).to_dict()["events"]


@pytest.mark.parametrize("points", ["all", "0"])
def test_csv_of_every_threshold(run, scores, points):
    result = run("curve", scores, *COLUMNS, "--format", "csv", "--points", points)
    header, *rows = list(csv.reader(io.StringIO(result.stdout)))
    assert header == ["threshold", "precision", "recall", "f1", "alarms"]
    names = ("thresholds", "precision", "recall", "f1", "alarms")
    expected = zip(*(getattr(CURVE, name).tolist() for name in names), strict=True)
    assert [tuple(map(float, row)) for row in rows] == list(expected)


def test_csv_of_few_points(run, scores):
    result = run("curve", scores, *COLUMNS, "--format", "csv", "--points", "1", "--beta", "0")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [float(row["threshold"]) for row in rows] == [0.9, 0.2, 0]


@pytest.mark.parametrize("output_format", ["table", "json", "csv"])
def test_output_file(run, scores, output_format):
    arguments = ("curve", scores, *COLUMNS, "--format", output_format)
    printed = run(*arguments).stdout
    silent = run(*arguments, "--output", "out.txt")
    assert (silent.exit_code, silent.stdout) == (0, "")
    assert Path("out.txt").read_text() == printed
    assert len(printed) > 200


def test_an_event_list_beside_scores(run, scores):
    Path("incidents.csv").write_text(
        "start,stop\n2024-01-01T12:00,2024-01-02T00:00\n2024-01-03T00:00,2024-01-03T06:00\n"
    )
    lines = lines_of(run("curve", "incidents.csv", scores, "--time", "t"))
    assert lines == TABLE.splitlines()


def test_standard_input(run):
    assert lines_of(run("curve", "-", *COLUMNS, "--time", "t", input=FILE)) == TABLE.splitlines()


def test_uneven_times_and_a_span(run):
    Path("uneven.csv").write_text("t,truth,score\n0,0,0.1\n1,1,0.9\n5,0,0.2\n")
    arguments = ("uneven.csv", "--time", "t", "--end", "6.5", "--span", "-10", "10")
    lines = lines_of(run("curve", *arguments))
    assert lines[:3] == [
        "threshold 0.9   precision 1.00   recall 1.00   F1 1.00",
        "                by chance 0.52          0.50      0.51",
        "1 alarm (5 per 100); 1 true event, 0 missed",
    ]
    assert lines[-1].startswith("Times and distances are in the units of the input")


def test_many_events_are_cut_with_a_note(run):
    Path("many.csv").write_text("truth,score\n" + "0,0\n1,1\n" * 40 + "0,0\n1,0\n" * 10)
    cut = run("curve", "many.csv", "--min-precision", "1").stdout
    assert "... and 10 more, 10 of them missed; `--all` shows all." in cut
    assert "\n50     99" in run("curve", "many.csv", "--min-precision", "1", "--all").stdout


@pytest.mark.parametrize(
    ("name", "magic"), [("curve.png", b"\x89PNG"), ("curve.pdf", b"%PDF"), ("curve.SVG", b"<?xml")]
)
def test_plot(run, scores, name, magic):
    plain = run("curve", scores, *COLUMNS)
    drawn = run("curve", scores, *COLUMNS, "--plot", name)
    assert drawn.stdout == plain.stdout
    assert Path(name).read_bytes().startswith(magic)
    assert plt.get_fignums() == []


def test_the_plot_marks_the_chosen_point(tmp_path):
    point = CURVE.best(beta=0)
    save_curve(CURVE, point, str(tmp_path / "curve.svg"))
    assert "<!-- 1 alarm at threshold 0.9 -->" in (tmp_path / "curve.svg").read_text()


REFUSED = {
    "constraints": (
        ("--min-precision", "0.99", "--min-recall", "0.99"),
        1,
        (
            "Error: Expected a threshold within the constraints, got none (precision reaches",
            "Hint: Loosen a constraint.",
        ),
    ),
    "no precision": (
        ("--min-precision", "90"),
        1,
        ("Error: Expected `min_precision` to be from 0 to 1, got 90.0.",),
    ),
    "beta": (("--beta", "-1"), 1, ("Error: Expected `beta` to be 0 or more, got -1.0.",)),
    "a time on a numeric axis": (
        ("--max-alarms-per", "2/1d"),
        1,
        (
            "Error: Expected `max_alarms_per` to be a count and a duration, which is a number on",
            "Hint: For example `max_alarms_per=(3, 100)`.",
        ),
    ),
    "a number on a datetime axis": (
        ("--time", "t", "--max-alarms-per", "2/100"),
        1,
        (
            "Error: Expected `max_alarms_per` to be a count and a duration, which is a timedelta",
            "Hint: For example `max_alarms_per=(2, timedelta(days=1))`.",
        ),
    ),
    "no budget": (
        ("--max-alarms-per", "2 a day"),
        2,
        (
            "Error: Invalid value for '--max-alarms-per': '2 a day' is no COUNT/DURATION",
            "Hint: Try `closecall curve --help`.",
        ),
    ),
    "no picture": (
        ("--plot", "curve.xls"),
        2,
        (
            "Error: Invalid value for '--plot': 'curve.xls' does not end in .pdf, .png or .svg.",
            "Hint: Try `closecall curve --help`.",
        ),
    ),
    "no points": (
        ("--points", "-3"),
        2,
        (
            "Error: Invalid value for '--points': '-3' is neither a whole number nor `all`.",
            "Hint: Try `closecall curve --help`.",
        ),
    ),
    "no folder for the plot": (
        ("--plot", "no/curve.png"),
        1,
        ("Error: No such file or directory: no/curve.png",),
    ),
    "no folder for the output": (
        ("--format", "csv", "-o", "no/curve.csv"),
        1,
        ("Error: No such file or directory: no/curve.csv",),
    ),
    "no such column": (
        ("--score", "scoer"),
        1,
        (
            "Error: Expected `score` to name a column of scores.csv, got 'scoer'.",
            "Hint: Did you mean 'score'? Its columns are: t, label, score.",
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(refuse, run, scores, case):
    options, code, starts = REFUSED[case]
    run("curve", scores, *COLUMNS)  # so that no notice of compiling comes in between
    lines = refuse("curve", scores, *COLUMNS, *options, code=code)
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == list(starts)
    assert plt.get_fignums() == []


def test_missing_scores(refuse, run, scores):
    run("curve", scores, *COLUMNS)
    Path("gap.csv").write_text("truth,score\n0,1\n1,\n0,2\n")
    line, hint = refuse("curve", "gap.csv")
    assert line.startswith("Error: Expected `scores` to have no missing values, got one")
    assert line.endswith("at index 1.")
    assert hint == "Hint: Drop or fill those rows first."


def test_a_real_series(run, data_folder):
    source = pq.read_table(data_folder / "nab" / "scores.parquet")
    series = source.filter(pa.compute.field("series") == "realKnownCause/nyc_taxi.csv")
    pq.write_table(series, "series.parquet")
    arguments = ("series.parquet", "--truth", "label", "--time", "timestamp")
    lines = lines_of(run("curve", *arguments, "--score", "windowedGaussian"))
    assert lines[0] == "threshold 0.97543   precision 0.81   recall 0.93   F1 0.87"
    assert "average precision 0.69 over 10309 thresholds; by chance about 0.55" in lines
    predicted = (series["windowedGaussian"].to_numpy() >= 0.97543).astype(int)
    truth, times = series["label"].to_numpy(), series["timestamp"].to_numpy()
    result = cc.affiliation(truth, predicted, times=times)
    assert round(result.f1, 2) == 0.87

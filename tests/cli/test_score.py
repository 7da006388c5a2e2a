"""`closecall score` on real files, in every format."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import closecall as cc

LABELS = "t,label,alarm\n" + "".join(
    f"2024-01-01 00:{5 * step:02}:00,{label},{alarm}\n"
    for step, (label, alarm) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0)])
)
COLUMNS = ("--truth", "label", "--predicted", "alarm")
EXPECTED = cc.affiliation([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])


def headline(result):
    """The line of scores, under what was caught."""
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()[1]


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.csv").write_text(LABELS)
    return "labels.csv"


def test_json_is_the_result_itself(run, labels):
    result = run("score", labels, *COLUMNS, "--format", "json")
    printed = json.loads(result.stdout)
    assert printed.pop("schema") == "closecall/score/1"
    assert printed.pop("headline") == EXPECTED.headline
    assert printed.pop("notes") == []
    assert printed == EXPECTED.to_dict()


def test_csv_has_one_row_per_event(run, labels):
    result = run("score", labels, *COLUMNS, "--time", "t", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["start"] for row in rows] == ["2024-01-01T00:05:00", "2024-01-01T00:25:00"]
    assert [row["delay"] for row in rows] == ["300.0", ""]
    assert list(rows[0]) == [*EXPECTED.to_dict()["events"][0], "signature"]


def test_chance_without_any_alarm(run):
    Path("labels.csv").write_text("truth,predicted\n0,0\n1,0\n0,0\n")
    lines = run("score", "labels.csv").stdout.splitlines()
    assert lines[:3] == [
        "0 of 1 caught, no alarms",
        "precision -   recall 0.00   F1 -",
        "by chance -          0.00      -",
    ]
    assert "by chance: mean scores with alarms or events shifted in time (0 shifts)" in lines


def test_chance_stands_under_the_scores(run):
    Path("labels.csv").write_text("truth,predicted\n" + "0,0\n" * 500 + "1,1\n" + "0,0\n" * 500)
    Path("near.csv").write_text(
        "truth,predicted\n" + "0,0\n" * 500 + "1,1\n" * 9 + "1,0\n" + "0,0\n" * 500
    )
    lines = run("score", "near.csv").stdout.splitlines()
    assert lines[1] == "precision 1.00   recall >0.99   F1 >0.99"
    level = json.loads(run("score", "near.csv", "--format", "json").stdout)["chance"]
    assert lines[2].split()[2:] == [f"{level[name]:.2f}" for name in ("precision", "recall", "f1")]
    assert [line.rindex(".") for line in lines[1:3]] == [len(lines[1]) - 3] * 2
    result = json.loads(run("score", "labels.csv", "--format", "json").stdout)
    assert result["f1_above_chance"] == 1


def test_event_lists_with_points_and_a_span(run):
    Path("incidents.csv").write_text(
        "start,stop\n2024-01-01T03:02,2024-01-01T03:04\n2024-01-01T04:00,2024-01-01T04:00\n"
    )
    Path("alarms.csv").write_text("at\n2024-01-01T03:03\n2024-01-01T04:02:30\n")
    result = run(
        *("score", "incidents.csv", "alarms.csv", "--predicted", "at,at"),
        *("--span", "2024-01-01T03:00", "2024-01-01T05:00"),
    )
    assert headline(result).startswith("precision 0.97   recall 0.96")
    lines = result.stdout.splitlines()
    assert lines[3].startswith("Alarms or events may be tied to a part of the series")
    assert "1 min late" in lines[7]
    assert "a point  " in lines[8]
    assert "close call, 2 min 30 s after" in lines[8]


def test_end_and_zero_division(run):
    Path("labels.csv").write_text("t,label,alarm\n0,1,0\n1,0,0\n5,1,1\n")
    arguments = ("score", "labels.csv", *COLUMNS, "--time", "t", "--end", "6.5")
    assert headline(run(*arguments)).startswith("precision 1.00")
    zero = run(*arguments, "--zero-division", "0")
    assert headline(zero).startswith("precision 0.50")
    options = {"times": [0, 1, 5], "end": 6.5, "zero_division": 0}
    level = cc.affiliation([1, 0, 1], [0, 0, 1], **options).chance.precision
    assert zero.stdout.splitlines()[2].startswith(f"by chance {level:.2f} ")


def test_many_events_are_cut_with_a_note(run):
    Path("labels.csv").write_text("truth,predicted\n" + "0,0\n1,1\n" * 40 + "0,0\n1,0\n" * 10)
    cut = run("score", "labels.csv").stdout
    assert "\n40     79" in cut
    assert "\n41     81" not in cut
    assert "... and 10 more, 10 of them missed; `--all` shows all." in cut
    whole = run("score", "labels.csv", "--all").stdout
    assert "\n50     99" in whole
    assert "more" not in whole


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (200, "# start lasts outcome zone prec. recall F1 alarms event alarm"),
        (120, "# start lasts outcome prec. recall F1 alarms event alarm"),
        (90, "# start lasts outcome prec. recall F1 event alarm"),
        (80, "# start outcome prec. recall F1 event alarm"),
    ],
)
def test_columns_follow_the_width(run, labels, monkeypatch, width, headings):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("score", labels, *COLUMNS, "--time", "t").stdout.splitlines()
    first = lines.index("") + 2  # under the names of two columns that take two lines
    assert " ".join(lines[first].split()) == headings
    assert max(map(len, lines[: first + 3])) <= width


def test_swat(run, data_folder):
    folder = data_folder / "kdd2022"
    result = run("score", str(folder / "swat_groundtruth.gz"), str(folder / "swat_seq2seq.gz"))
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "27 of 35 caught (4.4 by chance), median delay 61, 8 false alarms per 100000",
        "precision 0.86   recall 0.79   F1 0.83",
    ]


def test_evaluated_time(run, labels):
    Path("maintenance.csv").write_text("start,stop\n2024-01-01T00:20,2024-01-01T00:30\n")
    times = [
        np.datetime64("2024-01-01T00:00", "s") + np.timedelta64(300 * step, "s")
        for step in range(6)
    ]
    expected = cc.affiliation(
        [0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0], times=times, ignore=[0, 0, 0, 0, 1, 1]
    )
    options = ("--time", "t", "--ignore", "maintenance.csv")
    result = run("score", labels, *COLUMNS, *options)
    assert "Ignored: 10 min of 30 min; left out: 1 true event." in result.stdout
    assert result.stdout.startswith(expected.headline)
    printed = json.loads(run("score", labels, *COLUMNS, *options, "--format", "json").stdout)
    assert printed["events"] == expected.to_dict()["events"]
    until = run("score", labels, *COLUMNS, "--time", "t", "--until", "2024-01-01T00:20")
    same, whole = (printed.stdout.splitlines() for printed in (until, result))
    assert same[:-1] == whole[:-1]
    assert same[-1].replace("|until:2024-01-01T00:20:00", "") == whole[-1]


def test_gaps(run):
    Path("gap.csv").write_text("t,truth,predicted\n0,0,0\n1,1,1\n2,0,0\n3,0,1\n50,0,0\n51,1,0\n")
    used = run("score", "gap.csv", "--time", "t", "--end", "52").stdout
    assert "The longest step is 47 times the median one" in used
    assert "with --max-step." in " ".join(used.split())
    limited = run("score", "gap.csv", "--time", "t", "--max-step", "1").stdout
    assert "longest step" not in limited
    assert "Ignored: 46 of 52." in limited


def test_points_beside_ranges(run):
    Path("truth.csv").write_text("start,stop\n10,20\n")
    Path("alarms.csv").write_text("start,stop\n12,13\n30,30\n40,40\n")
    arguments = ("score", "truth.csv", "alarms.csv", "--span", "0", "100")
    lines = run(*arguments).stdout.splitlines()
    assert lines[1].startswith("precision 1.00")
    assert lines[3] == (
        "2 predicted points beside ranges in the same zone weigh nothing in precision: "
        "--point-length gives points a length."
    )
    sides = cc.Events([(10, 20)]), cc.Events([(12, 13), (30, 30), (40, 40)])
    expected = cc.affiliation(*sides, span=(0, 100), point_length=1)
    lengthened = run(*arguments, "--point-length", "1")
    assert headline(lengthened).startswith(f"precision {expected.precision:.2f}")
    assert "weigh nothing" not in lengthened.stdout

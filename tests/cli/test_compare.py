"""`closecall compare` on real files, in every format and width."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.cli.names import plain_name
from closecall.compare import compare
from closecall.datasets import demo

COLUMNS = ("--truth", "label", "--predicted", "threshold", "--predicted", "forecast")


@pytest.fixture
def demo_file(run):
    run("demo", "--save", "demo.csv")
    return "demo.csv"


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


NARROW = """\
7 true events; every one is found by somebody

detector   prec.  recall    F1  chance  alarms  found  alone  best  tied
threshold   0.87    0.84  0.85    0.58      23      6      1     2     0
forecast    0.99    0.85  0.92    0.40       6      6      1     5     0

                               threshold               forecast
#   start              lasts   prec.  recall     F1    prec.  recall     F1
1   03-07 10:20       45 min    0.80    1.00   0.89     0.99    1.00  >0.99*
2   03-08 02:30          3 h       -    0.00      -    >0.99   >0.99  >0.99*
3   03-10 14:00   2 h 30 min    0.96   >0.99   0.98     0.99    0.99   0.99*
4   03-12 18:05       15 min    1.00    1.00   1.00*       -    0.00      -
5   03-13 21:40   6 h 30 min    0.63    0.86   0.72    >0.99   >0.99  >0.99*
6   03-15 09:00          1 h    0.99    1.00   0.99*    0.98    1.00   0.99
7   03-16 15:30   1 h 30 min    0.85    1.00   0.92    >0.99   >0.99  >0.99*

Two by two: on how many events the first is ...

forecast against threshold: better on 2 (1 in both, 1 only in precision, 0 only
in recall), equivocal on 2, equal on 0, worse on 1; missed by forecast: 1, by
threshold: 1, by both: 0

Taken together

ensemble                                prec.  recall    F1  alarms  missed
union of threshold and forecast          0.94   >0.99  0.97      24       0
intersection of threshold and forecast   1.00    0.69  0.82       5       2
Better than the best detector alone, forecast with 0.92: union of threshold and
forecast with 0.97.

*: the highest F1 of the event; =: the highest, and shared
chance: mean F1 of as many alarms at random times
found: events with an alarm in their zone
alone: events that nobody else finds
best, tied: events on which the detector has the highest F1, or shares it
equivocal: of precision and recall, one is higher and the other lower
better, worse, equivocal: only events that both detectors find"""
WIDE_EVENTS = """\
                                    threshold                                 forecast
#   start                   lasts   prec.  recall     F1        first alarm   prec.  recall     F1       first alarm
1   2024-03-07 10:20       45 min    0.80    1.00   0.89     2 d 20 h early    0.99    1.00  >0.99*          on time
2   2024-03-08 02:30          3 h       -    0.00      -             missed   >0.99   >0.99  >0.99*      40 min late
"""  # noqa: E501 - as wide as the terminal
WIDE_PAIRS = """\
first     second      better    only in  only in                           missed by
detector  detector   in both  precision   recall  equivocal  equal  worse      first  second  both
forecast  threshold        1          1        0          2      0      1          1       1     0
"""


def test_80_columns(run, demo_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert lines(run("compare", demo_file, *COLUMNS, "--time", "time")) == NARROW.splitlines()


def test_120_columns(run, demo_file):
    printed = "\n".join(lines(run("compare", demo_file, *COLUMNS, "--time", "time")))
    assert WIDE_EVENTS in printed
    assert WIDE_PAIRS in printed


@pytest.mark.parametrize(
    ("width", "heading"),
    [
        (200, "# start lasts" + " prec. recall F1 first alarm" * 3),
        (120, "# start lasts" + " prec. recall F1" * 3),
        (90, "# start" + " prec. recall F1" * 3),
        (80, "# start lasts" + " F1" * 3),
        (58, "# start" + " F1" * 3),
    ],
)
def test_detail_follows_the_width(run, demo_file, monkeypatch, width, heading):
    monkeypatch.setenv("COLUMNS", str(width))
    scores = ("--score", "threshold_score", "--threshold", "threshold_score=160")
    printed = lines(run("compare", demo_file, *COLUMNS, *scores, "--time", "time"))
    (row,) = [number for number, line in enumerate(printed) if line.lstrip().startswith("#")]
    assert " ".join(printed[row].split()) == heading
    assert max(map(len, printed[row : row + 8])) <= width
    assert not any("…" in line for line in printed[: row + 8])
    if width >= 80:
        assert not any("…" in line for line in printed)


def test_scores_are_shown_with_their_thresholds(run, demo_file):
    scores = ("--score", "threshold_score", "--score", "forecast_score")
    given = ("--threshold", "forecast_score=30")
    printed = lines(run("compare", demo_file, "--truth", "label", *scores, *given))
    assert printed[2].endswith("threshold")
    assert printed[3].startswith("threshold_score")
    assert printed[3].endswith("165.4")
    assert printed[4].startswith("forecast_score")
    assert printed[4].endswith("30")
    assert printed[-1].startswith("Times are in the units of the input")


def test_json_is_the_result_itself_and_what_chance_reaches(run, demo_file):
    data = demo()
    options = ("--time", "time", "--decimals", "2", "--format", "json")
    result = run("compare", demo_file, *COLUMNS, *options)
    expected = compare(data.truth, data.predicted, times=data.times, decimals=2)
    printed = json.loads(result.stdout)
    for row, level in zip(printed["detectors"], expected.results.values(), strict=True):
        for score in ("precision", "recall", "f1"):
            assert row[f"chance_{score}"] == getattr(level.chance, score)
    assert printed == expected.to_dict()


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


@pytest.mark.parametrize("output_format", ["table", "json", "csv"])
def test_output_file(run, demo_file, output_format):
    arguments = ("compare", demo_file, *COLUMNS, "--format", output_format)
    printed = run(*arguments).stdout
    silent = run(*arguments, "-o", "out.txt")
    assert (silent.exit_code, silent.stdout) == (0, "")
    assert Path("out.txt").read_text() == printed


def test_events_that_nobody_finds_and_a_note_on_rounding(run):
    content = "truth,a,b\n" + "0,0,0\n1,1,1\n0,0,0\n" + "0,0,0\n1,0,0\n0,0,0\n" * 2
    columns = ("--predicted", "a", "--predicted", "b", "--decimals", "1")
    printed = lines(run("compare", "-", *columns, input=content))
    assert printed[0] == "3 true events; nobody finds #2 and #3"
    assert printed[8].split() == ["1", "1", "1", *["1.00", "1.00", "1.00=", "on", "time"] * 2]
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
    point = printed[9].split()
    assert point[:5] == ["2", "2024-01-01", "00:40", "a", "point"]
    assert point[-2:] == ["min", "early"]
    assert printed[10] == "Times are at UTC+00:00."


def test_many_events_that_nobody_finds(run):
    content = "truth,a,b\n" + "0,0,0\n1,1,1\n" + "0,0,0\n1,0,0\n" * 35
    printed = run("compare", "-", "--predicted", "a", "--predicted", "b", input=content).stdout
    head = " ".join(printed.split("detector")[0].split())
    assert head.startswith("36 true events; nobody finds #2, #3, #4,")
    assert head.endswith("#31 and 5 more")


def test_nobody_predicts_anything(run):
    content = "truth,a,b\n0,0,0\n1,0,0\n"
    printed = lines(run("compare", "-", "--predicted", "a", "--predicted", "b", input=content))
    assert printed[0] == "1 true event; nobody finds #1"
    assert "Nobody predicts anything." in printed


HOSTILE = ["[red]boom[/red]", "\x1b[31mred", "a\nb", "<img src=x onerror=alert(1)>", "=1+1"]


@pytest.fixture
def crowd(tmp_path):
    truth = np.tile([0, 0, 1, 1, 0], 50)
    names = HOSTILE + [f"a_detector_with_a_long_name_{number}" for number in range(10)]
    columns = {name: np.roll(truth, shift) for shift, name in enumerate(names)}
    pq.write_table(pa.table({"truth": truth} | columns), tmp_path / "crowd.parquet")
    return ["crowd.parquet", *(part for name in names for part in ("--predicted", name))]


@pytest.mark.parametrize("width", [80, 120])
def test_many_detectors_with_hostile_names(run, crowd, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    printed = lines(run("compare", *crowd))
    assert "\x1b" not in "".join(printed)
    assert max(map(len, printed)) <= width
    assert printed[3].startswith("[red]boom[/red] ")
    assert printed[4].startswith(r"\x1b[31mred ")
    assert printed[5].startswith(r"a\nb ")
    assert "#   start   lasts   found by   best" in "\n".join(printed)
    assert "... and 10 more events; `--all` shows all." in printed
    pairs = {80: 99, 120: 90}[width]
    assert f"... and {pairs} more pairs; `--all` shows all." in printed
    assert not any("more pairs" in line for line in lines(run("compare", *crowd, "--all")))


@pytest.mark.parametrize(
    ("name", "most", "shown"),
    [
        ("short", 10, "short"),
        ("isolation_forest", 9, "iso...est"),
        ("検出器検出器", 9, "検...出器"),
        ("a\tb", None, r"a\tb"),
        ("\ud800", None, r"\ud800"),
        ("abcdef", 3, "..."),
    ],
)
def test_plain_names(name, most, shown):
    assert plain_name(name, most) == shown


def test_bad_usage(refuse, demo_file):
    given = ("--threshold", "forecast_score=high")
    (what, hint) = refuse("compare", demo_file, *COLUMNS, *given, code=2)
    assert what.endswith("'forecast_score=high' is no COLUMN=VALUE, such as score=0.7.")
    assert hint == "Hint: Try `closecall compare --help`."
    twice = ("--score", "forecast_score", *("--threshold", "forecast_score=1") * 2)
    (what, _) = refuse("compare", demo_file, *COLUMNS, *twice, code=2)
    assert what == "Error: --threshold is given twice for one column."


def test_bad_input_is_one_line_and_a_hint(refuse, demo_file):
    assert refuse("compare", demo_file, "--truth", "label", "--predicted", "forecast") == [
        "Error: Expected columns of at least two detectors to compare, got only 'forecast'.",
        (
            "Hint: The columns of demo.csv are: time, value, label, threshold, forecast, "
            "threshold_score, forecast_score."
        ),
    ]
    (what, _) = refuse("compare", demo_file, *COLUMNS[:4], "--predicted", "value")
    assert what == "Error: Expected `predicted['value']` labels to be 0 or 1, got 92.9 at index 0."


def test_it_is_listed(run):
    assert "compare  Compare detectors event by event." in run("--help").stdout


@pytest.mark.parametrize("command", ["compare", "batch"])
def test_alarms_that_cover_much_are_named(run, demo_file, tmp_path, command):
    header, *rows = (tmp_path / demo_file).read_text().splitlines()
    more = [f"{header},everything", *(f"{row},1" for row in rows)]
    (tmp_path / "more.csv").write_text("\n".join(more))
    assert "cover much" not in run(command, "more.csv", *COLUMNS).stdout
    printed = run(command, "more.csv", *COLUMNS, "--predicted", "everything").stdout
    assert "Alarms of everything (100%) cover much of the time" in printed

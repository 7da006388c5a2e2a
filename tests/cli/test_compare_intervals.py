"""`closecall compare --intervals` on real files, in every format."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from closecall.cli.compare_intervals import add_intervals
from closecall.cli.leads import lead_texts
from closecall.cli.tables import Page
from closecall.compare import compare
from closecall.datasets import demo
from closecall.statistics import caution_about, caution_about_pairs

COLUMNS = ("--truth", "label", "--predicted", "threshold", "--predicted", "forecast")


@pytest.fixture
def demo_file(run):
    run("demo", "--save", "demo.csv")
    return "demo.csv"


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


INTERVALS = """\
How sure: 95 % intervals

detector   precision             recall               F1
threshold  0.87 (0.56 to 0.96)   0.84 (0.46 to 0.98)  0.85 (0.53 to 0.95)
forecast   0.99 (0.65 to >0.99)  0.85 (0.47 to 0.99)  0.92 (0.56 to 0.99)

first     second     lead in       by   from     to  ahead
forecast  threshold  precision  +0.12  -0.28  +0.44   0.75
                     recall     +0.02  -0.53  +0.56   0.50
                     F1         +0.06  -0.36  +0.46   0.54

Caution: There are only 7 events: the intervals are wide, and rough.
from, to: limits of the score or the lead, as there are only so many events
ahead: how surely the first leads on such events; 0.50 for no lead
-: nothing can be said
"""


def test_intervals_on_80_columns(run, demo_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    without = "\n".join(lines(run("compare", demo_file, *COLUMNS)))
    printed = "\n".join(lines(run("compare", demo_file, *COLUMNS, "--intervals")))
    assert printed.replace(f"{INTERVALS}\n", "") == without
    assert INTERVALS in printed


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
    assert rows[0]["probability"] == ""
    assert float(rows[-1]["probability"]) == intervals.pairs[0].f1.probability


def test_csv_has_the_header_of_a_batch_and_every_caution(run):
    truth = [0, 1, 1, 0, 0] * 2
    pq.write_table(pa.table({"truth": truth, "a": truth, "b": [1, 0, 0, 0, 0] * 2}), "two.parquet")
    chosen = ("two.parquet", "--predicted", "a", "--predicted", "b", "--intervals")
    printed = run("compare", *chosen, "--format", "csv").stdout
    batch = run("batch", *chosen, "--truth", "truth", "--format", "csv").stdout
    header = "detector,against,number,value,low,high,probability,caution"
    assert printed.splitlines()[0] == batch.splitlines()[0] == header
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["caution"] for row in rows[:6]] == [caution_about(2)] * 6
    assert [row["caution"] for row in rows[6:]] == [caution_about_pairs(2)] * 3
    assert {row[name] for row in rows[6:] for name in ("low", "high", "probability")} == {""}
    alone = list(csv.DictReader(io.StringIO(batch)))
    assert {row[name] for row in alone for name in ("low", "high", "probability")} == {""}


def test_a_lead_of_nothing_has_no_minus(run):
    truth = [0, 1, 1, 0, 0] * 10
    pq.write_table(pa.table({"truth": truth, "a": truth, "b": truth}), "same.parquet")
    chosen = ("--predicted", "a", "--predicted", "b", "--intervals")
    printed = lines(run("compare", "same.parquet", *chosen))
    leads = [line.split() for line in printed if line.endswith(" 0.50")]
    assert [lead[-4] for lead in leads] == ["+0.00"] * 3
    assert lead_texts(-0.0, -0.001, 0.001, ".2f") == ["+0.00", "-0.00", "+0.00"]


def test_intervals_of_many_pairs_and_of_one_event(run):
    names = [f"detector_{number}" for number in range(7)]
    table = {"truth": [0, 1, 1, 0]} | {name: [0, 1, 0, 0] for name in names}
    pq.write_table(pa.table(table), "many.parquet")
    chosen = [part for name in names for part in ("--predicted", name)]
    printed = lines(run("compare", "many.parquet", *chosen, "--intervals"))
    start = printed.index("How sure: 95 % intervals")
    assert "detector_0  1.00 (-)   0.88 (-)  0.93 (-)" in printed
    assert "... and 6 more pairs; `--all` shows all." in printed[start:]
    assert any(line.startswith("Caution: There is only one event.") for line in printed)
    row = next(line for line in printed[start:] if line.startswith("detector_0  detector_1"))
    assert row.split() == ["detector_0", "detector_1", "precision", "+0.00", "-", "-", "-"]
    everything = lines(run("compare", "many.parquet", *chosen, "--intervals", "--all"))
    assert sum("precision  +0.00" in line for line in everything) == 21


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--level", "0.9"), "--level and --resamples are of --intervals, which is not given."),
        (("--intervals", "--level", "95"), "`level` to be a number between 0 and 1, got 95.0."),
        (("--intervals", "--resamples", "10"), "10 is not in the range 100<=x<=1000000."),
        (("--intervals", "--resamples", "9" * 14), "is not in the range 100<=x<=1000000."),
    ],
)
def test_refused_intervals(run, demo_file, options, message):
    result = run("compare", demo_file, *COLUMNS, *options)
    assert result.exit_code != 0
    assert message in result.stderr
    assert len(result.stderr.splitlines()) <= 4


@pytest.mark.parametrize(("events", "green"), [(2, 0), (5, 0), (6, 3)])
def test_a_lead_is_coloured_from_six_events_on(events, green):
    truth = [0, 1, 1, 0, 0] * events
    compared = compare(truth, {"right": truth, "early": [1, 0, 0, 0, 0] * events})
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system="standard", width=100)
    page = Page(compared.names, console)
    add_intervals(page, compared, compared.intervals(), show_all=True)
    page.print()
    assert shown.getvalue().count("\x1b[32m") == green


def test_two_events_have_dashes(run):
    truth = [0, 1, 1, 0, 0] * 2
    pq.write_table(pa.table({"truth": truth, "a": truth, "b": [1, 0, 0, 0, 0] * 2}), "two.parquet")
    chosen = ("--predicted", "a", "--predicted", "b", "--intervals")
    printed = lines(run("compare", "two.parquet", *chosen))
    row = next(line for line in printed if "lead in" in line)
    table = printed[printed.index(row) + 1 :][:3]
    assert [line.split()[-3:] for line in table] == [["-"] * 3] * 3
    plain = json.loads(run("compare", "two.parquet", *chosen, "--format", "json").stdout)
    (pair,) = plain["intervals"]["pairs"]
    assert {pair["f1"][name] for name in ("low", "high", "probability")} == {None}

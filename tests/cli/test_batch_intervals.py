"""`closecall batch --intervals` on real files, in every format."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.tables.batch.evaluate import evaluate_frame

COLUMNS = ("--by", "series", "--truth", "label", "--score", "good", "--score", "noise")


@pytest.fixture
def series(tmp_path):
    """Eight series with two events each; one detector knows them, the other guesses."""
    count, length = 8, 200
    label = np.zeros((count, length), dtype=np.int8)
    label[:, 50:60] = label[:, 120:125] = 1
    random = np.random.default_rng(0)
    table = pa.table(
        {
            "series": np.repeat(np.arange(count), length),
            "label": label.ravel(),
            "noise": random.random(count * length),
            "good": label.ravel() + random.random(count * length) / 2,
        }
    )
    pq.write_table(table, tmp_path / "series.parquet")
    return table


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


TABLE = """\
How sure: 95 % intervals over series

detector  F1                   prec.                recall
good      1.00 (0.73 to 1.00)  1.00 (0.73 to 1.00)  1.00 (0.73 to 1.00)
noise     0.72 (0.53 to 0.80)  0.59 (0.42 to 0.72)  0.97 (0.71 to 0.99)

detector  avg. prec.
good      1.00 (0.73 to 1.00)
noise     0.56 (0.39 to 0.71)

first  second  lead in        by   from     to  ahead
good   noise   F1          +0.28  +0.00  +0.47   0.98
               prec.       +0.41  +0.14  +0.58  >0.99
               recall      +0.03  -0.25  +0.29   0.50
               avg. prec.  +0.44  +0.15  +0.61  >0.99

Caution: There are only 8 series: the intervals are wide, and rough.
from, to: limits of the number or the lead, as there are only so many series
ahead: how surely the first is the better one on such series; 0.50 for no lead
-: nothing can be said
"""


def test_the_intervals_under_the_leaderboard(run, series, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    without = "\n".join(lines(run("batch", "series.parquet", *COLUMNS)))
    printed = "\n".join(lines(run("batch", "series.parquet", *COLUMNS, "--intervals")))
    assert TABLE in printed
    assert printed.replace(f"{TABLE}\n", "") == without


def test_pairs_are_turned_so_that_the_better_one_is_first(run, series, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    scores = ("--score", "noise", "--score", "good")
    printed = "\n".join(lines(run("batch", "series.parquet", *COLUMNS[:4], *scores, "--intervals")))
    assert TABLE in printed


def test_pooled_numbers_with_the_events(run, series):
    printed = lines(run("batch", "series.parquet", *COLUMNS, "--intervals", "--per-event"))
    assert any(line.startswith("detector  pooled F1 ") for line in printed)
    rows = evaluate_frame(
        series, by="series", truth="label", score=["good", "noise"], per_event=True
    ).intervals()
    (expected,) = [
        row
        for row in rows.to_pylist()
        if (row["against"], row["number"]) == ("noise", "pooled_affiliation_precision")
    ]
    (line,) = [line.split() for line in printed if line.strip().startswith("pooled prec.")]
    numbers = [f"{expected[name]:+.2f}" for name in ("value", "low", "high")]
    assert line[2:5] == numbers


def test_json_and_csv_have_every_row(run, series):
    rows = (
        evaluate_frame(series, by="series", truth="label", score=["good", "noise"])
        .intervals()
        .to_pylist()
    )
    arguments = ("batch", "series.parquet", *COLUMNS, "--intervals", "--format")
    printed = json.loads(run(*arguments, "json").stdout)
    assert len(printed["rows"]) == 16
    assert [row["low"] for row in printed["intervals"]] == [row["low"] for row in rows]
    assert printed["intervals"][0]["probability"] is None
    assert printed["intervals"][-1]["probability"] == rows[-1]["probability"]
    table = list(csv.DictReader(io.StringIO(run(*arguments, "csv").stdout)))
    assert [row["number"] for row in table] == [row["number"] for row in rows]
    assert [row["caution"] for row in table] == [row["caution"] for row in rows]
    assert [float(row["low"]) for row in table] == [row["low"] for row in rows]
    assert table[0]["probability"] == ""  # as a comparison leaves it
    assert "intervals" not in json.loads(
        run("batch", "series.parquet", *COLUMNS, "--format", "json").stdout
    )


def test_another_level_and_number_of_resamples(run, series):
    batch = evaluate_frame(series, by="series", truth="label", score=["good", "noise"])
    rows = batch.intervals(level=0.8, n=300).to_pylist()
    chosen = ("--intervals", "--level", "0.8", "--resamples", "300")
    arguments = ("batch", "series.parquet", *COLUMNS, *chosen)
    assert "How sure: 80 % intervals over series" in lines(run(*arguments))
    printed = json.loads(run(*arguments, "--format", "json").stdout)
    assert [row["low"] for row in printed["intervals"]] == [row["low"] for row in rows]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--level", "0.9"), "--level and --resamples are of --intervals, which is not given."),
        (("--resamples", "900"), "--level and --resamples are of --intervals, which is not given."),
        (("--intervals", "--level", "95"), "`level` to be a number between 0 and 1, got 95.0."),
        (("--intervals", "--resamples", "10"), "10 is not in the range 100<=x<=1000000."),
    ],
)
def test_refused_options(run, series, options, message):
    result = run("batch", "series.parquet", *COLUMNS, *options, "--out", "rows.parquet")
    assert result.exit_code != 0
    assert message in result.stderr
    assert not Path("rows.parquet").exists()  # before anything is read


def test_a_lead_of_nothing_has_a_plus(run, series):
    label = series["label"].to_numpy()
    alarms = {"longer": label | np.roll(label, 1), "exact": label}  # both have all of recall
    pq.write_table(pa.table({"series": series["series"], "label": label} | alarms), "both.parquet")
    chosen = ("--predicted", "longer", "--predicted", "exact", "--intervals")  # which is turned
    printed = lines(run("batch", "both.parquet", *COLUMNS[:4], *chosen))
    assert any(line.startswith("exact  longer  F1 ") for line in printed)
    (row,) = [line.split() for line in printed if re.match(" +recall ", line)]
    assert row[:2] == ["recall", "+0.00"]


def test_numbers_without_intervals_on_the_terminal_are_counted(run, series):
    more = ("--metric", "affiliation", "--metric", "classical", "--metric", "event_wise")
    printed = lines(run("batch", "series.parquet", *COLUMNS, *more, "--intervals"))
    assert "... and 5 more numbers; `--format json` has all." in printed
    printed = lines(run("batch", "series.parquet", *COLUMNS, "--intervals"))
    assert not any("more number" in line for line in printed)


def test_numbers_one_below_the_other_on_a_narrow_terminal(run, series, monkeypatch):
    monkeypatch.setenv("COLUMNS", "45")
    printed = lines(run("batch", "series.parquet", *COLUMNS, "--intervals"))
    place = printed.index("How sure: 95 % intervals over series")
    assert [line for line in printed[place:] if line.startswith("detector ")] == [
        f"detector  {heading}" for heading in ("F1", "prec.", "recall", "avg. prec.")
    ]
    assert "good      1.00 (0.73 to 1.00)" in printed


STACKED = """\
good against noise
lead in        by   from     to  ahead
F1          +0.28  +0.00  +0.47   0.98
prec.       +0.41  +0.14  +0.58  >0.99
recall      +0.03  -0.25  +0.29   0.50
avg. prec.  +0.44  +0.15  +0.61  >0.99
"""


def test_leads_stand_below_their_pair_on_a_narrow_terminal(run, series, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert STACKED in "\n".join(lines(run("batch", "series.parquet", *COLUMNS, "--intervals")))


@pytest.mark.parametrize("width", [30, 40, 50])
def test_leads_in_numbers_with_long_names_are_not_cut(run, series, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    metrics = ("--metric", "affiliation", "--metric", "enhanced_time_aware")
    printed = lines(run("batch", "series.parquet", *COLUMNS, *metrics, "--intervals"))
    assert max(map(len, printed)) <= width
    assert not any("\u2026" in line for line in printed)
    place = next(number for number, line in enumerate(printed) if line.startswith("good against"))
    first = printed.index("enhanced time", place)
    assert printed[first + 1] == "aware"
    assert re.match(r"precision +\+0\.\d+", printed[first + 2])


def test_few_series_have_dashes_and_a_caution(run, series):
    pq.write_table(series.slice(0, 600), "few.parquet")
    printed = lines(run("batch", "few.parquet", *COLUMNS, "--intervals"))
    start = next(place for place, line in enumerate(printed) if "lead in" in line)
    assert [line.split()[-3:] for line in printed[start + 1 : start + 4]] == [["-"] * 3] * 3
    assert any(line.startswith("Caution: There are only three series.") for line in printed)


def test_one_detector_has_no_pairs_and_lengths_are_written_as_such(run, series):
    one = COLUMNS[:-2]
    printed = lines(run("batch", "series.parquet", *one, "--metric", "hausdorff", "--intervals"))
    assert "How sure: 95 % intervals over series" in printed
    assert not any("lead in" in line for line in printed)
    assert "good      0 (-)" in printed


def test_many_detectors_show_some_pairs(run, series):
    names = [f"copy_{number}" for number in range(7)]
    wide = pa.table(
        {name: series[name] for name in ("series", "label")} | dict.fromkeys(names, series["noise"])
    )
    pq.write_table(wide, "wide.parquet")
    scores = [part for name in names for part in ("--score", name)]
    printed = lines(run("batch", "wide.parquet", *COLUMNS[:4], *scores, "--intervals"))
    assert "... and 6 more pairs; `--format json` has all." in printed
    (row,) = [line.split() for line in printed if line.startswith("copy_0  copy_1 ")]
    assert row == ["copy_0", "copy_1", "F1", "+0.00", "-0.27", "+0.27", "0.50"]

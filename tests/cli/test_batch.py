"""`closecall batch` on real files: the table, the formats, and what it refuses."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from closecall.tables.batch.evaluate import evaluate_frame

COLUMNS = ("--by", "series", "--truth", "label")
SCORES = (*COLUMNS, "--score", "good", "--score", "noise")


@pytest.fixture
def series(tmp_path):
    """Five series: two sound, one without an event, one out of order, one with equal scores."""
    length = 200
    label = np.zeros((5, length), dtype=np.int8)
    label[:, 50:60] = label[:, 120:125] = 1
    label[2] = 0
    time_ = np.tile(np.arange(length), (5, 1))
    time_[3, 10], time_[3, 11] = 11, 10
    noise = np.random.default_rng(0).random((5, length))
    noise[4] = 0.5
    table = pa.table(
        {
            "series": np.repeat(list("abcde"), length),
            "t": time_.ravel(),
            "label": label.ravel(),
            "good": (label + np.random.default_rng(1).random((5, length)) / 2).ravel(),
            "noise": noise.ravel(),
            "alarm": (noise > 0.97).astype(np.int8).ravel(),
        }
    )
    pq.write_table(table, tmp_path / "series.parquet")
    return table


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


TABLE = """\
3 series evaluated, 1 without a true event, 1 with times that repeat, go back or cannot be used, 1 with the same score
everywhere for some detectors
bad_times, as in d, good: Expected `t` to be strictly increasing, got 10 after 11 at index 11.
constant_score, as in e, noise: Expected `noise` to tell samples apart, got 0.5 for every sample.
--disorder sort puts samples in the order of their times; --disorder index counts samples instead

#  detector    F1  chance  prec.  chance  recall  chance  avg. prec.  chance  best  series
1  good      1.00    0.46   1.00    0.50    1.00    0.42        1.00    0.56     3     3/5
2  noise     0.74    0.47   0.63    0.50    0.95    0.50        0.56    0.54     0     3/5

Scores are means over the series that have one; best: on how many F1 is the highest.
chance: about what as many alarms at random times reach, usually within 0.02;
closecall score and cc.chance give the means themselves, series by series.
Alarms of noise (48%) cover much of the time; random ones are points. So recall and F1 look better beside chance than
they are: closecall score --significance moves the alarms themselves.
chance of avg. prec.: about that of shuffled scores, usually within 0.02.
Thresholds are the best of each series, chosen with the truth: what a detector could reach, not what it would."""  # noqa: E501 - as wide as the terminal


def test_the_leaderboard(run, series):
    printed = lines(run("batch", "series.parquet", *SCORES, "--time", "t"))
    assert printed == TABLE.splitlines()


def test_the_scores_printed_are_those_of_the_library(run, series):
    rows = evaluate_frame(series, by="series", truth="label", predicted="alarm").table
    printed = lines(run("batch", "series.parquet", *COLUMNS, "--predicted", "alarm"))
    assert printed[0] == ("3 series evaluated, 1 without a true event, 1 with an undefined metric")
    (row,) = [line.split() for line in printed if "alarm " in line and line.startswith("1")]
    columns = ("affiliation_f1", "chance_f1", "affiliation_precision", "chance_precision")
    means = [np.nanmean(rows.column(name).to_numpy()) for name in columns]
    assert row[1:6] == ["alarm", *(f"{mean:.2f}" for mean in means)]
    assert not any(line.startswith("Thresholds") for line in printed)


def test_disorder_is_mended_on_demand(run, series):
    printed = lines(run("batch", "series.parquet", *SCORES, "--time", "t", "--disorder", "sort"))
    assert printed[0].startswith("4 series evaluated, 1 without a true event, 1 with the same")
    assert not any("--disorder" in line for line in printed)


def test_the_legend_is_of_what_is_shown(run, series):
    printed = "\n".join(lines(run("batch", "series.parquet", *SCORES)))
    assert "chance of avg. prec.:" in printed
    printed = "\n".join(lines(run("batch", "series.parquet", *SCORES, "--metric", "affiliation")))
    assert "avg. prec." not in printed


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupt_after_the_last_row_says_that_all_are_there(refuse, series, monkeypatch):
    monkeypatch.setattr("closecall.cli.batch_formats.write_batch", interrupted)
    complaint = refuse("batch", "series.parquet", *SCORES, "--out", "rows.parquet", code=130)
    assert complaint[-1] == "Error: Interrupted; all rows are in rows.parquet."
    assert pq.read_metadata("rows.parquet").num_rows == 10


def test_an_interrupt_before_anything_is_kept_names_no_file(refuse, series, monkeypatch):
    monkeypatch.setattr("closecall.tables.batch.evaluate.evaluate_frame", interrupted)
    complaint = refuse("batch", "series.parquet", *SCORES, "--out", "rows.parquet", code=130)
    assert complaint[-1] == "Error: Interrupted."


def test_metrics_without_a_threshold(run, series):
    metric = ("--metric", "affiliation_average_precision")
    printed = lines(run("batch", "series.parquet", *SCORES, *metric))
    assert printed[3].split()[:6] == ["#", "detector", "avg.", "prec.", "chance", "best"]
    about = [line for line in printed if line.startswith(("chance", "Thresholds"))]
    assert about == ["chance of avg. prec.: about that of shuffled scores, usually within 0.02."]
    rows = evaluate_frame(
        series, by="series", truth="label", score="good", metrics=["affiliation_average_precision"]
    )
    level = np.nanmean(rows.table.column("chance_average_precision").to_numpy())
    assert printed[4].split()[2:4] == ["1.00", f"{level:.2f}"]


def test_csv_holds_every_row(run, series):
    printed = run("batch", "series.parquet", *SCORES, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    keys = [(row["series"], row["detector"]) for row in rows]
    assert keys == [(one, detector) for one in "abcde" for detector in ("good", "noise")]
    assert [row["status"] for row in rows][4:6] == ["no_event", "no_event"]
    assert float(rows[0]["affiliation_f1"]) == 1.0
    assert rows[4]["affiliation_f1"] == rows[4]["threshold"] == ""  # undefined, as in intervals
    assert "nan" not in printed.stdout
    lines(run("batch", "series.parquet", *SCORES, "--out", "results.csv"))
    assert "nan" in Path("results.csv").read_text()  # numbers, also where none is known


def test_csv_keeps_keys_that_are_no_numbers(run, series):
    keys = pa.array(np.repeat([1.5, np.nan], 500))
    pq.write_table(series.append_column("machine", keys), "machines.parquet")
    columns = ("--by", "machine", "--truth", "label", "--predicted", "alarm")
    printed = run("batch", "machines.parquet", *columns, "--format", "csv").stdout
    assert [line.partition(",")[0] for line in printed.splitlines()] == ["machine", "1.5", "nan"]


def test_json_holds_everything(run, series):
    arguments = ("--per-event", "--threshold", "0.97", "--format", "json")
    printed = json.loads(run("batch", "series.parquet", *SCORES, *arguments).stdout)
    assert len(printed["rows"]) == 10
    assert printed["rows"][4]["affiliation_f1"] is None
    assert {row["threshold"] for row in printed["rows"]} == {0.97}
    assert len(printed["events"]) == 2 * 2 * 4  # of two detectors on the series that have them
    assert [row["detector"] for row in printed["summary"]] == ["good", "noise"]
    assert printed["failures"] == []


def require_same(one, other):
    assert one.schema == other.schema
    assert repr(one.to_pylist()) == repr(other.to_pylist())  # nan is no different from nan


def test_the_file_has_the_rows_of_the_library(run, series):
    printed = lines(
        run("batch", "series.parquet", *SCORES, "--per-event", "--out", "results.parquet")
    )
    assert printed[-1] == (
        "Wrote 10 rows to results.parquet, and 16 of events to results.events.parquet."
    )
    expected = evaluate_frame(
        series, by="series", truth="label", score=["good", "noise"], per_event=True
    )
    require_same(pq.read_table("results.parquet"), expected.table)
    require_same(pq.read_table("results.events.parquet"), expected.event_table)
    assert not Path("results.parquet.partial").exists()


def test_several_files_and_patterns(run, series):
    for letter in "abcde":
        Path(f"part={letter}").mkdir()
        own = series.filter(pc.equal(series["series"], letter))
        pq.write_table(own, f"part={letter}/rows.parquet")
    whole = run("batch", "series.parquet", *SCORES, "--format", "csv").stdout
    pattern = run("batch", "part=*/rows.parquet", *SCORES, "--format", "csv").stdout
    several = run("batch", "part=a", "part=[b-d]/*.parquet", "part=e", *SCORES, "--format", "csv")
    assert pattern == whole
    assert several.stdout == whole


def test_two_columns_tell_series_apart(run, series):
    table = series.append_column("half", pa.array((np.arange(1000) // 100 % 2).astype(str)))
    pq.write_table(table, "halves.parquet")
    arguments = ("--by", "series", "--by", "half", "--truth", "label", "--score", "good")
    rows = json.loads(run("batch", "halves.parquet", *arguments, "--format", "json").stdout)["rows"]
    assert [(row["series"], row["half"]) for row in rows] == [
        (one, half) for one in "abcde" for half in "01"
    ]


REFUSALS = {
    "no detector": ((*COLUMNS,), 1, "Error: Expected either `score` or `predicted`, got neither."),
    "no truth": (("--by", "series", "--score", "good"), 2, "Error: Missing option '--truth'."),
    "no column": (
        (*COLUMNS, "--score", "goood"),
        1,
        "Error: Expected `score` to name a column of series.parquet, got 'goood'.",
    ),
    "no such rule": (
        (*SCORES, "--threshold", "best"),
        1,
        "Error: Expected `threshold` to be a number or a known rule, got 'best'.",
    ),
    "no such metric": ((*SCORES, "--metric", "accuracy"), 1, "Error: Expected "),
    "no address": (
        (*SCORES, "--engine", "localhost"),
        1,
        "Error: Expected `engine` to be the address of a Dask scheduler, got 'localhost'.",
    ),
    "no workers": ((*SCORES, "--workers", "0"), 1, "Error: Expected `workers` to be 1 or more"),
    "nothing to resume to": ((*SCORES, "--resume"), 1, "Error: Expected `out` beside `resume`"),
    "two outputs": (
        (*SCORES, "--resume", "a.parquet", "--out", "b.parquet"),
        2,
        "Error: Expected --resume and --out to name one file, got a.parquet and b.parquet.",
    ),
    "one metric twice": (
        (*SCORES, "--metric", "range_based:alpha=0", "--metric", "range_based:alpha=1"),
        2,
        "Error: --metric range_based is given twice",
    ),
    "unknown file": ((*SCORES, "--out", "rows.xlsx"), 1, "Error: Expected `out` to end in"),
    "strict": (
        (*SCORES, "--strict"),
        1,
        "Error: Expected every series to be evaluated, with `strict=True`, got 'no_event'",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(refuse, series, case):
    arguments, code, message = REFUSALS[case]
    complaint = refuse("batch", "series.parquet", *arguments, code=code)
    assert complaint[0].startswith(message)


def test_a_finished_file_is_replaced_only_on_demand(run, refuse, series):
    out = ("--out", "results.csv")
    lines(run("batch", "series.parquet", *SCORES, *out))
    first = Path("results.csv").read_bytes()
    complaint = refuse("batch", "series.parquet", *COLUMNS, "--score", "good", *out)
    assert complaint == [
        "Error: Expected no file at results.csv, got one.",
        "Hint: Replace it with `overwrite=True` (`--overwrite`).",
    ]
    assert Path("results.csv").read_bytes() == first
    lines(run("batch", "series.parquet", *COLUMNS, "--score", "good", *out, "--overwrite"))
    assert Path("results.csv").read_bytes().count(b"\n") == 6


def test_a_part_that_cannot_be_read_is_named_and_the_others_are_kept(run, series):
    for letter in "ab":
        own = series.filter(pc.equal(series["series"], letter))
        pq.write_table(pa.concat_tables([own] * 4000), f"{letter}.parquet")
    content = bytearray(Path("b.parquet").read_bytes())
    content[2000:-5000] = bytes(len(content) - 7000)  # the footer stays
    Path("b.parquet").write_bytes(content)
    alarms = (*COLUMNS, "--predicted", "alarm")
    result = run("batch", "a.parquet", "b.parquet", *alarms, "--out", "results.parquet")
    assert result.exit_code == 1
    complaint = result.stderr.splitlines()
    assert "b.parquet" in complaint[0]
    assert complaint[1:] == [
        "Error: Expected every unit of the data to be read, got 1 of 2 that could not be.",
        (
            "Hint: If reading failed for a while, the same command with --resume tries again. If "
            "you mend a file, the data are other data: start again with --overwrite."
        ),
    ]
    shown = result.stdout.splitlines()
    assert shown[1] == "1 of 2 units could not be read; its series are not among the rows"
    again = run("batch", "a.parquet", "b.parquet", *alarms, "--format", "json")
    printed = json.loads(again.stdout)
    assert [row["trouble"] for row in printed["summary"]] == ["1 unit not read"]
    assert [one["unit"] for one in printed["failures"]] == [complaint[0].partition(": ")[0]]
    assert not Path("results.parquet").exists()
    assert len(list(Path("results.parquet.partial").glob("*.unit"))) == 1


def test_no_scheduler_is_told_in_one_line(run, series, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("closecall.tables.batch.dask_cluster._CONNECT_SECONDS", 0.5)
    result = run("batch", "series.parquet", *SCORES, "--engine", "dask://127.0.0.1:9")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "Error: Expected a Dask scheduler at tcp://127.0.0.1:9, got no answer in 0.5 seconds.",
        "Hint: Check the address, and that `dask scheduler` runs there and can be reached.",
    ]


def test_the_table_in_the_documents_is_what_is_printed(run, data_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = (Path(__file__).parents[2] / "docs" / "batch.md").read_text("utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0]
    assert "5  random " in shown
    detectors = ("numenta", "windowedGaussian", "skyline", "random", "relativeEntropy")
    scores = [part for name in detectors for part in ("--score", name)]
    file = str(data_folder / "nab" / "scores.parquet")
    printed = lines(run("batch", file, *COLUMNS, "--time", "timestamp", *scores))
    assert printed[: len(shown.splitlines())] == shown.splitlines()


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("margin:margin=-3", "Expected `margin` to be a finite number of 0 or more, got -3."),
        ("margin:margin=abc", "Expected `margin` to be a finite number of 0 or more, got 'abc'."),
    ],
)
def test_a_wrong_parameter_is_refused_once(refuse, series, metric, message):
    out = ("--out", "results.csv")
    complaint = refuse("batch", "series.parquet", *SCORES, "--metric", metric, *out)
    assert complaint[0] == f"Error: {message}"
    assert sorted(path.name for path in Path().iterdir()) == ["series.parquet"]


def test_one_trouble_of_all_rows_is_an_error(run, series):
    arguments = ("--metric", "margin:margin=10min", "--time", "t")
    result = run("batch", "series.parquet", *SCORES, *arguments, "--disorder", "index")
    assert result.exit_code == 1
    reason = "margin: Expected `margin` to be a finite number of 0 or more, got "
    told = "Error: Expected at least one series to be evaluated, got 'failed' everywhere: "
    assert result.stderr.startswith(f"{told}{reason}")
    assert f"failed, as in a, good: {reason}" in " ".join(result.stdout.split())


def test_times_that_are_text_are_not_called_out_of_order(run, series):
    place = series.column_names.index("t")
    stamps = pa.array([f"sample {t}" for t in series["t"].to_pylist()])
    pq.write_table(series.set_column(place, "t", stamps), "text.parquet")
    result = run("batch", "text.parquet", *SCORES, "--time", "t")
    assert result.exit_code == 1
    shown = " ".join(result.stdout.split())
    assert shown.startswith("0 series evaluated, 5 with times that repeat, go back or cannot be")
    assert "bad_times, as in a, good: Expected `t` to be" in shown
    assert "--disorder" not in shown


def test_one_row_is_written(run, series):
    pq.write_table(series.slice(0, 200), "one.parquet")
    columns = ("--truth", "label", "--score", "good")
    printed = lines(run("batch", "one.parquet", *columns, "--out", "one.csv"))
    assert printed[-1] == "Wrote 1 row to one.csv."

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

import closecall as cc
from closecall.datasets import demo
from closecall.tables.batch.evaluate import evaluate_frame
from tests.cli.conftest import complaint, lines, unsigned

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


def test_the_scores_printed_are_those_of_the_library(run, series):
    rows = evaluate_frame(series, by="series", truth="label", predicted="alarm").table
    printed = lines(run("batch", "series.parquet", *COLUMNS, "--predicted", "alarm"))
    assert printed[0] == ("3 series evaluated, 1 without a true event, 1 with an undefined metric")
    (row,) = [line.split() for line in printed if "alarm " in line and line.startswith("1")]
    silent = rows.column("predicted_events").to_numpy() == 0
    columns = (rows.column(name).to_numpy() for name in ("affiliation_f1", "chance_f1"))
    means = [np.nanmean(np.where(silent, 0.0, column)) for column in columns]
    assert row[1:2] + row[7:9] == ["alarm", *(f"{mean:.2f}" for mean in means[:2])]
    happened = [rows.column(name).to_numpy() for name in ("caught", "true_events", "false_alarms")]
    caught, events, false_alarms = (int(np.nansum(column)) for column in happened)
    level = np.nansum(rows.column("chance_caught").to_numpy())
    assert row[2:4] == [f"{caught}/{events}", f"({level:.1f})"]
    assert row[6] == str(false_alarms)
    assert not any(line.startswith("Thresholds") for line in printed)


def test_what_helps_is_named_with_the_trouble(run, series, tmp_path):
    twice = series.set_column(1, "t", pa.array(np.tile(np.arange(500) // 2, 2)))
    pq.write_table(twice, tmp_path / "twice.parquet")
    command = ("batch", "twice.parquet", "--truth", "label", "--score", "good", "--time", "t")
    result = run(*command, "--by", "series", "--disorder", "sort")
    kept = "--disorder first, last or mean keeps one sample of each time"
    assert kept in lines(result)
    good = pa.array(np.where(series["t"].to_numpy() == 7, np.nan, series["good"].to_numpy()))
    pq.write_table(series.set_column(3, "good", good), tmp_path / "nan.parquet")
    printed = lines(run("batch", "nan.parquet", *COLUMNS, "--score", "good"))
    assert "--nan ignore leaves out the time of samples without a score" in printed
    stamps = pa.array(np.datetime64("2024-01-01", "s") + series["t"].to_numpy())
    zoned = series.set_column(1, "t", stamps.cast(pa.timestamp("s", "UTC")))
    pq.write_table(zoned, tmp_path / "zoned.parquet")
    since = ("--time", "t", "--from", "2024-01-01T00:00:05")
    printed = lines(run("batch", "zoned.parquet", *COLUMNS, "--score", "good", *since))
    assert any(line.startswith("Write all of them with an offset") for line in printed)
    pq.write_table(twice.slice(0, 200).drop_columns("series"), tmp_path / "one.parquet")
    one = run("batch", "one.parquet", *command[2:], "--disorder", "sort", "--format", "json")
    assert (one.exit_code, complaint(one)[1]) == (1, f"Hint: {kept}.")


def test_the_legend_is_of_what_is_shown(run, series):
    command = ("batch", "series.parquet", *SCORES)
    printed = "\n".join(lines(run(*command)))
    assert "so these scores flatter; --threshold cross_fit does not." in printed
    assert "retuned" not in printed
    printed = " ".join(lines(run(*command, "--retune", "20")))
    assert "retuned: F1 of the same scores moved" in printed
    assert "chance of avg. prec.: that of the scores moved" in printed
    printed = lines(run(*command, "--threshold", "cross_fit", "--folds", "2"))
    assert any("own best" in line for line in printed if line.startswith("#"))
    assert any(line.startswith("Thresholds were chosen on other series") for line in printed)
    printed = "\n".join(lines(run(*command, "--threshold", "alarms:9/100")))
    assert "Thresholds: the lowest threshold within the budget of alarms and half" in printed
    assert "flatter" not in printed


def test_false_alarms_a_day_where_times_are_dated(run, series):
    place = series.column_names.index("t")
    hours = series["t"].to_numpy().astype("timedelta64[h]").astype("timedelta64[s]")
    stamps = pa.array(np.datetime64("2024-01-01", "s") + hours)
    dated = series.set_column(place, "t", stamps).filter(pc.not_equal(series["series"], "d"))
    pq.write_table(dated, "dated.parquet")
    command = ("batch", "dated.parquet", *COLUMNS, "--predicted", "alarm", "--time", "t")
    printed = [line.split() for line in lines(run(*command))]
    (heading,) = [line for line in printed if line[:3] == ["#", "detector", "caught"]]
    (row,) = [line for line in printed if line[:2] == ["1", "alarm"]]
    rows = evaluate_frame(dated, by="series", truth="label", predicted="alarm", time="t").table
    rate = pc.sum(rows["false_alarms"]).as_py() / (4 * 200 / 24)
    assert heading[3:6] == ["in", "alarm", "false/day"]
    assert row[6] == f"{rate:.3g}"


def test_time_is_ignored_on_request(run, series):
    off = pa.array((series["t"].to_numpy() % 3 == 0).astype(np.int8))
    scores = pa.array(np.where(series["t"].to_numpy() == 7, np.nan, series["noise"].to_numpy()))
    table = series.append_column("off", off).append_column("holes", scores)
    pq.write_table(table.filter(pc.not_equal(series["series"], "d")), "off.parquet")
    command = ("batch", "off.parquet", *COLUMNS, "--score", "holes", "--time", "t")
    options = [
        "--ignore",
        "off",
        "--nan",
        "ignore",
        "--from",
        "20",
        "--until",
        "90",
        "--max-step",
        "3",
    ]
    printed = json.loads(run(*command, *options, "--threshold", "0.9", "--format", "json").stdout)
    columns = {"by": "series", "truth": "label", "score": "holes", "time": "t", "ignore": "off"}
    limits = {"nan": "ignore", "since": 20, "until": 90, "max_step": 3, "threshold": 0.9}
    known = evaluate_frame("off.parquet", **columns, **limits)
    assert [row["ignored_time"] for row in printed["rows"]] == [153.0] * 4  # 47 samples are left
    recall = known.table["affiliation_recall"][0].as_py()
    assert printed["rows"][0]["affiliation_recall"] == recall
    shown = " ".join(lines(run(*command, *options)))
    assert "Some time is ignored in 4 of 4 rows, and with it 3 true events and" in shown


def test_thresholds_are_fitted_before_a_time(run, series):
    command = ("batch", "series.parquet", *COLUMNS, "--score", "good")
    shown = " ".join(lines(run(*command, "--fit-until", "100")))
    assert "Thresholds were chosen (best_f1) on the time before 100." in shown
    assert "4/4" in shown
    shown = " ".join(lines(run(*command, "--fit-until", "0")))
    assert "undefined, as in a, good: Expected `fit_until` to lie between 0 and" in shown


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupt_after_the_last_row_says_that_all_are_there(refuse, series, monkeypatch):
    monkeypatch.setattr("closecall.cli.batch.write_batch", interrupted)
    told = refuse("batch", "series.parquet", *SCORES, "--out", "rows.parquet", code=130)
    assert told[-1] == "Error: Interrupted; all rows are in rows.parquet."
    assert pq.read_metadata("rows.parquet").num_rows == 10


def test_an_interrupt_before_anything_is_kept_names_no_file(refuse, series, monkeypatch):
    monkeypatch.setattr("closecall.cli.batch.evaluate_frame", interrupted)
    told = refuse("batch", "series.parquet", *SCORES, "--out", "rows.parquet", code=130)
    assert told[-1] == "Error: Interrupted."


def test_metrics_without_a_threshold(run, series):
    metric = ("--metric", "affiliation_average_precision")
    printed = lines(run("batch", "series.parquet", *SCORES, *metric))
    assert printed[3].split() == ["#", "detector", "avg.", "prec.", "best", "series"]
    assert not [line for line in printed if line.startswith(("caught", "chance", "Thresholds"))]


def found(series):
    return evaluate_frame(series, by="series", truth="label", score=["good", "noise"])


def test_csv_holds_every_row(run, series):
    printed = run("batch", "series.parquet", *SCORES, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    keys = [(row["series"], row["detector"]) for row in rows]
    assert keys == [(one, detector) for one in "abcde" for detector in ("good", "noise")]
    assert [row["status"] for row in rows][4:6] == ["no_event", "no_event"]
    assert float(rows[0]["affiliation_f1"]) == 1.0
    assert rows[4]["affiliation_f1"] == rows[4]["threshold"] == ""  # undefined, as in intervals
    assert "nan" not in printed.stdout.replace("zero-division:nan", "")
    assert {row["signature"] for row in rows} == {str(found(series).signature)}
    lines(run("batch", "series.parquet", *SCORES, "--out", "results.csv"))
    written = Path("results.csv").read_text().replace("zero-division:nan", "")
    assert "nan" in written  # numbers, also where none is known


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
    printed = unsigned(
        run("batch", "series.parquet", *SCORES, "--per-event", "--output", "results.parquet")
    )
    assert printed[-1] == (
        "Wrote 10 rows to results.parquet, and 16 of events to results.events.parquet."
    )
    expected = evaluate_frame(
        series, by="series", truth="label", score=["good", "noise"], per_event=True
    )
    require_same(pq.read_table("results.parquet"), expected.signed_table)
    require_same(pq.read_table("results.events.parquet"), expected.event_table)
    assert not Path("results.parquet.partial").exists()


def test_a_file_for_each_series(run, refuse, series):
    Path("runs").mkdir()
    for letter in "ab":
        part = series.filter(pc.equal(series["series"], letter)).drop_columns(["series"])
        pq.write_table(part, f"runs/{letter}.parquet")
    columns = ("--truth", "label", "--score", "good")
    assert refuse("batch", "runs", *columns) == [
        (
            "Error: Expected to know which series each of 2 files holds, got neither `--by` nor "
            "`--series`."
        ),
        (
            "Hint: If each file is a series, pass `--series filename`; if a column tells series "
            "apart, `--by COLUMN`; if all files are one series, `--series one`."
        ),
    ]
    for option in ("filename", "{series}.parquet"):
        printed = run("batch", "runs", *columns, "--series", option, "--format", "json").stdout
        assert [row["series"] for row in json.loads(printed)["rows"]] == ["a", "b"]


def test_the_number_of_series_is_told_first(run, series):
    told = run("batch", "series.parquet", *SCORES).stderr
    assert told == "5 series, 2 detectors.\n"
    told = run("batch", "series.parquet", *SCORES[2:], "--format", "json").stderr
    assert told == "1 series, 2 detectors.\n"
    long = series.append_column("detector", pa.array(["x"] * 500 + ["y"] * 500))
    pq.write_table(long, "long.parquet")
    by = ("--by", "series", "--by", "detector", "--truth", "label", "--score", "good")
    assert run("batch", "long.parquet", *by).stderr == "6 series of detectors.\n"
    Path("runs").mkdir()
    for letter in "ab":
        part = series.filter(pc.equal(series["series"], letter)).drop_columns(["series"])
        pq.write_table(part, f"runs/{letter}.parquet")
    Path("runs/c.parquet").write_bytes(b"PAR1")
    told = run("batch", "runs", "--series", "filename", *SCORES[2:]).stderr
    assert told.startswith("2 series, 2 detectors, 1 unit that cannot be read.\n")


def test_a_finished_file_is_replaced_only_on_demand(run, refuse, series):
    out = ("--out", "results.csv")
    lines(run("batch", "series.parquet", *SCORES, *out))
    first = Path("results.csv").read_bytes()
    told = refuse("batch", "series.parquet", *COLUMNS, "--score", "good", *out)
    assert told == [
        "Error: Expected no file at results.csv, got one.",
        "Hint: Replace it with `--overwrite`.",
    ]
    assert Path("results.csv").read_bytes() == first
    lines(run("batch", "series.parquet", *COLUMNS, "--score", "good", *out, "--overwrite"))
    assert Path("results.csv").read_bytes().count(b"\n") == 6


def test_a_finished_file_has_nothing_to_resume(run, series):
    arguments = ("batch", "series.parquet", *SCORES, "--out", "results.csv")
    lines(run(*arguments))
    first = Path("results.csv").stat().st_mtime_ns
    again = run(*arguments, "--resume")
    assert (again.exit_code, again.stdout) == (0, "")
    told = "results.csv is finished: nothing was evaluated. --overwrite starts again.\n"
    assert again.stderr == told
    assert Path("results.csv").stat().st_mtime_ns == first


def test_a_part_that_cannot_be_read_is_named_and_the_others_are_kept(run, series, monkeypatch):
    monkeypatch.setattr("closecall.tables.units.SMALLEST", 100)
    monkeypatch.setattr("closecall.tables.units.LARGEST", 400)
    for letter in "ab":
        pq.write_table(series.filter(pc.equal(series["series"], letter)), f"{letter}.parquet")
    content = bytearray(Path("b.parquet").read_bytes())
    rows = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[rows // 2 : rows] = bytes(rows - rows // 2)  # the names and the footer stay
    Path("b.parquet").write_bytes(content)
    alarms = (*COLUMNS, "--predicted", "alarm")
    result = run("batch", "a.parquet", "b.parquet", *alarms, "--out", "results.parquet")
    assert result.exit_code == 1
    told = complaint(result)
    assert "b.parquet" in told[0]
    assert told[1:] == [
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
    assert [one["unit"] for one in printed["failures"]] == [told[0].partition(": ")[0]]
    assert not Path("results.parquet").exists()
    assert len(list(Path("results.parquet.partial").glob("*.unit"))) == 1


def test_one_trouble_of_all_rows_is_an_error(run, series):
    arguments = ("--metric", "margin:margin=10min", "--time", "t")
    result = run("batch", "series.parquet", *SCORES, *arguments, "--disorder", "index")
    assert result.exit_code == 1
    reason = "margin: Expected `margin` to be a finite number of 0 or more, got "
    told = "Error: Expected at least one series to be evaluated, got 'failed' everywhere: "
    assert complaint(result)[0].startswith(f"{told}{reason}")
    assert f"failed, as in a, good: {reason}" in " ".join(result.stdout.split())


def test_times_that_are_text_are_not_called_out_of_order(run, series):
    place = series.column_names.index("t")
    stamps = pa.array([f"sample {t}" for t in series["t"].to_pylist()])
    pq.write_table(series.set_column(place, "t", stamps), "text.parquet")
    result = run("batch", "text.parquet", *SCORES, "--time", "t")
    assert result.exit_code == 1
    shown = " ".join(result.stdout.split())
    assert shown.startswith("0 series evaluated, 5 with times that repeat, go back or cannot be")
    assert "bad_times, as in a, good: Expected `t` to hold numbers or ISO times, got" in shown
    assert "--disorder" not in shown


def test_detectors_that_are_not_shown_are_counted(run, series):
    names = [f"copy_{number}" for number in range(61)]
    copies = dict.fromkeys(names, series["good"])
    columns = {name: series[name] for name in ("series", "label")}
    pq.write_table(pa.table(columns | copies), "many.parquet")
    scores = [part for name in names for part in ("--score", name)]
    for count, hidden in ((61, True), (60, False)):
        printed = lines(run("batch", "many.parquet", *COLUMNS, *scores[: 2 * count]))
        assert sum("  copy_" in line for line in printed) == 60
        assert ("... and 1 more detector; `--format json` has all." in printed) == hidden


BOTH = ("--by", "series", "--truth", "label", "--score", "good", "--score", "noise")


@pytest.fixture
def eight_series(tmp_path):
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


def test_pairs_are_turned_so_that_the_better_one_is_first(run, eight_series):
    turned = ("--score", "noise", "--score", "good")
    either = [
        lines(run("batch", "series.parquet", *columns, "--intervals"))
        for columns in (BOTH, (*BOTH[:4], *turned))
    ]
    start = either[0].index("How sure: 95 % intervals over series")
    assert either[0][start:] == either[1][start:]


def test_pooled_numbers_with_the_events(run, eight_series):
    printed = lines(run("batch", "series.parquet", *BOTH, "--intervals", "--per-event"))
    assert any(line.startswith("detector  pooled F1 ") for line in printed)
    rows = evaluate_frame(
        eight_series, by="series", truth="label", score=["good", "noise"], per_event=True
    ).intervals()
    (expected,) = [
        row
        for row in rows.to_pylist()
        if (row["against"], row["number"]) == ("noise", "pooled_affiliation_precision")
    ]
    (line,) = [line.split() for line in printed if line.strip().startswith("pooled prec.")]
    numbers = [f"{expected[name]:+.2f}" for name in ("value", "low", "high")]
    assert line[2:5] == numbers


def test_json_and_csv_have_every_row(run, eight_series):
    rows = (
        evaluate_frame(eight_series, by="series", truth="label", score=["good", "noise"])
        .intervals()
        .to_pylist()
    )
    arguments = ("batch", "series.parquet", *BOTH, "--intervals", "--format")
    printed = json.loads(run(*arguments, "json").stdout)
    assert len(printed["rows"]) == 16
    assert [row["low"] for row in printed["intervals"]] == [row["low"] for row in rows]
    assert printed["intervals"][0]["pvalue"] is None
    assert printed["intervals"][-1]["pvalue"] == rows[-1]["pvalue"]
    table = list(csv.DictReader(io.StringIO(run(*arguments, "csv").stdout)))
    assert [row["number"] for row in table] == [row["number"] for row in rows]
    assert [row["caution"] for row in table] == [row["caution"] for row in rows]
    assert [float(row["low"]) for row in table] == [row["low"] for row in rows]
    assert table[0]["pvalue"] == ""  # as a comparison leaves it
    assert "intervals" not in json.loads(
        run("batch", "series.parquet", *BOTH, "--format", "json").stdout
    )


def test_another_level_and_number_of_resamples(run, eight_series):
    batch = evaluate_frame(eight_series, by="series", truth="label", score=["good", "noise"])
    rows = batch.intervals(level=0.8, n=300).to_pylist()
    chosen = ("--intervals", "--level", "0.8", "--resamples", "300")
    arguments = ("batch", "series.parquet", *BOTH, *chosen)
    assert "How sure: 80 % intervals over series" in lines(run(*arguments))
    printed = json.loads(run(*arguments, "--format", "json").stdout)
    assert [row["low"] for row in printed["intervals"]] == [row["low"] for row in rows]


def test_numbers_without_intervals_on_the_terminal_are_counted(run, eight_series):
    more = ("--metric", "affiliation", "--metric", "classical", "--metric", "event_wise")
    printed = lines(run("batch", "series.parquet", *BOTH, *more, "--intervals"))
    assert "... and 5 more numbers; `--format json` has all." in printed
    printed = lines(run("batch", "series.parquet", *BOTH, "--intervals"))
    assert not any("more number" in line for line in printed)


@pytest.fixture
def twelve_series(tmp_path):
    """Twelve series: one detector is exact, two are late, by more on some series than on others."""
    label = np.zeros((12, 60), dtype=np.int8)
    label[:, 20:26] = 1
    shifted = {
        "exact": [0] * 12,
        "late": [3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6],
        "later": [4, 4, 4, 7, 2, 5, 4, 7, 4, 3, 6, 6],
    }
    alarms = {
        name: np.stack(
            [np.roll(labels, by) for labels, by in zip(label, shifts, strict=True)]
        ).ravel()
        for name, shifts in shifted.items()
    }
    table = pa.table({"series": np.repeat(np.arange(12), 60), "label": label.ravel()} | alarms)
    pq.write_table(table, tmp_path / "twelve.parquet")
    return table


ALL_THREE = tuple(part for name in ("late", "later", "exact") for part in ("--predicted", name))


def test_ranks_are_those_of_the_library(run, twelve_series):
    arguments = ("batch", "twelve.parquet", *BOTH[:4], *ALL_THREE, "--ranks")
    names = ["late", "later", "exact"]
    result = evaluate_frame(twelve_series, by="series", truth="label", predicted=names)
    ranks = result.ranks()
    assert ranks.detectors == ("exact", "late", "later")
    assert ranks.cliques == (("late", "later"),)
    printed = lines(run(*arguments))
    start = printed.index("Ranks by affiliation_f1")
    rows = [line.split() for line in printed[start + 3 : start + 6]]
    assert [row[:2] for row in rows] == [
        [name, f"{rank:.2f}"]
        for name, rank in zip(ranks.detectors, ranks.average_rank, strict=True)
    ]
    assert ["a" in row for row in rows] == [False, True, True]
    assert any("12/0/0" in line for line in printed)
    assert ranks.text in " ".join(printed)
    assert printed[-1] == f"signature: {ranks.signature.short}"
    assert run(*arguments, "--format", "latex").stdout == ranks.to_latex()
    plain = json.loads(run(*arguments, "affiliation_recall", "--format", "json").stdout)
    assert plain["ranks"] == result.ranks("affiliation_recall").to_dict()
    assert plain["signature"] == plain["ranks"]["signature"]


def test_ranks_refuse_what_cannot_be_ranked(run, refuse, twelve_series):
    arguments = ("batch", "holes.parquet", *BOTH[:4], *ALL_THREE, "--ranks")
    precision = "affiliation_precision"
    late = twelve_series["late"].to_numpy().copy()
    late[:60] = 0  # nothing predicted: no precision
    place = twelve_series.column_names.index("late")
    pq.write_table(twelve_series.set_column(place, "late", pa.array(late)), "holes.parquet")
    told = " ".join(refuse(*arguments, precision, code=2))
    assert "got none of some detectors on 1 of 12 series." in told
    assert "`--ranks-missing drop`" in told
    for rule, series in (("drop", 11), ("worst", 12)):
        plain = run(*arguments, precision, "--ranks-missing", rule, "--format", "json").stdout
        assert json.loads(plain)["ranks"]["series"] == series
    assert "`--ranks` to be a number of the rows, got 'f2'" in refuse(*arguments, "f2", code=2)[0]
    pq.write_table(twelve_series.slice(0, 300), "few.parquet")
    told = refuse("batch", "few.parquet", *arguments[2:], code=2)[0]
    assert "Expected 6 or more series on which detectors can be ranked, got 5." in told


def test_how_many_series_are_needed_is_a_range_or_cannot_be_said(run, twelve_series):
    def printed(*detectors):
        chosen = [part for name in detectors for part in ("--predicted", name)]
        return " ".join(lines(run("batch", "twelve.parquet", *BOTH[:4], *chosen, "--intervals")))

    result = evaluate_frame(
        twelve_series, by="series", truth="label", predicted=["exact", "late", "later"]
    )
    assert result.series_needed("late", "later") is None
    assert (
        "late and later do not differ significantly in F1. How many series would show a difference "
        "cannot be said: it may be 0."
    ) in printed("late", "later")
    least, most = result.series_needed("exact", "later")
    assert 6 <= least < most
    assert (
        "exact and later differ in F1. To show that again with a power of 80 % takes "
        f"{least} to {most} series, depending on where in its limits the difference is."
    ) in printed("exact", "later")


def test_one_detector_has_no_pairs_and_lengths_are_written_as_such(run, eight_series):
    one = BOTH[:-2]
    printed = lines(run("batch", "series.parquet", *one, "--metric", "hausdorff", "--intervals"))
    assert "How sure: 95 % intervals over series" in printed
    assert not any("lead in" in line for line in printed)
    assert "good      0 (-)" in printed
    assert "hausdorff: in samples." in printed


def test_many_detectors_show_some_pairs(run, eight_series):
    names = [f"copy_{number}" for number in range(7)]
    wide = pa.table(
        {name: eight_series[name] for name in ("series", "label")}
        | dict.fromkeys(names, eight_series["noise"])
    )
    pq.write_table(wide, "wide.parquet")
    scores = [part for name in names for part in ("--score", name)]
    printed = lines(run("batch", "wide.parquet", *BOTH[:4], *scores, "--intervals"))
    assert "... and 6 more pairs; `--format json` has all." in printed
    (row,) = [line.split() for line in printed if line.startswith("copy_0  copy_1 ")]
    assert row == ["copy_0", "copy_1", "F1", "+0.00", "-0.30", "+0.30", "1"]


@pytest.fixture
def folders(run):
    """Write the demo as TSB-AD, TimeEval and NAB lay files out, in the folder that `run` is in."""
    data = demo()
    for folder in ("TSB-AD-U", "datasets"):
        Path(folder).mkdir()
    rows = list(zip(data.times.astype(str), data.values, data.truth, strict=True))
    values = [f"{value},{label}\n" for _, value, label in rows]
    Path("TSB-AD-U/one.csv").write_text("Data,Label\n" + "".join(values))
    index = "collection_name,dataset_name,test_path\ntoys,one,one.csv\n"
    Path("datasets/datasets.csv").write_text(index)
    Path("datasets/one.csv").write_text(
        "timestamp,value,is_anomaly\n" + "".join(f"{t},{v},{label}\n" for t, v, label in rows)
    )
    for detector, scores in data.scores.items():
        tsb, run_folder = Path("score", detector), Path("run", detector, "0af3/toys/one/1")
        nab = Path("results", detector, "toys")
        for folder in (tsb, run_folder, nab):
            folder.mkdir(parents=True)
        np.save(tsb / "one.npy", scores)
        scores.tofile(run_folder / "anomaly_scores.ts", sep="\n")
        lines = [f"{t},{s},{label}\n" for (t, _, label), s in zip(rows, scores, strict=True)]
        content = "timestamp,anomaly_score,label\n" + "".join(lines)
        (nab / f"{detector}_one.csv").write_text(content)


@pytest.mark.parametrize(
    ("arguments", "series"),
    [
        (("TSB-AD-U", "--layout", "tsb-ad", "--scores", "score"), "one"),
        (("datasets", "--layout", "timeeval", "--scores", "run"), "toys/one"),
        (("results", "--layout", "nab"), "toys/one.csv"),
    ],
)
def test_every_layout_gives_the_same_scores(run, folders, arguments, series):
    result = run("batch", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    assert [(row["series"], row["detector"]) for row in rows] == [
        (series, "forecast"),
        (series, "threshold"),
    ]
    for row in rows:
        best = cc.affiliation_curve(demo().truth, demo().scores[row["detector"]]).best()
        assert row["affiliation_f1"] == best.fbeta


def test_a_folder_of_the_ucr_archive(run, tmp_path):
    name, scores = "001_UCR_Anomaly_toy_2_3_4", [0.1, 0.2, 0.1, 0.9, 0.3, 0.8]
    for folder in ("archive", "score/mine"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "archive" / f"{name}.txt").write_text("1\n1\n1\n9\n9\n1\n")
    np.save(tmp_path / "score" / "mine" / f"{name}.npy", scores)
    result = run("batch", "archive", "--layout", "ucr", "--scores", "score", "--format", "json")
    (row,) = json.loads(result.stdout)["rows"]
    best = cc.affiliation_curve([0, 0, 0, 1, 1, 0], scores).best()
    assert (row["series"], row["affiliation_f1"]) == (name, best.fbeta)


def test_one_detector_can_be_chosen(run, folders):
    arguments = ("batch", "results", "--layout", "nab", "--score", "threshold", "--format", "json")
    rows = json.loads(run(*arguments).stdout)["rows"]
    assert [row["detector"] for row in rows] == ["threshold"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.csv",), "Missing option '--truth'. It, or --layout, says where the labels are."),
        (
            ("x.csv", "--truth", "y", "--scores", "z"),
            "--scores goes with --layout; columns of scores are --score.",
        ),
        (
            ("TSB-AD-U", "--layout", "tsb-ad"),
            "With --layout tsb-ad, --scores names the folder of the detectors' scores.",
        ),
        (
            ("results", "--layout", "nab", "--scores", "score"),
            "With --layout nab there is no --scores: they are in DATA, in results/.",
        ),
        *(
            (
                ("results", "--layout", "nab", option, "x"),
                (
                    f"{option} does not go with --layout, whose series, labels and scores are "
                    "known; --score chooses among its detectors."
                ),
            )
            for option in ("--by", "--series", "--truth", "--predicted")
        ),
        (("a", "b", "--layout", "nab"), "With --layout, DATA is one folder; there are 2."),
    ],
)
def test_options_that_do_not_go_together(run, arguments, message):
    result = run("batch", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_times_are_read_only_if_asked_for(run, folders):
    Path("datasets/two.csv").write_text("timestamp,value,is_anomaly\n0,1.5,0\n1,8.1,1\n2,0.1,0\n")
    with Path("datasets/datasets.csv").open("a") as index:
        index.write("toys,two,two.csv\n")
    for detector in demo().scores:
        folder = Path("run", detector, "0af3/toys/two/1")
        folder.mkdir(parents=True)
        (folder / "anomaly_scores.ts").write_text("0.1\n0.9\n0.2\n")
    arguments = ("batch", "datasets", "--layout", "timeeval", "--scores", "run")
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    statuses = [row["status"] for row in json.loads(result.stdout)["rows"]]
    assert statuses == ["ok"] * 4
    refused = run(*arguments, "--time", "timestamp")
    assert refused.exit_code == 1
    assert refused.stderr.splitlines()[1] == (
        "Hint: Without them, samples are counted: `timestamps=False` (no `--time`)."
    )


def test_time_of_a_file_is_ignored_in_every_series(run, tmp_path):
    """As a column that says the same."""
    rows = [(name, t, t in (4, 9), t in (5, 12), t >= 10) for name in "ab" for t in range(16)]
    text = "".join(f"{n},{t},{y:d},{p:d},{i:d}\n" for n, t, y, p, i in rows)
    Path("data.csv").write_text(f"series,t,label,alarm,off\n{text}")
    Path("off.csv").write_text("start,stop\n12,16\n10,13\n")
    command = "batch data.csv --by series --truth label --predicted alarm --time t --format csv"
    by_column, by_file = (run(*command.split(), "--ignore", x) for x in ("off", "off.csv"))
    assert by_file.exit_code == 0, by_file.stderr
    assert by_file.stdout == by_column.stdout
    assert by_file.stdout != run(*command.split()).stdout

"""NAB: the published corpus from three layouts, any results in its layout, and its windows."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from closecall.datasets import load_nab, read_nab
from closecall.datasets import nab as module
from closecall.datasets.nab import DETECTORS, labels_of, read_window_file
from closecall.errors import InputError
from closecall.tables.batch.evaluate import evaluate_frame
from tests.datasets.conftest import refusal

MINUTES = [f"2020-01-01 00:{minute:02}:00" for minute in range(4)]
WINDOWS = {
    "real/a.csv": [["2020-01-01 00:01:00.000000", "2020-01-01 00:02:00.000000"]],
    "real/b.csv": [],
}
LABELS = {"real/a.csv": [0, 1, 1, 0], "real/b.csv": [0, 0, 0, 0]}
FINAL = {"numenta": {"standard": 70.1}}
THRESHOLDS = {"numenta": {"standard": {"score": 46.6, "threshold": 0.5}}}


def scores(series, detector):
    return [len(series) + DETECTORS.index(detector) + row / 8 for row in range(4)]


def write_one_table(folder):
    folder.mkdir()
    stamps = np.array(MINUTES, dtype="datetime64[us]")
    columns = {
        "series": [name for name in LABELS for _ in MINUTES],
        "timestamp": np.tile(stamps, 2),
        "value": np.arange(8.0),
        "label": [label for labels in LABELS.values() for label in labels],
    } | {detector: [s for name in LABELS for s in scores(name, detector)] for detector in DETECTORS}
    pq.write_table(pa.table(columns), folder / "scores.parquet")
    (folder / "combined_windows.json").write_text(json.dumps(WINDOWS))
    both = {"final": FINAL, "thresholds": THRESHOLDS}
    (folder / "reference_results.json").write_text(json.dumps(both))


def write_corpus(folder):
    for part, content in (
        ("labels/combined_windows.json", WINDOWS),
        ("results/final_results.json", FINAL),
        ("config/thresholds.json", THRESHOLDS),
    ):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).write_text(json.dumps(content))
    for number, (name, labels) in enumerate(LABELS.items()):
        group, _, file = name.partition("/")
        for detector in DETECTORS:
            path = folder / "results" / detector / group / f"{detector}_{file}"
            path.parent.mkdir(parents=True, exist_ok=True)
            columns = (range(4 * number, 4 * number + 4), scores(name, detector), labels)
            lines = [",".join(map(str, row)) for row in zip(MINUTES, *columns, strict=True)]
            path.write_text("timestamp,value,anomaly_score,label\n" + "\n".join(lines) + "\n")


def check_corpus(nab, *, detectors=DETECTORS):
    assert list(nab.series) == ["real/a.csv", "real/b.csv"]
    for number, (name, series) in enumerate(nab.series.items()):
        assert series.name == name
        assert series.times.tolist() == np.array(MINUTES, dtype="datetime64[us]").tolist()
        assert series.values.tolist() == [4 * number + row for row in range(4)]
        assert series.truth.tolist() == LABELS[name]
        assert series.windows.shape == (len(WINDOWS[name]), 2)
        assert {d: s.tolist() for d, s in series.scores.items()} == {
            d: scores(name, d) for d in detectors
        }


@pytest.mark.parametrize("write", [write_one_table, write_corpus])
def test_one_table_and_a_clone_give_the_same(tmp_path, write):
    write(tmp_path / "nab")
    nab = load_nab(tmp_path)
    check_corpus(nab)
    assert (nab.final, nab.thresholds) == (FINAL, THRESHOLDS)
    assert repr(nab) == "Nab(2 series)"
    assert repr(nab["real/a"]).startswith("NabSeries(real/a.csv, 4 rows, detectors: numenta, ")


def test_single_files_have_labels_from_the_windows(tmp_path):
    for number, file in enumerate(("a.csv", "b.csv")):
        rows = zip(MINUTES, range(4 * number, 4 * number + 4), strict=True)
        text = "\n".join(f"{time},{value}" for time, value in rows)
        (tmp_path / file).write_text(f"timestamp,value\n{text}\n")
    (tmp_path / "combined_windows.json").write_text(json.dumps(WINDOWS))
    nab = load_nab(tmp_path)
    check_corpus(nab, detectors=())
    assert (nab.final, nab.thresholds) == (None, None)


def test_without_windows_there_is_no_truth(tmp_path):
    (tmp_path / "a.csv").write_text(f"timestamp,value\n{MINUTES[0]},3\n")
    series = load_nab(tmp_path)["a"]
    assert (series.truth, series.windows, series.scores) == (None, None, {})
    assert series.values.tolist() == [3.0]


def test_without_a_folder_it_is_downloaded_once(repository, monkeypatch):
    write_corpus(repository.folder)
    monkeypatch.setattr(module, "NAB", repository.source("nab"))
    check_corpus(load_nab())
    check_corpus(load_nab())
    assert len(repository.asked) == 13


def test_real_data(data_folder):
    nab = load_nab(data_folder)
    assert len(nab.series) == 58
    assert sum(len(series.times) for series in nab.series.values()) == 365_558
    assert nab.final["numenta"]["standard"] == pytest.approx(70.10105611943965, abs=1e-12)
    for series in nab.series.values():
        assert tuple(series.scores) == DETECTORS
        inside = np.zeros(len(series.times), dtype=bool)
        for start, stop in series.windows:
            inside |= (series.times >= start) & (series.times <= stop)
        assert np.array_equal(series.truth, inside)
    # The dirt is kept: times that repeat or go back.
    dirty = [s.name for s in nab.series.values() if (np.diff(s.times).astype(int) <= 0).any()]
    assert len(dirty) == 8


def test_tables_that_are_not_whole(tmp_path):
    empty = "Expected a folder with scores.parquet, with NAB's CSV"
    assert refusal(load_nab, tmp_path).startswith(empty)
    path = tmp_path / "scores.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    assert refusal(load_nab, tmp_path).startswith(f"Expected {path} to be a Parquet file, got ")
    pq.write_table(pa.table({"series": ["a"], "timestamp": [1], "value": [2.0]}), path)
    assert refusal(load_nab, tmp_path) == (
        f"Expected {path} to have a column `label`, got series, timestamp, value."
    )


def test_windows_of_the_corpus_that_cannot_be_read(tmp_path):
    write_one_table(tmp_path / "nab")
    path = tmp_path / "nab" / "combined_windows.json"
    path.write_text("{")
    rule = f"Expected {path} to have pairs of times for each series, as JSON, got "
    assert refusal(load_nab, tmp_path).startswith(rule)
    path.write_text(json.dumps(WINDOWS | {"real/b.csv": [MINUTES[2:0:-1]]}))
    assert "to be two times, the earlier first" in refusal(load_nab, tmp_path)


def test_a_detector_with_fewer_rows(tmp_path):
    write_corpus(tmp_path)
    path = tmp_path / "results" / "skyline" / "real" / "skyline_b.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    assert refusal(load_nab, tmp_path) == (
        f"Expected {path} to have the 4 rows of the other detectors, got 3."
    )


def test_a_series_that_is_not_there(tmp_path):
    write_one_table(tmp_path / "nab")
    with pytest.raises(InputError, match=re.escape("There are 2, such as 'real/a.csv'.")):
        load_nab(tmp_path)["real/c"]


SCORES = {"mine": [0.5, 0.75, 0.25, 0.0], "null": [1, 1, 1, 1]}


def result_file(folder, detector, series):
    group, _, file = series.partition("/")
    return folder / "results" / detector / group / f"{detector}_{file}"


def write_results(folder, detector, series, *, times=MINUTES, labels=None, scores=None):
    path = result_file(folder, detector, series)
    path.parent.mkdir(parents=True, exist_ok=True)
    labels = LABELS[series] if labels is None else labels
    columns = zip(times, scores or SCORES[detector], labels, strict=True)
    lines = [f"{time},7,{score},0.9,{label},-0.11" for time, score, label in columns]
    header = "timestamp,value,anomaly_score,raw_score,label,S(t)_standard"
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def write_data(folder, series, times=MINUTES):
    (folder / "data" / series).parent.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{time},7\n" for time in times)
    (folder / "data" / series).write_text(f"timestamp,value\n{rows}")


@pytest.fixture
def folder(tmp_path):
    for series in LABELS:
        for detector in SCORES:
            write_results(tmp_path, detector, series)
    (tmp_path / "results/mine/mine_standard_scores.csv").write_text("Detector,Profile\n")
    (tmp_path / "results/final_results.json").write_text("{}")
    return tmp_path


@pytest.fixture
def clone(folder):
    (folder / "labels").mkdir()
    (folder / "labels/combined_windows.json").write_text(json.dumps(WINDOWS))
    for series in LABELS:
        write_data(folder, series)
    return folder


def check(table):
    assert table.column_names == ["series", "timestamp", "label", "mine", "null"]
    assert table["series"].to_pylist() == ["real/a.csv"] * 4 + ["real/b.csv"] * 4
    assert table["timestamp"].to_numpy().tolist() == np.array(MINUTES * 2, "M8[ns]").tolist()
    assert table["label"].to_pylist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert table["mine"].to_pylist() == SCORES["mine"] * 2
    assert table["null"].to_pylist() == [1.0] * 8
    assert table.schema.field("label").type == pa.uint8()
    assert table.schema.field("null").type == pa.float64()


def test_results_and_a_clone_give_the_same_table(folder):
    check(read_nab(folder))
    check(read_nab(folder / "results"))


def test_a_clone_decides_times_and_windows(clone):
    """Both ends of a window are inside; copies in the results are then not looked at."""
    shifted = [time.replace(" 00:", " 01:") for time in MINUTES]
    write_results(clone, "null", "real/a.csv", times=shifted, labels=[1, 0, 0, 0])
    check(read_nab(clone))


def test_copies_that_differ(folder):
    first = result_file(folder, "mine", "real/a.csv")
    second = write_results(folder, "null", "real/a.csv", labels=[0, 0, 1, 1])
    message = (
        f"Expected the column `{{}}` of {second} to be that of {first}, got another one in {{}} "
        "rows, from row {} on.\n\n"
        "Hint: A clone of NAB's repository has data/ and labels/, which then decide."
    )
    assert refusal(read_nab, folder) == message.format("label", 2, 2)
    write_results(folder, "null", "real/a.csv", times=[*MINUTES[:3], "2020-01-01 00:09:00"])
    assert refusal(read_nab, folder) == message.format("timestamp", 1, 4)


def test_another_number_of_rows(clone):
    path = write_results(
        clone, "null", "real/a.csv", times=MINUTES[:3], labels=[0] * 3, scores=[1.0] * 3
    )
    assert refusal(read_nab, clone / "results") == (
        f"Expected {path} to have 4 rows, as {result_file(clone, 'mine', 'real/a.csv')} has, got 3."
    )
    assert refusal(read_nab, clone).startswith(f"Expected {path} to have 4 scores, ")


def test_a_series_that_one_detector_lacks(folder):
    result_file(folder, "mine", "real/b.csv").unlink()
    kept = read_nab(folder, missing="nan")
    assert np.isnan(kept["mine"].to_numpy()).tolist() == [False] * 4 + [True] * 4
    assert read_nab(folder, missing="drop")["series"].unique().to_pylist() == ["real/a.csv"]


def test_a_series_that_the_clone_does_not_know(clone):
    for detector in SCORES:
        write_results(clone, detector, "real/c.csv", labels=[0] * 4)
    assert "got none that is called 'real/c.csv'." in refusal(read_nab, clone)
    check(read_nab(clone, missing="drop"))
    write_data(clone, "real/c.csv")
    assert refusal(read_nab, clone) == (
        "Expected windows for the series 'real/c.csv' in labels/combined_windows.json, got none."
        "\n\nHint: A series without any has an empty list there."
    )


def test_a_series_that_no_detector_has(clone):
    """Its data and its windows are there, so it is missing, as if one detector lacked it."""
    for detector in SCORES:
        result_file(clone, detector, "real/b.csv").unlink()
    assert "'mine' for the series 'real/b.csv'." in refusal(read_nab, clone)
    kept = read_nab(clone, missing="nan")
    assert kept["label"].to_pylist() == [0, 1, 1, 0, 0, 0, 0, 0]
    for detector in SCORES:
        assert np.isnan(kept[detector].to_numpy()).tolist() == [False] * 4 + [True] * 4
    rows = evaluate_frame(kept, by="series", truth="label", score=list(SCORES)).rows
    assert rows["series"].to_pylist() == ["real/a.csv"] * 2 + ["real/b.csv"] * 2
    assert read_nab(clone, missing="drop")["series"].unique().to_pylist() == ["real/a.csv"]
    (clone / "labels/combined_windows.json").unlink()
    assert refusal(read_nab, clone, missing="nan") == (
        "Expected labels/combined_windows.json, or results with labels, for the series "
        "'real/b.csv', got neither."
    )


def test_files_that_are_not_the_layout(folder, tmp_path):
    stray = folder / "results/mine/real/a.csv"
    stray.write_text("timestamp\n")
    assert refusal(read_nab, folder) == (
        f"Expected each file of the detector 'mine' to be called mine_<file>.csv, got {stray}."
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refusal(read_nab, empty) == (
        f"Expected files <detector>/<group>/<detector>_<file>.csv, got none in {empty}.\n\n"
        "Hint: Pass a clone of NAB's repository, or its folder results."
    )


def test_scores_that_are_not_numbers(folder):
    path = write_results(folder, "mine", "real/a.csv", scores=[0.5, 0.5, "high", 0.1])
    assert refusal(read_nab, folder) == (
        f"Expected numbers in the column `anomaly_score` of {path}, got high in row 3."
    )


def test_published_scores_come_back_as_they_are(data_folder, tmp_path):
    """Part of the published table, written as NAB lays it out, is read and evaluated alike."""
    parquet = data_folder / "nab" / "scores.parquet"
    if not parquet.is_file():
        pytest.skip(f"needs {parquet}")
    chosen = [
        "realAWSCloudwatch/rds_cpu_utilization_cc0c53.csv",
        "realTweets/Twitter_volume_UPS.csv",
    ]
    table = pq.read_table(parquet, filters=[("series", "in", chosen)])
    detectors = table.column_names[4:]
    parts = {series: table.filter(pc.equal(table["series"], series)) for series in chosen}
    table = pa.concat_tables(parts.values())
    for series, part in parts.items():
        for detector in detectors:
            path = result_file(tmp_path, detector, series)
            path.parent.mkdir(parents=True, exist_ok=True)
            columns = part.select(["timestamp", "value", detector, "label"])
            names = ["timestamp", "value", "anomaly_score", "label"]
            arrow_csv.write_csv(columns.rename_columns(names), path)
    (tmp_path / "labels").mkdir()
    windows = (data_folder / "nab" / "combined_windows.json").read_text()
    (tmp_path / "labels/combined_windows.json").write_text(windows)
    read = read_nab(tmp_path)
    assert read.num_rows == table.num_rows > 10_000
    assert read["label"].to_pylist() == table["label"].to_pylist()
    for detector in detectors:
        assert read[detector].to_pylist() == table[detector].to_pylist()
    question = {"by": "series", "truth": "label", "score": sorted(detectors)}
    ours, theirs = (evaluate_frame(each, **question).rows for each in (read, table))
    for name in ("series", "detector", "affiliation_f1", "affiliation_average_precision"):
        assert ours[name].to_pylist() == theirs[name].to_pylist()
    assert set(ours["status"].to_pylist()) == {"ok"}


SEVEN, FIVE = "2020-01-01 07:00:00.000000", "2020-01-01 05:00:00.000000"
DATA = Path("data/real/a.csv")


def hours(*texts):
    return pa.chunked_array([pa.array(np.array(texts, dtype="M8[ns]"))])


def written(tmp_path, windows):
    path = tmp_path / "combined_windows.json"
    path.write_text(json.dumps({"real/a.csv": windows}))
    return path


def test_both_ends_are_inside(tmp_path):
    times = hours(*(f"2020-01-01T0{hour}" for hour in (4, 5, 6, 7, 8, 9)))
    windows = read_window_file(
        written(tmp_path, [[FIVE, SEVEN], ["2020-01-01T09", "2020-01-01T09"]])
    )
    assert labels_of("real/a.csv", times, DATA, windows).tolist() == [0, 1, 1, 1, 0, 1]
    windows = read_window_file(written(tmp_path, []))
    assert labels_of("real/a.csv", times, DATA, windows).tolist() == [0] * 6


@pytest.mark.parametrize(
    "window",
    [
        [SEVEN, FIVE],
        [None, None],
        [FIVE, None],
        [FIVE],
        ["2020-01-01", "2020-01-02", "2020-01-03"],
        [0, 5],
        ["soon", "later"],
        [FIVE, "2020-01-01T07:00:00Z"],
        ["9999-01-01", "9999-01-02"],
        None,
        FIVE,
    ],
)
def test_windows_that_would_be_lost(tmp_path, window):
    path = written(tmp_path, [[FIVE, SEVEN], window])
    assert refusal(read_window_file, path) == (
        f"Expected each window of the series 'real/a.csv' in {path} to be two times, the earlier "
        f"first, got {window!r}.\n\n"
        "Hint: Times are read as ISO 8601, such as 2017-03-22 15:16:45, from 1678 to 2261."
    )


def test_windows_that_are_no_list(tmp_path):
    for windows in (None, 5, FIVE, {FIVE: SEVEN}):
        path = written(tmp_path, windows)
        assert f"the earlier first, got {windows!r}." in refusal(read_window_file, path)


def test_a_window_without_a_sample(tmp_path):
    windows = read_window_file(written(tmp_path, [[FIVE, SEVEN]]))
    times = hours("2020-01-01T04", "2020-01-01T08")
    assert refusal(labels_of, "real/a.csv", times, DATA, windows) == (
        f"Expected a sample of {DATA} in each window of the series 'real/a.csv', got none from "
        "2020-01-01T05:00:00 to 2020-01-01T07:00:00."
    )


def test_numbers_have_no_windows(tmp_path):
    windows = read_window_file(written(tmp_path, [[FIVE, SEVEN]]))
    assert refusal(labels_of, "real/a.csv", pa.chunked_array([[1, 2]]), DATA, windows) == (
        f"Expected times without a time zone in {DATA}, as in labels/combined_windows.json, got "
        "int64.\n\n"
        "Hint: Times are read as ISO 8601, such as 2017-03-22 15:16:45, from 1678 to 2261."
    )


@pytest.mark.parametrize(("content", "got"), [("[]", "something else"), ("{", "Expecting")])
def test_a_file_that_names_no_series(tmp_path, content, got):
    path = tmp_path / "combined_windows.json"
    path.write_text(content)
    rule = f"Expected {path} to have pairs of times for each series, as JSON, got {got}"
    assert refusal(read_window_file, path).startswith(rule)

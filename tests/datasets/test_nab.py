"""NAB: three layouts, one result; and what is refused."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from closecall.datasets import load_nab
from closecall.datasets import nab as module
from closecall.datasets.nab_files import DETECTORS
from closecall.errors import InputError

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


def write_clone(folder):
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
            rows = zip(
                MINUTES,
                range(4 * number, 4 * number + 4),
                scores(name, detector),
                labels,
                strict=True,
            )
            lines = [",".join(map(str, row)) for row in rows]
            path.write_text("timestamp,value,anomaly_score,label\n" + "\n".join(lines) + "\n")


def check(nab, *, detectors=DETECTORS):
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


def test_one_table(tmp_path):
    write_one_table(tmp_path / "nab")
    nab = load_nab(tmp_path)
    check(nab)
    assert (nab.final, nab.thresholds) == (FINAL, THRESHOLDS)
    assert repr(nab) == "Nab(2 series)"
    assert repr(nab["real/a"]).startswith("NabSeries(real/a.csv, 4 rows, detectors: numenta, ")


def test_a_clone_gives_the_same(tmp_path):
    write_clone(tmp_path)
    nab = load_nab(tmp_path)
    check(nab)
    assert (nab.final, nab.thresholds) == (FINAL, THRESHOLDS)


def test_single_files_have_labels_from_the_windows(tmp_path):
    for number, file in enumerate(("a.csv", "b.csv")):
        rows = zip(MINUTES, range(4 * number, 4 * number + 4), strict=True)
        text = "\n".join(f"{time},{value}" for time, value in rows)
        (tmp_path / file).write_text(f"timestamp,value\n{text}\n")
    (tmp_path / "combined_windows.json").write_text(json.dumps(WINDOWS))
    nab = load_nab(tmp_path)
    check(nab, detectors=())
    assert (nab.final, nab.thresholds) == (None, None)


def test_without_windows_there_is_no_truth(tmp_path):
    (tmp_path / "a.csv").write_text(f"timestamp,value\n{MINUTES[0]},3\n")
    series = load_nab(tmp_path)["a"]
    assert (series.truth, series.windows, series.scores) == (None, None, {})
    assert series.values.tolist() == [3.0]


def test_without_a_folder_it_is_downloaded_once(repository, monkeypatch):
    write_clone(repository.folder)
    monkeypatch.setattr(module, "NAB", repository.source("nab"))
    check(load_nab())
    check(load_nab())
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


def refusal(folder):
    with pytest.raises(InputError) as caught:
        load_nab(folder)
    return str(caught.value)


def test_a_folder_without_series(tmp_path):
    assert refusal(tmp_path).startswith("Expected a folder with scores.parquet, with NAB's CSV")


def test_a_damaged_table(tmp_path):
    path = tmp_path / "scores.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    assert refusal(tmp_path).startswith(f"Expected {path} to be readable, got ")


def test_a_table_without_labels(tmp_path):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"series": ["a"], "timestamp": [1], "value": [2.0]}), path)
    assert refusal(tmp_path) == (
        f"Expected {path} to have a column `label`, got series, timestamp, value."
    )


def test_windows_that_are_not_json(tmp_path):
    write_one_table(tmp_path / "nab")
    path = tmp_path / "nab" / "combined_windows.json"
    path.write_text("{")
    assert refusal(tmp_path).startswith(f"Expected {path} to be JSON, got ")


def test_a_detector_with_fewer_rows(tmp_path):
    write_clone(tmp_path)
    path = tmp_path / "results" / "skyline" / "real" / "skyline_b.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    assert refusal(tmp_path) == (
        f"Expected {path} to have the 4 rows of the other detectors, got 3."
    )


def test_a_series_that_is_not_there(tmp_path):
    write_one_table(tmp_path / "nab")
    with pytest.raises(InputError, match=re.escape("There are 2, such as 'real/a.csv'.")):
        load_nab(tmp_path)["real/c"]

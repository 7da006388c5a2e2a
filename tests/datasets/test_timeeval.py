"""TimeEval: an index of datasets, and a folder per experiment."""

import numpy as np
import pyarrow as pa
import pytest

from closecall.datasets import read_timeeval
from tests.datasets.conftest import refusal

HEADER = "collection_name,dataset_name,train_path,test_path,dataset_type,datetime_index\n"
HOURS = [f"1970-01-01 0{hour}:00:00" for hour in range(4)]
LABELS = {"test/b": [0, 1, 1, 0], "test/a": [0, 0, 0, 1]}


def write_dataset(folder, name, times, labels):
    rows = [f"{time},7.5,0.1,{label}" for time, label in zip(times, labels, strict=True)]
    path = folder / "multivariate" / f"{name}.test.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["timestamp,value,value_1,is_anomaly", *rows]) + "\n")


def write_scores(run, algorithm, series, scores, *, parameters="0af3", repetition=1):
    folder = run / algorithm / parameters / series / str(repetition)
    folder.mkdir(parents=True)
    np.array(scores).tofile(folder / "anomaly_scores.ts", sep="\n")
    (10 * np.array(scores)).tofile(folder / "raw_anomaly_scores.ts", sep="\n")
    (folder / "metrics.csv").write_text("ROC_AUC\n0.5\n")


@pytest.fixture
def layout(tmp_path):
    data, run = tmp_path / "data", tmp_path / "results" / "2022_01_01"
    data.mkdir()
    lines = [f"test,{n},,multivariate/{n}.test.csv,real,True\n" for n in "ba"]
    (data / "datasets.csv").write_text(HEADER + "".join(lines))
    for series, labels in LABELS.items():
        write_dataset(data, series[-1], HOURS, labels)
        write_scores(run, "LOF", series, [0.0, 0.25, 1.0, 0.5])
        write_scores(run, "COF", series, [1.0, 0.0, 0.0, 0.125])
    (run / "results.csv").write_text("algorithm\n")
    return data, run


def test_rows_are_those_of_the_files_sorted_by_series(layout):
    table = read_timeeval(*layout)
    assert table.column_names == ["series", "timestamp", "label", "COF", "LOF"]
    assert table["series"].to_pylist() == ["test/a"] * 4 + ["test/b"] * 4
    assert table["label"].to_pylist() == LABELS["test/a"] + LABELS["test/b"]
    assert table["COF"].to_pylist() == [1.0, 0.0, 0.0, 0.125] * 2
    assert table["LOF"].to_pylist() == [0.0, 0.25, 1.0, 0.5] * 2
    assert table["timestamp"].to_numpy().tolist() == np.array(HOURS * 2, "M8[ns]").tolist()
    assert table.schema.field("timestamp").type == pa.timestamp("ns")


def test_labels_alone_and_numbers_as_times(tmp_path):
    (tmp_path / "datasets.csv").write_text(HEADER + "c,x,,multivariate/x.test.csv,real,False\n")
    write_dataset(tmp_path, "x", [0, 1, 5], [1, 0, 0])
    assert read_timeeval(tmp_path).to_pydict() == {
        "series": ["c/x"] * 3,
        "timestamp": [0, 1, 5],
        "label": [1, 0, 0],
    }


def test_detectors_are_told_apart_by_hyperparameters_and_repetitions(layout):
    data, run = layout
    for series in LABELS:
        write_scores(run, "LOF", series, [0.0, 0.0, 0.0, 1.0], parameters="9e11")
        for repetition in (2, 10):
            write_scores(run, "COF", series, [0.5] * 4, repetition=repetition)
    table = read_timeeval(data, run)
    assert table.column_names[3:] == ["COF/1", "COF/2", "COF/10", "LOF/0af3", "LOF/9e11"]
    assert table["LOF/9e11"].to_pylist() == [0.0, 0.0, 0.0, 1.0] * 2
    assert table["COF/1"].to_pylist() == [1.0, 0.0, 0.0, 0.125] * 2


def test_an_experiment_that_failed(layout):
    data, run = layout
    (run / "COF/0af3/test/b/1/anomaly_scores.ts").unlink()
    assert read_timeeval(data, run, missing="drop")["series"].unique().to_pylist() == ["test/a"]
    kept = read_timeeval(data, run, missing="nan")
    assert np.isnan(kept["COF"].to_numpy()).tolist() == [False] * 4 + [True] * 4


def test_a_detector_whose_experiments_all_failed(layout):
    data, run = layout
    for path in run.glob("COF/*/*/*/*/anomaly_scores.ts"):
        path.unlink()
    kept = read_timeeval(data, run, missing="nan")
    assert kept.column_names[3:] == ["COF", "LOF"]
    assert np.isnan(kept["COF"].to_numpy()).all()
    (run / "LOF/0af3/test/a/notes.txt").write_text("not an experiment")
    (run / "Empty").mkdir()
    assert read_timeeval(data, run, missing="nan").column_names[3:] == ["COF", "Empty", "LOF"]


HINT = (
    "\n\nHint: ESA-ADB labels and scores each channel on its own. "
    "`closecall.datasets.read_esa_adb` reads its labels; of its scores, take the column of a "
    "channel, or one made of all."
)


def test_scores_that_are_not_numbers_and_files_of_esa_adb(layout):
    """The latter are laid out like TimeEval's, but labels and scores are those of channels."""
    data, run = layout
    scores = run / "COF/0af3/test/a/1/anomaly_scores.ts"
    message = (
        f"Expected {scores} to have one number per line, got could not convert string to float"
    )
    scores.write_text("0.5\nhigh\n")
    assert refusal(read_timeeval, data, run) == f"{message}: 'high'."
    np.savetxt(scores, np.zeros((4, 2)), delimiter=",", fmt="%.1f")
    assert refusal(read_timeeval, data, run) == f"{message}: '0.0,0.0'.{HINT}"
    path = data / "multivariate/a.test.csv"
    columns = "timestamp,channel_1,channel_2,is_anomaly_channel_1,is_anomaly_channel_2"
    path.write_text(f"{columns}\n2007-01-01 00:00:00,1,2,0,1\n")
    assert refusal(read_timeeval, data, run) == (
        f"Expected {path} to have a column `is_anomaly`, got 2 like `is_anomaly_channel_1`.{HINT}"
    )


def test_scores_that_are_nan_and_inf_are_read(layout):
    data, run = layout
    (run / "COF/0af3/test/a/1/anomaly_scores.ts").write_text("nan\ninf\n-inf\n1e-3\n")
    scores = read_timeeval(data, run)["COF"].to_numpy()
    assert np.isnan(scores[0])
    assert scores[1:4].tolist() == [np.inf, -np.inf, 0.001]


def test_times_of_two_kinds(layout):
    data, _ = layout
    write_dataset(data, "b", range(4), LABELS["test/b"])
    folder = data / "multivariate"
    assert refusal(read_timeeval, data) == (
        f"Expected {folder}/b.test.csv to have times of the same kind as {folder}/a.test.csv "
        "(timestamp[ns]), got int64.\n\n"
        "Hint: Without them, samples are counted: `timestamps=False` (no `--time`)."
    )
    assert read_timeeval(data, timestamps=False).column_names == ["series", "label"]


def test_the_folder_above_the_run(layout):
    data, run = layout
    assert refusal(read_timeeval, data, run.parent) == (
        "Expected files <algorithm>/<hyper_params_id>/<collection>/<dataset>/<repetition>/"
        f"anomaly_scores.ts in the folder `results`, got none in {run.parent}.\n\n"
        "Hint: Pass the folder of one run, which TimeEval names after its time: results/<time>."
    )


@pytest.mark.parametrize(
    ("index", "rule", "got"),
    [
        ("collection_name,dataset_name\n", "{} to have a column `test_path`", "collection_name, "),
        (
            HEADER + "c,x,,x.csv,real,True\nc,y,y.csv,,real,True\n",
            "a `test_path` in each row of {}",
            "none in row 2, for 'c/y'.",
        ),
        (
            HEADER + "c,x,,x.csv,real,True\nc,x,,y.csv,real,True\n",
            "each dataset to have one row in {}",
            "'c/x' again in row 2.",
        ),
        (HEADER + "c,x,,x.csv,real,True\n", "a file x.csv", "none in "),
    ],
)
def test_an_index_that_is_not_whole(tmp_path, index, rule, got):
    path = tmp_path / "datasets.csv"
    path.write_text(index)
    assert refusal(read_timeeval, tmp_path).startswith(f"Expected {rule.format(path)}, got {got}")


@pytest.mark.parametrize(
    "named", ["../secret.csv", "{}/secret.csv", "link.csv", "folder/secret.csv"]
)
def test_the_index_stays_in_its_folder(tmp_path, named):
    data, named = tmp_path / "data", named.format(tmp_path)
    data.mkdir()
    (tmp_path / "secret.csv").write_text("timestamp,is_anomaly\n0,1\n1,0\n")
    (data / "link.csv").symlink_to("../secret.csv")
    (data / "folder").symlink_to("..")
    (data / "datasets.csv").write_text(HEADER + f"c,x,,{named},real,False\n")
    assert refusal(read_timeeval, data) == (
        f"Expected each `test_path` of {data / 'datasets.csv'} to lie in its folder, got "
        f"{named!r} in row 1, for 'c/x'.\n\nHint: If you trust the index, allow it: "
        "`outside=True`."
    )
    assert read_timeeval(data, outside=True).column("label").to_pylist() == [1, 0]


def test_an_index_reached_through_a_link_is_in_its_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "real/datasets.csv").write_text(
        HEADER + "c,x,,multivariate/x.test.csv,real,False\n"
    )
    write_dataset(tmp_path / "real", "x", [0, 1, 5], [1, 0, 0])
    assert read_timeeval(tmp_path / "linked").num_rows == 3

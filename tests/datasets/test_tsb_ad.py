"""TSB-AD and the UCR archive: a file per series, a folder of arrays per detector."""

import numpy as np
import pyarrow as pa
import pytest

from closecall.datasets import read_tsb_ad, read_ucr
from closecall.tables.batch.evaluate import evaluate_frame
from tests.datasets.conftest import refusal

ONE = "001_NAB_id_1_Facility_tr_2_1st_3"
TWO = "002_SMD_id_2_Facility_tr_2_1st_2"
LABELS = {ONE: [0, 0, 0, 1, 1, 0], TWO: [0, 0, 1, 0]}
SCORES = {
    "IForest": {ONE: [0.1, 0.2, 0.1, 0.9, 0.8, 0.3], TWO: [0.5, 0.1, 0.7, 0.2]},
    "KNN": {ONE: [3, 1, 4, 1, 5, 9], TWO: [2, 6, 5, 3]},
}


@pytest.fixture
def layout(tmp_path):
    data, scores = tmp_path / "TSB-AD-U", tmp_path / "score"
    data.mkdir()
    for name, labels in reversed(LABELS.items()):
        rows = [f"{row}.5,{label}" for row, label in enumerate(labels)]
        (data / f"{name}.csv").write_text("\n".join(["Data,Label", *rows]))
    for detector, by_series in SCORES.items():
        (scores / detector).mkdir(parents=True)
        (scores / detector / f"000_run_{detector}.log").write_text("Success")
        for name, values in by_series.items():
            np.save(scores / detector / f"{name}.npy", np.array(values))
    return data, scores


def test_rows_are_those_of_the_files_sorted_by_series(layout):
    table = read_tsb_ad(*layout)
    assert table.to_pydict() == {
        "series": [ONE] * 6 + [TWO] * 4,
        "label": LABELS[ONE] + LABELS[TWO],
        "IForest": SCORES["IForest"][ONE] + SCORES["IForest"][TWO],
        "KNN": SCORES["KNN"][ONE] + SCORES["KNN"][TWO],
    }
    assert table.schema.types == [pa.string(), pa.uint8(), pa.float64(), pa.float64()]


@pytest.mark.parametrize("missing", ["error", "nan", "drop"])
def test_a_detector_that_cannot_be_read_is_never_left_out(layout, as_anybody, missing):
    _, scores = layout
    (scores / "KNN").chmod(0)
    with as_anybody():
        message = refusal(read_tsb_ad, *layout, missing=missing)
    (scores / "KNN").chmod(0o755)
    assert f"got `Permission denied` for {scores / 'KNN'}" in message
    (scores / "LOF").symlink_to("nowhere")
    message = refusal(read_tsb_ad, *layout, missing=missing)
    assert message == f"Expected a folder of a detector at {scores / 'LOF'}, got a broken symlink."


def test_one_file_and_labels_alone(layout):
    data, _ = layout
    assert read_tsb_ad(data / f"{TWO}.csv").to_pydict() == {
        "series": [TWO] * 4,
        "label": [0, 0, 1, 0],
    }
    assert read_tsb_ad(str(data)).column_names == ["series", "label"]


def test_several_values_and_rows_with_empty_fields(tmp_path):
    (tmp_path / "m.csv").write_text("0,1,Label\n1.0,5,0\n,5,1\n2.0,6,1\nnan,6,1\n3.0,7,0\n")
    assert read_tsb_ad(tmp_path)["label"].to_pylist() == [0, 1, 0]


def test_scores_in_one_column_are_taken(layout):
    data, scores = layout
    np.save(scores / "KNN" / f"{TWO}.npy", np.array([[2.0], [6.0], [5.0], [np.inf]]))
    assert read_tsb_ad(data, scores)["KNN"].to_pylist()[-4:] == [2.0, 6.0, 5.0, np.inf]


def test_a_series_that_one_detector_lacks(layout):
    data, scores = layout
    (scores / "KNN" / f"{ONE}.npy").unlink()
    assert f"none of the detector 'KNN' for the series '{ONE}'." in refusal(
        read_tsb_ad, data, scores
    )
    kept = read_tsb_ad(data, scores, missing="nan")
    assert np.isnan(kept["KNN"].to_numpy()).tolist() == [True] * 6 + [False] * 4
    rows = evaluate_frame(kept, by="series", truth="label", score=["IForest", "KNN"]).rows
    assert rows["status"].to_pylist() == ["ok", "nan_score", "ok", "ok"]
    dropped = read_tsb_ad(data, scores, missing="drop")
    assert dropped["series"].unique().to_pylist() == [TWO]


def test_scores_of_another_length(layout):
    data, scores = layout
    path = scores / "KNN" / f"{TWO}.npy"
    np.save(path, np.zeros(3))
    assert refusal(read_tsb_ad, data, scores) == (
        f"Expected {path} to have 4 scores, as many as {data / TWO}.csv has rows, got 3.\n\n"
        "Hint: A detector that scores windows must give each sample a score of its own."
    )


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.zeros((4, 2)), "float64 and shape (4, 2)"),
        (np.array(["a", "b", "c", "d"]), "<U1 and shape (4,)"),
        (np.array(1.0), "float64 and shape ()"),
    ],
)
def test_scores_that_are_not_one_number_per_sample(layout, array, got):
    path = layout[1] / "KNN" / f"{TWO}.npy"
    np.save(path, array)
    message = f"Expected {path} to have one number for each sample, got an array of {got}."
    assert refusal(read_tsb_ad, *layout) == message


@pytest.mark.parametrize(
    "content",
    [b"", b"0.5", b"\x93NUMPY", b"\x93NUMPY\x01\x00v\x00{'descr': (", b"PK\x05\x06" + bytes(18)],
)
def test_scores_that_are_no_array(layout, content):
    path = layout[1] / "KNN" / f"{TWO}.npy"
    path.write_bytes(content)
    message = f"Expected {path} to be a NumPy array, got "
    assert refusal(read_tsb_ad, *layout).startswith(message)


def test_folders_that_are_not_the_layout(layout, tmp_path):
    data, scores = layout
    assert refusal(read_tsb_ad, tmp_path) == (
        f"Expected CSV files in the folder `data`, got none in {tmp_path}.\n\n"
        "Hint: Its subfolders are not searched: pass TSB-AD-U or TSB-AD-M itself."
    )
    assert refusal(read_tsb_ad, data, scores / "KNN") == (
        "Expected files <detector>/<series>.npy in the folder `scores`, got none in "
        f"{scores / 'KNN'}.\n\nHint: Pass the folder that has a folder for each detector."
    )


UCR_ONE = "001_UCR_Anomaly_DISTORTEDtoy_2_3_4"  # the anomaly is in the name
UCR_TWO = "002_UCR_Anomaly_toy_1_2_2"


@pytest.fixture
def archive(tmp_path):
    data = tmp_path / "archive"
    (tmp_path / "score" / "mine").mkdir(parents=True)
    data.mkdir()
    (data / f"{UCR_TWO}.txt").write_text(
        "  1.5e+00   2.5   3.5   4.5\n"
    )  # as some of its files are
    (data / f"{UCR_ONE}.txt").write_text("1\n2\n1\n9\n9\n2\n")
    for name, count in ((UCR_ONE, 6), (UCR_TWO, 4)):
        np.save(tmp_path / "score" / "mine" / f"{name}.npy", np.arange(count))
    return data, tmp_path / "score"


def test_labels_of_ucr_are_those_of_the_names(archive):
    assert read_ucr(*archive).to_pydict() == {
        "series": [UCR_ONE] * 6 + [UCR_TWO] * 4,
        "label": [0, 0, 0, 1, 1, 0, 0, 0, 1, 0],
        "mine": [0, 1, 2, 3, 4, 5, 0, 1, 2, 3],
    }
    assert read_ucr(archive[0]).column_names == ["series", "label"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "readme.txt",
            "1 2",
            "files called <number>_UCR_Anomaly_<name>_<train>_<first>_<last>.txt",
        ),
        ("003_UCR_Anomaly_x_1_2_3.txt", "1 2 x 4", "numbers in "),
        ("003_UCR_Anomaly_x_1_2_3.txt", "1 2 3", "to lie in its 3 samples, got 2 to 3."),
        ("003_UCR_Anomaly_x_1_3_2.txt", "1 2 3 4 5", "to lie in its 5 samples, got 3 to 2."),
    ],
)
def test_files_that_are_not_of_ucr(archive, name, content, message):
    (archive[0] / name).write_text(content)
    assert message in refusal(lambda: read_ucr(archive[0]))


def test_an_empty_archive(tmp_path):
    assert "none in" in refusal(lambda: read_ucr(tmp_path))

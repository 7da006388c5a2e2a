"""The UCR archive: the anomaly is in the name of the file, scores in a folder per detector."""

import numpy as np
import pytest

from closecall.datasets import read_ucr
from tests.datasets.conftest import refusal

ONE = "001_UCR_Anomaly_DISTORTEDtoy_2_3_4"
TWO = "002_UCR_Anomaly_toy_1_2_2"


@pytest.fixture
def archive(tmp_path):
    data = tmp_path / "archive"
    (tmp_path / "score" / "mine").mkdir(parents=True)
    data.mkdir()
    (data / f"{TWO}.txt").write_text("  1.5e+00   2.5   3.5   4.5\n")  # as some of its files are
    (data / f"{ONE}.txt").write_text("1\n2\n1\n9\n9\n2\n")
    for name, count in ((ONE, 6), (TWO, 4)):
        np.save(tmp_path / "score" / "mine" / f"{name}.npy", np.arange(count))
    return data, tmp_path / "score"


def test_labels_are_those_of_the_names(archive):
    assert read_ucr(*archive).to_pydict() == {
        "series": [ONE] * 6 + [TWO] * 4,
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
def test_refused_files(archive, name, content, message):
    (archive[0] / name).write_text(content)
    assert message in refusal(lambda: read_ucr(archive[0]))


def test_an_empty_folder(tmp_path):
    assert "none in" in refusal(lambda: read_ucr(tmp_path))

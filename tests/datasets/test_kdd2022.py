"""The paper's labels: where they are found, and what is refused."""

import gzip
import re

import numpy as np
import pytest

from closecall.datasets import kdd2022 as module
from closecall.datasets import load_kdd2022
from tests.datasets.conftest import (
    ALGORITHMS,
    TRUTH,
    refusal,
    write_kdd2022,
    write_labels,
    write_measured,
)


def test_real_data(data_folder):
    data = load_kdd2022(data_folder)
    assert {name: len(series.truth) for name, series in data.items()} == {
        "machinetemp": 17_682,
        "nyctaxi": 2_307,
        "twitteraapl": 11_889,
        "swat": 449_919,
    }
    assert data["swat"].truth.sum() == 54_621
    assert data["swat"].predicted["seq2seq"].sum() == 22_576
    assert data["swat"].values is None
    taxi = data["nyctaxi"]
    assert np.array_equal(taxi.values < 1250, taxi.predicted["trivial"])
    assert taxi.times[-1] == np.datetime64("2015-01-31T23:30:00")


def test_truth_and_predictions_by_name(kdd2022):
    data = load_kdd2022(kdd2022)
    assert {name: tuple(series.predicted) for name, series in data.items()} == ALGORITHMS
    assert data["swat"].truth.tolist() == TRUTH
    assert data["swat"].predicted["ocsvm"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert (data["nyctaxi"].times, data["nyctaxi"].values) == (None, None)
    assert repr(data["swat"]) == (
        "LabelledSeries(swat, 8 samples, algorithms: trivial, adversary, iforest, ocsvm, seq2seq)"
    )


def test_arrays_are_read_only(kdd2022):
    series = load_kdd2022(kdd2022)["swat"]
    for labels in (series.truth, *series.predicted.values()):
        with pytest.raises(ValueError, match="read-only"):
            labels[0] = 1


@pytest.mark.parametrize("place", ["kdd2022", "kdd2022/data", ".", "data"])
def test_every_layout(tmp_path, place):
    write_kdd2022(tmp_path / place)
    assert load_kdd2022(tmp_path)["machinetemp"].truth.tolist() == TRUTH


@pytest.mark.parametrize("flat", [True, False])
def test_measurements_are_the_last_rows(kdd2022, flat):
    write_measured(kdd2022 / "nab")
    if flat:
        for path in list((kdd2022 / "nab").glob("*/*/*.csv")):
            path.rename(kdd2022 / "nab" / path.name)
    series = load_kdd2022(kdd2022)["twitteraapl"]
    assert series.values.tolist() == [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5]
    assert series.times[0] == np.datetime64("2020-01-01T00:02:00")


def test_the_environment_names_the_folder_unless_one_is_given(kdd2022, tmp_path, monkeypatch):
    monkeypatch.setenv("CLOSECALL_DATA", str(kdd2022))
    assert load_kdd2022()["swat"].truth.tolist() == TRUTH
    monkeypatch.setenv("CLOSECALL_DATA", str(tmp_path / "nowhere"))
    assert load_kdd2022(kdd2022)["swat"].truth.tolist() == TRUTH


def test_without_a_folder_it_is_downloaded_once(repository, monkeypatch):
    write_kdd2022(repository.folder / "paper" / "data")
    write_measured(repository.folder / "nab")
    monkeypatch.setattr(module, "KDD2022", repository.source("kdd2022", "paper"))
    monkeypatch.setattr(module, "NAB", repository.source("nab", "nab"))
    first, second = load_kdd2022(), load_kdd2022()
    assert len(repository.asked) == len(repository.cached()) == 27
    for data in (first, second):
        assert data["swat"].predicted["ocsvm"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
        assert data["nyctaxi"].values[-1] == 4.5


def test_no_such_folder(tmp_path, monkeypatch):
    assert refusal(load_kdd2022, tmp_path / "gone").startswith(
        f"Expected `folder` to name a folder, got {tmp_path / 'gone'}."
    )
    monkeypatch.setenv("CLOSECALL_DATA", str(tmp_path / "gone"))
    message = refusal(load_kdd2022, None)
    assert "the environment variable CLOSECALL_DATA to name a folder" in message
    assert message.endswith("Hint: Unset it, and the data is downloaded.")


def test_a_folder_without_the_data_or_a_file_of_it(tmp_path, kdd2022):
    message = "Expected a folder with files like swat_groundtruth.gz"
    assert refusal(load_kdd2022, tmp_path).startswith(message)
    (kdd2022 / "kdd2022" / "swat_ocsvm.gz").unlink()
    message = f"Expected a file swat_ocsvm.gz, got none in {kdd2022 / 'kdd2022'}."
    assert refusal(load_kdd2022, kdd2022).startswith(message)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"not gzip" + content,
        lambda content: content[:-9],
        lambda content: content[:12] + b"\xff\xff\xff" + content[15:],
    ],
    ids=["other", "short", "garbled"],
)
def test_a_corrupt_file(kdd2022, damage):
    path = kdd2022 / "kdd2022" / "nyctaxi_luminol.gz"
    path.write_bytes(damage(path.read_bytes()))
    assert refusal(load_kdd2022, kdd2022).startswith(
        f"Expected {path} to be a gzip file, got other content ("
    )


def test_a_wrong_length(kdd2022):
    path = kdd2022 / "kdd2022" / "swat_iforest.gz"
    write_labels(path, TRUTH[:-1])
    assert refusal(load_kdd2022, kdd2022) == (
        f"Expected {path} to have the 8 lines of swat_groundtruth.gz, got 7."
    )


@pytest.mark.parametrize("wrong", ["2", "yes", "0.5", "10"])
def test_labels_that_are_none(kdd2022, wrong):
    path = kdd2022 / "kdd2022" / "swat_trivial.gz"
    path.write_bytes(gzip.compress(f"0\n1\n{wrong}\n".encode()))
    message = f"Expected one 0 or 1 per line, got {wrong!r} in line 3 of {path}."
    assert refusal(load_kdd2022, kdd2022) == message


def test_measurements_that_are_too_few(kdd2022):
    write_measured(kdd2022 / "nab", rows=7)
    assert re.search(r"\.csv to have at least 8 rows, got 7\.$", refusal(load_kdd2022, kdd2022))

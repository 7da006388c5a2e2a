"""NAB's windows: what is read, what is refused, and which samples are inside."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from closecall.datasets.layouts.nab_windows import labels_of, read_windows
from closecall.errors import InputError

SEVEN, FIVE = "2020-01-01 07:00:00.000000", "2020-01-01 05:00:00.000000"
DATA = Path("data/real/a.csv")


def hours(*texts):
    return pa.chunked_array([pa.array(np.array(texts, dtype="M8[ns]"))])


def written(tmp_path, windows):
    path = tmp_path / "combined_windows.json"
    path.write_text(json.dumps({"real/a.csv": windows}))
    return path


def refusal(function, *arguments):
    with pytest.raises(InputError) as caught:
        function(*arguments)
    return str(caught.value)


def test_both_ends_are_inside(tmp_path):
    times = hours(*(f"2020-01-01T0{hour}" for hour in (4, 5, 6, 7, 8, 9)))
    windows = read_windows(written(tmp_path, [[FIVE, SEVEN], ["2020-01-01T09", "2020-01-01T09"]]))
    assert labels_of("real/a.csv", times, DATA, windows).tolist() == [0, 1, 1, 1, 0, 1]
    windows = read_windows(written(tmp_path, []))
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
    assert refusal(read_windows, path) == (
        f"Expected each window of the series 'real/a.csv' in {path} to be two times, the earlier "
        f"first, got {window!r}.\n\n"
        "Hint: Times are read as ISO 8601, such as 2017-03-22 15:16:45, from 1678 to 2261."
    )


def test_windows_that_are_no_list(tmp_path):
    for windows in (None, 5, FIVE, {FIVE: SEVEN}):
        path = written(tmp_path, windows)
        assert f"the earlier first, got {windows!r}." in refusal(read_windows, path)


def test_a_window_without_a_sample(tmp_path):
    windows = read_windows(written(tmp_path, [[FIVE, SEVEN]]))
    times = hours("2020-01-01T04", "2020-01-01T08")
    assert refusal(labels_of, "real/a.csv", times, DATA, windows) == (
        f"Expected a sample of {DATA} in each window of the series 'real/a.csv', got none from "
        "2020-01-01T05:00:00 to 2020-01-01T07:00:00."
    )


def test_numbers_have_no_windows(tmp_path):
    windows = read_windows(written(tmp_path, [[FIVE, SEVEN]]))
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
    assert refusal(read_windows, path).startswith(rule)

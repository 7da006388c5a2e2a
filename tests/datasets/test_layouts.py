"""CSV columns, which series are read, and the table that they are joined into."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from closecall.datasets import read_tsb_ad
from closecall.datasets.layouts import (
    OneSeries,
    detector_folders,
    existing_folder,
    join_series,
    label_column,
    read_csv,
    score_column,
    series_to_read,
    time_column,
)
from closecall.errors import InputError, InputTypeError
from tests.conftest import run_program
from tests.datasets.conftest import refusal


def written(tmp_path, column, *values):
    path = tmp_path / "file.csv"
    path.write_text("\n".join([f"other,{column}", *(f"1,{value}" for value in values)]) + "\n")
    return read_csv(path, [column]), column, path


def test_only_what_is_needed_is_read(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b,a b\n1,2,3\n")  # with a byte order mark, as Excel writes it
    assert read_csv(path, ["a b", "a"]).to_pydict() == {"a b": [3], "a": [1]}
    assert read_csv(path, ["b"], every_column=True).column_names == ["a", "b", "a b"]
    assert read_csv(path, ["b"], as_text=True).to_pydict() == {"b": ["2"]}


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "file.csv"
    assert refusal(read_csv, path, ["a"]) == f"Expected a file file.csv, got none in {tmp_path}."
    path.write_text("")
    assert refusal(read_csv, path, ["a"]) == (
        f"Expected {path} to have a column `a`, got an empty file."
    )
    path.write_text("a,b\n1,2\n3\n")
    assert refusal(read_csv, path, ["a"]).startswith(f"Expected {path} to be a CSV file, got ")
    path.write_bytes(b"a,\xff\n")
    assert refusal(read_csv, path, ["a"]).startswith(f"Expected {path} to be a CSV file, got ")


@pytest.mark.parametrize("header", ["a,b\n", "a,b\n\n\n"])
def test_a_header_only(tmp_path, header):
    path = tmp_path / "file.csv"
    path.write_text(header)
    assert refusal(read_csv, path, ["a"]) == f"Expected a row below the header of {path}, got none."
    assert read_csv(path, ["a"], may_be_empty=True).num_rows == 0


def test_many_columns_are_not_all_named(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text(",".join(f"column_{number}" for number in range(100)))
    message = refusal(read_csv, path, ["a"])
    assert message.startswith(f"Expected {path} to have a column `a`, got column_0, column_1, ")
    assert message.endswith(", column_19 and 80 more.")
    assert len(message) < 350 + len(str(path))


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (("0", "1", "2"), "2 in row 3"),
        (("0", "0.5"), "0.5 in row 2"),
        (("0", "", "1"), "nan in row 2"),
        (("0", "1", "yes"), "yes in row 3"),
    ],
)
def test_labels_that_are_not_0_or_1(tmp_path, values, got):
    table, column, path = written(tmp_path, "label", *values)
    assert refusal(label_column, table, column, path) == (
        f"Expected 0 or 1 in the column `label` of {path}, got {got}."
    )


@pytest.mark.parametrize("values", [("0", "1"), ("0.0", "1.0"), ("false", "true")])
def test_labels_are_taken_in_every_spelling(tmp_path, values):
    assert label_column(*written(tmp_path, "label", *values)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "kind", "ticks"),
    [
        (("2020-01-01", "2020-01-02"), pa.timestamp("ns"), [0, 86_400 * 10**9]),
        (("2020-01-01 00:00", "2020-01-01 00:01"), pa.timestamp("ns"), [0, 60 * 10**9]),
        (
            ("2020-01-01T00:00:00Z", "2020-01-01T01:00:01+01:00"),
            pa.timestamp("ns", "UTC"),
            [0, 10**9],
        ),
        (("3", "7"), pa.int64(), [0, 4]),
        (("0.5", "2"), pa.float64(), [0, 1.5]),
    ],
)
def test_times_of_every_kind(tmp_path, values, kind, ticks):
    times = time_column(*written(tmp_path, "timestamp", *values))
    assert times.type == kind
    numbers = times.to_numpy()
    assert (numbers - numbers[0]).astype(float).tolist() == ticks


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (("2020-01-01", "soon"), "soon in row 2"),
        (("3", "4", "five"), "five in row 3"),
        (("01/02/2020", "02/02/2020"), "01/02/2020 in row 1"),
        (("2020-01-01 00:00:00", "3020-01-01 00:00:00"), "3020-01-01 00:00:00 in row 2"),
    ],
)
def test_times_that_cannot_be_read(tmp_path, values, got):
    table, column, path = written(tmp_path, "timestamp", *values)
    assert refusal(time_column, table, column, path) == (
        f"Expected times or numbers in the column `timestamp` of {path}, got {got}.\n\n"
        "Hint: Times are read as ISO 8601, such as 2017-03-22 15:16:45, from 1678 to 2261."
    )


def test_a_row_without_a_time(tmp_path):
    table, column, path = written(tmp_path, "timestamp", "1", "", "3")
    assert refusal(time_column, table, column, path) == (
        f"Expected a time in each row of {path}, got none in row 2."
    )


def test_scores_that_are_missing_are_nan(tmp_path):
    scores = score_column(*written(tmp_path, "score", "1", "", "nan", "-inf"))
    assert np.isnan(scores).tolist() == [False, True, True, False]
    assert scores[[0, 3]].tolist() == [1.0, -np.inf]


def test_a_folder_and_a_path_that_are_none(tmp_path):
    assert refusal(existing_folder, tmp_path / "x", "data", "files") == (
        f"Expected `data` to be a folder, got {tmp_path / 'x'}.\n\nHint: It has files."
    )
    assert existing_folder(str(tmp_path), "data", "files") == tmp_path
    for function in (lambda: read_tsb_ad(5), lambda: existing_folder(5, "data", "files")):
        with pytest.raises(InputTypeError) as caught:
            function()
        assert str(caught.value) == "Expected `data` to be a path, got 5."


def test_without_pyarrow_the_readers_say_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from closecall.datasets import read_tsb_ad\n"
        "from closecall.errors import MissingExtraError\n"
        "try:\n    read_tsb_ad(sys.argv[1])\n"
        "except MissingExtraError as error:\n    print(error)"
    )
    (tmp_path / "a.csv").write_text("Data,Label\n1,0\n")
    done = run_program([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert done.stdout == (
        "This needs pyarrow, which is not installed.\n\n"
        "Hint: Run `pip install 'closecall[data]'`.\n"
    )


def files(**detectors):
    return {
        name: {series: Path(name) / series for series in named} for name, named in detectors.items()
    }


def test_names_are_sorted_and_need_no_detector():
    assert series_to_read({"b": 1, "c": 2, "a": 3}, {}, "error") == ["a", "b", "c"]
    assert series_to_read("ba", files(x="ab", y="ab"), "error") == ["a", "b"]


def test_gaps_are_counted():
    assert refusal(series_to_read, "abcd", files(x="abcd", y="b"), "error") == (
        "Expected scores of every detector for every series, got none of the detector 'y' for the "
        "series 'a' (nor for 2 more).\n\n"
        'Hint: `missing="nan"` keeps the series, with nan as the scores of that '
        'detector, which the batch reports; `missing="drop"` leaves out each '
        "series that some detector has no scores for."
    )
    assert series_to_read("abcd", files(x="abcd", y="b"), "nan") == ["a", "b", "c", "d"]
    assert series_to_read("abcd", files(x="abd", y="bd"), "drop") == ["b", "d"]


def test_scores_without_a_series_are_only_dropped():
    for missing in ("error", "nan"):
        assert refusal(series_to_read, "a", files(x="az"), missing) == (
            "Expected a series in the data for each file of scores, such as x/z, got none that is "
            "called 'z'.\n\nHint: `missing=\"drop\"` reads only what is in both."
        )
    assert series_to_read("a", files(x="az"), "drop") == ["a"]


def test_nothing_is_left():
    assert refusal(series_to_read, "ab", files(x="a", y="b"), "drop") == (
        "Expected a series that every detector has scores for, got none among 2.\n\n"
        'Hint: `missing="nan"` keeps every series.'
    )


def test_a_detector_without_any_scores():
    for missing in ("error", "drop"):
        assert refusal(series_to_read, "a", files(x="a", y=""), missing) == (
            "Expected scores of every detector, got none of the detector 'y'.\n\nHint: Remove its "
            'folder, or keep it with nan as its scores: `missing="nan"`.'
        )
    assert series_to_read("a", files(x="a", y=""), "nan") == ["a"]


def test_folders_of_detectors(tmp_path):
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "c").write_text("")
    assert detector_folders(tmp_path) == [tmp_path / "a", tmp_path / "b"]


def test_names_and_options_that_cannot_be():
    assert refusal(series_to_read, "a", files(label="a"), "error") == (
        "Expected no detector to be called series, timestamp or label, got 'label'.\n\n"
        "Hint: Those are the table's own columns: rename its folder."
    )
    assert refusal(series_to_read, "a", {}, "skip") == (
        "Expected `missing` to be 'error', 'nan' or 'drop', got 'skip'."
    )


def one(name, *labels, times=None):
    column = None if times is None else pa.chunked_array([times])
    return OneSeries(name, Path(f"{name}.csv"), np.array(labels, dtype=np.uint8), column)


def test_each_series_gets_the_scores_of_its_own_file():
    read = {Path("p"): np.array([1.0, 2.0]), Path("q"): np.array([3.0])}.__getitem__
    table = join_series(
        [one("a", 0, 1), one("b", 1)], {"x": {"b": Path("q"), "a": Path("p")}}, read
    )
    assert table.to_pydict() == {
        "series": ["a", "a", "b"],
        "label": [0, 1, 1],
        "x": [1.0, 2.0, 3.0],
    }


def test_a_series_without_a_file_is_nan():
    table = join_series([one("a", 0, 1)], {"x": {}}, lambda _: np.zeros(2))
    assert np.isnan(table["x"].to_numpy()).tolist() == [True, True]


def test_a_series_without_rows_is_not_lost_in_silence():
    with pytest.raises(InputError) as caught:
        join_series([one("a", 1), one("b")], {}, lambda _: np.zeros(0))
    assert str(caught.value) == "Expected a row without empty fields in b.csv, got none."


def test_times_are_joined_in_order():
    table = join_series([one("a", 1, times=[4]), one("b", 0, 1, times=[1, 9])], {}, lambda _: None)
    assert table["timestamp"].to_pylist() == [4, 1, 9]

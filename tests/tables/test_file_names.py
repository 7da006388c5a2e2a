"""One file for each series: the names of the files are the keys."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.tables.data_files import FileNames

LABEL = [0, 1, 1, 0, 0, 0]
SCORES = {
    "north/001": [1, 9, 4, 2, 0, 3],
    "north/1": [5, 1, 2, 9, 6, 7],
    "south/001": [0, 0, 8, 0, 1, 0],
}
ASKED = {"truth": "label", "score": "score"}


@pytest.fixture(params=["csv", "csv.gz", "parquet"])
def folder(request, tmp_path):
    """Write a folder for each group, and in it a file for each series."""
    for name, scores in SCORES.items():
        path = tmp_path / f"{name}.{request.param}"
        path.parent.mkdir(exist_ok=True)
        table = pa.table({"label": LABEL, "score": scores, "half": [1, 1, 1, 2, 2, 2]})
        if request.param == "parquet":
            pq.write_table(table, path)
            continue
        with pa.output_stream(path) as stream:  # gzipped if its name says so
            pyarrow.csv.write_csv(table, stream)
    return tmp_path


def ending(folder):
    return next(path.name.partition(".")[2] for path in folder.rglob("001.*"))


def rows_of(data, **options):
    return cc.evaluate_frame(data, **ASKED, **options).table.to_pylist()


def average(scores):
    return cc.affiliation_curve(LABEL, scores).average_precision


def test_a_file_is_a_series(folder):
    for data in (folder / "north", str(folder / "north" / "*"), sorted(folder.glob("north/*"))):
        rows = rows_of(data, series="filename")
        assert [row["series"] for row in rows] == ["001", "1"]  # no numbers, which would be one
        found = [row["affiliation_average_precision"] for row in rows]
        assert found == [average(SCORES["north/001"]), average(SCORES["north/1"])]


def test_fields_of_a_pattern_are_columns(folder):
    rows = rows_of(folder, series="{group}/{series}." + ending(folder))
    assert [f"{row['group']}/{row['series']}" for row in rows] == sorted(SCORES)
    for row in rows:
        name = f"{row['group']}/{row['series']}"
        assert row["affiliation_average_precision"] == average(SCORES[name])


def test_other_columns_come_before(folder):
    rows = rows_of(folder / "north", series="filename", by="half")
    keys = [(str(row["half"]), row["series"], row["samples"]) for row in rows]
    assert keys == [("1", "001", 3), ("1", "1", 3), ("2", "001", 3), ("2", "1", 3)]


def test_two_files_of_one_name_are_no_series(folder):
    with pytest.raises(InputError) as caught:
        rows_of(folder, series="filename")
    first, second = (folder / f"{group}/001.{ending(folder)}" for group in ("north", "south"))
    assert str(caught.value) == (
        f"Expected every file to name a series of its own, got {first} and {second}, which both "
        "are 001.\n\nHint: Name more of the path: `series='{folder}/{series}.csv'`."
    )


def test_several_files_are_not_taken_for_one_series(folder):
    with pytest.raises(InputError) as caught:
        rows_of(folder)
    assert str(caught.value) == (
        "Expected to know which series each of 3 files holds, got neither `by` nor `series`.\n\n"
        "Hint: If each file is a series, pass `series='filename'`; if a column tells series apart, "
        "`by='COLUMN'`; if all files are one series, `series='one'`."
    )
    (row,) = rows_of(folder, series="one")
    assert row["samples"] == 18


def test_a_damaged_file_costs_its_own_series(folder):
    path = folder / f"north/1.{ending(folder)}"
    path.write_bytes(path.read_bytes()[:-4] if path.suffix != ".csv" else b"label,score\n0,1,2\n")
    result = cc.evaluate_frame(folder / "north", **ASKED, series="filename")
    assert result.table["series"].to_pylist() == ["001"]
    assert len(result.failures) == 1


@pytest.mark.parametrize(
    ("series", "error", "message"),
    [
        (7, InputTypeError, "Expected `series` to be a text, got 7."),
        ("name", InputError, "Expected `series` to have fields in braces, got 'name'."),
        ("{a", InputError, "Expected `series` to have fields in braces, got '{a'."),
        ("{}.csv", InputError, "Expected `series` to have fields in braces, got '{}.csv'."),
        ("{a}/{a}", InputError, "Expected each field of `series` once, got '{a}/{a}'."),
        ("{label}.csv", InputError, "Expected each column to have one role, got 'label' in more"),
        ("{status}.csv", InputError, "Expected `by` columns not to be called like columns of the"),
    ],
)
def test_refused(series, error, message):
    with pytest.raises(error) as caught:
        rows_of("nowhere.csv", series=series)
    assert str(caught.value).startswith(message)


def test_a_path_that_does_not_match_is_named(folder):
    with pytest.raises(
        InputError, match=r"path of every file to end as `series`, x_\{n\}\.csv, got"
    ):
        rows_of(folder, series="x_{n}.csv")


def test_frames_have_no_file_names():
    table = pa.table({"label": LABEL, "score": LABEL})
    with pytest.raises(InputTypeError, match="Expected files beside `series`, got a Table"):
        rows_of(table, series="filename")


def test_a_pattern_is_of_the_end_of_a_path():
    names = FileNames.read("{site}/{day}/s.{n}.csv")
    assert names.values("/a/b/c/s.1.csv") == {"site": "b", "day": "c", "n": "1"}
    assert names.values("b/c/s.1.2.csv") == {"site": "b", "day": "c", "n": "1.2"}


def test_a_file_without_rows_is_a_series_and_counted(folder):
    path = folder / "north" / "nothing.parquet"
    table = pa.table({"label": pa.array([], pa.int64()), "score": pa.array([], pa.int64())})
    if ending(folder) == "parquet":
        pq.write_table(table, path)
    else:
        path = path.with_suffix(".csv")
        path.write_text("label,score\n")
    told = []
    rows = rows_of(folder / "north", series="filename", progress=told.append)
    assert told == ["3 series, 1 detector."]
    assert [(row["series"], row["status"]) for row in rows][2] == ("nothing", "empty")


def test_the_name_of_a_file_wins_over_that_of_a_folder(tmp_path):
    (tmp_path / "series=7").mkdir()
    table = pa.table({"label": LABEL, "score": LABEL})
    pq.write_table(table, tmp_path / "series=7" / "pump.parquet")
    assert [row["series"] for row in rows_of(tmp_path, series="filename")] == ["pump"]

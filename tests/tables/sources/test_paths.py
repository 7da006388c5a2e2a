"""Which files a path stands for, their order, and the columns that folders add."""

import pickle

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.tables.sources import open_source
from closecall.tables.sources.paths import list_files

from .tables import TINY, ask, expected_groups, read_groups, series_table


def write_hive(folder, table, columns):
    """Write one file per folder and some folders with two, without the folders' columns."""
    rows = table.to_pylist()
    values = list(dict.fromkeys(tuple(row[name] for name in columns) for row in rows))
    for value in values:
        own = [row for row in rows if tuple(row[name] for name in columns) == value]
        place = folder.joinpath(*(f"{n}={v}" for n, v in zip(columns, value, strict=True)))
        place.mkdir(parents=True)
        part = pa.Table.from_pylist(own, schema=table.schema).drop_columns(list(columns))
        middle = part.num_rows // 2
        pq.write_table(part.slice(0, middle), place / "part-1.parquet", row_group_size=2)
        pq.write_table(part.slice(middle), place / "part-2.parquet", row_group_size=2)


@pytest.mark.parametrize("size", [None, TINY])
def test_a_folder_for_each_series(tmp_path, size):
    table = series_table([("pump",), ("fan",), ("valve",)], (6, 4, 5))
    write_hive(tmp_path, table, ["key0"])
    source = open_source(tmp_path, ask("key0"), size=size)
    assert read_groups(source.units()) == expected_groups(table, ["key0"])
    assert source.schema.field("key0").type == pa.string()


@pytest.mark.parametrize("size", [None, TINY])
def test_folders_and_a_column_together_are_the_key(tmp_path, size):
    keys = [(number, name) for number in (2, 10, 1) for name in ("a", "b")]
    table = series_table(keys, (4, 3, 5, 2, 4, 4))
    write_hive(tmp_path, table, ["key0"])
    source = open_source(tmp_path, ask(["key0", "key1"]), size=size)
    assert source.schema.field("key0").type == pa.int32()
    assert read_groups(source.units()) == expected_groups(table, ["key0", "key1"])


def test_a_folder_that_is_no_key_scatters_series(tmp_path):
    # Days in folders, series inside: every series lies in both folders, in time order.
    table = series_table([(day, name) for day in (1, 2) for name in "ab"], (5, 4, 3, 6))
    write_hive(tmp_path, table, ["key0"])
    units = open_source(tmp_path, ask("key1"), size=TINY).units()
    assert read_groups(units) == expected_groups(table, ["key1"])


def test_a_folder_may_hold_what_is_evaluated(tmp_path):
    table = series_table([("x",)], (6,))
    write_hive(tmp_path, table, ["label"])
    [unit] = open_source(tmp_path, ask("key0")).units()
    [(_, rows)] = unit.groups()
    assert rows["label"].to_pylist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        ["007", "8"],
        ["1", "-3"],
        ["+1", "2"],
        ["2024-01-01", "2"],
        ["3000000000", "2"],
        ["__HIVE_DEFAULT_PARTITION__", "2"],
        ["a%2Fb", "c d"],
    ],
)
def test_folder_values_are_typed_as_pyarrow_does(tmp_path, values):
    for value in values:
        (tmp_path / f"k={value}").mkdir()
        pq.write_table(pa.table({"x": [1]}), tmp_path / f"k={value}" / "p.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path, partitioning="hive").to_table()
    found = [file.partitions[0] for file in list_files(tmp_path)]
    assert {part.type for part in found} == {dataset.schema.field("k").type}
    assert {part.value for part in found} == set(dataset["k"].to_pylist())


def test_numbers_in_names_are_ordered_as_numbers(tmp_path):
    for number in (10, 9, 1, 100):
        (tmp_path / f"part.{number}.parquet").touch()
    (tmp_path / "_metadata.parquet").touch()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "part.0.parquet").touch()
    (tmp_path / "_SUCCESS").touch()
    wanted = [str(tmp_path / f"part.{number}.parquet") for number in (1, 9, 10, 100)]
    assert [file.path for file in list_files(tmp_path)] == wanted
    assert [file.path for file in list_files(str(tmp_path / "part.*.parquet"))] == wanted
    assert [file.path for file in list_files(wanted[::-1])] == wanted[::-1]


def test_a_glob_names_its_folders_from_the_wildcard_on(tmp_path):
    place = tmp_path / "run=1" / "pump=a"
    place.mkdir(parents=True)
    (place / "x.parquet").touch()
    [file] = list_files(str(tmp_path / "run=1" / "*" / "*.parquet"))
    assert [(part.name, part.value) for part in file.partitions] == [("pump", "a")]
    [file] = list_files(str(tmp_path / "**" / "*.parquet"))
    assert [(part.name, part.value) for part in file.partitions] == [("run", 1), ("pump", "a")]
    [file] = list_files(place)
    assert file.partitions == ()


def test_several_places_name_their_folders_together(tmp_path):
    for name in ("old/k=1", "new/k=x", "plain"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.parquet").touch()
    files = list_files([tmp_path / "old", str(tmp_path / "new" / "*" / "*.parquet")])
    found = [[(part.name, part.value, part.type) for part in file.partitions] for file in files]
    assert found == [[("k", "1", pa.string())], [("k", "x", pa.string())]]
    with pytest.raises(InputError, match=r"folders of the same names, got k for .* and none for"):
        list_files([tmp_path / "old", tmp_path / "plain" / "x.parquet"])


@pytest.mark.parametrize(
    ("places", "got"),
    [
        (["x.parquet", "x.parquet"], "x.parquet twice"),
        ([".", "*.parquet"], "x.parquet twice"),
        ([".", "sub/../x.parquet"], "x.parquet and sub/../x.parquet, which are the same file"),
        (["link.pq", "x.parquet"], "link.pq and x.parquet, which are the same file"),
    ],
)
def test_a_file_that_is_named_twice_is_refused(tmp_path, monkeypatch, places, got):
    (tmp_path / "sub").mkdir()
    (tmp_path / "x.parquet").touch()
    monkeypatch.chdir(tmp_path)
    if "link.pq" in places:
        (tmp_path / "link.pq").symlink_to("x.parquet")
    with pytest.raises(InputError) as refused:
        list_files(places)
    assert str(refused.value) == f"Expected every file of `data` to be named once, got {got}."


def test_standard_input_goes_alone(tmp_path):
    (tmp_path / "x.csv").touch()
    with pytest.raises(InputError, match="standard input, `-`, to be all of `data`, got files"):
        list_files([tmp_path / "x.csv", "-"])


@pytest.mark.parametrize("place", [1, None, b"x.csv", pa.table({"x": [1]})])
def test_a_list_of_what_are_no_paths_is_refused(place):
    with pytest.raises(InputTypeError, match=f"to hold paths of files, got {type(place).__name__}"):
        list_files([place, 2])


def test_a_folder_that_cannot_be_read_is_refused(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "x.parquet").touch()
    monkeypatch.setattr("pathlib.Path.is_file", denied)
    with pytest.raises(InputError, match=r"to read all of .*, got `Permission denied` for .*x.par"):
        list_files(tmp_path)


def test_files_are_absolute_for_other_processes(tmp_path, monkeypatch):
    pq.write_table(series_table([("x",)], (3,)), tmp_path / "x.parquet")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    [unit] = open_source("x.parquet", ask("key0")).units()
    assert unit.stretches[0].file.path == "x.parquet"
    sent = pickle.dumps(unit)
    monkeypatch.chdir(tmp_path / "elsewhere")
    travelled = pickle.loads(sent)  # noqa: S301 - pickled here
    assert travelled.key == unit.key
    assert len(read_groups([travelled])[("x",)]) == 3


def test_numbers_that_are_written_in_two_ways_stay_apart(tmp_path):
    table = series_table([("01",), ("1",), ("2",)], (2, 3, 4))
    write_hive(tmp_path, table, ["key0"])
    units = open_source(tmp_path, ask("key0")).units()
    assert read_groups(units) == expected_groups(table, ["key0"])


def test_a_file_name_with_a_bracket_is_no_pattern(tmp_path):
    (tmp_path / "a[1].parquet").touch()
    assert [f.path for f in list_files(tmp_path / "a[1].parquet")] == [
        str(tmp_path / "a[1].parquet")
    ]


def test_folders_of_different_names_are_refused(tmp_path):
    for name in ("k=1", "j=2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.parquet").touch()
    with pytest.raises(InputError, match=r"folders of the same names, got j for .* and k for "):
        list_files(tmp_path)


def test_nothing_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="Expected `data` to name at least one file, got an empty"):
        list_files([])
    with pytest.raises(InputError, match=r"Parquet or CSV files in the folder .*, got none"):
        list_files(tmp_path)
    with pytest.raises(InputError, match=r"Expected files that match .*\*.parquet, got none"):
        list_files(str(tmp_path / "*.parquet"))


def test_the_name_of_a_folder_wins_over_a_column(tmp_path):
    (tmp_path / "key0=7").mkdir()
    table = series_table([("x",)], (3,))
    pq.write_table(table, tmp_path / "key0=7" / "x.parquet")
    [unit] = open_source(tmp_path, ask("key0")).units()
    assert [key for key, _ in unit.groups()] == [(7,)]

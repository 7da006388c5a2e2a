"""Which files a path stands for, their order, and the columns that folders add."""

import gzip
import os
import pickle
import re
import socket
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import closecall as cc
from closecall.errors import InputError, InputTypeError
from closecall.tables.batch.evaluate import evaluate_frame
from closecall.tables.batch.options import BatchOptions
from closecall.tables.data_files import list_files
from tests.tables.series_tables import TINY, ask, expected_groups, read_groups, series_table
from tests.tables.unit_sizes import open_source


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
    found = [file.partitions["k"] for file in list_files(tmp_path)]
    assert {value.type for value in found} == {dataset.schema.field("k").type}
    assert {value.as_py() for value in found} == set(dataset["k"].to_pylist())


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


def folder_values(file):
    return {name: value.as_py() for name, value in file.partitions.items()}


def test_a_glob_names_its_folders_from_the_wildcard_on(tmp_path):
    place = tmp_path / "run=1" / "pump=a"
    place.mkdir(parents=True)
    (place / "x.parquet").touch()
    [file] = list_files(str(tmp_path / "run=1" / "*" / "*.parquet"))
    assert folder_values(file) == {"pump": "a"}
    [file] = list_files(str(tmp_path / "**" / "*.parquet"))
    assert folder_values(file) == {"run": 1, "pump": "a"}
    [file] = list_files(place)
    assert folder_values(file) == {}


def test_several_places_name_their_folders_together(tmp_path):
    for name in ("old/k=1", "new/k=x", "plain"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.parquet").touch()
    files = list_files([tmp_path / "old", str(tmp_path / "new" / "*" / "*.parquet")])
    assert [file.partitions["k"].type for file in files] == [pa.string()] * 2
    assert [folder_values(file) for file in files] == [{"k": "1"}, {"k": "x"}]
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


@pytest.mark.parametrize("place", ["", "key0=*/*.parquet", "**/*.parquet", "*/x.parquet"])
@pytest.mark.parametrize("mode", [0, 0o111, 0o444], ids=oct)
def test_a_folder_that_cannot_be_read_is_refused(tmp_path, as_anybody, place, mode):
    """`rglob` and `glob` leave it out, and nobody misses its series."""
    for name in ("key0=a", "key0=b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.parquet").touch()
    folder = tmp_path / "key0=b"
    folder.chmod(mode)
    got = r"to read all of .*, got `Permission denied` for .*key0=b"
    with as_anybody(), pytest.raises(InputError, match=got):
        list_files(tmp_path / place)
    folder.chmod(0o755)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("place", ["", "*/*"])
def test_a_file_that_may_not_be_read_is_a_unit_that_failed(tmp_path, as_anybody, suffix, place):
    path = write_machines(tmp_path, suffix)
    path.chmod(0)
    with as_anybody():
        found = cc.evaluate_frame(tmp_path / place, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["x", "z"]
    [(key, error)] = found.failures
    assert key == f"all of machine=y/part1.{suffix}"
    assert "Permission denied" in error


def bind(path):
    with socket.socket(socket.AF_UNIX) as one:
        os.chdir(path.parent)  # the names of sockets are short
        one.bind(path.name)


FOUND = {
    "machine=w": (lambda path: path.symlink_to("nowhere"), "a link to nothing"),
    "machine=v": (lambda path: path.symlink_to(path.name), "a link to nothing"),
    "machine=x/pipe.csv": (os.mkfifo, "a pipe or the like"),
    "machine=x/socket.csv": (bind, "a pipe or the like"),
    "machine=x/part-00000": (Path.touch, "a name that says neither"),
    "machine=x/rest.csv.xz": (Path.touch, "a name that says neither"),
    "machine=x/rest.jsonl": (Path.touch, "a name that says neither"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_and_not_read_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write_machines(tmp_path, "csv")
    make, got = FOUND[name]
    make(tmp_path / name)
    message = f"Expected {tmp_path / name} to be a Parquet or CSV file, got {got}."
    with pytest.raises(InputError, match=re.escape(message)):
        list_files(tmp_path)
    if got != "a name that says neither":
        with pytest.raises(InputError, match=f"{name}.*, got {got}"):
            list_files(tmp_path / "*/*.csv")


def test_names_in_capitals_are_read_and_what_is_about_the_data_is_not(tmp_path):
    path = write_machines(tmp_path, "csv")
    path.rename(path.with_suffix(".CSV"))
    for name in ("README.md", "machine=x/readme.txt", "LICENSE", "_notes.doc", ".hidden"):
        (tmp_path / name).touch()
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["x", "y", "z"]


def test_folders_behind_links_are_read_and_loops_are_refused(tmp_path):
    lake, other = tmp_path / "lake", tmp_path / "other"
    lake.mkdir()
    other.mkdir()
    (other / "x.parquet").touch()
    (lake / "key0=a").symlink_to(other)
    assert [file.path for file in list_files(lake)] == [str(lake / "key0=a" / "x.parquet")]
    (other / "loop").symlink_to(lake)
    with pytest.raises(InputError, match="no link to a folder above it"):
        list_files(lake)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("place", ["", "*/*"])
def test_a_file_that_is_found_and_gone_is_a_unit_that_failed(tmp_path, suffix, place):
    path = write_machines(tmp_path, suffix)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    found = cc.evaluate_frame(tmp_path / place, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["x", "z"]
    [(key, error)] = found.failures
    assert key == f"all of machine=y/part1.{suffix}"
    assert str(path) in error


BROKEN = {
    "latin-1 key": "series,label,a\nK\u00e4se,0,0.1\nK\u00e4se,1,0.9\n".encode("latin-1"),
    "latin-1 header": "series,label,a,L\u00e4rm\nx,0,0.1,2\nx,1,0.9,3\n".encode("latin-1"),
    "utf-16": "series,label,a\nx,0,0.1\nx,1,0.9\n".encode("utf-16"),
    "a long field": b'"' + b"s" * 200_000 + b'",label,a\nx,0,0.1\n',
    "NUL bytes": b"series,label,a\nx\0,0,0.1\n\0\0,1,0.9\n",
    "ragged": b"series,label,a\nx,0,0.1,7\n",
    "nothing": b"",
    "half of a gzip": gzip.compress(b"series,label,a\nx,0,0.1\nx,1,0.9\n" * 99)[:40],
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_among_others_is_a_unit_that_failed(tmp_path, kind):
    """Files that share no series have their own: the broken one as well."""
    for name in "ac":
        (tmp_path / f"{name}.csv").write_text(f"series,label,a\n{name},0,0.1\n{name},1,0.9\n")
    (tmp_path / "b.csv").write_bytes(BROKEN[kind])
    options = {"by": "series", "truth": "label", "score": "a"}
    found = cc.evaluate_frame(tmp_path, **options)
    assert found.table["series"].to_pylist() == ["a", "c"]
    [(key, reason)] = found.failures
    assert key == "all of b.csv"
    assert reason.startswith(f"Expected {tmp_path / 'b.csv'} to ")
    (tmp_path / "d.csv").write_text("series,label,a\na,0,0.1\na,1,0.9\n")
    with pytest.raises(InputError, match=r"Expected .*b\.csv to "):
        cc.evaluate_frame(tmp_path, **options)


@pytest.mark.parametrize("shared", [False, True])
def test_a_broken_parquet_file_among_others(tmp_path, shared):
    for name in "abc":
        own = ROWS.append_column("series", pa.array(["a" if shared else name] * 4))
        pq.write_table(own, tmp_path / f"{name}.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:-30])
    options = {"by": "series", "truth": "label", "score": "a"}
    if shared:
        with pytest.raises(InputError, match=r"b\.parquet to be a whole Parquet file"):
            cc.evaluate_frame(tmp_path, **options)
        return
    found = cc.evaluate_frame(tmp_path, **options)
    assert found.table["series"].to_pylist() == ["a", "c"]
    assert [key for key, _ in found.failures] == ["all of b.parquet"]


def test_keys_that_cannot_be_read_cost_their_own_file(tmp_path):
    for name in "abc":
        rows = ROWS.append_column("series", pa.array([name] * 4))
        pq.write_table(rows, tmp_path / f"{name}.parquet")
    path = tmp_path / "b.parquet"
    chunk = pq.read_metadata(path).row_group(0).column(2)
    start, length = chunk.dictionary_page_offset, chunk.total_compressed_size
    content = bytearray(path.read_bytes())
    content[start : start + length] = b"\xff" * length
    path.write_bytes(content)
    found = cc.evaluate_frame(tmp_path, by="series", truth="label", score="a")
    assert found.table["series"].to_pylist() == ["a", "c"]
    assert [key for key, _ in found.failures] == ["all of b.parquet"]


def test_files_are_absolute_for_other_processes(tmp_path, monkeypatch):
    pq.write_table(series_table([("x",)], (3,)), tmp_path / "x.parquet")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    [unit] = open_source("x.parquet", ask("key0")).units()
    assert unit.parts[0][0].file.path == "x.parquet"
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


ROWS = pa.table({"label": [0, 1, 0, 0], "a": [0.1, 0.9, 0.2, 0.3]})
CSV = "label,a\n0,0.1\n1,0.9\n0,0.2\n0,0.3\n"
NAMES = ("x", "y", "z")


def write_machines(folder, suffix):
    """Write two files for each of three series, which folders name."""
    for name in NAMES:
        own = folder / f"machine={name}"
        own.mkdir(parents=True)
        for number in range(2):
            path = own / f"part{number}.{suffix}"
            if suffix == "parquet":
                pq.write_table(ROWS, path)
            else:
                path.write_text(CSV)
    return folder / "machine=y" / f"part1.{suffix}"


DAMAGE = {
    "cut": ("parquet", lambda path: path.write_bytes(path.read_bytes()[:-20]), "whole Parquet"),
    "empty": ("parquet", lambda path: path.write_bytes(b""), "whole Parquet file, got `Parquet"),
    "other bytes": ("parquet", lambda path: path.write_bytes(b"not that"), "whole Parquet"),
    "ragged": ("csv", lambda path: path.write_text(CSV + "0,1,2\n"), "to be a CSV file"),
    "text": ("csv", lambda path: path.write_text(CSV + "no,0.5\n"), "'label' of .* hold numbers"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_only_the_series_of_a_damaged_file_is_lost(tmp_path, kind):
    suffix, damage, reason = DAMAGE[kind]
    path = write_machines(tmp_path / "lake", suffix)
    given = {"by": "machine", "truth": "label", "score": "a"}
    whole = cc.evaluate_frame(tmp_path / "lake", **given)
    damage(path)
    found = cc.evaluate_frame(tmp_path / "lake", **given)
    # The other half of the series is no series.
    kept = [row for row in whole.table.to_pylist() if row["machine"] != "y"]
    assert str(found.table.to_pylist()) == str(kept)  # nan is not itself
    [(key, error)] = found.failures
    assert key == f"all of machine=y/part1.{suffix}"
    assert error.startswith("Expected")
    with pytest.raises(InputError, match=reason):
        cc.evaluate_frame(tmp_path / "lake", **given, strict=True)


def test_a_first_file_with_text_is_the_odd_one(tmp_path):
    write_machines(tmp_path, "csv")
    (tmp_path / "machine=x" / "part0.csv").write_text(CSV + "no,0.5\n")
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["y", "z"]
    assert [key for key, _ in found.failures] == ["all of machine=x/part0.csv"]


def test_a_series_without_rows_is_not_told_of_beside_damage(tmp_path):
    damaged = write_machines(tmp_path, "parquet")
    damaged.write_bytes(b"")
    pq.write_table(ROWS.slice(0, 0), damaged.with_name("part0.parquet"))
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["machine"].to_pylist() == ["x", "z"]


def test_a_damaged_unit_travels(tmp_path):
    write_machines(tmp_path, "parquet").write_bytes(b"")
    *_, last = open_source(
        tmp_path, BatchOptions.read(by="machine", truth="label", score="a")
    ).units()
    again = pickle.loads(pickle.dumps(last))  # noqa: S301 - our own bytes
    assert (again.key, str(again.error)) == (last.key, str(last.error))
    with pytest.raises(InputError, match=r"part1.parquet to be a whole Parquet file"):
        again.groups()


@pytest.mark.parametrize("kind", DAMAGE)
def test_without_folders_that_name_series_nothing_is_known(tmp_path, kind):
    """Other files may hold the rest of the same series, which nobody would miss."""
    suffix, damage, reason = DAMAGE[kind]
    path = write_machines(tmp_path, suffix)
    damage(path)
    with pytest.raises(InputError, match=reason) as caught:
        cc.evaluate_frame(tmp_path, truth="label", score="a", series="one")
    assert "Hint: " in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in DAMAGE if kind != "text"])
def test_nothing_but_damage_is_refused(tmp_path, kind):
    suffix, damage, reason = DAMAGE[kind]
    write_machines(tmp_path, suffix)
    for other in tmp_path.rglob(f"*.{suffix}"):
        damage(other)
    with pytest.raises(InputError, match=reason):
        cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")


def test_text_in_every_file_is_no_damage(tmp_path):
    write_machines(tmp_path, "csv")
    for path in tmp_path.rglob("*.csv"):
        path.write_text(CSV + "no,0.5\n")
    found = cc.evaluate_frame(tmp_path, by="machine", truth="label", score="a")
    assert found.table["status"].to_pylist() == ["bad_labels"] * 3


def test_a_file_that_changed_is_read_anew(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(ROWS, path)
    assert cc.evaluate_frame(path, truth="label", score="a").table["samples"].to_pylist() == [4]
    pq.write_table(pa.concat_tables([ROWS, ROWS]), path)
    assert cc.evaluate_frame(path, truth="label", score="a").table["samples"].to_pylist() == [8]


EMPTY_ROWS = series_table([("x",)], (4,)).drop_columns(["key0"])
NOTHING = EMPTY_ROWS.slice(0, 0)


def write(folder, parts):
    """Write a file for each pair of a folder and its rows."""
    for number, (name, table) in enumerate(parts):
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name / f"{number}.parquet", row_group_size=2)


@pytest.mark.parametrize("size", [None, TINY])
def test_a_series_without_rows_is_a_group_without_rows(tmp_path, size):
    write(tmp_path, [("key0=c", NOTHING), ("key0=a", EMPTY_ROWS), ("key0=b", NOTHING)])
    source = open_source(tmp_path, ask("key0"), size=size)
    units = pickle.loads(pickle.dumps(source.units()))  # noqa: S301 - pickled here
    assert len({unit.key for unit in units}) == len(units)
    groups = read_groups(units)
    assert {key: len(rows) for key, rows in groups.items()} == {("a",): 4, ("b",): 0, ("c",): 0}
    assert all(rows.schema.equals(source.schema) for _, rows in units[-1].groups())


def test_rows_in_another_file_of_the_series_count(tmp_path):
    write(tmp_path, [("key0=a", NOTHING), ("key0=a", EMPTY_ROWS), ("key0=a", NOTHING)])
    groups = read_groups(open_source(tmp_path, ask("key0")).units())
    assert {key: len(rows) for key, rows in groups.items()} == {("a",): 4}


def test_folders_must_name_all_keys(tmp_path):
    keyed = EMPTY_ROWS.append_column("key1", pa.array(["m"] * 4))
    write(tmp_path, [("key0=a", keyed), ("key0=b", keyed.slice(0, 0))])
    groups = read_groups(open_source(tmp_path, ask(["key0", "key1"])).units())
    assert list(groups) == [("a", "m")]


def test_types_of_columns_without_values_do_not_matter(tmp_path):
    untyped = pa.table({name: pa.nulls(0) for name in NOTHING.column_names})
    write(tmp_path, [("key0=a", untyped), ("key0=b", EMPTY_ROWS)])
    source = open_source(tmp_path, ask("key0"))
    assert source.schema.field("a").type == pa.float64()
    assert {key: len(rows) for key, rows in read_groups(source.units()).items()} == {
        ("a",): 0,
        ("b",): 4,
    }


@pytest.mark.parametrize("threshold", ["best_f1", "best_f1_global"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_batch_gives_it_rows(tmp_path, threshold, suffix):
    for name, rows in (("1", "0,0.5\n1,0.9\n"), ("2", "")):
        path = tmp_path / "data" / f"site={name}" / f"x.{suffix}"
        path.parent.mkdir(parents=True)
        path.write_text("label,score\n" + rows)
        if suffix == "parquet":
            table = pa.table(
                {"label": [0, 1], "score": [0.5, 0.9]} if rows else {"label": [], "score": []}
            )
            pq.write_table(table, path)
    asked = {"by": "site", "truth": "label", "score": "score", "threshold": threshold}
    result = evaluate_frame(tmp_path / "data", **asked, out=tmp_path / "out.parquet")
    assert result.table.select(["site", "status", "samples"]).to_pylist() == [
        {"site": 1, "status": "ok", "samples": 2},
        {"site": 2, "status": "empty", "samples": 0},
    ]
    assert result.table["site"].type == pa.int32()


def test_nothing_but_series_without_rows(tmp_path):
    write(tmp_path, [("key0=a", NOTHING), ("key0=b", NOTHING)])
    result = evaluate_frame(tmp_path, by="key0", truth="label", score="a")
    assert result.table["status"].to_pylist() == ["empty", "empty"]
    with pytest.raises(InputError, match="to hold at least one series, got none"):
        evaluate_frame(tmp_path, truth="label", score="a", series="one")

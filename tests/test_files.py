"""All that matches is found or refused; what is written is whole; inputs are known by any name."""

import os
from pathlib import Path

import pytest

from closecall.errors import InputError
from closecall.files import UNFINISHED, matching, require_apart, whole_file


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as new:
        new.write_text("new")
        assert UNFINISHED.fullmatch(new.name)
        assert new.suffix == ".txt"
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    for stopped in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(stopped), whole_file(path):
            raise stopped
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """Else a loss of power leaves an empty one in the place of the old."""
    path, kept = tmp_path / "a.txt", []
    monkeypatch.setattr(os, "fsync", lambda file: kept.append((os.fstat(file), path.exists())))
    with whole_file(path) as new:
        new.write_text("new")
    ((status, named),) = kept
    assert (status.st_ino, status.st_size, named) == (path.stat().st_ino, 3, False)


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    for path in (tmp_path / "nowhere" / "a.txt", tmp_path):
        with pytest.raises(OSError, match="directory") as caught, whole_file(path) as new:
            new.write_text("x")
        assert caught.value.filename == str(path)


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    missing = tmp_path / "nowhere" / "second.txt"
    with (
        pytest.raises(FileNotFoundError) as caught,
        whole_file(tmp_path / "first.txt"),
        whole_file(missing),
    ):
        pass
    assert caught.value.filename == str(missing)
    assert not any(tmp_path.iterdir())


def test_a_file_that_a_shell_has_open_is_not_replaced(tmp_path):
    """Else what the shell writes after us is lost."""
    with (tmp_path / "log").open("w+b") as log:
        with whole_file(f"/dev/fd/{log.fileno()}") as new:
            new.write_text("ours")
        assert os.fstat(log.fileno()).st_nlink == 1
    assert (tmp_path / "log").read_text() == "ours"


def test_it_may_be_written_elsewhere_but_not_on_another_disk(tmp_path):
    path, near = tmp_path / "a.txt", tmp_path / "near"
    near.mkdir()
    with whole_file(path, near) as new:
        assert new.parent == near
    for far in (Path("/dev/shm"), Path("/run")):  # noqa: S108 - nothing is written there
        if far.is_dir() and far.stat().st_dev != tmp_path.stat().st_dev:
            with whole_file(path, far) as new:
                assert new.parent == tmp_path


def test_patterns_below_a_folder_with_any_name(tmp_path):
    folder = tmp_path / "a[1]*"
    (folder / "b").mkdir(parents=True)
    for name in ("x.csv", "b/y.csv", "b/.z.csv"):
        (folder / name).touch()
    assert matching("*.csv", folder) == [folder / "x.csv"]
    assert matching("*/*.csv", folder) == [folder / "b" / "y.csv"]
    assert matching("**/*.csv", folder) == [folder / "b" / "y.csv", folder / "x.csv"]


@pytest.mark.parametrize(
    ("written", "read", "apart"),
    [
        ("new.csv", "data.csv", True),
        ("lake/new.csv", "lake", False),
        ("lake/deep/new.csv", "lake", False),
        ("lakes.csv", "lake", True),
        ("lake/new.csv", "lake/*.csv", False),
        ("lake/new.parquet", "lake/*.csv", True),
        ("lake/deep/new.csv", "lake/*.csv", True),
        ("lake/deep/new.csv", "lake/**/*.csv", False),
        ("lake/new.csv", "lake/**/*.csv", False),
        ("new.csv", "lake/**/*.csv", True),
        ("link/new.csv", "lake", False),
        ("link/new.csv", "lake/*.csv", False),
        ("lake/new.csv", "link/*.csv", False),
        ("lake/deep/new.csv", "link/**/*.csv", False),
        ("lake/new.csv", "link/*.parquet", True),
        ("data.csv", "lake/../data.csv", False),
        ("data.csv", "gone.csv", True),
    ],
)
def test_what_is_written_is_not_what_is_read(tmp_path, monkeypatch, written, read, apart):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("lake")
    (tmp_path / "data.csv").touch()
    for path in (written, tmp_path / written):
        if apart:
            require_apart("out", [path], [read])
            continue
        with pytest.raises(InputError, match="`out` to write to none of the files that are read"):
            require_apart("out", [path], [read])

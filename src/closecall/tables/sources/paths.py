"""Which files a path, a glob or a folder stands for, and what the names of folders say."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from closecall.errors import InputError, InputTypeError, expected
from closecall.tables.reading import arrow, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

_PARQUET_SUFFIXES = (".parquet", ".pq")
_TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".gz")
_MISSING_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Partition:
    """A column whose one value for a file stands in the name of its folder."""

    name: str
    value: Any
    type: pa.DataType

    def column(self, rows: int) -> pa.Array:
        """Return the value, once for each row."""
        pyarrow = arrow("pyarrow")
        return pyarrow.repeat(pyarrow.scalar(self.value, type=self.type), rows)


@dataclass(frozen=True)
class DataFile:
    """One file, and the columns that its folders add."""

    path: str
    """As it was given; absolute in every other process."""
    partitions: tuple[Partition, ...] = ()

    def key(self, by: tuple[str, ...]) -> tuple[Any, ...] | None:
        """Give the series that the file holds, if its folders name it; else None."""
        values = {part.name: part.value for part in self.partitions}
        return tuple(values[name] for name in by) if by and values.keys() >= set(by) else None

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker may run in another folder, or on another machine.
        return DataFile, (str(Path(self.path).absolute()), self.partitions)


def list_files(location: Any) -> list[DataFile]:
    """List the files of a path, a glob, a folder, or several of these.

    Files of a glob or a folder are in the order of their paths, with numbers in them ordered as
    numbers, so that ``part.10`` follows ``part.9``.

    Parameters
    ----------
    location
        A path, a pattern with ``*``, ``?``, ``[...]`` or ``**``, a folder, or a list of these.
        Folders called ``name=value`` add a column: those below the given folder, those from the
        first wildcard on, and of several locations those below the folder that holds them all.
    """
    if not isinstance(location, (list, tuple)):
        paths, base = _listed(_path_text(location))
    elif not location:
        raise InputError(expected("`data` to name at least one file", "an empty list"))
    else:
        listed = [_listed(_path_text(one)) for one in location]
        base = Path(os.path.commonpath([base.absolute() for _, base in listed]))
        paths = [file for files, _ in listed for file in files]
    _refuse_repeated(paths)
    return _with_partitions(paths, base)


def _path_text(location: Any) -> str:
    text = os.fspath(location) if isinstance(location, (str, os.PathLike)) else None
    if isinstance(text, str):
        return text
    raise InputTypeError(
        expected(
            "a list in the place of `data` to hold paths of files",
            f"{type(location).__name__} in it",
            "Put dataframes together first, into one with a column that tells them apart.",
        )
    )


def _refuse_repeated(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice, which would double its series."""
    first: dict[Path, str] = {}
    for path in paths:
        place = Path(path).resolve()
        if place in first:
            raise InputError(
                expected(
                    "every file of `data` to be named once",
                    f"{first[place]} twice"
                    if first[place] == path
                    else f"{first[place]} and {path}, which are the same file",
                )
            )
        first[place] = path
    if "-" in paths and len(paths) > 1:
        raise InputError(expected("standard input, `-`, to be all of `data`", "files beside it"))


def _listed(text: str) -> tuple[list[str], Path]:
    """List the files of one location, and the folder below which names of folders count."""
    path = Path(text)
    if path.is_dir():
        return [str(file) for file in _in_folder(path)], path
    if path.exists() or not glob.has_magic(text):
        return [text], path.parent
    names = [Path(name) for name in glob.glob(text, recursive=True)]  # noqa: PTH207 - absolute too
    files = sorted((name for name in names if name.is_file()), key=_natural)
    if not files:
        raise InputError(expected(f"files that match {text}", "none"))
    return [str(file) for file in files], _fixed_part(path)


def is_parquet(file: DataFile) -> bool:
    """Say whether a file begins as Parquet files do, or is called as they are."""
    if file.path == "-":
        return False
    try:
        with Path(file.path).open("rb") as stream:
            return stream.read(4) == b"PAR1" or Path(file.path).suffix in _PARQUET_SUFFIXES
    except OSError:
        read_table(file.path)  # it says what is wrong with the path
        raise


def files_fingerprint(files: Iterable[DataFile]) -> str:
    """Return a hash of each file's path, size and time of change."""
    digest = hashlib.sha256()
    count = 0
    for file in files:
        count += 1
        status = Path(file.path).stat()
        path = Path(file.path).resolve()
        digest.update(f"{path}\t{status.st_size}\t{status.st_mtime_ns}\n".encode())
    return f"files:{count}:{digest.hexdigest()}"


def place_in(files: Iterable[DataFile]) -> Callable[[DataFile], str]:
    """Make a function that says where a file is, from the folder that holds all of them."""
    paths = {file: Path(file.path).absolute() for file in files}
    folder = os.path.commonpath([path.parent for path in paths.values()]) if paths else ""
    return lambda file: paths[file].relative_to(folder).as_posix()


def files_name(files: Sequence[DataFile], location: Any) -> str:
    """Say how messages call the files."""
    if isinstance(location, (list, tuple)):
        return f"{len(files)} files"
    return "standard input" if str(location) == "-" else str(location)


def _in_folder(folder: Path) -> list[Path]:
    try:
        found = [path for path in folder.rglob("*") if _is_data(path, folder)]
    except OSError as error:
        raise InputError(
            expected(
                f"to read all of the folder {folder}",
                f"`{error.strerror}` for {error.filename}",
                "Pass the folder that holds nothing but the data, or a glob.",
            )
        ) from error
    parquet = [path for path in found if path.suffix in _PARQUET_SUFFIXES]
    text = [path for path in found if path.suffix in _TEXT_SUFFIXES]
    if parquet and text:
        raise InputError(
            expected(
                f"the files in {folder} to be of one kind",
                f"{parquet[0].name} and {text[0].name}",
                "Pass a glob, such as 'folder/**/*.parquet'.",
            )
        )
    if not parquet and not text:
        raise InputError(expected(f"Parquet or CSV files in the folder {folder}", "none of them"))
    return sorted(parquet or text, key=_natural)


def _is_data(path: Path, folder: Path) -> bool:
    """Leave out hidden files and what writers leave beside the data, such as ``_SUCCESS``."""
    parts = path.relative_to(folder).parts
    return path.is_file() and not any(
        part.startswith((".", "_")) and "=" not in part for part in parts
    )


def _natural(path: Path) -> list[tuple[tuple[int, int | str], ...]]:
    return [
        tuple(
            (0, int(piece)) if piece.isdecimal() else (1, piece)
            for piece in re.split(r"(\d+)", part)
        )
        for part in path.parts
    ]


def _fixed_part(pattern: Path) -> Path:
    """Return the folder that a pattern names before its first wildcard."""
    fixed = Path()
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        fixed /= part
    return fixed


def _with_partitions(paths: Sequence[str], base: Path) -> list[DataFile]:
    named = [_folder_values(Path(path), base) for path in paths]
    for path, values in zip(paths, named, strict=True):
        if list(values) != list(named[0]):
            raise InputError(
                expected(
                    f"every file below {base} to lie in folders of the same names",
                    f"{', '.join(named[0]) or 'none'} for {paths[0]} and "
                    f"{', '.join(values) or 'none'} for {path}",
                )
            )
    columns = {name: [values[name] for values in named] for name in named[0]}
    typed = [_typed(name, values) for name, values in columns.items()]
    return [
        DataFile(path, tuple(partitions[index] for partitions in typed))
        for index, path in enumerate(paths)
    ]


def _folder_values(path: Path, base: Path) -> dict[str, str | None]:
    below = path.absolute().relative_to(base.absolute()).parts[:-1]
    pairs = (part.partition("=") for part in below if "=" in part)
    return {
        unquote(name): None if value == _MISSING_VALUE else unquote(value)
        for name, _, value in pairs
    }


def _typed(name: str, values: list[str | None]) -> list[Partition]:
    """Type the values as `pyarrow.dataset` does: numbers if all are, else text.

    Where two names are one number, such as ``01`` and ``1``, they stay apart as text.
    """
    pyarrow = arrow("pyarrow")
    texts = {value for value in values if value is not None}
    numbers = {int(value) for value in texts if _is_number(value)}
    if texts and len(numbers) == len(texts):
        kind = pyarrow.int32()
        return [Partition(name, None if value is None else int(value), kind) for value in values]
    return [Partition(name, value, pyarrow.string()) for value in values]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None and _SMALLEST <= int(text) <= _LARGEST

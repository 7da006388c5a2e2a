"""Which files a path, a glob or a folder stands for, and which series their names tell."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from closecall.errors import InputError, InputTypeError, shown
from closecall.files import fixed_part, matching, reading
from closecall.parameters import read_path
from closecall.tables.reading import arrow, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

_PARQUET_SUFFIXES = (".parquet", ".pq")
_TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".gz")
_ABOUT_DATA = ("readme", "license", "licence")
_MISSING_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1
FILENAME, ONE = "filename", "one"
_FIELD = re.compile(r"\{(\w*)\}")
_FILENAME = re.compile(
    r"(.*?)(?:\.(?:csv|tsv|txt|parquet|pq))?(?:\.gz)?", re.IGNORECASE | re.DOTALL
)
_HINT = (
    "Pass 'filename', a pattern such as '{group}/{series}.csv', whose fields become columns, or "
    "'one' if all files are one series."
)


class TemporaryFolder:
    """A folder that lives as long as this object, in the place that TMPDIR names.

    A copy of the object in another process leaves the folder alone.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="closecall-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True, eq=False)
class DataFile:
    """One file, and the columns that its folders add."""

    path: str
    """As it was given; absolute in every other process."""
    partitions: Mapping[str, pa.Scalar] = field(default_factory=dict)
    """Columns with one value for all rows, which the names of folders or files give."""
    given_as: str = ""
    """What messages call it, if it is a copy of what was given."""
    folder: TemporaryFolder | None = None
    """Where the file is a copy, keeps it."""

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.given_as or self.path

    def key(self, by: tuple[str, ...]) -> tuple[Any, ...] | None:
        """Return the series that the file holds, if its folders name it; else None."""
        if not by or not self.partitions.keys() >= set(by):
            return None
        return tuple(self.partitions[name].as_py() for name in by)

    def complete(self, table: pa.Table) -> pa.Table:
        """Add the columns that the names of folders and files give; they win over others."""
        for name, value in self.partitions.items():
            if name in table.column_names:
                table = table.drop_columns([name])
            table = table.append_column(name, arrow("pyarrow").repeat(value, table.num_rows))
        return table

    def __getstate__(self) -> dict[str, Any]:
        # A worker may run in another folder, or on another machine.
        return {**self.__dict__, "path": str(Path(self.path).absolute())}


def list_files(location: Any, series: str | None = None) -> list[DataFile]:
    """List the files of a path, a glob, a folder, or several; their names may tell their series.

    Files of a glob or a folder are in the order of their paths: ``part.10`` follows ``part.9``.
    """
    if not isinstance(location, (list, tuple)):
        paths, base = _listed(_path_text(location))
    elif not location:
        raise InputError("to name at least one file", "an empty list", argument="data")
    else:
        listed = [_listed(_path_text(one)) for one in location]
        base = Path(os.path.commonpath([base.absolute() for _, base in listed]))
        paths = [file for files, _ in listed for file in files]
    _refuse_repeated(paths)
    files = _with_partitions(paths, base)
    return files if series in (None, ONE) else _named(files, FileNames.read(series))


def _named(files: Sequence[DataFile], names: FileNames) -> list[DataFile]:
    """Add the columns that the names of files give; raise if two files name one series."""
    first: dict[tuple[str, ...], DataFile] = {}
    named = []
    for file in files:
        if is_stream(file.path):
            raise InputError("files beside `series`", file.path)
        values = names.values(file.path)
        other = first.setdefault(tuple(values.values()), file)
        if other is not file:
            got = f"{other.path} and {file.path}, which both are {', '.join(values.values())}"
            hint = "Name more of the path: `series='{folder}/{series}.csv'`."
            raise InputError("every file to name a series of its own", got, hint=hint)
        folders = {name: one for name, one in file.partitions.items() if name not in values}
        scalars = {name: arrow("pyarrow").scalar(value) for name, value in values.items()}
        named.append(replace(file, partitions=folders | scalars))
    return named


def _path_text(location: Any) -> str:
    text = os.fspath(location) if isinstance(location, (str, os.PathLike)) else None
    if isinstance(text, str):
        return text
    rule = "a list in the place of `data` to hold paths of files"
    hint = "Put dataframes together first, into one with a column that tells them apart."
    raise InputTypeError(rule, f"{type(location).__name__} in it", hint=hint)


def _refuse_repeated(paths: Sequence[str]) -> None:
    """Raise for a file that is named twice, which would double its series."""
    first: dict[str, str] = {}
    for path in paths:
        place = os.path.realpath(read_path(path, "data"))  # through loops of links too
        if place in first:
            same = f"{first[place]} and {path}, which are the same file"
            got = f"{path} twice" if first[place] == path else same
            raise InputError("every file of `data` to be named once", got)
        first[place] = path
    if "-" in paths and len(paths) > 1:
        raise InputError("standard input, `-`, to be all of `data`", "files beside it")


def _listed(text: str) -> tuple[list[str], Path]:
    """List the files of one location, and the folder below which names of folders count."""
    path = Path(text)
    if path.is_dir():
        files, base = _in_folder(path), path
    elif path.exists() or not glob.has_magic(text):
        return [text], path.parent
    else:
        files, base = [file for file in matching(text) if not file.is_dir()], fixed_part(text)
    if not files:
        raise InputError(f"files that match {text}", "none")
    for file in files:
        if is_stream(str(file)):  # it was not named, and reading it could wait for ever
            raise _no_data(file, "a pipe or the like")
    return [str(file) for file in sorted(files, key=_natural)], base


def is_stream(path: str) -> bool:
    """Return whether a path can be read only once: standard input, or a pipe as of ``<(...)``."""
    place = Path(path)
    return path == "-" or (place.exists() and not place.is_file() and not place.is_dir())


def is_parquet(file: DataFile, *, alone: bool = False) -> bool:
    """Return whether a file begins as Parquet files do, or is called as they are.

    One that cannot be read raises if it is `alone`; else whoever reads it tells what is wrong.
    """
    if is_stream(file.path):
        return False
    named = Path(file.path).suffix in _PARQUET_SUFFIXES
    try:
        with Path(file.path).open("rb") as stream:
            return stream.read(4) == b"PAR1" or named
    except OSError:
        if alone or not os.path.lexists(file.path):
            read_table(file.path)  # it says what is wrong with the path
        return named


def files_fingerprint(files: Sequence[DataFile]) -> str:
    """Return a hash of each file's path, size and time of change."""
    digest = hashlib.sha256()
    for file in files:
        path = Path(os.path.realpath(file.path))
        digest.update(os.fsencode(path))
        try:
            status = path.stat()
        except OSError:  # a file that cannot be read is a unit that fails
            continue
        digest.update(f"\t{status.st_size}\t{status.st_mtime_ns}\n".encode())
    return f"files:{len(files)}:{digest.hexdigest()}"


def place_in(files: Iterable[DataFile]) -> Callable[[DataFile], str]:
    """Make a function that says where a file is, from the folder that holds all of them."""
    paths = {file: Path(file.name).absolute() for file in files}
    folder = os.path.commonpath([path.parent for path in paths.values()]) if paths else ""
    return lambda file: paths[file].relative_to(folder).as_posix()


def _in_folder(folder: Path) -> list[Path]:
    """List the data files below a folder, all of one kind, or say which file is not one."""
    found = [path for path in _walk(folder, ()) if _is_data(path, folder)]
    of_kind: dict[bool, Path] = {}
    for path in found:
        suffix = path.suffix.lower()
        if suffix not in _PARQUET_SUFFIXES + _TEXT_SUFFIXES:
            raise _no_data(
                path, "a name that says neither" if path.is_file() else "a link to nothing"
            )
        of_kind.setdefault(suffix in _PARQUET_SUFFIXES, path)
    if len(of_kind) > 1:
        rule = f"the files in {folder} to be of one kind"
        hint = "Pass a glob, such as 'folder/**/*.parquet'."
        raise InputError(rule, f"{of_kind[True].name} and {of_kind[False].name}", hint=hint)
    if not found:
        raise InputError(f"Parquet or CSV files in the folder {folder}", "none of them")
    return found


def _walk(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """Yield every file below a folder, through links too; one that cannot be read is an error."""
    with reading(folder):
        entries = [(path, path.is_dir()) for path in sorted(folder.iterdir())]
    place = folder.resolve()
    if place in above:
        raise InputError(f"no link to a folder above it at {folder}", "one")
    for path, is_folder in entries:
        if is_folder:
            yield from _walk(path, (*above, place))
        else:
            yield path


def _is_data(path: Path, folder: Path) -> bool:
    """Leave out hidden files and what writers leave beside the data, such as ``_SUCCESS``."""
    parts = path.relative_to(folder).parts
    hidden = any(part.startswith((".", "_")) and "=" not in part for part in parts)
    return not hidden and path.stem.lower() not in _ABOUT_DATA


def _no_data(path: Path, got: str) -> InputError:
    hint = "Move it elsewhere, or pass a glob, such as 'folder/**/*.parquet'."
    return InputError(f"{path} to be a Parquet or CSV file", got, hint=hint)


def _natural(path: Path) -> list[list[tuple[int, int | str]]]:
    """Return what sorts paths folder by folder, and numbers in their names as numbers."""
    return [
        [(0, int(x)) if x.isdecimal() else (1, x) for x in re.split(r"(\d+)", part)]
        for part in path.parts
    ]


def _with_partitions(paths: Sequence[str], base: Path) -> list[DataFile]:
    """Add the columns that folders called ``name=value`` below the base give."""
    named = [_folder_values(Path(path), base) for path in paths]
    for path, values in zip(paths, named, strict=True):
        if list(values) != list(named[0]):
            raise InputError(
                f"every file below {base} to lie in folders of the same names",
                f"{', '.join(named[0]) or 'none'} for {paths[0]} and "
                f"{', '.join(values) or 'none'} for {path}",
            )
    columns = {name: _typed([values[name] for values in named]) for name in named[0]}
    return [
        DataFile(path, {name: column[place] for name, column in columns.items()})
        for place, path in enumerate(paths)
    ]


def _folder_values(path: Path, base: Path) -> dict[str, str | None]:
    below = path.absolute().relative_to(base.absolute()).parts[:-1]
    pairs = (part.partition("=") for part in below if "=" in part)
    return {
        unquote(name): None if value == _MISSING_VALUE else unquote(value)
        for name, _, value in pairs
    }


def _typed(values: list[str | None]) -> pa.Array:
    """Type the values as `pyarrow.dataset` does: numbers if all are, and differ, else text."""
    pyarrow = arrow("pyarrow")
    texts = {value for value in values if value is not None}
    numbers = {int(value) for value in texts if re.fullmatch(r"-?\d+", value)}
    if texts and len({x for x in numbers if _SMALLEST <= x <= _LARGEST}) == len(texts):
        return pyarrow.array([x if x is None else int(x) for x in values], pyarrow.int32())
    return pyarrow.array(values, pyarrow.string())


@dataclass(frozen=True)
class FileNames:
    """How the path of a file says which series it holds.

    >>> FileNames.read("filename").values("runs/a.csv.gz")
    {'series': 'a'}
    >>> FileNames.read("{group}/run_{series}.csv").values("/data/north/run_7.csv")
    {'group': 'north', 'series': '7'}
    """

    pattern: str
    fields: tuple[str, ...]
    """Names of the columns that the path gives."""
    expression: re.Pattern[str]
    """What the end of the path matches, with a group for each field."""

    @classmethod
    def read(cls, series: Any) -> FileNames:
        """Read the option `series`: ``filename``, ``one`` for no column, or text with fields."""
        if not isinstance(series, str):
            raise InputTypeError("to be a text", shown(series), argument="series", hint=_HINT)
        if series == FILENAME:
            return cls(series, ("series",), _FILENAME)
        fields, literal = tuple(_FIELD.findall(series)), _FIELD.split(series)[::2]
        if series != ONE and (not all(fields or ("",)) or re.search("[{}]", "".join(literal))):
            rule = "to have fields in braces"
            raise InputError(rule, repr(series), argument="series", hint=_HINT)
        if len({*fields}) < len(fields):
            raise InputError("each field of `series` once", repr(series))
        return cls(series, fields, re.compile("([^/]+?)".join(map(re.escape, literal))))

    def values(self, path: str) -> dict[str, str]:
        """Return what the end of a path says; raise if it does not match."""
        end = "/".join(Path(path).absolute().parts[-1 - self.pattern.count("/") :])
        found = self.expression.fullmatch(end)
        if found is None:
            rule = f"the path of every file to end as `series`, {self.pattern}"
            raise InputError(rule, path)
        return dict(zip(self.fields, found.groups(), strict=True))

"""Read a CSV or Parquet file, plain or gzipped, into one Arrow table, and write one."""

from __future__ import annotations

import csv
import difflib
import gzip
import importlib
import io
import sys
import zlib
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from closecall.errors import InputError, MissingExtraError, expected, first_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import pyarrow as pa

_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_PARQUET_SUFFIXES = {".parquet", ".pq"}


def shown_name(source: str | PathLike[str]) -> str:
    """Return what messages call a source: the path as it was given, or ``standard input``."""
    return "standard input" if str(source) == "-" else str(source)


def read_table(source: str | PathLike[str]) -> pa.Table:
    r"""Read a CSV or Parquet file, plain or gzipped, whole; ``-`` is standard input.

    A CSV file whose first line holds only numbers and ISO times has no header: its columns are
    called ``column1``, ``column2`` and so on. Commas, semicolons and tabs separate columns. Times
    are ISO 8601; those with an offset are kept as instants in UTC.

    Parameters
    ----------
    source
        A path, or ``-``.

    Returns
    -------
    pyarrow.Table
        Every column of the file, in the file's order.

    Raises
    ------
    InputError
        The file is missing, empty or unreadable; the message says which.
    MissingExtraError
        pyarrow is not installed.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.gz"
    >>> _ = path.write_bytes(gzip.compress(b"0\n1\n1\n"))
    >>> read_table(path).to_pydict()
    {'column1': [0, 1, 1]}
    """
    return table_of_content(source, read_content(source))


def table_of_content(source: str | PathLike[str], content: bytes) -> pa.Table:
    """Read a table from the bytes of a file, as `read_content` returns them."""
    _imported("pyarrow")
    name = shown_name(source)
    if not content.strip():
        hint = "Is the command before the pipe right?" if name != str(source) else "Write it again."
        raise InputError(expected(f"{name} to hold a table", "an empty file", hint))
    if content.startswith(_PARQUET_MAGIC):
        return _parquet_table(content, name)
    if Path(source).suffix in _PARQUET_SUFFIXES or b"\0" in content[:4096]:
        raise InputError(
            expected(
                f"{name} to be a CSV or Parquet file",
                f"bytes that start with {content[:8]!r}",
                "Save it as Parquet, or as CSV text in UTF-8; either may be gzipped.",
            )
        )
    return _csv_table(content, name)


def write_table(columns: Mapping[str, Any], path: str | PathLike[str]) -> None:
    r"""Write columns of one length as Parquet if the path ends in ``.parquet``, else as CSV.

    Parameters
    ----------
    columns
        Names and one-dimensional arrays.
    path
        Where to write; an existing file is replaced. ``-`` is standard output, as CSV.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> write_table({"label": [0, 1], "predicted": [1, 1]}, path)
    >>> path.read_text()
    'label,predicted\n0,1\n1,1\n'
    """
    table = arrow("pyarrow").table(dict(columns))
    if str(path) == "-":
        _write_csv(table, sys.stdout.buffer)
        return
    with Path(path).open("wb") as file:
        if Path(path).suffix in _PARQUET_SUFFIXES:
            _imported("pyarrow.parquet").write_table(table, file)
        else:
            _write_csv(table, file)


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    csv = _imported("pyarrow.csv")
    # Arrow quotes every column name; a plain header is easier on the reader.
    file.write(f"{','.join(table.column_names)}\n".encode())
    csv.write_csv(table, file, csv.WriteOptions(include_header=False))


def arrow(module: str) -> Any:
    """Import pyarrow, or one of its modules, where columns are converted by pyarrow itself.

    Its first conversion imports pandas, if it is there, and loses a Ctrl-C meanwhile: do it before.
    """
    imported = _imported(module)
    with suppress(ImportError):
        importlib.import_module("pandas")
    return imported


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "cli") from error


def read_content(source: str | PathLike[str]) -> bytes:
    """Read all bytes of a file or of standard input, unpacked if they are gzipped."""
    return _decompressed(_packed(source), shown_name(source))


def _packed(source: str | PathLike[str]) -> bytes:
    """Read all bytes: a pipe or a process substitution cannot be mapped or reread."""
    if str(source) == "-":
        return sys.stdin.buffer.read()
    path = Path(source)
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(expected(f"a file at {path}", "none", _nearby(path))) from error
    except IsADirectoryError as error:
        raise InputError(expected(f"a file at {path}", "a folder")) from error
    except OSError as error:
        raise InputError(expected(f"to read {path}", f"`{error.strerror}`")) from error


def _nearby(path: Path) -> str:
    """Suggest the closest file name in the same folder."""
    folder = path.parent
    if not folder.is_dir():
        return f"There is no folder {folder}."
    names = sorted(entry.name for entry in folder.iterdir())
    close = difflib.get_close_matches(path.name, names, n=1)
    if close:
        return f"Did you mean {folder / close[0]}?"
    return f"Check the path; paths are relative to {Path.cwd()}."


def _decompressed(content: bytes, name: str) -> bytes:
    if not content.startswith(_GZIP_MAGIC):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(expected(f"{name} to be a whole gzip file", f"`{error}`")) from error


def _parquet_table(content: bytes, name: str) -> pa.Table:
    pyarrow, parquet = _imported("pyarrow"), _imported("pyarrow.parquet")
    try:
        return parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            expected(f"{name} to be a whole Parquet file", f"`{first_line(error)}`")
        ) from error


def _csv_table(content: bytes, name: str) -> pa.Table:
    pyarrow, csv = _imported("pyarrow"), _imported("pyarrow.csv")
    # Blank lines at either end mean nothing; inside, a blank line is a missing value.
    lines = content.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n") + b"\n"
    separator = delimiter(lines)
    names = column_names(first_record(lines, separator))
    parsing = csv.ParseOptions(delimiter=separator, ignore_empty_lines=False)

    def parse(*, use_threads: bool) -> pa.Table:
        reading = csv.ReadOptions(column_names=names, use_threads=use_threads)
        return csv.read_csv(io.BytesIO(lines), read_options=reading, parse_options=parsing)

    try:
        return parse(use_threads=True)
    except (pyarrow.ArrowException, UnicodeDecodeError):
        pass
    try:
        # Only the serial reader knows the row of what it cannot parse.
        return parse(use_threads=False)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise InputError(
            expected(
                f"{name} to be a CSV file",
                f"`{first_line(error)}`",
                "Every line needs as many fields as the first one, as text in UTF-8.",
            )
        ) from error


_DELIMITERS = ",;\t"


def delimiter(content: bytes) -> str:
    r"""Return the separator that occurs most often in the first line; a comma if none does.

    Examples
    --------
    >>> delimiter(b"time;label\n1;0\n")
    ';'
    >>> delimiter(b"0\n1\n")
    ','
    """
    line = _first_line(content)
    return max(_DELIMITERS, key=line.count)


def first_record(content: bytes, separator: str) -> list[str]:
    r"""Split the first line into its fields.

    Examples
    --------
    >>> first_record(b'"a, b",c\n1,2\n', ",")
    ['a, b', 'c']
    """
    return next(csv.reader([_first_line(content)], delimiter=separator), [])


def column_names(fields: list[str]) -> list[str] | None:
    """Return names to give to the columns, or None if the fields themselves are the names.

    Examples
    --------
    >>> column_names(["0", "1.5"])
    ['column1', 'column2']
    >>> column_names(["time", "label"]) is None
    True
    """
    if all(_is_value(field) for field in fields):
        return [f"column{number}" for number in range(1, len(fields) + 1)]
    return None


def _first_line(content: bytes) -> str:
    end = content.find(b"\n")
    line = content if end < 0 else content[:end]
    return line.decode("utf-8", errors="replace").rstrip("\r")


def _is_value(field: str) -> bool:
    """Whether a field is a number or an ISO time, and so no name."""
    text = field.strip()
    try:
        float(text)
    except ValueError:
        pass
    else:
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True

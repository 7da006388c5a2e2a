"""Read a CSV or Parquet file, plain or gzipped, into one Arrow table, and write one."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import importlib
import io
import shutil
import sys
import tempfile
import zlib
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from closecall.errors import (
    InputError,
    InputTypeError,
    MissingExtraError,
    first_line,
    shown,
)
from closecall.files import whole_file
from closecall.parameters import read_names, read_number, read_path
from closecall.wording import FORMULA, NUMBER, counted, listed, no_formula, plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

# What Arrow and numpy raise for values that are no numbers, and with mappings for no columns.
NOT_NUMBERS = (NotImplementedError, TypeError, ValueError)
_NOT_COLUMNS = (ArithmeticError, AttributeError, LookupError, MemoryError, *NOT_NUMBERS)
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
_PARQUET_SUFFIXES = {".parquet", ".pq"}
_HELD_BYTES = 64 * 2**20  # of a pipe, which is copied to be read more than once; more goes to disk
_CHUNK_BYTES = 2**20
_HEAD_BYTES = 2**12  # by which text with a NUL in it is told from what is no text
_BLOCK_BYTES = 16 * 2**20  # that Arrow parses at a time; no line may be longer
_BYTES_PER_SAMPLE = 128  # that a curve takes beside the columns; a score takes less
_TYPES_HINT = "The types of a large file follow from its first 16 MB; write it as Parquet."
_DELIMITERS = ",;\t"
_GIGABYTE, _MOST_GIGABYTES = 2**30, 10**9
MEMORY = 2.0
"""How many gigabytes a file that is read whole may take, with what is computed from it."""


class TooLargeError(InputError):
    """A file needs more memory than it is allowed."""


def shown_name(source: str | PathLike[str]) -> str:
    """Return what messages call a source: the path as it was given, or ``standard input``."""
    name = str(read_path(source, "source"))
    return "standard input" if name == "-" else name


def read_table(
    source: str | PathLike[str],
    *,
    encoding: str = "utf-8",
    memory: float = MEMORY,
    text: Sequence[str] = (),
) -> pa.Table:
    r"""Read a CSV or Parquet file, plain or gzipped, whole; ``-`` is standard input.

    A CSV file whose first line holds only numbers and ISO times has no header: its columns are
    called ``column1``, ``column2`` and so on. Commas, semicolons and tabs separate columns. Times
    are ISO 8601; those with an offset are kept as instants in UTC.

    Parameters
    ----------
    source
        A path, or ``-``.
    encoding
        How the text of a CSV file is encoded, as Python calls it: ``"latin-1"``, ``"utf-16"``.
    memory
        How many gigabytes the table may take, with what is computed from it; a file that needs
        more is refused before it takes them, however small it is on disk.
    text
        Columns of a CSV file that are text, whatever they look like.

    Returns
    -------
    pyarrow.Table
        Every column of the file, in the file's order.

    Raises
    ------
    InputError
        The file is missing, empty, unreadable or too large; the message says which.
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
    imported("pyarrow")
    budget, names = read_memory(memory), read_names(text, "text")
    with opened(source) as file:
        return table_of(file, shown_name(source), encoding=encoding, budget=budget, text=names)[0]


def read_memory(memory: Any) -> int:
    """Read a number of gigabytes, and return the bytes."""
    rule = f"a number of gigabytes above 0 and up to {_MOST_GIGABYTES:,}"
    allowed = read_number(memory, "memory", rule, lambda x: 0 < x <= _MOST_GIGABYTES)
    return int(allowed * _GIGABYTE)


def memory_of(rows: int, columns: int) -> int:
    """Return about how many bytes a series takes, with what is computed from it."""
    return rows * (8 * columns + _BYTES_PER_SAMPLE)


def table_of(
    file: BinaryIO, name: str, *, encoding: str, budget: int, text: Sequence[str] = ()
) -> tuple[pa.Table, int]:
    """Read an open file whole; also return how many bytes it takes with what is computed of it."""
    start = file.read(8)
    file.seek(0)
    if not start:
        raise _empty(name)
    if start.startswith(PARQUET_MAGIC):
        return _parquet_table(file, name, budget)
    if Path(name).suffix in _PARQUET_SUFFIXES:
        raise _neither(name, start)
    lines = CsvText(file, name, encoding, budget)
    types = dict.fromkeys(text, imported("pyarrow").string())
    return lines.whole(types), lines.needed


def _neither(name: str, start: bytes) -> InputError:
    return InputError(
        f"{name} to be a CSV or Parquet file",
        f"bytes that start with {start!r}",
        hint="Save it as Parquet, or as CSV text in UTF-8; either may be gzipped. If it is text, "
        "say how it is encoded with `encoding='utf-16'`.",
    )


def write_table(columns: Mapping[str, Any], path: str | PathLike[str]) -> None:
    r"""Write columns of one length as Parquet if the path ends in ``.parquet``, else as CSV.

    In CSV, a text that begins with =, +, - or @ and is no number gets an apostrophe before it, so
    that no program for tables runs it as a formula.

    Parameters
    ----------
    columns
        Names and one-dimensional arrays.
    path
        Where to write, whole or not at all; an existing file is replaced. ``-`` is standard output,
        as CSV.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> write_table({"label": [0, 1], "predicted": [1, 1]}, path)
    >>> path.read_text()
    'label,predicted\n0,1\n1,1\n'
    """
    pa = arrow("pyarrow")
    try:
        # Arrow counts a range out one by one; numpy knows at once if it is too long.
        ranges = {
            name: np.asarray(values)
            for name, values in columns.items()
            if isinstance(values, range)
        }
        table = pa.table({**columns, **ranges})
    except _NOT_COLUMNS as error:
        rule = "to be a mapping from names to columns that Arrow can hold"
        raise InputTypeError(rule, first_line(error), argument="columns") from None
    place = read_path(path, "path")
    if str(place) == "-":
        if not sys.stdout.isatty():
            _write_csv(table, sys.stdout.buffer)
            return
        text = io.BytesIO()
        _write_csv(table, text)
        sys.stdout.write(plain_lines(text.getvalue().decode()))  # it obeys no name
        return
    with whole_file(place) as new, new.open("wb") as file:
        if place.suffix in _PARQUET_SUFFIXES:
            imported("pyarrow.parquet").write_table(table, file)
        else:
            _write_csv(table, file)


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    pyarrow, compute = imported("pyarrow"), imported("pyarrow.compute")
    arrow_csv = imported("pyarrow.csv")
    # Arrow quotes every column name; a plain header is easier on the reader.
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(map(no_formula, table.column_names))
    file.write(header.getvalue().encode())
    for place, field in enumerate(table.schema):
        if str(field.type) not in ("string", "large_string", "string_view"):
            continue
        column = table.column(place)
        quote, blank = (pyarrow.scalar(text, field.type) for text in ("'", ""))
        formula = compute.and_not(
            compute.match_substring_regex(column, FORMULA),
            compute.match_substring_regex(column, NUMBER),
        )
        safe = compute.if_else(
            formula, compute.binary_join_element_wise(quote, column, blank), column
        )
        table = table.set_column(place, field.name, safe)
    try:
        arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False))
    except (TypeError, ValueError) as error:  # those of Arrow are among them
        raise InputTypeError("columns that CSV can hold", first_line(error)) from None


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, categories or not."""
    return kind.value_type if imported("pyarrow").types.is_dictionary(kind) else kind


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema without categories."""
    return imported("pyarrow").schema([(one.name, value_type(one.type)) for one in schema])


def arrow(module: str) -> Any:
    """Import pyarrow, or one of its modules, where columns are converted by pyarrow itself."""
    loaded = imported(module)
    # Its first conversion would import pandas, and lose a Ctrl-C meanwhile.
    with suppress(ImportError):
        importlib.import_module("pandas")
    return loaded


def imported(module: str) -> Any:
    """Import pyarrow, or one of its modules, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "cli") from error


@contextmanager
def opened(source: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file, unpacked if it is gzipped; a pipe is copied, so that it can be read twice."""
    name = shown_name(source)
    with _seekable(source) as raw:
        packed = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        raw.seek(0)
        try:
            with gzip.GzipFile(fileobj=raw, mode="rb") if packed else raw as file:
                yield cast("BinaryIO", file)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{name} to be a whole gzip file", f"`{error}`") from error
        except OSError as error:
            what = error.strerror or first_line(error)
            raise InputError(f"to read {name}", f"`{what}`") from error


@contextmanager
def _seekable(source: str | PathLike[str]) -> Iterator[BinaryIO]:
    if str(source) == "-":
        with _copied(sys.stdin.buffer) as file:
            yield file
        return
    path = Path(source)
    try:
        raw = path.open("rb")
    except FileNotFoundError as error:
        raise InputError(f"a file at {path}", "none", hint=_nearby(path)) from error
    except IsADirectoryError as error:
        raise InputError(f"a file at {path}", "a folder") from error
    except (OSError, ValueError) as error:  # a name may hold what no path can
        got = getattr(error, "strerror", None) or str(error)
        raise InputError(f"to read {path}", f"`{got}`") from error
    with raw, raw if raw.seekable() else _copied(raw) as file:
        yield file


@contextmanager
def _copied(stream: BinaryIO) -> Iterator[BinaryIO]:
    with tempfile.SpooledTemporaryFile(_HELD_BYTES) as file:
        shutil.copyfileobj(stream, file, _CHUNK_BYTES)
        file.seek(0)
        yield cast("BinaryIO", file)


def _empty(name: str) -> InputError:
    hint = "Is the command before the pipe right?" if name == shown_name("-") else "Write it again."
    return InputError(f"{name} to hold a table", "an empty file", hint=hint)


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


def _parquet_table(file: BinaryIO, name: str, budget: int) -> tuple[pa.Table, int]:
    pyarrow, parquet = imported("pyarrow"), imported("pyarrow.parquet")
    if isinstance(file, io.BufferedReader):
        source = pyarrow.OSFile(file.name)  # as in `_arrow_buffer`, no file of Python's
    else:
        source = pyarrow.BufferReader(_arrow_buffer(file.read(budget + 1)))
        if source.size() > budget:
            raise too_large(name, budget, f"more than {budget / _GIGABYTE:.3g} GB unpacked")
    try:
        footer = parquet.read_metadata(source)
        needed = memory_of(footer.num_rows, footer.num_columns)
        if needed > budget:
            rows = f"{footer.num_rows:,} rows of {counted(footer.num_columns, 'column')}"
            got = f"{rows}, which take about {needed / _GIGABYTE:.3g} GB"
            raise too_large(name, budget, got)
        source.seek(0)
        # To read ahead only helps far files, and takes memory for all of the packed columns.
        table = parquet.read_table(source, pre_buffer=False)
        table.validate(full=True)  # text that is none would be found where it is used
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise damaged_parquet(name, error) from error
    return table, needed


def damaged_parquet(name: str, error: BaseException) -> InputError:
    """Return the error for a Parquet file that cannot be read, with Arrow's reason."""
    return InputError(
        f"{name} to be a whole Parquet file",
        f"`{first_line(error)}`",
        hint="Write it again, or leave it out; what is left of it does not tell what is lost.",
    )


def too_large(
    name: str,
    budget: int,
    got: str,
    hint: str = "Pass a larger `memory`, or evaluate it as a batch, which reads files in parts.",
) -> TooLargeError:
    """Return the error for what needs more memory than it is allowed."""
    rule = f"of {budget / _GIGABYTE:.3g} GB to be enough for {name}"
    return TooLargeError(rule, got, argument="memory", hint=hint)


class CsvText:
    """The lines of a CSV file in UTF-8, counted while they are read, by the thread that asks.

    Blank lines at either end mean nothing; inside, a blank line is a missing row. Text that is not
    in the encoding, a NUL and more than the budget of bytes raise, with the number of the line.
    """

    def __init__(self, file: BinaryIO, name: str, encoding: str, budget: int | None = None) -> None:
        self._file, self._name, self._budget = file, name, budget
        self._codec = text_codec(encoding)
        self._size = self._lines = self._per_line = 0
        self._chunks = self._read_chunks()
        start = b""
        for chunk in self._chunks:
            start = (start + chunk).removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            if b"\n" in start or b"\r" in start:
                break
            if len(start) > _BLOCK_BYTES:
                raise self._too_long()
        if not start.strip():
            raise _empty(name)
        self._start = start
        self._delimiter, fields, named = first_record(start, name)
        self._names = None if named else [f"column{place + 1}" for place in range(len(fields))]
        self._per_line = memory_of(1, len(fields))

    @property
    def needed(self) -> int:
        """How many bytes the lines so far take, with what is computed from them."""
        return 2 * self._size + self._lines * self._per_line

    def whole(self, types: Mapping[str, pa.DataType]) -> pa.Table:
        """Parse all lines at once, with types for some of the columns."""
        return self._parse(b"".join(self._blocks()), types, self._names)

    def parts(self, types: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
        """Parse some lines at a time; the first of them decide the types that are not given."""
        blocks = self._blocks()
        first = self._parse(next(blocks), types, self._names)
        yield first
        types = dict(zip(first.column_names, first.schema.types, strict=True))
        for block in blocks:
            yield self._parse(block, types, first.column_names, _TYPES_HINT)

    def _blocks(self) -> Iterator[bytes]:
        """Yield whole lines, about as many bytes at a time as Arrow parses."""
        parts, held = [self._start], len(self._start)
        for chunk in self._chunks:
            parts.append(chunk)
            held += len(chunk)
            if held >= _BLOCK_BYTES:
                text = b"".join(parts)
                # Line ends stay with what follows: at the end of the file they mean nothing.
                lines = text.rstrip(b"\r\n")
                end = max(lines.rfind(b"\n"), lines.rfind(b"\r")) + 1
                if end:
                    yield text[:end]
                elif held > 2 * _BLOCK_BYTES:
                    raise self._too_long()
                parts = [text[end:]]
                held = len(parts[0])
        yield b"".join(parts).rstrip(b"\r\n") + b"\n"

    def _read_chunks(self) -> Iterator[bytes]:
        """Yield the file in UTF-8, and count its lines."""
        decoder, as_is = self._codec.incrementaldecoder(), self._codec.name == "utf-8"
        raw = b"more"
        while raw:
            raw = self._file.read(_CHUNK_BYTES)
            if as_is and not self._size and _is_binary(raw[:_HEAD_BYTES]):
                raise _neither(self._name, raw[:8])
            try:
                text = decoder.decode(raw, final=not raw)
                chunk = raw if as_is else text.encode()
            except UnicodeError as error:
                before = raw[: getattr(error, "start", 0)].decode(self._codec.name, "ignore")
                raise self._bad_line(before.encode(errors="ignore"), f"`{error}`") from error
            if b"\0" in chunk:
                raise self._bad_line(chunk[: chunk.index(b"\0")], "a NUL")
            self._size += len(chunk)
            self._lines += _line_ends(chunk)
            if self._budget is not None and self.needed > self._budget:
                got = f"{self._lines:,} lines ({self._size / 2**20:,.0f} MB of text)"
                raise too_large(
                    self._name, self._budget, f"{got} that take it all, and more to come"
                )
            if chunk:
                yield chunk

    def _parse(
        self,
        text: bytes,
        types: Mapping[str, pa.DataType],
        names: Sequence[str] | None,
        hint: str = "Every line needs as many fields as the first one.",
    ) -> pa.Table:
        """Parse whole lines; without names the first line has them."""
        pyarrow, csv = imported("pyarrow"), imported("pyarrow.csv")
        buffer = _arrow_buffer(text)
        del text

        def parse(*, use_threads: bool) -> pa.Table:
            size = _BLOCK_BYTES + _CHUNK_BYTES
            return csv.read_csv(
                pyarrow.BufferReader(buffer),
                csv.ReadOptions(column_names=names, use_threads=use_threads, block_size=size),
                csv.ParseOptions(delimiter=self._delimiter, ignore_empty_lines=False),
                csv.ConvertOptions(column_types=dict(types)),
            )

        try:
            return parse(use_threads=True)
        except MemoryError:
            raise
        except pyarrow.ArrowException:
            pass
        try:
            # Only the serial reader knows the row of what it cannot parse.
            return parse(use_threads=False)
        except pyarrow.ArrowException as error:
            rule = f"{self._name} to be a CSV file"
            raise InputError(rule, f"`{first_line(error)}`", hint=hint) from error

    def _too_long(self) -> InputError:
        rule = f"the lines of {self._name} to be shorter than {_BLOCK_BYTES >> 20} MB"
        return InputError(rule, "a longer one", hint="Is it a CSV file?")

    def _bad_line(self, before: bytes, got: str) -> InputError:
        hint = "Say how it is encoded, such as `encoding='latin-1'`, or write it anew in UTF-8."
        line = self._lines + _line_ends(before) + 1
        rule = f"{self._name} to be text in {self._codec.name}"
        return InputError(rule, f"{got} in line {line}", hint=hint)


def text_codec(encoding: Any) -> codecs.CodecInfo:
    """Return how Python decodes text; raise if it does not know the name."""
    if not isinstance(encoding, str):
        raise InputTypeError("to be a name", shown(encoding), argument="encoding")
    hint = "Pass a name that Python knows, such as 'utf-8', 'latin-1' or 'utf-16'."
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)  # raises for codecs of bytes, such as gzip's
    except (LookupError, ValueError) as error:
        raise InputError(
            "to be an encoding of text", f"{encoding!r:.80}", argument="encoding", hint=hint
        ) from error
    return codec


def _is_binary(head: bytes) -> bool:
    """Return whether bytes are no text in UTF-8 with a NUL here and there."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeError:
        return b"\0" in head
    return 8 * head.count(b"\0") > len(head)


def _line_ends(text: bytes) -> int:
    return max(text.count(b"\n"), text.count(b"\r"))


def _arrow_buffer(content: bytes) -> pa.Buffer:
    """Copy bytes to memory of Arrow's."""
    # Memory of Python's its threads may let go while Python ends, which aborts the process.
    buffer = imported("pyarrow").allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return buffer


def first_record(content: bytes, name: str) -> tuple[str, list[str], bool]:
    r"""Return what separates columns, the fields of the first line, and whether these are names.

    The separator is the one that occurs most often, and a comma if none does. Fields that are all
    numbers and ISO times are no names.

    >>> first_record(b'time;"a, b";c\n1;0;2\n', "data.csv")
    (';', ['time', 'a, b', 'c'], True)
    >>> first_record(b"0\n1\n", "data.csv")
    (',', ['0'], False)
    """
    line = content.partition(b"\n")[0].partition(b"\r")[0].decode("utf-8", errors="replace")
    separator = max(_DELIMITERS, key=line.count)
    try:
        fields = next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        rule = f"{name} to begin with a line of names or values"
        raise InputError(rule, f"`{error}`", hint="Is it a CSV file?") from error
    return separator, fields, not all(map(_is_value, fields))


def _is_value(field: str) -> bool:
    """Whether a field is a number or an ISO time, and so no name."""
    with suppress(ValueError):
        float(field)
        return True
    return is_iso_time(field)


def is_iso_time(text: str) -> bool:
    """Return whether a text is an ISO time."""
    with suppress(ValueError):
        datetime.fromisoformat(text.strip())
        return True
    return False


def no_column(
    name: str, columns: list[str], argument: str, table: str, listing: str = ""
) -> InputError:
    """Return the error for a name that no column of a table has, or several have."""
    rule, count = f"`{argument}` to name a column of {table}", columns.count(name)
    if count > 1:
        return InputError(rule, f"{name!r}, which {count} columns are called")
    return InputError(rule, repr(name), hint=nearest_column(name, columns, listing))


def nearest_column(name: str, columns: list[str], listing: str = "") -> str:
    """Return the hint for a name that is no column; it ends with a list of those that are."""
    close = difflib.get_close_matches(name, columns, n=1)
    suggestion = f"Did you mean {close[0]!r}? " if close else ""
    return suggestion + (listing or f"Its columns are: {listed(columns)}.")

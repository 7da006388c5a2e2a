"""CSV files: small ones are read whole, large ones are streamed; keys are text in both."""

from __future__ import annotations

import io
import sys
from csv import Error
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected, first_line
from closecall.tables.reading import (
    arrow,
    column_names,
    delimiter,
    first_record,
    read_table,
    shown_name,
)
from closecall.tables.sources.dataframes import spooled_source
from closecall.tables.sources.memory import group, memory_source
from closecall.tables.sources.paths import (
    Damage,
    files_fingerprint,
    is_stream,
    size_of,
    vacant_units,
)
from closecall.tables.sources.source import TemporaryFolder, needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources.paths import DataFile
    from closecall.tables.sources.source import Source, UnitSize

_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_MARK = b"\xef\xbb\xbf"  # some editors begin text with it


def read_with_text_keys(path: str, by: Sequence[str]) -> pa.Table:
    """Read a file as `read_table` does, but the key columns of CSV as text; ``-`` works too."""
    if is_stream(path):
        return _kept(path, by)
    table = read_table(path)
    types = arrow("pyarrow").types
    guessed = [
        name
        for name in by
        if table.column_names.count(name) == 1
        and not types.is_string(table.schema.field(name).type)
    ]
    return _as_text(table, path, guessed) if guessed else table


def compression_of(path: str) -> str | None:
    """Whether a file is gzipped, as Arrow calls it."""
    with Path(path).open("rb") as file:
        return "gzip" if file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC else None


def _kept(path: str, by: Sequence[str]) -> pa.Table:
    """Keep what comes in a file, since keys may have to be read once more."""
    folder = TemporaryFolder()
    kept = folder.path / "input"
    kept.write_bytes(sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes())
    try:
        return read_with_text_keys(str(kept), by)
    except InputError as error:
        raise InputError(str(error).replace(str(kept), shown_name(path))) from error


def _as_text(table: pa.Table, path: str, names: Sequence[str]) -> pa.Table:
    """Read columns once more, since a number does not tell how it was written."""
    pyarrow, csv = arrow("pyarrow"), arrow("pyarrow.csv")
    with pyarrow.input_stream(path, compression=compression_of(path)) as stream:
        content = stream.read()
    if content.startswith(_PARQUET_MAGIC):
        return table
    # The same lines as in `read_table`, where a blank one inside is a missing value.
    lines = content.removeprefix(_MARK).strip(b"\r\n") + b"\n"
    separator = delimiter(lines)
    texts = csv.read_csv(
        io.BytesIO(lines),
        read_options=csv.ReadOptions(column_names=column_names(first_record(lines, separator))),
        parse_options=csv.ParseOptions(delimiter=separator, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            include_columns=list(names), column_types=dict.fromkeys(names, pyarrow.string())
        ),
    )
    for name in names:
        table = table.set_column(table.column_names.index(name), name, texts.column(name))
    return table


_WHOLE_BYTES = 64 * 2**20
_BLOCK_BYTES = 16 * 2**20
_HEAD_BYTES = 2**16


def csv_source(
    files: Sequence[DataFile],
    options: BatchOptions,
    *,
    name: str,
    size: UnitSize | None = None,
    whole_bytes: int = _WHOLE_BYTES,
) -> Source:
    """Make a source of CSV files, plain or gzipped; ``-`` is standard input.

    Key columns are text, exactly as it stands in the files; a folder's name is a number if all
    of its kind are.
    """
    if len(files) == 1 and is_stream(files[0].path):
        table = read_with_text_keys(files[0].path, options.by)
        return memory_source(table, options, kind="arrow", name=name, size=size)
    fingerprint = files_fingerprint(files)
    filled: set[DataFile] = set()
    damage = Damage(options.by)
    if sum(size_of(file) for file in files) > whole_bytes:
        source = spooled_source(
            _all_streamed(files, options, filled),
            options,
            kind="arrow",
            name=name,
            size=size,
            fingerprint=fingerprint,
        )
    else:
        tables = _all_read(files, options, name, damage)
        filled.update(file for file, table in tables.items() if table.num_rows)
        source = memory_source(
            _joined(tables),
            options,
            kind="arrow",
            name=name,
            size=size,
            fingerprint=fingerprint,
        )
    known = filled | damage.reasons.keys()
    vacant = [file for file in files if file not in known]
    others = [
        *vacant_units(vacant, known, source.schema, options.by),
        *damage.units(files),
    ]
    return replace(source, plan=lambda: [*source.units(), *others])


def _all_read(
    files: Sequence[DataFile], options: BatchOptions, name: str, damage: Damage
) -> dict[DataFile, pa.Table]:
    """Read the files whole, and note those that cannot be, as `read_footers` does."""
    tables: dict[DataFile, pa.Table] = {}
    for file in files:
        try:
            table = _with_folders(_read(file.path, options.by), file)
        except InputError as error:
            damage.note(file, str(error))
            continue
        own_name = name if len(files) == 1 else file.path
        tables[file] = table.select(needed_columns(table.column_names, options, own_name))
    for file, reason in _with_text(tables, options).items():
        damage.note(file, reason)
    if not damage.reasons:
        return tables
    spared = damage.spared(tables, lambda file: group(tables[file], options.by).keys)
    return {file: own for file, own in tables.items() if file in spared}


def _read(path: str, by: Sequence[str]) -> pa.Table:
    """Read a file; whatever is wrong with its text is an `InputError`."""
    try:
        return read_with_text_keys(path, by)
    except InputError:
        raise
    except (ValueError, OSError, Error) as error:  # Arrow's and Unicode's errors are values
        rule = f"{path} to be a CSV file in UTF-8"
        hint = "Look for bytes that are no text, or write the file anew in UTF-8."
        raise InputError(expected(rule, f"`{first_line(error)}`", hint)) from error


def _with_text(tables: Mapping[DataFile, pa.Table], options: BatchOptions) -> dict[DataFile, str]:
    """Find the files with text in a column that holds numbers in another file."""
    is_text = arrow("pyarrow").types.is_string
    found: dict[DataFile, str] = {}
    for column in options.columns[len(options.by) + (options.time is not None) :]:
        text = [file for file, table in tables.items() if is_text(table.schema.field(column).type)]
        numbers = [file for file in tables if file not in text and tables[file].num_rows]
        for file in text if numbers else ():
            rule = f"column {column!r} of {file.path} to hold numbers, as in {numbers[0].path}"
            hint = "Look for a line with other text in that column, and correct it."
            found.setdefault(file, expected(rule, "text", hint))
    return found


def _with_folders(table: pa.Table, file: DataFile) -> pa.Table:
    for part in file.partitions:
        if part.name in table.column_names:
            table = table.drop_columns([part.name])
        table = table.append_column(part.name, part.column(table.num_rows))
    return table


def _joined(tables: Mapping[DataFile, pa.Table]) -> pa.Table:
    """Put the files below each other; whole numbers in one may be fractions in another."""
    pyarrow = arrow("pyarrow")
    first, *others = tables
    joined = tables[first]
    for file in others:
        try:
            joined = pyarrow.concat_tables([joined, tables[file]], promote_options="permissive")
        except pyarrow.ArrowException as error:
            raise InputError(
                expected(
                    f"the columns of {file.path} to have the types of {first.path}",
                    f"`{first_line(error)}`",
                    "Write the files anew, with one kind of values in each column.",
                )
            ) from error
    return joined


def _all_streamed(
    files: Sequence[DataFile], options: BatchOptions, filled: set[DataFile]
) -> Iterator[pa.Table]:
    """Yield the rows of all files, and note which have any; without any, only the columns."""
    nothing: pa.Table | None = None
    for file in files:
        for table in _streamed(file, options):
            if table.num_rows:
                filled.add(file)
                yield table
            else:
                nothing = table
    if not filled and nothing is not None:
        yield nothing


def _streamed(file: DataFile, options: BatchOptions) -> Iterator[pa.Table]:
    pyarrow, csv = arrow("pyarrow"), arrow("pyarrow.csv")
    compression = compression_of(file.path)
    head = _head(file.path, compression)
    separator = delimiter(head)
    reading = csv.ReadOptions(
        column_names=column_names(first_record(head, separator)), block_size=_BLOCK_BYTES
    )
    # Scores may begin with whole numbers, so their type does not follow from the first block.
    converting = csv.ConvertOptions(column_types=_known_types(options))
    try:
        with pyarrow.input_stream(file.path, compression=compression) as stream:
            reader = csv.open_csv(
                stream,
                read_options=reading,
                parse_options=csv.ParseOptions(delimiter=separator),
                convert_options=converting,
            )
            yield _with_folders(reader.schema.empty_table(), file)
            for batch in reader:
                yield _with_folders(pyarrow.Table.from_batches([batch]), file)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            expected(
                f"{file.path} to be a CSV file with one type in each column",
                f"`{first_line(error)}`",
                "The types follow from the first 16 MB of a large file; write it as Parquet.",
            )
        ) from error


def _known_types(options: BatchOptions) -> dict[str, Any]:
    pyarrow = arrow("pyarrow")
    scores = dict.fromkeys(options.scores, pyarrow.float64())
    return {**scores, **dict.fromkeys(options.by, pyarrow.string())}


def _head(path: str, compression: str | None) -> bytes:
    with arrow("pyarrow").input_stream(path, compression=compression) as stream:
        content = bytes(stream.read(_HEAD_BYTES))
    return content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")

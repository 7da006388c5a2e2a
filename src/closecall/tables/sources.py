"""Anything tabular in, units of whole series out: dataframes, CSV files and Parquet files."""

from __future__ import annotations

import hashlib
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from closecall.errors import InputError, InputTypeError, first_line
from closecall.tables import units
from closecall.tables.data_files import (
    DataFile,
    TemporaryFolder,
    files_fingerprint,
    is_parquet,
    is_stream,
    list_files,
)
from closecall.tables.reading import (
    PARQUET_MAGIC,
    CsvText,
    TooLargeError,
    arrow,
    opened,
    plain_schema,
    shown_name,
    table_of,
)
from closecall.tables.units import (
    TableRows,
    UnitSource,
    copied,
    needed_columns,
    parquet_rows,
    plan_source,
    rows_of_unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.units import Kind, Rows

WHOLE_BYTES = 192 * 2**20
"""That CSV files may take in memory, as text and as columns."""
_DATA = "`data`"
_KINDS: dict[str, Kind] = {"pandas": "pandas", "dask": "pandas", "polars": "polars"}


def open_source(data: Any, options: BatchOptions) -> UnitSource:
    """Open a table or files, to be read in units of whole series."""
    arrow("pyarrow")
    if not isinstance(data, (str, PathLike, list, tuple)):
        if options.series is not None:
            raise InputTypeError("files beside `series`", f"a {type(data).__name__}")
        return dataframe_source(data, options)
    files = list_files(data, options.series)
    name = f"{len(files)} files" if isinstance(data, (list, tuple)) else shown_name(data)
    if len(files) > 1 and not options.by and options.series is None:
        rule = f"to know which series each of {len(files)} files holds"
        hint = (
            "If each file is a series, pass `series='filename'`; if a column tells series apart, "
            "`by='COLUMN'`; if all files are one series, `series='one'`."
        )
        raise InputError(rule, "neither `by` nor `series`", hint=hint)
    kinds = [is_parquet(file, alone=len(files) == 1) for file in files]
    if any(kinds) and not all(kinds):
        rule = f"the files of {name} to be of one kind"
        got = f"{files[0].path} and {files[kinds.index(not kinds[0])].path}"
        hint = "Pass a glob, such as 'folder/*.parquet'."
        raise InputError(rule, got, hint=hint)
    if kinds[0]:
        errors: dict[DataFile, InputError] = {}
        contents = parquet_rows(files, options, errors)
        fingerprint = partial(files_fingerprint, files)
        source = plan_source(contents, options, name=name, fingerprint=fingerprint, errors=errors)
    else:
        source = csv_source(files, options, name=name)
    places = data if isinstance(data, (list, tuple)) else [data]
    return replace(source, paths=(*map(fspath, places), *(file.path for file in files)))


def dataframe_source(data: Any, options: BatchOptions) -> UnitSource:
    """Make a source of a dataframe: pandas, polars, pyarrow, DuckDB, Dask, or narwhals' others.

    Lazy frames, DuckDB relations and readers are streamed, and a Dask dataframe is computed one
    partition at a time; what does not fit in memory goes to a temporary file. Lazy frames of other
    packages, and of polars before 1.34, are collected.
    """
    pyarrow = arrow("pyarrow")
    if type(data).__module__.startswith("narwhals."):
        data = data.to_native()
    package = type(data).__module__.partition(".")[0].lstrip("_")
    package = "dask" if package.startswith("dask") else package
    has_columns = hasattr(type(data), "columns") and not (package == "dask" and data.ndim == 1)
    if package in ("pandas", "dask", "polars", "duckdb") and not has_columns:
        raise _no_table(data)
    kind = _KINDS.get(package, "arrow")
    rows = _rows(data, package, options)
    if isinstance(rows, pyarrow.Table):
        return _table_source(rows, options, kind)
    parts, held, values = _same_schema(rows, options), [], 0
    for part in parts:
        held.append(part)
        values += part.num_rows * part.num_columns
        if values > units.HELD:
            copy = copied(chain(held, parts), options.by, rows_of_unit(part.num_columns))
            errors: dict[DataFile, InputError] = {}
            contents = parquet_rows([copy], options, errors)
            return plan_source(contents, options, name=_DATA, kind=kind, errors=errors)
    return _table_source(pyarrow.concat_tables(held), options, kind)


def _table_source(table: pa.Table, options: BatchOptions, kind: Kind) -> UnitSource:
    content = TableRows(_needed_table(table, options, _DATA))
    return plan_source([content], options, name=_DATA, kind=kind)


def _needed_table(table: pa.Table, options: BatchOptions, name: str) -> pa.Table:
    columns = needed_columns(table.column_names, options, name)
    return table.select(columns).replace_schema_metadata(None)


def _same_schema(tables: Iterable[pa.Table], options: BatchOptions) -> Iterator[pa.Table]:
    """Keep the columns that are needed, of the types that they have in the first part."""
    pyarrow = arrow("pyarrow")
    schema: Any = None
    for table in tables:
        part = _needed_table(table, options, _DATA)
        schema = schema or plain_schema(part.schema)
        try:
            yield part.cast(schema)
        except pyarrow.ArrowException as error:
            rule = f"all parts of {_DATA} to have one schema"
            raise InputError(rule, f"`{first_line(error)}`") from error


def _pandas_table(frame: Any, options: BatchOptions) -> pa.Table:
    """Convert a pandas frame; a nan among numbers stays nan, and one among keys is missing."""
    pyarrow = arrow("pyarrow")
    columns = {}
    for name in frame.columns:
        series = frame[name]
        keep = name not in options.by and str(series.dtype) in {"float64", "float32"}
        try:
            columns[name] = (
                pyarrow.array(series.to_numpy()) if keep else pyarrow.Array.from_pandas(series)
            )
        except (pyarrow.ArrowException, OverflowError, UnicodeError) as error:
            rule = f"column {name!r} of {_DATA} to hold values of one kind"
            raise InputError(rule, f"`{first_line(error)}`") from error
    return pyarrow.table(columns)


def _rows(data: Any, package: str, options: BatchOptions) -> pa.Table | Iterator[pa.Table]:
    """Return the needed columns of a dataframe: at once, or part by part if it is lazy."""
    if package == "pandas":
        return _pandas_table(data[needed_columns(data.columns, options, _DATA)], options)
    if package == "dask":
        chosen = data[needed_columns(data.columns, options, _DATA)]
        partitions = (chosen.partitions[number].compute() for number in range(data.npartitions))
        return (_pandas_table(frame, options) for frame in partitions)
    if package == "duckdb":
        names = needed_columns(data.columns, options, _DATA)
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        data = data.project(", ".join(quoted)).arrow()
    elif package == "pyarrow" and hasattr(data, "scanner"):  # a dataset, which reads files itself
        names = needed_columns(data.schema.names, options, _DATA)
        data = data.scanner(columns=names).to_reader()
    elif hasattr(data, "collect_batches"):
        return _polars_batches(data, options)
    return data if isinstance(data, arrow("pyarrow").Table) else _from_any(data, options)


def _polars_batches(lazy: Any, options: BatchOptions) -> Iterator[pa.Table]:
    """Collect a lazy frame part by part; its columns alone come first, if it has no rows."""
    lazy = lazy.select(needed_columns(lazy.collect_schema().names(), options, _DATA))
    yield lazy.head(0).collect().to_arrow()
    for frame in lazy.collect_batches(maintain_order=True, lazy=True, engine="streaming"):
        yield frame.to_arrow()


def _from_any(data: Any, options: BatchOptions) -> pa.Table | Iterator[pa.Table]:
    """Let narwhals try, and then Arrow's own protocol for tables."""
    import narwhals as nw

    pyarrow = arrow("pyarrow")
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        names = needed_columns(frame.collect_schema().names(), options, _DATA)
        frame = frame.select(names).collect("pyarrow")
    if isinstance(frame, nw.DataFrame):
        return frame.select(needed_columns(frame.columns, options, _DATA)).to_arrow()
    if not hasattr(data, "__arrow_c_stream__"):
        raise _no_table(data)
    try:
        return _streamed(pyarrow.RecordBatchReader.from_stream(data))
    except pyarrow.ArrowInvalid as error:  # one column speaks the protocol as well
        raise _no_table(data) from error


def _no_table(data: Any) -> InputTypeError:
    rule = "to be a dataframe, or the path of a Parquet or CSV file"
    hint = "Pass a pandas, polars, pyarrow, DuckDB or Dask frame, a path, a glob or a folder."
    return InputTypeError(rule, type(data).__name__, argument="data", hint=hint)


def _streamed(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield the schema alone first, so that a reader without batches is a table without rows."""
    yield reader.schema.empty_table()
    for batch in reader:
        yield arrow("pyarrow").Table.from_batches([batch])


def csv_source(files: Sequence[DataFile], options: BatchOptions, *, name: str) -> UnitSource:
    """Make a source of CSV files, plain or gzipped; ``-`` is standard input.

    Key columns are text, exactly as it stands in the files; a folder's name is a number if all
    of its kind are. What the files hold decides whether they are read whole, and not their size
    on disk; larger ones are copied to Parquet, part by part.
    """
    if len(files) == 1 and is_stream(files[0].path):
        return _kept(files[0].path, options, name)
    fingerprint = files_fingerprint(files)
    errors: dict[DataFile, InputError] = {}
    contents: Iterable[Rows]
    try:
        contents = _read_whole(files, options, errors)
    except TooLargeError:
        errors.clear()
        contents = parquet_rows(_copied_parts(files, options, errors), options, errors)
    return plan_source(contents, options, name=name, fingerprint=lambda: fingerprint, errors=errors)


def _kept(given: str, options: BatchOptions, name: str) -> UnitSource:
    """Keep what comes in a file, and know it by its content."""
    folder = TemporaryFolder()
    path = folder.path / "input"
    standard = nullcontext(sys.stdin.buffer) if given == "-" else None
    with path.open("wb") as file, standard or Path(given).open("rb") as stream:
        shutil.copyfileobj(stream, file)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    copy = DataFile(str(path), given_as=shown_name(given))
    return replace(csv_source([copy], options, name=name), fingerprint=lambda: f"text:{digest}")


def _read_whole(
    files: Sequence[DataFile], options: BatchOptions, errors: dict[DataFile, InputError]
) -> list[TableRows]:
    """Read the files whole, with one type in each column, and note why some of them cannot be."""
    tables: dict[DataFile, pa.Table] = {}
    budget = WHOLE_BYTES
    for file in files:
        try:
            with opened(file.path) as content:
                table, needed = table_of(
                    content, file.name, encoding=options.encoding, budget=budget, text=options.by
                )
        except TooLargeError:
            raise
        except InputError as error:
            errors[file] = error
            continue
        budget -= needed
        tables[file] = _needed_table(file.complete(table), options, file.name)
    errors |= _with_text(tables, options)
    good = {file: table for file, table in tables.items() if file not in errors}
    schema: Any = joined_files(good).schema if good else None
    return [TableRows(table.cast(schema), file) for file, table in good.items()]


def _with_text(
    tables: Mapping[DataFile, pa.Table], options: BatchOptions
) -> dict[DataFile, InputError]:
    """Find the files with text in a column that holds numbers in another file."""
    is_text = arrow("pyarrow").types.is_string
    found: dict[DataFile, InputError] = {}
    for column in options.columns[len(options.by) + (options.time is not None) :]:
        text = [file for file, table in tables.items() if is_text(table.schema.field(column).type)]
        numbers = [file for file in tables if file not in text and tables[file].num_rows]
        for file in text if numbers else ():
            rule = f"column {column!r} of {file.name} to hold numbers, as in {numbers[0].name}"
            hint = "Look for a line with other text in that column, and correct it."
            found.setdefault(file, InputError(rule, "text", hint=hint))
    return found


def joined_files(tables: Mapping[DataFile, pa.Table]) -> pa.Table:
    """Put the files below each other; whole numbers in one may be fractions in another."""
    pyarrow = arrow("pyarrow")
    first, *others = tables
    joined = tables[first]
    for file in others:
        try:
            joined = pyarrow.concat_tables([joined, tables[file]], promote_options="permissive")
        except pyarrow.ArrowException as error:
            rule = f"the columns of {file.name} to have the types of {first.name}"
            hint = "Write the files anew, with one kind of values in each column."
            raise InputError(rule, f"`{first_line(error)}`", hint=hint) from error
    return joined


def _copied_parts(
    files: Sequence[DataFile], options: BatchOptions, errors: dict[DataFile, InputError]
) -> Iterator[DataFile]:
    """Copy the files to Parquet, part by part, and note why some of them cannot be."""
    string, number = arrow("pyarrow").string(), arrow("pyarrow").float64()
    # Scores may begin with whole numbers, so their type does not follow from the first block.
    types = {**dict.fromkeys(options.scores, number), **dict.fromkeys(options.by, string)}
    for file in files:
        parts = _parts(file, options.encoding, types, errors)
        first = next(parts, None)
        if first is None:
            continue
        needed = needed_columns(file.complete(first).column_names, options, file.name)
        tables = (file.complete(part).select(needed) for part in chain([first], parts))
        copy = copied(tables, options.by, rows_of_unit(len(needed)), file)
        if first.num_rows:  # the other files have the types of the first one
            names = [name for name in needed if name not in file.partitions]
            types |= {name: first.schema.field(name).type for name in names}
        if file not in errors:
            yield copy


def _parts(
    file: DataFile,
    encoding: str,
    types: Mapping[str, pa.DataType],
    errors: dict[DataFile, InputError],
) -> Iterator[pa.Table]:
    """Yield the rows part by part, up to where the file cannot be read, and note why."""
    try:
        with opened(file.path) as content:
            _refuse_parquet(content, file.name)
            yield from CsvText(content, file.name, encoding).parts(types)
    except InputError as error:
        errors[file] = error


def _refuse_parquet(content: BinaryIO, name: str) -> None:
    """Raise for gzipped Parquet, which cannot be read part by part."""
    if content.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC:
        hint = "Unpack it: Parquet is packed inside."
        raise InputError(f"{name} to be plain Parquet, since it is large", "gzip", hint=hint)
    content.seek(0)

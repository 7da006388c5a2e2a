"""Anything tabular in, units of whole series out: dataframes, CSV files and Parquet files."""

from __future__ import annotations

import hashlib
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError, first_line
from closecall.tables import units
from closecall.tables.data_files import (
    DataFile,
    files_fingerprint,
    is_parquet,
    is_stream,
    list_files,
)
from closecall.tables.grouping import group
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
    TemporaryFolder,
    UnitSource,
    copied_source,
    memory_source,
    needed_columns,
    parquet_source,
    readable_files,
    rows_of_unit,
    with_other_files,
    write_in_row_groups,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.units import Kind

WHOLE_BYTES = 192 * 2**20
"""That CSV files may take in memory, as text and as columns."""
_DATA = "`data`"
Found = tuple["pa.Table | Iterator[pa.Table]", "Kind"]  # rows in memory, or part by part


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
        source = parquet_source(files, options, name=name)
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
    package = type(data).__module__.partition(".")[0]
    package = "dask" if package.startswith("dask") else package
    has_columns = hasattr(type(data), "columns") and not (package == "dask" and data.ndim == 1)
    if package in _WITH_COLUMNS and not has_columns:
        raise _no_table(data)
    rows, kind = _READERS.get(package, _from_any)(data, options)
    if isinstance(rows, pyarrow.Table):
        return memory_source(rows, options, kind=kind, name=_DATA)
    parts, held, values = _same_schema(rows, options), [], 0
    for part in parts:
        held.append(part)
        values += part.num_rows * part.num_columns
        if values > units.HELD:
            return copied_source(chain(held, parts), options, kind=kind, name=_DATA)
    return memory_source(pyarrow.concat_tables(held), options, kind=kind, name=_DATA)


def _same_schema(tables: Iterable[pa.Table], options: BatchOptions) -> Iterator[pa.Table]:
    """Keep the columns that are needed, of the types that they have in the first part."""
    pyarrow = arrow("pyarrow")
    schema: Any = None
    for table in tables:
        columns = needed_columns(table.column_names, options, _DATA)
        part = table.select(columns).replace_schema_metadata(None)
        schema = schema or plain_schema(part.schema)
        try:
            yield part.cast(schema)
        except pyarrow.ArrowException as error:
            rule = f"all parts of {_DATA} to have one schema"
            raise InputError(rule, f"`{first_line(error)}`") from error


def _needed(names: Iterable[Any], options: BatchOptions) -> list[str]:
    return needed_columns(map(str, names), options, _DATA)


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


def _from_polars(data: Any, options: BatchOptions) -> Found:
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        lazy = data.select(_needed(data.collect_schema().names(), options))
        if hasattr(lazy, "collect_batches"):
            return _batches(lazy), "polars"
        frame = lazy.collect(engine="streaming")
    else:
        frame = data.select(_needed(data.columns, options))
    return frame.to_arrow(), "polars"


def _batches(lazy: Any) -> Iterator[pa.Table]:
    """Collect a lazy frame part by part; its columns alone come first, if it has no rows."""
    yield lazy.head(0).collect().to_arrow()
    for frame in lazy.collect_batches(maintain_order=True, lazy=True, engine="streaming"):
        yield frame.to_arrow()


def _from_pyarrow(data: Any, options: BatchOptions) -> Found:
    pyarrow = arrow("pyarrow")
    if isinstance(data, pyarrow.RecordBatch):
        data = pyarrow.Table.from_batches([data])
    if isinstance(data, pyarrow.Table):
        return data, "arrow"
    if isinstance(data, pyarrow.RecordBatchReader):
        return _streamed(data), "arrow"
    if hasattr(data, "scanner"):  # a dataset, which reads files on its own
        names = _needed(data.schema.names, options)
        return _streamed(data.scanner(columns=names).to_reader()), "arrow"
    return _from_any(data, options)


def _from_duckdb(data: Any, options: BatchOptions) -> Found:
    names = _needed(data.columns, options)
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    # Older versions give a table here, newer ones a reader of batches.
    return _from_pyarrow(data.project(", ".join(quoted)).arrow(), options)


def _from_dask(data: Any, options: BatchOptions) -> Found:
    chosen = data[_needed(data.columns, options)]
    partitions = (chosen.partitions[number].compute() for number in range(data.npartitions))
    return (_pandas_table(frame, options) for frame in partitions), "pandas"


def _from_any(data: Any, options: BatchOptions) -> Found:
    """Let narwhals try, and then Arrow's own protocol for tables."""
    import narwhals as nw

    pyarrow = arrow("pyarrow")
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.select(_needed(frame.collect_schema().names(), options)).collect("pyarrow")
    if isinstance(frame, nw.DataFrame):
        return frame.select(_needed(frame.columns, options)).to_arrow(), "arrow"
    if not hasattr(data, "__arrow_c_stream__"):
        raise _no_table(data)
    try:
        return _streamed(pyarrow.RecordBatchReader.from_stream(data)), "arrow"
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


_READERS: dict[str, Callable[[Any, BatchOptions], Found]] = {
    "pandas": lambda data, options: (
        _pandas_table(data[_needed(data.columns, options)], options),
        "pandas",
    ),
    "polars": _from_polars,
    "pyarrow": _from_pyarrow,
    "duckdb": _from_duckdb,
    "_duckdb": _from_duckdb,
    "dask": _from_dask,
}
_WITH_COLUMNS = _READERS.keys() - {"pyarrow"}


def csv_source(files: Sequence[DataFile], options: BatchOptions, *, name: str) -> UnitSource:
    """Make a source of CSV files, plain or gzipped; ``-`` is standard input.

    Key columns are text, exactly as it stands in the files; a folder's name is a number if all
    of its kind are. What the files hold decides whether they are read whole, and not their size
    on disk.
    """
    if len(files) == 1 and is_stream(files[0].path):
        return _kept(files[0].path, options, name)
    fingerprint = files_fingerprint(files)
    errors: dict[DataFile, InputError] = {}
    try:
        tables = _all_read(files, options, name, errors)
    except TooLargeError:
        return _copied_csv(files, options, name, fingerprint)
    errors |= _with_text(tables, options)
    readable = [*tables]
    if errors:
        good = {file: table for file, table in tables.items() if file not in errors}
        keys = {file: group(table, options.by).keys for file, table in good.items()}
        readable = readable_files(keys, errors, options.by)
    joined = joined_files({file: tables[file] for file in readable})
    source = memory_source(joined, options, name=name, fingerprint=fingerprint)
    filled = [file for file in readable if tables[file].num_rows]
    return with_other_files(source, files, filled, errors, options.by)


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


def _all_read(
    files: Sequence[DataFile], options: BatchOptions, name: str, errors: dict[DataFile, InputError]
) -> dict[DataFile, pa.Table]:
    """Read the files whole, and note why some of them cannot be."""
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
        table = with_folders(table, file)
        shown = name if len(files) == 1 else file.name
        tables[file] = table.select(needed_columns(table.column_names, options, shown))
    return tables


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


def with_folders(table: pa.Table, file: DataFile) -> pa.Table:
    """Add the columns that the names of folders and files give."""
    for part in file.partitions:
        if part.name in table.column_names:
            table = table.drop_columns([part.name])
        table = table.append_column(part.name, part.column(table.num_rows))
    return table


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


def _copied_csv(
    files: Sequence[DataFile], options: BatchOptions, name: str, fingerprint: str
) -> UnitSource:
    """Copy the files to Parquet, part by part, and note those that cannot be read."""
    string, number = arrow("pyarrow").string(), arrow("pyarrow").float64()
    # Scores may begin with whole numbers, so their type does not follow from the first block.
    types = {**dict.fromkeys(options.scores, number), **dict.fromkeys(options.by, string)}
    folder = TemporaryFolder()
    copies: list[DataFile] = []
    errors: dict[DataFile, InputError] = {}
    for place, file in enumerate(files):
        path = folder.path / str(place) / Path(file.path).name
        path.parent.mkdir()
        parts = _until_damaged(_csv_parts(file, options.encoding, types, path), file, errors)
        first = next(parts, None)
        if first is not None:
            folders = [part.name for part in file.partitions]
            stored = [column for column in first.column_names if column not in folders]
            shown = name if len(files) == 1 else file.name
            needed = needed_columns([*stored, *folders], options, shown)
            columns = [column for column in needed if column not in folders]
            tables = (table.select(columns) for table in chain([first], parts))
            write_in_row_groups(path, tables, rows_of_unit(len(columns)), options.by)
            if first.num_rows:  # the other files have the types of the first one
                types |= {column: first.schema.field(column).type for column in columns}
        if file not in errors:
            copies.append(DataFile(str(path), file.partitions, file.name))
    return parquet_source(
        copies, options, name=name, fingerprint=lambda: fingerprint, folder=folder, damaged=errors
    )


def _until_damaged(
    tables: Iterable[pa.Table], file: DataFile, errors: dict[DataFile, InputError]
) -> Iterator[pa.Table]:
    try:
        yield from tables
    except InputError as error:
        errors[file] = error


def _csv_parts(
    file: DataFile, encoding: str, types: Mapping[str, pa.DataType], copy: Path
) -> Iterator[pa.Table]:
    """Yield the rows part by part; gzipped Parquet is unpacked, and has none."""
    with opened(file.path) as content:
        packed = content.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
        content.seek(0)
        if packed:
            with copy.open("wb") as target:
                shutil.copyfileobj(content, target)
            return
        yield from CsvText(content, file.name, encoding).parts(types)

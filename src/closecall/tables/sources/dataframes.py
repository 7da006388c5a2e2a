"""Rows that come as a stream: kept in memory if they are few, else in a temporary Parquet file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError, first_line
from closecall.tables.reading import arrow, plain_schema
from closecall.tables.sources.content import ContentDigest
from closecall.tables.sources.memory import memory_source
from closecall.tables.sources.parquet import parquet_source, write_in_row_groups
from closecall.tables.sources.paths import DataFile
from closecall.tables.sources.source import TemporaryFolder, UnitSize, needed_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources.source import Kind, Source


def spooled_source(
    tables: Iterable[pa.Table],
    options: BatchOptions,
    *,
    kind: Kind,
    name: str,
    size: UnitSize | None = None,
) -> Source:
    """Make a source of rows that come part by part, and can be read only once."""
    pyarrow = arrow("pyarrow")
    sizes = size or UnitSize()
    parts = _same_schema(tables, options, name)
    held, all_of_them = _take(parts, sizes.held)
    if all_of_them:
        table = pyarrow.concat_tables(held)
        return memory_source(table, options, kind=kind, name=name, size=sizes)
    folder = TemporaryFolder()
    file = DataFile(str(folder.path / "rows.parquet"))
    # Hashed as it passes by, which costs less than to read the file once more.
    digest = ContentDigest(held[0].schema)
    rows = sizes.rows(columns=held[0].num_columns)
    write_in_row_groups(file.path, _draining(held, parts), rows=rows, by=options.by, digest=digest)
    return parquet_source(
        [file],
        options,
        name=name,
        kind=kind,
        size=sizes,
        fingerprint=f"{kind}:{digest.hexdigest()}",
        folder=folder,
    )


def _take(parts: Iterator[pa.Table], most: int) -> tuple[list[pa.Table], bool]:
    """Take parts until they have too many values; also say whether those were all."""
    held: list[pa.Table] = []
    values = 0
    for part in parts:
        held.append(part)
        values += part.num_rows * part.num_columns
        if values > most:
            return held, False
    return held, True


def _same_schema(
    tables: Iterable[pa.Table], options: BatchOptions, name: str
) -> Iterator[pa.Table]:
    """Keep the columns that are needed, of the types that they have in the first part."""
    pyarrow = arrow("pyarrow")
    schema: Any = None
    for table in tables:
        columns = needed_columns(table.column_names, options, name)
        part = table.select(columns).replace_schema_metadata(None)
        schema = schema or plain_schema(part.schema)
        try:
            yield part.cast(schema)
        except pyarrow.ArrowException as error:
            rule = f"all parts of {name} to have one schema"
            raise InputError(rule, f"`{first_line(error)}`") from error


def _draining(held: list[pa.Table], parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield what was taken and then the rest, and hold on to nothing."""
    while held:
        yield held.pop(0)
    yield from parts


_NAME = "`data`"
Found = tuple["pa.Table | Iterator[pa.Table]", "Kind"]  # rows in memory, or part by part


def dataframe_source(data: Any, options: BatchOptions, size: UnitSize | None = None) -> Source:
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
        return memory_source(rows, options, kind=kind, name=_NAME, size=size)
    return spooled_source(rows, options, kind=kind, name=_NAME, size=size)


def _needed(names: Iterable[Any], options: BatchOptions) -> list[str]:
    return needed_columns(map(str, names), options, _NAME)


def _from_pandas(data: Any, options: BatchOptions) -> Found:
    return _pandas_table(data[_needed(data.columns, options)], options), "pandas"


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
            rule = f"column {name!r} of {_NAME} to hold values of one kind"
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
    "pandas": _from_pandas,
    "polars": _from_polars,
    "pyarrow": _from_pyarrow,
    "duckdb": _from_duckdb,
    "_duckdb": _from_duckdb,
    "dask": _from_dask,
}
_WITH_COLUMNS = _READERS.keys() - {"pyarrow"}

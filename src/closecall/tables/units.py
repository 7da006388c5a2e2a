"""What is evaluated together: units of whole series, of tables in memory or of Parquet files.

The key columns are read once, and a unit ends where a series does. Rows of a series that lie apart
are brought together first: in memory if they are few, else on disk.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, groupby, pairwise
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from closecall.errors import InputError
from closecall.tables.data_files import DataFile, TemporaryFolder, place_in
from closecall.tables.grouping import (
    Grouped,
    content_digest,
    from_streams,
    group,
    in_blocks,
    key_runs,
    sort_out_of_core,
    to_stream,
)
from closecall.tables.reading import arrow, damaged_parquet, no_column, value_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.grouping import Key

# Numbers of values: rows times columns that are read.
SMALLEST = 1_000_000
"""A unit ends at the first border between series after this many."""
LARGEST = 4_000_000
"""After this many, a unit also ends where a series crosses from one row group to the next."""
HELD = 16_000_000
"""So many are kept in memory where that is simpler than a temporary file."""
READABLE = 64_000_000
"""A row group of more is cut anew, into a temporary file."""
_AT_A_TIME = 2**16  # rows that are read at a time where all of them are copied
_FEW_CHUNKS = 8
_NO_FILE = DataFile("", given_as="`data`")

Kind = Literal["pandas", "polars", "arrow"]


class Unit(Protocol):
    """Whole series that are evaluated together, in this process or in another.

    A unit can be pickled. Of a file it holds the path and which row groups to read, never data,
    so it works on every machine that sees the file; of a table in memory it holds the rows.
    """

    @property
    def key(self) -> str:
        """Stable text that tells the unit from the others of its source."""

    @property
    def rows(self) -> int:
        """How many rows the unit has."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series: its values of the `by` columns, and its rows in their order.

        Without `by` columns there is one group, with the key ``()``: the whole unit. A giant
        series has several units then, in time order.
        """


@dataclass(frozen=True, eq=False)
class UnitSource:
    """A table or files, ready to be read unit by unit."""

    name: str
    """What messages call it."""
    kind: Kind
    """The kind of table that a result is given back in."""
    schema: pa.Schema
    """Names and types of the columns that are read."""
    series: int
    """How many series there are, without those of damaged files."""
    fingerprint: Callable[[], str]
    """Works out a text that changes when the data does: a batch is resumed only on the same data.

    Of files it is a hash of their paths, sizes and times of change; of anything else a hash of all
    values that are asked for.
    """
    units: Callable[[], list[Unit]]
    """Plans the units: whole series in each, every row in one of them, in the data's order."""
    paths: tuple[str, ...] = ()
    """The places that were named and the files in them, so that none of them is written."""


def needed_columns(available: Iterable[str], options: BatchOptions, name: str) -> list[str]:
    """Return the columns that are read, in the order of their roles, or say which is not there."""
    columns = list(available)
    ignore = options.ignore if isinstance(options.ignore, str) else None
    roles = {
        "by": options.by,
        "time": (options.time,),
        "truth": (options.truth,),
        "ignore": (ignore,),
        "score": options.scores,
        "predicted": options.predicted,
    }
    for argument, names in roles.items():
        for column in names:
            if column is not None and columns.count(column) != 1:
                raise no_column(column, columns, argument, name)
    return list(dict.fromkeys(options.columns))


@dataclass(frozen=True, eq=False)
class SeriesUnit:
    """Whole series in consecutive row groups of files, or in a table."""

    key: str
    rows: int
    by: tuple[str, ...]
    parts: tuple[tuple[Rows, tuple[int, ...]], ...]
    """What is read, and which row groups of it."""
    skipped: int = 0
    """How many of the first rows belong to the unit before; the next one has those at the end."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series; the rows of the unit are in memory meanwhile."""
        table = _join(rows.read(numbers) for rows, numbers in self.parts)
        return iter(group(table.slice(self.skipped, self.rows), self.by))


@dataclass(frozen=True, eq=False)
class EmptyUnit:
    """Series without rows, which only the names of folders or files tell of."""

    keys: list[Key]
    schema: pa.Schema
    key: str = "series without rows"
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series."""
        return ((key, self.schema.empty_table()) for key in self.keys)


@dataclass(frozen=True)
class DamagedUnit:
    """A file that could not be read; whoever evaluates it is told why."""

    key: str
    error: InputError
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Raise what is wrong with the file."""
        raise self.error


@dataclass(frozen=True, eq=False)
class TableRows:
    """The needed columns of a table in memory, read as if it were a file of one row group."""

    table: pa.Table
    file: DataFile = _NO_FILE

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.table.schema

    @property
    def counts(self) -> list[int]:
        """How many rows there are."""
        return [self.table.num_rows]

    def read(self, _: Iterable[int], columns: Sequence[str] = ()) -> pa.Table:
        """Return all rows: all columns, or some of them."""
        return self.table.select(columns) if columns else self.table

    def stream(self) -> Iterator[pa.Table]:
        """Yield all rows."""
        yield self.table

    def __reduce__(self) -> tuple[Any, ...]:
        # A slice would be pickled with all the rows around it; a stream of batches holds its own.
        table = self.table.combine_chunks()
        for index, field in enumerate(table.schema):
            kind = value_type(field.type)
            if kind != field.type:
                # Only the values of these series travel, not those of the whole table.
                column = table.column(index).cast(kind).dictionary_encode()
                table = table.set_column(index, field.name, column)
        return _from_stream, (to_stream(table),)


def _from_stream(stream: bytes) -> TableRows:
    return TableRows(*from_streams(stream))


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """The needed columns of a Parquet file, with those that its folders add."""

    file: DataFile
    schema: pa.Schema
    by: tuple[str, ...]

    @property
    def counts(self) -> list[int]:
        """How many rows each row group has."""
        with _open(self.file) as parquet:
            footer = parquet.metadata
        return [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]

    def read(self, numbers: Iterable[int], columns: Sequence[str] = ()) -> pa.Table:
        """Read row groups: all columns of the schema, or some of them; text keys as categories."""
        names, is_text = columns or self.schema.names, arrow("pyarrow").types.is_string
        stored = self._stored(names)
        # As categories they are read several times faster.
        codes = [x for x in stored if x in self.by and is_text(self.schema.field(x).type)]
        with _open(self.file, codes) as parquet, _naming(self.file):
            return self._complete(parquet.read_row_groups(list(numbers), stored), names, codes)

    def stream(self) -> Iterator[pa.Table]:
        """Yield all rows, some at a time."""
        names, table_of = self.schema.names, arrow("pyarrow").Table.from_batches
        with _open(self.file) as parquet, _naming(self.file):
            for batch in parquet.iter_batches(_AT_A_TIME, columns=self._stored(names)):
                yield self._complete(table_of([batch]), names)

    def _stored(self, names: Iterable[str]) -> list[str]:
        """Return the columns that the file itself has; the names of folders say the others."""
        return [name for name in names if name not in self.file.partitions]

    def _complete(
        self, table: pa.Table, names: Sequence[str], codes: Sequence[str] = ()
    ) -> pa.Table:
        """Give the columns their order and types, but for categories."""
        table = self.file.complete(table).select(names).replace_schema_metadata(None)
        for index, name in enumerate(names):
            if name not in codes:
                column = table.column(index).cast(self.schema.field(name).type)
                table = table.set_column(index, name, column)
        return table


Rows = TableRows | ParquetRows


def parquet_rows(
    files: Iterable[DataFile], options: BatchOptions, errors: dict[DataFile, InputError]
) -> Iterator[ParquetRows]:
    """Open Parquet files, and note why some of them cannot be; raise if a column is not there."""
    for file in files:
        try:
            with _open(file) as parquet:
                stored = parquet.schema_arrow
        except InputError as error:
            errors[file] = error
            continue
        # A folder's name wins over a column of the same name, as everywhere hive folders are read.
        folders = {name: value.type for name, value in file.partitions.items()}
        types = {column.name: value_type(column.type) for column in stored} | folders
        for name in options.by:
            if str(types.get(name)) == "large_string":  # as categories are
                types[name] = arrow("pyarrow").string()
        names = [name for name in stored.names if name not in folders]
        needed = needed_columns([*names, *folders], options, file.name)
        schema = arrow("pyarrow").schema([(column, types[column]) for column in needed])
        yield ParquetRows(file, schema, options.by)


def _open(file: DataFile, codes: Sequence[str] = ()) -> Any:
    if file.folder is not None and not Path(file.path).exists():
        # The reason of a unit is one line, so the remedy is in it.
        raise InputError(
            f"the temporary copy of the rows, {file.path}, to be on a disk that every worker sees "
            "(the variable TMPDIR says where it is written)",
            f"no such file on {gethostname()}",
        )
    with _naming(file):
        status = Path(file.path).stat()
        footer = _footer(file.path, status.st_size, status.st_mtime_ns)
        open_file = arrow("pyarrow.parquet").ParquetFile
        return open_file(file.path, metadata=footer, read_dictionary=list(codes))


@lru_cache(maxsize=2)  # a unit reads from one file, or from two
def _footer(path: str, size: int, changed: int) -> Any:  # noqa: ARG001 - of which file it is
    """Read a footer: once, and not for each of the units that a file is cut into."""
    return arrow("pyarrow.parquet").read_metadata(path)


@contextmanager
def _naming(file: DataFile) -> Iterator[None]:
    """Name which file cannot be read, and why."""
    try:
        yield
    except (arrow("pyarrow").ArrowException, OSError, UnicodeError) as error:
        raise damaged_parquet(file.name, error) from error


def _join(tables: Iterable[pa.Table]) -> pa.Table:
    """Put tables below each other; codes of text keys are brought to one dictionary."""
    joined = arrow("pyarrow").concat_tables(tables).unify_dictionaries()
    # A few chunks cost less than a copy of everything.
    few = all(column.num_chunks <= _FEW_CHUNKS for column in joined.columns)
    return joined if few else joined.combine_chunks()


def plan_source(
    contents: Iterable[Rows],
    options: BatchOptions,
    *,
    name: str,
    kind: Kind = "arrow",
    fingerprint: Callable[[], str] | None = None,
    errors: dict[DataFile, InputError] | None = None,
) -> UnitSource:
    """Make a source of tables or Parquet files, of which the key columns are read.

    A file with an error is a unit that fails, if no other file can hold the rest of its series.
    One without rows may have columns of any type.
    """
    by, errors = options.by, {} if errors is None else errors
    blocks: dict[DataFile, list[_Block]] = {}
    kept: dict[DataFile, Rows] = {}
    for rows in contents:
        try:
            kept[rows.file], blocks[rows.file] = rows, list(_blocks(rows, by))
        except InputError as error:
            errors[rows.file] = error
    keys = {file: [key for block in found for key in block.keys] for file, found in blocks.items()}
    readable = _readable_files(keys, errors, by)
    typed = [kept[file] for file in kept if blocks[file]] or [*kept.values()]
    _require_types(typed)
    schema, filled = typed[0].schema, [file for file in readable if blocks[file]]
    series = {key for file in filled for key in keys[file]}
    known = {*series, *(file.key(by) for file in errors)}
    named = dict.fromkeys(file.key(by) for file in kept)
    empty = [key for key in named if key is not None and key not in known]

    def identify() -> str:
        tables = chain.from_iterable(rows.stream() for rows in kept.values())
        return f"{kind}:{content_digest(tables)}"

    def units() -> list[Unit]:
        planned = _plan([block for file in filled for block in blocks[file]], by, name)
        place = place_in([*kept, *errors])
        failed = [DamagedUnit(f"all of {place(file)}", errors[file]) for file in errors]
        return [*planned, *([EmptyUnit(empty, schema)] if empty else []), *failed]

    return UnitSource(name, kind, schema, len(series) + len(empty), fingerprint or identify, units)


def _readable_files(
    keys: Mapping[DataFile, Iterable[Key]],
    errors: Mapping[DataFile, InputError],
    by: tuple[str, ...],
) -> list[DataFile]:
    """Return the files, of those with known keys, that can be used beside damaged ones.

    No file of their series is damaged. Where folders do not name the series of a damaged file,
    another one may hold the rest of it. If the others share no series among them, it is taken to
    have its own as well; else, or without key columns, the damage is raised.
    """
    lost = {file.key(by) for file in errors}
    readable = [file for file in keys if file.key(by) not in lost - {None}]
    if None in lost:
        found = [key for file in readable for key in {*keys[file]}]
        if not by or len({*found}) < len(found):
            readable = []
    if errors and not readable:
        raise next(iter(errors.values()))
    return readable


def _require_types(contents: Sequence[Rows]) -> None:
    first = contents[0]
    for other in contents:
        for column in first.schema:
            kind = other.schema.field(column.name).type
            if kind != column.type:
                rule = f"column {column.name!r} to have one type in all files"
                got = f"{column.type} in {first.file.name} and {kind} in {other.file.name}"
                raise InputError(rule, got, hint="Write the files anew with one type.")


class _Block(NamedTuple):
    """A row group with rows, or a table in memory, and which series it holds."""

    content: Rows
    number: int
    rows: int
    before: int
    """How many rows the file has before it."""
    keys: list[Key]
    """In order of appearance."""
    last: Key
    head: int
    """How many rows the first series has before another one begins."""
    apart: Key | None = None
    """The first series that comes back after another one, if any does."""


def _blocks(content: Rows, by: tuple[str, ...]) -> Iterator[_Block]:
    """Read which series the row groups with rows hold."""
    only = content.file.key(by) if by else ()
    for number, (before, stop) in enumerate(pairwise(accumulate(content.counts, initial=0))):
        rows = stop - before
        if only is not None and rows:  # the names of folders say it
            yield _Block(content, number, rows, before, [only], only, rows if by else 0)
        elif rows:
            starts, numbers, keys = key_runs(content.read([number], by), by)
            head = int(starts[1]) if len(starts) > 1 else rows
            again = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1) == 0)
            apart = keys[numbers[again[0]]] if len(again) else None
            yield _Block(content, number, rows, before, keys, keys[numbers[-1]], head, apart)


def _plan(blocks: Sequence[_Block], by: tuple[str, ...], name: str) -> list[SeriesUnit]:
    """Cut blocks into units; rows that no unit could hold as they lie are moved first."""
    contents = list(dict.fromkeys(block.content for block in blocks))
    if not contents:
        return []
    schema = contents[0].schema
    values = len(schema) * sum(block.rows for block in blocks)
    giant = any(len(schema) * block.rows > READABLE for block in blocks)
    apart = _first_apart(blocks, inside=giant) if by else None
    tables = chain.from_iterable(content.stream() for content in contents)
    if isinstance(contents[0], TableRows) or (apart is not None and values <= HELD):
        return list(_memory_units(group(_join(tables), by), by))
    if apart is not None:
        folder, rows = TemporaryFolder(), rows_of_unit(len(schema))
        copy = DataFile(str(folder.path / "sorted.parquet"), folder=folder)
        sort_out_of_core(tables, schema, by, Path(copy.path), name=name, key=apart, rows=rows)
        blocks = list(_blocks(ParquetRows(copy, schema, by), by))
    elif giant:
        copy = copied(tables, by, rows_of_unit(len(schema)))
        blocks = list(_blocks(ParquetRows(copy, schema, by), by))
    return list(_cut(blocks, by))


def _memory_units(grouped: Grouped, by: tuple[str, ...]) -> Iterator[SeriesUnit]:
    wanted, first = rows_of_unit(grouped.table.num_columns), 0
    for stop in grouped.bounds[1:]:
        if stop - first >= wanted or stop == grouped.bounds[-1]:
            part = TableRows(grouped.table.slice(first, stop - first))
            yield SeriesUnit(f"rows {first}-{stop}", stop - first, by, ((part, (0,)),))
            first = stop


def rows_of_unit(columns: int) -> int:
    """Return how many rows of so many columns the smallest unit has."""
    return max(1, SMALLEST // max(1, columns))


def _first_apart(blocks: Iterable[_Block], *, inside: bool) -> Key | None:
    """Return the first series whose rows lie apart, so that no unit ends between them.

    Inside of a block they may, unless it is cut anew or begins with the end of another one.
    """
    known: set[Key] = set()
    last: Key | None = None
    for block in blocks:
        if block.apart is not None and (inside or block.keys[0] == last):
            return block.apart
        for place, key in enumerate(block.keys):
            if key in known and (place or key != last):
                return key
        known.update(block.keys)
        last = block.last
    return None


def _cut(blocks: Sequence[_Block], by: tuple[str, ...]) -> Iterator[SeriesUnit]:
    """Yield the units, which end where series do."""
    borders, held = [(0, 0)], 0  # where a unit begins: at which block, and after how many rows
    for place, (before, block) in enumerate(pairwise(blocks), start=1):
        held += before.rows * len(before.content.schema)
        carried = block.head if block.keys[0] == before.last else 0
        # A giant series has no borders to look for: its parts are as large as they may be.
        wanted = LARGEST if carried or not by else SMALLEST
        if held >= wanted and carried < block.rows:
            borders.append((place, carried))
            held = 0
    place_of = place_in({block.content.file for block in blocks})
    for (first, skipped), (last, carried) in pairwise([*borders, (len(blocks), 0)]):
        rows = sum(block.rows for block in blocks[first:last]) - skipped + carried
        files = groupby(blocks[first : last + bool(carried)], lambda block: block.content)
        parts = tuple((content, tuple(one.number for one in ones)) for content, ones in files)
        # Which rows, not which number: a sort may cut row groups elsewhere next time.
        start = blocks[first].before + skipped
        key = f"rows {start}-{start + rows} from {place_of(blocks[first].content.file)}"
        yield SeriesUnit(key, rows, by, parts, skipped)


def copied(
    tables: Iterable[pa.Table], by: Sequence[str], rows: int, of: DataFile | None = None
) -> DataFile:
    """Copy tables of one schema to a temporary Parquet file with row groups of so many rows.

    It has the folders and the name of the file that it is a copy of.
    """
    folder, writer = TemporaryFolder(), arrow("pyarrow.parquet").ParquetWriter
    path = folder.path / "rows.parquet"
    blocks = in_blocks(tables, rows)
    first = next(blocks)
    try:
        with writer(path, first.schema, use_dictionary=list(by)) as target:
            for table in chain([first], blocks):
                target.write_table(table, row_group_size=max(1, table.num_rows))
    except OSError as error:
        rule = f"room in {folder.path.parent} for a copy of the rows"
        hint = "The variable TMPDIR names the folder."
        raise InputError(rule, f"`{error}`", hint=hint) from error
    if of is None:
        return DataFile(str(path), folder=folder)
    return DataFile(str(path), of.partitions, of.name, folder)

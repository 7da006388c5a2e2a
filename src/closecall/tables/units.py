"""What is evaluated together: units of whole series, of a table in memory or of Parquet files.

A table in memory is grouped there. Of Parquet files the footers and the key columns are read once,
and a unit ends where a series does. Rows of a series that lie apart are brought together first: in
memory if they are few, else on disk.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate, chain, groupby, pairwise
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from closecall.errors import InputError
from closecall.tables.data_files import DataFile, files_fingerprint, place_in
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
from closecall.tables.reading import arrow, damaged_parquet, no_column, plain_schema, value_type

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
_AT_A_TIME = 2**16  # rows of a row group that is too large to be read at once
_SMALL_BUFFER = 2**16  # bytes read at a time where only the first rows are wanted
_FEW_CHUNKS = 8

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
    """Return the columns that are read, in the table's order, or say which one is not there."""
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
    wanted = set(options.columns)
    return [column for column in columns if column in wanted]


def rows_of_unit(columns: int) -> int:
    """Return how many rows of so many columns the smallest unit has."""
    return max(1, SMALLEST // max(1, columns))


@dataclass(frozen=True, eq=False)
class MemoryUnit:
    """Some series of a table; it takes its rows along when it is pickled."""

    key: str
    grouped: Grouped

    @property
    def rows(self) -> int:
        """How many rows the series have."""
        return int(self.grouped.table.num_rows)

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series."""
        # Slices of many chunks are slow to cut and slow to use.
        return iter(replace(self.grouped, table=self.grouped.table.combine_chunks()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A slice would be pickled with all the rows around it; a stream of batches holds its own.
        pyarrow, grouped = arrow("pyarrow"), self.grouped
        table = grouped.table.combine_chunks()
        for index, field in enumerate(table.schema):
            if pyarrow.types.is_dictionary(field.type):
                # Only the values of these series travel, not those of the whole table.
                column = table.column(index).cast(field.type.value_type).dictionary_encode()
                table = table.set_column(index, field.name, column)
        return _from_stream, (self.key, grouped.keys, grouped.bounds, to_stream(table))


def _from_stream(key: str, keys: list[Key], bounds: list[int], stream: bytes) -> MemoryUnit:
    (table,) = from_streams(stream)
    return MemoryUnit(key, Grouped(table, keys, bounds))


def memory_source(
    table: pa.Table,
    options: BatchOptions,
    *,
    name: str,
    kind: Kind = "arrow",
    fingerprint: str | None = None,
) -> UnitSource:
    """Make a source of an Arrow table; only the columns that are needed are kept."""
    kept = table.select(needed_columns(table.column_names, options, name))
    kept = kept.replace_schema_metadata(None)
    grouped = group(kept, options.by)

    def identify() -> str:
        return fingerprint or f"{kind}:{content_digest([kept])}"

    return UnitSource(
        name, kind, kept.schema, len(grouped.keys), identify, partial(_memory_units, grouped)
    )


def _memory_units(grouped: Grouped) -> list[Unit]:
    wanted = rows_of_unit(grouped.table.num_columns)
    units: list[Unit] = []
    first = 0
    for last in range(1, len(grouped.keys) + 1):
        start, stop = grouped.bounds[first], grouped.bounds[last]
        if stop - start >= wanted or last == len(grouped.keys):
            units.append(MemoryUnit(f"rows {start}-{stop}", grouped.part(first, last)))
            first = last
    return units


@dataclass(frozen=True)
class DamagedUnit:
    """A file that could not be read; whoever evaluates it is told why."""

    key: str
    error: InputError
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Raise what is wrong with the file."""
        raise self.error


def readable_files(
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


def with_other_files(
    source: UnitSource,
    files: Sequence[DataFile],
    filled: Iterable[DataFile],
    errors: Mapping[DataFile, InputError],
    by: tuple[str, ...],
) -> UnitSource:
    """Add series that only files without rows name, and a unit that fails for a damaged file."""
    known = {file.key(by) for file in (*filled, *errors)}
    named = dict.fromkeys(file.key(by) for file in files)
    keys = [key for key in named if key is not None and key not in known]
    place = place_in(files)
    others: list[Unit] = [DamagedUnit(f"all of {place(file)}", errors[file]) for file in errors]
    if keys:
        without_rows = Grouped(source.schema.empty_table(), keys, [0] * (len(keys) + 1))
        others.insert(0, MemoryUnit("series without rows", without_rows))
    units = source.units
    return replace(source, series=source.series + len(keys), units=lambda: [*units(), *others])


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


class _RowGroup(NamedTuple):
    """A row group with rows, and which series it holds."""

    file: DataFile
    number: int
    rows: int
    before: int
    """How many rows the file has before it."""
    keys: list[Key]
    """In order of appearance."""
    last: Key
    head: int
    """How many rows the first series has before another one begins."""
    first_returns: bool
    """Whether the first series comes back after another one."""


@dataclass(frozen=True, eq=False)
class ParquetUnit:
    """Whole series in consecutive row groups; holds paths and numbers, never rows."""

    key: str
    rows: int
    by: tuple[str, ...]
    schema: pa.Schema
    parts: tuple[tuple[DataFile, tuple[int, ...]], ...]
    """Which row groups of which files are read."""
    skipped: int
    """How many of the first rows belong to the unit before."""
    tail: tuple[DataFile, int, int] | None
    """One more row group, and how many of its first rows belong to the last series."""
    folder: TemporaryFolder | None
    """Where the files are copies, keeps them."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series; the rows of the unit are in memory meanwhile."""
        return iter(group(self.read(), self.by))

    def read(self) -> pa.Table:
        """Read the rows of the unit, and only the columns that are needed."""
        path = self.parts[0][0].path
        if self.folder is not None and not Path(path).exists():
            # The reason of a unit is one line, so the remedy is in it.
            raise InputError(
                f"the temporary copy of the rows, {path}, to be on a disk that every worker sees "
                "(the variable TMPDIR says where it is written)",
                f"no such file on {gethostname()}",
            )
        tables = [_read(file, numbers, self.schema, self.by) for file, numbers in self.parts]
        if self.tail is not None:
            file, number, missing = self.tail
            # A part may end early, with a page.
            for part in _stream(file, number, missing, self.schema, self.by):
                tables.append(part.slice(0, missing))
                missing -= part.num_rows
                if missing <= 0:
                    break
        return _join(tables).slice(self.skipped)


def parquet_source(
    files: Sequence[DataFile],
    options: BatchOptions,
    *,
    name: str,
    kind: Kind = "arrow",
    fingerprint: Callable[[], str] | None = None,
    folder: TemporaryFolder | None = None,
    damaged: Mapping[DataFile, InputError] | None = None,
) -> UnitSource:
    """Make a source of Parquet files: their footers and key columns are read, and nothing else.

    A file that cannot be read is a unit that fails, if no other file can hold the rest of its
    series. One without rows may have columns of any type.
    """
    errors = dict(damaged or {})
    schemas: dict[DataFile, pa.Schema] = {}
    found: dict[DataFile, list[_RowGroup]] = {}
    for file in files:
        try:
            with _open(file) as parquet:
                footer, stored = parquet.metadata, parquet.schema_arrow
        except InputError as error:
            errors[file] = error
            continue
        shown = name if len(files) == 1 else file.name
        schemas[file] = _needed_schema(stored, file, options, shown)
        try:
            found[file] = list(_row_groups(footer, file, schemas[file], options.by))
        except InputError as error:
            errors[file] = error
    keys = {file: [key for one in groups for key in one.keys] for file, groups in found.items()}
    readable = readable_files(keys, errors, options.by)
    filled = [file for file in readable if found[file]]
    with_types = [file for file in found if found[file]] or [*schemas]
    for file in with_types:
        _require_types(schemas[with_types[0]], schemas[file], with_types[0].name, file.name)
    schema, series = schemas[with_types[0]], {key for file in filled for key in keys[file]}
    row_groups = [one for file in filled for one in found[file]]
    planner = _Planner(row_groups, schema, options.by, name, folder)
    identify = fingerprint or partial(files_fingerprint, files)
    source = UnitSource(name, kind, schema, len(series), identify, planner.units)
    return with_other_files(source, [*files, *errors], filled, errors, options.by)


def copied_source(
    tables: Iterable[pa.Table], options: BatchOptions, *, kind: Kind, name: str
) -> UnitSource:
    """Copy rows that can be read only once to a temporary file, and make a source of that."""
    file, folder = _copy(tables, len({*options.columns}), options.by)

    def identify() -> str:
        with _open(file) as parquet:
            schema, count = parquet.schema_arrow, parquet.num_row_groups
        rows = (_read(file, [number], schema, options.by) for number in range(count))
        return f"{kind}:{content_digest(rows)}"

    return parquet_source(
        [file], options, name=name, kind=kind, fingerprint=identify, folder=folder
    )


def _copy(
    tables: Iterable[pa.Table], columns: int, by: Sequence[str]
) -> tuple[DataFile, TemporaryFolder]:
    folder = TemporaryFolder()
    path = folder.path / "rows.parquet"
    write_in_row_groups(path, tables, rows_of_unit(columns), by)
    return DataFile(str(path)), folder


def write_in_row_groups(
    path: Path, tables: Iterable[pa.Table], rows: int, by: Sequence[str]
) -> None:
    """Write tables of one schema below each other."""
    blocks = in_blocks(tables, rows)
    first, writer = next(blocks), arrow("pyarrow.parquet").ParquetWriter
    try:
        with writer(path, first.schema, use_dictionary=list(by)) as target:
            for table in chain([first], blocks):
                target.write_table(table, row_group_size=max(1, table.num_rows))
    except OSError as error:
        rule = f"room in {path.parent.parent} for a copy of the rows"
        hint = "The variable TMPDIR names the folder."
        raise InputError(rule, f"`{error}`", hint=hint) from error


@dataclass(frozen=True, eq=False)
class _Planner:
    """Cuts row groups into units, and has them copied first where no unit can hold them."""

    row_groups: Sequence[_RowGroup]
    schema: pa.Schema
    by: tuple[str, ...]
    name: str
    folder: TemporaryFolder | None

    def units(self) -> list[Unit]:
        schema, by, columns = self.schema, self.by, len(self.schema)
        values = sum(one.rows for one in self.row_groups) * columns
        if any(one.rows * columns > READABLE for one in self.row_groups):
            streams = (_stream(one.file, one.number, _AT_A_TIME, schema) for one in self.row_groups)
            return self._again(*_copy(chain.from_iterable(streams), columns, by))
        apart = self._apart() if values > LARGEST else None
        if apart is None:
            return list(self._cut(whole=values <= LARGEST))
        tables = (_read(one.file, [one.number], schema, by) for one in self.row_groups)
        if values <= HELD:
            return _memory_units(group(_join(list(tables)), by))
        folder, rows = TemporaryFolder(), rows_of_unit(columns)
        path = folder.path / "sorted.parquet"
        sort_out_of_core(tables, schema, by, path, name=self.name, key=apart, rows=rows)
        return self._again(DataFile(str(path)), folder)

    def _again(self, file: DataFile, folder: TemporaryFolder) -> list[Unit]:
        """Plan the units of a copy."""
        with _open(file) as parquet:
            found = list(_row_groups(parquet.metadata, file, self.schema, self.by))
        return replace(self, row_groups=found, folder=folder).units()

    def _apart(self) -> Key | None:
        """Return the first series whose rows lie apart, so that no unit ends between them."""
        known: set[Key] = set()
        last: Key | None = None
        for one in self.row_groups if self.by else ():
            for key in one.keys:
                goes_on = key == last == one.keys[0] and not one.first_returns
                if key in known and not goes_on:
                    return key
            known.update(one.keys)
            last = one.last
        return None

    def _cut(self, *, whole: bool) -> Iterator[ParquetUnit]:
        """Yield the units: one if it may hold the whole, else they end where series do."""
        place = place_in({one.file for one in self.row_groups})
        unit: list[_RowGroup] = []
        skipped = held = 0
        for one, before in zip(self.row_groups, (None, *self.row_groups), strict=False):
            carried = one.head if before is not None and one.keys[0] == before.last else 0
            # A giant series has no borders to look for: its parts are as large as they may be.
            wanted = LARGEST if carried or not self.by else SMALLEST
            if held >= wanted and carried < one.rows and not whole:
                tail = (one.file, one.number, carried) if carried else None
                yield self._unit(unit, skipped, tail, place)
                unit, skipped, held = [], carried, 0
            unit.append(one)
            held += one.rows * len(self.schema)
        if unit:
            yield self._unit(unit, skipped, None, place)

    def _unit(
        self,
        row_groups: list[_RowGroup],
        skipped: int,
        tail: tuple[DataFile, int, int] | None,
        place: Callable[[DataFile], str],
    ) -> ParquetUnit:
        rows = sum(one.rows for one in row_groups) - skipped + (tail[2] if tail else 0)
        files = groupby(row_groups, lambda one: one.file)
        parts = tuple((file, tuple(one.number for one in ones)) for file, ones in files)
        # Which rows, not which number: a sort may cut row groups elsewhere next time.
        start = row_groups[0].before + skipped
        key = f"rows {start}-{start + rows} from {place(row_groups[0].file)}"
        return ParquetUnit(key, rows, self.by, self.schema, parts, skipped, tail, self.folder)


def _row_groups(
    footer: Any, file: DataFile, schema: pa.Schema, by: tuple[str, ...]
) -> Iterator[_RowGroup]:
    """Read which series the row groups with rows hold."""
    only = file.key(by) if by else ()
    counts = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
    for number, (before, stop) in enumerate(pairwise(accumulate(counts, initial=0))):
        rows = stop - before
        if not rows:
            continue
        if only is not None:  # the names of folders say it
            head = rows if by else 0
            yield _RowGroup(file, number, rows, before, [only], only, head, False)
            continue
        starts, numbers, found = key_runs(_read(file, [number], schema, by, by), by)
        keys = [tuple(map(_same_nan, key)) for key in found]
        others = np.flatnonzero(numbers != 0)
        run = int(others[0]) if len(others) else len(numbers)
        head = int(starts[run]) if run < len(starts) else rows
        returns = bool((numbers[run:] == 0).any())
        yield _RowGroup(file, number, rows, before, keys, keys[numbers[-1]], head, returns)


def _same_nan(value: object) -> object:
    """Return one nan for all: it differs from itself, unless it is the same object."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _needed_schema(
    stored: pa.Schema, file: DataFile, options: BatchOptions, name: str
) -> pa.Schema:
    # A folder's name wins over a column of the same name, as everywhere hive folders are read.
    types = {column.name: value_type(column.type) for column in stored}
    added = {part.name: part.type for part in file.partitions}
    columns = needed_columns([*_stored(file, stored.names), *added], options, name)
    return arrow("pyarrow").schema([(column, {**types, **added}[column]) for column in columns])


def _require_types(first: pa.Schema, other: pa.Schema, path: str, other_path: str) -> None:
    for column in first:
        kind = other.field(column.name).type
        if kind != column.type:
            rule = f"column {column.name!r} to have one type in all files"
            got = f"{column.type} in {path} and {kind} in {other_path}"
            raise InputError(rule, got, hint="Write the files anew with one type.")


def _stored(file: DataFile, names: Iterable[str]) -> list[str]:
    """Return the columns that the file itself has; the names of folders say the others."""
    added = {part.name for part in file.partitions}
    return [name for name in names if name not in added]


def _read(
    file: DataFile,
    numbers: Iterable[int],
    schema: pa.Schema,
    by: tuple[str, ...],
    columns: Sequence[str] = (),
) -> pa.Table:
    """Read row groups of a file: all columns of the schema, or some of them."""
    names = columns or schema.names
    with _open(file, _codes(file, schema, by)) as parquet, _naming(file):
        table = parquet.read_row_groups(list(numbers), _stored(file, names))
        return _complete(table, file, schema, names)


def _stream(
    file: DataFile, number: int, rows: int, schema: pa.Schema, by: tuple[str, ...] = ()
) -> Iterator[pa.Table]:
    """Read a row group some rows at a time, and little of what follows them."""
    with _open(file, _codes(file, schema, by), _SMALL_BUFFER) as parquet:
        batches = parquet.iter_batches(
            rows, row_groups=[number], columns=_stored(file, schema.names), use_threads=False
        )
        while True:
            with _naming(file):
                batch = next(batches, None)
            if batch is None:
                return
            table = arrow("pyarrow").Table.from_batches([batch])
            yield _complete(table, file, schema, schema.names)


def _codes(file: DataFile, schema: pa.Schema, by: tuple[str, ...]) -> list[str]:
    """Return the text keys, which are read as codes: that is several times faster."""
    types = arrow("pyarrow").types
    kinds = {name: schema.field(name).type for name in _stored(file, by)}
    return [n for n, x in kinds.items() if types.is_string(x) or types.is_large_string(x)]


def _open(file: DataFile, codes: Sequence[str] = (), buffer_size: int = 0) -> Any:
    with _naming(file):
        status = Path(file.path).stat()
        return arrow("pyarrow.parquet").ParquetFile(
            file.path,
            metadata=_footer(file.path, status.st_size, status.st_mtime_ns),
            read_dictionary=list(codes),
            buffer_size=buffer_size,
        )


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


def _complete(table: pa.Table, file: DataFile, schema: pa.Schema, names: Sequence[str]) -> pa.Table:
    """Add the columns that stand in the names of folders, in the order of the names."""
    types = arrow("pyarrow").types
    for part in file.partitions:
        if part.name in names:
            table = table.append_column(part.name, part.column(table.num_rows))
    table = table.select(names).replace_schema_metadata(None)
    for index, name in enumerate(names):
        column, wanted = table.column(index), schema.field(name).type
        if column.type != wanted and not types.is_dictionary(column.type):
            table = table.set_column(index, name, column.cast(wanted))
    return table


def _join(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; codes of text keys are brought to one dictionary."""
    first, *others = tables
    if any(other.schema != first.schema for other in others):
        tables = [table.cast(plain_schema(table.schema)) for table in tables]
    joined = arrow("pyarrow").concat_tables(tables).unify_dictionaries()
    # A few chunks cost less than a copy of everything.
    few = all(column.num_chunks <= _FEW_CHUNKS for column in joined.columns)
    return joined if few else joined.combine_chunks()

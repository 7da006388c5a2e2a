"""The row groups of Parquet files, as their footers describe them, and how one is read."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, groupby
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError
from closecall.tables.reading import arrow, damaged_parquet
from closecall.tables.sources.memory import group, memory_source
from closecall.tables.sources.paths import (
    Damage,
    DataFile,
    files_fingerprint,
    place_in,
    vacant_units,
)
from closecall.tables.sources.planning import (
    RowGroupKeys,
    ScatteredError,
    plan_spans,
    write_in_row_groups,
)
from closecall.tables.sources.sorting import sort_out_of_core
from closecall.tables.sources.source import Source, TemporaryFolder, UnitSize, needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources.planning import Span
    from closecall.tables.sources.source import Key, Kind, Unit

_PATIENCE = 10  # seconds for one footer
_FATAL = "a fault that ends the process which reads it"
_SMALL_BUFFER = 2**16  # bytes read at a time where only the first rows are wanted


@dataclass(frozen=True)
class RowGroup:
    """One row group of one file."""

    file: DataFile
    index: int
    rows: int


@dataclass(frozen=True)
class Layout:
    """The columns that are read, and of which types; every file must have them."""

    by: tuple[str, ...]
    schema: pa.Schema

    def read(
        self, file: DataFile, row_groups: Iterable[int], columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read row groups of a file: all columns, or some of them."""
        names = self.schema.names if columns is None else columns
        schema = arrow("pyarrow").schema([self.schema.field(name) for name in names])
        with _open(file, self._codes(file)) as parquet, _naming(file):
            table = parquet.read_row_groups(list(row_groups), _stored(file, names))
            return _complete(table, file, schema)

    def read_first(self, file: DataFile, row_group: int, rows: int) -> pa.Table:
        """Read the first rows of a row group, and little of what follows them."""
        pyarrow = arrow("pyarrow")
        stored = _stored(file, self.schema.names)
        with _open(file, self._codes(file), buffer_size=_SMALL_BUFFER) as parquet, _naming(file):
            batches = parquet.iter_batches(
                rows, row_groups=[row_group], columns=stored, use_threads=False
            )
            parts, missing = [], rows
            while missing:
                # A batch may end early, where a page does.
                parts.append(next(batches).slice(0, missing))
                missing -= parts[-1].num_rows
            table = pyarrow.Table.from_batches(parts)
        return _complete(table, file, self.schema)

    def stream(self, row_group: RowGroup) -> Iterator[pa.Table]:
        """Read a row group part by part, where it is too large to be read at once."""
        pyarrow = arrow("pyarrow")
        file = row_group.file
        stored = _stored(file, self.schema.names)
        with _open(file, buffer_size=_SMALL_BUFFER) as parquet:
            batches = parquet.iter_batches(row_groups=[row_group.index], columns=stored)
            while True:
                with _naming(file):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield _complete(pyarrow.Table.from_batches([batch]), file, self.schema)

    def _codes(self, file: DataFile) -> list[str]:
        """Return the text keys, which are read as codes: that is several times faster."""
        types = arrow("pyarrow").types
        kinds = {name: self.schema.field(name).type for name in _stored(file, self.by)}
        return [n for n, x in kinds.items() if types.is_string(x) or types.is_large_string(x)]


@dataclass(frozen=True, eq=False)
class Footers:
    """What the footers of files say together."""

    layout: Layout
    row_groups: list[RowGroup]
    """Those that have rows, in their order."""
    vacant: list[DataFile]
    """Files without rows."""
    damage: Damage
    """Files that cannot be read, of series that no other file is taken from."""


def read_footers(
    files: Sequence[DataFile], options: BatchOptions, name: str, damage: Damage | None = None
) -> Footers:
    """Read the footer of every file; one without rows may have columns of any type.

    A file that cannot be read is refused, since the others may hold the rest of its series; unless
    the names of folders say which series that is.
    """
    layout: Layout | None = None
    without_rows: Layout | None = None
    row_groups: list[RowGroup] = []
    vacant: list[DataFile] = []
    damage = damage or Damage(options.by, files)
    for file, parquet in _opened(files, damage):
        schema = _needed_schema(parquet, file, options, name if len(files) == 1 else file.path)
        if not parquet.metadata.num_rows:
            vacant.append(file)
            without_rows = without_rows or Layout(options.by, schema)
            continue
        if layout is None:
            layout = Layout(options.by, schema)
        else:
            _refuse_other_types(layout.schema, schema, row_groups[0].file.path, file.path)
        row_groups += _row_groups(parquet, file)
    layout = layout or without_rows
    if layout is None:
        raise damage.refusal()
    spared = set(files)
    if damage.reasons:
        spared = damage.spared(files, lambda file: _keys_of(file, layout, row_groups))
    return Footers(layout, [one for one in row_groups if one.file in spared], vacant, damage)


def _keys_of(file: DataFile, layout: Layout, row_groups: Iterable[RowGroup]) -> Iterator[Key]:
    for row_group in row_groups:
        if row_group.file == file:
            yield from RowGroupKeys.read(layout, row_group).keys


def _opened(files: Iterable[DataFile], damage: Damage) -> Iterator[tuple[DataFile, Any]]:
    """Open each file in turn, and note those that cannot be."""
    fatal = _fatal(list(files))
    for file in files:
        if file in fatal:
            damage.note(file, str(damaged_parquet(file.path, RuntimeError(_FATAL))))
            continue
        try:
            opened = _open(file)
        except InputError as error:
            damage.note(file, str(error))
        else:
            with opened as parquet:
                yield file, parquet


def _fatal(files: list[DataFile]) -> set[DataFile]:
    """Find the files whose footers end the process that reads them: a copy of this one does first.

    Versions of Arrow have had such faults. The copy only reads, and ends itself if it hangs, as it
    may beside other threads; files that are left then are not tried.
    """
    found: set[DataFile] = set()
    arrow("pyarrow.parquet")  # imported before there is a copy
    while files and sys.platform == "linux":
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of other threads
            child = os.fork()
        if not child:
            _read_and_end(files, writing)
        os.close(writing)
        try:
            with open(reading, "rb") as told:  # noqa: PTH123 - a number
                done = len(told.read())
        finally:
            status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) == signal.SIGALRM:
            break
        found.update(files[done : done + 1])
        files = files[done + 1 :]
    return found


def _read_and_end(files: Iterable[DataFile], writing: int) -> None:
    """Read footers, tell of each that this process is still there, and end it."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for file in files:
            signal.alarm(_PATIENCE)
            with suppress(Exception):
                arrow("pyarrow.parquet").read_metadata(file.path)
            os.write(writing, b".")
    finally:
        os._exit(0)


def _open(file: DataFile, codes: Sequence[str] = (), *, buffer_size: int = 0) -> Any:
    with _naming(file):
        status = Path(file.path).stat()
        return arrow("pyarrow.parquet").ParquetFile(
            file.path,
            metadata=_footer(file.path, status.st_size, status.st_mtime_ns),
            read_dictionary=list(codes),
            buffer_size=buffer_size,
        )


@contextmanager
def _naming(file: DataFile) -> Iterator[None]:
    """Name which file cannot be read, and why."""
    try:
        yield
    except (arrow("pyarrow").ArrowException, OSError, UnicodeError) as error:
        raise damaged_parquet(file.path, error) from error


@lru_cache(maxsize=2)  # a unit reads from one file, or from two
def _footer(path: str, size: int, changed: int) -> Any:  # noqa: ARG001 - of which file it is
    """Read a footer: once, and not for each of the units that a file is cut into."""
    return arrow("pyarrow.parquet").read_metadata(path)


def _stored(file: DataFile, names: Iterable[str]) -> list[str]:
    """Return the columns that the file itself has; the names of folders say the others."""
    added = {part.name for part in file.partitions}
    return [name for name in names if name not in added]


def _needed_schema(parquet: Any, file: DataFile, options: BatchOptions, name: str) -> pa.Schema:
    pyarrow = arrow("pyarrow")
    stored = parquet.schema_arrow
    # A folder's name wins over a column of the same name, as everywhere hive folders are read.
    added = {part.name: part.type for part in file.partitions}
    columns = needed_columns([*_stored(file, stored.names), *added], options, name)
    return pyarrow.schema(
        [(n, added[n] if n in added else _plain(stored.field(n).type)) for n in columns]
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if arrow("pyarrow").types.is_dictionary(kind) else kind


def _refuse_other_types(first: pa.Schema, other: pa.Schema, path: str, other_path: str) -> None:
    for column in first:
        kind = other.field(column.name).type
        if kind != column.type:
            rule = f"column {column.name!r} to have one type in all files"
            got = f"{column.type} in {path} and {kind} in {other_path}"
            hint = "Write the files anew with one type."
            raise InputError.expected(rule, got, hint)


def _row_groups(parquet: Any, file: DataFile) -> list[RowGroup]:
    metadata = parquet.metadata
    counts = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    return [RowGroup(file, index, rows) for index, rows in enumerate(counts) if rows]


def _complete(table: pa.Table, file: DataFile, schema: pa.Schema) -> pa.Table:
    """Add the columns that stand in the names of folders, in the order of the layout."""
    types = arrow("pyarrow").types
    for part in file.partitions:
        if part.name in schema.names:
            table = table.append_column(part.name, part.column(table.num_rows))
    table = table.select(schema.names).replace_schema_metadata(None)
    for index, wanted in enumerate(schema):
        column = table.column(index)
        if column.type != wanted.type and not types.is_dictionary(column.type):
            table = table.set_column(index, wanted.name, column.cast(wanted.type))
    return table


_FEW_CHUNKS = 8


@dataclass(frozen=True)
class Stretch:
    """Consecutive row groups of one file."""

    file: DataFile
    row_groups: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ParquetUnit:
    """Whole series in consecutive row groups; holds paths and numbers, never rows."""

    key: str
    rows: int
    layout: Layout
    stretches: tuple[Stretch, ...]
    skipped: int = 0
    """Rows at the start that belong to the unit before."""
    borrowed: int = 0
    """Rows at the start of `next_row_group` that complete the last series."""
    next_row_group: tuple[DataFile, int] | None = None
    folder: TemporaryFolder | None = field(default=None, repr=False)
    """Where the files are temporary, keeps them; stays in this process."""
    temporary: bool = False
    """Whether the files are copies that the process wrote which planned the unit."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series; one row group or a few small ones are in memory at a time."""
        return iter(group(self.read(), self.layout.by))

    def read(self) -> pa.Table:
        """Read the rows of the unit, and only the columns that are needed."""
        if self.temporary:
            _require_copy(self.stretches[0].file.path)
        layout = self.layout
        tables = [layout.read(part.file, part.row_groups) for part in self.stretches]
        tables[0] = tables[0].slice(self.skipped)
        if self.next_row_group is not None:
            tables.append(layout.read_first(*self.next_row_group, self.borrowed))
        return _join(tables)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "folder": None}


def parquet_source(
    files: Sequence[DataFile],
    options: BatchOptions,
    *,
    name: str,
    kind: Kind = "arrow",
    size: UnitSize | None = None,
    fingerprint: str | None = None,
    folder: TemporaryFolder | None = None,
    damage: Damage | None = None,
) -> Source:
    """Make a source of Parquet files; nothing but their footers is read for it."""
    footers = read_footers(files, options, name, damage)
    layout, row_groups = footers.layout, footers.row_groups
    planner = _Planner(layout, row_groups, options, name, size or UnitSize(), folder)

    def identify() -> str:
        return files_fingerprint(files) if fingerprint is None else fingerprint

    def plan() -> list[Unit]:
        known = {row_group.file for row_group in row_groups} | footers.damage.reasons.keys()
        vacant = vacant_units(footers.vacant, known, layout.schema, layout.by)
        return [*planner.units(), *vacant, *footers.damage.units()]

    def count() -> int:
        if not layout.by:
            return min(len(row_groups), 1)
        return len({key for one in row_groups for key in RowGroupKeys.read(layout, one).keys})

    return Source(name, kind, layout.schema, identify, plan, count)


@dataclass(frozen=True, eq=False)
class _Planner:
    """Cuts row groups into units, and has them sorted first where series are scattered."""

    layout: Layout
    row_groups: Sequence[RowGroup]
    options: BatchOptions
    name: str
    size: UnitSize
    folder: TemporaryFolder | None

    def units(self) -> list[Unit]:
        columns = len(self.layout.schema)
        if any(one.rows * columns > self.size.readable for one in self.row_groups):
            return self._recut(self.size.rows(columns=columns))
        try:
            spans = plan_spans(self.layout, self.row_groups, self.size)
        except ScatteredError as error:
            return self._gathered(error)
        before = [0, *accumulate(row_group.rows for row_group in self.row_groups)]
        begins: dict[DataFile, int] = {}
        for row_group, rows in zip(self.row_groups, before, strict=False):
            begins.setdefault(row_group.file, rows)
        place = place_in(begins)
        units: list[Unit] = []
        for span in spans:
            # Which rows, and not only which number: a sort may cut row groups elsewhere next time.
            first = self.row_groups[span.first].file
            start, stop = before[span.first] + span.skipped, before[span.last] + span.borrowed
            own = f"rows {start - begins[first]}-{stop - begins[first]} from {place(first)}"
            units.append(self._unit(span, own, stop - start))
        return units

    def _unit(self, span: Span, key: str, rows: int) -> ParquetUnit:
        own = self.row_groups[span.first : span.last]
        stretches = tuple(
            Stretch(file, tuple(one.index for one in ones))
            for file, ones in groupby(own, key=lambda one: one.file)
        )
        after = self.row_groups[span.last] if span.borrowed else None
        return ParquetUnit(
            key=key,
            rows=rows,
            layout=self.layout,
            stretches=stretches,
            skipped=span.skipped,
            borrowed=span.borrowed,
            next_row_group=None if after is None else (after.file, after.index),
            folder=self.folder,
            temporary=self.folder is not None,
        )

    def _recut(self, rows: int) -> list[Unit]:
        """Write row groups that are too large to be read at once as smaller ones."""
        folder = TemporaryFolder()
        file = DataFile(str(folder.path / "rows.parquet"))
        tables = (part for one in self.row_groups for part in self.layout.stream(one))
        write_in_row_groups(file.path, tables, rows=rows, by=self.layout.by)
        smaller = read_footers([file], self.options, self.name).row_groups
        return replace(self, row_groups=smaller, folder=folder).units()

    def _gathered(self, error: ScatteredError) -> list[Unit]:
        """Bring the rows of each series together: in memory if they are few, else on disk."""
        layout, name, size = self.layout, self.name, self.size
        tables = (layout.read(one.file, [one.index]) for one in self.row_groups)
        if sum(one.rows for one in self.row_groups) * len(layout.schema) <= size.held:
            table = _join(list(tables))
            return memory_source(table, self.options, kind="arrow", name=name, size=size).units()
        rows = size.rows(columns=len(layout.schema))
        path, folder = sort_out_of_core(tables, layout, name=name, key=error.key, rows=rows)
        sorted_rows = read_footers([DataFile(str(path))], self.options, name).row_groups
        return replace(self, row_groups=sorted_rows, folder=folder).units()


def _require_copy(path: str) -> None:
    """Raise where a copy is missing: the reason of a unit is one line, so the remedy is in it."""
    if not Path(path).exists():
        raise InputError.expected(
            f"the temporary copy of the rows, {path}, to be on a disk that every worker sees "
            "(the variable TMPDIR says where it is written)",
            f"no such file on {gethostname()}",
        )


def _join(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; codes of text keys are brought to one dictionary."""
    pyarrow = arrow("pyarrow")
    first, *others = tables
    if any(other.schema != first.schema for other in others):
        tables = [_decoded(table) for table in tables]
    joined = pyarrow.concat_tables(tables).unify_dictionaries()
    # A few chunks cost less than a copy of everything.
    few = all(column.num_chunks <= _FEW_CHUNKS for column in joined.columns)
    return joined if few else joined.combine_chunks()


def _decoded(table: pa.Table) -> pa.Table:
    types = arrow("pyarrow").types
    for index, column in enumerate(table.schema):
        if types.is_dictionary(column.type):
            plain = table.column(index).cast(column.type.value_type)
            table = table.set_column(index, column.name, plain)
    return table

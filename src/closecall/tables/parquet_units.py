"""Units of Parquet files: consecutive row groups that hold whole series.

The footers and the key columns are read once, and a unit ends where a series does. Rows of a series
that lie apart are brought together first: in memory if they are few, else on disk.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import accumulate, chain, groupby
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.errors import InputError
from closecall.tables.data_files import DataFile, files_fingerprint, place_in
from closecall.tables.grouping import content_digest, group, in_blocks, key_runs
from closecall.tables.reading import arrow, damaged_parquet, plain_schema, value_type
from closecall.tables.sorting import sort_out_of_core
from closecall.tables.units import (
    Damage,
    TemporaryFolder,
    UnitSize,
    UnitSource,
    memory_source,
    needed_columns,
    with_other_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.grouping import Key
    from closecall.tables.units import Kind, Unit

_SMALL_BUFFER = 2**16  # bytes read at a time where only the first rows are wanted
_AT_A_TIME = 2**16  # rows of a row group that is too large to be read at once
_FEW_CHUNKS = 8


class RowGroup(NamedTuple):
    """Rows of one row group of one file."""

    file: DataFile
    number: int
    rows: int
    """How many the row group has."""
    before: int
    """How many the file has before it."""
    start: int
    stop: int
    """Which ones are read."""


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

    def stream(
        self, one: RowGroup, rows: int = _AT_A_TIME, *, coded: bool = False
    ) -> Iterator[pa.Table]:
        """Read a row group some rows at a time, and little of what follows them."""
        pyarrow, file = arrow("pyarrow"), one.file
        codes = self._codes(file) if coded else ()
        with _open(file, codes, buffer_size=_SMALL_BUFFER) as parquet:
            batches = parquet.iter_batches(
                rows,
                row_groups=[one.number],
                columns=_stored(file, self.schema.names),
                use_threads=False,
            )
            while True:
                with _naming(file):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield _complete(pyarrow.Table.from_batches([batch]), file, self.schema)

    def read_rows(self, row_groups: Iterable[RowGroup]) -> Iterator[pa.Table]:
        """Read rows of consecutive row groups, those of one file together if all are wanted."""
        for (file, whole), ones in groupby(
            row_groups, lambda one: (one.file, one.stop == one.rows)
        ):
            first, *others = ones
            if whole:
                yield self.read(file, [first.number, *(one.number for one in others)]).slice(
                    first.start
                )
                continue
            missing = first.stop
            for part in self.stream(first, first.stop, coded=True):  # may end early, with a page
                yield part.slice(0, missing)
                missing -= part.num_rows
                if missing <= 0:
                    break

    def _codes(self, file: DataFile) -> list[str]:
        """Return the text keys, which are read as codes: that is several times faster."""
        types = arrow("pyarrow").types
        kinds = {name: self.schema.field(name).type for name in _stored(file, self.by)}
        return [n for n, x in kinds.items() if types.is_string(x) or types.is_large_string(x)]


class Footers(NamedTuple):
    """What the footers of files say together."""

    layout: Layout
    row_groups: list[RowGroup]
    """Those that have rows, in their order."""
    vacant: list[DataFile]
    """Files without rows."""
    damage: Damage
    """Files that cannot be read, of series that no other file is taken from."""


def read_footers(
    files: Sequence[DataFile],
    options: BatchOptions,
    name: str,
    damage: Damage | None = None,
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
    for file in files:
        try:
            opened = _open(file)
        except InputError as error:
            damage.errors[file] = error
            continue
        with opened as parquet:
            shown = name if len(files) == 1 else file.path
            schema = _needed_schema(parquet.schema_arrow, file, options, shown)
            if not parquet.metadata.num_rows:
                vacant.append(file)
                without_rows = without_rows or Layout(options.by, schema)
                continue
            layout = layout or Layout(options.by, schema)
            row_groups += _row_groups(parquet.metadata, file)
            _refuse_other_types(layout.schema, schema, row_groups[0].file.path, file.path)
    layout = layout or without_rows
    if layout is None:
        raise damage.refusal()
    readable = set(files)
    if damage.errors:
        of_file: dict[DataFile, list[RowGroup]] = {file: [] for file in files}
        for row_group in row_groups:
            of_file[row_group.file].append(row_group)
        readable = damage.readable_files(files, lambda file: _all_keys(layout, of_file[file]))
    return Footers(layout, [one for one in row_groups if one.file in readable], vacant, damage)


def _all_keys(layout: Layout, row_groups: Iterable[RowGroup]) -> set[Key]:
    return {key for one in row_groups for key in RowGroupKeys.read(layout, one).keys}


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


def _needed_schema(
    stored: pa.Schema, file: DataFile, options: BatchOptions, name: str
) -> pa.Schema:
    # A folder's name wins over a column of the same name, as everywhere hive folders are read.
    types = {column.name: value_type(column.type) for column in stored}
    added = {part.name: part.type for part in file.partitions}
    columns = needed_columns([*_stored(file, stored.names), *added], options, name)
    return arrow("pyarrow").schema([(column, {**types, **added}[column]) for column in columns])


def _refuse_other_types(first: pa.Schema, other: pa.Schema, path: str, other_path: str) -> None:
    for column in first:
        kind = other.field(column.name).type
        if kind != column.type:
            rule = f"column {column.name!r} to have one type in all files"
            got = f"{column.type} in {path} and {kind} in {other_path}"
            raise InputError(rule, got, hint="Write the files anew with one type.")


def _row_groups(metadata: Any, file: DataFile) -> list[RowGroup]:
    counts = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    before = accumulate(counts, initial=0)
    return [
        RowGroup(file, index, rows, first, 0, rows)
        for index, (rows, first) in enumerate(zip(counts, before, strict=False))
        if rows
    ]


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


@dataclass(frozen=True, eq=False)
class ParquetUnit:
    """Whole series in consecutive row groups; holds paths and numbers, never rows."""

    key: str
    layout: Layout
    row_groups: tuple[RowGroup, ...]
    folder: TemporaryFolder | None = field(default=None, repr=False)
    """Where the files are temporary, keeps them; stays in this process."""
    temporary: bool = False
    """Whether the files are copies that the process wrote which planned the unit."""

    @property
    def rows(self) -> int:
        """How many rows the unit has."""
        return sum(one.stop - one.start for one in self.row_groups)

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series; one row group or a few small ones are in memory at a time."""
        return iter(group(self.read(), self.layout.by))

    def read(self) -> pa.Table:
        """Read the rows of the unit, and only the columns that are needed."""
        if self.temporary:
            _require_copy(self.row_groups[0].file.path)
        return _join(list(self.layout.read_rows(self.row_groups)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "folder": None}


def parquet_source(
    files: Sequence[DataFile],
    options: BatchOptions,
    *,
    name: str,
    kind: Kind = "arrow",
    size: UnitSize | None = None,
    fingerprint: Callable[[], str] | None = None,
    folder: TemporaryFolder | None = None,
    damage: Damage | None = None,
) -> UnitSource:
    """Make a source of Parquet files; nothing but their footers is read for it."""
    footers = read_footers(files, options, name, damage)
    layout, row_groups = footers.layout, footers.row_groups
    planner = _Planner(layout, row_groups, options, name, size or UnitSize(), folder)

    def count() -> int:
        return len(_all_keys(layout, row_groups)) if layout.by else min(len(row_groups), 1)

    source = UnitSource(
        name,
        kind,
        layout.schema,
        fingerprint or partial(files_fingerprint, files),
        planner.units,
        count,
    )
    filled = {row_group.file for row_group in row_groups}
    return with_other_files(source, footers.vacant, filled, footers.damage)


def copied_source(
    tables: Iterable[pa.Table], options: BatchOptions, *, kind: Kind, name: str, size: UnitSize
) -> UnitSource:
    """Copy rows that can be read only once to a temporary file, and make a source of that."""
    folder = TemporaryFolder()
    file = DataFile(str(folder.path / "rows.parquet"))
    rows = size.rows(columns=len({*options.columns}))
    write_in_row_groups(file.path, tables, rows=rows, by=options.by)

    def identify() -> str:
        layout, row_groups, *_ = read_footers([file], options, name)
        return f"{kind}:{content_digest(layout.read(file, [one.number]) for one in row_groups)}"

    more: Any = {"kind": kind, "size": size, "fingerprint": identify, "folder": folder}
    return parquet_source([file], options, name=name, **more)


class ScatteredError(Exception):
    """The rows of a series lie apart, over more row groups than one unit may hold."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


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
        place = place_in({one.file for one in self.row_groups})
        units: list[Unit] = []
        try:
            for unit in self._cut():
                first, rows = unit[0], sum(one.stop - one.start for one in unit)
                start = first.before + first.start
                # Which rows, not which number: a sort may cut row groups elsewhere next time.
                key = f"rows {start}-{start + rows} from {place(first.file)}"
                temporary = self.folder is not None
                units.append(ParquetUnit(key, self.layout, tuple(unit), self.folder, temporary))
        except ScatteredError as error:
            return self._gathered(error)
        return units

    def _cut(self) -> Iterator[list[RowGroup]]:
        """Yield the row groups of each unit; `ScatteredError` if none could hold a whole series."""
        size, columns = self.size, len(self.layout.schema)
        if sum(one.rows for one in self.row_groups) * columns <= size.largest:
            if self.row_groups:
                yield list(self.row_groups)
            return
        # A giant series has no borders to look for: its parts are as large as they may be.
        smallest = size.smallest if self.layout.by else size.largest
        unit: list[RowGroup] = []
        held = 0
        for one, carried in zip(self.row_groups, self._carried(), strict=True):
            here = one
            if held >= (size.largest if carried else smallest) and carried < one.rows:
                yield [*unit, one._replace(stop=carried)] if carried else unit
                unit, held, here = [], 0, one._replace(start=carried)
            unit.append(here)
            held += one.rows * columns
        yield unit

    def _carried(self) -> Iterator[int]:
        """Yield how many rows of each row group belong to the last series of the one before it."""
        finished: set[Key] = set()
        last: Key | None = None
        for row_group in self.row_groups:
            if not self.layout.by:
                yield 0
                continue
            here = RowGroupKeys.read(self.layout, row_group)
            first = next(iter(here.keys))
            apart = [key for key in here.keys if key in finished and key != last]
            if last in here.keys and (first != last or here.first_returns):
                apart.append(last)
            if apart:
                raise ScatteredError(apart[0])
            yield here.head if first == last else 0
            finished.update(here.keys)
            last = here.last

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
        tables = (layout.read(one.file, [one.number]) for one in self.row_groups)
        if sum(one.rows for one in self.row_groups) * len(layout.schema) <= size.held:
            table = _join(list(tables))
            return memory_source(table, self.options, kind="arrow", name=name, size=size).units()
        rows = size.rows(columns=len(layout.schema))
        path, folder = sort_out_of_core(tables, layout, name=name, key=error.key, rows=rows)
        sorted_rows = read_footers([DataFile(str(path))], self.options, name).row_groups
        return replace(self, row_groups=sorted_rows, folder=folder).units()


@dataclass(frozen=True)
class RowGroupKeys:
    """Which series a row group holds, and what happens at its two ends."""

    keys: dict[Key, None]
    """In order of appearance."""
    last: Key
    head: int
    """How many rows the first series has before another one begins."""
    first_returns: bool
    """Whether the first series comes back after another one."""

    @classmethod
    def read(cls, layout: Layout, row_group: RowGroup) -> RowGroupKeys:
        """Read the key columns of a row group."""
        only = row_group.file.key(layout.by)
        if only is not None:  # the names of folders say it
            return cls({only: None}, only, row_group.rows, False)
        table = layout.read(row_group.file, [row_group.number], layout.by)
        starts, numbers, found = key_runs(table, layout.by)
        keys = [tuple(map(_same_nan, key)) for key in found]
        others = np.flatnonzero(numbers != 0)
        run = int(others[0]) if len(others) else len(numbers)
        return cls(
            keys=dict.fromkeys(keys),
            last=keys[numbers[-1]],
            head=int(starts[run]) if run < len(starts) else row_group.rows,
            first_returns=bool((numbers[run:] == 0).any()),
        )


def _same_nan(value: object) -> object:
    """Return one nan for all: it differs from itself, unless it is the same object."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _require_copy(path: str) -> None:
    """Raise where a copy is missing: the reason of a unit is one line, so the remedy is in it."""
    if not Path(path).exists():
        raise InputError(
            f"the temporary copy of the rows, {path}, to be on a disk that every worker sees "
            "(the variable TMPDIR says where it is written)",
            f"no such file on {gethostname()}",
        )


def _join(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; codes of text keys are brought to one dictionary."""
    pyarrow = arrow("pyarrow")
    first, *others = tables
    if any(other.schema != first.schema for other in others):
        tables = [table.cast(plain_schema(table.schema)) for table in tables]
    joined = pyarrow.concat_tables(tables).unify_dictionaries()
    # A few chunks cost less than a copy of everything.
    few = all(column.num_chunks <= _FEW_CHUNKS for column in joined.columns)
    return joined if few else joined.combine_chunks()


def write_in_row_groups(
    path: str, tables: Iterable[pa.Table], *, rows: int, by: Sequence[str]
) -> None:
    """Write tables of one schema below each other."""
    blocks = in_blocks(tables, rows)
    first, writer = next(blocks), arrow("pyarrow.parquet").ParquetWriter
    try:
        with writer(path, first.schema, use_dictionary=list(by)) as target:
            for table in chain([first], blocks):
                target.write_table(table, row_group_size=max(1, table.num_rows))
    except OSError as error:
        rule = f"room in {Path(path).parent.parent} for a copy of the rows"
        hint = "The variable TMPDIR names the folder."
        raise InputError(rule, f"`{error}`", hint=hint) from error

"""What is evaluated together: units of whole series, of a table in memory or of damaged files.

`parquet_units` has those of Parquet files.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from closecall.tables.data_files import place_in
from closecall.tables.grouping import Grouped, content_digest, from_streams, group, to_stream
from closecall.tables.reading import arrow, no_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.errors import InputError
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.data_files import DataFile
    from closecall.tables.grouping import Key


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
        """About how many rows the unit has."""

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield each series: its values of the `by` columns, and its rows in their order.

        Without `by` columns there is one group, with the key ``()``: the whole unit. A giant
        series has several units then, in time order.
        """


@dataclass(frozen=True)
class UnitSize:
    """How many values (rows times columns that are read) are put in a unit."""

    smallest: int = 1_000_000
    """A unit ends at the first border between series after this many."""
    largest: int = 4_000_000
    """After this many, a unit also ends where a series crosses from one row group to the next."""
    held: int = 16_000_000
    """So many are kept in memory where that is simpler than a temporary file."""
    readable: int = 64_000_000
    """A row group of more is cut anew, into a temporary file."""

    def rows(self, *, columns: int) -> int:
        """Return how many rows of so many columns the smallest unit has."""
        return max(1, self.smallest // max(1, columns))


Kind = Literal["pandas", "polars", "arrow"]


@dataclass(frozen=True, eq=False)
class UnitSource:
    """A table or files, ready to be read unit by unit."""

    name: str
    """What messages call it."""
    kind: Kind
    """The kind of table that a result is given back in."""
    schema: pa.Schema
    """Names and types of the columns that are read."""
    fingerprint: Callable[[], str]
    """Works out a text that changes when the data does: a batch is resumed only on the same data.

    Of files it is a hash of their paths, sizes and times of change; of anything else a hash of all
    values that are asked for.
    """
    units: Callable[[], list[Unit]]
    """Plans the units: whole series in each, every row in one of them, in the data's order.

    Files are planned from their footers. Where those leave open to which series the rows at a
    border belong, the key columns are read, and nothing else.
    """
    count: Callable[[], int]
    """Counts the series; of files, the key columns are read for it."""
    paths: tuple[str, ...] = ()
    """The places that were named and the files in them, so that none of them is written."""


def needed_columns(available: Iterable[str], options: BatchOptions, name: str) -> list[str]:
    """Return the columns that are read, in the table's order, or say which one is not there."""
    columns = list(available)
    for argument, column in _roles(options):
        if columns.count(column) != 1:
            raise no_column(column, columns, argument, name)
    wanted = set(options.columns)
    return [column for column in columns if column in wanted]


def _roles(options: BatchOptions) -> Iterator[tuple[str, str]]:
    yield from (("by", column) for column in options.by)
    if options.time is not None:
        yield "time", options.time
    yield "truth", options.truth
    if isinstance(options.ignore, str):
        yield "ignore", options.ignore
    yield from (("score", column) for column in options.scores)
    yield from (("predicted", column) for column in options.predicted)


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
        table = self.grouped.table.combine_chunks()
        return iter(Grouped(table, self.grouped.keys, self.grouped.bounds))

    def __reduce__(self) -> tuple[Any, ...]:
        # A slice would be pickled with all the rows around it; a stream of batches holds its own.
        grouped = self.grouped
        return _from_stream, (self.key, grouped.keys, grouped.bounds, _stream(grouped.table))


def memory_source(
    table: pa.Table,
    options: BatchOptions,
    *,
    kind: Kind,
    name: str,
    size: UnitSize | None = None,
    fingerprint: str | None = None,
) -> UnitSource:
    """Make a source of an Arrow table; only the columns that are needed are kept."""
    kept = table.select(needed_columns(table.column_names, options, name))
    kept = kept.replace_schema_metadata(None)
    sizes = size or UnitSize()

    def identify() -> str:
        return f"{kind}:{content_digest([kept])}" if fingerprint is None else fingerprint

    @cache
    def grouped() -> Grouped:
        return group(kept, options.by)

    return UnitSource(
        name,
        kind,
        kept.schema,
        identify,
        units=lambda: _units(grouped(), sizes),
        count=lambda: len(grouped().keys),
    )


def _units(grouped: Grouped, size: UnitSize) -> list[Unit]:
    wanted = size.rows(columns=grouped.table.num_columns)
    units: list[Unit] = []
    first = 0
    for last in range(1, len(grouped.keys) + 1):
        start, stop = grouped.bounds[first], grouped.bounds[last]
        if stop - start >= wanted or last == len(grouped.keys):
            units.append(MemoryUnit(f"rows {start}-{stop}", grouped.part(first, last)))
            first = last
    return units


def _stream(table: pa.Table) -> bytes:
    pyarrow = arrow("pyarrow")
    table = table.combine_chunks()
    for index, (name, kind) in enumerate(zip(table.schema.names, table.schema.types, strict=True)):
        if pyarrow.types.is_dictionary(kind):
            # Only the values of these series travel, not those of the whole table.
            column = table.column(index).cast(kind.value_type).dictionary_encode()
            table = table.set_column(index, name, column)
    return to_stream(table)


def _from_stream(key: str, keys: list[Key], bounds: list[int], stream: bytes) -> MemoryUnit:
    (table,) = from_streams(stream)
    return MemoryUnit(key, Grouped(table, keys, bounds))


@dataclass(frozen=True)
class DamagedUnit:
    """A file that could not be opened; whoever evaluates it is told why."""

    key: str
    error: InputError
    rows: int = 0

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Raise what is wrong with the file."""
        raise self.error


@dataclass(frozen=True)
class Damage:
    """The damaged ones of some files, and so which series are lost."""

    by: tuple[str, ...]
    files: Sequence[DataFile]
    errors: dict[DataFile, InputError] = field(default_factory=dict)

    def readable_files(
        self, files: Iterable[DataFile], keys: Callable[[DataFile], Iterable[Key]]
    ) -> set[DataFile]:
        """Return the files that can be used: no file of their series is damaged.

        Where folders do not name the series of a damaged file, another one may hold the rest of
        it. If the others share no series among them, it is taken to have its own as well; else,
        or without key columns, the damage is raised.
        """
        lost = {file.key(self.by) for file in self.errors}
        readable = {
            file
            for file in files
            if file not in self.errors and file.key(self.by) not in lost - {None}
        }
        if not readable:
            raise self.refusal()
        if None in lost:
            seen: set[Key] = set()
            if not self.by:
                raise self.refusal()
            for found in (set(keys(file)) for file in readable):
                if seen & found:
                    raise self.refusal()
                seen |= found
        return readable

    def refusal(self) -> InputError:
        """Return the error of the first file, where nothing else is left."""
        return next(iter(self.errors.values()))

    def units(self) -> list[DamagedUnit]:
        """Return a unit that fails for each of them."""
        place = place_in(self.files)
        return [DamagedUnit(f"all of {place(file)}", error) for file, error in self.errors.items()]


def with_other_files(
    source: UnitSource, vacant: Iterable[DataFile], filled: Iterable[DataFile], damage: Damage
) -> UnitSource:
    """Add series that only files without rows name, and a unit that fails for a damaged file."""
    known = {file.key(damage.by) for file in (*filled, *damage.errors)} | {None}
    named = dict.fromkeys(file.key(damage.by) for file in vacant)
    keys = [key for key in named if key is not None and key not in known]
    others: list[Unit] = [*damage.units()]
    if keys:
        without_rows = Grouped(source.schema.empty_table(), keys, [0] * (len(keys) + 1))
        others.insert(0, MemoryUnit("series without rows", without_rows))
    return replace(
        source, units=lambda: [*source.units(), *others], count=lambda: source.count() + len(keys)
    )


class TemporaryFolder:
    """A folder that lives as long as this object, in the place that TMPDIR names."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="closecall-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    # A forked worker has a copy of the object, and must leave the folder alone.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)

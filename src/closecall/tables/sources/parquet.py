"""Parquet files: a unit names row groups, and reads them where it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected
from closecall.tables.reading import arrow
from closecall.tables.sources.grouping import group
from closecall.tables.sources.key_reader import KeyReader
from closecall.tables.sources.memory import memory_source
from closecall.tables.sources.paths import DataFile, files_fingerprint, place_in
from closecall.tables.sources.planning import ScatteredError, plan_spans
from closecall.tables.sources.recutting import write_in_row_groups
from closecall.tables.sources.row_groups import read_footers
from closecall.tables.sources.sorting import sort_out_of_core
from closecall.tables.sources.source import Source
from closecall.tables.sources.temporary import TemporaryFolder
from closecall.tables.sources.unit import UnitSize
from closecall.tables.sources.vacant import vacant_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.planning import Span
    from closecall.tables.sources.row_groups import Layout, RowGroup
    from closecall.tables.sources.source import Kind
    from closecall.tables.sources.unit import Key, Unit

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
    question: Question,
    *,
    name: str,
    kind: Kind = "arrow",
    size: UnitSize | None = None,
    fingerprint: str | None = None,
    folder: TemporaryFolder | None = None,
) -> Source:
    """Make a source of Parquet files; nothing but their footers is read for it.

    Parameters
    ----------
    files
        In the order of their rows.
    question
        Which columns are asked for.
    name
        What messages call the files.
    kind
        The kind of table that a result is given back in.
    size
        How many values a unit has.
    fingerprint
        What the data is; by default paths, sizes and times of change.
    folder
        Keeps temporary files for as long as a unit needs them.
    """
    footers = read_footers(files, question, name)
    layout, row_groups = footers.layout, footers.row_groups
    planner = _Planner(layout, row_groups, question, name, size or UnitSize(), folder)

    def identify() -> str:
        return files_fingerprint(files) if fingerprint is None else fingerprint

    def plan() -> list[Unit]:
        known = {row_group.file for row_group in row_groups} | footers.damage.reasons.keys()
        vacant = vacant_units(footers.vacant, known, layout.schema, layout.by)
        return [*planner.units(), *vacant, *footers.damage.units(files)]

    return Source(name, kind, layout.schema, identify, plan)


@dataclass(frozen=True, eq=False)
class _Planner:
    """Cuts row groups into units, and has them sorted first where series are scattered."""

    layout: Layout
    row_groups: Sequence[RowGroup]
    question: Question
    name: str
    size: UnitSize
    folder: TemporaryFolder | None

    def units(self) -> list[Unit]:
        columns = len(self.layout.schema)
        if any(one.rows * columns > self.size.readable for one in self.row_groups):
            return self._recut(self.size.rows(columns=columns))
        reader = KeyReader(self.layout, self.row_groups)
        try:
            spans = plan_spans(reader, columns=columns, size=self.size)
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
        smaller = read_footers([file], self.question, self.name).row_groups
        return replace(self, row_groups=smaller, folder=folder).units()

    def _gathered(self, error: ScatteredError) -> list[Unit]:
        """Bring the rows of each series together: in memory if they are few, else on disk."""
        layout, name, size = self.layout, self.name, self.size
        tables = (layout.read(one.file, [one.index]) for one in self.row_groups)
        if sum(one.rows for one in self.row_groups) * len(layout.schema) <= size.held:
            table = _join(list(tables))
            return memory_source(table, self.question, kind="arrow", name=name, size=size).units()
        rows = size.rows(columns=len(layout.schema))
        path, folder = sort_out_of_core(tables, layout, name=name, key=error.key, rows=rows)
        sorted_rows = read_footers([DataFile(str(path))], self.question, name).row_groups
        return replace(self, row_groups=sorted_rows, folder=folder).units()


def _require_copy(path: str) -> None:
    """Say where a copy is missing: the reason of a unit is one line, so the remedy is in it."""
    if not Path(path).exists():
        raise InputError(
            expected(
                f"the temporary copy of the rows, {path}, to be on a disk that every worker sees "
                "(the variable TMPDIR says where it is written)",
                f"no such file on {gethostname()}",
            )
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

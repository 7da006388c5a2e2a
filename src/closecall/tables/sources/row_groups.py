"""The row groups of Parquet files, as their footers describe them, and how one is read."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected, first_line
from closecall.tables.reading import arrow
from closecall.tables.sources.bounds import ColumnRange, column_range
from closecall.tables.sources.damaged import Damage
from closecall.tables.sources.needed import needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.paths import DataFile

_SMALL_BUFFER = 2**16  # bytes read at a time where only the first rows are wanted


@dataclass(frozen=True)
class RowGroup:
    """One row group of one file: how many rows, and between which values its keys lie."""

    file: DataFile
    index: int
    rows: int
    ranges: tuple[ColumnRange | None, ...]
    """For each `by` column; None where only the rows can tell."""


@dataclass(frozen=True)
class Layout:
    """The columns that are read, and of which types; every file must have them."""

    by: tuple[str, ...]
    schema: pa.Schema

    def read(
        self, file: DataFile, row_groups: Iterable[int], columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read row groups of a file: all columns, or some of them."""
        schema = self._chosen(columns)
        stored = [name for name in schema.names if name not in _folder_columns(file, schema)]
        with _open(file, self._codes(file)) as parquet, _naming(file):
            return _complete(parquet.read_row_groups(list(row_groups), stored), file, schema)

    def read_first(self, file: DataFile, row_group: int, rows: int) -> pa.Table:
        """Read the first rows of a row group, and little of what follows them."""
        pyarrow = arrow("pyarrow")
        stored = [n for n in self.schema.names if n not in _folder_columns(file, self.schema)]
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
        stored = [n for n in self.schema.names if n not in _folder_columns(file, self.schema)]
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
        added = _folder_columns(file, self.schema)
        return [n for n in self.by if n not in added and _is_text(self.schema.field(n))]

    def _chosen(self, columns: Sequence[str] | None) -> pa.Schema:
        if columns is None:
            return self.schema
        return arrow("pyarrow").schema([self.schema.field(name) for name in columns])


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


def read_footers(files: Sequence[DataFile], question: Question, name: str) -> Footers:
    """Read the footer of every file; one without rows may have columns of any type.

    A file that cannot be read is refused, since the others may hold the rest of its series; unless
    the names of folders say which series that is.
    """
    layout: Layout | None = None
    without_rows: Layout | None = None
    row_groups: list[RowGroup] = []
    vacant: list[DataFile] = []
    damage = Damage(question.by)
    for file, parquet in _opened(files, damage):
        schema = _needed_schema(parquet, file, question, name if len(files) == 1 else file.path)
        if not parquet.metadata.num_rows:
            vacant.append(file)
            without_rows = without_rows or Layout(question.by, schema)
            continue
        if layout is None:
            layout = Layout(question.by, schema)
        else:
            _refuse_other_types(layout.schema, schema, row_groups[0].file.path, file.path)
        row_groups += _row_groups(parquet, file, layout)
    layout = layout or without_rows
    if layout is None:
        raise damage.refusal()
    spared = damage.spared(files)
    return Footers(layout, [one for one in row_groups if one.file in spared], vacant, damage)


def _opened(files: Iterable[DataFile], damage: Damage) -> Iterator[tuple[DataFile, Any]]:
    """Open each file in turn, and note those that cannot be."""
    for file in files:
        try:
            opened = _open(file)
        except InputError as error:
            damage.note(file, str(error))
        else:
            with opened as parquet:
                yield file, parquet


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
    """Say which file cannot be read, and why."""
    try:
        yield
    except (arrow("pyarrow").ArrowException, OSError) as error:
        raise InputError(
            expected(
                f"{file.path} to be a whole Parquet file",
                f"`{first_line(error)}`",
                "Write it again, or leave it out; what is left of it does not tell what is lost.",
            )
        ) from error


@lru_cache(maxsize=2)  # a unit reads from one file, or from two
def _footer(path: str, size: int, changed: int) -> Any:  # noqa: ARG001 - of which file it is
    """Read a footer: once, and not for each of the units that a file is cut into."""
    return arrow("pyarrow.parquet").read_metadata(path)


def _is_text(field: pa.Field) -> bool:
    types = arrow("pyarrow").types
    return bool(types.is_string(field.type) or types.is_large_string(field.type))


def _folder_columns(file: DataFile, schema: pa.Schema) -> dict[str, Any]:
    return {part.name: part for part in file.partitions if part.name in schema.names}


def _needed_schema(parquet: Any, file: DataFile, question: Question, name: str) -> pa.Schema:
    pyarrow = arrow("pyarrow")
    stored = parquet.schema_arrow
    # A folder's name wins over a column of the same name, as everywhere hive folders are read.
    added = {part.name: part.type for part in file.partitions}
    names = [column for column in stored.names if column not in added]
    columns = needed_columns([*names, *added], question, name)
    return pyarrow.schema(
        [(n, added[n] if n in added else _plain(stored.field(n).type)) for n in columns]
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if arrow("pyarrow").types.is_dictionary(kind) else kind


def _refuse_other_types(first: pa.Schema, other: pa.Schema, path: str, other_path: str) -> None:
    for field in first:
        kind = other.field(field.name).type
        if kind != field.type:
            raise InputError(
                expected(
                    f"column {field.name!r} to have one type in all files",
                    f"{field.type} in {path} and {kind} in {other_path}",
                    "Write the files anew with one type.",
                )
            )


def _row_groups(parquet: Any, file: DataFile, layout: Layout) -> list[RowGroup]:
    metadata = parquet.metadata
    places = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    added = _folder_columns(file, layout.schema)
    found = []
    for index in range(metadata.num_row_groups):
        row_group = metadata.row_group(index)
        ranges = tuple(
            ColumnRange.of_one(added[name].value)
            if name in added
            else column_range(row_group, places.get(name), layout.schema.field(name).type)
            for name in layout.by
        )
        if row_group.num_rows:
            found.append(RowGroup(file, index, row_group.num_rows, ranges))
    return found


def _complete(table: pa.Table, file: DataFile, schema: pa.Schema) -> pa.Table:
    """Add the columns that stand in the names of folders, in the order of the layout."""
    types = arrow("pyarrow").types
    for part in _folder_columns(file, schema).values():
        table = table.append_column(part.name, part.column(table.num_rows))
    table = table.select(schema.names).replace_schema_metadata(None)
    for index, field in enumerate(schema):
        column = table.column(index)
        if column.type != field.type and not types.is_dictionary(column.type):
            table = table.set_column(index, field.name, column.cast(field.type))
    return table

"""Rows that come as a stream: kept in memory if they are few, else in a temporary Parquet file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected, first_line
from closecall.tables.reading import arrow
from closecall.tables.sources.content import ContentDigest
from closecall.tables.sources.memory import memory_source
from closecall.tables.sources.needed import needed_columns
from closecall.tables.sources.parquet import parquet_source
from closecall.tables.sources.paths import DataFile
from closecall.tables.sources.recutting import write_in_row_groups
from closecall.tables.sources.temporary import TemporaryFolder
from closecall.tables.sources.unit import UnitSize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.source import Kind, Source


def spooled_source(
    tables: Iterable[pa.Table],
    question: Question,
    *,
    kind: Kind,
    name: str,
    size: UnitSize | None = None,
    fingerprint: str | None = None,
) -> Source:
    """Make a source of rows that come part by part, and can be read only once.

    Parameters
    ----------
    tables
        The rows, part by part; at least one part, which may be empty.
    question
        Which columns are asked for.
    kind
        The kind of table that a result is given back in.
    name
        What messages call the rows.
    size
        How many values a unit has, and how many are kept in memory.
    fingerprint
        What the data is; a hash of the values if not given.
    """
    pyarrow = arrow("pyarrow")
    sizes = size or UnitSize()
    parts = _same_schema(tables, question, name)
    held, all_of_them = _take(parts, sizes.held)
    if all_of_them:
        table = pyarrow.concat_tables(held)
        return memory_source(
            table, question, kind=kind, name=name, size=sizes, fingerprint=fingerprint
        )
    width = held[0].num_columns
    folder = TemporaryFolder()
    file = DataFile(str(folder.path / "rows.parquet"))
    # Hashed as it passes by, which costs less than to read the file once more.
    digest = ContentDigest(held[0].schema) if fingerprint is None else None
    rows = sizes.rows(columns=width)
    write_in_row_groups(file.path, _draining(held, parts), rows=rows, by=question.by, digest=digest)
    return parquet_source(
        [file],
        question,
        name=name,
        kind=kind,
        size=sizes,
        fingerprint=fingerprint if digest is None else f"{kind}:{digest.hexdigest()}",
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


def _same_schema(tables: Iterable[pa.Table], question: Question, name: str) -> Iterator[pa.Table]:
    """Keep the columns that are needed, of the types that they have in the first part."""
    pyarrow = arrow("pyarrow")
    schema: Any = None
    for table in tables:
        columns = needed_columns(table.column_names, question, name)
        part = table.select(columns).replace_schema_metadata(None)
        plain = pyarrow.schema([(one.name, _plain(one.type)) for one in part.schema])
        schema = schema or plain
        try:
            yield part.cast(schema)
        except pyarrow.ArrowException as error:
            raise InputError(
                expected(
                    f"all parts of {name} to have one schema",
                    f"`{first_line(error)}`",
                )
            ) from error


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if arrow("pyarrow").types.is_dictionary(kind) else kind


def _draining(held: list[pa.Table], parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield what was taken and then the rest, and hold on to nothing."""
    while held:
        yield held.pop(0)
    yield from parts

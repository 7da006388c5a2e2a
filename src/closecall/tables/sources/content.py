"""A table as an Arrow stream, and its hash, the same however rows are cut into chunks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from closecall.tables.reading import arrow, plain_schema

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_ROWS = 2**18  # hashed together, wherever chunks begin and end


class ContentDigest:
    """The hash of rows that come part by part, all with one schema."""

    def __init__(self, schema: pa.Schema) -> None:
        plain = [(one.name, str(one.type)) for one in plain_schema(schema)]
        self._hash = hashlib.sha256(repr(plain).encode())
        self._waiting = schema.empty_table()

    def update(self, table: pa.Table) -> None:
        """Add the rows of the next part."""
        self._waiting = arrow("pyarrow").concat_tables([self._waiting, table])
        while self._waiting.num_rows >= _BLOCK_ROWS:
            self._add(self._waiting.slice(0, _BLOCK_ROWS))
            self._waiting = self._waiting.slice(_BLOCK_ROWS)

    def hexdigest(self) -> str:
        """Return the hash of all parts."""
        self._add(self._waiting)
        self._waiting = self._waiting.slice(0, 0)
        return self._hash.hexdigest()

    def _add(self, block: pa.Table) -> None:
        pyarrow = arrow("pyarrow")
        for column in block.columns:
            array = _plain(column)
            # What lies under a null means nothing, and may differ between equal tables.
            for part in (array.is_null().cast("uint8"), array.drop_null()):
                self._hash.update(pyarrow.record_batch([part], names=["column"]).serialize())


def to_stream(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = arrow("pyarrow").BufferOutputStream()
    with arrow("pyarrow.ipc").new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_streams(streams: bytes) -> list[pa.Table]:
    """Return the tables of Arrow streams that follow each other."""
    source = arrow("pyarrow").BufferReader(streams)
    tables = []
    while source.tell() < source.size():
        tables.append(arrow("pyarrow.ipc").open_stream(source).read_all())
    return tables


def content_digest(table: pa.Table) -> str:
    """Return a hash of the names, the types and the values of a table."""
    digest = ContentDigest(table.schema)
    digest.update(table)
    return digest.hexdigest()


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return one array of the values themselves; bits would keep those of their neighbours."""
    pyarrow = arrow("pyarrow")
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_string_view(kind):
        column = column.cast(pyarrow.large_string())
    elif types.is_boolean(kind):
        column = column.cast(pyarrow.uint8())
    return column.combine_chunks()

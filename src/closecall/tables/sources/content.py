"""What a table holds, as a hash: the same for equal rows, however they are cut into chunks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.tables.reading import arrow

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

_BLOCK_ROWS = 2**18  # copied at a time, where values have to be decoded
_BYTE = 8


def content_digest(table: pa.Table) -> str:
    """Return a hash of the names, the types and the values of a table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"score": [0.5, 0.25]})
    >>> halves = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    >>> content_digest(halves) == content_digest(table)
    True
    >>> content_digest(pa.table({"score": [0.5, 0.75]})) == content_digest(table)
    False
    """
    digest = ContentDigest(table.schema)
    digest.update(table)
    return digest.hexdigest()


class ContentDigest:
    """The hash of rows that come part by part, all with one schema."""

    def __init__(self, schema: pa.Schema) -> None:
        self._columns = [_ColumnDigest(field.name, field.type) for field in schema]

    def update(self, table: pa.Table) -> None:
        """Add the rows of the next part."""
        for digest, column in zip(self._columns, table.columns, strict=True):
            digest.update(column)

    def hexdigest(self) -> str:
        """Return the hash of all parts so far."""
        return hashlib.sha256(b"".join(one.digest() for one in self._columns)).hexdigest()


class _ColumnDigest:
    """Values, lengths of texts and places of nulls, each as one run of bytes without borders."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        coded = arrow("pyarrow").types.is_dictionary(kind)
        self._head = repr((name, str(kind.value_type if coded else kind)))
        self._rows = 0
        self._values, self._lengths, self._nulls = (hashlib.sha256() for _ in range(3))

    def update(self, column: pa.ChunkedArray) -> None:
        for block in _blocks(column):
            present = block
            if block.null_count:
                missing = np.flatnonzero(block.is_null().to_numpy(zero_copy_only=False))
                self._nulls.update((missing + self._rows).astype(np.int64).tobytes())
                # What lies under a null means nothing, and may differ between equal tables.
                present = block.drop_null()
            if len(present):
                self._add(present)
            self._rows += len(block)

    def digest(self) -> bytes:
        parts = [hashlib.sha256(f"{self._head}{self._rows}".encode())]
        parts += [self._values, self._lengths, self._nulls]
        return b"".join(part.digest() for part in parts)

    def _add(self, block: pa.Array) -> None:
        types, kind = arrow("pyarrow").types, block.type
        if types.is_boolean(kind):
            block, kind = block.cast("uint8"), arrow("pyarrow").uint8()
        if _is_text(kind):
            offsets = _offsets(block)
            self._lengths.update(np.diff(offsets).astype(np.int64))
            self._values.update(_bytes(block.buffers()[2], int(offsets[0]), int(offsets[-1])))
        elif types.is_primitive(kind) or types.is_decimal(kind):
            width = kind.bit_width // _BYTE
            stop = block.offset + len(block)
            self._values.update(_bytes(block.buffers()[1], block.offset * width, stop * width))
        else:  # lists and the like, which no question can use
            self._values.update("".join(f"{value!r}\0" for value in block.to_pylist()).encode())


def _blocks(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Cut chunks into blocks; codes become the values that they stand for."""
    pyarrow = arrow("pyarrow")
    types = pyarrow.types
    for chunk in column.chunks:
        for start in range(0, len(chunk), _BLOCK_ROWS):
            block = chunk.slice(start, _BLOCK_ROWS)
            if types.is_dictionary(block.type):
                block = block.dictionary_decode()
            if types.is_string_view(block.type):
                block = block.cast(pyarrow.large_string())
            yield block


def _is_text(kind: pa.DataType) -> bool:
    types = arrow("pyarrow").types
    known = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(is_one(kind) for is_one in known)


def _offsets(block: pa.Array) -> Any:
    types = arrow("pyarrow").types
    large = types.is_large_string(block.type) or types.is_large_binary(block.type)
    offsets = np.frombuffer(block.buffers()[1], dtype=np.int64 if large else np.int32)
    return offsets[block.offset : block.offset + len(block) + 1]


def _bytes(buffer: pa.Buffer | None, start: int, stop: int) -> memoryview:
    return memoryview(b"" if buffer is None else buffer)[start:stop]

"""Arrow columns as numpy arrays, without a copy where Arrow's memory is numpy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def to_numpy(column: pa.ChunkedArray, name: str) -> NDArray[Any]:
    """Give a column as an array; datetimes with a time zone become datetimes in UTC.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_numpy(pa.chunked_array([[0.5], [1.5]]), "score")
    array([0.5, 1.5])
    """
    if column.null_count:
        raise _missing(column, name)
    plain = plain_values(column)
    chunk = plain.chunk(0) if plain.num_chunks == 1 else plain.combine_chunks()
    array: NDArray[Any] = chunk.to_numpy(zero_copy_only=False)
    return array


def plain_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn categories into their values, and decimals, which numpy does not know, into floats."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain_values(column.cast(kind.value_type))
    return column.cast(pa.float64()) if pa.types.is_decimal(kind) else column


def _missing(column: pa.ChunkedArray, name: str) -> InputError:
    import pyarrow.compute as pc

    index = pc.index(column.is_null(), value=True).as_py()
    return InputError(
        expected(
            f"`{name}` to have no missing values",
            f"a null at index {index}",
            "Drop or fill those rows first.",
        )
    )

"""Between which keys the rows of a row group lie, as far as its statistics tell.

Keys of several columns are compared as tuples. Each value is written as a tuple that begins with
its rank, so that nulls and unknown ends have a place in the order as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closecall.tables.reading import arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

Place = tuple[Any, ...]
"""A value as it is ordered: its rank, and then itself if it is an ordinary one."""
OrderedKey = tuple[Place, ...]

_LEAST: Place = (0,)
_NAN: Place = (2,)
_NULL: Place = (3,)
_GREATEST: Place = (4,)


def place(value: Any) -> Place:
    """Write a key value so that any two values of a column can be compared.

    Examples
    --------
    >>> place("a") < place("b") < place(None)
    True
    """
    if value is None:
        return _NULL
    if isinstance(value, float) and math.isnan(value):
        return _NAN
    return (1, value)


@dataclass(frozen=True)
class ColumnRange:
    """The smallest and the largest value of one column of a row group."""

    lower: Place
    upper: Place

    @classmethod
    def of_one(cls, value: Any) -> ColumnRange:
        """Return the range of a column that has one value."""
        return cls(place(value), place(value))


@dataclass(frozen=True)
class Bounds:
    """The keys of a row group lie between these two, both included."""

    lower: OrderedKey
    upper: OrderedKey

    @classmethod
    def of_ranges(cls, ranges: Sequence[ColumnRange | None]) -> Bounds:
        """Combine the ranges of columns; behind one that varies, nothing is known.

        Examples
        --------
        >>> one, some = ColumnRange.of_one("a"), ColumnRange(place(1), place(7))
        >>> Bounds.of_ranges([one, some]).upper
        ((1, 'a'), (1, 7))
        >>> Bounds.of_ranges([some, one]).upper
        ((1, 7), (4,))
        """
        lower: list[Place] = []
        upper: list[Place] = []
        constant = True
        for known in ranges:
            found = known if constant and known is not None else ColumnRange(_LEAST, _GREATEST)
            lower.append(found.lower)
            upper.append(found.upper)
            constant = constant and found.lower == found.upper
        return cls(tuple(lower), tuple(upper))


def column_range(row_group: Any, index: int | None, kind: pa.DataType) -> ColumnRange | None:
    """Read the statistics of one column, where they are exact enough to order keys by.

    Long text may be cut in statistics, but the range then only grows, so that ranges that lie
    apart really do.
    """
    statistics = None if index is None else row_group.column(index).statistics
    if statistics is None or not _is_ordered(kind) or not statistics.has_null_count:
        return None
    if statistics.null_count == row_group.num_rows:
        return ColumnRange(_NULL, _NULL)
    if not statistics.has_min_max:
        return None
    upper = _NULL if statistics.null_count else place(statistics.max)
    return ColumnRange(place(statistics.min), upper)


def _is_ordered(kind: pa.DataType) -> bool:
    """Say whether Python orders the values of a type as Parquet does, and loses none of them."""
    types = arrow("pyarrow").types
    return bool(
        types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_date32(kind)
    )

"""Which columns of a table are the truth, the predictions and the times."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events
from closecall.tables.files import arrow

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

Role = Literal["truth", "predicted", "score"]
_EVENT_COLUMNS = ("start", "stop")


@dataclass(frozen=True, eq=False)
class Source:
    """A table and what messages call it."""

    name: str
    table: pa.Table

    @property
    def columns(self) -> list[str]:
        """The table's column names, in order."""
        return list(self.table.column_names)

    def column(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column, or say which columns there are."""
        count = self.columns.count(name)
        if count == 1:
            return self.table.column(name)
        rule = f"`{argument}` to name a column of {self.name}"
        if count > 1:
            raise InputError(expected(rule, f"{name!r}, which {count} columns are called"))
        close = difflib.get_close_matches(name, self.columns, n=1)
        suggestion = f"Did you mean {close[0]!r}? " if close else ""
        raise InputError(expected(rule, repr(name), suggestion + _listing(self)))

    def times(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column of times; dates and ISO text become datetimes."""
        return _as_times(self.column(name, argument), f"{name!r} of {self.name}")


def both_sources(
    truth_table: pa.Table, other_table: pa.Table | None, names: tuple[str, str]
) -> list[Source]:
    """Name the tables: one that holds both sides, or two."""
    tables = [truth_table] if other_table is None else [truth_table, other_table]
    return [Source(name, table) for name, table in zip(names, tables, strict=False)]


def refuse_standard_input_twice(
    truth_file: str | PathLike[str], other_file: str | PathLike[str] | None
) -> None:
    """Refuse ``-`` for both files, since a stream can be read only once."""
    if str(truth_file) == str(other_file) == "-":
        raise InputError(
            expected(
                "standard input to be read once",
                "`-` for both files",
                "Leave out the second file where one table holds both columns.",
            )
        )


def read_side(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> Events | pa.ChunkedArray:
    """Return one side of the comparison: a column of 0/1 labels, or an event list.

    Parameters
    ----------
    source
        The table to take it from.
    role
        Which side it is; also the column that is taken where none is asked for.
    asked
        A column of 0/1 labels, or two columns ``START,STOP`` of an event list.
    time
        The column of times, which is never a label.
    shared
        Whether the table also holds the other side, so that nothing follows from its shape.
    """
    pair = _event_columns(source, role, asked, shared=shared)
    if pair is not None:
        return _events(source, role, pair)
    return read_values(source, role, asked, time=time, shared=shared)


def read_values(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> pa.ChunkedArray:
    """Return a column with one value per sample: the one asked for, or the one that must be it.

    The arguments are those of `read_side`.
    """
    if asked is not None:
        return source.column(asked, role)
    if role in source.columns:
        return source.column(role, role)
    others = [name for name in source.columns if name != time]
    if len(others) == 1 and not shared:
        return source.column(others[0], role)
    raise InputError(
        expected(f"`{role}` to name a column of {source.name}", "no name", _listing(source))
    )


def read_sample_times(
    sources: list[Source], time: str | None, truth: Events | pa.ChunkedArray
) -> pa.ChunkedArray | None:
    """Return the times of the samples, which must be named beside a list of events."""
    if isinstance(truth, Events):
        if time is None:
            raise InputTypeError(
                expected(
                    "`time` beside a list of events",
                    "none",
                    "Name the column that says when each sample was taken: `time=` in Python, "
                    "`--time COLUMN` on the command line.",
                )
            )
        sources = sources[-1:]  # the times of events are no samples
    return None if time is None else read_times(sources, time)


def read_times(sources: list[Source], time: str) -> pa.ChunkedArray:
    """Return the column of times of whichever tables have it; several must agree."""
    holders = [source for source in sources if time in source.columns] or sources[:1]
    first, *rest = holders
    times = first.times(time, "time")
    for other in rest:
        _refuse_difference(first, times, other, other.times(time, "time"))
    return times


def _event_columns(
    source: Source, role: Role, asked: str | None, *, shared: bool
) -> tuple[str, str] | None:
    columns = source.columns
    if asked is None:
        by_name = not shared and role not in columns and set(_EVENT_COLUMNS) <= set(columns)
        return _EVENT_COLUMNS if by_name else None
    start, comma, stop = asked.partition(",")
    return (start.strip(), stop.strip()) if comma and asked not in columns else None


def _events(source: Source, role: Role, pair: tuple[str, str]) -> Events:
    starts, stops = (source.times(name, role) for name in pair)
    if len(starts) == 0:
        return Events([])
    return Events.from_arrays(starts, stops)


def _as_times(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    pyarrow = arrow("pyarrow")
    types = pyarrow.types
    if types.is_date(column.type):
        return column.cast(pyarrow.timestamp("ms"))
    if types.is_time(column.type):
        raise InputTypeError(
            expected(f"column {name} to hold numbers or ISO times", "times of day without a date")
        )
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return column
    for kind in (pyarrow.timestamp("us"), pyarrow.timestamp("us", tz="UTC")):
        try:
            return column.cast(kind)
        except pyarrow.ArrowInvalid:
            continue
    raise InputTypeError(
        expected(
            f"column {name} to hold numbers or ISO times",
            f"text such as {column[0].as_py()!r}",
            "Write times as 2024-01-31 08:05:00, all with an offset such as +01:00 or none.",
        )
    )


def _refuse_difference(
    first: Source, times: pa.ChunkedArray, other: Source, others: pa.ChunkedArray
) -> None:
    if len(times) != len(others):
        return  # the labels differ in length too, and that message is clearer
    rule = f"the times of {first.name} and {other.name} to agree"
    if (getattr(times.type, "tz", None) is None) != (getattr(others.type, "tz", None) is None):
        raise InputError(expected(rule, "a time zone in only one of them"))
    left, right = _comparable(times), _comparable(others)
    if (left.dtype.kind == "M") != (right.dtype.kind == "M"):
        raise InputError(expected(rule, "datetimes in only one of them"))
    differ = left != right
    if differ.any():
        index = int(differ.argmax())
        raise InputError(
            expected(
                rule,
                f"{times[index].as_py()} and {others[index].as_py()} at index {index}",
                "Both files must hold the same samples, in the same order.",
            )
        )


def _comparable(times: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    return np.asarray(times.to_numpy())


def _listing(source: Source) -> str:
    return f"Its columns are: {', '.join(source.columns)}."

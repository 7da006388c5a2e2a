"""Which columns of a table are the truth, the predictions, the scores and the times."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events
from closecall.tables.reading import read_table, shown_name

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

    @property
    def listing(self) -> str:
        """The hint that names the columns."""
        return f"Its columns are: {', '.join(self.columns)}."

    def column(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column; raise if there is none of that name, or several."""
        count = self.columns.count(name)
        if count == 1:
            return self.table.column(name)
        rule = f"`{argument}` to name a column of {self.name}"
        if count > 1:
            raise InputError(expected(rule, f"{name!r}, which {count} columns are called"))
        close = difflib.get_close_matches(name, self.columns, n=1)
        suggestion = f"Did you mean {close[0]!r}? " if close else ""
        raise InputError(expected(rule, repr(name), suggestion + self.listing))

    def times(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column of times; dates and ISO text become datetimes."""
        return _as_times(self.column(name, argument), f"{name!r} of {self.name}")


def read_sources(
    truth_file: str | PathLike[str], other_file: str | PathLike[str] | None = None
) -> list[Source]:
    """Read the table that holds both sides, or the two tables."""
    if str(truth_file) == str(other_file) == "-":
        raise InputError(
            expected(
                "standard input to be read once",
                "`-` for both files",
                "Leave out the second file where one table holds both columns.",
            )
        )
    files = [truth_file] if other_file is None else [truth_file, other_file]
    return [Source(shown_name(file), read_table(file)) for file in files]


def named_sources(
    truth_table: pa.Table, other_table: pa.Table | None, names: tuple[str, str]
) -> list[Source]:
    """Name the table that holds both sides, or the two tables."""
    tables = [truth_table] if other_table is None else [truth_table, other_table]
    return [Source(name, table) for name, table in zip(names, tables, strict=False)]


def affiliation_arguments(
    sources: list[Source],
    *,
    truth: str | None = None,
    predicted: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
) -> dict[str, Any]:
    """Return what `closecall.affiliation` takes; the options are those of `score_files`."""
    shared = len(sources) == 1
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    claimed = read_side(sources[-1], "predicted", predicted, time=time, shared=shared)
    if span is None and (isinstance(actual, Events) or isinstance(claimed, Events)):
        raise InputTypeError(
            expected(
                "`span` with a list of events",
                "none",
                "Say where the whole series starts and stops: `span=(start, stop)` in Python, "
                "`--span START STOP` on the command line.",
            )
        )
    times = None if time is None else read_times(sources, time)
    if isinstance(actual, Events) != isinstance(claimed, Events):
        actual, claimed = (
            side if isinstance(side, Events) else Events.from_labels(side, times=times, end=end)
            for side in (actual, claimed)
        )
        times = end = None
    return {"truth": actual, "predicted": claimed, "times": times, "end": end, "span": span}


def read_side(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> Events | pa.ChunkedArray:
    """Return one side of the comparison: a column of 0/1 labels, or an event list.

    It is `asked` for as a column, or as ``START,STOP``; else a column called like the `role` is
    taken, or what must be it: nothing follows from the shape of a table that is `shared` with the
    other side, and the column of times is never a label.
    """
    columns = source.columns
    pair: tuple[str, ...] | None = None
    if asked is None:
        if not shared and role not in columns and set(_EVENT_COLUMNS) <= set(columns):
            pair = _EVENT_COLUMNS
    elif asked not in columns and "," in asked:
        start, _, stop = asked.partition(",")
        pair = (start.strip(), stop.strip())
    if pair is None:
        return read_values(source, role, asked, time=time, shared=shared)
    starts, stops = (source.times(name, role) for name in pair)
    return Events.from_arrays(starts, stops) if len(starts) else Events([])


def read_values(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> pa.ChunkedArray:
    """Return a column with one value per sample, found as by `read_side`."""
    if asked is not None:
        return source.column(asked, role)
    if role in source.columns:
        return source.column(role, role)
    others = [name for name in source.columns if name != time]
    if len(others) == 1 and not shared:
        return source.column(others[0], role)
    raise InputError(
        expected(f"`{role}` to name a column of {source.name}", "no name", source.listing)
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
        _require_agreement(first, times, other, other.times(time, "time"))
    return times


def _as_times(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    import pyarrow as pa

    types = pa.types
    if types.is_date(column.type):
        return column.cast(pa.timestamp("ms"))
    if types.is_time(column.type):
        raise InputTypeError(
            expected(f"column {name} to hold numbers or ISO times", "times of day without a date")
        )
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return column
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    raise InputTypeError(
        expected(
            f"column {name} to hold numbers or ISO times",
            f"text such as {column[0].as_py()!r}",
            "Write times as 2024-01-31 08:05:00, all with an offset such as +01:00 or none.",
        )
    )


def _require_agreement(
    first: Source, times: pa.ChunkedArray, other: Source, others: pa.ChunkedArray
) -> None:
    if len(times) != len(others):
        return  # the labels differ in length too, and that message is clearer
    rule = f"the times of {first.name} and {other.name} to agree"
    (left, zone), (right, other_zone) = (read_column(column, "time") for column in (times, others))
    if (zone is None) != (other_zone is None):
        raise InputError(expected(rule, "a time zone in only one of them"))
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

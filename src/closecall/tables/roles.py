"""Which columns of a table are the truth, predictions, scores and times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.clock import read_times as read_ticks
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError
from closecall.events import Events
from closecall.parameters import read_name
from closecall.tables.incidents import (
    details_of,
    event_columns,
    events_of,
    is_duration,
    read_listing,
)
from closecall.tables.reading import is_iso_time, no_column, plain_values
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.incidents import Listing, Reader

Role = Literal["truth", "predicted", "score", "ignore"]
DISORDERS = ("error", "sort", "first", "last", "mean")
"""What to do where times repeat or go back."""
MENDED = DISORDERS[2:]
"""Those that keep one sample of each time."""
_LABELS, _AVERAGED = {"truth", "predicted", "ignore", "trivial"}, {"score", "value"}
_WILD = {*"*?["}
_OPEN_HINT = "Let such events last to the end of the series with `open='until-end'`."


@dataclass(frozen=True, eq=False)
class Source:
    """A table and what messages call it; `reader` reads a list of events that is no such table."""

    name: str
    table: pa.Table
    reader: Reader | None = None
    order: TimeOrder | None = None
    """Where each sample of the table belongs, if they are put in the order of time."""

    @cached_property
    def columns(self) -> list[str]:
        """The table's column names, in order; Arrow writes them anew each time it is asked."""
        return list(self.table.column_names)

    @property
    def listing(self) -> str:
        """The hint that names the columns."""
        if self.reader is not None and not self.columns:
            return "It lists events: name no column of it, or two, as START,STOP."
        return f"Its columns are: {listed(self.columns)}."

    def column(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column; raise if there is none of that name, or several."""
        if self.columns.count(read_name(name, argument)) != 1:
            raise no_column(name, self.columns, argument, self.name, self.listing)
        column = self.table.column(name)
        return column if self.order is None else self.order.apply(column, argument)

    def matching(self, patterns: Sequence[str | None], argument: str, other: set[Any]) -> list[Any]:
        """Return names as they are, and for patterns the columns that match, but no `other` one."""
        names: list[Any] = []
        for pattern in patterns:
            if (
                pattern is None
                or not _WILD & {*read_name(pattern, argument)}
                or pattern in self.columns
            ):
                names.append(pattern)
                continue
            own = [name for name in self.columns if name not in other]
            found = [name for name in own if fnmatchcase(name, pattern)]
            if not found:
                rule = f"to match a column of {self.name}"
                raise InputError(rule, repr(pattern), argument=argument, hint=self.listing)
            names += found
        return names

    def times(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column of times; dates and ISO text become datetimes."""
        return _as_times(self.column(name, argument), f"{name!r} of {self.name}")


def with_nan(scores: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn missing scores, which are blank in a CSV file, into nan."""
    return scores.cast("float64").fill_null(np.nan) if scores.null_count else scores


@dataclass(frozen=True, eq=False)
class TimeOrder:
    """The order of time of samples that came in another, and which of them share a time."""

    samples: NDArray[np.int64]
    """The samples in the order of their times; those that share one as they came."""
    first: NDArray[np.int64]
    """Where each time begins among them; every sample by itself if repeated times are kept."""
    how: str
    back: int
    """How many samples came after a later one."""

    @classmethod
    def of(cls, source: Source, time: str, how: str) -> TimeOrder | None:
        """Find the order by a column of times; None if the samples are in order."""
        ticks, _ = read_ticks(source.times(time, "time"), "time")
        if (ticks[1:] > ticks[:-1]).all():
            return None
        samples = np.argsort(ticks, kind="stable")
        new = np.append(True, np.diff(ticks[samples]) > 0)
        back = int(np.count_nonzero(ticks[1:] < ticks[:-1]))
        return cls(samples, np.flatnonzero(new | (how == "sort")), how, back)

    def apply(self, column: pa.ChunkedArray, argument: str) -> pa.ChunkedArray:
        """Put a column in order, one value for each time; the mean of labels is the highest."""
        import pyarrow as pa

        places = self.first
        if self.how == "last":
            places = np.append(self.first[1:], self.samples.size) - 1
        if self.how != "mean" or argument not in _AVERAGED | _LABELS:
            return column.take(self.samples[places])
        values = read_column(with_nan(plain_values(column)), argument)[0][self.samples]
        if argument in _LABELS:
            return pa.chunked_array([np.maximum.reduceat(values, self.first)])
        counts = np.diff(self.first, append=values.size)
        return pa.chunked_array([np.add.reduceat(values, self.first, dtype=np.float64) / counts])

    @property
    def note(self) -> str:
        """What was done, in a sentence."""
        repeated = self.samples.size - self.first.size
        kept = f"the {self.how} is kept where {repeated:,} repeat a time"
        if not self.back:
            return f"{kept.capitalize()}."
        joined = f"; {kept}" if repeated else ""
        moved = "1 went back" if self.back == 1 else f"{self.back:,} went back"
        return f"Samples are put in the order of their times: {moved}{joined}."


@dataclass(frozen=True, eq=False)
class EventList:
    """A side that lists events: in two columns of a table, or as a file of its own kind."""

    source: Source
    role: Role
    columns: tuple[str, str] | None
    listing: Listing | None

    @property
    def in_samples(self) -> bool:
        """Whether the events are told in numbers of samples."""
        return self.listing is not None and self.listing.in_samples

    def events(self, zone: tzinfo | None, open_until: Any) -> Events:
        """Return the events, in the order of time; those of the truth with their details."""
        events = self._plain() if zone is None else None
        if events is None:
            table = self.source.table
            listing = self.listing or read_listing(self.source.name, table, None)(self.columns, "")
            events = events_of(listing, zone, open_until, _OPEN_HINT)
        return (
            events if self.role == "truth" else Events.wrap(replace(events.intervals, details={}))
        )

    def _plain(self) -> Events | None:
        """Read two whole columns of times at once, and exactly; None if that is not enough."""
        if self.columns is None or self.listing is not None or is_duration(self.columns[1]):
            return None
        starts, stops = (self.source.times(name, self.role) for name in self.columns)
        if starts.null_count or stops.null_count:
            return None
        if len(starts) == 0:
            return Events([])
        # A file of events is a set: its order means nothing.
        order = np.argsort(read_column(starts, self.role)[0], kind="stable")
        own = Events.from_arrays(starts.take(order), stops.take(order)).intervals
        names = [name for name in self.source.columns if name not in self.columns]
        others = self.source.table.select(names).take(order) if self.role == "truth" else None
        details = {} if others is None else details_of(others.to_pylist())
        return Events.wrap(replace(own, details=details))


def find_side(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> EventList | pa.ChunkedArray:
    """Return one side of the comparison: a column of 0/1 labels, or an event list.

    It is `asked` for as a column, or as ``START,STOP``; else a column called like the `role` is
    taken, or what must be it: nothing follows from the shape of a table that is `shared` with the
    other side, and the column of times is never a label.
    """
    columns, option = source.columns, f"`{role}='{{}},{{}}'`"
    pair: tuple[str, str] | None = None
    if asked is not None and read_name(asked, role) not in columns and "," in asked:
        start, _, stop = asked.partition(",")
        pair = (start.strip(), stop.strip())
    if source.reader is not None and (pair is not None or (asked is None and not shared)):
        return EventList(source, role, pair, source.reader(pair, option))
    if asked is None and not shared and role not in columns:
        pair = event_columns(source.name, columns, option)
    if pair is None:
        return read_values(source, role, asked, time=time, shared=shared)
    return EventList(source, role, pair, None)


def read_values(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> pa.ChunkedArray:
    """Return a column with one value per sample, found as by `read_side`."""
    others = [name for name in source.columns if name != time]
    if asked is None and role not in others and (shared or len(others) != 1):
        rule = f"to name a column of {source.name}"
        pair = "" if shared or role == "score" else " Name two, as START,STOP, if it lists events."
        raise InputError(rule, "no name", argument=role, hint=source.listing + pair)
    if asked is None:
        asked = role if role in others else others[0]
    return plain_values(source.column(asked, role))


def read_times(sources: list[Source], time: str) -> pa.ChunkedArray:
    """Return the column of times of whichever tables have it; several must agree."""
    read_name(time, "time")
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
            f"column {name} to hold numbers or ISO times", "times of day without a date"
        )
    return read_text_times(column, f"column {name}")


def read_text_times(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Turn ISO text into datetimes; what is no text stays as it is."""
    import pyarrow as pa

    types = pa.types
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return column
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    texts = column.to_pylist()
    row = next((row for row, text in enumerate(texts) if text and not is_iso_time(text)), 0)
    raise InputTypeError(
        f"{name} to hold numbers or ISO times",
        f"{texts[row]!r}",
        index=row,
        hint="Write times as 2024-01-31 08:05:00, all with an offset such as +01:00 or none.",
    )


def _require_agreement(
    first: Source, times: pa.ChunkedArray, other: Source, others: pa.ChunkedArray
) -> None:
    if len(times) != len(others):
        return  # the labels differ in length too, and that message is clearer
    rule = f"the times of {first.name} and {other.name} to agree"
    (left, zone), (right, other_zone) = (read_column(column, "time") for column in (times, others))
    if (zone is None) != (other_zone is None):
        raise InputError(rule, "a time zone in only one of them")
    if (left.dtype.kind == "M") != (right.dtype.kind == "M"):
        raise InputError(rule, "datetimes in only one of them")
    differ = left != right
    if differ.any():
        index = int(differ.argmax())
        raise InputError(
            rule,
            f"{times[index].as_py()} and {others[index].as_py()}",
            index=index,
            hint="Both files must hold the same samples, in the same order.",
        )

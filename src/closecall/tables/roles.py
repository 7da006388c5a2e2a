"""Which columns of a table are the truth, predictions, scores and times."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.clock import Clock
from closecall.clock import read_times as read_ticks
from closecall.columns import read_column
from closecall.errors import InputError
from closecall.events import Events
from closecall.parameters import read_name
from closecall.tables.incidents import (
    details_of,
    event_columns,
    events_of,
    is_duration,
    read_listing,
)
from closecall.tables.reading import NOT_NUMBERS, no_column, value_type
from closecall.tables.times import TimeFormat, is_arrow
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.incidents import Listing, Reader

Role = Literal["truth", "predicted", "score", "ignore"]
_LABELS, _AVERAGED = {"truth", "predicted", "ignore", "trivial"}, {"score", "value", "values"}
_WILD = {*"*?["}
_OPEN_HINT = "Let such events last to the end of the series with `open='until-end'`."


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table and what messages call it; `reader` reads a list of events that is no such table."""

    name: str
    """Empty where messages have nothing to call it by."""
    table: pa.Table | Mapping[str, Any]
    """An Arrow table, or vectors and `Events` by name."""
    reader: Reader | None = None
    order: TimeOrder | None = None
    """Where each sample of the table belongs, if they are put in the order of time."""
    time_format: TimeFormat = field(default_factory=TimeFormat)
    """How its times are read."""

    @cached_property
    def columns(self) -> list[str]:
        """The table's column names, in order; Arrow writes them anew each time it is asked."""
        return list(getattr(self.table, "column_names", self.table))

    @property
    def samples(self) -> int:
        """How many rows there are, once they are in order."""
        if self.order is not None:
            return self.order.first.size
        return len(self.table[self.columns[0]]) if self.columns else 0

    @property
    def listing(self) -> str:
        """The hint that names the columns."""
        if self.reader is not None and not self.columns:
            return "It lists events: name no column of it, or two, as START,STOP."
        return f"Its columns are: {listed(self.columns)}."

    def column(self, name: str, argument: str) -> Any:
        """Return one column; raise if there is none of that name, or several."""
        try:
            column = self.table[read_name(name, argument)]
        except KeyError:
            raise no_column(name, self.columns, argument, self.name, self.listing) from None
        if self.order is None or isinstance(column, Events):
            return column
        if len(column) != self.order.samples.size:
            rule = f"to have as many values as samples ({self.order.samples.size})"
            raise InputError(rule, f"{len(column)}", argument=name)
        return self.order.apply(column, argument)

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
            candidates = [name for name in self.columns if name not in other]
            found = [name for name in candidates if fnmatchcase(name, pattern)]
            if not found:
                rule = f"to match a column of {self.name}"
                raise InputError(rule, repr(pattern), argument=argument, hint=self.listing)
            names += found
        return names

    def times(self, name: str, argument: str) -> Any:
        """Return one column of times; dates and ISO text become datetimes."""
        return self.time_format.column(self.column(name, argument), name, self.name)

    def in_time_order(self, time: str, how: str) -> NamedTable:
        """Put the samples in the order of their times, if it has them; the only place for it."""
        if time not in self.columns:
            return self
        order = TimeOrder.of(self.times(time, "time"), how)
        return self if order is None else replace(self, order=order)


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
    def of(cls, times: Any, how: str) -> TimeOrder | None:
        """Find the order of times; None if the samples are in order."""
        ticks, _ = read_ticks(times, "times")
        if (ticks[1:] > ticks[:-1]).all():
            return None
        samples = np.argsort(ticks, kind="stable")
        new = np.append(True, np.diff(ticks[samples]) > 0)
        back = int(np.count_nonzero(ticks[1:] < ticks[:-1]))
        return cls(samples, np.flatnonzero(new | (how == "sort")), how, back)

    def apply(self, column: Any, argument: str) -> Any:
        """Put a column in order, one value for each time; the mean of labels is the highest."""
        places = self.first
        if self.how == "last":
            places = np.append(self.first[1:], self.samples.size) - 1
        if not is_arrow(column):
            return _taken(column, self.samples[places], argument)
        if self.how == "mean" and argument in _AVERAGED | _LABELS:
            with suppress(*NOT_NUMBERS):  # what is no number is refused where it is read
                plain = column.cast(value_type(column.type))
                return self._mean(plain, highest=argument in _LABELS)
        return column.take(self.samples[places])

    def _mean(self, column: pa.ChunkedArray, *, highest: bool) -> pa.ChunkedArray:
        """Return the mean for each time, or the highest value; one that is missing stays so."""
        import pyarrow as pa

        missing = np.zeros(len(column), dtype=bool)
        if column.null_count:
            missing, column = read_column(column.is_null(), "")[0], column.fill_null(0)
        missing, values = missing[self.samples], read_column(column, "")[0][self.samples]
        if highest:
            found = np.maximum.reduceat(values, self.first)
        else:
            counts = np.diff(self.first, append=values.size)
            found = np.add.reduceat(values, self.first, dtype=np.float64) / counts
        return pa.chunked_array([pa.array(found, mask=np.logical_or.reduceat(missing, self.first))])

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


def _taken(values: Any, places: NDArray[np.int64], argument: str) -> Any:
    """Return the values at some places; times keep their zone."""
    array, zone = read_column(values, argument)
    taken = array[places]
    if zone is None:
        return taken
    clock = Clock("datetime", np.datetime_data(taken.dtype)[0], zone)
    return [clock.scalar(tick) for tick in taken.view(np.int64).tolist()]


@dataclass(frozen=True, eq=False)
class EventList:
    """A side that lists events: in two columns of a table, or as a file of its own kind."""

    source: NamedTable
    role: Role
    columns: tuple[str, str] | None
    listing: Listing | None

    @property
    def in_samples(self) -> bool:
        """Whether the events are told in numbers of samples."""
        return self.listing is not None and self.listing.in_samples

    @cached_property
    def _rows(self) -> Listing:
        return self.listing or read_listing(
            self.source.name, self.source.table, None, self.columns, ""
        )

    @property
    def is_local(self) -> bool:
        """Whether it has times without an offset."""
        return self._rows.is_local(self.source.time_format)

    def events(self, open_until: Any) -> Events:
        """Return the events, in the order of time; those of the truth with their details."""
        how = self.source.time_format
        events = self._plain() if how.zone is None else None
        if events is None:
            events = events_of(self._rows, how, open_until, _OPEN_HINT)
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
        intervals = Events.from_arrays(starts.take(order), stops.take(order)).intervals
        names = [name for name in self.source.columns if name not in self.columns]
        table: Any = self.source.table
        others = table.select(names).take(order) if self.role == "truth" else None
        details = {} if others is None else details_of(others.to_pylist())
        return Events.wrap(replace(intervals, details=details))


def find_side(
    table: NamedTable, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> EventList | Events | Any:
    """Return one side of the comparison: a column of 0/1 labels, an event list, or `Events`.

    It is `asked` for as a column, or as ``START,STOP``; else a column called like the `role` is
    taken, or what must be it: nothing follows from the shape of a table that is `shared` with the
    other side, and the column of times is never a label.
    """
    pair: tuple[str, str] | None = None
    if asked is not None and "," in read_name(asked, role) and asked not in table.columns:
        start, _, stop = asked.partition(",")
        pair = (start.strip(), stop.strip())
    option = f"`{role}='{{}},{{}}'`"
    if table.reader is not None and (pair is not None or (asked is None and not shared)):
        return EventList(table, role, pair, table.reader(pair, option))
    if asked is None and not shared and role not in table.columns:
        pair = event_columns(table.name, table.columns, option)
    if pair is None:
        return read_values(table, role, asked, time=time, shared=shared)
    return EventList(table, role, pair, None)


def read_values(
    table: NamedTable, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> Any:
    """Return a column with one value per sample, found as by `find_side`."""
    if asked is None:
        others = [name for name in table.columns if name != time]
        if role not in others and (shared or len(others) != 1):
            rule = f"to name a column of {table.name}"
            single = shared or role == "score"
            pair = "" if single else " Name two, as START,STOP, if it lists events."
            raise InputError(rule, "no name", argument=role, hint=table.listing + pair)
        asked = role if role in others else others[0]
    return table.column(asked, role)


def sample_times(tables: Sequence[NamedTable], time: str) -> Any:
    """Return the column of times of whichever tables have it; several must agree."""
    read_name(time, "time")
    first, *rest = [table for table in tables if time in table.columns] or tables[:1]
    times = first.times(time, "time")
    for other in rest:
        _require_agreement(first, times, other, other.times(time, "time"))
    return times


def _require_agreement(
    first: NamedTable, times: pa.ChunkedArray, other: NamedTable, others: pa.ChunkedArray
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

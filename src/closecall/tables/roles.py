"""Which columns of a table are the truth, predictions, scores and times, and which time counts."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import numpy as np

from closecall.axis import Axis, read_axis
from closecall.clock import Timed, on_one_clock
from closecall.clock import read_times as read_ticks
from closecall.columns import read_column
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError, UnevenTimesError, expected
from closecall.events import Events, Intervals, read_labels
from closecall.parameters import read_name
from closecall.series import read_span
from closecall.tables.incidents import details_of, event_columns, read_events
from closecall.tables.reading import MEMORY, plain_values, read_table, shown_name
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.detectors import Detectors

    File: TypeAlias = "str | PathLike[str] | pa.Table | Source"

Role = Literal["truth", "predicted", "score", "ignore"]
_TABLES = ("the first table", "the second table")


@dataclass(frozen=True, eq=False)
class Source:
    """A table and what messages call it."""

    name: str
    table: pa.Table

    @property
    def columns(self) -> list[str]:
        """The table's column names, in order."""
        return list(self.table.column_names)

    def suggestion(self, name: str) -> str:
        """Return the hint for a name that is no column."""
        close = difflib.get_close_matches(name, self.columns, n=1)
        return (f"Did you mean {close[0]!r}? " if close else "") + self.listing

    @property
    def listing(self) -> str:
        """The hint that names the columns."""
        return f"Its columns are: {listed(self.columns)}."

    def column(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column; raise if there is none of that name, or several."""
        count = self.columns.count(read_name(name, argument))
        if count == 1:
            return self.table.column(name)
        rule = f"`{argument}` to name a column of {self.name}"
        if count > 1:
            raise InputError(expected(rule, f"{name!r}, which {count} columns are called"))
        raise InputError(expected(rule, repr(name), self.suggestion(name)))

    def times(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column of times; dates and ISO text become datetimes."""
        return _as_times(self.column(name, argument), f"{name!r} of {self.name}")


def _read_source(file: Any, name: str, encoding: str, memory: float) -> Source:
    if isinstance(file, Source):
        return file
    if hasattr(file, "column_names"):
        return Source(name, file)
    return Source(shown_name(file), read_table(file, encoding=encoding, memory=memory))


class InputOptions(TypedDict, total=False):
    """The options of `Inputs`, for functions that pass them on."""

    truth: str | None
    time: str | None
    end: Any
    span: tuple[Any, Any] | None
    ignore: str | PathLike[str] | None
    since: Any
    until: Any
    max_step: Any
    nan: str
    encoding: str
    memory: float


@dataclass(frozen=True)
class Inputs:
    """One table or two, which columns are the truth and the times, and which time counts."""

    files: Sequence[File | None]
    """The table with the truth, and that with the detectors where it is another: paths as
    `read_table` takes them, or Arrow tables."""
    _: KW_ONLY
    truth: str | None = None
    """A column of 0/1 labels, or ``START,STOP`` for two columns that list events. By default a
    column called ``truth``, else the columns of an event list, else the file's only column."""
    time: str | None = None
    """The column of times that goes with the samples, in either file; in both, they must agree."""
    end: Any = None
    """The time that follows the last sample; needed where times are not evenly spaced."""
    span: tuple[Any, Any] | None = None
    """Start and stop of the whole series; needed with lists of events only."""
    ignore: str | PathLike[str] | None = None
    """Time that does not count: a column of 0/1 labels, or a file of events, in any order."""
    since: Any = None
    """Everything before that is ignored."""
    until: Any = None
    """Everything from there on is ignored."""
    max_step: Any = None
    """How long a sample lasts at most; what is left of a longer step is ignored."""
    nan: str = "raise"
    """What to do with samples without a score: ``"raise"``, or ``"ignore"`` their time."""
    encoding: str = "utf-8"
    """How the text of CSV files is encoded."""
    memory: float = MEMORY
    """How many gigabytes each file may take, with what is computed from it."""
    usual_end: bool = False
    """Let the last sample of uneven times last the median step, and note it, instead of raising."""

    @cached_property
    def sources(self) -> list[Source]:
        """The table that holds everything, or the two tables."""
        files = [file for file in self.files if file is not None]
        if [file for file in files if isinstance(file, str)] == ["-", "-"]:
            raise InputError(
                expected(
                    "standard input to be read once",
                    "`-` for both files",
                    "Leave out the second file where one table holds both columns.",
                )
            )
        return [
            _read_source(file, name, self.encoding, self.memory)
            for file, name in zip(files, _TABLES, strict=False)
        ]

    def read(
        self,
        predicted: Sequence[str | None] = (),
        scores: Sequence[str | None] = (),
        *,
        fewest: int = 0,
    ) -> Columns:
        """Take the columns of detectors, which go by their names; None finds one by its role."""
        first, last = self.sources[0], self.sources[-1]
        _require_detectors(last, [*predicted, *scores], fewest)
        options: dict[str, Any] = {"time": self.time, "shared": first is last}
        truth = read_side(first, "truth", self.truth, **options)
        labelled = {
            name or "predicted": read_side(last, "predicted", name, **options) for name in predicted
        }
        scored = {
            name or "score": with_nan(read_values(last, "score", name, **options))
            for name in scores
        }
        detectors = [*labelled.values(), *scored.values()]
        sampled = {
            id(source): source
            for source, sides in ((first, [truth]), (last, detectors))
            if not all(isinstance(side, Events) for side in sides)
        }
        vectors = [side for side in (truth, *detectors) if not isinstance(side, Events)]
        if detectors and len(vectors) <= len(detectors):
            self._require_place(vectors, scored)
        times = None
        if self.time is not None:
            times = read_times([*sampled.values()] or self.sources, self.time)
        end, axis, notes = self.end, None, list[str]()
        if len({len(vector) for vector in vectors}) == 1:  # what differs is told where it is read
            axis, end = self._axis(len(vectors[0]), times, notes)
        own = {
            "times": times,
            "end": end,
            "span": self.span,
            "ignore": None if vectors and axis is None else self._ignored(axis),
            "max_step": self.max_step,
            "nan": self.nan,
        }
        return Columns(truth, labelled, scored, own, notes)

    def _require_place(self, vectors: list[Any], scored: dict[str, Any]) -> None:
        """Raise if nothing says where a list of events lies beside what it is compared with."""
        if vectors and self.time is None and (scored or self.span is None):
            raise InputTypeError(
                expected(
                    "`time` beside a list of events",
                    "none",
                    "Name the column that says when each sample was taken: `time=` in Python, "
                    "`--time COLUMN` on the command line.",
                )
            )
        if vectors:
            return
        if self.span is None:
            raise InputTypeError(
                expected(
                    "`span` with a list of events",
                    "none",
                    "Say where the whole series starts and stops: `span=(start, stop)` in Python, "
                    "`--span START STOP` on the command line.",
                )
            )
        for name, value in (("time", self.time), ("end", self.end)):
            if value is not None:
                rule = f"no `{name}` beside lists of events, which carry their own times"
                raise InputTypeError(expected(rule, f"`{name}`"))

    def _axis(self, length: int, times: Any, notes: list[str]) -> tuple[Axis | None, Any]:
        """Read the axis of the samples, where more is asked of it than checking it later."""
        limits = (self.ignore, self.since, self.until)
        inferred = self.usual_end and self.end is None and times is not None
        if not inferred and all(limit is None for limit in limits):
            return None, self.end
        try:
            own = read_axis(length, times, self.end, of="samples", max_step=self.max_step)
        except UnevenTimesError as error:
            if not self.usual_end:
                raise
            notes.append(
                "Times are unevenly spaced, and no --end says where the last sample stops: it is "
                f"taken to last the median step, until {error.end_text}."
            )
            return read_axis(length, times, error.end, of="samples"), error.end
        return own, self.end

    def _ignored(self, axis: Axis | None) -> Events | None:
        """Return the time to ignore, without the gaps of the axis."""
        stretches = [] if self.ignore is None else [self._stretches(axis)]
        if self.since is not None or self.until is not None:
            stretches.append(self._outside(axis))
        if not stretches:
            return None
        parts = [
            Timed("ignore", ticks, own.clock)
            for own in stretches
            for ticks in (own.starts, own.stops)
        ]
        ticks, clock = on_one_clock(*parts)
        starts, stops = np.concatenate(ticks[::2]), np.concatenate(ticks[1::2])
        order = np.argsort(starts, kind="stable")
        return Events.wrap(Intervals(starts[order], stops[order], clock).merged())

    def _stretches(self, axis: Axis | None) -> Intervals:
        """Read the column or the file."""
        name = str(self.ignore)
        holder = next((source for source in self.sources[::-1] if name in source.columns), None)
        if holder is not None and axis is not None:
            labels = read_labels(holder.column(name, "ignore"), "ignore")
            if labels.size != axis.length:
                rule = f"`ignore` to have one label for each of the {axis.length} samples"
                raise InputError(expected(rule, f"{labels.size}"))
            return Intervals.from_labels(labels, axis)
        if axis is not None and not Path(name).exists():
            last = self.sources[-1]
            rule = f"`ignore` to name a column of {last.name}, or a file of events"
            raise InputError(expected(rule, repr(name), last.suggestion(name)))
        return read_events(name, encoding=self.encoding, merge=True).intervals

    def _outside(self, axis: Axis | None) -> Intervals:
        """Return what lies before `since` and after `until`."""
        if self.span is None and axis is not None:
            whole = Timed("times", np.array([axis.start, axis.end]), axis.clock)
        else:
            whole = read_span(self.span)
        given = {"since": self.since, "until": self.until}
        parts = [
            Timed(name, *read_ticks([time], name))
            for name, time in given.items()
            if time is not None
        ]
        (limits, *ticks), clock = on_one_clock(whole, *parts)
        start, stop = limits.tolist()
        found = {part.name: own[0].item() for part, own in zip(parts, ticks, strict=True)}
        for name, tick in found.items():
            if not start <= tick <= stop:
                rule = f"`{name}` to lie between {clock.text(start)} and {clock.text(stop)}"
                raise InputError(expected(rule, clock.text(tick)))
        since, until = found.get("since", start), found.get("until", stop)
        if since >= until:
            got = f"{clock.text(since)} and {clock.text(until)}"
            raise InputError(expected("`since` to lie before `until`", got))
        return Intervals(np.array([start, until]), np.array([since, stop]), clock)


def _require_detectors(source: Source, names: list[str | None], fewest: int) -> None:
    """Raise if there are fewer detectors than that, or a column is named twice."""
    listing = f"The columns of {source.name} are: {listed(source.columns)}."
    if len(names) < fewest:
        got = f"only {names[0]!r}" if names else "none"
        raise InputError(expected("columns of at least two detectors to compare", got, listing))
    for name, count in Counter(names).items():
        if count > 1:
            rule = "each detector's column to be named once"
            raise InputError(expected(rule, f"{name!r} {count} times", listing))


@dataclass(frozen=True)
class Columns:
    """What the files hold: both sides as columns or events, and the axis under them."""

    truth: Events | pa.ChunkedArray
    predicted: dict[str, Events | pa.ChunkedArray]
    scores: dict[str, pa.ChunkedArray]
    axis: dict[str, Any]
    """``times``, ``end``, ``span``, ``ignore``, ``max_step``, ``nan``, as the library has them."""
    notes: list[str]
    """What was inferred, a sentence each."""

    def detectors(self) -> Detectors:
        """Check everything; a message calls a single detector by its role."""
        names = [next(iter(own), None) for own in (self.predicted, self.scores)]
        sides = [
            next(iter(own.values()), None) if len(own) < 2 else own  # noqa: PLR2004 - a single one
            for own in (self.predicted, self.scores)
        ]
        return read_detectors(self.truth, *sides, **self.axis, alone=(names[0], names[1]))


def with_nan(scores: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn missing scores, which are blank in a CSV file, into nan."""
    return scores.cast("float64").fill_null(np.nan) if scores.null_count else scores


def read_side(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> Events | pa.ChunkedArray:
    """Return one side of the comparison: a column of 0/1 labels, or an event list.

    It is `asked` for as a column, or as ``START,STOP``; else a column called like the `role` is
    taken, or what must be it: nothing follows from the shape of a table that is `shared` with the
    other side, and the column of times is never a label.
    """
    columns = source.columns
    pair: tuple[str, str] | None = None
    if asked is None:
        if not shared and role not in columns:
            pair = event_columns(source.name, columns, f"`{role}='{{}},{{}}'`")
    elif read_name(asked, role) not in columns and "," in asked:
        start, _, stop = asked.partition(",")
        pair = (start.strip(), stop.strip())
    if pair is None:
        return read_values(source, role, asked, time=time, shared=shared)
    if pair == ("timestamp", "duration"):
        return read_events(source.table, columns=pair)
    starts, stops = (source.times(name, role) for name in pair)
    if len(starts) == 0:
        return Events([])
    # A file of events is a set: its order means nothing.
    order = np.argsort(read_column(starts, role)[0], kind="stable")
    own = Events.from_arrays(starts.take(order), stops.take(order)).intervals
    if role != "truth":
        return Events.wrap(own)
    others = source.table.select([name for name in columns if name not in pair]).take(order)
    return Events.wrap(replace(own, details=details_of(others.to_pylist())))


def read_values(
    source: Source, role: Role, asked: str | None, *, time: str | None, shared: bool
) -> pa.ChunkedArray:
    """Return a column with one value per sample, found as by `read_side`."""
    others = [name for name in source.columns if name != time]
    if asked is None and role not in others and (shared or len(others) != 1):
        rule = f"`{role}` to name a column of {source.name}"
        raise InputError(expected(rule, "no name", source.listing))
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

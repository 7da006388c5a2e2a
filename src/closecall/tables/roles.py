"""Which columns of a table are the truth, predictions, scores and times, and which time counts."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from closecall.axis import Axis, read_axis
from closecall.clock import Timed, on_one_clock
from closecall.clock import read_times as read_ticks
from closecall.columns import read_column
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events, Intervals, read_labels
from closecall.parameters import read_name, read_path
from closecall.series import read_span
from closecall.tables.incidents import details_of, event_columns, read_events
from closecall.tables.reading import MEMORY, read_table, shown_name
from closecall.wording import listed

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

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
        close = difflib.get_close_matches(name, self.columns, n=1)
        suggestion = f"Did you mean {close[0]!r}? " if close else ""
        raise InputError(expected(rule, repr(name), suggestion + self.listing))

    def times(self, name: str, argument: str) -> pa.ChunkedArray:
        """Return one column of times; dates and ISO text become datetimes."""
        return _as_times(self.column(name, argument), f"{name!r} of {self.name}")


def read_sources(
    truth_file: File,
    other_file: File | None = None,
    *,
    encoding: str = "utf-8",
    memory: float = MEMORY,
) -> list[Source]:
    """Read the table that holds both sides, or the two tables; Arrow tables are taken as is.

    `encoding` and `memory` are those of `read_table`, for each file.
    """
    if [file for file in (truth_file, other_file) if isinstance(file, str)] == ["-", "-"]:
        raise InputError(
            expected(
                "standard input to be read once",
                "`-` for both files",
                "Leave out the second file where one table holds both columns.",
            )
        )
    files: list[Any] = [truth_file] if other_file is None else [truth_file, other_file]
    return [
        _read_source(file, name, encoding, memory)
        for file, name in zip(files, _TABLES, strict=False)
    ]


def _read_source(file: Any, name: str, encoding: str, memory: float) -> Source:
    if isinstance(file, Source):
        return file
    if hasattr(file, "column_names"):
        return Source(name, file)
    return Source(shown_name(file), read_table(file, encoding=encoding, memory=memory))


@dataclass(frozen=True, kw_only=True)
class EvaluatedTime:
    """Which part of the time counts, as options of the functions that read files."""

    ignore: str | PathLike[str] | None = None
    """A column of 0/1 labels, or a file with the columns ``start`` and ``stop``."""
    since: Any = None
    """Everything before that is ignored."""
    until: Any = None
    """Everything from there on is ignored."""
    max_step: Any = None
    """How long a sample lasts at most."""
    encoding: str = field(default="utf-8", compare=False)
    """How the text of the file is encoded."""

    def ignored(self, sources: list[Source], axis: Axis | None, span: Any) -> Events | None:
        """Return the time to ignore, without the gaps of the axis."""
        stretches = [] if self.ignore is None else [self._stretches(sources, axis)]
        if self.since is not None or self.until is not None:
            stretches.append(self._outside(axis, span))
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

    def _stretches(self, sources: list[Source], axis: Axis | None) -> Intervals:
        """Read the column or the file."""
        given = self.ignore
        name = given if isinstance(given, str) else str(read_path(given, "ignore"))
        holder = next((source for source in sources[::-1] if name in source.columns), None)
        if holder is not None and axis is not None:
            labels = read_labels(holder.column(name, "ignore"), "ignore")
            if labels.size != axis.length:
                rule = f"`ignore` to have one label for each of the {axis.length} samples"
                raise InputError(expected(rule, f"{labels.size}"))
            return Intervals.from_labels(labels, axis)
        if axis is not None and not Path(name).exists():
            close = difflib.get_close_matches(name, sources[-1].columns, n=1)
            suggestion = f"Did you mean {close[0]!r}? " if close else ""
            rule = f"`ignore` to name a column of {sources[-1].name}, or a file of events"
            raise InputError(expected(rule, repr(name), suggestion + sources[-1].listing))
        return read_events(name, encoding=self.encoding, merge=True).intervals

    def _outside(self, axis: Axis | None, span: Any) -> Intervals:
        """Return what lies before `since` and after `until`."""
        if span is None and axis is not None:
            whole = Timed("times", np.array([axis.start, axis.end]), axis.clock)
        else:
            whole = read_span(span)
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


def affiliation_arguments(
    sources: list[Source],
    *,
    truth: str | None = None,
    predicted: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    evaluated: EvaluatedTime,
) -> dict[str, Any]:
    """Return what `closecall.affiliation` takes; the options are those of `score_files`."""
    shared = len(sources) == 1
    sides = (
        read_side(sources[0], "truth", truth, time=time, shared=shared),
        read_side(sources[-1], "predicted", predicted, time=time, shared=shared),
    )
    listed = [isinstance(side, Events) for side in sides]
    if span is None and any(listed):
        raise InputTypeError(
            expected(
                "`span` with a list of events",
                "none",
                "Say where the whole series starts and stops: `span=(start, stop)` in Python, "
                "`--span START STOP` on the command line.",
            )
        )
    times = None if time is None else read_times(sources, time)
    options = {"times": times, "end": end, "span": span, "max_step": evaluated.max_step}
    if all(listed):
        options["ignore"] = evaluated.ignored(sources, None, span)
    else:
        axis = _sample_axis(sides[listed.index(False)], times, end, evaluated)
        options["ignore"] = evaluated.ignored(sources, axis, span)
    if listed[0] != listed[1]:
        read = read_detectors(*sides, alone=("predicted", None), **options)
        return {"truth": read.predicted["predicted"], "predicted": None}
    return {"truth": sides[0], "predicted": sides[1], **options}


def curve_arguments(
    sources: list[Source],
    *,
    truth: str | None = None,
    score: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    evaluated: EvaluatedTime,
    nan: str = "raise",
) -> dict[str, Any]:
    """Return what `closecall.affiliation_curve` takes; the options are those of `curve_files`."""
    shared = len(sources) == 1
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    scores = with_nan(read_values(sources[-1], "score", score, time=time, shared=shared))
    axis = axis_arguments(
        sources, scores, actual, time=time, end=end, span=span, evaluated=evaluated
    )
    return {"truth": actual, "scores": scores, **axis, "nan": nan}


def with_nan(scores: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn missing scores, which are blank in a CSV file, into nan."""
    return scores.cast("float64").fill_null(np.nan) if scores.null_count else scores


def axis_arguments(
    sources: list[Source],
    column: pa.ChunkedArray,
    truth: Events | pa.ChunkedArray,
    *,
    time: str | None,
    end: Any,
    span: Any,
    evaluated: EvaluatedTime,
) -> dict[str, Any]:
    """Return the time axis of detectors, one of which has that column, beside any truth."""
    times = read_sample_times(sources, time, truth)
    axis = _sample_axis(column, times, end, evaluated)
    return {
        "times": times,
        "end": end,
        "span": span,
        "ignore": evaluated.ignored(sources, axis, span),
        "max_step": evaluated.max_step,
    }


def _sample_axis(column: Any, times: Any, end: Any, evaluated: EvaluatedTime) -> Axis | None:
    """Read the axis of a column, if anything is to be ignored; else reading it later is enough."""
    limits = (evaluated.ignore, evaluated.since, evaluated.until, evaluated.max_step)
    if all(limit is None for limit in limits):
        return None
    return read_axis(len(column), times, end, of="samples", max_step=evaluated.max_step)


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

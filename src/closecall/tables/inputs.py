"""One reader of what commands take: files, the roles of their columns, and the time that counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np

from closecall.axis import Axis, read_axis
from closecall.clock import Timed, on_one_clock
from closecall.clock import read_times as read_ticks
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError, UnevenTimesError
from closecall.events import Events, Intervals, read_labels
from closecall.parameters import read_name, read_path, require_choice
from closecall.series import read_span, whole_axis
from closecall.tables.incidents import (
    in_zone,
    is_smap,
    known_listing,
    read_events,
    read_listing,
    read_zone,
)
from closecall.tables.reading import (
    MEMORY,
    imported,
    nearest_column,
    opened,
    read_memory,
    shown_name,
    table_of,
)
from closecall.tables.roles import (
    DISORDERS,
    EventList,
    Source,
    TimeOrder,
    find_side,
    read_times,
    read_values,
    with_nan,
)
from closecall.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo
    from os import PathLike

    import pyarrow as pa

    from closecall.detectors import Detectors

    File: TypeAlias = "str | PathLike[str] | pa.Table | Source"

_CLIP = "Widen `span`, or cut events and drop those outside with `clip=True`."
_TABLES = ("the first table", "the second table")


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
    disorder: str
    merge: bool
    clip: bool
    timezone: str | tzinfo | None
    open: str
    series: str | None
    encoding: str
    memory: float


@dataclass(frozen=True)
class Inputs:
    """One table or two, which columns are the truth and the times, and which time counts."""

    files: Sequence[File | None]
    """The table with the truth, and that with the detectors where it is another: paths as
    `read_table` takes them, or Arrow tables. A list of events may be any file that
    `closecall.read_events` knows."""
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
    disorder: str = "error"
    """What to do where times repeat or go back: ``"error"``; ``"sort"`` the samples, after which
    repeated times are an error; or keep the ``"first"``, the ``"last"`` or the ``"mean"`` of them,
    where a label is 1 if one of them is."""
    merge: bool = False
    """Join events of a list that overlap or touch."""
    clip: bool = False
    """Cut events of a list to the series, and drop those outside of it."""
    timezone: str | tzinfo | None = None
    """What times without an offset are in; an hour that clocks skip or show twice is an error."""
    open: str = "error"
    """What to do with an event that has no end: ``"error"``, or let it last ``"until-end"``."""
    series: str | None = None
    """Which series, where a list has the events of several."""
    encoding: str = "utf-8"
    """How the text of CSV files is encoded."""
    memory: float = MEMORY
    """How many gigabytes each file may take, with what is computed from it."""
    usual_end: bool = False
    """Let the last sample of uneven times last the median step, and note it, instead of raising."""

    def __post_init__(self) -> None:
        for name in ("truth", "time"):
            if getattr(self, name) is not None:
                read_name(getattr(self, name), name)
        require_choice(self.open, "open", ("error", "until-end"))
        require_choice(self.disorder, "disorder", (*DISORDERS, "index"))
        zone = read_zone(self.timezone)
        for name in ("end", "since", "until"):
            object.__setattr__(self, name, in_zone(getattr(self, name), zone, f"`{name}`"))
        if self.span is not None and zone is not None:
            start, stop = (in_zone(time, zone, "`span`") for time in self.span)
            object.__setattr__(self, "span", (start, stop))

    @cached_property
    def sources(self) -> list[Source]:
        """The table that holds everything, or the two tables."""
        files = [file for file in self.files if file is not None]
        if [file for file in files if isinstance(file, str)] == ["-", "-"]:
            raise InputError(
                "standard input to be read once",
                "`-` for both files",
                hint="Leave out the second file where one table holds both columns.",
            )
        if not files:
            raise InputError("a file with the truth", "none")
        by_name = len(files) > 1 and self.truth is None
        return [
            self._source(file, name, by_name=by_name and name == _TABLES[0])
            for file, name in zip(files, _TABLES, strict=False)
        ]

    def _source(self, file: Any, name: str, *, by_name: bool) -> Source:
        """Read a table, or find out how a list of events is read."""
        if isinstance(file, Source):
            return file
        if hasattr(file, "column_names"):
            return Source(name, file)
        nothing = imported("pyarrow").table({})
        called, budget = shown_name(file), read_memory(self.memory)
        with opened(file) as content:
            reader = known_listing(content, called, self.series, by_name=by_name)
            if reader is not None:
                return Source(called, nothing, reader)
            table = table_of(content, called, encoding=self.encoding, budget=budget)[0]
        smap = is_smap(table.column_names)
        return Source(called, table, read_listing(called, table, self.series) if smap else None)

    def names(self, patterns: Sequence[str | None], argument: str) -> list[Any]:
        """Return the columns of detectors that names and patterns stand for."""
        return self.sources[-1].matching(patterns, argument, {self.time, self.truth or "truth"})

    def read(
        self,
        predicted: Sequence[str | None] = (),
        scores: Sequence[str | None] = (),
        *,
        fewest: int = 0,
    ) -> Columns:
        """Take the columns of detectors, which go by their names; None finds one by its role.

        Names may be patterns, such as ``det*``.
        """
        first, last = self.sources[0], self.sources[-1]
        predicted = self.names(predicted, "predicted")
        scores = self.names(scores, "score")
        _require_detectors(last, [*predicted, *scores], fewest)
        options: dict[str, Any] = {"time": self.time, "shared": first is last}
        truth = find_side(first, "truth", self.truth, **options)
        labelled = {
            name or "predicted": find_side(last, "predicted", name, **options) for name in predicted
        }
        scored = {
            name or "score": with_nan(read_values(last, "score", name, **options))
            for name in scores
        }
        detectors = [*labelled.values(), *scored.values()]
        lists = [side for side in (truth, *detectors) if isinstance(side, EventList)]
        vectors = [side for side in (truth, *detectors) if not isinstance(side, EventList)]
        if detectors and lists:
            self._require_place(lists, vectors, scored)
        mended = self._mended(lists)
        if mended is not None:
            columns = mended.read(predicted, scores)
            orders = (own.order for own in mended.sources)
            columns.notes[:0] = [own.note for own in orders if own is not None]
            return replace(columns, signed=self.signed)
        times = None if self.time is None else self._times(lists)
        notes: list[str] = []
        end, axis = self.end, None
        if len({len(vector) for vector in vectors}) == 1:  # what differs is told where it is read
            length = len(vectors[0])
            axis, end = self._axis(length, times, notes, needed=bool(lists))
            if lists and times is None and axis is not None:
                times, end = np.arange(length), axis.end
        whole = None if axis is None else whole_axis(axis)
        if self.span is not None:
            whole = read_span(self.span)

        def placed(side: Any) -> Any:
            return self._placed(side, axis, whole, notes) if isinstance(side, EventList) else side

        given = {
            "times": times,
            "end": end,
            "span": self.span,
            "ignore": None if vectors and axis is None else self._ignored(axis, whole),
            "max_step": self.max_step,
            "nan": self.nan,
        }
        truth = placed(truth)
        labelled = {name: placed(side) for name, side in labelled.items()}
        return Columns(last, truth, labelled, scored, given, notes, self.signed)

    @property
    def signed(self) -> dict[str, Any]:
        """The options that a signature names, beside those of the axis."""
        return {name: getattr(self, name) for name in ("since", "until", "disorder")}

    def _mended(self, lists: list[EventList]) -> Inputs | None:
        """Return the same with samples in the order of time; None if they are, or must be."""
        if self.disorder not in DISORDERS[1:] or self.time is None:
            return None
        sources = [*self.sources]
        for place, own in enumerate(sources):
            if self.time in own.columns and all(own is not side.source for side in lists):
                order = TimeOrder.of(own, self.time, self.disorder)
                sources[place] = replace(own, order=order)
        if all(own.order is None for own in sources):
            return None
        return replace(self, files=sources, disorder="error")

    def _times(self, lists: list[EventList]) -> pa.ChunkedArray:
        """Return the times of the samples; those of events are none."""
        import pyarrow as pa

        holders = [own for own in self.sources if all(own is not side.source for side in lists)]
        holders = holders or self.sources
        times = read_times(holders, str(self.time))
        zone = read_zone(self.timezone)
        if zone is None or not pa.types.is_timestamp(times.type) or times.type.tz is not None:
            return times
        import pyarrow.compute as pc  # it takes as long to load as the rest of the reading

        try:
            return pc.assume_timezone(times, str(zone).removeprefix("UTC") or "UTC")
        except pa.ArrowInvalid:
            name = next(own.name for own in holders if self.time in own.columns)
            for row, time in enumerate(times.to_pylist(), start=1):
                in_zone(time, zone, f"{self.time!r} in row {row} of {name}")
            raise

    def _require_place(
        self, lists: list[EventList], vectors: list[Any], scored: dict[str, Any]
    ) -> None:
        """Raise if nothing says where a list of events lies beside what it is compared with."""
        if vectors and self.time is None and (scored or self.span is None):
            if all(side.in_samples for side in lists):
                return
            raise InputTypeError(
                "`time` beside a list of events",
                "none",
                hint="Name the column that says when each sample was taken with `time`.",
            )
        if vectors:
            return
        if self.span is None:
            raise InputTypeError(
                "with a list of events",
                "none",
                argument="span",
                hint="Say where the whole series starts and stops with `span`.",
            )
        for name, value in (("time", self.time), ("end", self.end)):
            if value is not None:
                rule = f"no `{name}` beside lists of events, which carry their own times"
                raise InputTypeError(rule, f"`{name}`")

    def _axis(
        self, length: int, times: Any, notes: list[str], *, needed: bool
    ) -> tuple[Axis | None, Any]:
        """Read the axis of the samples and its end, if it is needed before all is checked."""
        limits = (self.ignore, self.since, self.until)
        inferred = self.usual_end and self.end is None and times is not None
        if not (needed or inferred) and all(limit is None for limit in limits):
            return None, self.end
        try:
            own = read_axis(length, times, self.end, of="samples", max_step=self.max_step)
        except UnevenTimesError as error:
            if not self.usual_end:
                raise
            notes.append(
                "Times are unevenly spaced, and no --end says where the last sample stops: it is "
                f"taken to last the median step, until {error.details['end_text']}."
            )
            return read_axis(length, times, error.details["end"], of="samples"), error.details[
                "end"
            ]
        return own, self.end

    def _open_until(self, whole: Timed | None) -> Any:
        """Return when events stop that have no end; None if that is an error."""
        if self.open == "error" or whole is None:
            return None
        return whole.clock.scalar(whole.ticks[1].item())

    def _placed(
        self, side: EventList, axis: Axis | None, whole: Timed | None, notes: list[str]
    ) -> Events:
        """Return the events of a list where they lie on the axis, joined and cut as asked."""
        own = side.events(read_zone(self.timezone), self._open_until(whole)).intervals
        own = own.merged() if self.merge else own
        numbered = axis if side.in_samples else None
        if numbered is not None:
            whole = Timed("times", np.array([0, numbered.length]), own.clock)
        if whole is not None:
            parts = (Timed(side.role, ticks, own.clock) for ticks in (own.starts, own.stops))
            (starts, stops, limits), clock = on_one_clock(*parts, whole)
            own = Intervals(starts, stops, clock, own.details)
            start, stop = limits.tolist()
            if not self.clip:
                own.require_inside(start, stop, side.role, _CLIP)
            over = ((starts < start) & (stops > start)) | ((stops > stop) & (starts < stop))
            kept = own.within(start, stop) if self.clip else own
            cut, dropped, own = int(np.count_nonzero(over)), len(own) - len(kept), kept
            if cut or dropped:
                events = counted(cut, "true event" if side.role == "truth" else "alarm")
                notes.append(f"Clipped to the series: {events} cut, {dropped} dropped.")
        if numbered is not None:
            ends = numbered.borders(own.starts), numbered.borders(own.stops)
            own = Intervals(*ends, numbered.clock, own.details)
        return Events.wrap(own)

    def _ignored(self, axis: Axis | None, whole: Timed | None) -> Events | None:
        """Return the time to ignore, without the gaps of the axis."""
        stretches = [] if self.ignore is None else [self._stretches(axis, whole)]
        if self.since is not None or self.until is not None:
            stretches.append(self._outside(whole))
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

    def _stretches(self, axis: Axis | None, whole: Timed | None) -> Intervals:
        """Read the column or the file."""
        given = self.ignore
        name = given if isinstance(given, str) else str(read_path(given, "ignore"))
        holder = next((source for source in self.sources[::-1] if name in source.columns), None)
        if holder is not None and axis is not None:
            labels = read_labels(holder.column(name, "ignore"), "ignore")
            if labels.size != axis.length:
                rule = f"to have one label for each of the {axis.length} samples"
                raise InputError(rule, f"{labels.size}", argument="ignore")
            return Intervals.from_labels(labels, axis)
        if axis is not None and not Path(name).exists():
            last = self.sources[-1]
            rule = f"to name a column of {last.name}, or a file of events"
            raise InputError(
                rule,
                repr(name),
                argument="ignore",
                hint=nearest_column(name, last.columns, last.listing),
            )
        own: Any = {name: getattr(self, name) for name in ("series", "timezone", "encoding")}
        until = self._open_until(whole)
        return read_events(name, open_until=until, merge=True, **own).intervals

    def _outside(self, whole: Timed | None) -> Intervals:
        """Return what lies before `since` and after `until`."""
        given = {"since": self.since, "until": self.until}
        parts = [
            Timed(name, *read_ticks([time], name))
            for name, time in given.items()
            if time is not None
        ]
        (limits, *ticks), clock = on_one_clock(whole or read_span(None), *parts)
        start, stop = limits.tolist()
        found = {part.name: own[0].item() for part, own in zip(parts, ticks, strict=True)}
        for name, tick in found.items():
            if not start <= tick <= stop:
                rule = f"to lie between {clock.text(start)} and {clock.text(stop)}"
                raise InputError(rule, clock.text(tick), argument=name)
        since, until = found.get("since", start), found.get("until", stop)
        if since >= until:
            got = f"{clock.text(since)} and {clock.text(until)}"
            raise InputError("to lie before `until`", got, argument="since")
        return Intervals(np.array([start, until]), np.array([since, stop]), clock)


def _require_detectors(source: Source, names: list[str | None], fewest: int) -> None:
    """Raise if there are fewer detectors than that, or a column is named twice."""
    listing = f"The columns of {source.name} are: {listed(source.columns)}."
    if len(names) < fewest:
        got = f"only {names[0]!r}" if names else "none"
        raise InputError("columns of at least two detectors to compare", got, hint=listing)
    for name, count in Counter(names).items():
        if count > 1:
            rule = "each detector's column to be named once"
            raise InputError(rule, f"{name!r} {count} times", hint=listing)


@dataclass(frozen=True)
class Columns:
    """What the files hold: both sides as columns or events, and the axis under them."""

    source: Source
    """The table with the detectors, and other columns of them."""
    truth: Events | pa.ChunkedArray
    predicted: dict[str, Events | pa.ChunkedArray]
    scores: dict[str, pa.ChunkedArray]
    axis: dict[str, Any]
    """``times``, ``end``, ``span``, ``ignore``, ``max_step``, ``nan``, as the library has them."""
    notes: list[str]
    """What was inferred, a sentence each."""
    signed: dict[str, Any]
    """Options of reading that a signature names."""

    @cached_property
    def detectors(self) -> Detectors:
        """The detectors on one clock, checked; messages call a single one by its role."""
        names = [next(iter(own), None) for own in (self.predicted, self.scores)]
        sides = [
            next(iter(own.values()), None) if len(own) < 2 else own  # noqa: PLR2004 - a single one
            for own in (self.predicted, self.scores)
        ]
        return read_detectors(self.truth, *sides, **self.axis, alone=(names[0], names[1]))

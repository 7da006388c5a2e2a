"""How a table becomes a series: `Reading` says how, and `read_series` does it.

Every command, batch and page reads its series here, and the samples of a stream pass the same
checks. An error has the status that the row of a batch would have; what is wrong with a single
detector is raised when that detector is asked for, so that the caller decides what it means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict, get_args

import numpy as np

from closecall.axis import is_float32, read_axis
from closecall.clock import SAMPLES, Clock, Timed, on_one_clock, read_times
from closecall.columns import read_column
from closecall.detectors import Detectors
from closecall.errors import (
    ClosecallError,
    InputError,
    InputTypeError,
    UnevenTimesError,
    shown,
)
from closecall.evaluated_time import Stretches, read_stretches, unscored_notes
from closecall.events import Events, Intervals, read_ignored, read_labels, read_severity_order
from closecall.parameters import is_number, read_length, read_name, read_path, require_choice
from closecall.scores import read_scores, require_nan, require_scores, samples_without_score
from closecall.series import (
    Pair,
    Scored,
    in_evaluated_time,
    in_span,
    nothing_evaluated,
    on_axis,
    predict_labels,
    read_span,
    whole_axis,
)
from closecall.signature import ignored_text
from closecall.tables.incidents import (
    is_smap,
    listed_in,
    listing_of,
    read_events,
    read_listing,
)
from closecall.tables.reading import (
    MEMORY,
    NOT_NUMBERS,
    imported,
    nearest_column,
    opened,
    read_memory,
    shown_name,
    table_of,
    text_codec,
)
from closecall.tables.roles import (
    EventList,
    NamedTable,
    find_side,
    read_values,
    sample_times,
)
from closecall.tables.times import (
    FILES,
    TimeFormat,
    as_times,
    is_local,
    read_zones,
    require_format,
)
from closecall.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import tzinfo

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.axis import Axis
    from closecall.series import TruthInSpan
    from closecall.tables.times import Fold, TimeUnit, Timezone

    File: TypeAlias = "str | PathLike[str] | pa.Table | NamedTable"
    Limit: TypeAlias = "tuple[str, Any, bool]"

Disorder = Literal["error", "sort", "first", "last", "mean", "index"]
DISORDERS = get_args(Disorder)
_CLIP = "Widen `span`, or cut events and drop those outside with `clip=True`."
_TABLES = ("the first table", "the second table")
_SIDES = FILES[:2]  # of which each may have a file


class Status:
    """What can become of a series and a detector, as the rows of a batch say it."""

    OK = "ok"
    EMPTY = "empty"
    BAD_LABELS = "bad_labels"
    BAD_TIMES = "bad_times"
    BAD_SCORES = "bad_scores"
    NAN_SCORE = "nan_score"
    NO_EVENT = "no_event"
    CONSTANT_SCORE = "constant_score"
    UNDEFINED = "undefined"
    FAILED = "failed"


class with_status:  # noqa: N801 - read like a function, and entered several times a series
    """Give errors that a caller can fix the status of the part that is read.

    `values` is the status if single values are wrong, and not the type of all of them; `names` are
    what arguments are called that are passed on under another name.
    """

    __slots__ = ("names", "status", "values")

    def __init__(
        self, status: str, *, values: str = "", names: Mapping[str, str] | None = None
    ) -> None:
        self.status, self.values, self.names = status, values or status, names

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, ClosecallError):
            status = self.values if isinstance(error, InputError) else self.status
            error.status = error.status or (Status.EMPTY if error.code == "no_samples" else status)
            if self.names:
                error.names = {**self.names, **error.names}


class ReadingOptions(TypedDict, total=False):
    """The options of `Reading` that functions of files pass on."""

    truth: str | None
    time: str | None
    end: Any
    span: tuple[Any, Any] | None
    ignore: str | PathLike[str] | Events | None
    since: Any
    until: Any
    max_step: Any
    close: Any
    nan: str
    disorder: Disorder
    merge: bool
    severity_order: Sequence[str] | str | None
    clip: bool
    timezone: Timezone
    fold: Fold | None
    time_unit: TimeUnit | None
    open: str
    series: str | None
    encoding: str
    memory: float


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Everything that says how a table becomes a series: the roles of its columns, and time."""

    truth: str | None = None
    """A column of 0/1 labels, or ``START,STOP`` for two columns that list events. By default a
    column called ``truth``, else the columns of an event list, else the file's only column."""
    predicted: tuple[str | None, ...] = ()
    """Columns of detectors that hold 0/1 labels or, as ``START,STOP``, events; None finds one."""
    scores: tuple[str | None, ...] = ()
    """Columns of detectors that hold scores; None finds one."""
    time: str | None = None
    """The column of times that goes with the samples, in either file; in both, they must agree."""
    end: Any = None
    """The time that follows the last sample; needed where times are not evenly spaced."""
    span: tuple[Any, Any] | None = None
    """Start and stop of the whole series; needed with lists of events only."""
    ignore: str | PathLike[str] | Events | None = None
    """Time that does not count: a column of 0/1 labels, a file of events in any order, or
    `Events`."""
    since: Any = None
    """Everything before that is ignored."""
    until: Any = None
    """Everything from there on is ignored."""
    max_step: Any = None
    """How long a sample lasts at most; what is left of a longer step is ignored."""
    close: Any = None
    """How far from a true event a close call may be at most."""
    nan: str = "raise"
    """What to do with samples without a score: ``"raise"``; ``"ignore"`` their time for all
    detectors; or ignore it for ``"each"`` detector that has no score, and not for the others."""
    disorder: Disorder = "error"
    """What to do where times repeat or go back: ``"error"``; ``"sort"`` the samples, after which
    repeated times are an error; keep the ``"first"``, the ``"last"`` or the ``"mean"`` of them,
    where a label is 1 if one of them is; or, of many series, count samples (``"index"``)."""
    merge: bool = False
    """Join events of a list that overlap or touch; their details are listed."""
    severity_order: Any = None
    """Severities from the lowest to the highest: events that are joined keep the highest."""
    clip: bool = False
    """Cut events of a list to the series, and drop those outside of it."""
    timezone: Timezone = None
    """What times without an offset are in; an hour that clocks skip is an error. Where several
    files have such times, zones by file: ``{"truth": "Europe/Berlin", "predicted": "UTC"}``, and
    ``"ignore"`` for that of a file to ignore. Other options are in the zone, if there is one."""
    fold: Fold | None = None
    """Which is meant of an hour that clocks show twice, the ``"earlier"`` or the ``"later"`` one;
    if not given, such times are an error that lists them."""
    time_unit: TimeUnit | None = None
    """What times that are numbers count from 1970 in UTC: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``;
    if not given, they are numbers."""
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
    of_many: bool = False
    """Whether this is one of many series: it need not reach to `since` and `until`, and messages
    call columns by their names instead of by their roles."""

    def __post_init__(self) -> None:
        for name in ("truth", "time"):
            if getattr(self, name) is not None:
                read_name(getattr(self, name), name)
        require_choice(self.open, "open", ("error", "until-end"))
        require_choice(self.disorder, "disorder", DISORDERS)
        require_nan(self.nan)
        for name in ("max_step", "close"):
            if getattr(self, name) is not None:
                _require_length(getattr(self, name), name)
        order = read_severity_order(self.severity_order, merge=self.merge)
        self._set("severity_order", order)
        text_codec(self.encoding)
        require_format(self.fold, self.time_unit)
        how = self.time_format()
        for name in ("end", "since", "until"):
            self._set(name, how.moment(getattr(self, name), f"`{name}`"))
        if self.span is not None and how != TimeFormat():
            start, stop = (how.moment(time, "`span`") for time in self.span)
            self._set("span", (start, stop))
        limits = [
            Timed(name, *read_times([moment], name))
            for name, moment, _ in self.limits()
            if moment is not None
        ]
        if self.since is not None and self.until is not None:
            ((since,), (until,), *_), clock = on_one_clock(*limits)
            if since >= until:
                got = f"{clock.text(since.item())} and {clock.text(until.item())}"
                raise InputError("to lie before `until`", got, argument="since")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def limits(self) -> list[Limit]:
        """Return the options that end evaluated time, and whether what follows is left out."""
        return [("since", self.since, False), ("until", self.until, True)]

    @cached_property
    def _zones(self) -> dict[str, tzinfo]:
        return read_zones(self.timezone)

    def time_format(self, *files: str) -> TimeFormat:
        """Return how times are read that are of these files alike, or of all files and options."""
        zones = {self._zones[file] for file in files or FILES if file in self._zones}
        return TimeFormat(zones.pop() if len(zones) == 1 else None, self.fold, self.time_unit)

    @property
    def signed(self) -> dict[str, Any]:
        """The options that a signature names, beside those of the axis."""
        return {name: getattr(self, name) for name in ("since", "until", "disorder")}

    @cached_property
    def times_called(self) -> dict[str, str]:
        """What messages call times, if not so."""
        return {"times": str(self.time)} if self.of_many else {}

    def called(self, role: str, column: Any = None) -> str:
        """Return what messages call a column: its role, or its name if it is of many series."""
        if self.of_many:
            return str(getattr(self, role) if column is None else column)
        alone = column is None or len(getattr(self, role)) == 1
        return role if alone else f"{role}[{column!r}]"


def _require_length(length: Any, name: str) -> None:
    """Raise for what is no length of time, on whatever axis."""
    of_time = isinstance(length, timedelta | np.timedelta64)
    if not of_time and not is_number(length):
        rule = "to be a number, or a timedelta where times are datetimes"
        raise InputTypeError(rule, shown(length), argument=name)
    read_length(length, Clock("datetime", "ns") if of_time else Clock("number"), name)


class Sides(NamedTuple):
    """The columns of a series by role, as they are in the tables, in the order of time."""

    truth: Any
    """A column of labels, an `EventList`, or `Events`."""
    predicted: dict[str, Any]
    scores: dict[str, Any]

    @classmethod
    def find(cls, tables: Sequence[NamedTable], reading: Reading) -> Sides:
        """Find the columns by their roles."""
        first, last = tables[0], tables[-1]
        place: dict[str, Any] = {"time": reading.time, "shared": first is last}
        truth = find_side(first, "truth", reading.truth, **place)
        predicted = {
            name or "predicted": find_side(last, "predicted", name, **place)
            for name in reading.predicted
        }
        scores = {
            name or "score": read_values(last, "score", name, **place) for name in reading.scores
        }
        return cls(truth, predicted, scores)

    @property
    def labelled(self) -> list[Any]:
        """The sides that hold labels or events: the truth, and detectors."""
        return [self.truth, *self.predicted.values()]

    @property
    def lists(self) -> list[EventList]:
        """Those that list events, which are not placed on the axis yet."""
        return [side for side in self.labelled if isinstance(side, EventList)]

    @property
    def vectors(self) -> dict[str, Any]:
        """The sides with a value for each sample, by what messages call them."""
        named = [("predicted", self.predicted), ("scores", self.scores)]
        columns = {"truth": self.truth} | {
            role if len(sides) == 1 else f"{role}[{name!r}]": side
            for role, sides in named
            for name, side in sides.items()
        }
        return {called: side for called, side in columns.items() if not _is_events(side)}

    def placed(self, place: Callable[[EventList], Events]) -> Sides:
        """Return the same with the events of lists."""
        if not self.lists:
            return self
        truth, *detectors = (
            place(side) if isinstance(side, EventList) else side for side in self.labelled
        )
        return self._replace(
            truth=truth, predicted=dict(zip(self.predicted, detectors, strict=True))
        )


def _is_events(side: Any) -> bool:
    return isinstance(side, EventList | Events)


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesInput:
    """One series as it was read: true events in evaluated time, and the detectors beside them."""

    in_span: TruthInSpan
    """The true events in the span of evaluated time."""
    labels: NDArray[Any] | None
    """True labels of all samples, in the order of time; None for a list of events."""
    axis: Axis | None
    """That of all samples; None if there are none."""
    timed: bool
    """Whether the axis is that of the time column."""
    kept: NDArray[np.bool_] | None = None
    """Which samples are evaluated; None if all are."""
    numbers: NDArray[np.int64] | None = None
    """Which samples of a longer series these are, and how many it has; None if they are all."""
    reading: Reading = field(default_factory=Reading)
    sides: Sides = field(default_factory=lambda: Sides(None, {}, {}))
    """The columns that were read."""
    listed: Mapping[str, Pair] = field(default_factory=dict)
    """The detectors that gave events."""
    table: NamedTable | None = None
    """That of the detectors, in the order of time."""
    options: dict[str, Any] = field(default_factory=dict)
    """``times``, ``end``, ``span``, ``ignore``, ``max_step``, ``nan``, as the library has them."""
    notes: Sequence[str] = ()
    """What was inferred, a sentence each."""
    in_time_of: Callable[[str], SeriesInput] | None = None
    """Reads the series in the evaluated time of one detector; None if all have the same."""

    @property
    def length(self) -> int:
        """How many samples there are."""
        if self.numbers is not None:
            return int(self.numbers[-1])
        return 0 if self.axis is None else self.axis.length

    def column(self, name: str, argument: str) -> Any:
        """Return another column of the samples, in the order of time."""
        if self.table is None:
            raise InputTypeError("a table of samples", "none")
        return self.table.column(name, argument)

    @property
    def signed(self) -> dict[str, Any]:
        """The options that a signature of all detectors names, and the time ignored for all."""
        return self.reading.signed | {"ignore": ignored_text(self.in_span)}

    def alone(self, name: str) -> SeriesInput:
        """Return the series in the evaluated time of a detector, most often that of all."""
        if self.in_time_of is None or name not in self.sides.scores:
            return self
        return self.in_time_of(name)

    def detector(self, name: str) -> Pair | Scored:
        """Return a detector beside the true events; raise what is wrong with it."""
        alone = self.alone(name)
        if alone is not self:
            return alone.detector(name)
        if name in self.listed:
            return self.listed[name]
        if name in self.sides.predicted:
            return self.predicting(self.read_labels(name))
        called = self.reading.called("scores", name)
        with with_status(Status.BAD_SCORES, values=Status.NAN_SCORE):
            scores = read_score_column(self.sides.scores[name], called)
            self._require_samples(scores, called)
            if self.reading.nan != "raise" and scores.dtype.kind == "f" and np.isnan(scores).all():
                raise nothing_evaluated()
            require_scores(scores, called, self.kept)
        return Scored.of(self.in_span, scores, self.kept)

    def read_labels(self, name: str) -> NDArray[Any]:
        """Return the 0/1 predictions of a detector for all samples."""
        called = self.reading.called("predicted", name)
        with with_status(Status.BAD_LABELS):
            labels = read_label_column(self.sides.predicted[name], called)
            self._require_samples(labels, called)
            if self.reading.span is not None and self.axis is not None:
                start, stop = self.in_span.span
                axis = self.axis.on_clock(self.in_span.clock)
                Intervals.from_labels(labels, axis).require_inside(start, stop, called)
        return labels

    def _require_samples(self, values: NDArray[Any], called: str) -> None:
        if self.axis is not None and values.size != self.axis.length:
            first = "the samples" if self.labels is None else "`truth`"
            rule = f"to have as many values as {first} ({self.axis.length})"
            raise InputError(rule, f"{values.size}", argument=called)

    @cached_property
    def detectors(self) -> Detectors:
        """All detectors, by name; raises what is wrong with the first that cannot be read."""
        found = {name: self.detector(name) for name in (*self.sides.predicted, *self.sides.scores)}
        return Detectors(
            truth=self.in_span,
            predicted={name: one for name, one in found.items() if isinstance(one, Pair)},
            scored={name: one for name, one in found.items() if isinstance(one, Scored)},
        )

    @property
    def arguments(self) -> dict[str, Any]:
        """What functions of the library take: both sides by name, and the options of the axis."""
        truth, predicted, scores = self.sides
        return {"truth": truth, "predicted": predicted, "scores": scores, **self.options}

    def predicting(self, labels: NDArray[Any]) -> Pair:
        """Put 0/1 predictions beside the true events."""
        return predict_labels(self.in_span, labels, self.kept)

    @property
    def evaluated_labels(self) -> NDArray[Any]:
        """True labels of the samples that are evaluated."""
        if self.labels is None:
            raise InputTypeError("true labels of samples", "a list of events")
        return self.labels if self.kept is None else self.labels[self.kept]

    def sample_numbers(self, events: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of the evaluated samples events start and stop at, N for the end."""
        axis = self.in_span.axis
        if axis is None or axis.ticks is None:
            return events.starts, events.stops
        ticks = axis.ticks
        return np.searchsorted(ticks, events.starts), np.searchsorted(ticks, events.stops)

    def numbers_of_all(self, events: Intervals) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of all samples events start and stop at."""
        first, after = self.sample_numbers(events)
        if self.numbers is not None:
            return self.numbers[first], self.numbers[after]
        if self.kept is None:
            return first, after
        numbers = np.flatnonzero(self.kept)
        return numbers[first], numbers[after - 1] + 1

    def in_samples(self, pair: Pair) -> Pair:
        """Count a pair in evaluated samples, whatever their times."""
        if pair.axis is None or pair.axis.ticks is None:
            return pair
        predicted = Intervals(*self.sample_numbers(pair.predicted), SAMPLES)
        return self._counted.predicting(predicted)

    @cached_property
    def _counted(self) -> TruthInSpan:
        labels = self.evaluated_labels
        axis = read_axis(labels.size, None, None, of="labels")
        return on_axis(Intervals.from_labels(labels, axis), axis)

    @cached_property
    def positives_before(self) -> NDArray[np.int64]:
        """How many true samples come before each evaluated one, and in all at the end."""
        labels = self.evaluated_labels
        if self.numbers is not None:
            labels = labels * np.diff(self.numbers)
        counts = np.empty(labels.size + 1, dtype=np.int64)
        counts[0] = 0
        np.cumsum(labels, out=counts[1:])
        return counts

    def count_samples(self, events: Intervals) -> tuple[int, int]:
        """Return how many evaluated samples events have, and how many of these are true."""
        first, after = self.sample_numbers(events)
        hits = self.positives_before[after] - self.positives_before[first]
        if self.numbers is not None:
            first, after = self.numbers[first], self.numbers[after]
        return int((after - first).sum()), int(hits.sum())


def read_label_column(column: Any, called: str) -> NDArray[Any]:
    """Read 0/1 labels."""
    with with_status(Status.BAD_LABELS):
        return read_labels(column, called)


def read_score_column(column: Any, called: str) -> NDArray[Any]:
    """Read scores, of which those that are missing become nan."""
    with with_status(Status.BAD_SCORES, values=Status.NAN_SCORE):
        return read_scores(column, called, nan="ignore")


def read_time_column(column: Any, called: str, reading: Reading) -> Timed:
    """Read times as ticks."""
    with with_status(Status.BAD_TIMES):
        times = TimeFormat(unit=reading.time_unit).column(column, called, "")
        ticks, clock = read_times(times, called)
    if reading.of_many and str(getattr(times, "type", "")).startswith("timestamp[s"):
        # The unit is part of the data, and that of many series is the one of their file.
        ticks, clock = ticks // 1000, replace(clock, unit="s")
    return Timed(called, ticks, clock, is_float32(times))


@contextmanager
def counted_from(samples: int) -> Iterator[None]:
    """Count the index of an error from the start of the series, that many samples before."""
    try:
        yield
    except ClosecallError as error:
        if error.index is not None:
            error.index += samples
        raise


def read_series(
    tables: Sequence[NamedTable], reading: Reading, limits: Iterable[Limit] | None = None
) -> SeriesInput:
    """Read the series of one table, or of two: that of the truth and that of the detectors.

    `limits` end evaluated time in place of those of the reading.
    """
    tables, sides, notes = _in_time_order(_with_formats(tables, reading), reading)
    labels = None
    if not _is_events(sides.truth):
        labels = read_label_column(sides.truth, reading.called("truth"))
    samples = _read_samples(tables, sides, labels, reading, notes)
    sides = sides.placed(lambda side: _placed(side, samples, reading, notes))
    series, intervals = _on_one_clock(sides, labels, samples, reading)
    with with_status(Status.BAD_TIMES, names=reading.times_called):
        stretches = _ignored(tables, samples, reading, limits)
    several = len(sides.predicted) + len(sides.scores) > 1
    each = reading.nan == "each" and several

    def evaluated(missing: list[Stretches], *, each: bool = False) -> SeriesInput:
        with with_status(Status.BAD_TIMES, values=Status.EMPTY):
            given = {} if labels is None else {"truth": labels}
            found, closed = in_evaluated_time(series, intervals, given, [*stretches, *missing])
        if not reading.of_many:  # whose signature names the options of all
            found = found.asking(max_step=reading.max_step, nan=reading.nan)
        found = found.calling(reading.close)
        return SeriesInput(
            in_span=found,
            labels=labels,
            axis=samples.axis,
            timed=samples.times is not None,
            kept=closed.kept,
            reading=reading,
            sides=sides,
            listed={
                name: found.predicting(closed.sides[called], closed.left_out[called])
                for name, called in _called_events(sides, reading).items()
            },
            table=tables[-1],
            options={
                **samples.options(sides),
                "span": reading.span,
                "ignore": found.ignored,
                "max_step": reading.max_step,
                "nan": reading.nan,
            },
            notes=[*notes, *unscored_notes(found)],
            in_time_of=in_time_of if each else None,
        )

    def in_time_of(name: str) -> SeriesInput:
        return evaluated(_missing({"": sides.scores[name]}, samples, reading))

    if each:
        return evaluated([], each=True)
    named = {name if several else "": column for name, column in sides.scores.items()}
    return evaluated(_missing(named, samples, reading))


def _with_formats(tables: Sequence[NamedTable], reading: Reading) -> Sequence[NamedTable]:
    """Say how the times of each table are read."""
    formats = [reading.time_format(side) for side in _SIDES]
    if len(tables) == 1:
        if len({how.zone for how in formats} - {None}) > 1:
            rule = f"to give one zone for {tables[0].name}, which has both sides"
            raise InputError(rule, shown(reading.timezone), argument="timezone")
        formats = [reading.time_format(*_SIDES)]
    if all(how == TimeFormat() for how in formats):
        return tables
    return [replace(table, time_format=how) for table, how in zip(tables, formats, strict=True)]


def require_zones(tables: Sequence[NamedTable], sides: Sides, reading: Reading) -> None:
    """Raise if a single zone is given where several files have times without an offset."""
    if reading.timezone is None or isinstance(reading.timezone, Mapping):
        return
    lists = [side.source for side in sides.lists]
    files: dict[str, str] = {side.source.name: side.role for side in sides.lists if side.is_local}
    for role, table in zip(_SIDES, tables, strict=False):
        if table not in lists and reading.time in table.columns:
            times = as_times(table.column(str(reading.time), "time"), f"`{reading.time}`")
            files |= {table.name: role} if is_local(times) else {}
    ignore = reading.ignore
    is_column = any(str(ignore) in table.columns for table in tables)
    if isinstance(ignore, str | PathLike) and not is_column and Path(ignore).is_file():
        listing = listing_of(ignore, None, reading.series, reading.encoding)
        how = reading.time_format("ignore")
        files |= {listing.name: "ignore"} if listing.is_local(how) else {}
    if len(files) > 1:
        zone, (first, second, *_) = str(reading.timezone), files.values()
        zones = {first: zone, second: "UTC"}
        raise InputError(
            "to be given by file where several have times without an offset",
            f"{zone!r} for {' and '.join(files)}",
            argument="timezone",
            hint=f"Give each file its zone, for example `timezone={zones}`.",
            code="zone_of_several",
            first=first,
            second=second,
            zone=zone,
        )


def read_ignored_file(reading: Reading, open_until: Any = None) -> Events:
    """Read the file of events that says what is ignored."""
    how = reading.time_format("ignore")
    return read_events(
        reading.ignore,
        series=reading.series,
        timezone=how.zone or reading.time_format().zone,
        fold=how.fold,
        time_unit=how.unit,
        open_until=open_until,
        merge=True,
        encoding=reading.encoding,
    )


def _in_time_order(
    tables: Sequence[NamedTable], reading: Reading
) -> tuple[Sequence[NamedTable], Sides, list[str]]:
    """Find the columns, and put their samples in the order of time; say what was done."""
    sides = Sides.find(tables, reading)
    require_zones(tables, sides, reading)
    lists = sides.lists
    if lists and (sides.predicted or sides.scores):
        _require_place(lists, sides, reading)
    if reading.time is None or reading.disorder in ("error", "index"):
        return tables, sides, []
    with with_status(Status.BAD_TIMES, names=reading.times_called):
        ordered = {
            table: table
            if table in [side.source for side in lists]
            else table.in_time_order(reading.time, reading.disorder)
            for table in tables
        }
    notes = [table.order.note for table in ordered.values() if table.order is not None]
    if notes:
        tables = [ordered[table] for table in tables]
        sides = Sides.find(tables, reading)
    return tables, sides, notes


def _require_place(lists: list[EventList], sides: Sides, reading: Reading) -> None:
    """Raise if nothing says where a list of events lies beside what it is compared with."""
    vectors = sides.vectors
    if vectors and reading.time is None and (sides.scores or reading.span is None):
        if all(side.in_samples for side in lists):
            return
        raise InputTypeError(
            "`time` beside a list of events",
            "none",
            hint="Name the column that says when each sample was taken with `time`.",
        )
    if vectors:
        return
    if reading.span is None:
        raise InputTypeError(
            "with a list of events",
            "none",
            argument="span",
            hint="Say where the whole series starts and stops with `span`.",
        )
    for name, value in (("time", reading.time), ("end", reading.end)):
        if value is not None:
            rule = f"no `{name}` beside lists of events, which carry their own times"
            raise InputTypeError(rule, f"`{name}`")


class Samples(NamedTuple):
    """The samples of a series, and where they lie."""

    axis: Axis | None
    """None if there are only events."""
    times: Any
    """Those of the samples as the tables have them; None if samples are counted."""
    end: Any
    """Where the last sample stops, if that was given or inferred."""

    def whole(self, span: Any) -> Timed | None:
        """Return where the series starts and stops, if that is known."""
        if span is not None:
            return read_span(span)
        return None if self.axis is None else whole_axis(self.axis)

    def options(self, sides: Sides) -> dict[str, Any]:
        """Return times and end as functions of the library take them."""
        if self.times is None and self.axis is not None and any(map(_is_events, sides.labelled)):
            return {"times": np.arange(self.axis.length), "end": self.axis.end}
        return {"times": self.times, "end": self.end}


def _read_samples(
    tables: Sequence[NamedTable],
    sides: Sides,
    labels: NDArray[Any] | None,
    reading: Reading,
    notes: list[str],
) -> Samples:
    """Read the times of the samples, and infer where the last one stops."""
    vectors = sides.vectors if labels is None or len(tables) > 1 else {}
    if labels is None and not vectors:
        return Samples(None, None, reading.end)
    if len(tables) > 1:
        _require_one_length(vectors)
    if labels is None:
        called, vector = next(iter(vectors.items()))
        length = read_column(vector, called)[0].size
    else:
        length = labels.size
    if reading.time is None:
        axis = read_axis(length, None, reading.end, of="samples")
        return Samples(axis, None, reading.end)
    with with_status(Status.BAD_TIMES, names=reading.times_called):
        try:
            return _read_times(tables, sides, length, reading, notes)
        except InputError:
            # A column that holds no times at all is another error: there is nothing to ignore.
            # Events have times of their own, which the numbers of samples cannot replace.
            if reading.disorder != "index" or labels is None:
                raise
    return Samples(read_axis(length, None, None, of="samples"), None, None)


def _read_times(
    tables: Sequence[NamedTable], sides: Sides, length: int, reading: Reading, notes: list[str]
) -> Samples:
    holders = tables
    if len(tables) > 1:
        lists = [side.source for side in sides.lists]
        holders = [table for table in tables if table not in lists] or tables
    times = sample_times(holders, str(reading.time))
    timed, end = read_time_column(times, "times", reading), reading.end
    try:
        axis = read_axis(length, timed, end, of="samples", max_step=reading.max_step)
    except UnevenTimesError as error:
        if not reading.usual_end:
            raise
        notes.append(usual_end_note(error.details["end_text"]))
        end = error.details["end"]
        axis = read_axis(length, timed, end, of="samples")
    return Samples(axis, times, end)


def usual_end_note(end: str) -> str:
    """Say where the last sample of uneven times is taken to stop."""
    return (
        "Times are unevenly spaced, and no --end says where the last sample stops: it is taken to "
        f"last the median step, until {end}."
    )


def _require_one_length(vectors: dict[str, Any]) -> None:
    """Raise if vectors of several tables have different lengths."""
    first, length = next((called, len(vector)) for called, vector in vectors.items())
    for called, vector in vectors.items():
        if len(vector) != length:
            rule = f"to have as many values as `{first}` ({length})"
            raise InputError(rule, f"{len(vector)}", argument=called)


def _placed(side: EventList, samples: Samples, reading: Reading, notes: list[str]) -> Events:
    """Return the events of a list where they lie on the axis, joined and cut as asked."""
    axis, whole = samples.axis, samples.whole(reading.span)
    intervals = side.events(_open_until(whole, reading)).intervals
    if reading.merge:
        intervals = intervals.merged(severity_order=reading.severity_order)
    numbered = axis if side.in_samples else None
    if numbered is not None:
        whole = Timed("times", np.array([0, numbered.length]), intervals.clock)
    if whole is not None:
        (starts, stops, limits), clock = on_one_clock(*intervals.timed(side.role), whole)
        intervals = Intervals(starts, stops, clock, intervals.details)
        start, stop = limits.tolist()
        if not reading.clip:
            intervals.require_inside(start, stop, side.role, _CLIP)
        over = ((starts < start) & (stops > start)) | ((stops > stop) & (starts < stop))
        kept = intervals.within(start, stop) if reading.clip else intervals
        cut, dropped = int(np.count_nonzero(over)), len(intervals) - len(kept)
        intervals = kept
        if cut or dropped:
            events = counted(cut, "true event" if side.role == "truth" else "alarm")
            notes.append(f"Clipped to the series: {events} cut, {dropped} dropped.")
    if numbered is not None:
        ends = numbered.borders(intervals.starts), numbered.borders(intervals.stops)
        intervals = Intervals(*ends, numbered.clock, intervals.details)
    return Events.wrap(intervals)


def _open_until(whole: Timed | None, reading: Reading) -> Any:
    """Return when events stop that have no end; None if that is an error."""
    if reading.open == "error" or whole is None:
        return None
    return whole.clock.scalar(whole.ticks[1].item())


def _called_events(sides: Sides, reading: Reading) -> dict[str, str]:
    """Return the detectors that gave events, and what messages call each."""
    return {
        name: reading.called("predicted", name)
        for name, side in sides.predicted.items()
        if isinstance(side, Events)
    }


def _on_one_clock(
    sides: Sides,
    labels: NDArray[Any] | None,
    samples: Samples,
    reading: Reading,
) -> tuple[TruthInSpan, dict[str, Intervals]]:
    """Put the true events, and those of detectors, on one clock in the span of the series."""
    axis, called = samples.axis, _called_events(sides, reading)
    if labels is not None and axis is not None:
        truth = Intervals.from_labels(labels, axis)
        if not called and reading.span is None:
            series = on_axis(truth, axis)
            return series, {"truth": series.truth}
    else:
        sides.truth.intervals.require_disjoint("truth")
        truth = sides.truth.intervals
    intervals = {"truth": truth}
    for name, argument in called.items():
        intervals[argument] = sides.predicted[name].intervals
        intervals[argument].require_disjoint(argument)
    span = samples.whole(reading.span) or read_span(None)
    return in_span(intervals, axis, span, of_samples=bool(sides.scores))


def _ignored(
    tables: Sequence[NamedTable],
    samples: Samples,
    reading: Reading,
    limits: Iterable[Limit] | None,
) -> list[Stretches]:
    """Return the time to ignore for all detectors: as it is named, outside of limits, and gaps."""
    axis, stretches = samples.axis, []
    is_counted = reading.time is not None and axis is not None and samples.times is None
    if reading.ignore is not None:
        stretches.append(_named(tables, samples, reading, is_counted=is_counted))
    for limit in reading.limits() if limits is None else limits:
        if limit[1] is not None:
            _require_times(limit[0], is_counted=is_counted)
            whole = samples.whole(reading.span) or read_span(None)
            stretches.append(outside_limit(limit, whole, of_many=reading.of_many))
    stretches += read_stretches(None, None if is_counted else reading.max_step, axis)
    return [part for part in stretches if len(part.intervals)]


def _missing(columns: Mapping[str, Any], samples: Samples, reading: Reading) -> list[Stretches]:
    """Return the time without scores, by detector.

    A detector that was not run, with no score at all, takes no time from the others.
    """
    axis, found = samples.axis, {}
    if axis is None or reading.nan == "raise":
        return []
    for name, column in columns.items():
        with suppress(ClosecallError, *NOT_NUMBERS):  # told where the detector is read
            scores = read_score_column(column, "scores")
            if scores.size == axis.length and not np.isnan(scores).all():
                found[name] = scores
    return read_stretches(None, None, axis, samples_without_score(found, reading.nan))


def _named(
    tables: Sequence[NamedTable], samples: Samples, reading: Reading, *, is_counted: bool
) -> Stretches:
    """Read the column, the file or the events that say what is ignored."""
    axis, given = samples.axis, reading.ignore
    if isinstance(given, Events):
        _require_times("ignore", is_counted=is_counted)
        return Stretches("ignore", read_ignored(given))
    name = given if isinstance(given, str) else str(read_path(given, "ignore"))
    holder = next((table for table in tables[::-1] if name in table.columns), None)
    if holder is not None and axis is not None:
        called = reading.called("ignore")
        column = holder.column(name, "ignore")
        if isinstance(column, Events):
            return Stretches("ignore", read_ignored(column))
        labels = read_label_column(column, called)
        if labels.size != axis.length:
            rule = f"to have one label for each of the {axis.length} samples"
            raise InputError(rule, f"{labels.size}", argument=called)
        return Stretches("ignore", Intervals.from_labels(labels, axis))
    if axis is not None and not Path(name).exists():
        last = tables[-1]
        hint = nearest_column(name, last.columns, last.listing)
        rule = f"to name a column of {last.name}, or a file of events"
        raise InputError(rule, repr(name), argument="ignore", hint=hint)
    until = _open_until(samples.whole(reading.span), reading)
    return Stretches("ignore", read_ignored_file(reading, until).intervals)


def _require_times(name: str, *, is_counted: bool) -> None:
    """Raise if samples are counted where an option is a time."""
    if is_counted:
        rule = f"times in their order beside `{name}`"
        raise InputError(rule, "samples that are counted instead")


def outside_limit(limit: Limit, whole: Timed, *, of_many: bool) -> Stretches:
    """Return the time before or after a limit; one of many series may lie on one side of it."""
    name, moment, after = limit
    given = Timed(name, *read_times([moment], name))
    ((start, stop), (tick,)), clock = on_one_clock(whole, given)
    beyond = (tick <= start if after else tick >= stop) if of_many else not start <= tick <= stop
    if beyond:
        rule = f"to lie between {clock.text(start.item())} and {clock.text(stop.item())}"
        error = InputError(rule, clock.text(tick.item()), argument=name)
        error.status = Status.EMPTY
        raise error
    border = np.clip(tick, start, stop)
    first, last = (border, stop) if after else (start, border)
    return Stretches(name, Intervals(np.array([first]), np.array([last]), clock))


@dataclass(frozen=True)
class Inputs(Reading):
    """One table or two, which columns are the truth and the times, and which time counts."""

    files: Sequence[File | None]
    """The table with the truth, and that with the detectors where it is another: paths as
    `read_table` takes them, or Arrow tables. A list of events may be any file that
    `closecall.read_events` knows."""

    @cached_property
    def tables(self) -> list[NamedTable]:
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
            self._table(file, name, by_name=by_name and name == _TABLES[0])
            for file, name in zip(files, _TABLES, strict=False)
        ]

    def _table(self, file: Any, name: str, *, by_name: bool) -> NamedTable:
        """Read a table, or find out how a list of events is read."""
        if isinstance(file, NamedTable):
            return file
        if hasattr(file, "column_names"):
            return NamedTable(name, file)
        nothing = imported("pyarrow").table({})
        called, budget = shown_name(file), read_memory(self.memory)
        with opened(file) as stream:
            content = listed_in(stream, called, by_name=by_name)
            if content is not None:
                return NamedTable(
                    called, nothing, partial(read_listing, called, content, self.series)
                )
            table = table_of(stream, called, encoding=self.encoding, budget=budget)[0]
        reader = partial(read_listing, called, table, self.series) if is_smap(table) else None
        return NamedTable(called, table, reader)

    def names(self, patterns: Sequence[str | None], argument: str) -> list[Any]:
        """Return the columns of detectors that names and patterns stand for."""
        return self.tables[-1].matching(patterns, argument, {self.time, self.truth or "truth"})

    def read(
        self,
        predicted: Sequence[str | None] = (),
        scores: Sequence[str | None] = (),
        *,
        fewest: int = 0,
    ) -> SeriesInput:
        """Read the series with the columns of detectors, which go by their names.

        Names may be patterns, such as ``det*``; None finds a column by its role.
        """
        labelled, scored = self.names(predicted, "predicted"), self.names(scores, "score")
        _require_detectors(self.tables[-1], [*labelled, *scored], fewest)
        reading = replace(self, predicted=tuple(labelled), scores=tuple(scored))
        return read_series(self.tables, reading)


def _require_detectors(table: NamedTable, names: list[str | None], fewest: int) -> None:
    """Raise if there are fewer detectors than that, or a column is named twice."""
    listing = f"The columns of {table.name} are: {listed(table.columns)}."
    if len(names) < fewest:
        got = f"only {names[0]!r}" if names else "none"
        raise InputError("columns of at least two detectors to compare", got, hint=listing)
    for name, count in Counter(names).items():
        if count > 1:
            rule = "each detector's column to be named once"
            raise InputError(rule, f"{name!r} {count} times", hint=listing)

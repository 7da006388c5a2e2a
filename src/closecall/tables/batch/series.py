"""One series of a table: its true events in evaluated time, and its columns, read once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import Axis, IgnoredTime, read_axis, require_increasing
from closecall.clock import SAMPLES, Timed, mixed_zones, on_one_clock, read_times
from closecall.errors import (
    ClosecallError,
    InputError,
    InputTypeError,
    UnevenTimesError,
    with_names,
)
from closecall.events import Events, Intervals, read_labels
from closecall.parameters import read_length
from closecall.scores import read_scores, require_scores
from closecall.series import Pair, Scored, TruthInSpan, close_series, on_axis, predict_labels
from closecall.tables.batch.status import Status, empty_series, with_status
from closecall.tables.reading import NOT_NUMBERS, plain_values
from closecall.tables.roles import MENDED, Source, TimeOrder, read_text_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.options import BatchOptions, Disorder


@dataclass(frozen=True, eq=False)
class Series:
    """The true events of a series, and what is needed to put predictions beside them."""

    labels: NDArray[Any]
    """True labels of all samples, in the order of time."""
    axis: Axis
    """That of all samples."""
    order: NDArray[np.int64] | None
    """How the samples were put in the order of time; None if they came in it."""
    timed: bool
    """Whether the axis is that of the time column."""
    closed: TruthInSpan | None = None
    """The true events in evaluated time; None if nothing is ignored."""
    kept: NDArray[np.bool_] | None = None
    """Which samples are evaluated; None if all are."""
    numbers: NDArray[np.int64] | None = None
    """Which samples of a longer series these are, and how many it has; None if they are all."""

    @cached_property
    def in_span(self) -> TruthInSpan:
        """The true events in the evaluated time of the series."""
        if self.closed is not None:
            return self.closed
        return on_axis(Intervals.from_labels(self.labels, self.axis), self.axis)

    @property
    def evaluated_labels(self) -> NDArray[Any]:
        """True labels of the samples that are evaluated."""
        return self.labels if self.kept is None else self.labels[self.kept]

    def labelled(self, column: pa.ChunkedArray, name: str) -> NDArray[Any]:
        """Read a column of 0/1 predictions."""
        return read_labels(self.in_order(to_numpy(column, name)), name)

    def scored(self, column: pa.ChunkedArray, name: str) -> Scored:
        """Read a column of scores, of which those of ignored samples may be missing."""
        values = score_values(column, name, missing=self.kept is not None)
        scores = read_scores(self.in_order(values), name, nan="ignore")
        require_scores(scores, name, self.kept)
        return Scored.of(self.in_span, scores, self.kept)

    def predicting(self, labels: NDArray[Any]) -> Pair:
        """Put 0/1 predictions beside the true events."""
        return predict_labels(self.in_span, labels, self.kept)

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
        return self._sampled.predicting(predicted)

    @cached_property
    def _sampled(self) -> TruthInSpan:
        return _counted(self.evaluated_labels).in_span

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

    def in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what came with the samples in the order of time."""
        return values if self.order is None else values[self.order]


def with_times(table: pa.Table, options: BatchOptions) -> pa.Table:
    """Turn times that are ISO text into datetimes."""
    if options.time is None:
        return table
    try:
        times = read_text_times(table.column(options.time), options.time)
    except InputTypeError:  # what is wrong with the times is told where they are read
        return table
    return table.set_column(table.column_names.index(options.time), options.time, times)


def one_per_time(table: pa.Table, options: BatchOptions) -> pa.Table:
    """Put samples in the order of time with one for each, where `disorder` says which."""
    table = with_times(table, options)
    if options.time is None or options.disorder not in MENDED:
        return table
    source = Source("", table)
    try:
        order = TimeOrder.of(source, options.time, options.disorder)
    except ClosecallError:  # what is wrong with the times is told where they are read
        return table
    if order is None:
        return table
    roles = {options.truth: "truth"}
    if isinstance(options.ignore, str):
        roles[options.ignore] = "ignore"
    roles |= dict.fromkeys(options.scores, "score") | dict.fromkeys(options.predicted, "predicted")
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        try:
            columns[name] = order.apply(column, roles.get(name, ""))
        except NOT_NUMBERS:  # its own row says so
            columns[name] = order.apply(column, "")
    return type(table).from_pydict(columns)


def read_series(table: pa.Table, options: BatchOptions, *, fitting: bool = False) -> Series:
    """Read the truth and the times of one series; an error has the status of what is wrong.

    With `fitting`, its evaluated time is that which thresholds are chosen on.
    """
    series = _read_whole(table, options)
    if not options.ignores_time:
        return series
    ignore: list[Any] = list(_ignored_samples(series, table, options))
    ends = [
        ("since", options.since, False),
        ("until", options.until, True),
        ("fit_until", options.fit_until, fitting),
    ]
    with with_status(Status.BAD_TIMES):
        counted = options.time is not None and not series.timed
        zone = options.time and getattr(table.schema.field(options.time).type, "tz", None)
        ignore += ignored_outside(series.axis, ends, zone, counted=counted)
        if isinstance(options.ignore, Events):
            ignore.append(_stretches(options.ignore, zone, counted=counted))
        longest = options.max_step if series.timed else None
        if longest is not None:
            read_length(longest, series.axis.clock, "max_step")
    with with_status(Status.BAD_TIMES, values=Status.EMPTY):
        closed, kept = close_series(series.in_span, series.labels, ignore, longest)
    return replace(series, closed=closed, kept=kept)


def _stretches(ignore: Events, zone: Any, *, counted: bool) -> Events:
    """Return the time to ignore on an axis, whose times are read in UTC if they have a zone."""
    if counted:
        rule = "times in their order beside `ignore`"
        raise InputError(rule, "samples that are counted instead")
    own = ignore.intervals
    if zone is None or own.clock.tz is None:
        if (zone, own.clock.tz) != (None, None):
            got = "only `ignore`" if zone is None else f"only times in {zone}"
            raise mixed_zones("`ignore` and the times", got)
        return ignore
    return Events.wrap(replace(own, clock=replace(own.clock, tz=None)))


def _ignored_samples(
    series: Series, table: pa.Table, options: BatchOptions
) -> Iterator[NDArray[Any]]:
    """Yield 0/1 vectors: the column of what is ignored, and where a detector has no score."""
    if isinstance(options.ignore, str):
        with with_status(Status.BAD_LABELS):
            yield series.labelled(table.column(options.ignore), options.ignore)
    if options.nan == "ignore":
        for name in options.scores:
            with suppress(ClosecallError, TypeError):  # its own row says what is wrong with it
                missing = np.isnan(score_values(table.column(name), name, missing=True))
                if not missing.all():  # a detector that was not run takes no time from the others
                    yield series.in_order(missing)


def ignored_outside(
    axis: Axis, ends: Iterable[tuple[str, Any, bool]], zone: Any = None, *, counted: bool
) -> Iterator[IgnoredTime]:
    """Yield the time that each end leaves out: what comes before it, or with True what follows.

    An end is an option and its time, if any. `zone` is that of the times, if the axis is in UTC;
    `counted` is whether samples are counted in their place.
    """
    for name, moment, after in ends:
        if moment is None:
            continue
        if counted:
            rule = f"times in their order beside `{name}`"
            raise InputError(rule, "samples that are counted instead")
        ((start, stop), (tick,)), clock = on_one_clock(
            Timed("times", np.array([axis.start, axis.end]), axis.clock),
            Timed(name, *read_times([_in_utc(moment, name, zone)], name)),
        )
        first, last = (max(start, tick), stop) if after else (start, min(tick, stop))
        if (first, last) == (start, stop):
            rule = f"some time {'before' if after else 'after'} {clock.text(tick)}"
            got = f"a series from {clock.text(start)} to {clock.text(stop)}"
            raise empty_series(rule, got)
        if first < last:
            yield IgnoredTime.of(np.array([first]), np.array([last]), clock)


def _in_utc(moment: Any, name: str, zone: Any) -> Any:
    """Return a time without its zone, as the columns that have one are read in UTC."""
    if zone is None or not isinstance(moment, datetime):
        return moment
    if moment.tzinfo is None:
        raise mixed_zones(f"`{name}` and the times", f"{moment} and times with the zone {zone}")
    return moment.astimezone(UTC).replace(tzinfo=None)


def _read_whole(table: pa.Table, options: BatchOptions) -> Series:
    if table.num_rows == 0:
        raise empty_series()
    with with_status(Status.BAD_LABELS):
        labels = read_labels(to_numpy(table.column(options.truth), options.truth), options.truth)
    if options.time is None:
        return _counted(labels)
    with with_status(Status.BAD_TIMES):
        column = read_text_times(table.column(options.time), f"`{options.time}`")
    if column.null_count and options.disorder == "index":
        return _counted(labels)
    with with_status(Status.BAD_TIMES), with_names({"times": options.time}):
        times = to_numpy(column, options.time)
        return timed_series(
            labels, times, name=options.time, disorder=options.disorder, max_step=options.max_step
        )


def timed_series(
    labels: NDArray[Any],
    times: NDArray[Any],
    *,
    name: str,
    disorder: Disorder,
    max_step: Any = None,
) -> Series:
    """Put labels on an axis; do what `disorder` says, and end uneven times by the median step."""
    # Most series are in order and even; only the others pay for finding out what they are.
    with suppress(ClosecallError):
        axis = read_axis(labels.size, times, None, of="labels", max_step=max_step)
        return Series(labels, axis, None, timed=True)
    try:
        return _mended(labels, times, name, disorder, max_step)
    except InputError:
        # A column that holds no times at all is another error: there is nothing to ignore.
        if disorder != "index":
            raise
        return _counted(labels)


def _counted(labels: NDArray[Any]) -> Series:
    axis = read_axis(labels.size, None, None, of="labels")
    return Series(labels, axis, None, timed=False)


def _mended(
    labels: NDArray[Any], times: NDArray[Any], name: str, disorder: Disorder, max_step: Any
) -> Series:
    ticks, clock = read_times(times, name)
    order = None
    if not (ticks[1:] > ticks[:-1]).all():
        if disorder == "sort":
            order = np.argsort(ticks, kind="stable")
            labels, times, ticks = labels[order], times[order], ticks[order]
        require_increasing(ticks, clock, name)
    if ticks.size == 1:
        raise InputError(
            "to have at least two times, which tell how long a sample is", "one", argument=name
        )
    if max_step is not None:
        read_length(max_step, clock, "max_step")
    try:
        axis = read_axis(times.size, times, None, of="labels", max_step=max_step)
    except UnevenTimesError as error:
        axis = read_axis(times.size, times, error.details["end"], of="labels")
    return Series(labels, axis, order, timed=True)


def to_numpy(column: pa.ChunkedArray, name: str) -> NDArray[Any]:
    """Return a column as an array; datetimes with a time zone become datetimes in UTC."""
    if column.null_count:
        raise _missing(column, name)
    plain = plain_values(column)
    chunk = plain.chunk(0) if plain.num_chunks == 1 else plain.combine_chunks()
    array: NDArray[Any] = chunk.to_numpy(zero_copy_only=False)
    return array


def score_values(column: pa.ChunkedArray, name: str, *, missing: bool) -> NDArray[Any]:
    """Return a column of scores as an array; nulls are nan if some may be missing."""
    import pyarrow as pa

    if missing and column.null_count:
        column = plain_values(column)
        if not pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        column = column.fill_null(nan)
    return to_numpy(column, name)


def _missing(column: pa.ChunkedArray, name: str) -> InputError:
    import pyarrow.compute as pc

    index = pc.index(column.is_null(), value=True).as_py()
    rule = "to have no missing values"
    return InputError(
        rule, "a null", argument=name, index=index, hint="Drop or fill those rows first."
    )


def read_scored_column(series: Series, column: pa.ChunkedArray, name: str) -> Scored:
    """Read a column of scores; nan and null have a status of their own."""
    with with_status(Status.BAD_SCORES, values=Status.NAN_SCORE):
        return series.scored(column, name)

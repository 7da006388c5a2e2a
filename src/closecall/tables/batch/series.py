"""One series of a table, read once for all of its detectors: true events on an axis."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import Axis, read_axis, require_increasing
from closecall.clock import read_times
from closecall.errors import ClosecallError, InputError, expected, renamed
from closecall.events import Intervals, read_labels
from closecall.series import Pair, Scored, TruthInSpan, on_axis, read_scores
from closecall.tables.batch.arrow_columns import to_numpy
from closecall.tables.batch.trouble import BAD_LABELS, BAD_TIMES, EMPTY, TroubleError, blamed_on

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.clock import Clock
    from closecall.tables.batch.question import Disorder, Question


@dataclass(frozen=True, eq=False)
class Series:
    """The true events of a series, and what is needed to put predictions beside them."""

    labels: NDArray[Any]
    """True labels, in the order of time."""
    axis: Axis
    order: NDArray[np.int64] | None
    """How the samples were put in the order of time; None if they came in it."""
    timed: bool
    """Whether the axis is that of the time column."""

    @cached_property
    def in_span(self) -> TruthInSpan:
        """The true events in the span of the series."""
        return on_axis(Intervals.from_labels(self.labels, self.axis), self.axis)

    @cached_property
    def by_samples(self) -> Series:
        """The same series on the numbers of its samples, for metrics that count them."""
        if self.axis.ticks is None:
            return self
        axis = read_axis(self.axis.length, None, None, of="labels")
        return Series(self.labels, axis, self.order, timed=False)

    def labelled(self, column: pa.ChunkedArray, name: str) -> NDArray[Any]:
        """Read a column of 0/1 predictions."""
        return read_labels(self._in_order(to_numpy(column, name)), name)

    def scored(self, column: pa.ChunkedArray, name: str) -> Scored:
        """Read a column of scores."""
        scores = read_scores(self._in_order(to_numpy(column, name)), name)
        own = self.in_span
        return Scored(
            truth=own.truth,
            start=own.start,
            stop=own.stop,
            clock=own.clock,
            axis=self.axis,
            scores=scores,
        )

    def predicting(self, labels: NDArray[Any]) -> Pair:
        """Put 0/1 predictions beside the true events."""
        return self.in_span.predicting(Intervals.from_labels(labels, self.axis))

    def sample_numbers(self, ticks: NDArray[Any]) -> NDArray[np.int64]:
        """Give the numbers of the samples that start at those times, N for the end."""
        if self.axis.ticks is None:
            return ticks
        return np.searchsorted(self.axis.ticks, ticks)

    @cached_property
    def positives_before(self) -> NDArray[np.int64]:
        """How many true samples come before each one, and in all at the end."""
        counts = np.empty(self.labels.size + 1, dtype=np.int64)
        counts[0] = 0
        np.cumsum(self.labels, out=counts[1:])
        return counts

    def _in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.order is None else values[self.order]


def read_series(table: pa.Table, question: Question) -> Series:
    """Read the truth and the times of one series; `TroubleError` says what is wrong with them."""
    if table.num_rows == 0:
        raise TroubleError(EMPTY, expected("at least one sample", "none"))
    with blamed_on(BAD_LABELS):
        labels = read_labels(to_numpy(table.column(question.truth), question.truth), question.truth)
    if question.time is None:
        return _counted(labels)
    column = table.column(question.time)
    if column.null_count and question.disorder == "index":
        return _counted(labels)
    with blamed_on(BAD_TIMES), renamed({"times": question.time}):
        times = to_numpy(column, question.time)
        return timed_series(labels, times, name=question.time, disorder=question.disorder)


def timed_series(
    labels: NDArray[Any], times: NDArray[Any], *, name: str, disorder: Disorder
) -> Series:
    """Put labels on an axis; do what `disorder` says, and end uneven times by the median step.

    Parameters
    ----------
    labels, times
        One of each for every sample.
    name
        What messages call the times.
    disorder
        As in `closecall.evaluate_frame`.
    """
    # Most series are in order and even; only the others pay for finding out what they are.
    with suppress(ClosecallError):
        return Series(labels, read_axis(labels.size, times, None, of="labels"), None, timed=True)
    try:
        return _mended(labels, times, name, disorder)
    except InputError:
        # A column that holds no times at all is another error: there is nothing to ignore.
        if disorder != "index":
            raise
        return _counted(labels)


def _counted(labels: NDArray[Any]) -> Series:
    axis = read_axis(labels.size, None, None, of="labels")
    return Series(labels, axis, None, timed=False)


def _mended(labels: NDArray[Any], times: NDArray[Any], name: str, disorder: Disorder) -> Series:
    ticks, clock = read_times(times, name)
    order = None
    if not (ticks[1:] > ticks[:-1]).all():
        if disorder == "sort":
            order = np.argsort(ticks, kind="stable")
            labels, times, ticks = labels[order], times[order], ticks[order]
        require_increasing(ticks, clock, name)
    if ticks.size == 1:
        raise InputError(
            expected(f"`{name}` to have at least two times, which tell how long a sample is", "one")
        )
    return Series(labels, _axis_of(times, ticks, clock), order, timed=True)


def _axis_of(times: NDArray[Any], ticks: NDArray[Any], clock: Clock) -> Axis:
    try:
        return read_axis(ticks.size, times, None, of="labels")
    except InputError:
        # Whether steps are even is the axis' own judgement; this is the step that its hint names.
        steps = np.sort(np.diff(ticks))
        end = clock.native(ticks[-1:] + steps[steps.size // 2])[0]
        return read_axis(ticks.size, times, end, of="labels")

"""One series that is read part by part: of its samples, those stay where a label changes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import Axis, Spacing, is_short, require_increasing
from closecall.clock import SAMPLES
from closecall.errors import ClosecallError, InputError
from closecall.events import Intervals
from closecall.scores import predicted_at, require_scores
from closecall.series import on_axis
from closecall.tables.series import (
    SeriesInput,
    Status,
    read_label_column,
    read_score_column,
    read_time_column,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick, Ticks
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.grouping import Key
    from closecall.tables.units import Unit

_NUMBER = ""  # under which the numbers of samples are kept: no column is called so


@dataclass(frozen=True, slots=True)
class WholeSeries:
    """All parts of one series, as one unit."""

    parts: tuple[Unit, ...]
    cut: bool = False
    """Whether it is read part by part, as `LongSeries`."""
    advance: Callable[[int], Any] | None = None
    """Called with the number of rows of each part once it is read, in this process."""

    @property
    def key(self) -> str:
        """The key of the first part."""
        return self.parts[0].key

    @property
    def rows(self) -> int:
        """About how many rows there are in all."""
        return sum(part.rows for part in self.parts)

    def tables(self) -> Iterator[pa.Table]:
        """Yield one part after the other."""
        for part in self.parts:
            yield from (table for _, table in part.groups())
            if self.advance is not None:
                self.advance(part.rows)

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield the whole series; memory holds it."""
        import pyarrow as pa

        yield (), pa.concat_tables(list(self.tables()), promote_options="permissive")


def can_be_cut(options: BatchOptions) -> bool:
    """Return whether a series may be read in parts: nothing looks at all samples at once."""
    return (
        not (options.by or options.ignores_time)
        and [name for name, _ in options.metrics] == ["affiliation"]
        and bool(options.predicted or options.threshold.kind == "number")
        and (options.time is None or options.disorder == "error")
    )


@dataclass(frozen=True, slots=True)
class LongAxis(Axis):
    """An axis of which only some samples are kept."""

    numbers: NDArray[np.int64]
    """Which samples these are, and how many there are in all."""
    spacing: Spacing
    """Of all samples."""
    usual: Tick
    """The median step."""

    def sample_numbers(self, ticks: Ticks) -> NDArray[np.float64]:
        """Return times of samples that are kept, counted in samples."""
        starts = self.borders(np.arange(self.length))
        return self.numbers[np.searchsorted(starts, ticks)].astype(np.float64)

    def lengths(self) -> Ticks:
        """Return the shortest, the median and the longest length of all samples."""
        return np.array([self.spacing.shortest, self.usual, self.spacing.longest])

    def even_step(self) -> Tick | None:
        """Return the step of evenly spaced samples, or None."""
        return self.spacing.step(self.clock)


class LongSeries:
    """A series as it comes, part by part; memory is bounded by its true and predicted events.

    The end of uneven times is inferred from the steps of the last part.
    """

    def __init__(self, options: BatchOptions) -> None:
        self.samples = 0
        self._options = options
        self._kept: dict[str, list[NDArray[Any]]] = {}
        self._last: dict[str, Any] = {}
        self._extremes: dict[str, tuple[Any, Any]] = {}
        self._trouble: dict[str, ClosecallError] = {}
        self._clock: Clock = SAMPLES
        self._steps = np.ones(1, np.int64)
        self._limits: list[Tick] = [1, 1]
        self._short = self._exact = True

    def add(self, table: pa.Table) -> None:
        """Take the next part; what is wrong with it is raised where it is asked for."""
        before, self.samples = self.samples, self.samples + table.num_rows
        name, time = self._options.truth, self._options.time
        if not table.num_rows or name in self._trouble:
            return
        try:
            with _counted_from(before):
                truth = read_label_column(table.column(name), name)
            times = {} if time is None else {time: self._ticks(table.column(time), time, before)}
        except ClosecallError as error:
            self._trouble[name] = error
            return
        labels = {name: truth} | self._predictions(table, before)
        changed = np.zeros(truth.size, dtype=np.bool_)
        changed[0] = not before
        for name, own in labels.items():
            changed[1:] |= own[1:] != own[:-1]
            changed[0] |= own[0] != self._last.get(name, own[0])
            self._last[name] = own[-1]
        places = np.flatnonzero(changed)
        kept = {name: own[places] for name, own in (labels | times).items()}
        for name, own in (kept | {_NUMBER: places + before}).items():
            self._kept.setdefault(name, []).append(own)

    def _ticks(self, column: pa.ChunkedArray, name: str, before: int) -> Ticks:
        """Read times, which go on where the last part ended."""
        with _counted_from(before):
            times = read_time_column(column, name, self._options)
        ticks, self._clock = times.ticks, times.clock
        last = np.asarray([self._last[name]] if before else [], dtype=ticks.dtype)
        joined = np.append(last, ticks)
        with _counted_from(before - last.size), with_status(Status.BAD_TIMES):
            require_increasing(joined, self._clock, name)
        self._last[name] = ticks[-1].item()
        self._short = times.short
        self._exact &= self._clock.kind == "number" and is_short(ticks)
        steps = np.diff(joined)
        if steps.size:
            limits = [steps.min().item(), steps.max().item()]
            if before > 1:
                limits = [min(limits[0], self._limits[0]), max(limits[1], self._limits[1])]
            self._steps, self._limits = steps, limits
        return ticks

    def _predictions(self, table: pa.Table, before: int) -> dict[str, NDArray[Any]]:
        """Read the predictions of the detectors that are in no trouble."""
        options, found = self._options, {}
        for name in options.detectors:
            if name in self._trouble:
                continue
            column = table.column(name)
            try:
                if options.predicted:
                    with _counted_from(before):
                        found[name] = read_label_column(column, name)
                    continue
                with _counted_from(before), with_status(Status.NAN_SCORE):
                    scores = read_score_column(column, name)
                    require_scores(scores, name)
            except ClosecallError as error:
                self._trouble[name] = error
                continue
            low, high = self._extremes.get(name, (scores[0], scores[0]))
            self._extremes[name] = min(low, scores.min()), max(high, scores.max())
            found[name] = predicted_at(scores, options.threshold.value)
        return found

    def series(self) -> SeriesInput:
        """Return the series, once all parts are there."""
        if not self.samples:
            error = InputError("at least one sample", "none")
            error.status = Status.EMPTY
            raise error
        labels, time = self.column(self._options.truth), self._options.time
        kept = self.column(_NUMBER)
        numbers = np.append(kept, self.samples)
        usual = np.partition(self._steps, self._steps.size // 2)[self._steps.size // 2].item()
        if time is None:
            spacing = Spacing(0, self.samples, self.samples, 1, 1, short=False)
            axis = LongAxis(kept, kept.size, self.samples, SAMPLES, numbers, spacing, 1)
            return self._whole(labels, axis, numbers, timed=False)
        with with_status(Status.BAD_TIMES):
            if self.samples == 1:
                raise InputError("for a series of one sample", "none", argument="end")
            ticks, last = self.column(time), self._last[time]
            first, (low, high) = ticks[0].item(), self._limits
            steps = Spacing(first, last, self.samples - 1, low, high, self._short)
            end = steps.end(self._clock)
            end = last + usual if end is None else end
        low, high = min(low, end - last), max(high, end - last)
        spacing = Spacing(first, end, self.samples, low, high, self._exact)
        axis = LongAxis(ticks, ticks.size, end, self._clock, numbers, spacing, usual)
        return self._whole(labels, axis, numbers, timed=True)

    @staticmethod
    def _whole(
        labels: NDArray[Any], axis: Axis, numbers: NDArray[np.int64], *, timed: bool
    ) -> SeriesInput:
        truth = on_axis(Intervals.from_labels(labels, axis), axis)
        return SeriesInput(in_span=truth, labels=labels, axis=axis, timed=timed, numbers=numbers)

    def column(self, name: str) -> NDArray[Any]:
        """Return what was kept of a column, or raise what is wrong with it."""
        if name in self._trouble:
            raise self._trouble[name]
        return np.concatenate(self._kept[name])

    def constant(self, name: str) -> Any:
        """Return the score that every sample has; None where they differ, or there are none."""
        low, high = self._extremes.get(name, (0, 1))
        return low if low == high else None


@contextmanager
def _counted_from(samples: int) -> Iterator[None]:
    """Count the index of an error from the start of the series, that many samples before."""
    try:
        yield
    except ClosecallError as error:
        if error.index is not None:
            error.index += samples
        raise

"""One series that is read part by part: of its samples, those stay where a label changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.runs import RunAxis, Runs, require_one_clock
from closecall.axis import require_increasing
from closecall.clock import SAMPLES
from closecall.errors import ClosecallError, InputError
from closecall.events import Intervals
from closecall.scores import predicted_at, require_scores
from closecall.series import on_axis
from closecall.tables.series import (
    SeriesInput,
    Status,
    counted_from,
    read_label_column,
    read_score_column,
    read_time_column,
    usual_end_note,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.grouping import Key
    from closecall.tables.units import Unit


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


class LongSeries:
    """A series as it comes, part by part; memory is bounded by its true and predicted events.

    The end of uneven times is inferred from the steps of the last part.
    """

    def __init__(self, options: BatchOptions) -> None:
        self.samples = 0
        self._options = options
        self._runs: dict[str, Runs] = {}
        self._extremes: dict[str, tuple[Any, Any]] = {}
        self._trouble: dict[str, ClosecallError] = {}
        self._usual: Tick = 1

    def add(self, table: pa.Table) -> None:
        """Take the next part; what is wrong with it is raised where it is asked for."""
        before, self.samples = self.samples, self.samples + table.num_rows
        name, time = self._options.truth, self._options.time
        if not table.num_rows or name in self._trouble:
            return
        try:
            with counted_from(before):
                truth = read_label_column(table.column(name), name)
            times = None if time is None else self._times(table.column(time), time, before)
        except ClosecallError as error:
            self._trouble[name] = error
            return
        columns = {name: truth} | self._predictions(table, before)
        for column, labels in columns.items():
            known, codes = self._runs.get(column, Runs(SAMPLES, 0, 0)), labels.astype(np.uint8)
            part = known.counted(codes, 1) if times is None else known.timed(codes, **times)
            self._runs[column] = known.followed_by(part)

    def _times(self, column: pa.ChunkedArray, name: str, before: int) -> dict[str, Any]:
        """Read times that follow those of the last part."""
        with counted_from(before):
            times = read_time_column(column, name, self._options)
        ticks, clock = times.ticks, times.clock
        known = self._runs.get(self._options.truth)
        last = [] if known is None else [known.stop]
        joined = np.append(np.array(last, dtype=ticks.dtype), ticks)
        with counted_from(before - len(last)), with_status(Status.BAD_TIMES):
            if known is not None:
                require_one_clock(known.clock, clock)
            require_increasing(joined, clock, name)
        steps = np.diff(joined)
        if steps.size:
            self._usual = np.partition(steps, steps.size // 2)[steps.size // 2].item()
        return {"times": times, "float32": times.short}

    def _predictions(self, table: pa.Table, before: int) -> dict[str, NDArray[Any]]:
        """Read the predictions of the detectors that are in no trouble."""
        options, found = self._options, {}
        for name in options.detectors:
            if name in self._trouble:
                continue
            column = table.column(name)
            try:
                if options.predicted:
                    with counted_from(before):
                        found[name] = read_label_column(column, name)
                    continue
                with counted_from(before), with_status(Status.NAN_SCORE):
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
            read_label_column(np.empty(0), self._options.truth)  # raises
        labels, time = self.column(self._options.truth), self._options.time
        truth = self._runs[self._options.truth]
        with with_status(Status.BAD_TIMES):
            if time is not None and self.samples == 1:
                raise InputError("for a series of one sample", "none", argument="end")
            end = truth.end()
        notes = []
        if end is None:
            end = truth.stop + self._usual
            notes.append(usual_end_note(truth.clock.text(end)))
        truth = truth.until(end)
        kept, ticks = self._kept()
        numbers, limits = np.append(kept, self.samples), truth.steps.given
        known = numbers, limits, limits, truth.short, self._usual
        axis = RunAxis(ticks, kept.size, truth.stop, truth.clock, *known)
        return SeriesInput(
            in_span=on_axis(Intervals.from_labels(labels, axis), axis),
            labels=labels,
            axis=axis,
            timed=time is not None,
            numbers=numbers,
            notes=notes,
        )

    def _kept(self) -> tuple[NDArray[np.int64], Ticks]:
        """Return the samples where any label changes, and their times."""
        kept = [runs for name, runs in self._runs.items() if name not in self._trouble]
        numbers = np.concatenate([runs.numbers() for runs in kept])
        ticks = np.concatenate([runs.column("tick") for runs in kept])
        numbers, first = np.unique(numbers, return_index=True)
        return numbers, ticks[first]

    def column(self, name: str) -> NDArray[Any]:
        """Return the labels of a column at the samples that are kept, or raise its trouble."""
        if name in self._trouble:
            raise self._trouble[name]
        runs = self._runs[name]
        places = np.searchsorted(runs.numbers(), self._kept()[0], side="right") - 1
        return runs.column("code")[places]

    def constant(self, name: str) -> Any:
        """Return the score that every sample has; None where they differ, or there are none."""
        low, high = self._extremes.get(name, (0, 1))
        return low if low == high else None

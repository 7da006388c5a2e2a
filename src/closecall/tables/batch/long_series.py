"""One series longer than a unit: its parts are evaluated apart, and only their streams travel."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.stream import AffiliationStream
from closecall.axis import read_axis, require_increasing
from closecall.clock import read_times
from closecall.errors import InputError, expected, renamed
from closecall.events import read_labels
from closecall.series import predicted_at, read_scores
from closecall.tables.batch.options import ALARMED, CHANCE, COUNTS, DETECTOR
from closecall.tables.batch.rows import Keys, UnitRows, event_rows, events_table, rows_table
from closecall.tables.batch.run import unread
from closecall.tables.batch.series import Series, chance_levels, to_numpy
from closecall.tables.batch.status import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    CONSTANT_SCORE,
    EMPTY,
    NAN_SCORE,
    NO_EVENT,
    OK,
    UNDEFINED,
    SeriesError,
    one_line,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.batch.run import Failure, Outcome
    from closecall.tables.sources.source import Key, Unit

Trouble = tuple[str, str]  # a status, and the reason
_INDEX = re.compile(r"(?<= at index )\d+(?=\.$)")


@dataclass(frozen=True, slots=True)
class DetectorPart:
    """What one detector did in a part; a stream, and sums."""

    stream: AffiliationStream
    predicted_samples: int = 0
    hit_samples: int = 0
    lowest: float = np.inf
    highest: float = -np.inf
    trouble: Trouble | None = None

    def followed_by(self, other: DetectorPart, samples: int) -> DetectorPart:
        """Put the part that comes next in time after this one of so many samples."""
        if self.trouble or other.trouble:
            return replace(self, trouble=self.trouble or _moved(other.trouble, samples))
        return DetectorPart(
            self.stream + other.stream,
            self.predicted_samples + other.predicted_samples,
            self.hit_samples + other.hit_samples,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
        )


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """What all detectors did in a part, and how it ends."""

    samples: int = 0
    detectors: tuple[DetectorPart, ...] = ()
    numbers: AffiliationStream = field(default_factory=AffiliationStream)
    """The true events by the numbers of their samples."""
    true_samples: int = 0
    time: str | None = None
    """The name of the time column."""
    first_time: Any = None
    last_time: Any = None
    usual_step: Any = None
    time_type: pa.DataType | None = None
    trouble: Trouble | None = None

    def followed_by(self, other: SeriesPart) -> SeriesPart:
        """Put the part that comes next in time after this one."""
        samples = self.samples + other.samples
        trouble = self.trouble or _moved(other.trouble, self.samples) or self._disorder(other)
        if trouble or not self.samples or not other.samples:
            return replace(other if other.samples else self, samples=samples, trouble=trouble)
        both = zip(self.detectors, other.detectors, strict=True)
        try:
            detectors = tuple(one.followed_by(following, self.samples) for one, following in both)
        except InputError as error:
            return replace(self, samples=samples, trouble=(BAD_TIMES, one_line(error)))
        return SeriesPart(
            samples,
            detectors,
            self.numbers + other.numbers,
            self.true_samples + other.true_samples,
            self.time,
            self.first_time,
            other.last_time,
            self.usual_step if other.usual_step is None else other.usual_step,
            other.time_type,
        )

    def _disorder(self, other: SeriesPart) -> Trouble | None:
        """Say what is wrong if the next part does not start later than this one ends."""
        if self.time is None or other.time is None:
            return None
        ticks, clock = read_times(np.array([self.last_time, other.first_time]), self.time)
        try:
            require_increasing(ticks, clock, self.time)
        except InputError as error:
            return _moved((BAD_TIMES, one_line(error)), self.samples - 1)
        return None


def evaluate_part(unit: Unit, options: BatchOptions) -> SeriesPart:
    """Evaluate one part of a series; what is wrong with it stays until the parts are joined."""
    part = SeriesPart()
    for _, table in unit.groups():
        try:
            part = part.followed_by(_read_part(table, options))
        except SeriesError as error:
            part = SeriesPart(table.num_rows, trouble=(error.status, str(error)))
    return part


def _moved(trouble: Trouble | None, samples: int) -> Trouble | None:
    """Count the index of a value from the start of the series, so many samples before."""
    if trouble is None:
        return None
    status, reason = trouble
    return status, _INDEX.sub(lambda index: str(int(index[0]) + samples), reason)


def _read_part(table: pa.Table, options: BatchOptions) -> SeriesPart:
    if table.num_rows == 0:
        return SeriesPart()
    with with_status(BAD_LABELS):
        truth = read_labels(to_numpy(table.column(options.truth), options.truth), options.truth)
    times = None
    if options.time is not None:
        with with_status(BAD_TIMES):
            times = to_numpy(table.column(options.time), options.time)
    numbers = AffiliationStream()
    numbers.update(truth, np.zeros_like(truth))
    part = SeriesPart(
        samples=truth.size,
        detectors=tuple(
            _detector_part(table, name, truth, times, options) for name in options.detectors
        ),
        numbers=numbers,
        true_samples=int(np.count_nonzero(truth)),
    )
    if times is None:
        return part
    if all(detector.trouble for detector in part.detectors):
        _update(AffiliationStream(), truth, truth, times, options)  # as nobody has looked at them
    return replace(
        part,
        time=options.time,
        first_time=times[0],
        last_time=times[-1],
        usual_step=_usual_step(times),
        time_type=table.schema.field(options.time).type,
    )


def _usual_step(times: NDArray[Any]) -> Any:
    """Give the median step, the later one of two."""
    steps = np.diff(times)
    if not steps.size:
        return None
    even = steps.min() == steps.max()
    return steps[0] if even else np.sort(steps)[steps.size // 2]


def _update(
    stream: AffiliationStream,
    truth: NDArray[Any],
    predicted: NDArray[Any],
    times: NDArray[Any] | None,
    options: BatchOptions,
) -> None:
    # The labels have been read already.
    with with_status(BAD_TIMES), renamed({"times": str(options.time)}):
        stream.update(truth, predicted, times=times)


def _detector_part(
    table: pa.Table,
    name: str,
    truth: NDArray[Any],
    times: NDArray[Any] | None,
    options: BatchOptions,
) -> DetectorPart:
    stream = AffiliationStream()
    try:
        predicted, extremes = _predictions(table.column(name), name, options)
    except SeriesError as error:
        return DetectorPart(stream, trouble=(error.status, str(error)))
    _update(stream, truth, predicted, times, options)
    alarmed = predicted != 0
    hits = int(np.count_nonzero(truth[alarmed]))
    return DetectorPart(stream, int(np.count_nonzero(alarmed)), hits, *extremes)


def _predictions(
    column: pa.ChunkedArray, name: str, options: BatchOptions
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Read 0/1 predictions, or scores with their extremes."""
    if options.predicted:
        with with_status(BAD_LABELS):
            return read_labels(to_numpy(column, name), name), (0, 1)
    with with_status(BAD_SCORES):
        try:
            scores = read_scores(to_numpy(column, name), name)
        except InputError as error:
            raise SeriesError(NAN_SCORE, one_line(error)) from error
    extremes = scores.min().item(), scores.max().item()
    return predicted_at(scores, options.threshold.value), extremes


def can_be_cut(options: BatchOptions) -> bool:
    """Say whether parts of a series, evaluated apart, answer the options with the same digits.

    They do for the affiliation metrics of 0/1 predictions, or of scores and a threshold that is a
    number. Any other threshold or metric looks at all samples at once.
    """
    return (
        not options.by
        and [name for name, _ in options.metrics] == ["affiliation"]
        and bool(options.predicted or options.threshold.kind == "number")
        and (options.time is None or options.disorder == "error")
    )


def evaluate_endless(
    units: Sequence[Unit],
    options: BatchOptions,
    run: Callable[[Sequence[Unit], Callable[[Unit], SeriesPart]], Iterator[Outcome[SeriesPart]]],
) -> UnitRows:
    """Evaluate one series whose units follow each other in time.

    Memory, here and on the workers, is bounded by one unit, by the true events, and by the
    predicted events around the borders of units.

    Parameters
    ----------
    units
        The parts of the series, in the order of time.
    options
        What is asked; see `can_be_cut`.
    run
        `closecall.tables.batch.run.run` with its engine: calls a function with every unit and
        yields the outcomes, in any order.

    Raises
    ------
    InputError
        A part could not be read, after all others were: a series with a hole has no scores.
    """
    if not can_be_cut(options):
        raise InputError(
            expected(
                "a question that parts of a series can answer",
                "one that needs all of it",
                'Ask for `metrics=["affiliation"]` with `predicted`, or with a number as '
                "`threshold`.",
            )
        )
    whole, places = SeriesPart(), {unit.key: place for place, unit in enumerate(units)}
    waiting: dict[int, SeriesPart] = {}
    failures: list[Failure] = []
    joined = 0
    function = partial(evaluate_part, options=options)
    with closing(run(units, function)) as outcomes:  # type: ignore[type-var]
        for outcome in outcomes:
            if outcome.value is None:
                failures.append((outcome.key, str(outcome.error)))
                continue
            waiting[places[outcome.key]] = outcome.value
            while joined in waiting:
                whole = whole.followed_by(waiting.pop(joined))
                joined += 1
    if failures:
        raise unread(sorted(failures))
    return _rows(whole, units[0].key, options)


def _rows(whole: SeriesPart, key: str, options: BatchOptions) -> UnitRows:
    keys, event_keys = Keys(options.by), Keys(options.by)
    rows, events = [], []
    for place, name in enumerate(options.detectors):
        row = _blank(whole, options)
        rows.append({DETECTOR: name, **row})
        if whole.trouble or not whole.samples:
            continue
        detector = whole.detectors[place]
        result, status = _fill_in(rows[-1], whole, detector, name, options)
        rows[-1]["status"], rows[-1]["reason"] = status
        if options.per_event and result is not None:
            events.append(event_rows(name, result, _numbered(whole, result), whole.time_type))
    table = events_table(event_keys, events, options)
    return UnitRows(key, rows_table(keys, rows, options), table)


def _blank(whole: SeriesPart, options: BatchOptions) -> dict[str, Any]:
    empty = EMPTY, expected("at least one sample", "none")
    status, reason = whole.trouble or (empty if not whole.samples else (OK, None))
    row: dict[str, Any] = {"status": status, "reason": reason, **dict.fromkeys(COUNTS)}
    row |= {"samples": whole.samples, "threshold": nan}
    row |= {ALARMED: None, **dict.fromkeys((*options.metric_columns, *CHANCE), nan)}
    return row


def _fill_in(
    row: dict[str, Any],
    whole: SeriesPart,
    detector: DetectorPart,
    name: str,
    options: BatchOptions,
) -> tuple[Affiliation | None, tuple[str, str | None]]:
    """Put in the numbers of one detector; give its scores by event, status and reason."""
    row |= {"true_samples": whole.true_samples, "true_events": len(whole.numbers)}
    if detector.trouble:
        return None, detector.trouble
    stream = detector.stream
    row |= {
        "predicted_events": stream.alarms,
        "predicted_samples": detector.predicted_samples,
        "hit_samples": detector.hit_samples,
        "threshold": float(options.threshold.value) if options.scores else nan,
    }
    if not row["true_events"]:
        reason = expected("at least one true event", f"none in `{options.truth}`")
        return None, (NO_EVENT, reason)
    try:
        result = _result(whole, detector, options)
    except InputError as error:
        return None, (BAD_TIMES, one_line(error))
    row |= {f"affiliation_{key}": value for key, value in result.values().items()}
    row[ALARMED] = int(np.count_nonzero(result.events.predicted_count))
    row.update(zip(CHANCE, chance_levels(result.events), strict=True))
    return result, _judge(row, detector, name, options)


def _result(whole: SeriesPart, detector: DetectorPart, options: BatchOptions) -> Affiliation:
    if options.time is None:
        return detector.stream.result()
    if whole.usual_step is None:
        raise InputError(
            expected(
                f"`{options.time}` to have at least two times, which tell how long a sample is",
                "one",
            )
        )
    try:
        return detector.stream.result()
    except InputError:
        # Uneven times: the last sample lasts the usual step of the last part.
        return detector.stream.result(end=whole.last_time + whole.usual_step)


def _judge(
    row: dict[str, Any], detector: DetectorPart, name: str, options: BatchOptions
) -> tuple[str, str | None]:
    if detector.lowest == detector.highest:
        constant = f"{detector.lowest} for every sample"
        return CONSTANT_SCORE, expected(f"`{name}` to tell samples apart", constant)
    undefined = [column for column in options.metric_columns if isnan(row[column])]
    if not undefined:
        return OK, None
    metrics = f"{', '.join(undefined)} {'is' if len(undefined) == 1 else 'are'} undefined"
    return UNDEFINED, expected(f"at least one prediction ({metrics})", "none")


@dataclass(frozen=True, eq=False)
class _NumberedEvents(Series):
    """The true events of a series by the numbers of their samples."""

    ticks: NDArray[Any]
    numbers: NDArray[np.int64]

    def sample_numbers(self, ticks: NDArray[Any]) -> NDArray[np.int64]:
        """Give the numbers of the samples where true events start, or stop."""
        return self.numbers[np.searchsorted(self.ticks, ticks)]


def _numbered(whole: SeriesPart, result: Affiliation) -> Series:
    truth = result.events.pair.truth
    own = whole.numbers.result().events.pair.truth
    axis = read_axis(whole.samples, None, None, of="labels")
    return _NumberedEvents(
        np.empty(0, dtype=np.uint8),
        axis,
        None,
        timed=whole.time_type is not None,
        ticks=np.column_stack((truth.starts, truth.stops)).ravel(),
        numbers=np.column_stack((own.starts, own.stops)).ravel(),
    )


@dataclass(frozen=True, slots=True)
class Joined:
    """All parts of one series, as one unit with one group; memory holds the whole series."""

    parts: tuple[Unit, ...]

    @property
    def key(self) -> str:
        """The key of the first part."""
        return self.parts[0].key

    @property
    def rows(self) -> int:
        """About how many rows there are in all."""
        return sum(part.rows for part in self.parts)

    def groups(self) -> Iterator[tuple[Key, pa.Table]]:
        """Yield the whole series."""
        import pyarrow as pa

        tables = [table for part in self.parts for _, table in part.groups()]
        yield (), pa.concat_tables(tables, promote_options="permissive")

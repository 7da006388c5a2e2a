"""One series longer than a unit: its parts are read apart, and only their events travel."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.score import score_pair
from closecall.affiliation.stream import AffiliationStream
from closecall.axis import Axis, in_ticks_of, require_increasing
from closecall.clock import Timed, read_times
from closecall.errors import InputError, expected, renamed
from closecall.events import Intervals, read_labels, runs
from closecall.series import predicted_at, read_scores
from closecall.tables.batch.options import DETECTOR
from closecall.tables.batch.rows import (
    UnitRows,
    event_rows,
    events_table,
    fill_chance,
    fill_outcomes,
    judge,
    rows_table,
)
from closecall.tables.batch.series import to_numpy
from closecall.tables.batch.status import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    EMPTY,
    NAN_SCORE,
    SeriesError,
    one_line,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation
    from closecall.clock import Tick, Ticks
    from closecall.series import Pair
    from closecall.tables.batch.options import BatchOptions
    from closecall.tables.sources import Unit
    from closecall.tables.sources.source import Key

Trouble = tuple[str, str]  # a status, and the reason
_INDEX = re.compile(r"(?<= at index )\d+(?=\.$)")


@dataclass(frozen=True, slots=True)
class Runs:
    """Predicted events of a part, by the times of the samples where they start and stop."""

    starts: NDArray[Any]
    stops: NDArray[Any]
    """One fewer if the last event reaches the end of the part, which nobody knows the time of."""
    at_start: bool = False
    """Whether the first event starts with the first sample."""

    @classmethod
    def of(cls, labels: NDArray[Any], times: NDArray[Any]) -> Runs:
        """Find the runs of ones in labels."""
        first, after = runs(labels)
        inside = after[after < labels.size]
        return cls(times[first], times[inside], bool(first.size and first[0] == 0))

    @property
    def open(self) -> bool:
        """Whether the last event reaches the end."""
        return self.starts.size > self.stops.size

    def followed_by(self, other: Runs, border: Any) -> Runs:
        """Put the events of the next part after these; one that crosses the border is one event."""
        starts, stops = other.starts, other.stops
        if self.open and other.at_start:
            starts = starts[1:]
        elif self.open:
            stops = np.append(np.asarray([border], dtype=stops.dtype), stops)
        return Runs(_joined(self.starts, starts), _joined(self.stops, stops), self.at_start)

    def moved(self, samples: int) -> Runs:
        """Count samples from that many before."""
        return Runs(self.starts + samples, self.stops + samples, self.at_start)

    def intervals(self, span: Pair) -> Intervals:
        """Return the events on the clock of the span that holds them."""
        starts, stops = (
            in_ticks_of(span.clock, Timed("times", *read_times(times, "times")))
            if times.size
            else np.empty(0, span.truth.starts.dtype)
            for times in (self.starts, self.stops)
        )
        if self.open:
            stops = np.append(stops, stops.dtype.type(span.stop))
        return Intervals(starts, stops, span.clock)


def _joined(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    if not first.size or not second.size:  # nothing has no type of its own
        return second if second.size else first
    return np.concatenate((first, second))


@dataclass(frozen=True, slots=True)
class DetectorPart:
    """What one detector did in a part: its alarms, and sums."""

    alarms: Runs
    predicted_samples: int = 0
    hit_samples: int = 0
    lowest: float = np.inf
    highest: float = -np.inf
    trouble: Trouble | None = None

    def followed_by(
        self, other: DetectorPart, samples: int, border: Any, *, counted: bool
    ) -> DetectorPart:
        """Put the part that comes next, from the border on, after this one of so many samples."""
        if self.trouble or other.trouble:
            return replace(self, trouble=self.trouble or _moved(other.trouble, samples))
        return DetectorPart(
            self.alarms.followed_by(
                other.alarms.moved(samples) if counted else other.alarms, border
            ),
            self.predicted_samples + other.predicted_samples,
            self.hit_samples + other.hit_samples,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
        )


_NOTHING = Runs(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """What all detectors did in a part, and how it ends."""

    samples: int = 0
    detectors: tuple[DetectorPart, ...] = ()
    span: AffiliationStream = field(default_factory=AffiliationStream)
    """All samples as one event: where time starts and stops, on which clock."""
    truth: Runs = _NOTHING
    """The true events."""
    numbers: Runs = _NOTHING
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
        counted = self.time is None
        border = self.samples if counted else other.first_time
        try:
            span = self.span + other.span
        except InputError as error:
            return replace(self, samples=samples, trouble=(BAD_TIMES, one_line(error)))
        numbers = self.numbers.followed_by(other.numbers.moved(self.samples), self.samples)
        return SeriesPart(
            samples,
            tuple(
                one.followed_by(following, self.samples, border, counted=counted)
                for one, following in both
            ),
            span,
            numbers if counted else self.truth.followed_by(other.truth, border),
            numbers,
            self.true_samples + other.true_samples,
            self.time,
            self.first_time,
            other.last_time,
            self.usual_step if other.usual_step is None else other.usual_step,
            other.time_type,
        )

    def _disorder(self, other: SeriesPart) -> Trouble | None:
        """Return what is wrong if the next part does not start later than this one ends."""
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
    numbers = np.arange(truth.size) if times is None else times
    span = AffiliationStream()
    ones = np.ones_like(truth)
    with with_status(BAD_TIMES), renamed({"times": str(options.time)}):
        span.update(ones, ones, times=times)
    part = SeriesPart(
        samples=truth.size,
        detectors=tuple(
            _detector_part(table, name, truth, numbers, options) for name in options.detectors
        ),
        span=span,
        truth=Runs.of(truth, numbers),
        numbers=Runs.of(truth, np.arange(truth.size)),
        true_samples=int(np.count_nonzero(truth)),
    )
    if times is None:
        return part
    return replace(
        part,
        time=options.time,
        first_time=times[0],
        last_time=times[-1],
        usual_step=_usual_step(times),
        time_type=table.schema.field(options.time).type,
    )


def _usual_step(times: NDArray[Any]) -> Any:
    """Return the median step, the later one of two."""
    steps = np.diff(times)
    if not steps.size:
        return None
    even = steps.min() == steps.max()
    return steps[0] if even else np.sort(steps)[steps.size // 2]


def _detector_part(
    table: pa.Table,
    name: str,
    truth: NDArray[Any],
    times: NDArray[Any],
    options: BatchOptions,
) -> DetectorPart:
    try:
        predicted, extremes = _predictions(table.column(name), name, options)
    except SeriesError as error:
        return DetectorPart(_NOTHING, trouble=(error.status, str(error)))
    alarmed = predicted != 0
    hits = int(np.count_nonzero(truth[alarmed]))
    alarms = Runs.of(predicted, times)
    return DetectorPart(alarms, int(np.count_nonzero(alarmed)), hits, *extremes)


def _predictions(
    column: pa.ChunkedArray, name: str, options: BatchOptions
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Read 0/1 predictions, or scores with their extremes."""
    if options.predicted:
        with with_status(BAD_LABELS):
            return read_labels(to_numpy(column, name), name), (0, 1)
    with with_status(BAD_SCORES, values=NAN_SCORE):
        scores = read_scores(to_numpy(column, name), name)
    extremes = scores.min().item(), scores.max().item()
    return predicted_at(scores, options.threshold.value), extremes


def can_be_cut(options: BatchOptions) -> bool:
    """Whether parts of a series, evaluated apart, give what is asked with the same digits.

    They do for the affiliation metrics of 0/1 predictions, or of scores and a threshold that is a
    number. Any other threshold or metric looks at all samples at once, and so does reading where
    time is ignored.
    """
    return (
        not (options.by or options.ignores_time)
        and [name for name, _ in options.metrics] == ["affiliation"]
        and bool(options.predicted or options.threshold.kind == "number")
        and (options.time is None or options.disorder == "error")
    )


class JoinedParts:
    """The parts of one series, joined in their order as they arrive.

    Memory is bounded by the true and predicted events.
    """

    def __init__(self) -> None:
        self._whole = SeriesPart()
        self._joined = 0
        self._waiting: dict[int, SeriesPart] = {}

    def add(self, place: int, part: SeriesPart) -> None:
        """Take the part with that number."""
        self._waiting[place] = part
        while self._joined in self._waiting:
            self._whole = self._whole.followed_by(self._waiting.pop(self._joined))
            self._joined += 1

    def rows(self, key: str, options: BatchOptions) -> UnitRows:
        """Evaluate the whole series, once all parts are there."""
        whole, rows, events = self._whole, [], []
        for place, name in enumerate(options.detectors):
            row = dict(options.blank_row, **{DETECTOR: name, "samples": whole.samples})
            rows.append(row)
            if whole.trouble or not whole.samples:
                empty = EMPTY, expected("at least one sample", "none")
                row["status"], row["reason"] = whole.trouble or empty
                continue
            scores = _fill_in(row, whole, whole.detectors[place], name, options)
            if options.per_event and scores is not None:
                stops = whole.numbers.stops
                if whole.numbers.open:
                    stops = np.append(stops, whole.samples)
                samples = whole.numbers.starts, stops
                events.append(event_rows(name, scores, samples, whole.time_type))
        return UnitRows(key, rows_table(rows, options), events_table(events, options))


def _fill_in(
    row: dict[str, Any],
    whole: SeriesPart,
    detector: DetectorPart,
    name: str,
    options: BatchOptions,
) -> Affiliation | None:
    """Fill in the row of one detector, and return its scores by event."""
    row |= {"true_samples": whole.true_samples, "true_events": whole.numbers.starts.size}
    if detector.trouble:
        row["status"], row["reason"] = detector.trouble
        return None
    row |= {
        "predicted_events": detector.alarms.starts.size,
        "predicted_samples": detector.predicted_samples,
        "hit_samples": detector.hit_samples,
    }
    if options.scores:
        row["threshold"] = float(options.threshold.value)
    try:
        pair = _pair(whole, detector, options)
    except InputError as error:
        row["status"], row["reason"] = BAD_TIMES, one_line(error)
        return None
    scores = None
    fill_chance(row, pair)  # before the scores: of millions of events, each takes much memory
    if row["true_events"]:
        scores = score_pair(pair)
        row |= {f"affiliation_{number}": value for number, value in scores.values().items()}
    fill_outcomes(row, pair, scores)
    constant = detector.lowest if detector.lowest == detector.highest else None
    row["status"], row["reason"] = judge(row, constant, name, options)
    return scores


def _pair(whole: SeriesPart, detector: DetectorPart, options: BatchOptions) -> Pair:
    """Put the events of all parts in the span of the series."""
    if options.time is not None and whole.usual_step is None:
        rule = f"`{options.time}` to have at least two times, which tell how long a sample is"
        raise InputError.expected(rule, "one")
    axis: Axis | None = None
    try:
        span = whole.span.result().events.pair
        nothing = np.empty(0, np.int64)
        axis = EvenAxis(nothing, whole.samples, span.stop, span.clock, span.start)
    except InputError:
        if options.time is None:
            raise
        # Uneven times: the last sample lasts the usual step of the last part.
        span = whole.span.result(end=whole.last_time + whole.usual_step).events.pair
    truth, predicted = whole.truth.intervals(span), detector.alarms.intervals(span)
    return replace(span, truth=truth, predicted=predicted, axis=axis)


@dataclass(frozen=True, slots=True)
class EvenAxis(Axis):
    """So many evenly spaced samples, of which only the first and the last time are kept."""

    first: Tick

    @property
    def start(self) -> Tick:
        """Where the first sample starts."""
        return self.first

    def lengths(self) -> Ticks:
        """Return the one length that all samples have."""
        length, exact = self.end - self.first, self.clock.kind != "number"
        return np.array([length // self.length if exact else length / self.length])

    def sample_numbers(self, ticks: Ticks) -> NDArray[np.float64]:
        """Return where samples start, counted in samples; rounding of floats is undone."""
        numbers: NDArray[np.float64] = np.rint((ticks - self.first) / self.lengths())
        return numbers


@dataclass(frozen=True, slots=True)
class WholeSeries:
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


def part_to_table(part: SeriesPart) -> pa.Table:
    """Write a part as an Arrow table: its arrays are the rows, all else is JSON beside them."""
    import pyarrow as pa

    arrays: list[NDArray[Any]] = []
    types: list[pa.DataType] = []
    tree = json.dumps(_written(part, arrays, types))
    table = pa.table(
        {
            "dtype": pa.array([array.dtype.str for array in arrays], pa.string()),
            "shape": pa.array([array.shape for array in arrays], pa.list_(pa.int64())),
            "data": pa.array([array.tobytes() for array in arrays], pa.large_binary()),
        }
    )
    empty = [pa.array([None] * len(arrays), kind) for kind in types]
    for place, column in enumerate(empty):
        table = table.append_column(f"type{place}", column)
    return table.replace_schema_metadata({"part": tree})


def part_from_table(table: pa.Table) -> SeriesPart:
    """Read what `part_to_table` wrote; `ValueError` for anything else. Nothing is executed."""
    dtypes, shapes = table.column("dtype").to_pylist(), table.column("shape").to_pylist()
    arrays = [
        np.frombuffer(data.as_py(), np.dtype(dtype)).reshape(shape).copy()
        for data, dtype, shape in zip(table.column("data"), dtypes, shapes, strict=True)
    ]
    part = _read(json.loads(table.schema.metadata[b"part"]), arrays, table.schema)
    if not isinstance(part, SeriesPart):
        raise ValueError("not a part of a series")  # noqa: TRY004 - of what a file holds
    return part


def _written(value: Any, arrays: list[NDArray[Any]], types: list[pa.DataType]) -> Any:
    """Return a value as JSON; arrays and types are numbered."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        arrays.append(np.asarray(value))
        return {"array" if isinstance(value, np.ndarray) else "scalar": len(arrays) - 1}
    if isinstance(value, tuple):
        return [_written(one, arrays, types) for one in value]
    if _is_state(type(value)):
        state = {name: _written(getattr(value, name), arrays, types) for name in _names(value)}
        return {"class": f"{type(value).__module__}:{type(value).__qualname__}", "state": state}
    types.append(value)
    return {"type": len(types) - 1}


def _read(tree: Any, arrays: list[NDArray[Any]], schema: pa.Schema) -> Any:
    if isinstance(tree, list):
        return tuple(_read(one, arrays, schema) for one in tree)
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "scalar" in tree:
        return arrays[tree["scalar"]][()]
    if "type" in tree:
        return schema.field(f"type{tree['type']}").type
    module, _, name = tree["class"].partition(":")
    kind = getattr(sys.modules.get(module), name, None)
    if not (isinstance(kind, type) and _is_state(kind)):
        raise ValueError("not a class of ours")
    value: Any = object.__new__(kind)
    for name in _names(value):
        object.__setattr__(value, name, _read(tree["state"][name], arrays, schema))
    return value


def _is_state(kind: type) -> bool:
    """Whether a class is one of those that a part is made of: they hold values, and do nothing."""
    ours = kind.__module__.startswith("closecall.")
    return ours and (is_dataclass(kind) or kind is AffiliationStream)


def _names(value: Any) -> list[str]:
    if isinstance(value, AffiliationStream):
        return list(value.__slots__)
    return [one.name for one in fields(value)]

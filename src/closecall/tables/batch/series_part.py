"""A part of one giant series, evaluated on its own: what a worker sends, and how parts meet."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.stream import AffiliationStream
from closecall.axis import require_increasing
from closecall.clock import read_times
from closecall.errors import InputError, renamed
from closecall.events import read_labels
from closecall.series import predicted_at, read_scores
from closecall.tables.batch.arrow_columns import to_numpy
from closecall.tables.batch.trouble import (
    BAD_LABELS,
    BAD_SCORES,
    BAD_TIMES,
    NAN_SCORE,
    TroubleError,
    blamed_on,
    one_line,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.question import Question
    from closecall.tables.sources.unit import Unit

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


def evaluate_part(unit: Unit, question: Question) -> SeriesPart:
    """Evaluate one part of a series; what is wrong with it stays until the parts are joined."""
    part = SeriesPart()
    for _, table in unit.groups():
        try:
            part = part.followed_by(_read_part(table, question))
        except TroubleError as error:
            part = SeriesPart(table.num_rows, trouble=(error.status, str(error)))
    return part


def _moved(trouble: Trouble | None, samples: int) -> Trouble | None:
    """Count the index of a value from the start of the series, so many samples before."""
    if trouble is None:
        return None
    status, reason = trouble
    return status, _INDEX.sub(lambda index: str(int(index[0]) + samples), reason)


def _read_part(table: pa.Table, question: Question) -> SeriesPart:
    if table.num_rows == 0:
        return SeriesPart()
    with blamed_on(BAD_LABELS):
        truth = read_labels(to_numpy(table.column(question.truth), question.truth), question.truth)
    times = None
    if question.time is not None:
        with blamed_on(BAD_TIMES):
            times = to_numpy(table.column(question.time), question.time)
    numbers = AffiliationStream()
    numbers.update(truth, np.zeros_like(truth))
    part = SeriesPart(
        samples=truth.size,
        detectors=tuple(
            _detector_part(table, name, truth, times, question) for name in question.detectors
        ),
        numbers=numbers,
        true_samples=int(np.count_nonzero(truth)),
    )
    if times is None:
        return part
    if all(detector.trouble for detector in part.detectors):
        _update(AffiliationStream(), truth, truth, times, question)  # as nobody has looked at them
    return replace(
        part,
        time=question.time,
        first_time=times[0],
        last_time=times[-1],
        usual_step=_usual_step(times),
        time_type=table.schema.field(question.time).type,
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
    question: Question,
) -> None:
    # The labels have been read already.
    with blamed_on(BAD_TIMES), renamed({"times": str(question.time)}):
        stream.update(truth, predicted, times=times)


def _detector_part(
    table: pa.Table,
    name: str,
    truth: NDArray[Any],
    times: NDArray[Any] | None,
    question: Question,
) -> DetectorPart:
    stream = AffiliationStream()
    try:
        predicted, extremes = _predictions(table.column(name), name, question)
    except TroubleError as error:
        return DetectorPart(stream, trouble=(error.status, str(error)))
    _update(stream, truth, predicted, times, question)
    alarmed = predicted != 0
    hits = int(np.count_nonzero(truth[alarmed]))
    return DetectorPart(stream, int(np.count_nonzero(alarmed)), hits, *extremes)


def _predictions(
    column: pa.ChunkedArray, name: str, question: Question
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Read 0/1 predictions, or scores with their extremes."""
    if question.predicted:
        with blamed_on(BAD_LABELS):
            return read_labels(to_numpy(column, name), name), (0, 1)
    with blamed_on(BAD_SCORES):
        try:
            scores = read_scores(to_numpy(column, name), name)
        except InputError as error:
            raise TroubleError(NAN_SCORE, one_line(error)) from error
    extremes = scores.min().item(), scores.max().item()
    return predicted_at(scores, question.threshold.value), extremes

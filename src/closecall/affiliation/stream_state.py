"""What a stream keeps: a segment of time, evaluated as far as it can be without its neighbours.

Segments that follow each other are put together with `followed_by`, in any order of pairs, and a
stream is nothing else. A true event's zone ends halfway to its neighbours, so the zones strictly
inside a segment are scored and only their rows are kept, with the few alarms that tell what
happened to their events. The zones of the first and of the last true event stay open, with the
predictions that reach into them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from closecall.affiliation import _kernels
from closecall.affiliation.event_scores import COLUMNS, EventScores
from closecall.affiliation.score import mean_scores, score_zones
from closecall.affiliation.zones import borders_between, origin_of, zone_borders
from closecall.axis import IgnoredTime
from closecall.errors import InputError
from closecall.events import Intervals, runs
from closecall.series import LeftOut, Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.affiliation.result import Affiliation
    from closecall.clock import Clock, Tick, Ticks

# Of the columns of a result, those that do not need the alarms of the whole series.
_ZONE_COLUMNS = tuple(name for name in COLUMNS if not name.endswith("above_chance"))
_NO_SCORES = np.empty((0, _kernels.COLUMNS + 1))
_BESIDE = 4  # alarms of a zone that are kept, at most: its first and last, and those at the event


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Rows that only grow at their end, in arrays that streams can share and that never change.

    An array is longer than all that follow it, so there are few, and a row is copied only as often
    as the number of rows has doubled since it came. There is one array at least; it may be empty.
    """

    arrays: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, *arrays: NDArray[Any]) -> Blocks:
        """Put arrays one after the other."""
        kept: list[NDArray[Any]] = []
        for array in arrays:
            if len(array):
                kept.append(array)
            while len(kept) > 1 and len(kept[-2]) <= len(kept[-1]):
                kept[-2:] = [np.concatenate(kept[-2:])]
        return cls(tuple(kept) or arrays[:1])

    def followed_by(self, other: Blocks) -> Blocks:
        """Put the rows of another after these."""
        return Blocks.of(*self.arrays, *other.arrays) if len(other) else self

    def whole(self) -> NDArray[Any]:
        """Return all rows as one array."""
        return self.arrays[0] if len(self.arrays) == 1 else np.concatenate(self.arrays)

    def first(self, count: int) -> NDArray[Any]:
        """Return up to that many of the first rows."""
        return np.concatenate([array[:count] for array in self.arrays])[:count]

    def last(self, count: int) -> NDArray[Any]:
        """Return up to that many of the last rows, one or more."""
        return np.concatenate([array[-count:] for array in self.arrays])[-count:]

    def __len__(self) -> int:
        return sum(map(len, self.arrays))


@dataclass(frozen=True, slots=True, eq=False)
class RunsLeftOut:
    """How many runs of ones lie wholly inside ignored time.

    A run at a border may go on beyond it: of such a one it is known whether any of it is evaluated.
    """

    inside: int
    first: bool | None = None
    """Whether the run at the start has evaluated samples; None if there is no such run."""
    last: bool | None = None
    """The same of the run at the end."""
    one: bool = False
    """Whether the two are the same run."""

    @classmethod
    def of(cls, labels: NDArray[Any], kept: NDArray[np.bool_]) -> RunsLeftOut:
        """Count the runs of one sample or more."""
        first, after = runs(labels)
        before = np.concatenate(([0], np.cumsum(kept)))
        seen = before[first] < before[after]
        at_start = bool(seen[0]) if labels[0] else None
        at_end = bool(seen[-1]) if labels[-1] else None
        one = len(first) == 1 and after[0] - first[0] == labels.size
        at_borders = (at_start is False) + (at_end is False and not one)
        return cls(int(np.count_nonzero(~seen)) - at_borders, at_start, at_end, one)

    @classmethod
    def none_of(cls, labels: NDArray[Any]) -> RunsLeftOut:
        """Take note of the runs at the borders, where all samples are evaluated."""
        first, last = (True if labels[place] else None for place in (0, -1))
        return cls(0, first, last, one=bool(first) and bool(labels.all()))

    @property
    def total(self) -> int:
        """How many there are if nothing comes before or after."""
        return self.inside + (self.first is False) + (self.last is False and not self.one)

    def followed_by(self, other: RunsLeftOut) -> RunsLeftOut:
        """Put the runs of another after these; a run that goes on is one."""
        meeting = [seen for seen in (self.last, other.first) if seen is not None]
        met = any(meeting) if meeting else None
        first = met if self.one else self.first
        last = met if other.one else other.last
        one = self.one and other.one
        complete = bool(meeting) and not (self.one or other.one)
        inside = self.inside + other.inside + (complete and not met)
        return RunsLeftOut(inside, first, last, one)


@dataclass(frozen=True, slots=True, eq=False)
class CallersTime:
    """Where a segment lies for the caller, and what of it is ignored."""

    start: Tick
    stop: Tick
    ignored: Blocks
    """Stretches (start, stop) in ticks, sorted; they may touch."""
    left_out: tuple[RunsLeftOut | None, RunsLeftOut | None]
    """Of truth and predicted; None if there was no sample."""

    def followed_by(self, other: CallersTime) -> CallersTime:
        """Put what comes next after it."""
        left_out = tuple(
            before.followed_by(after) if before and after else before or after
            for before, after in zip(self.left_out, other.left_out, strict=True)
        )
        ignored = self.ignored.followed_by(other.ignored)
        return CallersTime(self.start, other.stop, ignored, left_out)  # type: ignore[arg-type]

    def moved(self, ticks: int) -> CallersTime:
        """Return the same at another time of an integer axis."""
        ignored = Blocks(tuple(array + ticks for array in self.ignored.arrays))
        return CallersTime(self.start + ticks, self.stop + ticks, ignored, self.left_out)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """True events, and predictions near the first and the last of them, from start to stop.

    Events are rows (start, stop) in ticks of evaluated time, which starts with the segment. Scores
    are rows of the table of `_kernels`, and in one more column how many predicted pieces the zone
    has.
    """

    start: Tick
    stop: Tick
    clock: Clock
    joins: bool
    """Whether an event that stops where the next segment starts one is the same event."""
    truth: Blocks
    """Every true event."""
    head: Blocks
    """Predictions that reach into the first zone; all of them if there are not two zones."""
    tail: Blocks
    """Predictions that reach into the last zone; all of them if there are not two zones."""
    inner: Blocks
    """Scores of the zones between the first and the last, without what happened to the events."""
    beside: Blocks
    """Of the predictions in these zones, those beside an event or a border: the others are neither
    the first to overlap an event nor the nearest to one. Only the first may have begun earlier."""
    alarms: int
    """How many predicted events there are."""
    callers: CallersTime
    """Where this is for the caller."""

    @classmethod
    def of(
        cls,
        truth: Ticks,
        predicted: Ticks,
        span: tuple[Tick, Tick],
        clock: Clock,
        *,
        joins: bool,
        left_out: tuple[RunsLeftOut | None, RunsLeftOut | None] = (None, None),
        ignored: IgnoredTime | None = None,
    ) -> Segment:
        """Evaluate the events of a span, which are told in evaluated time."""
        stretches = Blocks.of(truth[:0])
        callers = CallersTime(*span, stretches, left_out)
        if ignored is not None:
            stretches = Blocks.of(np.column_stack((ignored.starts, ignored.stops)))
            callers = replace(callers, ignored=stretches)
            span = span[0], ignored.close(np.array([span[1]]))[0].item()
        near, origin = Blocks.of(predicted), span[0] if clock.kind != "number" else 0.0
        known = near, near, Blocks.of(_NO_SCORES), Blocks.of(predicted[:0])
        if len(truth) > 1:
            borders = borders_between(*_columns(truth), origin)
            # Copies, so that the other predictions are not kept with these.
            head = reaching(predicted, origin, before=borders[0]).copy()
            tail = reaching(predicted, origin, after=borders[-1]).copy()
            scored = score_zones_of(truth[:-1], borders, predicted, origin)
            known = Blocks.of(head), Blocks.of(tail), *scored
        return cls(*span, clock, joins, Blocks.of(truth), *known, len(predicted), callers)

    @property
    def origin(self) -> Tick:
        """Where half ticks are counted from."""
        return origin_of(self)

    @property
    def kept(self) -> int:
        """How many predicted events are kept for zones that may still change."""
        return len(self.tail) + (len(self.head) if len(self.truth) > 1 else 0)

    def followed_by(self, other: Segment) -> Segment:
        """Put a segment that starts where this one stops after it."""
        other = other.placed_at(self.stop)
        truth, one_event = _joined(self, other, self.truth, other.truth)
        middle, one_alarm = _joined(self, other, self.tail, other.head)
        head = self.head if len(self.truth) > 1 else middle
        tail = other.tail if len(other.truth) > 1 else middle
        inner, beside = self.inner, self.beside
        if len(self.truth) and len(other.truth):
            # The true events that meet, and one more on either side: zones between are complete.
            sides = Blocks((self.truth.last(2),)), Blocks((other.truth.first(2),))
            near = _joined(self, other, *sides)[0].whole()
            borders = borders_between(*_columns(near), self.origin)
            if not one_event and len(self.truth) == 1:
                reached = reaching(middle.whole(), self.origin, before=borders[0])
                head = Blocks.of(reached.copy())
            if not one_event and len(other.truth) == 1:
                reached = reaching(middle.whole(), self.origin, after=borders[-1])
                tail = Blocks.of(reached.copy())
            if len(near) > 2:  # noqa: PLR2004 - the outer two stay open
                own, few = score_zones_of(near[:-1], borders, middle.whole(), self.origin)
                inner, beside = inner.followed_by(own), _united(beside, few)
        inner, beside = inner.followed_by(other.inner), _united(beside, other.beside)
        alarms = self.alarms + other.alarms - one_alarm
        span, callers = (self.start, other.stop), self.callers.followed_by(other.callers)
        known = truth, head, tail, inner, beside
        return Segment(*span, self.clock, self.joins, *known, alarms, callers)

    def placed_at(self, start: Tick) -> Segment:
        """Return the same segment at another evaluated time, since some before it is ignored."""
        if start == self.start:
            return self
        # In this order, what is at the start of the segment stays there exactly.
        events: dict[str, Any] = {
            name: Blocks(
                tuple(start + (array - self.start) for array in getattr(self, name).arrays)
            )
            for name in ("truth", "head", "tail", "beside")
        }
        return replace(self, start=start, stop=start + (self.stop - self.start), **events)

    def moved(self, ticks: int) -> Segment:
        """Return the same segment at another time of an integer axis."""
        moved = self.placed_at(self.start + ticks)
        return replace(moved, callers=self.callers.moved(ticks))

    def first_zone(self) -> Blocks:
        """Score the first zone, whose true event must not be the only one."""
        near = self.truth.first(2)
        borders = borders_between(*_columns(near), self.origin, self.start)
        return score_rows(near[:1], borders, self.head.whole(), self.origin, before=0)

    def scores(self) -> Blocks:
        """Score every zone, as if nothing came before or after."""
        near, single = self.truth.last(2), len(self.truth) == 1
        start = self.start if single else None
        borders = borders_between(*_columns(near), self.origin, start, self.stop)
        tail, before = self.tail.whole(), 0 if single else 1
        last = score_rows(near, borders, tail, self.origin, before=before, last=True)
        return last if single else self.first_zone().followed_by(self.inner).followed_by(last)

    def result(self, **asked: Any) -> Affiliation:
        """Score all of the segment as `affiliation` would; options are for its signature."""
        pair = self.pair(self.truth.whole()).asking(**asked)
        pair.require_truth("affiliation")
        pair.checked()
        alarms = self.head
        if len(self.truth) > 1:
            alarms = _united(_united(self.head, self.beside), self.tail)
        events = self._event_scores(pair, zone_borders(pair), self.scores(), alarms, ahead=True)
        precisions = events.precision[~np.isnan(events.precision)]
        sums = _sum_in_order(precisions), len(precisions), _sum_in_order(events.recall)
        return mean_scores(events, sums)

    def complete_rows(self, first: int) -> Iterator[dict[str, Any]]:
        """Yield the rows of the zones that nothing later can change, from one of them on."""
        stop = len(self.truth) - 1
        if first >= stop:
            return
        count = stop - first
        scores = self.inner if first else self.first_zone().followed_by(self.inner)
        # The events before and after the zones, but that the first zone starts with the segment.
        near = self.truth.last(stop + 1 - max(first - 1, 0))
        borders = borders_between(*_columns(near), self.origin, None if first else self.start)
        pair = self.pair(near[1:-1] if first else near[:-1])
        # All that is kept of the zones, and the last alarm before them.
        alarms = Blocks.of(self.beside.last(_BESIDE * count + 1))
        if len(alarms) == len(self.beside):
            alarms = _united(Blocks.of(self.head.last(1)) if first else self.head, alarms)
        rows = Blocks.of(scores.last(count))
        events = self._event_scores(pair, borders, rows, alarms, ahead=False)
        yield from events.rows(_ZONE_COLUMNS)

    def pair(self, truth: Ticks) -> Pair:
        """Return true events with the span of this segment."""
        return Pair(
            truth=Intervals(*_columns(truth), self.clock),
            predicted=UnkeptIntervals(),
            start=self.start,
            stop=self.stop,
            clock=self.clock,
            ignored=self._ignored(),
            left_out=LeftOut(*(side.total if side else 0 for side in self.callers.left_out)),
        )

    def _ignored(self) -> IgnoredTime | None:
        if not len(self.callers.ignored):
            return None
        joined = Intervals(*_columns(self.callers.ignored.whole()), self.clock).merged()
        return IgnoredTime.of(joined.starts, joined.stops, self.clock)

    def _event_scores(
        self, pair: Pair, borders: Ticks, scores: Blocks, alarms: Blocks, *, ahead: bool
    ) -> EventScores:
        rows = scores.whole()
        table, truth = rows[:, :-1].copy(), (pair.truth.starts, pair.truth.stops)
        sides = *truth, *_columns(alarms.whole())
        _kernels.find_outcomes(*sides, self.origin, borders, table, ahead)
        table[:, _kernels.HITS] = rows[:, _kernels.HITS]  # of all alarms
        counts = rows[:, -1].astype(np.int64)
        return EventScores(pair, borders, table, counts, self.alarms, kept=False)


class UnkeptIntervals(Intervals):
    """Predicted events that a stream has counted and scored, and not kept."""

    __slots__ = ()

    def __init__(self) -> None:
        """Hold nothing; whoever asks is told why."""

    def __len__(self) -> NoReturn:
        raise InputError(
            "a result that has its predicted events",
            "that of a stream, which does not keep them",
            hint="Score the stretch of time you want to see with `cc.affiliation`.",
        )

    starts = stops = property(__len__)

    def __reduce__(self) -> tuple[type[UnkeptIntervals], tuple[()]]:
        return UnkeptIntervals, ()


def reaching(
    predicted: Ticks, origin: Tick, *, after: Tick | None = None, before: Tick | None = None
) -> Ticks:
    """Return the predictions that have a part between two borders, in half ticks.

    A point on a border belongs to what comes after it.
    """
    first = 0 if after is None else int(_first_after(predicted, origin, after))
    last = len(predicted) if before is None else int(_first_from(predicted, origin, before))
    return predicted[first:last]


def _first_after(predicted: Ticks, origin: Tick, borders: Any) -> Any:
    """Return the index of the first prediction that has a part after each border."""
    from_there = _first_from(predicted, origin, borders)
    return np.minimum(
        from_there, np.searchsorted(2 * (predicted[:, 1] - origin), borders, side="right")
    )


def _first_from(predicted: Ticks, origin: Tick, borders: Any) -> Any:
    """Return the index of the first prediction that starts at each border or after it."""
    return np.searchsorted(2 * (predicted[:, 0] - origin), borders)


def score_zones_of(
    near: Ticks, borders: Ticks, predicted: Ticks, origin: Tick
) -> tuple[Blocks, Blocks]:
    """Score the zones of all true events but the first; return also the alarms to keep of them."""
    rows = score_rows(near, borders, predicted, origin, before=1)
    first = _first_after(predicted, origin, borders[:-1])
    last = _first_from(predicted, origin, borders[1:]) - 1
    # The last alarm that starts before the event, and the first that does not.
    at = np.searchsorted(predicted[:, 0], near[1:, 0])
    places = np.stack((first, np.clip(at - 1, first, last), np.clip(at, first, last), last))
    return rows, Blocks.of(predicted[np.unique(places[:, first <= last])])


def score_rows(
    near: Ticks, borders: Ticks, predicted: Ticks, origin: Tick, *, before: int, last: bool = False
) -> Blocks:
    """Score the zones of consecutive true events between borders in half ticks from the origin.

    `before` of the events come before these zones: an alarm that hits one of them, and another
    here, counts there. Predictions may reach beyond the outer borders. The last zone of a series
    also has the points at its end.
    """
    alarms = reaching(predicted, origin, after=borders[0], before=None if last else borders[-1])
    sides = _columns(near), _columns(alarms)
    table, counts, _ = score_zones(_columns(near[before:]), sides[1], borders, origin)
    outcomes = np.empty((len(near), _kernels.COLUMNS))
    widened = np.concatenate((borders[:before], borders))
    _kernels.find_outcomes(*sides[0], *sides[1], origin, widened, outcomes, True)
    table[:, _kernels.OUTCOME :] = outcomes[before:, _kernels.OUTCOME :]
    return Blocks.of(np.column_stack((table, counts)))


def _columns(rows: Ticks) -> tuple[Ticks, Ticks]:
    starts, stops = rows.T.copy()
    return starts, stops


def _joined(left: Segment, right: Segment, before: Blocks, after: Blocks) -> tuple[Blocks, bool]:
    """Put events one after the other; return also whether the two that meet are one."""
    if left.joins and len(before) and len(after):
        begun, continued = before.arrays[-1][-1], after.arrays[0][0]
        if begun[1] == left.stop and continued[0] == right.start:
            return _as_one(before, after), True
    return before.followed_by(after), False


def _united(before: Blocks, after: Blocks) -> Blocks:
    """Put alarms of consecutive zones one after the other; one that reaches into both is kept once.

    Either may know only a part of it.
    """
    if len(before) and len(after):
        last, first = before.arrays[-1][-1], after.arrays[0][0]
        if first[0] < last[1] or first[0] == last[0]:
            return _as_one(before, after)
    return before.followed_by(after)


def _as_one(before: Blocks, after: Blocks) -> Blocks:
    """Put events one after the other, the last of these and the first of those as one."""
    last, first = before.arrays[-1][-1], after.arrays[0][0]
    one = np.array([[min(last[0], first[0]), max(last[1], first[1])]])
    earlier, later = before.arrays[-1][:-1], after.arrays[0][1:]
    return Blocks.of(*before.arrays[:-1], earlier, one, later, *after.arrays[1:])


def _sum_in_order(values: NDArray[np.float64]) -> float:
    """Add up from first to last, as the kernels do; `numpy.sum` adds in another order."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0

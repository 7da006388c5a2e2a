"""What chance is here: alarms moved over the true events, and events moved over the alarms.

Either side is shifted around the circle that the series is bent to, which keeps its number, lengths
and spacing, and so everything but its link with the other side. The seam is where the series' end
meets its start. Alarms stay near or far from it on purpose or by habit, and so do events: a score
counts as better than chance only if it is better than both moves reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.affiliation import _shift_kernels
from closecall.affiliation._shift_kernels import TOLERANCE
from closecall.affiliation.zones import borders_between
from closecall.events import Intervals
from closecall.parameters import require_choice
from closecall.plain import plain
from closecall.series import SHIFTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks
    from closecall.series import Pair

    Floats = NDArray[np.float64]

_FEWEST_SHIFTS, _MOST_ZONES = 100, 10**8  # of a level: with very many events, each shift says more
_ZONES_AT_ONCE = 5_000_000  # scored without a look at whether Ctrl-C was pressed
_GOLDEN = (5**0.5 - 1) / 2
_ROUNDING, _ULPS, _STEP = 1e-9, 4, 1000  # of a span in floats, or of its ends; a step is longer
_EXACT = 2.0**52  # whole numbers and their halves are exact in floats below this
_SCORES = ("precision", "recall", "f1")
_LEVELS = (*_SCORES, "caught")
_APART = 0.05
_TIED = (
    "Alarms or events may be tied to a part of the series: the two levels of chance differ by over "
    f"{_APART}."
)


def above_chance(score: Any, level: Any) -> Any:
    """Return how far scores are above their level, with 0 at the level and 1 where perfect.

    :math:`(T - m) / (1 - m)`, at most 1; 0 where the two differ by less than 1e-12. nan where
    either is undefined.

    >>> above_chance(np.array([0.75, 0.5, 1.0]), np.array([0.5, 0.6, 1.0])).round(2).tolist()
    [0.5, -0.25, 0.0]
    """
    away, left = np.subtract(score, level), np.subtract(1.0, level)
    share = away / np.where(left > TOLERANCE, left, nan)
    return np.where(np.abs(away) < TOLERANCE, 0.0, share)


def caught_above_chance(caught: float, events: float, level: float) -> float:
    """Return the share of the events beyond the level of chance that were caught; nan if none is.

    >>> caught_above_chance(27, 35, 4.6)
    0.7368421052631579
    """
    return (caught - level) / (events - level) if events - level > TOLERANCE else nan


def spread(count: int) -> Floats:
    """Return multiples of the golden ratio modulo 1: even, and in step with no rhythm.

    >>> spread(4).round(2).tolist()
    [0.62, 0.24, 0.85, 0.47]
    """
    multiples: Floats = np.arange(1.0, count + 1) * _GOLDEN % 1.0
    return multiples


@cache
def _sorted_spread(count: int) -> Floats:
    return np.sort(spread(count))


class ShiftGrid(NamedTuple):
    """What alarms are moved by whole numbers of."""

    pair: Pair
    """The pair; counted in steps where its times are floats, which sums would round."""
    unit: Tick
    """One step in the ticks of this pair; 0 if alarms move by any number."""
    step: Tick
    """The same in the caller's ticks."""


def shift_grid(pair: Pair) -> ShiftGrid:
    """Return by what alarms move: by samples where these are evenly spaced, Events beside them too.

    Else by the longest step that divides all times; by 1 if these are up to 1,000 whole numbers,
    as samples are counted. Floats that no step divides move by any number.
    """
    numbers, length = pair.clock.kind == "number", pair.stop - pair.start
    step = pair.sample_step
    if step is not None and pair.axis is not None:
        if not numbers:
            return ShiftGrid(pair, step, step)
        number = pair.axis.sample_numbers
        samples = round(number(np.array([pair.stop])).item())
        return ShiftGrid(_counted(pair, number, samples), 1.0, step)
    if not numbers:
        return ShiftGrid(pair, pair.whole_step, pair.whole_step)
    step = _common_step(pair.from_start(), rounding_of(pair))
    if length <= SHIFTS and step % 1 == 0:
        step = min(step, 1)
    if step == 0:
        return ShiftGrid(pair, step, step)
    counted = _counted(pair, lambda at: np.rint((at - pair.start) / step), round(length / step))
    return ShiftGrid(counted, 1.0, step)


def rounding_of(pair: Pair) -> float:
    """Return by what share of the span its float times may be off."""
    ulp = np.spacing(max(abs(pair.start), abs(pair.stop)))
    return max(_ROUNDING, _ULPS * float(ulp) / (pair.stop - pair.start))


def _common_step(ends: Floats, rounding: float) -> float:
    """Return the longest step that divides floats up to rounding, by Euclid; 0 if it is too short.

    The last of them, the span, is the longest.
    """
    length, rest = ends[-1].item(), ends
    while (rest := np.unique(rest[rest > rounding * length])).size > 1:
        rest[1:] = np.abs(rest[1:] - np.rint(rest[1:] / rest[0]) * rest[0])
    steps = round(length / rest.item())
    return length / steps if steps * _STEP * rounding <= 1 else 0.0


def _counted(pair: Pair, number: Callable[[Ticks], Floats], stop: int) -> Pair:
    """Count time in steps, which floats hold exactly."""
    truth, predicted = (
        Intervals(number(side.starts), number(side.stops), side.clock)
        for side in (pair.truth, pair.predicted)
    )
    return replace(pair, truth=truth, predicted=predicted, start=0.0, stop=float(stop), axis=None)


def alarm_seams(grid: ShiftGrid, n: int = SHIFTS) -> tuple[Ticks, bool]:
    """Return places of the seam in the alarms, ascending, and whether these are all.

    They are up to n, or n of more, evenly spread. A seam is told from the start, in ticks of the
    grid's pair; it goes back as far as the alarms go forward. There must be an alarm.

    If at most half of the time is in alarm, the seam may be anywhere, and an alarm that it cuts is
    two. Else it is in a gap, or at the end of an alarm, if it is so now, and inside an alarm
    otherwise: one long alarm and two parts of it score too differently. Alarms that touch are one.
    """
    pair, unit = grid.pair, grid.unit
    predicted = pair.predicted
    ranges = predicted.starts < predicted.stops
    alarms = Intervals(predicted.starts[ranges], predicted.stops[ranges], predicted.clock).merged()
    starts, stops = alarms.starts - pair.start, alarms.stops - pair.start
    length = pair.stop - pair.start
    if 2 * (stops - starts).sum() <= length:
        low = np.zeros(1, dtype=starts.dtype)
        return _places(grid, low, low + (length // unit if unit else length), n)
    if starts[0] > 0 or stops[-1] < length:
        return _places(grid, *_gaps(starts, stops, length, unit), n)
    if unit:
        starts, stops = starts // unit + 1, -(-stops // unit)
        starts[0] = 0
    return _places(grid, starts, stops, n)


def event_seams(grid: ShiftGrid, n: int = SHIFTS) -> tuple[Ticks, bool]:
    """Return places of the seam in the true events, as `alarm_seams` does: none cuts an event."""
    pair, truth = grid.pair, grid.pair.truth
    ranges = truth.starts < truth.stops
    starts, stops = truth.starts[ranges] - pair.start, truth.stops[ranges] - pair.start
    return _places(grid, *_gaps(starts, stops, pair.stop - pair.start, grid.unit), n)


def _gaps(starts: Ticks, stops: Ticks, length: Tick, unit: Tick) -> tuple[Ticks, Ticks]:
    """Return the runs [low, high) of places in no interval, or at an end; without a unit, any."""
    one = 0
    if unit:  # the last place not after a start, and the first not before a stop
        starts, stops, length, one = starts // unit, -(-stops // unit), length // unit, 1
    low, high = np.zeros((2, starts.size + 1), dtype=starts.dtype)
    low[1:], high[:-1], high[-1] = stops, starts + one, length
    return low, high


def _places(grid: ShiftGrid, low: Ticks, high: Ticks, n: int) -> tuple[Ticks, bool]:
    """Return up to n places of the runs [low, high), in ticks, and whether these are all."""
    unit = grid.unit
    before = np.concatenate(([0], np.cumsum(high - low)))
    total = before[-1].item()
    exact = unit > 0 and total <= n
    places = np.arange(total) if exact else _sorted_spread(n) * total
    if unit > 0 and not exact:
        places = np.minimum(places.astype(np.int64), total - 1)
    run = np.minimum(np.searchsorted(before, places, side="right") - 1, low.size - 1)
    seams = np.minimum(low[run] + (places - before[run]), high[run]) * (unit or 1)
    return seams.astype(grid.pair.predicted.starts.dtype), bool(exact)


class Moves(NamedTuple):
    """What the moves of one side score."""

    scores: Floats
    """Precision, recall, F1 and events caught (rows) of each move."""
    events: Floats
    """Of each event's score: how many moves define it, how many reach it, their mean and std."""
    exact: bool
    """Whether these are all moves, no move at all among them."""


class ShiftScores(NamedTuple):
    """Scores as they are, and where the alarms or the events are moved."""

    observed: Floats
    """Precision, recall, F1 and events caught."""
    event_observed: Floats
    """Precision, recall and F1 of each event; nan where nothing is predicted in its zone."""
    alarms: Moves
    """The moves of the alarms over the events."""
    events: Moves
    """The moves of the events, with their zones, over the alarms."""
    step: Any = nan
    """What the moves are whole numbers of, a number or a timedelta; 0 if they are any number."""


def score_shifts(
    pair: Pair, n: int = SHIFTS, zero_division: float = nan, *, per_event: bool = True
) -> ShiftScores:
    """Score the alarms where they are, and both moves; without any alarm, all moves are one."""
    grid = shift_grid(pair)
    if not len(pair.predicted):
        alarms = events = np.zeros(1, dtype=pair.truth.starts.dtype), True
    else:
        alarms, events = alarm_seams(grid, n), event_seams(grid, n)
    scores, observed, sides = score_moved(
        grid.pair, alarms[0], events[0], zero_division, per_event=per_event
    )
    step = pair.clock.duration(np.array([float(grid.step)]))[0]
    first = 1 + alarms[0].size
    return ShiftScores(
        scores[:, 0],
        observed,
        Moves(scores[:, 1:first], sides[0], alarms[1]),
        Moves(scores[:, first:], sides[1], events[1]),
        step,
    )


def score_moved(
    pair: Pair,
    alarms: Ticks,
    events: Ticks,
    zero_division: float = nan,
    *,
    per_event: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """Return the scores as they are and for each seam of the alarms, and then of the events.

    And scores at the events: those observed, and for both sides, how many seams define the score,
    how many reach it, their mean and their std.
    """
    ends = pair.from_start(alarms, events)
    if ends.dtype.kind == "i":  # so that the same times in seconds and nanoseconds are the same
        ends //= np.gcd.reduce(ends)
    sizes = (len(pair.truth),) * 2 + (len(pair.predicted),) * 2 + (1, alarms.size)
    *sides, (length,), alarms, events = np.split(ends, np.cumsum(sizes))
    twice = [np.concatenate((ticks, ticks + length)) for ticks in sides]
    seams = np.zeros((2, 1 + alarms.size + events.size), dtype=ends.dtype)
    seams[1, 1 : 1 + alarms.size], seams[0, 1 + alarms.size :] = 2 * alarms, 2 * events
    true_starts, true_stops, starts, stops = (2 * ticks for ticks in twice)
    scores = np.empty((4, seams.shape[1]))
    rows = np.zeros((2, len(pair.truth) if per_event else 0, 3, _shift_kernels.SHIFT_COLUMNS))
    series = (
        true_starts,
        true_stops,
        borders_between(twice[0], twice[1], 0, 0, 2 * length),
        starts,
        stops,
        _prefix_sums(starts, stops),
        seams,
        2 * length,
    )
    moves_of_events = 1 + alarms.size
    del ends, sides, twice, true_starts, true_stops, starts, stops, seams  # there may be millions
    step = max(1, _ZONES_AT_ONCE // len(pair.truth))
    for begin in range(0, scores.shape[1], step):
        part = (begin, min(begin + step, scores.shape[1]), moves_of_events)
        _shift_kernels.score_moves(*series, part, float(zero_division), scores, rows)
    observed, draws, at_least, first, total, squares = rows.transpose(3, 0, 2, 1)
    with np.errstate(invalid="ignore"):  # 0 / 0 where a score is defined in no shift
        away, spread = total / draws, squares / draws
    deviation = np.sqrt(np.maximum(spread - away * away, 0.0))
    moved = np.stack((draws, at_least, first + away, deviation), axis=1)
    return scores, observed[0], moved


def higher_level(observed: Any, alarms: Any, events: Any, *, always: Any = True) -> tuple[Any, Any]:
    """Return the higher of two means, those of the moved alarms and events, with its deviation.

    `alarms` and `events` have two rows, means and standard deviations. Where no move of the alarms
    changes a score, it is at chance whatever the moved events reach: so is a prediction of
    everything. `always` is whether all moves define the score.
    """
    (mean, std), (other, other_std) = alarms, events
    same = (np.abs(np.subtract(mean, observed)) < TOLERANCE) & (std < TOLERANCE) & always
    higher = (np.isnan(mean) | np.greater(other, mean)) & ~same
    return np.where(higher, other, mean), np.where(higher, other_std, std)


def _prefix_sums(starts: Ticks, stops: Ticks) -> Floats:
    """Return running sums of lengths, and of lengths times middles; none where they are rounded."""
    sums = np.zeros((starts.size + 1, 2))
    lengths = (stops - starts).astype(np.float64)
    sums[1:, 0], sums[1:, 1] = lengths, lengths * 0.5 * (starts.astype(np.float64) + stops)
    largest = np.abs(sums[:, 1]).sum()
    whole = starts.dtype.kind == "i" or not ((starts % 1).any() or (stops % 1).any())
    if not whole or largest >= _EXACT:
        return np.empty((0, 2))
    np.cumsum(sums, axis=0, out=sums)
    return sums


@dataclass(frozen=True, repr=False, eq=False)
class EventChance:
    """What chance reaches at each true event, each column an array: the higher of the two means."""

    precision: Floats
    """Mean precision of the shifts with an alarm in the event's zone; nan if there are none."""
    recall: Floats
    """Mean recall of all shifts."""
    f1: Floats
    """Mean F1 of the shifts with an alarm in the event's zone; nan if there are none."""
    observed: Floats
    """Precision, recall and F1 (rows) of each event where the alarms are."""

    def above(self, name: str) -> Floats:
        """Return how far a score of each event is above its level; see `above_chance`."""
        above: Floats = above_chance(self.observed[_SCORES.index(name)], getattr(self, name))
        return above

    def __len__(self) -> int:
        return self.recall.size

    def __repr__(self) -> str:
        return f"EventChance({len(self)} events, columns {', '.join(_SCORES)})"


@dataclass(frozen=True, repr=False, eq=False)
class Chance:
    """What chance reaches: means over circular shifts of the alarms, or of the true events.

    Of each score it is the higher of two means: where the detector's own alarms are shifted over
    the events, and where the events, with zones between them, are shifted over the alarms. The
    shifts are always the same ones: all there are, if there are at most 1,000, else 1,000 that are
    evenly spread, for each side. Without alarms nothing can be moved: recall is 0, the rest nan.

    Examples
    --------
    >>> import closecall as cc
    >>> cc.affiliation([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0]).chance
    Chance(precision=0.625, recall=0.590, f1=0.549, caught=0.833, shifts=6)
    """

    precision: float
    """Mean precision of the shifts; nan without alarms."""
    recall: float
    """Mean recall of the shifts; 0 without alarms."""
    f1: float
    """Mean F1 of the shifts, which is not the F1 of the two means; nan without alarms."""
    caught: float
    """Mean number of true events that are caught in the shifts; 0 without alarms."""
    precision_std: float
    """Standard deviation of the precision of the shifts."""
    recall_std: float
    """Standard deviation of the recall of the shifts."""
    f1_std: float
    """Standard deviation of the F1 of the shifts."""
    shifts: int
    """How many shifts of the alarms were scored; 0 if nothing could be moved."""
    exact: bool
    """Whether all shifts there are, of alarms and of events, were scored."""
    step: Any
    """What the shifts are whole numbers of: a sample where these are evenly spaced, else what
    divides all times, a number or a timedelta. 0 if they are any number, nan if there are none."""
    moved: dict[str, dict[str, float]]
    """Of both sides, ``alarms`` and ``events``, the mean of each score where it is moved."""
    events: EventChance
    """One row per true event."""
    observed: Floats
    """Precision, recall and F1 where the alarms are."""

    @classmethod
    def of(cls, pair: Pair, zero_division: float = nan, *, per_event: bool = True) -> Chance:
        """Compute the level for a pair; what is known of each event takes 250 bytes of it."""
        if not len(pair.predicted):
            return cls.without_shifts(len(pair.truth), zero_division, 0.0)
        n = min(SHIFTS, max(_FEWEST_SHIFTS, _MOST_ZONES // len(pair.truth)))
        found = score_shifts(pair, n, zero_division, per_event=per_event)
        alarms, moved = found.alarms, found.events
        sides = [(side.scores.mean(axis=1), side.scores.std(axis=1)) for side in (alarms, moved)]
        means, deviations = higher_level(found.observed, *sides)
        levels = _named(means.tolist(), deviations.tolist())
        always = alarms.events[0] == alarms.scores.shape[1]
        (precision, recall, f1), _ = higher_level(
            found.event_observed, alarms.events[2:], moved.events[2:], always=always
        )
        events = EventChance(precision, recall, f1, found.event_observed)
        levels |= {"shifts": alarms.scores.shape[1], "exact": alarms.exact and moved.exact}
        by_side = {
            name: dict(zip(_LEVELS, mean.tolist(), strict=True))
            for name, (mean, _) in zip(("alarms", "events"), sides, strict=True)
        }
        return cls(
            **levels, step=found.step, moved=by_side, events=events, observed=found.observed[:3]
        )

    @classmethod
    def without_shifts(cls, events: int, precision: float, recall: float) -> Chance:
        """Return the level where nothing can be moved."""
        f1 = nan if isnan(precision) else 0.0
        undefined, recalls = np.full(events, nan), np.full(events, recall)
        observed = np.stack((undefined, recalls, undefined))
        rows = EventChance(undefined, recalls, undefined, observed)
        scores = [float(precision), recall, f1]
        means = [*scores, recall]
        levels = _named(means, [nan if isnan(score) else 0.0 for score in means])
        levels |= {"shifts": 0, "exact": not isnan(recall), "step": nan}
        same = dict(zip(_LEVELS, means, strict=True))
        moved = {"alarms": same, "events": same}
        return cls(**levels, moved=moved, events=rows, observed=np.array(scores))

    def above(self, name: str) -> float:
        """Return how far a score is above its level; see `above_chance`."""
        require_choice(name, "name", _SCORES)
        return float(above_chance(self.observed[_SCORES.index(name)], getattr(self, name)))

    @property
    def cautions(self) -> list[str]:
        """A sentence if the mean F1 of the two sides differs by more than 0.05, or nothing."""
        alarms, events = (self.moved[side]["f1"] for side in ("alarms", "events"))
        return [_TIED] if abs(alarms - events) > _APART else []

    def values(self) -> dict[str, float]:
        """Return the levels of the scores, and of the events caught, by name."""
        return {name: getattr(self, name) for name in _LEVELS}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        numbers = self.values() | {f"{name}_std": getattr(self, f"{name}_std") for name in _SCORES}
        columns = [getattr(self.events, name).tolist() for name in _SCORES]
        return {
            **plain(numbers),
            "shifts": self.shifts,
            "exact": self.exact,
            "step": plain(self.step),
            "moved": plain(self.moved),
            "events": [
                plain(dict(zip(_SCORES, row, strict=True))) for row in zip(*columns, strict=True)
            ],
        }

    def __repr__(self) -> str:
        levels = ", ".join(f"{name}={getattr(self, name):.3f}" for name in _SCORES)
        return f"Chance({levels}, caught={self.caught:.3g}, shifts={self.shifts})"


def _named(means: list[float], deviations: list[float]) -> dict[str, Any]:
    """Name the means of the scores and of the events caught, and the scores' deviations."""
    spreads = {f"{name}_std": value for name, value in zip(_SCORES, deviations, strict=False)}
    return {**dict(zip(_LEVELS, means, strict=True)), **spreads}

"""A stretch of time that has been evaluated as far as it can be without its neighbours.

Stretches that follow each other are put together with `followed_by`, in any order of pairs, and a
stream is nothing else. A true event's zone ends halfway to its neighbours, so the zones strictly
inside a stretch are scored and only their rows are kept. The zones of the first and of the last
true event stay open, with the predictions that reach into them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.blocks import Blocks
from closecall.affiliation.zone_scores import (
    ZoneScores,
    borders_between,
    reaching,
    score_zones_of,
)

if TYPE_CHECKING:
    from closecall.clock import Clock, Tick, Ticks


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """True events, and predictions near the first and the last of them, from start to stop."""

    start: Tick
    stop: Tick
    clock: Clock
    joins: bool
    """Whether an event that stops where the next stretch starts one is the same event."""
    truth: Blocks
    """Every true event, as rows (start, stop) in ticks."""
    head: Blocks
    """Predictions that reach into the first zone; all of them if there are not two zones."""
    tail: Blocks
    """Predictions that reach into the last zone; all of them if there are not two zones."""
    inner: ZoneScores
    """Scores of the zones between the first and the last."""
    alarms: int
    """How many predicted events there are."""

    @classmethod
    def of(
        cls, truth: Ticks, predicted: Ticks, span: tuple[Tick, Tick], clock: Clock, *, joins: bool
    ) -> Stretch:
        """Evaluate the events of a stretch, given as rows (start, stop) in ticks."""
        whole = Blocks.of(predicted)
        parts: dict[str, Any] = {"head": whole, "tail": whole, "inner": ZoneScores()}
        if len(truth) > 1:
            origin = origin_on(clock, span[0])
            borders = borders_between(truth, origin)
            # Copies, so that the other predictions are not kept with these.
            parts["head"] = Blocks.of(reaching(predicted, origin, before=borders[0]).copy())
            parts["tail"] = Blocks.of(reaching(predicted, origin, after=borders[-1]).copy())
            parts["inner"] = score_zones_of(truth[1:-1], borders, predicted, origin)
        return cls(*span, clock, joins, truth=Blocks.of(truth), alarms=len(predicted), **parts)

    @property
    def origin(self) -> Tick:
        """Where half ticks are counted from."""
        return origin_on(self.clock, self.start)

    def followed_by(self, other: Stretch) -> Stretch:
        """Put a stretch that starts where this one stops after it."""
        truth, one_event = _joined(self, other, self.truth, other.truth)
        middle, one_alarm = _joined(self, other, self.tail, other.head)
        head = self.head if len(self.truth) > 1 else middle
        tail = other.tail if len(other.truth) > 1 else middle
        inner = self.inner
        if len(self.truth) and len(other.truth):
            known = _Border(self, other, one_event=one_event, predicted=middle)
            head, tail = known.head(head), known.tail(tail)
            inner = inner.followed_by(known.scores())
        return Stretch(
            self.start,
            other.stop,
            self.clock,
            self.joins,
            truth,
            head,
            tail,
            inner.followed_by(other.inner),
            self.alarms + other.alarms - one_alarm,
        )

    def moved(self, ticks: int) -> Stretch:
        """Give the same stretch at another time of an integer axis."""
        return replace(
            self,
            start=self.start + ticks,
            stop=self.stop + ticks,
            truth=_shifted(self.truth, ticks),
            head=_shifted(self.head, ticks),
            tail=_shifted(self.tail, ticks),
        )

    def first_zone(self) -> ZoneScores:
        """Score the first zone, whose true event must not be the only one."""
        pair, origin = self.truth.first(2), self.origin
        borders = np.concatenate(([2 * (self.start - origin)], borders_between(pair, origin)))
        return score_zones_of(pair[:1], borders, rows_of(self.head, self.clock), origin)

    def last_zone(self) -> ZoneScores:
        """Score the last zone as if nothing followed; with a single true event, the only zone."""
        pair, origin = self.truth.last(2), self.origin
        # The zone of a single true event starts where the stretch does.
        left = [2 * (self.start - origin)] if len(pair) == 1 else borders_between(pair, origin)
        borders = np.concatenate((left, [2 * (self.stop - origin)]))
        tail = rows_of(self.tail, self.clock)
        return score_zones_of(pair[-1:], borders, tail, origin, last=True)

    @property
    def scores(self) -> ZoneScores:
        """Scores of every zone, as if nothing came before or after."""
        if len(self.truth) == 1:
            return self.last_zone()
        return self.first_zone().followed_by(self.inner).followed_by(self.last_zone())


class _Border:
    """What becomes known where two stretches with true events meet.

    Of the zones of the last true event on the left and of the first on the right, those that have
    a neighbour on either side now are complete.
    """

    def __init__(
        self, left: Stretch, right: Stretch, *, one_event: bool, predicted: Blocks
    ) -> None:
        self._origin, self._blocks, self._clock = left.origin, predicted, left.clock
        self._new_border = not one_event
        self._single_left, self._single_right = len(left.truth) == 1, len(right.truth) == 1
        near, _ = _joined(left, right, *(_ends(left.truth, right.truth)))
        self._near: Ticks = near.whole()
        self._borders = borders_between(self._near, self._origin)
        # The border between the two true events that meet, if they are two.
        self._meeting = 0 if self._single_left else 1

    def head(self, head: Blocks) -> Blocks:
        """Give what reaches into the first zone, if it is among the zones here."""
        if not (self._single_left and self._new_border):
            return head
        before = self._borders[self._meeting]
        return Blocks.of(reaching(self._predicted, self._origin, before=before).copy())

    def tail(self, tail: Blocks) -> Blocks:
        """Give what reaches into the last zone, if it is among the zones here."""
        if not (self._single_right and self._new_border):
            return tail
        after = self._borders[self._meeting]
        return Blocks.of(reaching(self._predicted, self._origin, after=after).copy())

    def scores(self) -> ZoneScores:
        """Score the zones that are complete."""
        complete = self._near[1:-1]
        if not len(complete):
            return ZoneScores()
        return score_zones_of(complete, self._borders, self._predicted, self._origin)

    @property
    def _predicted(self) -> Ticks:
        return rows_of(self._blocks, self._clock)


def _ends(left: Blocks, right: Blocks) -> tuple[Blocks, Blocks]:
    """Give the true events around a border: those that meet there, and one more on either side."""
    return Blocks((left.last(2),)), Blocks((right.first(2),))


def _joined(left: Stretch, right: Stretch, before: Blocks, after: Blocks) -> tuple[Blocks, bool]:
    """Put events one after the other, and say whether the two that meet are one."""
    if not (left.joins and before.arrays and after.arrays):
        return before.followed_by(after), False
    begun, continued = before.arrays[-1][-1], after.arrays[0][0]
    if begun[1] != left.stop or continued[0] != right.start:
        return before.followed_by(after), False
    seam = np.array([[begun[0], continued[1]]])
    both = before.without_last().followed_by(Blocks.of(seam))
    return both.followed_by(after.without_first()), True


def _shifted(blocks: Blocks, ticks: int) -> Blocks:
    return Blocks(tuple(array + ticks for array in blocks.arrays))


def rows_of(blocks: Blocks, clock: Clock) -> Ticks:
    """Give rows (start, stop) as one array, which may be empty."""
    if blocks.arrays:
        return blocks.whole()
    return np.empty((0, 2), dtype=np.float64 if clock.kind == "number" else np.int64)


def origin_on(clock: Clock, start: Tick) -> Tick:
    """Where half ticks are counted from: a start, or 0 for numbers that are not exact."""
    return start if clock.kind != "number" else 0.0

"""Results of a stretch of time: the scores of all of it, and rows of its complete zones."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from closecall.affiliation.event_scores import COLUMNS, EventScores
from closecall.affiliation.frame import plain_rows
from closecall.affiliation.result import Affiliation
from closecall.affiliation.stretch import rows_of
from closecall.affiliation.zone_scores import borders_between, sum_in_order
from closecall.affiliation.zones import zone_borders
from closecall.errors import InputError, expected
from closecall.events import Intervals
from closecall.series import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.affiliation.stretch import Stretch
    from closecall.clock import Ticks

_PRECISION, _RECALL = 0, 1  # columns of the table
_OF_THE_WHOLE = ("recall_above_chance", "f1_above_chance")  # depend on alarms to come as well
_OF_A_ZONE = tuple(name for name in COLUMNS if name not in _OF_THE_WHOLE)


class UnkeptIntervals(Intervals):
    """Predicted events that a stream has counted and scored, and not kept."""

    __slots__ = ()

    def __init__(self) -> None:
        """Hold nothing; whoever asks is told why."""

    @property
    def starts(self) -> NoReturn:
        """Refuse."""
        raise _unkept()

    @property
    def stops(self) -> NoReturn:
        """Refuse."""
        raise _unkept()

    def __len__(self) -> NoReturn:
        raise _unkept()

    def __reduce__(self) -> tuple[type[UnkeptIntervals], tuple[()]]:
        return UnkeptIntervals, ()


def _unkept() -> InputError:
    return InputError(
        expected(
            "a result that has its predicted events",
            "that of a stream, which does not keep them",
            "Score the stretch of time you want to see with `cc.affiliation`.",
        )
    )


def result_of(stretch: Stretch) -> Affiliation:
    """Score all of a stretch as `affiliation` would."""
    pair = pair_of(stretch, rows_of(stretch.truth, stretch.clock))
    pair.require_truth("affiliation")
    pair.checked()
    scores = stretch.scores
    table, counts = scores.table.whole(), scores.counts.whole()
    precisions = table[counts > 0, _PRECISION]
    return Affiliation(
        precision=sum_in_order(precisions) / len(precisions) if len(precisions) else nan,
        recall=sum_in_order(table[:, _RECALL]) / len(table),
        events=EventScores(pair, zone_borders(pair), table, counts, stretch.alarms),
    )


def complete_rows(stretch: Stretch, first: int) -> Iterator[dict[str, Any]]:
    """Give the rows of the zones that nothing later can change, from one of them on."""
    stop = len(stretch.truth) - 1
    if first >= stop:
        return
    scores = stretch.inner if first else stretch.first_zone().followed_by(stretch.inner)
    table, counts = scores.table.last(stop - first), scores.counts.last(stop - first)
    truth = stretch.truth.last(stop + 1 - max(first - 1, 0))
    borders = borders_between(truth, stretch.origin)
    if not first:
        borders = np.concatenate(([2 * (stretch.start - stretch.origin)], borders))
    pair = pair_of(stretch, truth[:-1] if not first else truth[1:-1])
    yield from plain_rows(EventScores(pair, borders, table, counts, stretch.alarms), _OF_A_ZONE)


def pair_of(stretch: Stretch, truth: Ticks) -> Pair:
    """Give true events with the span of a stretch."""
    own = Intervals(truth[:, 0].copy(), truth[:, 1].copy(), stretch.clock)
    return Pair(
        truth=own,
        predicted=UnkeptIntervals(),
        start=stretch.start,
        stop=stretch.stop,
        clock=stretch.clock,
    )

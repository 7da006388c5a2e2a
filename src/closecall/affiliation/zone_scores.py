"""Scores of some zones in a row, from the predictions near them: the work of `affiliation`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation.blocks import Blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

_NO_ROWS = Blocks()


@dataclass(frozen=True, slots=True, eq=False)
class ZoneScores:
    """Rows of scores, and how many predicted pieces lie in each zone."""

    table: Blocks = _NO_ROWS
    counts: Blocks = _NO_ROWS

    def followed_by(self, other: ZoneScores) -> ZoneScores:
        """Put the rows of later zones after these."""
        return ZoneScores(
            self.table.followed_by(other.table), self.counts.followed_by(other.counts)
        )

    def __len__(self) -> int:
        return len(self.counts)


def borders_between(truth: Ticks, origin: Tick) -> Ticks:
    """Give the borders between consecutive true events, in half ticks from the origin."""
    borders: Ticks = (truth[:-1, 1] - origin) + (truth[1:, 0] - origin)
    return borders


def reaching(
    predicted: Ticks, origin: Tick, *, after: Tick | None = None, before: Tick | None = None
) -> Ticks:
    """Select the predictions that have a part between two borders, in half ticks.

    A point on a border belongs to what comes after it.
    """
    first, last = 0, len(predicted)
    if after is not None:
        starts, stops = 2 * (predicted[:, 0] - origin), 2 * (predicted[:, 1] - origin)
        places = np.searchsorted(starts, after), np.searchsorted(stops, after, side="right")
        first = int(min(places))
    if before is not None:
        last = int(np.searchsorted(2 * (predicted[:, 0] - origin), before))
    return predicted[first:last]


def score_zones_of(
    truth: Ticks, borders: Ticks, predicted: Ticks, origin: Tick, *, last: bool = False
) -> ZoneScores:
    """Score the zones of consecutive true events between borders in half ticks from the origin.

    Predictions may reach beyond the outer borders. The last zone of a series also has the points
    at its end.
    """
    from closecall.affiliation import _kernels

    before = None if last else borders[-1]
    near = reaching(predicted, origin, after=borders[0], before=before)
    pieces = np.empty((len(near) + len(truth), 2), dtype=borders.dtype)
    offsets = np.empty(len(truth) + 1, dtype=np.int64)
    _kernels.cut_at_borders(*_columns(near), origin, borders, pieces, offsets)
    if len(near):
        # Only the first and the last one can reach beyond the outer borders.
        final = offsets[-1] - 1
        pieces[0, 0] = max(pieces[0, 0], borders[0])
        pieces[final, 1] = min(pieces[final, 1], borders[-1])
    table = np.empty((len(truth), _kernels.COLUMNS))
    _kernels.score_zones(*_columns(truth), origin, borders, pieces, offsets, table)
    return ZoneScores(Blocks.of(table), Blocks.of(np.diff(offsets)))


def _columns(bounds: Ticks) -> tuple[Ticks, Ticks]:
    """Split rows (start, stop) into the two arrays that a kernel takes."""
    return np.ascontiguousarray(bounds[:, 0]), np.ascontiguousarray(bounds[:, 1])


def sum_in_order(values: NDArray[np.float64]) -> float:
    """Add up from first to last, as the kernels do; `numpy.sum` adds in another order."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0

"""What is measured from one set of times to another, cut where the nearest time changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.plot.one_zone import Spans

_ARROWS, _MOST = 36, 9  # in a picture, and of one group


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring stretches that are all on target, or all have the same nearest time."""

    starts: NDArray[np.float64]
    stops: NDArray[np.float64]
    target: float
    share: float
    distance: float
    on_target: bool

    @property
    def extent(self) -> tuple[float, float]:
        """Where the group starts and stops."""
        return float(self.starts[0]), float(self.stops[-1])

    def samples(self) -> NDArray[np.float64]:
        """Give some times that stand for all, spread evenly over what the group covers."""
        count = int(np.clip(round(_ARROWS * self.share), 1, _MOST))
        lengths = self.stops - self.starts
        if not lengths.any():
            return self.starts[:: -(-self.starts.size // _MOST)]
        ends = np.cumsum(lengths)
        covered = (np.arange(count) + 0.5) / count * ends[-1]
        piece = np.minimum(np.searchsorted(ends, covered), lengths.size - 1)
        spread = self.stops[piece] - (ends[piece] - covered)
        # A stretch that would go without an arrow gets one, as long as there are few.
        bare = np.setdiff1d(np.arange(lengths.size), piece)
        if lengths.size > _MOST:
            bare = bare[:0]
        return np.sort(np.concatenate((spread, (self.starts[bare] + self.stops[bare]) / 2)))


def grouped(sources: Spans, targets: Spans) -> list[Group]:
    """Cut the sources into groups with one nearest target each, from left to right."""
    starts, stops = _cut(sources, targets)
    middles = (starts + stops) / 2
    nearest = targets.nearest(middles)
    distances = np.abs(nearest - middles)
    weights = stops - starts if sources.length else np.ones(starts.size)
    way = np.sign(nearest - middles)
    # On target, the nearest time moves along with the source.
    kind = np.where(way == 0, 0, nearest)
    changes = (kind[1:] != kind[:-1]) | (way[1:] != way[:-1])
    first = np.flatnonzero(np.concatenate(([True], changes)))
    groups = []
    for rows in _slices(first, starts.size):
        weight = weights[rows].sum()
        # Points weigh nothing beside ranges, and are some way off all the same.
        distance = np.average(distances[rows], weights=weights[rows] if weight else None)
        groups.append(
            Group(
                starts[rows],
                stops[rows],
                float(nearest[rows][0]),
                float(weight / weights.sum()),
                float(distance),
                bool(way[rows][0] == 0),
            )
        )
    return groups


def _slices(first: NDArray[np.int64], size: int) -> Iterator[slice]:
    for low, high in zip(first, [*first[1:], size], strict=True):
        yield slice(int(low), int(high))


def _cut(sources: Spans, targets: Spans) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut the sources at the ends of the targets, and halfway between targets."""
    halfway = (targets.stops[:-1] + targets.starts[1:]) / 2
    cuts = np.unique(np.concatenate((targets.starts, targets.stops, halfway)))
    starts, stops = [], []
    for start, stop in zip(sources.starts.tolist(), sources.stops.tolist(), strict=True):
        inner = cuts[(cuts > start) & (cuts < stop)]
        starts.append(np.concatenate(([start], inner)))
        stops.append(np.concatenate((inner, [stop])))
    return np.concatenate(starts), np.concatenate(stops)

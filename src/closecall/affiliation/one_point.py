"""Precision and recall of one point anywhere in a zone, and how to integrate over its place.

Everything is a share of the zone: x where the point is, ``before`` what lies before the event and
``filled`` what the event fills. Arrays have one row for each zone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_BLOCK = 4096  # zones at a time, which bounds the memory


def one_point_precision(
    x: NDArray[np.float64], before: NDArray[np.float64], filled: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the precision of points at the shares x, one row for each zone."""
    u, p = before[:, None], filled[:, None]
    distance = np.maximum(u - x, x - (u + p))
    nearest = np.minimum(u, np.maximum(1 - u - p, 0))
    outside = np.maximum(1 - (p + np.minimum(distance, nearest) + distance), 0)
    return np.where(distance < 0, 1.0, outside)


def one_point_recall(
    x: NDArray[np.float64], before: NDArray[np.float64], filled: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the recall of one point at each of the shares x, one row for each zone."""
    u, p = before[:, None], filled[:, None]
    early, late = _lost(x - u, p, x / 2), _lost(u + p - x, p, (1 - x) / 2)
    return np.clip(1 - 2 * (early + late), 0, 1)


def _lost(
    reach: NDArray[np.float64], filled: NDArray[np.float64], cap: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Average min(d, cap) over the event's part on one side of a point, up to a reach from it."""
    length = np.clip(reach, 0, filled)
    nearest = np.maximum(reach, 0) - length
    room = np.where(length > 0, length, 1)
    below = np.where(length > 0, np.clip((cap - nearest) / room, 0, 1), nearest < cap)
    mean = below * (nearest + np.minimum(nearest + length, cap)) / 2 + (1 - below) * cap
    part = np.where(filled > 0, length / np.where(filled > 0, filled, 1), reach > 0)
    return part * mean


def recall_kinks(before: NDArray[np.float64], filled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the places between which the recall of one point is a quadratic polynomial."""
    ends = np.stack([before, before + filled], axis=1)
    limits = np.broadcast_to([0.0, 1.0], ends.shape)
    kinks = np.concatenate([limits, ends, 2 * ends, 2 * ends - 1], axis=1)
    return np.sort(np.clip(kinks, 0, 1), axis=1)


@cache
def _gauss(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(count)


def nodes(
    panels: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lay Gauss's nodes and weights over each panel of each row, exact to degree 2 count - 1."""
    places, weights = _gauss(count)
    half = np.diff(panels)[..., None] / 2
    middle = (panels[..., 1:] + panels[..., :-1])[..., None] / 2
    shape = (*panels.shape[:-1], -1)
    return (middle + half * places).reshape(shape), (half * weights).reshape(shape)


def integral(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up values at the nodes of each row."""
    total: NDArray[np.float64] = (values * weights).sum(axis=1)
    return total


def in_blocks(
    function: Callable[..., NDArray[np.float64]], *columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Apply a function of zones to some of them at a time."""
    starts = range(0, max(columns[0].size, 1), _BLOCK)
    parts = [slice(start, start + _BLOCK) for start in starts]
    return np.concatenate([function(*(column[part] for column in columns)) for part in parts])

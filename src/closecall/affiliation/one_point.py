"""Precision and recall of one point anywhere in a zone, and how to integrate over its place.

Everything is a share of the zone: x where the point is, ``before`` what lies before the event and
``filled`` what the event fills. Arrays have one row for each zone.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_BLOCK = 4096  # zones at a time, which bounds the memory
_FOR_F1 = 8  # nodes on each piece, for 1e-5


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
    below = np.where(length > 0, np.clip(cap - nearest, 0, room) / room, nearest < cap)
    mean = below * (nearest + np.minimum(nearest + length, cap)) / 2 + (1 - below) * cap
    part = np.where(filled > 0, length / np.where(filled > 0, filled, 1), reach > 0)
    return part * mean


def recall_kinks(before: NDArray[np.float64], filled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the places between which the recall of one point is a quadratic polynomial."""
    ends = np.stack([before, before + filled], axis=1)
    limits = np.broadcast_to([0.0, 1.0], ends.shape)
    kinks = np.concatenate([limits, ends, 2 * ends, 2 * ends - 1], axis=1)
    return np.sort(np.clip(kinks, 0, 1), axis=1)


def f1_kinks(before: NDArray[np.float64], filled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the places between which the F1 of one point is smooth, in no order."""
    near = np.minimum(before, np.maximum(1 - before - filled, 0))
    bends = np.stack([before - near, before + filled + near], axis=1)
    return np.concatenate([recall_kinks(before, filled), bends], axis=1)


def one_point_f1(before: NDArray[np.float64], filled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the mean of F1 and of its square for one random point, two columns, within 1e-5."""

    def powers(u: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
        x, weights = nodes(np.sort(np.clip(f1_kinks(u, p), 0, 1), axis=1), _FOR_F1)
        f1 = f_measure(one_point_precision(x, u, p), one_point_recall(x, u, p))
        return np.stack([integral(f1, weights), integral(f1 * f1, weights)], axis=1)

    return in_blocks(powers, before, filled)


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

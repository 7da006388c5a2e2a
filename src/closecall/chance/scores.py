"""A score vector rolled around its samples: the average precision of every roll.

A roll changes where scores are, not how they compare. So they are sorted once, and each roll costs
two passes over the samples, as little as the rest of a curve.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation.curve import cut_samples, descending_order
from closecall.affiliation.zones import origin_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.chance.alarms import Progress
    from closecall.series import Scored


def roll_scores(
    scored: Scored, shifts: NDArray[np.int64], progress: Progress | None
) -> NDArray[np.float64]:
    """Give the average precision of the scores rolled by each number of samples."""
    from closecall.affiliation import _curve_kernels
    from closecall.chance import _shift_kernels

    pair, values = scored, scored.scores
    # Cutting the numbers of the samples says which sample each piece is part of.
    pieces = cut_samples(replace(scored, scores=np.arange(values.size)))
    owners = pieces.scores
    firsts = np.searchsorted(owners, np.arange(values.size + 1))
    order, origin = descending_order(values), origin_of(pair)
    rolled, rolled_order = np.empty(owners.size, dtype=values.dtype), np.empty_like(owners)
    rows = np.empty((owners.size, _curve_kernels.COLUMNS))
    thresholds, alarms = np.empty_like(rolled), np.empty(owners.size, dtype=np.int64)
    precision, recall = np.empty(owners.size), np.empty(owners.size)
    found = np.empty(shifts.size)
    for k, shift in enumerate(shifts.tolist()):
        _shift_kernels.roll_pieces(values, order, shift, owners, firsts, rolled, rolled_order)
        _curve_kernels.weigh_pieces(
            rolled,
            pieces.cuts,
            pieces.offsets,
            pair.truth.starts,
            pair.truth.stops,
            origin,
            pieces.borders,
            rows,
        )
        columns = (thresholds, precision, recall, alarms)
        count = _curve_kernels.sweep(rolled, rolled_order, rows, len(pair.truth), *columns)
        found[k] = _shift_kernels.average_precision(precision[:count], recall[:count])
        if progress is not None:
            progress(k + 1, shifts.size)
    return found

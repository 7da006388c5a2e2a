"""Samples with scores, cut where a zone border falls inside one: what the curve is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.zones import origin_of, zone_borders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Scored


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces that tile the axis: piece k is [cuts[k], cuts[k + 1]), in half ticks."""

    scores: NDArray[Any]
    cuts: Ticks
    offsets: NDArray[np.int64]  # zone j holds the pieces offsets[j], ..., offsets[j + 1] - 1
    borders: Ticks


def cut_samples(scored: Scored) -> Pieces:
    """Cut the samples at the zone borders; the scores are copied only if one is cut."""
    pair, axis, scores = scored, scored.axis, scored.scores
    borders = zone_borders(pair)
    cuts = axis.borders(np.arange(axis.length + 1))
    cuts -= origin_of(pair)
    cuts *= 2
    inside = borders[(borders > cuts[0]) & (borders < cuts[-1])]
    places = np.searchsorted(cuts, inside)
    new = cuts[places] != inside
    if new.any():
        places = places[new]
        scores = np.insert(scores, places, scores[places - 1])
        cuts = np.insert(cuts, places, inside[new])
    offsets = np.searchsorted(cuts[:-1], borders)
    # Zones may reach beyond the first and the last sample.
    offsets[0], offsets[-1] = 0, scores.size
    return Pieces(scores, cuts, offsets, borders)

"""Predictions cut at the borders of zones; the integrals are checked by the oracle as a whole."""

from itertools import pairwise

import numpy as np
import pytest

from closecall.affiliation import _kernels


def cut(predicted, borders, origin=0):
    starts, stops = np.array(predicted, dtype=np.int64).reshape(-1, 2).T.copy()
    pieces = np.full((len(starts) + len(borders) - 1, 2), -99)
    offsets = np.full(len(borders), -99)
    _kernels.cut_at_borders(
        starts, stops, origin, 2 * (np.array(borders) - origin), pieces, offsets
    )
    return [
        [(start / 2 + origin, stop / 2 + origin) for start, stop in pieces[low:high].tolist()]
        for low, high in pairwise(offsets)
    ]


@pytest.mark.parametrize(
    ("predicted", "zones"),
    [
        ([], [[], [], []]),
        ([(1, 2)], [[(1, 2)], [], []]),
        ([(1, 4)], [[(1, 4)], [], []]),
        ([(4, 5)], [[], [(4, 5)], []]),
        ([(3, 5)], [[(3, 4)], [(4, 5)], []]),
        ([(0, 12)], [[(0, 4)], [(4, 8)], [(8, 12)]]),
        ([(4, 8)], [[], [(4, 8)], []]),
        ([(4, 4), (8, 8), (12, 12)], [[], [(4, 4)], [(8, 8), (12, 12)]]),
        ([(0, 0), (2, 4), (4, 4)], [[(0, 0), (2, 4)], [(4, 4)], []]),
        ([(9, 10)], [[], [], [(9, 10)]]),
        ([(1, 9), (10, 11)], [[(1, 4)], [(4, 8)], [(8, 9), (10, 11)]]),
    ],
)
@pytest.mark.parametrize("origin", [0, -3])
def test_cut_at_borders(predicted, zones, origin):
    assert cut(predicted, [0, 4, 8, 12], origin) == zones

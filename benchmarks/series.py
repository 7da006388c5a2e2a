"""Generated series of any size, the same in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall import Events

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPACING = 4  # samples between two possible starts, so that events never touch


def intervals(
    count: int, length: int, *, mean: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw starts and stops of events at random places, of geometric lengths, that never touch."""
    random = np.random.default_rng(seed)
    places = random.choice(length // _SPACING, size=count, replace=False)
    starts = np.sort(places.astype(np.int64)) * _SPACING
    room = np.diff(starts, append=length) - 1
    return starts, starts + np.minimum(random.geometric(1 / mean, size=count), room)


def events(count: int, length: int, *, mean: float, seed: int) -> Events:
    """Draw `Events`."""
    return Events.from_arrays(*intervals(count, length, mean=mean, seed=seed))


def labels(count: int, length: int, *, mean: float, seed: int) -> NDArray[np.uint8]:
    """Draw a 0/1 vector, without ever holding more memory than the vector."""
    vector = np.zeros(length, dtype=np.uint8)
    for start, stop in zip(*intervals(count, length, mean=mean, seed=seed), strict=True):
        vector[start:stop] = 1
    return vector

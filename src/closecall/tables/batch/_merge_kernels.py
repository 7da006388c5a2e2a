"""Two descending lists of thresholds, and what changes at each, merged in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.compiled import kernel

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray


@kernel
def merge_descending(
    left: NDArray[Any],
    left_sums: NDArray[np.float64],
    right: NDArray[Any],
    right_sums: NDArray[np.float64],
    thresholds: NDArray[Any],
    sums: NDArray[np.float64],
) -> int:
    """Fill the last two, which have room for all; add up what has the same threshold.

    Returns how many thresholds there are. Each row of sums is a number that changes.
    """
    i, j, k = 0, 0, 0
    while i < left.size or j < right.size:
        from_left = j == right.size or (i < left.size and left[i] >= right[j])
        from_right = i == left.size or (j < right.size and right[j] >= left[i])
        thresholds[k] = left[i] if from_left else right[j]
        for row in range(sums.shape[0]):
            sums[row, k] = 0.0
            if from_left:
                sums[row, k] += left_sums[row, i]
            if from_right:
                sums[row, k] += right_sums[row, j]
        if from_left:
            i += 1
        if from_right:
            j += 1
        k += 1
    return k

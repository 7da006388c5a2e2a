"""The kernels of this test run check their indices; without that, a wrong one reads garbage."""

import numpy as np
import pytest
from numba import njit


@njit
def read(values, index):
    return values[index]


def test_an_index_beyond_an_array_raises():
    with pytest.raises(IndexError):
        read(np.zeros(3), 3)

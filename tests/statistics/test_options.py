"""The level, how many resamples, and the seed."""

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.statistics.options import read_drawing, read_level


@pytest.mark.parametrize("level", [0.9, np.float32(0.9), np.float64(0.9)])
def test_levels(level):
    read = read_level(level)
    assert type(read) is float
    assert read == pytest.approx(0.9, abs=1e-7)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan"), float("inf")])
def test_levels_out_of_range(level):
    with pytest.raises(InputError, match="`level` to be a number between 0 and 1, got"):
        read_level(level)


@pytest.mark.parametrize("level", [True, "0.9", "x", None, [0.9]])
def test_levels_that_are_no_number(level):
    with pytest.raises(InputTypeError, match="`level` to be a number between 0 and 1, got"):
        read_level(level)


def test_whole_numbers_of_any_kind():
    assert read_drawing(np.int64(100), np.uint8(7)) == (100, 7)
    assert read_drawing(1_000_000, 2**70) == (1_000_000, 2**70)
    assert all(type(one) is int for one in read_drawing(np.int32(500), np.int64(0)))


@pytest.mark.parametrize(
    ("n", "seed", "message"),
    [
        (99, 0, "`n` to be 100 or more, got 99"),
        (1_000_001, 0, "`n` to be at most 1,000,000, got 1000001"),
        (10**40, 0, "`n` to be at most 1,000,000"),
        (100, -1, "`seed` to be 0 or more, got -1"),
    ],
)
def test_numbers_that_do_not_do(n, seed, message):
    with pytest.raises(InputError, match=message):
        read_drawing(n, seed)


@pytest.mark.parametrize(("n", "seed"), [(1e3, 0), (True, 0), ("100", 0), (100, 0.5), (100, None)])
def test_what_is_no_whole_number(n, seed):
    with pytest.raises(InputTypeError, match="to be a whole number"):
        read_drawing(n, seed)

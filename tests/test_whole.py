"""Counts are whole numbers, and not too small."""

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.whole import require_whole


def test_whole_numbers_of_any_make_pass():
    for value in (3, np.int8(3), np.uint64(2**63)):
        require_whole(value, "n", 3)


@pytest.mark.parametrize("value", [True, 3.0, "3", None])
def test_anything_else_is_no_count(value):
    with pytest.raises(InputTypeError) as caught:
        require_whole(value, "n", 0)
    assert str(caught.value) == f"Expected `n` to be a whole number, got {value!r}."


def test_too_small():
    with pytest.raises(InputError) as caught:
        require_whole(2, "n", 3)
    assert str(caught.value) == "Expected `n` to be 3 or more, got 2."


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (6, "6"),
        (10**12, "1000000000000"),
        pytest.param(10**5000, "a number of more than 30 digits", id="digits"),
    ],
)
def test_too_large(value, got):
    require_whole(5, "n", 3, 5)
    with pytest.raises(InputError) as caught:
        require_whole(value, "n", 3, 5)
    assert str(caught.value) == f"Expected `n` to be at most 5, got {got}."

"""Arrow columns as numpy arrays."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from closecall.errors import InputError
from closecall.tables.batch.arrow_columns import to_numpy


def test_one_chunk_of_numbers_is_not_copied():
    values = np.arange(5.0)
    assert np.shares_memory(to_numpy(pa.chunked_array([pa.array(values)]), "x"), values)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.chunked_array([[1, 2], [3]]), np.array([1, 2, 3])),
        (pa.chunked_array([[True, False]]), np.array([True, False])),
        (pa.chunked_array([[Decimal("0.5")]]), np.array([0.5])),
        (pa.chunked_array([pa.array([3, 3, 1]).dictionary_encode()]), np.array([3, 3, 1])),
        (
            pa.chunked_array([pa.array([7], pa.timestamp("ms", "Asia/Tokyo"))]),
            np.array([7], dtype="datetime64[ms]"),
        ),
    ],
)
def test_every_type_keeps_its_values(column, expected):
    array = to_numpy(column, "x")
    np.testing.assert_array_equal(array, expected)
    assert array.dtype == expected.dtype


def test_a_null_is_named_with_its_place():
    with pytest.raises(InputError, match="`x` to have no missing values, got a null at index 2"):
        to_numpy(pa.chunked_array([[1, 2], [None, 3]]), "x")

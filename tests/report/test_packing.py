"""Columns of numbers come back from their packs as they were."""

import base64
import zlib

import numpy as np
import pytest

from closecall.report.packing import packed, packed_for_drawing, packed_times


def unpacked(column):
    kind = np.dtype(f"<{column['type']}")
    planes = np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), dtype=np.uint8)
    return planes.reshape(kind.itemsize, -1).T.copy().view(kind).ravel()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 1], "i1"),
        ([0, 200], "u1"),
        ([-1, 200], "i2"),
        ([0, 70_000], "i4"),
        ([0, 2**32 - 1], "u4"),
        ([0, 2**40], "f8"),
        ([0.1, np.inf, -np.inf], "f8"),
    ],
)
def test_columns_come_back_exactly(values, kind):
    column = packed(np.array(values))
    assert column["type"] == kind
    assert unpacked(column).tolist() == values


def test_drawn_columns_are_short_where_nobody_sees_it():
    smooth = np.linspace(0.0, 1.0, 50)
    assert packed_for_drawing(smooth)["type"] == "f4"
    assert packed_for_drawing(1e9 + smooth)["type"] == "f8"
    gaps = packed_for_drawing(np.array([np.nan, 1.0, 2.0]))
    assert unpacked(gaps).tolist()[1:] == [1.0, 2.0]
    assert packed_for_drawing(np.full(3, np.nan))["type"] == "f4"


def test_times_are_a_step_or_steps_or_themselves():
    assert packed_times(np.array([5])) == {"count": 1, "first": 5, "step": 0}
    uneven = packed_times(np.array([3, 4, 9]))
    assert (uneven["first"], unpacked(uneven["steps"]).tolist()) == (3, [1, 5])
    assert unpacked(packed_times(np.array([0.5, 0.7]))["values"]).tolist() == [0.5, 0.7]

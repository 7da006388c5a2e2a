"""Rows that grow at their end: order, sharing, and few arrays."""

import numpy as np
import pytest

from closecall.affiliation.blocks import Blocks


def rows(*numbers):
    return np.array([[number, number + 1] for number in numbers])


def test_rows_stay_in_order_in_few_arrays():
    blocks = Blocks()
    for number in range(1_000):
        blocks = blocks.followed_by(Blocks.of(rows(number)))
        sizes = [len(array) for array in blocks.arrays]
        assert sizes == sorted(set(sizes), reverse=True)
    assert len(blocks) == 1_000
    assert len(blocks.arrays) <= 10
    assert blocks.whole().tolist() == rows(*range(1_000)).tolist()


def test_nothing_that_was_built_on_changes():
    start = Blocks.of(rows(1, 2, 3))
    one, other = start.followed_by(Blocks.of(rows(4))), start.followed_by(Blocks.of(rows(5)))
    assert one.whole()[:, 0].tolist() == [1, 2, 3, 4]
    assert other.whole()[:, 0].tolist() == [1, 2, 3, 5]
    assert start.whole()[:, 0].tolist() == [1, 2, 3]
    assert start.followed_by(Blocks()) is start


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_some_rows_from_either_end(count):
    blocks = Blocks.of(rows(0, 1, 2, 3), rows(4, 5), rows(6))
    assert len(blocks.arrays) == 3
    assert blocks.first(count)[:, 0].tolist() == list(range(7))[:count]
    assert blocks.last(count)[:, 0].tolist() == list(range(7))[-count:]


def test_an_end_can_be_left_out():
    blocks = Blocks.of(rows(0, 1, 2), rows(3))
    assert blocks.without_last().whole()[:, 0].tolist() == [0, 1, 2]
    assert blocks.without_first().whole()[:, 0].tolist() == [1, 2, 3]
    assert Blocks.of(rows(7)).without_first().arrays == ()
    assert Blocks.of(rows(7)).without_last().arrays == ()

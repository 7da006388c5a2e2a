"""A text's place: clear of what is drawn, then near its point."""

import numpy as np
import pytest

from closecall.plot.curve import free_corner

SIZE = (0.3, 0.1)


def test_beside_a_point_on_an_empty_square():
    left, bottom = free_corner(np.array([[0.5, 0.5]]), (0.5, 0.5), SIZE)
    assert abs(left + 0.15 - 0.5) < 0.05
    assert 0.05 < abs(bottom + 0.05 - 0.5) < 0.15


@pytest.mark.parametrize("seed", range(5))
def test_clear_of_a_line_and_inside(seed):
    random = np.random.RandomState(seed)
    height = 0.2 + 0.6 * random.random_sample()
    line = np.column_stack((np.linspace(0, 1, 200), np.full(200, height)))
    left, bottom = free_corner(line, (random.random_sample(), height), SIZE)
    assert 0 < left < left + SIZE[0] < 1
    assert 0 < bottom < bottom + SIZE[1] < 1
    assert not bottom < height < bottom + SIZE[1]


def test_where_nothing_is_free_the_least_is_covered():
    crowd = np.random.RandomState(3).random_sample((4_000, 2)) * (1, 0.8)
    _, bottom = free_corner(crowd, (0.5, 0.1), SIZE)
    assert bottom > 0.75

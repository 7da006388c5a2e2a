"""Cautions about too few events, and the options of every interval."""

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.statistics import caution_about, caution_about_pairs
from closecall.statistics.intervals import read_drawing, read_level


@pytest.mark.parametrize(
    ("count", "start"),
    [
        (1, "There is only one event. The scores hold for it, and say nothing about others"),
        (2, "There are only two events. The scores hold for these"),
        (5, "There are only five events. The scores hold for these"),
        (6, "There are only 6 events: the intervals are wide"),
        (9, "There are only 9 events"),
    ],
)
def test_one_detector(count, start):
    assert caution_about(count).startswith(start)


def test_enough():
    assert caution_about(10) == caution_about(35, "series") == caution_about_pairs(10) == ""


def test_series():
    assert caution_about(1, "series").startswith("There is only one series.")
    assert caution_about(4, "series").startswith("There are only four series.")


@pytest.mark.parametrize(("count", "every"), [(2, "both"), (3, "all three"), (5, "all five")])
def test_two_detectors_and_luck(count, every):
    """One of two wins every event with probability 2 * 2**-count."""
    odds = round(1 / (2 * 0.5**count))
    text = caution_about_pairs(count)
    assert f"wins {every} by luck one time in {odds}: " in text
    assert "They show who did better on these" in text
    assert "not who is better" in text
    assert text.endswith("differences have no interval and no probability, which take 6 or more.")
    assert caution_about_pairs(count, "series") == text.replace("events", "series")


def test_two_detectors_otherwise():
    assert caution_about_pairs(1).startswith("There is only one event. It shows who did better")
    assert caution_about_pairs(1).endswith("which take 6 or more.")
    assert caution_about_pairs(6) == caution_about(6)


def test_none_at_all():
    assert caution_about(0, "series with this number").startswith("There are no series with this")
    assert caution_about_pairs(0) == caution_about(0)


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

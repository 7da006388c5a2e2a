"""Cautions about too few events, and the options of every interval."""

import numpy as np
import pytest

from closecall.errors import InputError, InputTypeError
from closecall.statistics import caution_about, caution_about_pairs
from closecall.statistics.intervals import read_drawing, read_level


@pytest.mark.parametrize(
    ("about", "count", "what", "start"),
    [
        (caution_about, 0, "series with this number", "There are no series with this number"),
        (caution_about, 1, "events", "There is only one event. The scores hold for it, and say no"),
        (caution_about, 1, "series", "There is only one series."),
        (caution_about, 2, "events", "There are only two events. The scores hold for these"),
        (caution_about, 4, "series", "There are only four series."),
        (caution_about, 5, "events", "There are only five events. The scores hold for these"),
        (caution_about, 6, "events", "There are only 6 events: the intervals are wide"),
        (caution_about, 9, "events", "There are only 9 events"),
        (caution_about_pairs, 0, "events", "There are no events to tell from."),
        (caution_about_pairs, 1, "events", "There is only one event. It shows who did better"),
        (caution_about_pairs, 6, "events", "There are only 6 events: the intervals are wide"),
    ],
)
def test_few(about, count, what, start):
    assert about(count, what).startswith(start)


def test_enough():
    assert caution_about(10) == caution_about(35, "series") == caution_about_pairs(10) == ""


@pytest.mark.parametrize(("count", "every"), [(2, "both"), (3, "all three"), (5, "all five")])
def test_two_detectors_and_luck(count, every):
    """One of two wins every event with probability 2 * 2**-count."""
    odds = round(1 / (2 * 0.5**count))
    text = caution_about_pairs(count)
    assert f"wins {every} by luck one time in {odds}: " in text
    assert "They show who did better on these" in text
    assert "not who is better" in text
    assert text.endswith("differences have no interval and no p-value, which take 6 or more.")
    assert caution_about_pairs(count, "series") == text.replace("events", "series")


def test_options_of_any_number_type():
    assert read_level(np.float32(0.9)) == pytest.approx(0.9, abs=1e-7)
    assert read_drawing(1_000_000, 2**70) == (1_000_000, 2**70)
    drawing = read_drawing(np.int64(100), np.uint8(7))
    assert drawing == (100, 7)
    assert {type(one) for one in drawing} == {int}


@pytest.mark.parametrize(
    ("read", "values", "kind", "message"),
    [
        *(
            (read_level, [level], InputError, "`level` to be a number between 0 and 1, got")
            for level in (0, 1, 95, -0.5, float("nan"), float("inf"))
        ),
        (read_level, ["0.9"], InputTypeError, "`level` to be a number between 0 and 1, got '0.9'"),
        (read_drawing, [99, 0], InputError, "`n` to be 100 or more, got 99"),
        (read_drawing, [1_000_001, 0], InputError, "`n` to be at most 1,000,000, got 1000001"),
        (read_drawing, [100, -1], InputError, "`seed` to be 0 or more, got -1"),
        (read_drawing, [1e3, 0], InputTypeError, "`n` to be a whole number"),
        (read_drawing, [100, None], InputTypeError, "`seed` to be a whole number"),
    ],
)
def test_messages(read, values, kind, message):
    with pytest.raises(kind, match=message):
        read(*values)

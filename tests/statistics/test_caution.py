"""What too few events do not allow to say."""

import pytest

from closecall.statistics import caution_about, caution_about_pairs, caution_about_some


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


def test_a_score_that_few_have():
    assert caution_about_some(9, 40, "Precision", "series") == (
        "Precision is defined on only 9 of the 40 series."
    )
    assert caution_about_some(10, 40, "Precision", "series") == ""

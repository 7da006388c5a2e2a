"""The words of the table."""

import pytest

from closecall.cli import words
from closecall.cli.moment import moment


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1.00"), (0, "0.00"), (0.9951, ">0.99"), (0.994, "0.99"), (0.004, "<0.01"), (None, "-")],
)
def test_perfect_and_zero_are_never_rounded_to(value, text):
    assert words.score(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (150, "2 min 30 s late"),
        (-76.5, "1 min 16.5 s early"),
        (-691.4, "11 min 31 s early"),
        (93600, "1 d 2 h late"),
        (0, "on time"),
        (None, "missed"),
    ],
)
def test_delays(seconds, text):
    assert words.delay(seconds, dated=True) == text


def test_delays_in_numbers():
    assert words.delay(-12.5, dated=False) == "12.5 early"
    assert words.delay(1234567, dated=False) == "1234567 late"


@pytest.mark.parametrize(
    ("values", "texts", "offset"),
    [
        (["2024-01-01T00:00:00"], ["2024-01-01 00:00"], ""),
        (["2024-01-01T00:00:30"], ["2024-01-01 00:00:30"], ""),
        (["2024-01-01T00:00:00+01:00"], ["2024-01-01 00:00"], "+01:00"),
        (
            ["2024-03-31T01:00:00+01:00", "2024-03-31T03:00:00+02:00"],
            ["2024-03-31 01:00:00+01:00", "2024-03-31 03:00:00+02:00"],
            "",
        ),
    ],
)
def test_times_keep_what_tells_them_apart(values, texts, offset):
    assert words.moments(values, with_year=True) == (texts, offset)


def test_an_offset_on_the_command_line():
    assert moment("2024-01-31T08:05:00+01:00").utcoffset().total_seconds() == 3600

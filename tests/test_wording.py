"""Scores and lengths of time in words."""

from math import inf, nan

import pytest

from closecall.wording import alarm_text, in_words, score_or_dash, score_text, time_texts


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.5, "0.5 s"),
        (18, "18 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (76.5, "1 min 16.5 s"),
        (690, "11 min 30 s"),
        (1875, "31 min 15 s"),
        (3600, "1 h"),
        (3660, "1 h 1 min"),
        (86400, "1 d"),
        (93600, "1 d 2 h"),
        (-90, "-1 min 30 s"),
        (-3, "-3 s"),
        (nan, "undefined"),
        (inf, "never"),
    ],
)
def test_words(seconds, words):
    assert in_words(seconds) == words


@pytest.mark.parametrize("seconds", [59.96, 59.9996, 119.96, 3599.9996])
def test_rounding_never_shows_sixty_seconds(seconds):
    assert "60 s" not in in_words(seconds)


@pytest.mark.parametrize("seconds", [1e-9, 2.5e-7, -1e-9])
def test_a_short_time_is_not_called_zero(seconds):
    assert in_words(seconds).lstrip("-") != "0 s"


def test_longer_than_a_timedelta_can_hold():
    # A datetime64 axis in seconds holds such lengths.
    assert in_words(1e15) == "11574074074 d 2 h"


@pytest.mark.parametrize(
    ("score", "text"),
    [(1, "1.00"), (0, "0.00"), (0.9951, ">0.99"), (0.994, "0.99"), (1e-9, "<0.01")],
)
def test_only_exact_scores_are_written_as_exact(score, text):
    assert score_text(score) == text


def test_no_score_is_a_dash():
    assert score_or_dash(None) == score_or_dash(nan) == "-"
    assert score_or_dash(0.004) == "<0.01"


@pytest.mark.parametrize(
    ("delay", "dated", "text"),
    [
        (150, True, "2 min 30 s late"),
        (-76.5, True, "1 min 16.5 s early"),
        (93600, True, "1 d 2 h late"),
        (0, True, "on time"),
        (-12.5, False, "12.5 early"),
        (1234567, False, "1234567 late"),
    ],
)
def test_delays(delay, dated, text):
    assert alarm_text(delay, missed=False, dated=dated) == text
    assert alarm_text(None, missed=True, dated=dated) == "missed"


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
    assert time_texts(values) == (texts, offset)

"""Scores and lengths of time in words."""

from math import inf, nan

import pytest

from closecall.wording import headline, in_words, outcome_text, rate_text, score_text, time_texts


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
        (59.96, "1 min"),
        (59.9996, "1 min"),
        (119.96, "2 min"),
        (3599.9996, "1 h"),
        (2.5e-7, "250 ns"),
        (-1e-9, "-1 ns"),
        (1e15, "11574074074 d 2 h"),  # longer than a timedelta can hold
    ],
)
def test_words(seconds, words):
    assert in_words(seconds) == words


@pytest.mark.parametrize(
    ("score", "text"),
    [(1, "1.00"), (0, "0.00"), (0.9951, ">0.99"), (0.994, "0.99"), (1e-9, "<0.01")],
)
def test_only_exact_scores_are_written_as_exact(score, text):
    assert score_text(score) == text


@pytest.mark.parametrize(
    ("outcome", "length", "dated", "text"),
    [
        ("caught", 150, True, "2 min 30 s late"),
        ("caught", -76.5, True, "1 min 16.5 s early"),
        ("caught", 93600, True, "1 d 2 h late"),
        ("caught", 0, True, "on time"),
        ("caught", -12.5, False, "12.5 early"),
        ("caught", 1234567, False, "1234567 late"),
        ("missed", None, True, "missed"),
        ("missed", 7200, True, "missed, nearest 2 h after"),
        ("missed", -3, False, "missed, nearest 3 before"),
        ("missed", -0.0, False, "missed, nearest touches it"),
        ("close call", -90, True, "close call, 1 min 30 s before"),
        ("close call", 0, True, "close call, touches it"),
    ],
)
def test_outcomes(outcome, length, dated, text):
    lengths = (length, None) if outcome == "caught" else (None, length)
    assert outcome_text(outcome, *lengths, dated=dated) == text


@pytest.mark.parametrize(
    ("count", "length", "dated", "text"),
    [
        (0, 86400, True, "no alarms"),
        (14, 14 * 86400, True, "1 alarm a day"),
        (17, 14 * 86400, True, "1.2 alarms a day"),
        (250, 86400, True, "250 alarms a day"),
        (3, 7200, True, "1.5 alarms an hour"),
        (3, 120, True, "1.5 alarms a minute"),
        (3, 2, True, "1.5 alarms a second"),
        (1, 0.5, True, "2 alarms a second"),
        (1, 43200, True, "2 alarms a day"),
        (1, 10 * 86400, True, "0.1 alarms a day"),
        (1, 14 * 86400, True, "0.5 alarms a week"),
        (1, 120 * 86400, True, "0.25 alarms a month"),
        (1, 730.5 * 86400, True, "0.5 alarms a year"),
        (1, 73050 * 86400, True, "0.005 alarms a year"),
        (7, 3600, False, "1.9 alarms per 1000"),
        (5, 1, False, "5 alarms per unit of time"),
    ],
)
def test_rates(count, length, dated, text):
    assert rate_text(count, "alarm", length, dated=dated) == text


@pytest.mark.parametrize(
    ("median", "text"),
    [
        (150, "6 of 7 caught (1.2 by chance), median delay 2 min 30 s, 1.2 false alarms a day"),
        (-150, "6 of 7 caught (1.2 by chance), median 2 min 30 s early, 1.2 false alarms a day"),
        (inf, "6 of 7 caught (1.2 by chance), median delay never, 1.2 false alarms a day"),
    ],
)
def test_the_headline(median, text):
    told = {"chance": 1.23, "alarmed": 0.5, "false_alarms": 17, "length": 14 * 86400}
    assert headline(6, 7, median_delay=median, **told, dated=True) == text


def test_the_headline_where_nothing_was_caught():
    told = {"median_delay": inf, "alarmed": 0.1, "length": 100, "dated": False}
    text = headline(0, 7, chance=0.51, false_alarms=1, **told)
    assert text == "0 of 7 caught (0.5 by chance), 1 false alarm per 100"


def test_the_headline_of_a_detector_that_is_mostly_in_alarm():
    told = {"chance": 6.4, "median_delay": -5, "alarmed": 0.503, "length": 100, "dated": False}
    text = headline(7, 7, false_alarms=0, **told)
    assert text == "7 of 7 caught (6.4 by chance), in alarm 50 % of the time"
    assert headline(7, 7, false_alarms=2, **told) == f"{text}, 2 false alarms per 100"


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

"""Budgets of alarms as they are typed."""

from datetime import timedelta

import click
import pytest

from closecall.cli.budget import alarm_budget


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2/1d", (2, timedelta(days=1))),
        ("5/8h", (5, timedelta(hours=8))),
        ("1/d", (1, timedelta(days=1))),
        ("0.5/30min", (0.5, timedelta(minutes=30))),
        ("3/2W", (3, timedelta(weeks=2))),
        ("3/1.5s", (3, timedelta(seconds=1.5))),
        ("10/250ms", (10, timedelta(milliseconds=250))),
        ("3/100", (3, 100)),
        (" 1/1e3 ", (1, 1000)),
    ],
)
def test_budgets(text, budget):
    assert alarm_budget(text) == budget


@pytest.mark.parametrize("text", ["2", "2/", "/1d", "-2/1d", "2/-1d", "2/1x", "two/1d", "2/1d/1h"])
def test_no_budgets(text):
    with pytest.raises(click.BadParameter, match=r"is no COUNT/DURATION such as 2/1d, 5/8h or"):
        alarm_budget(text)


def test_longer_than_any_time():
    with pytest.raises(click.BadParameter, match="a longer time than a budget can be for"):
        alarm_budget("1/1e300d")

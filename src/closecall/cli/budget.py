"""A budget of alarms on the command line: so many in so long."""

from __future__ import annotations

import re
from datetime import timedelta

import click

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_BUDGET = re.compile(rf"({_NUMBER})/({_NUMBER})?({'|'.join(_UNITS)})?", re.IGNORECASE)


def alarm_budget(text: str) -> tuple[float, float | timedelta]:
    """Read ``COUNT/DURATION``; a duration without a unit is a number, as the axis has it.

    Examples
    --------
    >>> alarm_budget("2/1d"), alarm_budget("5/8h"), alarm_budget("3/100")
    ((2.0, datetime.timedelta(days=1)), (5.0, datetime.timedelta(seconds=28800)), (3.0, 100.0))
    """
    found = _BUDGET.fullmatch(text.strip())
    if found is None or not (found[2] or found[3]):
        message = (
            f"{text!r} is no COUNT/DURATION such as 2/1d, 5/8h or 3/100; "
            f"units of time are {', '.join(_UNITS)}."
        )
        raise click.BadParameter(message)
    number = float(found[2] or 1)
    try:
        duration = number * _UNITS[found[3].lower()] if found[3] else number
    except OverflowError:
        message = f"{text!r} is a longer time than a budget can be for."
        raise click.BadParameter(message) from None
    return float(found[1]), duration

"""A time on the command line: a number or an ISO time, as the axis has it."""

from __future__ import annotations

from datetime import datetime

import click


def moment(text: str) -> int | float | datetime:
    """Read an integer, a float or an ISO time, whichever the text is.

    Examples
    --------
    >>> moment("120"), moment("0.5"), moment("2024-01-31T08:05")
    (120, 0.5, datetime.datetime(2024, 1, 31, 8, 5))
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is neither a number nor an ISO time such as 2024-01-31T08:05:00."
        raise click.BadParameter(message) from None

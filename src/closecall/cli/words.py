"""Scores, times and lengths of time in words that people read at a glance."""

from __future__ import annotations

from datetime import datetime
from math import ceil, log10
from typing import Any

from closecall.wording import in_words, score_text

UNDEFINED = "-"
_TENS = 10


def score(value: float | None) -> str:
    """Write a score, or a dash for none.

    Examples
    --------
    >>> score(0.857), score(None)
    ('0.86', '-')
    """
    return UNDEFINED if value is None else score_text(value)


def number(value: float) -> str:
    """Write all of a whole number, and four digits of any other.

    Examples
    --------
    >>> number(449919), number(12.34567)
    ('449919', '12.35')
    """
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"


def length(value: float | None, *, dated: bool) -> str:
    """Write a length of time: seconds of a dated axis in words, else the bare number.

    Examples
    --------
    >>> [length(value, dated=True) for value in (76.5, 3443.8, 690.0, None)]
    ['1 min 16.5 s', '57 min 24 s', '11 min 30 s', '-']
    >>> length(12.5, dated=False)
    '12.5'
    """
    if value is None:
        return UNDEFINED
    if not dated:
        return number(value)
    return in_words(value)


def lasts(row: dict[str, Any], *, dated: bool) -> str:
    """Write how long an event lasts, from its row.

    Examples
    --------
    >>> lasts({"start": 3, "stop": 7}, dated=False), lasts({"start": 3, "stop": 3}, dated=False)
    ('4', 'a point')
    """
    start, stop = row["start"], row["stop"]
    if start == stop:
        return "a point"
    return length(seconds_between(start, stop) if dated else stop - start, dated=dated)


def delay(value: float | None, *, dated: bool) -> str:
    """Write how long after an event's start its first alarm came.

    Examples
    --------
    >>> [delay(value, dated=True) for value in (150, -300, 0, None)]
    ['2 min 30 s late', '5 min early', 'on time', 'missed']
    """
    if value is None:
        return "missed"
    if value == 0:
        return "on time"
    return f"{length(abs(value), dated=dated)} {'late' if value > 0 else 'early'}"


def daily_rate(per_day: float, *, days: float) -> str:
    """Write how often something happened in the largest unit that the days hold.

    Examples
    --------
    >>> daily_rate(0.5714, days=14), daily_rate(48.0, days=0.5), daily_rate(2880, days=1 / 48)
    ('0.57 per day', '2 per hour', '2 per minute')
    """
    for unit, share in (("day", 1), ("hour", 24), ("minute", 1440)):
        if days * share >= 1:
            return f"{_two_digits(per_day / share)} per {unit}"
    return f"{_two_digits(per_day / 86_400)} per second"


def rate(per_unit: float) -> str:
    """Write how often something happened per 1, 10, 100, ... units of the axis.

    Examples
    --------
    >>> rate(0.00194), rate(0.25), rate(3.0)
    ('1.9 per 1000', '2.5 per 10', '3 per 1')
    """
    size = 10 ** max(0, ceil(-log10(per_unit)))
    return f"{_two_digits(per_unit * size)} per {size}"


def _two_digits(value: float) -> str:
    return f"{value:.2g}" if value < _TENS else f"{value:.0f}"


def moments(values: list[str], *, with_year: bool) -> tuple[list[str], str]:
    """Shorten ISO times to what tells them apart, and return the offset they share, if any.

    Examples
    --------
    >>> moments(["2024-03-07T10:20:00+00:00", "2024-03-08T02:30:00+00:00"], with_year=True)
    (['2024-03-07 10:20', '2024-03-08 02:30'], '+00:00')
    >>> moments(["2024-03-07T10:20:05"], with_year=False)
    (['03-07 10:20:05'], '')
    """
    offsets = {_offset(value) for value in values}
    shared = offsets.pop() if len(offsets) == 1 else None
    texts = [value.replace("T", " ") for value in values]
    if shared:
        texts = [text.removesuffix(shared) for text in texts]
    if shared is not None and all(text.endswith(":00") for text in texts):
        texts = [text.removesuffix(":00") for text in texts]
    return texts if with_year else [text[5:] for text in texts], shared or ""


def seconds_between(start: str, stop: str) -> float:
    """Return the seconds from one ISO time to another.

    Examples
    --------
    >>> seconds_between("2024-03-07T10:20:00+01:00", "2024-03-07T10:20:00+00:00")
    3600.0
    """
    return (datetime.fromisoformat(stop) - datetime.fromisoformat(start)).total_seconds()


def _offset(value: str) -> str:
    aware = datetime.fromisoformat(value).tzinfo is not None
    return value[-len("+00:00") :] if aware else ""

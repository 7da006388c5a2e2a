"""Lengths of time in words."""

from __future__ import annotations

from datetime import timedelta
from math import isinf, isnan


def in_words(seconds: float) -> str:
    """Write a length of time the way people say it.

    Examples
    --------
    >>> in_words(150), in_words(76.5), in_words(0), in_words(93600)
    ('2 min 30 s', '1 min 16.5 s', '0 s', '1 d 2 h')
    """
    if isnan(seconds):
        return "undefined"
    if isinf(seconds):
        return "never"
    sign, rest = ("-" if seconds < 0 else ""), timedelta(seconds=abs(seconds))
    days, remainder = rest.days, rest.seconds
    hours, remainder = divmod(remainder, 3600)
    minutes, whole = divmod(remainder, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    words = [f"{count} {unit}" for count, unit in parts if count]
    tail = whole + rest.microseconds / 1e6
    if tail or not words:
        words.append(f"{tail:.3g} s" if not words or tail % 1 else f"{whole} s")
    return sign + " ".join(words[:2])

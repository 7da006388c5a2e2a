"""Scores and lengths of time in words that people read at a glance."""

from __future__ import annotations

from math import isinf, isnan

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))
_FRACTIONS = (("s", 0.1, 1.0), ("ms", 1e-3, 1e3), ("us", 1e-6, 1e6), ("ns", 0.0, 1e9))
# From this many seconds on, finer steps than that say nothing.
_STEPS = ((86_400, 3_600.0), (3_600, 60.0), (120, 1.0), (59.95, 0.1))


def score_text(value: float) -> str:
    """Write a score with two decimals, and 1.00 or 0.00 only for exactly that.

    Examples
    --------
    >>> [score_text(value) for value in (1, 0.857, 0.9999, 0.0001, 0)]
    ['1.00', '0.86', '>0.99', '<0.01', '0.00']
    """
    text = f"{value:.2f}"
    if text == "1.00" and value < 1:
        return ">0.99"
    return "<0.01" if text == "0.00" and value > 0 else text


def in_words(seconds: float) -> str:
    """Write a length of time the way people say it, in its two largest units.

    Examples
    --------
    >>> in_words(150), in_words(76.5), in_words(0), in_words(93600), in_words(0.0025)
    ('2 min 30 s', '1 min 16.5 s', '0 s', '1 d 2 h', '2.5 ms')
    """
    if isnan(seconds):
        return "undefined"
    if isinf(seconds):
        return "never"
    sign, size = ("-" if seconds < 0 else ""), abs(seconds)
    if size == 0:
        return "0 s"
    for least, step in _STEPS:
        if size >= least:
            return sign + _in_units(round(size / step) * step)
    unit, _, scale = next(part for part in _FRACTIONS if size >= part[1])
    return f"{sign}{size * scale:.3g} {unit}"


def _in_units(seconds: float) -> str:
    parts = []
    for unit, length in _UNITS:
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count:.0f} {unit}")
    if round(seconds, 1):
        parts.append(f"{round(seconds, 1):g} s")
    return " ".join(parts)

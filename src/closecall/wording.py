"""Scores, times, lengths of time and outcomes in words that people read at a glance."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import ceil, isinf, isnan, log10
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNDEFINED = "-"
TITLES = ("name", "title", "alertname", "text")
"""The columns in which lists of events say what an event is called."""
_LEAST_PVALUE = 0.001
_LEAST_RATE = 0.1
_LEAST_LEVEL = 0.05
MOSTLY = 0.5
"""The share of time in alarm from which on a headline tells that, and no delay."""
_RATES = (
    ("a second", 1),
    ("a minute", 60),
    ("an hour", 3_600),
    ("a day", 86_400),
    ("a week", 604_800),
    ("a month", 2_629_800),  # a twelfth of a year of 365.25 days
    ("a year", 31_557_600),
)
_DAY = 3  # its place
_FOUR_CENTURIES = 146_097 * 86_400 * 10**6  # microseconds
_MOST_NAMES, _LONGEST_NAME = 20, 60  # in a list of names

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))
_FRACTIONS = (("s", 0.1, 1.0), ("ms", 1e-3, 1e3), ("us", 1e-6, 1e6), ("ns", 0.0, 1e9))
# From this many seconds on, finer steps than that say nothing.
_STEPS = ((86_400, 3_600.0), (3_600, 60.0), (120, 1.0), (59.95, 0.1))


def json_number(value: float) -> float | str | None:
    """Return a number as JSON has it: infinity as text, and nothing for what is undefined."""
    return None if isnan(value) else str(value) if isinf(value) else value


def plain_name(name: str, most: int | None = None) -> str:
    r"""Write a name from data on one line, without control characters; the ends of a long one.

    What a terminal would obey is escaped: C0 and C1 controls, bidirectional ones, half characters.

    >>> plain_name("a\nb\x1b[31m"), plain_name("isolation_forest_200_trees", 15)
    ('a\\nb\\x1b[31m', 'isolat..._trees')
    """
    text = name
    if not name.isprintable():
        text = "".join(
            letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
            for letter in name
        )
    if most is None or len(text) <= most:
        return text
    kept = (most - 3) // 2
    return f"{text[:kept]}...{text[-kept:]}"


def plain_lines(text: str) -> str:
    r"""Write lines from data as a terminal may show them.

    >>> plain_lines("name\na\x1b[31m\n")
    'name\na\\x1b[31m\n'
    """
    return "\n".join(map(plain_name, text.split("\n")))


def short_names(names: Sequence[str], most: int) -> list[str]:
    """Write names in so many letters that they stay different: from where alike ones differ.

    >>> short_names(["isolation_forest_200_trees", "lof"], 15)
    ['isolat..._trees', 'lof']
    >>> short_names(["encoder_of_width_8_and_depth_2", "encoder_of_width_16_and_depth_2"], 13)
    ['...h_8_and_de', '...h_16_and_d']
    """
    whole, short = [*map(plain_name, names)], [plain_name(name, most) for name in names]
    for text in {text for text in short if short.count(text) > 1}:
        alike = [place for place, other in enumerate(short) if other == text]
        letters = enumerate(zip(*(whole[place] for place in alike), strict=False))
        shared = next((count for count, column in letters if len({*column}) > 1), most)
        for place in alike:
            short[place] = f"...{whole[place][max(shared - 2, 0) :]}"[:most]
    return short


FORMULA = r"^'*[=+\-@\t\r]"
"""How a cell begins that programs for tables would take for a formula, or for one made safe."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def no_formula(cell: str) -> str:
    """Return the text of a CSV cell with an apostrophe before what would be run as a formula.

    Texts that differ stay so: one that begins with such apostrophes gets one more.

    >>> [no_formula(cell) for cell in ("=1+1", "-1.5", "@risk", "'=1", "it's")]
    ["'=1+1", '-1.5', "'@risk", "''=1", "it's"]
    """
    return f"'{cell}" if re.search(FORMULA, cell) and not re.search(NUMBER, cell) else cell


def listed(names: Sequence[str]) -> str:
    """List names in a message, the first few of many.

    >>> listed(["t", "label"]), listed(list(map(str, range(100_000))))[-22:]
    ('t, label', '18, 19 and 99,980 more')
    """
    shown = ", ".join(plain_name(name, _LONGEST_NAME) for name in names[:_MOST_NAMES])
    hidden = len(names) - _MOST_NAMES
    return f"{shown} and {hidden:,} more" if hidden > 0 else shown


def score_text(value: float) -> str:
    """Write a score with two decimals, and 1.00 or 0.00 only for exactly that.

    >>> [score_text(value) for value in (1, 0.857, 0.9999, 0.0001, 0)]
    ['1.00', '0.86', '>0.99', '<0.01', '0.00']
    """
    text = f"{value:.2f}"
    if text == "1.00" and value < 1:
        return ">0.99"
    return "<0.01" if text == "0.00" and value > 0 else text


def score_or_dash(value: float | None) -> str:
    """Write a score, or a dash for none.

    >>> score_or_dash(0.857), score_or_dash(None), score_or_dash(float("nan"))
    ('0.86', '-', '-')
    """
    return UNDEFINED if value is None or isnan(value) else score_text(value)


def pvalue_text(value: float | None) -> str:
    """Write a p-value with two digits, and a dash if it is undefined.

    >>> pvalue_text(0.0412), pvalue_text(2e-9), pvalue_text(1.0), pvalue_text(None)
    ('0.041', '<0.001', '1', '-')
    """
    if value is None or isnan(value):
        return UNDEFINED
    return f"{value:.2g}" if value >= _LEAST_PVALUE else f"<{_LEAST_PVALUE}"


def number_text(value: float) -> str:
    """Write all of a whole number, and four digits of any other.

    >>> from fractions import Fraction
    >>> number_text(449919), number_text(12.34567), number_text(Fraction(1, 3))
    ('449919', '12.35', '0.3333')
    """
    return str(int(value)) if float(value).is_integer() else f"{float(value):.4g}"


def counted(count: int, noun: str) -> str:
    """Write how many there are of something.

    >>> counted(1, "alarm"), counted(1234, "event")
    ('1 alarm', '1234 events')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def in_words(seconds: float) -> str:
    """Write a length of time the way people say it, in its two largest units.

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


def length_text(value: float | None, *, dated: bool) -> str:
    """Write a length of time: seconds of a dated axis in words, else the bare number.

    >>> [length_text(value, dated=True) for value in (76.5, 3443.8, None)]
    ['1 min 16.5 s', '57 min 24 s', '-']
    >>> length_text(12.5, dated=False)
    '12.5'
    """
    if value is None:
        return UNDEFINED
    return in_words(value) if dated else number_text(value)


def event_length_text(start: float | str, stop: float | str) -> str:
    """Write how long an event lasts, from its times as plain JSON values.

    >>> event_length_text(3, 7), event_length_text(3, 3)
    ('4', 'a point')
    >>> event_length_text("2024-03-07T10:20:00+01:00", "2024-03-07T10:20:00+00:00")
    '1 h'
    >>> event_length_text("9999-12-31T23:00:00", "10000-01-01T00:30:00")
    '1 h 30 min'
    """
    if start == stop:
        return "a point"
    if isinstance(start, str) and isinstance(stop, str):
        return in_words((_microseconds(stop) - _microseconds(start)) / 10**6)
    return number_text(float(stop) - float(start))


def _microseconds(time: str) -> int:
    """Return when an ISO time is, in any year: those of Python end with 9999."""
    date, _, clock = time.partition("T")
    year, month, day = date.rsplit("-", 2)
    periods, within = divmod(int(year), 400)  # the calendar repeats itself
    moment = datetime.fromisoformat(f"{2000 + within}-{month}-{day}T{clock}")
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(2000, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1) + periods * _FOUR_CENTURIES


def event_title(details: Mapping[str, Any]) -> Any:
    """Return what a list of events calls one of them; None if it does not say.

    >>> event_title({"severity": "high", "title": "disk full"})
    'disk full'
    """
    return next((details[name] for name in TITLES if details.get(name) is not None), None)


def outcome_text(
    outcome: str,
    delay: float | None,
    nearest: float | None,
    *,
    already_in_alarm: bool = False,
    dated: bool,
) -> str:
    """Write what happened to an event: how late its alarm was, or how near it came.

    >>> [outcome_text("caught", delay, None, dated=True) for delay in (150, -300, 0)]
    ['2 min 30 s late', '5 min early', 'on time']
    >>> outcome_text("caught", 0, None, already_in_alarm=True, dated=True)
    'already in alarm'
    >>> outcome_text("close call", None, -90, dated=True)
    'close call, 1 min 30 s before'
    >>> [outcome_text("missed", None, nearest, dated=True) for nearest in (7200, None)]
    ['missed, nearest 2 h after', 'missed']
    """
    if already_in_alarm:
        return "already in alarm"
    if outcome == "caught" and delay is not None:
        if delay == 0:
            return "on time"
        return f"{length_text(abs(delay), dated=dated)} {'late' if delay > 0 else 'early'}"
    if nearest is None:
        return outcome
    side = "before" if nearest < 0 else "after"
    away = f"{length_text(abs(nearest), dated=dated)} {side}"
    if nearest == 0:
        away = "touches it"
    return f"{outcome}, {'nearest ' if outcome == 'missed' else ''}{away}"


def headline(
    caught: int,
    events: int,
    *,
    chance: float,
    median_delay: float,
    alarmed: float,
    false_alarms: int,
    length: float,
    dated: bool,
    fewest: int = 0,
) -> str:
    """Write what people ask first: how many events were caught, how fast, at which price.

    `chance` is how many chance catches; nan without alarms.
    `median_delay` counts an event that was not caught as never (inf); it and `length`, that of the
    evaluated time, are in seconds on a dated axis. Where more than half of the time is `alarmed`,
    that share stands in the place of the delay. `fewest` is that of `rate_text`.

    >>> told = {"median_delay": 1500, "alarmed": 0.01, "false_alarms": 17, "length": 14 * 86400}
    >>> headline(6, 7, chance=1.24, **told, dated=True)
    '6 of 7 caught (1.2 by chance), median delay 25 min, 1.2 false alarms a day'
    >>> headline(2, 7, chance=0.04, **told | {"median_delay": float("inf")}, dated=True)
    '2 of 7 caught (<0.1 by chance), median delay never, 1.2 false alarms a day'
    >>> headline(7, 7, chance=7.0, **told | {"alarmed": 1.0, "false_alarms": 0}, dated=True)
    '7 of 7 caught (7 by chance), in alarm 100 % of the time'
    >>> headline(0, 7, chance=float("nan"), **told, dated=True)
    '0 of 7 caught, no alarms'
    """
    parts = [f"{caught} of {events} caught"]
    if isnan(chance):
        return f"{parts[0]}, no alarms"
    parts[0] += f" ({level_text(chance)} by chance)"
    if alarmed > MOSTLY:
        parts.append(f"in alarm {percent_text(alarmed)} of the time")
    elif caught:
        early, delay = median_delay < 0, length_text(abs(median_delay), dated=dated)
        delay = "never" if isinf(median_delay) else delay
        parts.append(f"median {delay} early" if early else f"median delay {delay}")
    if false_alarms or alarmed <= MOSTLY:
        parts.append(rate_text(false_alarms, "false alarm", length, dated=dated, fewest=fewest))
    return ", ".join(parts)


def level_text(level: float) -> str:
    """Write how many events chance catches: with one decimal, unless it is a whole number.

    >>> [level_text(level) for level in (4.5872, 35, 0, 0.03, 2.0004)]
    ['4.6', '35', '0', '<0.1', '2.0']
    """
    if 0 < level < _LEAST_LEVEL:
        return f"<{2 * _LEAST_LEVEL}"
    return f"{level:.0f}" if level == round(level) else f"{level:.1f}"


def percent_text(share: float) -> str:
    """Write a share as a percentage: 100 % and 0 % only for exactly that.

    >>> [percent_text(share) for share in (1, 0.99999, 0.523, 0.0123, 0.00001, 0)]
    ['100 %', '>99 %', '52 %', '1.2 %', '<0.1 %', '0 %']
    """
    percent = 100 * share
    if round(percent) == 100 and share < 1:  # noqa: PLR2004
        return ">99 %"
    if 0 < percent < _LEAST_LEVEL:
        return f"<{2 * _LEAST_LEVEL} %"
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.2g} %"  # noqa: PLR2004


def rate_text(count: int, noun: str, length: float, *, dated: bool, fewest: int = 0) -> str:
    """Write how often something happened, in a unit of time that reads well.

    `fewest` is the smallest count, of those above 0, that is told beside it, and all in its unit.
    Where no `length` of time is known (nan), it is a count.

    >>> rate_text(17, "false alarm", 14 * 86400, dated=True), rate_text(0, "alarm", 10, dated=False)
    ('1.2 false alarms a day', 'no alarms')
    >>> rate_text(1, "alarm", 14 * 86400, dated=True), rate_text(7, "alarm", 3600, dated=False)
    ('0.5 alarms a week', '1.9 alarms per 1000')
    >>> rate_text(6, "alarm", 14 * 86400, dated=True, fewest=1)
    '3 alarms a week'
    """
    if count == 0:
        return f"no {noun}s"
    if isnan(length):
        return counted(count, noun)
    unit, size = rate_unit(fewest or count, length, dated=dated)
    per = count / length * size
    value = f"{per:.2g}" if per < 10 else f"{per:.0f}"  # noqa: PLR2004
    return f"{value} {noun}{'' if value == '1' else 's'} {unit}"


def rate_unit(count: int, length: float, *, dated: bool) -> tuple[str, float]:
    """Return the unit of time in which so many in that length are told, and how long it is.

    It is a day, or a shorter one that the length holds; a longer one where that would be below 0.1.

    >>> rate_unit(17, 14 * 86400, dated=True), rate_unit(7, 3600, dated=False)
    (('a day', 86400), ('per 1000', 1000))
    """
    if dated:
        held = max((place for place in range(_DAY + 1) if length >= _RATES[place][1]), default=0)
        told = (one for one in _RATES[held:] if count / length * one[1] >= _LEAST_RATE)
        return next(told, _RATES[-1])
    size = 10 ** max(0, ceil(-log10(count / length)))
    return f"per {size}" if size > 1 else "per unit of time", size


def time_texts(values: list[str], *, with_year: bool = True) -> tuple[list[str], str]:
    """Shorten ISO times to what tells them apart, and return the offset they share, if any.

    >>> time_texts(["2024-03-07T10:20:00+00:00", "2024-03-08T02:30:00+00:00"])
    (['2024-03-07 10:20', '2024-03-08 02:30'], '+00:00')
    >>> time_texts(["2024-03-07T10:20:05"], with_year=False)
    (['03-07 10:20:05'], '')
    """
    # Years beyond 9999 are no datetimes of Python.
    aware = {value: {"+", "-"} & {*value.partition("T")[2]} for value in values}
    offsets = {value[-len("+00:00") :] if offset else "" for value, offset in aware.items()}
    shared = offsets.pop() if len(offsets) == 1 else None
    texts = [value.replace("T", " ").removesuffix(shared or "") for value in values]
    if shared is not None and all(text.endswith(":00") for text in texts):
        texts = [text.removesuffix(":00") for text in texts]
    return texts if with_year else [text[5:] for text in texts], shared or ""

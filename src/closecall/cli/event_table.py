"""The table of true events, with as many columns as the terminal has room for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.text import Text

from closecall.cli import words
from closecall.cli.tables import Column, Grid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from closecall import Affiliation
    from closecall.cli.tables import Page

_GOOD, _POOR = 0.9, 0.6  # a random alarm scores about 0.5

# What goes first where there is no room; the rest always stays.
_DISPENSABLE = ("zone", "alarms", "year", "lasts", "F1")


def add_event_table(page: Page, result: Affiliation, *, width: int, most: int | None) -> str:
    """Add the first `most` events, and return the UTC offset of their times, if any."""
    rows = list(islice(result.events.rows(), most))
    columns, offset = _fitting(rows, width)
    whole = Grid(list(columns.values()))
    if whole.width <= width:
        page.add([lambda _: whole])
    else:
        keys = [columns.pop("number"), columns.pop("start")]
        page.add(page.split(lambda _: keys, [[column] for column in columns.values()]))
    return offset


def score_style(text: str) -> str:
    """Return the colour of a score: green if good, red if hardly better than chance."""
    if text == words.UNDEFINED:
        return "dim"
    value = float(text.strip("<>"))
    if value >= _GOOD:
        return "green"
    return "yellow" if value >= _POOR else "red"


def _fitting(rows: list[dict[str, Any]], width: int) -> tuple[dict[str, Column], str]:
    """Leave out columns, least important first, until the rest fits."""
    for count in range(len(_DISPENSABLE) + 1):
        without = _DISPENSABLE[:count]
        columns, offset = _columns(rows, with_year="year" not in without)
        columns = {name: column for name, column in columns.items() if name not in without}
        if Grid(list(columns.values())).width <= width:
            break
    return columns, offset


def _columns(rows: list[dict[str, Any]], *, with_year: bool) -> tuple[dict[str, Column], str]:
    dated = isinstance(rows[0]["start"], str)
    starts, offset = _times(rows, "start", with_year=with_year)
    zones = [_times(rows, name, with_year=with_year)[0] for name in ("zone_start", "zone_stop")]

    def lengths(name: str) -> list[str]:
        return [words.length(row[name], dated=dated) for row in rows]

    def scores(heading: str, name: str) -> Column:
        texts = [words.score(row[name]) for row in rows]
        return Column(heading, [Text(text, style=score_style(text)) for text in texts])

    delays = [words.delay(row["delay"], dated=dated) for row in rows]
    columns = {
        "number": _plain("#", map(str, range(1, len(rows) + 1))),
        "start": _plain("start", starts, right=not dated),
        "lasts": _plain("lasts", [words.lasts(row, dated=dated) for row in rows]),
        "zone": _plain("zone", [" to ".join(zone) for zone in zip(*zones, strict=True)]),
        "precision": scores("prec.", "precision"),
        "recall": scores("recall", "recall"),
        "F1": scores("F1", "f1"),
        "alarms": _plain("alarms", [str(row["predicted_count"]) for row in rows]),
        "to event": _plain("alarm to\nevent", lengths("precision_distance")),
        "to alarm": _plain("event to\nalarm", lengths("recall_distance")),
        "delay": _plain("first alarm", delays),
    }
    return columns, offset


def _plain(heading: str, texts: Iterable[str], *, right: bool = True) -> Column:
    return Column(heading, [Text(text, style=_STYLES.get(text, "")) for text in texts], right)


_STYLES = {"missed": "red", words.UNDEFINED: "dim"}


def _times(rows: list[dict[str, Any]], name: str, *, with_year: bool) -> tuple[list[str], str]:
    values = [row[name] for row in rows]
    if isinstance(values[0], str):
        return words.moments(values, with_year=with_year)
    return [words.number(value) for value in values], ""

"""How results look in a notebook: a sentence, and tables with what is wide behind a fold."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from closecall.errors import shown
from closecall.wording import UNDEFINED, counted, number_text, plain_name, time_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Column = tuple[str, Sequence[Any]]  # its heading, and its cells: texts and numbers

MOST_ROWS = 20
_MOST_COLUMNS, _LONGEST_CELL = 10, 60


def display(title: str, *parts: str | Sequence[Column]) -> str:
    """Return HTML: the title, texts as paragraphs, columns as tables; all of it is escaped.

    A table has at most ten columns. Those beyond are in further tables behind a fold, each with the
    first column again, which says what a row is about. An empty text is left out.

    >>> display("a & b", "", [("detector", ["<x>"]), ("F1", [0.5])])
    '<div><p><b>a &amp; b</b></p><table><thead><tr><th>detector</th><th>F1</th></tr></thead>\
<tbody><tr><th>&lt;x&gt;</th><td>0.5</td></tr></tbody></table></div>'
    """
    shown = [f"<p><b>{escape(plain_name(title))}</b></p>"]
    for part in parts:
        if not isinstance(part, str):
            shown.append(_folded(part))
        elif part:
            shown.append(f"<p>{escape(plain_name(part))}</p>")
    return f"<div>{''.join(shown)}</div>"


def _folded(columns: Sequence[Column]) -> str:
    key, *others = columns
    beside = _MOST_COLUMNS - 1
    first, *rest = (
        _table([key, *others[place : place + beside]])
        for place in range(0, max(len(others), 1), beside)
    )
    if not rest:
        return first
    more = counted(len(others) - beside, "more column")
    return f"{first}<details><summary>{more}</summary>{''.join(rest)}</details>"


def _table(columns: Sequence[Column]) -> str:
    head = "".join(f"<th>{_cell(heading)}</th>" for heading, _ in columns)
    rows = zip(*(cells for _, cells in columns), strict=True)
    body = "".join(
        f"<tr><th>{_cell(about)}</th>{''.join(f'<td>{_cell(cell)}</td>' for cell in cells)}</tr>"
        for about, *cells in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        value = shown(value)
    elif not isinstance(value, str):
        value = UNDEFINED if value is None or isnan(value) else number_text(value)
    return escape(plain_name(value, _LONGEST_CELL))


def heading(name: str) -> str:
    """Return the heading of a column of that name in Python.

    >>> heading("f1_above_chance")
    'F1 above chance'
    """
    return " ".join("F1" if word == "f1" else word for word in name.split("_"))


def time_columns(rows: Sequence[Mapping[str, Any]], *names: str) -> list[Column]:
    """Return columns of times of JSON rows, the offset from UTC that all share in the heading.

    >>> time_columns([{"start": "2024-03-07T10:20:00+01:00"}], "start")
    [('start (UTC+01:00)', ['2024-03-07 10:20'])]
    """
    columns: list[Column] = []
    for name in names:
        times, offset = [str(row[name]) for row in rows], ""
        if isinstance(rows[0][name], str):
            times, offset = time_texts(times)
        columns.append((heading(name) + (f" (UTC{offset})" if offset else ""), times))
    return columns


def more_rows(count: int, noun: str) -> str:
    """Return how many of so many rows are not shown, in words; nothing if all are.

    >>> more_rows(21, "event"), more_rows(20, "event")
    ('and 1 more event', '')
    """
    hidden = count - MOST_ROWS
    return f"and {counted(hidden, f'more {noun}')}" if hidden > 0 else ""

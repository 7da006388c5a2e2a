"""The columns that a question needs, and the message where one is missing."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from closecall.tables.batch.question import Question


def needed_columns(available: Iterable[str], question: Question, name: str) -> list[str]:
    """Return the columns that are read, in the table's order, or say which one is not there.

    Parameters
    ----------
    available
        The table's columns.
    question
        Which columns are asked for.
    name
        What messages call the table.
    """
    columns = list(available)
    for argument, column in _roles(question):
        count = columns.count(column)
        if count == 1:
            continue
        rule = f"`{argument}` to name a column of {name}"
        if count > 1:
            raise InputError(expected(rule, f"{column!r}, which {count} columns are called"))
        close = difflib.get_close_matches(column, columns, n=1)
        suggestion = f"Did you mean {close[0]!r}? " if close else ""
        listing = f"Its columns are: {', '.join(columns)}."
        raise InputError(expected(rule, repr(column), suggestion + listing))
    wanted = set(question.columns)
    return [column for column in columns if column in wanted]


def _roles(question: Question) -> Iterator[tuple[str, str]]:
    yield from (("by", column) for column in question.by)
    if question.time is not None:
        yield "time", question.time
    yield "truth", question.truth
    yield from (("score", column) for column in question.scores)
    yield from (("predicted", column) for column in question.predicted)

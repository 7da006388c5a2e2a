"""What the first line of a CSV file says: its separator, and whether it is a header."""

from __future__ import annotations

import csv
from datetime import datetime

_DELIMITERS = ",;\t"


def delimiter(content: bytes) -> str:
    r"""Return the separator that occurs most often in the first line; a comma if none does.

    Examples
    --------
    >>> delimiter(b"time;label\n1;0\n")
    ';'
    >>> delimiter(b"0\n1\n")
    ','
    """
    line = _first_line(content)
    return max(_DELIMITERS, key=line.count)


def first_record(content: bytes, separator: str) -> list[str]:
    r"""Split the first line into its fields.

    Examples
    --------
    >>> first_record(b'"a, b",c\n1,2\n', ",")
    ['a, b', 'c']
    """
    return next(csv.reader([_first_line(content)], delimiter=separator), [])


def column_names(fields: list[str]) -> list[str] | None:
    """Return names to give to the columns, or None if the fields themselves are the names.

    Examples
    --------
    >>> column_names(["0", "1.5"])
    ['column1', 'column2']
    >>> column_names(["time", "label"]) is None
    True
    """
    if all(_is_value(field) for field in fields):
        return [f"column{number}" for number in range(1, len(fields) + 1)]
    return None


def _first_line(content: bytes) -> str:
    end = content.find(b"\n")
    line = content if end < 0 else content[:end]
    return line.decode("utf-8", errors="replace").rstrip("\r")


def _is_value(field: str) -> bool:
    """Say whether a field is a number or an ISO time, and so no name."""
    text = field.strip()
    try:
        float(text)
    except ValueError:
        pass
    else:
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True

"""Hints of the library in terms of the command line."""

from __future__ import annotations

import re

from closecall.metrics.registry import LISTED
from closecall.parameters import DATED_HINT

_REQUIRED = re.compile(r"Pass metrics=\{'(\w+)': \{'(\w+)': \.\.\.\}\}\.")
_OWN_WORDS = {
    LISTED: "`closecall metrics` lists them all.",
    DATED_HINT: (
        "The times are datetimes, so give the length a unit: ms, s, min, h or d, as in 10min."
    ),
    "Expected `folder` to name a folder": "Expected `--data` to name a folder",
    "(the argument `folder`, or the environment": "(the option --data, or the environment",
}


def spoken(message: str) -> str:
    """Say what a caller in Python would do as one does it on the command line.

    Examples
    --------
    >>> print(spoken("Hint: Pass metrics={'margin': {'margin': ...}}."))
    Hint: Pass --metric margin:margin=10, or margin=10min beside datetimes.
    """
    for theirs, ours in _OWN_WORDS.items():
        message = message.replace(theirs, ours)
    return _REQUIRED.sub(r"Pass --metric \1:\2=10, or \2=10min beside datetimes.", message)

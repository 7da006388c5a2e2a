"""What is wrong with one series, in a word and a line; it never stops the others."""

from __future__ import annotations

from closecall.errors import ClosecallError, first_line, reason
from closecall.tables.series import Status

STATUSES = {
    Status.OK: "evaluated",
    Status.CONSTANT_SCORE: "with the same score everywhere",
    Status.UNDEFINED: "with an undefined metric",
    Status.NO_EVENT: "without a true event",
    Status.NAN_SCORE: "with missing scores",
    Status.BAD_SCORES: "with scores that are not numbers",
    Status.BAD_LABELS: "with labels that are not 0 or 1",
    Status.BAD_TIMES: "with times that repeat, go back or cannot be used",
    Status.EMPTY: "without a sample to evaluate",
    Status.FAILED: "that failed",
}
"""Every status a row can have, and how a summary says it."""
DISORDER_HINT = (
    "--disorder sort puts samples in the order of their times, and first, last or mean also keeps "
    "one of each; index counts samples instead"
)


def one_line(error: BaseException) -> str:
    """Return the first line of a message, with the kind of an error that closecall did not word."""
    if isinstance(error, ClosecallError):
        return reason(error)
    line = first_line(error)
    return f"{type(error).__name__}: {line}" if line else type(error).__name__

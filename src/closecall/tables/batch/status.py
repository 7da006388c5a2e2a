"""What is wrong with one series, in a word and a line; it never stops the others."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from closecall.errors import ClosecallError, InputError, first_line, reason

if TYPE_CHECKING:
    from collections.abc import Iterator


class Status:
    """What can become of a series and a detector, as the rows of a batch say it."""

    OK = "ok"
    EMPTY = "empty"
    BAD_LABELS = "bad_labels"
    BAD_TIMES = "bad_times"
    BAD_SCORES = "bad_scores"
    NAN_SCORE = "nan_score"
    NO_EVENT = "no_event"
    CONSTANT_SCORE = "constant_score"
    UNDEFINED = "undefined"
    FAILED = "failed"


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


@contextmanager
def with_status(status: str, *, values: str | None = None) -> Iterator[None]:
    """Give errors that a caller can fix the status of the part that is read.

    `values` is the status if single values are wrong, and not the type of all of them.
    """
    try:
        yield
    except ClosecallError as error:
        error.status = error.status or (
            values if values and isinstance(error, InputError) else status
        )
        raise


def empty_series(rule: str = "at least one sample", got: str = "none") -> InputError:
    """Return the error for a series of which nothing is left to evaluate."""
    error = InputError(rule, got)
    error.status = Status.EMPTY
    return error


def one_line(error: BaseException) -> str:
    """Return the first line of a message, with the kind of an error that closecall did not word."""
    if isinstance(error, ClosecallError):
        return reason(error)
    line = first_line(error)
    return f"{type(error).__name__}: {line}" if line else type(error).__name__

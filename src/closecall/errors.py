"""What closecall raises when an input breaks a rule.

Every message names the argument, the rule, the value and the index, and ends with a hint. The
classes also derive from the built-in ones, so ``except ValueError`` works as everywhere else;
the command line catches `ClosecallError` and nothing more, so a bug still shows its traceback.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WRITABLE = 10**30


class ClosecallError(Exception):
    """Anything a caller can mend: bad values, bad types, a missing extra."""

    exit_status: int | None = None
    """What the command line exits with, where that is not as usual."""

    @classmethod
    def expected(cls, rule: str, got: str, hint: str = "") -> Self:
        """Return the error with the one wording of `expected`."""
        return cls(expected(rule, got, hint))


class InputError(ClosecallError, ValueError):
    """A value breaks a rule."""


class InputTypeError(ClosecallError, TypeError):
    """An argument is of a kind that cannot be used there."""


class UnevenTimesError(InputError):
    """Nothing says where the last sample stops; with the median step it would be at `end`."""

    def __init__(self, message: str, end: Any = None, end_text: str = "") -> None:
        super().__init__(message)
        self.end, self.end_text = end, end_text


class UndefinedMetricError(InputError):
    """The input is well formed, but the metric does not exist for it."""


class MissingExtraError(ClosecallError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str = "") -> None:
        target = f"'closecall[{extra}]'" if extra else package
        super().__init__(
            f"This needs {package}, which is not installed.\n\nHint: run `pip install {target}`."
        )


class EngineError(ClosecallError):
    """The workers of a batch are gone, or cannot be reached; what was finished is kept."""


def expected(rule: str, got: str, hint: str = "") -> str:
    """Build the one wording of every message: the rule, what came instead, and the remedy.

    >>> print(expected("`end` to lie after the last time 7", "3", "Pass the time that follows it."))
    Expected `end` to lie after the last time 7, got 3.
    <BLANKLINE>
    Hint: Pass the time that follows it.
    """
    message = f"Expected {rule}, got {got}."
    return f"{message}\n\nHint: {hint}" if hint else message


def shown(value: Any) -> str:
    """Write a value for a message, however long it is and whatever it does.

    >>> shown("half"), shown(10**5000)
    ("'half'", 'a number of more than 30 digits')
    """
    if isinstance(value, int) and abs(value) >= _WRITABLE:
        return "a number of more than 30 digits"
    try:
        return f"{value!r:.80}".replace("\n", " ")
    except Exception:  # noqa: BLE001 - it holds an int of thousands of digits, or cannot show itself
        return f"a {type(value).__name__}"


def first_line(error: BaseException) -> str:
    r"""Return the first line of another package's message, to be quoted in one of ours.

    >>> first_line(OSError("Corrupt snappy data.\nIn file x.cc, line 9"))
    'Corrupt snappy data.'
    """
    return str(error).strip().partition("\n")[0]


@contextmanager
def renamed(names: Mapping[str, str]) -> Iterator[None]:
    """Call arguments in messages what the caller calls them, who passed them through another.

    >>> with renamed({"truth": "labels"}):
    ...     raise InputError("Expected `truth` to be 0 or 1, got 2 at index 0.")
    Traceback (most recent call last):
    closecall.errors.InputError: Expected `labels` to be 0 or 1, got 2 at index 0.
    """
    try:
        yield
    except (InputError, InputTypeError) as error:
        message = str(error)
        for ours, theirs in names.items():
            message = f"`{theirs}".join(re.split(rf"`{re.escape(ours)}(?=[`=])", message))
        error.args = (message,)
        raise

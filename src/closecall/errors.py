"""What closecall raises when an input breaks a rule.

An error has fields: the argument, the rule that it breaks, what came instead, the index, a hint
and, where a program has to decide by it, a code. `worded` is the one wording made from them. The
classes also derive from the built-in ones, so ``except ValueError`` works as everywhere else; the
command line catches `ClosecallError` and nothing more, so a bug still shows its traceback.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

OUT_OF_ORDER = ("repeated_times", "unsorted_times")
"""Codes of errors about times that are not strictly increasing."""
_WRITABLE = 10**30


class ClosecallError(Exception):
    """Anything a caller can fix: bad values, bad types, a missing extra.

    The message reads "Expected `argument` rule, got got at index." An error without `got` has a
    sentence of its own as its `rule`. In texts, code is in backticks, and arguments are code.
    """

    exit_status: int | None = None
    """What the command line exits with, where that is not as usual."""
    status: str = ""
    """What the row of a series says that cannot be read: a `closecall.tables.series.Status`."""

    def __init__(
        self,
        rule: str,
        got: str = "",
        *,
        argument: str = "",
        index: int | None = None,
        hint: str = "",
        code: str = "",
        **details: Any,
    ) -> None:
        super().__init__(rule, got)  # with which, and the fields, an error is pickled
        self.rule, self.got = rule, got
        self.argument, self.index, self.hint, self.code = argument, index, hint, code
        self.details = details
        """Values for hints that another caller words, such as the command line."""
        self.names: dict[str, str] = {}
        """What a caller calls arguments that it passed on under another name."""

    def __str__(self) -> str:
        return worded(self)


class InputError(ClosecallError, ValueError):
    """A value breaks a rule."""


class InputTypeError(ClosecallError, TypeError):
    """An argument is of a kind that cannot be used there."""


class UnevenTimesError(InputError):
    """Nothing says where the last sample stops.

    ``details`` has the `end` that the median step would give, and its text as ``end_text``.
    """


class UndefinedMetricError(InputError):
    """The input is well formed, but the metric does not exist for it."""


class MissingExtraError(ClosecallError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str = "") -> None:
        target = f"'closecall[{extra}]'" if extra else package
        needed = f"This needs {package}, which is not installed."
        super().__init__(needed, hint=f"Run `pip install {target}`.")
        self.args = (package, extra)


class EngineError(ClosecallError):
    """The workers of a batch are gone, or cannot be reached; what was finished is kept."""


def worded(
    error: ClosecallError,
    called: Callable[[str], str] = str,
    hints: Mapping[str, str] | None = None,
) -> str:
    """Return the message of an error: the rule, what came instead, and the remedy.

    `called` says what code in backticks is called where the message is read, and `hints` has the
    remedies there, by code.

    >>> error = InputError("to lie after 7", "3", argument="end", hint="Pass a later `end`.")
    >>> print(worded(error, called=lambda name: f"--{name}"))
    Expected `--end` to lie after 7, got 3.
    <BLANKLINE>
    Hint: Pass a later `--end`.
    """
    hint = (hints or {}).get(error.code, "").format(**error.details) or error.hint
    sentence = reason(error, called)
    return f"{sentence}\n\nHint: {_called(hint, error, called)}" if hint else sentence


def reason(error: ClosecallError, called: Callable[[str], str] = str) -> str:
    """Return what is wrong in one sentence, without the hint."""
    if not error.got:
        return _called(error.rule, error, called)
    subject = f"`{error.argument}` " if error.argument else ""
    place = "" if error.index is None else f" at index {error.index}"
    return _called(f"Expected {subject}{error.rule}, got {error.got}{place}.", error, called)


def _called(text: str, error: ClosecallError, called: Callable[[str], str]) -> str:
    """Write the code in a text as the reader knows it."""
    parts = text.split("`")
    for place in range(1, len(parts), 2):
        name, equals, value = parts[place].partition("=")
        parts[place] = called(f"{error.names.get(name, name)}{equals}{value}")
    return "`".join(parts)


@contextmanager
def with_names(names: Mapping[str, str]) -> Iterator[None]:
    """Tell errors what the caller calls arguments that are passed on under another name.

    >>> with with_names({"truth": "labels"}):
    ...     raise InputError("to be 0 or 1", "2", argument="truth", index=0)
    Traceback (most recent call last):
    closecall.errors.InputError: Expected `labels` to be 0 or 1, got 2 at index 0.
    """
    try:
        yield
    except ClosecallError as error:
        inner = {ours: names.get(theirs, theirs) for ours, theirs in error.names.items()}
        error.names = {**names, **inner}
        raise


def first_line(error: BaseException) -> str:
    r"""Return the first line of another package's message, to be quoted in one of ours.

    >>> first_line(OSError("Corrupt snappy data.\nIn file x.cc, line 9"))
    'Corrupt snappy data.'
    """
    return str(error).strip().partition("\n")[0]


def one_line(error: BaseException) -> str:
    """Return what is wrong in one line, with the kind of an error that closecall did not word.

    >>> one_line(InputError("a", "b", hint="c.")), one_line(KeyError("x")), one_line(MemoryError())
    ('Expected a, got b.', "KeyError: 'x'", 'MemoryError')
    """
    if isinstance(error, ClosecallError):
        return reason(error)
    line = first_line(error)
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


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

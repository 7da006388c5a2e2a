"""Errors in the words of the package that a caller comes from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from closecall.errors import InputError, InputTypeError, UndefinedMetricError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def their_names(names: Mapping[str, str]) -> Iterator[None]:
    """Call arguments in messages what the caller calls them.

    Examples
    --------
    >>> with their_names({"truth": "labels"}):
    ...     raise InputError("Expected `truth` labels to be 0 or 1, got 2 at index 0.")
    Traceback (most recent call last):
    closecall.errors.InputError: Expected `labels` labels to be 0 or 1, got 2 at index 0.
    """
    try:
        yield
    except (InputError, InputTypeError) as error:
        text = str(error)
        for ours, theirs in names.items():
            text = text.replace(f"`{ours}`", f"`{theirs}`")
        kinds = (UndefinedMetricError, InputError, InputTypeError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(text) from error.__cause__

"""Errors that name an argument as the caller knows it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from closecall.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def renamed(inner: str, outer: str) -> Iterator[None]:
    """Let what is said of one argument be said of another, through which it was passed.

    Examples
    --------
    >>> from closecall.labels import read_labels
    >>> with renamed("predicted", "detectors['late']"):
    ...     read_labels([0, 2], "predicted")
    Traceback (most recent call last):
    closecall.errors.InputError: Expected `detectors['late']` labels to be 0 or 1, got 2 at...
    """
    try:
        yield
    except (InputError, InputTypeError) as error:
        message = str(error).replace(f"`{inner}`", f"`{outer}`")
        raise type(error)(message) from None

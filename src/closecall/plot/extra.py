"""Drawing needs matplotlib, which is an extra."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from closecall.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def needing_matplotlib() -> Iterator[None]:
    """Name the extra to install where matplotlib is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise MissingExtraError("matplotlib", "plot") from error

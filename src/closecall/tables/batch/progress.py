"""A progress bar for people; nothing for programs."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from closecall.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Bar:
    """What moves a progress bar on, or says something beside it."""

    advance: Callable[[int], Any]
    """Called with how much more is done."""
    say: Callable[[str], Any]
    """Called with a line for people."""


@contextmanager
def progress_bar(total: int, what: str, *, show: bool | None = None) -> Iterator[Bar]:
    """Show how far a batch has come, on standard error; yield what moves it on.

    Parameters
    ----------
    total
        How much there is to do.
    what
        What is being done, shown before the bar.
    show
        True or False; by default only if standard error is a terminal and rich is installed.

    Examples
    --------
    >>> with progress_bar(100, "Evaluating", show=False) as bar:
    ...     bar.advance(100)
    """
    if show is None:
        show = sys.stderr.isatty() and find_spec("rich") is not None
    if not show:
        yield Bar(lambda _: None, lambda _: None)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("rich", "cli") from error
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} samples"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield Bar(lambda done: bar.advance(task, done), lambda text: bar.console.print(Text(text)))

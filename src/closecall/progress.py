"""How far long work has come, on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from closecall.errors import MissingExtraError
from closecall.wording import plain_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(
    what: str, total: int, counted: str, *, show: bool | Callable[[str], Any] | None = None
) -> Iterator[tuple[Callable[..., Any], Callable[[str], Any]]]:
    """Show a bar; yield a function that moves it, and one that prints a line above it.

    The first takes ``advance``, or ``completed`` and ``total``. By default a bar is shown only if
    standard error is a terminal and rich is installed; where it is not, `show` may be a function
    that is called with the lines.
    """
    say = show if callable(show) else lambda _: None
    if show is None or callable(show):
        show = sys.stderr.isatty() and find_spec("rich") is not None
    if not show:
        yield (lambda **_: None), say
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text
    except ImportError as error:
        raise MissingExtraError("rich", "cli") from error
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {counted}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield partial(bar.update, task), lambda text: console.print(Text(plain_name(text)))

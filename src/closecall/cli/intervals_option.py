"""How sure the numbers are: the options of `compare` and `batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_LEVEL, _RESAMPLES = 0.95, 2000


def intervals_options(text: str) -> Callable[[Any], Any]:
    """Add --intervals, which does what the text says, --level and --resamples."""

    def decorate(command: Any) -> Any:
        # The last one added comes first in the help.
        for option in (
            click.option(
                "--resamples",
                type=click.IntRange(100, 1_000_000),
                metavar="N",
                help=f"Resamples behind them, from 100 to 1,000,000; {_RESAMPLES} if not given.",
            ),
            click.option(
                "--level",
                type=float,
                metavar="P",
                help=f"Level of the intervals; {_LEVEL} if not given.",
            ),
            click.option("--intervals", "with_intervals", is_flag=True, help=text),
        ):
            command = option(command)
        return command

    return decorate


def chosen_intervals(
    level: float | None, resamples: int | None, *, asked: bool
) -> dict[str, Any] | None:
    """Give the level and the number of resamples, checked before anything is read, if asked for."""
    if asked:
        from closecall.statistics.intervals import read_level

        level = read_level(_LEVEL if level is None else level)
        return {"level": level, "n": _RESAMPLES if resamples is None else resamples}
    if level is not None or resamples is not None:
        message = "--level and --resamples are of --intervals, which is not given."
        raise click.UsageError(message)
    return None

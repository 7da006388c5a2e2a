"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from closecall.cli.formats import FORMATS
from closecall.cli.moment import moment

if TYPE_CHECKING:
    from collections.abc import Callable

truth_option = click.option(
    "--truth", metavar="COLUMN", help="0/1 column of TRUTH, or START,STOP columns."
)
output_option = click.option(
    "-o", "--output", metavar="FILE", help="Write there instead of standard output."
)
all_option = click.option(
    "--all", "show_all", is_flag=True, help="Show every event, however many there are."
)


def axis_options(span_help: str) -> Callable[[Any], Any]:
    """Add the options of the time axis: --time, --end and --span."""

    def decorate(command: Any) -> Any:
        # The last one added comes first in the help.
        for option in (
            click.option("--span", type=moment, nargs=2, metavar="START STOP", help=span_help),
            click.option(
                "--end",
                type=moment,
                metavar="TIME",
                help="Time after the last sample, where times are not evenly spaced.",
            ),
            click.option("--time", metavar="COLUMN", help="Column of times, in either file."),
        ):
            command = option(command)
        return command

    return decorate


def format_option(text: str) -> Callable[[Any], Any]:
    """Add --format, and say what each format holds."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help=text,
    )

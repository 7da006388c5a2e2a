"""`--significance`, an option that several commands share."""

from __future__ import annotations

import click


def number_of_shifts(text: str) -> int:
    """Read how many shifts to draw; the option may stand alone, so what follows it is checked."""
    if not text.isdecimal() or int(text) == 0:
        message = (
            f"{text!r} is no whole number above 0. "
            "Write --significance=1000, or put --significance last."
        )
        raise click.BadParameter(message)
    return int(text)


significance_option = click.option(
    "--significance",
    "shifts",
    is_flag=False,
    flag_value="1000",
    type=number_of_shifts,
    metavar="[N]",
    help="Test against N random shifts of the predictions (1000 if not given): p-values.",
)

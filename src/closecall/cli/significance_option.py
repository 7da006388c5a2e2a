"""`--significance`, an option that several commands share."""

from __future__ import annotations

import re

import click

_NAME = "--significance"
_MOST = 1_000_000  # as in `closecall.chance.shifts`, which takes longer to import
_NEGATIVE = re.compile(r"-\d")


class CommandWithShifts(click.Command):
    """A command that reads a negative number of shifts as such, to say what is wrong with it.

    To click, what starts with a dash is another option wherever a value may be left out.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a negative number before click takes it for an option."""
        options = args[: args.index("--")] if "--" in args else args
        for option, following in zip(options, [*options[1:], ""], strict=False):
            name, _, value = option.partition("=")
            text = value or following
            if name == _NAME and _NEGATIVE.match(text):
                raise click.BadParameter(_refusal(text), ctx, param_hint=f"'{_NAME}'")
        return super().parse_args(ctx, args)


def number_of_shifts(text: str) -> int:
    """Read how many shifts to draw; the option may stand alone, so what follows it is checked."""
    # Python refuses to read thousands of digits.
    count = int(text) if text.isdecimal() and len(text) <= len(f"{_MOST:,}") else 0
    if not 1 <= count <= _MOST:
        raise click.BadParameter(_refusal(text))
    return count


def _refusal(text: str) -> str:
    return (
        f"{text[:80]!r} is no whole number from 1 to {_MOST:,}. "
        "Write --significance=1000, or put --significance last."
    )


significance_option = click.option(
    _NAME,
    "shifts",
    is_flag=False,
    flag_value="1000",
    type=number_of_shifts,
    metavar="[N]",
    help="Test against N random shifts of the predictions (1000 if not given): p-values.",
)

"""How the command line fails: one line on standard error, and a hint; no traceback."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # what a shell gives a command that Ctrl-C stopped


def report(message: str) -> None:
    """Print the message on one line, and the hint it may carry on a second one."""
    what, _, hint = message.partition("\n\n")
    lines = [f"Error: {_one_line(what)}"]
    if hint:
        lines.append(_one_line(hint))
    print(*lines, sep="\n", file=sys.stderr)  # noqa: T201 - click may be what is missing


def _one_line(text: str) -> str:
    return " ".join(text.split())

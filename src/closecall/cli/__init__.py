"""The `closecall` command: argument parsing and printing; everything else is a library call."""

from __future__ import annotations

import sys

from closecall.errors import MissingExtraError

_COMMAND_LINE_PACKAGES = {"click", "rich"}


def main() -> None:
    """Run the command line, or say in one line how to install what it needs."""
    try:
        from closecall.cli.commands import closecall

        closecall()
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _COMMAND_LINE_PACKAGES:
            raise
        from closecall.cli.failure import report

        report(str(MissingExtraError(package, "cli")))
        sys.exit(1)

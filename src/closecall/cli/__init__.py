"""The `closecall` command: argument parsing and printing; everything else is a library call."""

from __future__ import annotations

import os
import sys

from closecall.errors import MissingExtraError

INTERRUPTED = 130  # the status that a shell gives a command that Ctrl-C stopped
_PACKAGES = {"click", "rich"}
# Without them numba asks a `.numba_config.yaml` beside the data where its cache, which is code, is.
_NUMBA_SETTINGS = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", "NUMBA_CHROME_TRACE")


def main() -> None:
    """Run the command line, or say in one line how to install what it needs."""
    for name in _NUMBA_SETTINGS:
        os.environ.setdefault(name, "")
    try:
        from closecall.cli.commands import closecall

        closecall()
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _PACKAGES:
            raise
        print_error(str(MissingExtraError(package, "cli")))
        sys.exit(1)


def print_error(message: str) -> None:
    """Print a message on one line of standard error, and the hint it may carry on a second."""
    what, _, hint = message.partition("\n\n")
    lines = [f"Error: {what}", hint] if hint else [f"Error: {what}"]
    for line in lines:
        print(" ".join(line.split()), file=sys.stderr)  # noqa: T201 - click may be what is missing

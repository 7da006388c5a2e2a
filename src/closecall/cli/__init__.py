"""The `closecall` command: argument parsing and printing; everything else is a library call."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from closecall.errors import MissingExtraError

INTERRUPTED = 130  # the status that a shell gives a command that Ctrl-C stopped
_PACKAGES = {"click", "rich"}
# Without them numba asks a `.numba_config.yaml` beside the data where its cache, which is code, is.
_NUMBA_SETTINGS = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", "NUMBA_CHROME_TRACE")
_LONGEST = 2000  # letters of a message


class RefusedError(Exception):
    """A command stops, on bad input or a signal: the message in its own terms, and the status."""


class Stopped(KeyboardInterrupt):
    """A signal that ends the program as Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def main() -> None:
    """Run the command line, or say in one line how to install what it needs."""
    for name in _NUMBA_SETTINGS:
        os.environ.setdefault(name, "")
    _prepare_streams()
    _stop_on_signals()
    try:
        from closecall.cli.commands import closecall

        closecall()
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _PACKAGES:
            raise
        print_error(str(MissingExtraError(package, "cli")))
        sys.exit(1)
    except KeyboardInterrupt as error:  # while it is loaded, or while it ends
        print_error("Interrupted.")
        sys.exit(getattr(error, "status", INTERRUPTED))
    finally:
        _flush_streams()


def print_error(message: str) -> None:
    """Print a message on one line of standard error, and the hint it may carry on a second."""
    from closecall.wording import plain_name

    what, _, hint = message.partition("\n\n")
    lines = [f"Error: {what}", hint] if hint else [f"Error: {what}"]
    with suppress(OSError):  # nobody listens
        for line in lines:
            text = plain_name(" ".join(line.split()), _LONGEST)
            print(text, file=sys.stderr)  # noqa: T201 - click may be what is missing


def _prepare_streams() -> None:
    """Replace streams that are closed, and escape what they cannot write."""
    refused = os.O_RDONLY  # a result that cannot be written is an error, unlike a complaint
    kinds = (("stdin", "r", os.O_RDONLY), ("stdout", "w", refused), ("stderr", "w", os.O_WRONLY))
    for name, mode, access in kinds:
        stream = getattr(sys, name)
        if stream is None:  # the lowest file number is free, so that this takes the stream's own
            descriptor = os.open(os.devnull, access)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
        elif mode == "w":
            stream.reconfigure(errors="backslashreplace")


def _flush_streams() -> None:
    """Write what is left; the interpreter would tell at length that nobody reads it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _stop_on_signals() -> None:
    """Let SIGTERM and SIGHUP end the program in order; what is ignored (`nohup`) stays so."""
    import signal

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

    def stop(number: int, _: object) -> None:
        for each in numbers:  # one is enough: a second must not disturb the end
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    for number in numbers:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)

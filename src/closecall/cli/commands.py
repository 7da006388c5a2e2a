"""The command group: it loads a command when that is called, and turns errors into messages."""

from __future__ import annotations

import errno
import sys
from importlib import import_module
from typing import Any

import click

from closecall import __version__
from closecall.cli import INTERRUPTED, RefusedError, print_error
from closecall.errors import InputError, first_line, reason

_AROUND = 30  # letters shown on both sides of one that is at fault
_HELP = """\
Say how well a time series anomaly detector did: per event, and in units of time.

\b
Examples:
  closecall demo
  closecall score results.csv --truth label --predicted alarm --time timestamp
  closecall score truth.csv.gz predicted.csv.gz --format json
  closecall curve results.csv --truth label --score score --time timestamp
  closecall batch all.parquet --by series --truth label --score a --score b --output rows.parquet
"""

COMMANDS = {
    "audit": "Find out which metrics can be trusted on a series.",
    "batch": "Evaluate detectors on many series.",
    "check": "Pass or fail by limits and an earlier run.",
    "compare": "Compare detectors event by event.",
    "curve": "Score every threshold, and choose the best.",
    "demo": "Score two detectors on generated data.",
    "metrics": "List every metric and what it handles.",
    "report": "Write an interactive page to explore.",
    "schema": "Print the JSON Schema of a command's JSON.",
    "score": "Score predicted anomalies against the true ones.",
    "stream": "Score samples as they come.",
}
"""Each is the function of that name in the module of that name; said here, so that the list of
commands loads none of them."""


class Commands(click.Group):
    """A group that reports what a user can mend in one line; a bug still shows its traceback."""

    bad_input = 1
    """The status on bad input; that of `check` is another, since 1 says that a limit is broken."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"closecall.cli.{cmd_name}"), cmd_name)
        self.bad_input = 2 if cmd_name == "check" else 1
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what stops it is told in its words, if it has any."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            status = getattr(error, "status", INTERRUPTED)
            # click would print a blank line
            raise RefusedError(str(error) or "Interrupted.", status) from None

    def main(self, *args: Any, **options: Any) -> Any:
        """Run, print, and exit.

        The status is 0 if all went well, 1 on bad input, 2 on bad usage, and that of a shell after
        a signal: 130 on Ctrl-C, 143 on SIGTERM, 129 on SIGHUP.
        """
        options["standalone_mode"] = False
        code: Any = 1
        try:
            code = super().main(*args, **options)
            sys.stdout.flush()
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            hint = f"\n\nHint: Try `{context.command_path} --help`." if context else ""
            print_error(f"{error.format_message()}{hint}")
            code = error.exit_code
        except RefusedError as error:
            message, status = error.args
            print_error(message)
            code = status or self.bad_input
        except UnicodeEncodeError as error:  # half a character: bytes of a name, or of an option
            around = error.object[max(error.start - _AROUND, 0) : error.end + _AROUND]
            print_error(reason(InputError("names and texts in UTF-8", repr(around))))
            code = self.bad_input
        except BrokenPipeError:  # as in `closecall ... | head`
            code = 1
        except MemoryError as error:
            hint = "Free some, raise the limit, or evaluate the data as a batch, part by part."
            print_error(f"Out of memory: {first_line(error) or 'none is left'}.\n\nHint: {hint}")
            code = self.bad_input
        except OSError as error:
            closed = error.errno == errno.EBADF and not error.filename
            what = "Standard output is closed" if closed else error.strerror or str(error)
            print_error(f"{what}: {error.filename}" if error.filename else what)
            code = self.bad_input
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=Commands,
    help=_HELP,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, message="closecall %(version)s")
@click.pass_context
def closecall(context: click.Context) -> None:
    """Show the help if no command is given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())

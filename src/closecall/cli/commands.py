"""The command group, and the one place where errors become messages."""

from __future__ import annotations

import sys
from typing import Any

import click

from closecall import __version__
from closecall.cli.audit import audit
from closecall.cli.batch import batch
from closecall.cli.compare import compare
from closecall.cli.curve import curve
from closecall.cli.demo import demo
from closecall.cli.failure import INTERRUPTED, report
from closecall.cli.metrics import metrics
from closecall.cli.paper import paper
from closecall.cli.report import report as report_command
from closecall.cli.score import score
from closecall.errors import ClosecallError

_HELP = """\
Say how well a time series anomaly detector did: per event, and in units of time.

\b
Examples:
  closecall demo
  closecall score results.csv --truth label --predicted alarm --time timestamp
  closecall score truth.csv.gz predicted.csv.gz --format json
  closecall curve results.csv --truth label --score score --time timestamp
  closecall batch all.parquet --by series --truth label --score a --score b --out rows.parquet
"""


class PlainErrors(click.Group):
    """A group that reports what a user can mend in one line; a bug still shows its traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run, print, and exit.

        The status is 0 if all went well, 1 on bad input, 2 on bad usage, and 130 on Ctrl-C.
        """
        options["standalone_mode"] = False
        code: Any = 1
        try:
            code = super().main(*args, **options)
        except click.ClickException as error:
            report(_usage_message(error))
            code = error.exit_code
        except click.Abort:
            report("Interrupted.")
            code = INTERRUPTED
        except ClosecallError as error:
            from closecall.cli.spoken import spoken

            report(spoken(str(error)))
        except OSError as error:
            report(_file_message(error))
        sys.exit(code if isinstance(code, int) else 0)


def _usage_message(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message()
    return f"{error.format_message()}\n\nHint: Try `{context.command_path} --help`."


def _file_message(error: OSError) -> str:
    return f"{error.strerror or error}: {error.filename}" if error.filename else str(error)


@click.group(
    cls=PlainErrors,
    help=_HELP,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="closecall %(version)s")
@click.pass_context
def closecall(context: click.Context) -> None:
    """Show the help if no command is given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


closecall.add_command(curve)
closecall.add_command(audit)
closecall.add_command(batch)
closecall.add_command(compare)
closecall.add_command(demo)
closecall.add_command(metrics)
closecall.add_command(paper)
closecall.add_command(report_command)
closecall.add_command(score)

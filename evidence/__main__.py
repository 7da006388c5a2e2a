"""``python -m evidence`` lists the studies; ``python -m evidence NAME`` runs one.

A study is a module of this package with a click command called `study`.
"""

from __future__ import annotations

from importlib import import_module

import click

from closecall.errors import ClosecallError

STUDIES = ("paper", "chance", "intervals")


class Studies(click.Group):
    """A group that imports a study when it is named, and reports bad input without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all studies."""
        return list(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a study."""
        if cmd_name not in STUDIES:
            return None
        command: click.Command = import_module(f"evidence.{cmd_name}").study
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a study."""
        try:
            return super().invoke(ctx)
        except ClosecallError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Studies, context_settings={"help_option_names": ["-h", "--help"]})
def studies() -> None:
    """Run a study made with closecall."""


if __name__ == "__main__":
    studies(prog_name="python -m evidence")

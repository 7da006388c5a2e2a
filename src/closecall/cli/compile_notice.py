"""Say why the first run ever takes some seconds longer."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTICE = "Compiling closecall's kernels; this takes some seconds and happens once."


@contextmanager
def compile_notice() -> Iterator[None]:
    """Print a line on standard error if, and when, numba compiles anything."""
    from numba.core import event

    class Notice(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba's signature
            if not self.told:
                self.told = True
                click.echo(_NOTICE, err=True)

        def on_end(self, event: Any) -> None:
            """Stay silent."""

    with event.install_listener("numba:compile", Notice()):
        yield

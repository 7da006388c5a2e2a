"""Results as a table, as JSON or as CSV, on standard output or in a file; progress and notices."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, TextIO

import click

from closecall.files import whole_file
from closecall.plain import schema_name
from closecall.progress import progress_bar
from closecall.wording import no_formula, plain_lines, plain_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from closecall.signature import Signature

FORMATS = ("table", "json", "csv")
_NARROWEST, _USUAL, _WIDEST = 20, 80, 1000  # columns, whatever COLUMNS says; 0 says nothing
_COMPILING = "Compiling closecall's kernels; this takes some seconds and happens once."


@dataclass(frozen=True)
class Output:
    """Where a result goes, and as what."""

    format: str
    path: str | None = None
    """The file; None is standard output."""
    most: int | None = None
    """How many events a table shows; None shows all."""
    command: str = ""
    """Which command writes; JSON names its schema."""

    def write(
        self,
        *,
        table: Callable[[Console], None],
        values: Callable[[], dict[str, Any]],
        rows: Callable[[], Sequence[Mapping[str, Any]]],
        latex: Callable[[str], str] | None = None,
        signature: Signature | None = None,
    ) -> None:
        """Write the result and its signature in the format asked for; call only what it needs."""
        signed = {} if signature is None else {"signature": str(signature)}
        if self.format == "json":
            named = {"schema": schema_name(self.command)} | values() | signed
            self.text(json.dumps(named, indent=2, allow_nan=False) + "\n")
        elif self.format == "csv":
            lines = [{**row, **signed} for row in rows()]
            self.text(csv_text(lines, lines[0]))
        elif self.format == "latex" and latex is not None:
            self.text(latex("" if signature is None else signature.note))
        else:
            with self.console() as console:
                table(console)
                if signature is not None:
                    print_signature(signature, console)

    def text(self, text: str) -> None:
        """Write a text."""
        if self.path is None:
            # Names are data: a terminal obeys nothing in them, and all else gets them whole.
            shown = plain_lines(text) if sys.stdout.isatty() else text
            click.echo(shown, nl=False, color=True)
        else:
            with whole_file(self.path) as new:
                new.write_text(text, encoding="utf-8")

    @contextmanager
    def console(self) -> Iterator[Console]:
        """Return a console that colours only what goes to a terminal."""
        if self.path is None:
            yield _console(sys.stdout)
            return
        with (
            whole_file(self.path) as new,
            new.open("w", encoding="utf-8", errors="backslashreplace") as file,
        ):
            yield _console(file)


def print_signature(signature: Signature, console: Console) -> None:
    """Print the short form on one line, so that it can be copied."""
    console.print(f"signature: {signature.short}", style="dim", markup=False, soft_wrap=True)


def _console(file: TextIO) -> Console:
    """Make a console that obeys nothing in what it prints: names may hold control characters."""
    from rich.console import Console
    from rich.segment import Segment

    class PlainConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else plain_lines(text), style, control)

    console = PlainConsole(file=file, highlight=False)
    console.width = min(max(console.width or _USUAL, _NARROWEST), _WIDEST)
    return console


def tell(text: str) -> None:
    """Print a line on standard error, whatever names it holds."""
    click.echo(plain_name(text), err=True)


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> str:
    """Write rows as CSV, with a header; no cell is nan, or a formula to a program for tables."""
    text, names = io.StringIO(), list(columns)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(no_formula, names))
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return no_formula(value)
    return None if isinstance(value, float) and isnan(value) else value


@contextmanager
def show_progress() -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error while it takes long; nothing where that is no terminal."""
    with progress_bar("Scoring", 0, "predictions") as (move, _):
        yield lambda done, total: move(completed=done, total=total)


def tested(*sides: Any, **options: Any) -> Any:
    """Test against chance, with a bar while it takes long."""
    from closecall.chance import significance

    with show_progress() as progress:
        return significance(*sides, **options, progress=progress)


@contextmanager
def compile_notice() -> Iterator[None]:
    """Print a line on standard error if, and when, numba compiles anything."""
    from closecall import compiled

    told = False

    def tell() -> None:
        nonlocal told
        if not told:
            click.echo(_COMPILING, err=True)
        told = True

    before, compiled.on_compilation = compiled.on_compilation, tell
    try:
        yield
    finally:
        compiled.on_compilation = before

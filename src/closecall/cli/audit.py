"""`closecall audit`: which metrics can be trusted on a series, from a file."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from closecall.cli.compile_notice import compile_notice
from closecall.cli.options import axis_options, format_option, output_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(rf"(\d+(?:\.\d*)?)({'|'.join(_UNITS)})")
_HELP = """\
Find out which metrics can be trusted on a series: who is fooled, and by what.

FILE is a CSV or Parquet file, plain or gzipped, with a 0/1 column of true anomalies and one
of predictions for each detector; `-` is standard input. Every metric scores the detectors and
predictions that carry no information: the paper's adversary (alternating), the adversary of
composite F1, everything positive, random points and random ranges. A metric is beaten where one
of these does at least as well as the best detector. The design targets of the paper are measured
beside it, on a small series of its own.

\b
Examples:
  closecall audit results.csv --truth label --predicted mine --predicted theirs
  closecall audit results.csv --truth label --predicted mine --metric affiliation
  closecall audit results.csv --predicted mine --time timestamp --metric margin:margin=10min
  closecall audit results.csv --truth label --predicted mine --format csv
"""


def metric_choice(text: str) -> tuple[str, dict[str, Any]]:
    """Read a metric with its parameters, ``NAME`` or ``NAME:PARAMETER=VALUE,...``.

    Examples
    --------
    >>> metric_choice("time_aware:theta=0.5,delta=180")
    ('time_aware', {'theta': 0.5, 'delta': 180})
    >>> metric_choice("margin:margin=10min")
    ('margin', {'margin': datetime.timedelta(seconds=600)})
    """
    name, colon, rest = text.partition(":")
    parameters = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = part.partition("=")
        if not (key.strip() and equals and value.strip()):
            message = f"{part!r} in {text!r} is no PARAMETER=VALUE, such as theta=0.5."
            raise click.BadParameter(message)
        if key.strip() in parameters:
            raise click.BadParameter(f"{key.strip()} is given twice in {text!r}.")
        parameters[key.strip()] = _value(value.strip())
    return name.strip(), parameters


def each_once(metrics: tuple[tuple[str, dict[str, Any]], ...]) -> dict[str, dict[str, Any]] | None:
    """Give parameters by metric; None if no metric is named, an error if one is named twice."""
    chosen = dict(metrics)
    if len(chosen) < len(metrics):
        names = [name for name, _ in metrics]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"--metric {twice} is given twice; a metric has one set of parameters in a run."
        raise click.UsageError(message)
    return chosen or None


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    duration = _DURATION.fullmatch(text)
    return timedelta(seconds=float(duration[1]) * _UNITS[duration[2]]) if duration else text


@click.command(help=_HELP, short_help="Find out which metrics can be trusted on a series.")
@click.argument("file", metavar="FILE")
@click.option("--truth", metavar="COLUMN", help="0/1 column of true anomalies.")
@click.option(
    "--predicted",
    metavar="COLUMN",
    multiple=True,
    help="0/1 column of a detector; repeat it for each detector.",
)
@click.option("--trivial", metavar="COLUMN", help="0/1 column of an event that anybody can find.")
@axis_options("The whole series; by default that of the samples.")
@click.option(
    "--metric",
    "metrics",
    type=metric_choice,
    multiple=True,
    metavar="NAME[:P=V,...]",
    help="A metric and its parameters, each metric once; a length of time has a unit (ms, s, min, "
    "h, d). By default all that need no parameter.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of random predictions.")
@click.option(
    "--budget",
    type=int,
    default=120,
    show_default=True,
    metavar="N",
    help="How many uninformative predictions to try, about.",
)
@format_option("json holds everything; csv one row per metric and prediction.")
@output_option
def audit(
    file: str,
    *,
    metrics: tuple[tuple[str, dict[str, Any]], ...],
    output_format: str,
    output: str | None,
    seed: int,
    budget: int,
    **columns_and_times: Any,
) -> None:
    """Judge the metrics on a series from a file."""
    from closecall.adversary.audit import audit as run
    from closecall.cli.audit_formats import write_audit

    arguments = _read(file, **columns_and_times)
    with compile_notice(), show_progress() as progress:
        result = run(
            **arguments,
            metrics=each_once(metrics),
            seed=seed,
            budget=budget,
            progress=progress,
        )
    write_audit(result, output_format=output_format, output=output)


def _read(
    file: str,
    *,
    truth: str | None,
    predicted: tuple[str, ...],
    trivial: str | None,
    time: str | None,
    end: Any,
    span: Any,
) -> dict[str, Any]:
    """Take the columns out of the file, as the arguments of the library call."""
    from closecall.tables.files import read_table, shown_name
    from closecall.tables.sides import Source, read_times, read_values

    source = Source(shown_name(file), read_table(file))
    options: dict[str, Any] = {"time": time, "shared": True}
    return {
        "truth": read_values(source, "truth", truth, **options),
        "detectors": {
            name: read_values(source, "predicted", None if name == "predicted" else name, **options)
            for name in predicted or ("predicted",)
        },
        "trivial": None if trivial is None else source.column(trivial, "trivial"),
        "times": None if time is None else read_times([source], time),
        "end": end,
        "span": span,
    }


@contextmanager
def show_progress() -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on standard error while it takes long; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Scoring predictions", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)

"""Folders of known benchmarks, as `closecall batch` and `closecall report` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from closecall.cli.options import all_of
from closecall.datasets import read_nab, read_timeeval, read_tsb_ad

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

_LAYOUTS = ("nab", "tsb-ad", "timeeval")
_COLUMNS = ("series", "timestamp", "label")  # what is not a detector

layout_options = all_of(
    click.option(
        "--layout",
        type=click.Choice(_LAYOUTS),
        help="The data are a folder of that benchmark: --by, --truth and --score are known. Times "
        "are read with --time timestamp.",
    ),
    click.option(
        "--scores", "scores_folder", metavar="DIR", help="With --layout: the folder of scores."
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "nan", "drop"]),
        default="error",
        show_default=True,
        help="With --layout: for a series without scores, stop, report it, or leave it out.",
    ),
    click.option(
        "--outside",
        is_flag=True,
        help="With --layout timeeval: the index may name files outside the folder.",
    ),
)


def read_layout(
    layout: str,
    data: Sequence[str],
    scores: str | None,
    missing: Any,
    *,
    timed: bool,
    outside: bool,
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the one folder that DATA names, times only if asked; return its detectors as well."""
    message = ""
    if len(data) != 1:
        message = f"With --layout, DATA is one folder; there are {len(data)}."
    elif layout == "nab" and scores is not None:
        message = "With --layout nab there is no --scores: they are in DATA, in results/."
    elif layout != "nab" and scores is None:
        message = f"With --layout {layout}, --scores names the folder of the detectors' scores."
    if message:
        raise click.UsageError(message)
    if scores is None:
        table = read_nab(data[0], missing=missing)
    elif layout == "tsb-ad":
        table = read_tsb_ad(data[0], scores, missing=missing)
    else:
        table = read_timeeval(data[0], scores, missing=missing, timestamps=timed, outside=outside)
    return table, tuple(name for name in table.column_names if name not in _COLUMNS)

"""`--layout`: data in the files of another benchmark, whose columns are then known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

LAYOUTS = ("nab", "tsb-ad", "timeeval")
COLUMNS = ("series", "timestamp", "label")  # what is not a detector


def check_columns(layout: str | None, scores: str | None, named: Mapping[str, Any]) -> None:
    """Tell which options go together: a layout knows the columns, files do not.

    `named` are the options that name columns, with what was given.
    """
    if layout is not None:
        for option in ("by", "truth", "predicted"):
            if named[option]:
                message = (
                    f"--{option} does not go with --layout, whose series, labels and scores are "
                    "known; --score chooses among its detectors."
                )
                raise click.UsageError(message)
    if layout is None and named["truth"] is None:
        message = "Missing option '--truth'. It, or --layout, says where the labels are."
        raise click.UsageError(message)
    if layout is None and scores is not None:
        message = "--scores goes with --layout; columns of scores are --score."
        raise click.UsageError(message)


def read_layout(
    layout: str, data: tuple[str, ...], scores: str | None, missing: Any, *, timed: bool
) -> Any:
    """Read the one folder that DATA names, as the benchmark lays it out; times only if asked."""
    from closecall.datasets import read_nab, read_timeeval, read_tsb_ad

    if len(data) != 1:
        message = f"With --layout, DATA is one folder; there are {len(data)}."
        raise click.UsageError(message)
    if layout == "nab":
        if scores is not None:
            message = "With --layout nab there is no --scores: they are in DATA, in results/."
            raise click.UsageError(message)
        return read_nab(data[0], missing=missing)
    if scores is None:
        message = f"With --layout {layout}, --scores names the folder of the detectors' scores."
        raise click.UsageError(message)
    if layout == "tsb-ad":
        return read_tsb_ad(data[0], scores, missing=missing)
    return read_timeeval(data[0], scores, missing=missing, timestamps=timed)

"""Folders of known benchmarks, as `closecall batch` and `closecall report` take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from closecall.cli import options
from closecall.datasets import read_nab, read_timeeval, read_tsb_ad, read_ucr

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

_ARRAYS = {"tsb-ad": read_tsb_ad, "ucr": read_ucr}  # with a folder of arrays per detector
_COLUMNS = ("series", "timestamp", "label")  # what is not a detector


@dataclass(frozen=True)
class LayoutOptions:
    """A folder of a benchmark, and that of the detectors' scores."""

    name: str
    scores: str | None
    missing: Any
    outside: bool

    def read(
        self, data: Sequence[str], *, timed: bool, **known: Any
    ) -> tuple[pa.Table, tuple[str, ...]]:
        """Read the one folder that DATA names, times only if asked; return its detectors too.

        Raise if an option names what a layout knows.
        """
        message, named = "", [option for option, value in known.items() if value]
        if named:
            message = (
                f"--{named[0]} does not go with --layout, whose series, labels and scores are "
                "known; --score chooses among its detectors."
            )
        elif len(data) != 1:
            message = f"With --layout, DATA is one folder; there are {len(data)}."
        elif self.name == "nab" and self.scores is not None:
            message = "With --layout nab there is no --scores: they are in DATA, in results/."
        elif self.name != "nab" and self.scores is None:
            message = (
                f"With --layout {self.name}, --scores names the folder of the detectors' scores."
            )
        if message:
            raise click.UsageError(message)
        how: dict[str, Any] = {"missing": self.missing}
        if self.scores is None:
            table = read_nab(data[0], **how)
        elif self.name in _ARRAYS:
            table = _ARRAYS[self.name](data[0], self.scores, **how)
        else:
            how |= {"timestamps": timed, "outside": self.outside}
            table = read_timeeval(data[0], self.scores, **how)
        return table, tuple(name for name in table.column_names if name not in _COLUMNS)


def _layout(
    *, layout: str | None, scores_folder: str | None, missing: str, outside: bool
) -> LayoutOptions | None:
    if layout is not None:
        return LayoutOptions(layout, scores_folder, missing, outside)
    if scores_folder is not None:
        raise click.UsageError("--scores goes with --layout; columns of scores are --score.")
    return None


layout_options = options.as_one(
    "layout",
    _layout,
    ("layout", "scores_folder", "missing", "outside"),
    click.option(
        "--layout",
        type=click.Choice(("nab", *_ARRAYS, "timeeval")),
        help="The data are a folder of that benchmark: --by, --truth and --score are known. "
        "Times are read with --time timestamp.",
    ),
    options.option("--scores DIR", "With --layout: the folder of scores.", "scores_folder"),
    options.choice(
        "--missing",
        "With --layout: for a series without scores, stop, report it, or leave it out.",
        "error",
        "nan",
        "drop",
    ),
    options.option(
        "--outside", "With --layout timeeval: the index may name files outside the folder."
    ),
)

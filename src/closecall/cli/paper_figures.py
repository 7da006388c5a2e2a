"""`closecall paper --out`: the paper's figures as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from closecall.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from closecall.datasets import LabelledSeries
    from closecall.paper.figures import FigureFormat

FIGURE_FORMATS = ("png", "svg", "pdf")


def write_figures(folder: str, data_folder: str | None, figure_format: str) -> None:
    """Draw all figures, or those that need no data where it cannot be had, and name the files."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    # A window would need a display, and nobody to look at it.
    mpl.use("Agg")
    from closecall.paper.figures import FIGURES, draw_figures

    data, reason = _load(data_folder)
    kind = cast("FigureFormat", figure_format)
    for path in draw_figures(folder, data, figure_format=kind):
        click.echo(path)
    if data is None:
        names = ", ".join(figure.name for figure in FIGURES if figure.needs_data)
        click.echo(f"Left out: {names}, which need the paper's data. {reason}", err=True)


def _load(folder: str | None) -> tuple[Mapping[str, LabelledSeries] | None, str]:
    """Load the data, or say why it cannot be downloaded; a folder that is wrong is an error."""
    from closecall.datasets import DownloadError, load_kdd2022

    try:
        return load_kdd2022(folder), ""
    except (DownloadError, MissingExtraError) as error:
        return None, " ".join(str(error).split())

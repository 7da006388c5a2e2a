"""The axes that a figure of several panels is drawn on: new ones, or the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputTypeError, expected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_FONT, _LABEL_FONT = 8.5, 9.0


def read_panels(ax: Any, names: Sequence[str]) -> list[Axes]:
    """Give the caller's axes, one for each named panel."""
    from matplotlib.axes import Axes

    given = [ax] if isinstance(ax, Axes) else np.asarray(ax, dtype=object).ravel().tolist()
    if len(given) != len(names) or not all(isinstance(panel, Axes) for panel in given):
        kinds = sorted({type(panel).__name__ for panel in given})
        count = "one axes" if len(names) == 1 else f"{len(names)} axes"
        raise InputTypeError(
            expected(
                f"`ax` to be {count} ({', '.join(names)})",
                f"{len(given)} of type {' and '.join(kinds)}",
                f"Make them with `plt.subplots(ncols={len(names)})`.",
            )
        )
    return given


def new_panels(count: int, size: tuple[float, float], **options: Any) -> list[Axes]:
    """Make a figure with panels side by side."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        ncols=count, figsize=size, squeeze=False, layout="constrained", **options
    )
    figure.get_layout_engine().set(w_pad=0.06, wspace=0.04)
    return list(axes[0])


def as_given(panels: Sequence[Axes]) -> Any:
    """Return a single panel as itself, and several as an array."""
    if len(panels) == 1:
        return panels[0]
    return np.array(panels, dtype=object)


def tidy(axes: Axes, *hidden: str) -> None:
    """Leave out the frame's needless sides, and write in sizes that print well."""
    for side in ("top", "right", *hidden):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=_FONT)
    axes.xaxis.get_offset_text().set_fontsize(_FONT)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(_LABEL_FONT)

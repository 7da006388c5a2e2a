"""Where a short text keeps clear of what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_STEPS = 25
_CLEAR = 0.03  # of the axes, between the text and anything else
_WIDE, _HIGH = 0.56, 1.35  # of the font size, what a character and a line take
_POINTS_PER_INCH = 72


def text_size(axes: Axes, text: str, font_size: float) -> tuple[float, float]:
    """Return about what share of the axes' width and height a text takes."""
    lines = text.split("\n")
    size = axes.figure.dpi_scale_trans.inverted().transform_bbox(axes.bbox)
    width = _WIDE * font_size * max(map(len, lines)) / _POINTS_PER_INCH / size.width
    height = _HIGH * font_size * len(lines) / _POINTS_PER_INCH / size.height
    return min(width, 0.9), min(height, 0.9)


def free_corner(
    drawn: NDArray[np.float64], near: tuple[float, float], size: tuple[float, float]
) -> tuple[float, float]:
    """Return the lower left corner of a place in the unit square: clear first, then near."""
    width, height = size
    left, bottom = np.meshgrid(
        np.linspace(_CLEAR, 1 - _CLEAR - width, _STEPS),
        np.linspace(_CLEAR, 1 - _CLEAR - height, _STEPS),
    )
    spots = np.column_stack((left.ravel(), bottom.ravel()))
    centres = spots + np.array(size) / 2
    beside = np.abs(drawn[:, 0] - centres[:, :1]) > width / 2 + _CLEAR
    above = np.abs(drawn[:, 1] - centres[:, 1:]) > height / 2 + _CLEAR
    crossings = (~(beside | above)).sum(axis=1)
    best = int(np.lexsort((np.hypot(*(centres - near).T), crossings))[0])
    return float(spots[best, 0]), float(spots[best, 1])

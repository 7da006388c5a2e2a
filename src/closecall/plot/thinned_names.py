"""Names along an axis: all of them where there is room, else every second, fifth, tenth..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, Locator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_ROOM = 1.08  # of the font size, for each name
_STEPS = (1, 2, 5)
_POINTS_PER_INCH = 72


def write_names(
    axes: Axes,
    which: str,
    places: Sequence[float],
    names: Sequence[str],
    *,
    size: float,
    keep_last: bool = False,
) -> None:
    """Name places on the x or y axis; how many is decided anew at any size and zoom."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    known = {float(place): name for place, name in zip(places, names, strict=True)}
    axis.set_major_locator(ThinnedNames(places, size, keep_last=keep_last))
    axis.set_major_formatter(FuncFormatter(lambda place, _: known.get(float(place), "")))
    axes.tick_params(axis="x" if which == "x" else "y", labelsize=size, length=0)


class ThinnedNames(Locator):
    """Places of the names for which there is room.

    Parameters
    ----------
    places
        Where each name belongs, in order.
    size
        Size of the font in points, which is what a name takes across its line.
    keep_last
        Write the last name whatever happens to the others; it is not one of their row.
    """

    def __init__(self, places: Sequence[float], size: float, *, keep_last: bool) -> None:
        own = np.asarray(places, dtype=np.float64)
        self.places = own[:-1] if keep_last else own
        self.last = own[-1:] if keep_last else own[:0]
        self.size = size

    def __call__(self) -> Any:
        """Give the places to name now."""
        axis: Any = self.axis
        return self.tick_values(*axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Give the places to name where this much is seen."""
        room = self._room(abs(vmax - vmin))
        steps = (base * 10**power for power in range(9) for base in _STEPS)
        step = next((step for step in steps if step >= room), 1)
        # Counted from 1, every fifth name is 5, 10, 15...
        named = self.places[step - 1 :: step]
        if self.last.size:
            named = named[np.abs(named - self.last) >= room]
        return np.concatenate((named, self.last))

    def _room(self, seen: float) -> float:
        """Say how many places a name takes."""
        axis: Any = self.axis
        box = axis.axes.bbox
        pixels = box.width if axis.axis_name == "x" else box.height
        points = pixels * _POINTS_PER_INCH / axis.axes.figure.dpi
        return float(_ROOM * self.size * seen / points) if points else 1.0

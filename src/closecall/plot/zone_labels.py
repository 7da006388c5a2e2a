"""One short text per zone, written only where there is room for it, at any size and zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from numpy.typing import NDArray


class ZoneLabels(Artist):
    """Texts near their events, kept inside their zones; one artist, however many there are.

    Parameters
    ----------
    axes
        Where to write.
    borders
        Borders of the zones in data coordinates, one more than there are zones.
    anchors
        Where each text is centred if its zone lets it, in data coordinates.
    height
        Where the texts are centred vertically, in data coordinates.
    layouts
        Ways to write the texts, from the widest to the narrowest, each one text per zone.
    margin
        Points that a text keeps free within its zone.
    style
        Properties of the text, as matplotlib's.
    """

    def __init__(
        self,
        axes: Axes,
        borders: NDArray[np.float64],
        anchors: NDArray[np.float64],
        height: float,
        layouts: Sequence[Sequence[str]],
        *,
        margin: float = 3.5,
        **style: Any,
    ) -> None:
        super().__init__()
        self.borders, self.anchors, self.height, self.layouts = borders, anchors, height, layouts
        self.margin = margin
        self._text = Text(ha="center", va="center", linespacing=1.05, **style)
        self.set_in_layout(False)
        self.set_zorder(4)
        axes.add_artist(self)
        self._text.set_figure(axes.figure)
        self._text.set_transform(axes.transData)

    def placed(self, renderer: RendererBase) -> list[tuple[float, str]]:
        """Say which texts have room, and where: the widest layout that loses none of them."""
        shown: list[tuple[float, str]] = []
        for layout in reversed(self.layouts):
            now = self._placed(layout, renderer)
            if len(now) < len(shown):
                break
            shown = now
        return shown

    def left_out(self, renderer: RendererBase) -> tuple[int, int]:
        """Say how many texts of the zones in sight have no room, and how many such zones are."""
        low, high = sorted(self._host().get_xlim())
        seen = (self.borders[1:] > low) & (self.borders[:-1] < high)
        in_sight = int(np.count_nonzero(seen))
        return in_sight - len(self.placed(renderer)), in_sight

    def draw(self, renderer: RendererBase) -> None:
        """Write the texts that have room."""
        for position, text in self.placed(renderer) if self.get_visible() else ():
            self._text.set_text(text)
            self._text.set_position((position, self.height))
            self._text.draw(renderer)
        self.stale = False

    def _placed(self, layout: Sequence[str], renderer: RendererBase) -> list[tuple[float, str]]:
        low, high = sorted(self._host().get_xlim())
        borders = self._pixels(np.clip(self.borders, low, high))
        left, right = np.minimum(borders[:-1], borders[1:]), np.maximum(borders[:-1], borders[1:])
        half = self._widths(layout, renderer) / 2
        centres = np.clip(self._pixels(self.anchors), left + half, right - half)
        positions = (
            self._host()
            .transData.inverted()
            .transform(np.column_stack((centres, np.zeros(centres.size))))[:, 0]
        )
        return [
            (positions[i], layout[i]) for i in np.flatnonzero(right - left >= 2 * half).tolist()
        ]

    def _pixels(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        points = np.column_stack((positions, np.zeros(positions.size)))
        return self._host().transData.transform(points)[:, 0]

    def _widths(self, layout: Sequence[str], renderer: RendererBase) -> NDArray[np.float64]:
        margin: Any = renderer.points_to_pixels(self.margin)
        known: dict[str, float] = {}
        for text in set(layout):
            self._text.set_text(text)
            known[text] = self._text.get_window_extent(renderer).width + margin
        return np.array([known[text] for text in layout])

    def _host(self) -> Axes:
        axes: Axes = self.axes  # type: ignore[assignment]  # add_artist has set it
        return axes

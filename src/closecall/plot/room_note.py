"""How many texts have no room, in a line under the axis, at any size and zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.artist import Artist
from matplotlib.text import Text

from closecall.plot.palette import FAINT
from closecall.plot.plain_text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.transforms import Bbox

    from closecall.plot.zone_labels import ZoneLabels

_FONT, _GAP = 7.5, 3.0  # points
_LONGEST, _MOST = 20, 3  # letters of a name, and lanes that are named


class RoomNote(Artist):
    """Says of which lanes how many texts are not written; nothing where all are.

    Parameters
    ----------
    axes
        Under which to write.
    lanes
        The texts of each lane, by its name.
    """

    def __init__(self, axes: Axes, lanes: dict[str, ZoneLabels]) -> None:
        super().__init__()
        self.lanes = lanes
        self._text = Text(ha="left", va="top", fontsize=_FONT, color=FAINT)
        self.set_clip_on(False)
        axes.add_artist(self)
        self._text.set_figure(axes.figure)

    def told(self, renderer: RendererBase) -> str:
        """Say how many texts are left out now."""
        counts = {name: labels.left_out(renderer) for name, labels in self.lanes.items()}
        lost = {name: missing for name, (missing, _) in counts.items() if missing}
        if not lost:
            return ""
        shown = max(seen for _, seen in counts.values())
        start, events = "no room for the numbers of", "event" if shown == 1 else "events"
        if len(counts) == 1:
            return f"{start} {next(iter(lost.values()))} of {shown} {events}"
        if len(lost) > _MOST:
            return f"{start} up to {max(lost.values())} of {shown} {events} in {len(lost)} lanes"
        listed = [f"{missing} of {shown} ({_cut(name)})" for name, missing in lost.items()]
        return f"{start} {events}: {', '.join(listed)}"

    def draw(self, renderer: RendererBase) -> None:
        """Write the line, if there is anything to say."""
        if self.get_visible() and self._place(renderer):
            self._text.draw(renderer)
        self.stale = False

    def get_window_extent(self, renderer: RendererBase | None = None) -> Bbox:
        """Give the room that the line takes, for a layout to keep it free."""
        if renderer is None or not self._place(renderer):
            return self._host().bbox
        return self._text.get_window_extent(renderer)

    def get_tightbbox(self, renderer: RendererBase | None = None) -> Bbox:
        """Give the same room."""
        return self.get_window_extent(renderer)

    def _place(self, renderer: RendererBase) -> bool:
        text = self.told(renderer)
        if not text:
            return False
        axes = self._host()
        under = axes.xaxis.get_tightbbox(renderer)
        bottom = axes.bbox.y0 if under is None else under.y0
        self._text.set_text(text)
        self._text.set_position((axes.bbox.x0, bottom - renderer.points_to_pixels(_GAP)))
        return True

    def _host(self) -> Axes:
        axes: Axes = self.axes  # type: ignore[assignment]  # add_artist has set it
        return axes


def _cut(name: str) -> str:
    return plain(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}...")

"""Which part of the times is on target, and how far off the rest is, in words that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.plot.palette import INK
from closecall.plot.zone_labels import ZoneLabels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.backend_bases import RendererBase

    from closecall.plot.sides import ZonePanel
    from closecall.plot.stretches import Group

_STYLE: dict[str, Any] = {"margin": 5, "fontsize": 7.5, "color": INK}


def write_shares(panel: ZonePanel, groups: list[Group], height: float) -> None:
    """Write the share of each group under it if all have room, else one sum of them."""
    if len(groups) < 2 or all(group.on_target for group in groups):  # noqa: PLR2004 - the title says it
        return
    pieces = None
    # What is on target here and there is told as one share.
    if sum(group.on_target for group in groups) <= 1:
        pieces = _pieces(panel, groups, height)
    summary = _summary(panel, groups)
    if not summary:
        return
    low, high = groups[0].extent[0], groups[-1].extent[1]
    Instead(
        panel.axes,
        panel.positions(panel.shown),
        panel.positions([(low + high) / 2]),
        height,
        [[", ".join(summary)], [",\n".join(summary)]],
        pieces=pieces,
        **_STYLE,
    )


def percents(shares: Sequence[float]) -> list[str]:
    """Round shares of one whole so that they add up to 100%.

    Examples
    --------
    >>> percents([1 / 3, 1 / 3, 1 / 3]), percents([0.996, 0.004])
    (['34%', '33%', '33%'], ['>99%', '<1%'])
    """
    exact = 100 * np.asarray(shares, dtype=np.float64)
    whole = np.floor(exact + 1e-9)
    missing = round(exact.sum() - whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return [_percent(value, share) for value, share in zip(whole.tolist(), shares, strict=True)]


def _percent(rounded: float, share: float) -> str:
    if rounded == 0 and share > 0:
        return "<1%"
    return ">99%" if rounded == 100 and share < 1 else f"{rounded:.0f}%"  # noqa: PLR2004


def _pieces(panel: ZonePanel, groups: list[Group], height: float) -> ZoneLabels:
    starts, stops = np.array([group.extent for group in groups]).T
    words = [
        "on target" if group.on_target else panel.zone.words(group.distance) for group in groups
    ]
    parts = list(zip(percents([group.share for group in groups]), words, strict=True))
    return EveryPiece(
        panel.axes,
        panel.between(starts, stops),
        panel.positions((starts + stops) / 2),
        height,
        [[": ".join(part) for part in parts], ["\n".join(part) for part in parts]],
        **_STYLE,
    )


def _summary(panel: ZonePanel, groups: list[Group]) -> list[str]:
    """Sum up what is on target and what is not; nothing where the title has said it all."""
    on_target = sum(group.share for group in groups if group.on_target)
    off = [group for group in groups if not group.on_target and group.share]
    if not on_target or not off:
        return []
    weights = np.array([group.share for group in off])
    mean = np.average([group.distance for group in off], weights=weights)
    distance = float(f"{mean:.9g}")  # sums that should be halves are not rounded down
    hit, missed = percents([on_target, 1 - on_target])
    average = " on average" if len(off) > 1 else ""
    return [f"{hit} on target", f"{missed} off by {panel.zone.words(distance)}{average}"]


class EveryPiece(ZoneLabels):
    """Texts that are written only if all of them have room."""

    def placed(self, renderer: RendererBase) -> list[tuple[float, str]]:
        """Say where they are: the widest layout for which there is room, or nothing."""
        for layout in self.layouts:
            now = self._placed(layout, renderer)
            if len(now) == len(layout):
                return now
        return []


class Instead(ZoneLabels):
    """One text that is written where the pieces have no room."""

    def __init__(self, *arguments: Any, pieces: ZoneLabels | None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pieces = pieces

    def placed(self, renderer: RendererBase) -> list[tuple[float, str]]:
        """Say where it is, unless the pieces are written."""
        if self.pieces is not None and self.pieces.placed(renderer):
            return []
        return super().placed(renderer)

"""What a single point is worth at four places, by the share of the zone that the event fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from matplotlib import pyplot as plt

from closecall import theory
from closecall.plot.drawing import (
    DASHES,
    FAINT,
    INK,
    LABEL_FONT,
    PREDICTED,
    TRUTH,
    as_given,
    broken,
    read_panels,
    size_of,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (9.0, 3.1)  # inches
_PANELS = ("illustration", "precision", "recall")
_PLACES: tuple[theory.Position, ...] = get_args(theory.Position)
_LETTERS = "abcd"
_COLORS = (PREDICTED[3], PREDICTED[1], PREDICTED[0], PREDICTED[2])
_WORDS = {
    "border": "at the border of the zone",
    "halfway": "halfway to the event",
    "start": "at the event's start",
    "center": "in the event's centre",
}
_SHARE = "share p of the zone that the event fills"
_EXAMPLE = 0.2  # the share that is illustrated, as in the paper


def plot_single_prediction(*, ax: Any = None) -> Any:
    """Draw what one predicted point is worth at four places of the zone (section 4.4 of the paper).

    The event is centred in its zone and fills a share p of it. The first panel shows the four
    places for p = 1/5, with precision and recall of each; the others show both for every p, from
    `closecall.theory.single_prediction`.

    Parameters
    ----------
    ax
        Where to draw: three axes. A new figure if not given.

    Returns
    -------
    numpy.ndarray
        The three axes.

    Examples
    --------
    >>> from closecall.plot import plot_single_prediction
    >>> axes = plot_single_prediction()
    >>> [panel.get_title() for panel in axes]
    ['for p = 1/5: precision / recall', 'precision', 'recall']
    """
    if ax is None:
        figure = plt.figure(figsize=_SIZE, layout="constrained")
        grid = figure.add_gridspec(1, 3, width_ratios=(1.25, 1, 1))
        panels = [figure.add_subplot(grid[0, column]) for column in range(3)]
        panels[2].tick_params(labelleft=False)
    else:
        panels = read_panels(ax, _PANELS)
    _illustrate(panels[0])
    shares = np.linspace(0.001, 0.999, 500)
    for name, axes in zip(_PANELS[1:], panels[1:], strict=True):
        _draw_curves(axes, shares, name)
    return as_given(panels)


def _draw_curves(axes: Axes, shares: Any, name: str) -> None:
    for letter, place, color, dashes in zip(_LETTERS, _PLACES, _COLORS, DASHES, strict=True):
        values = getattr(theory.single_prediction(shares, position=place), name)
        axes.plot(shares, values, color=color, linestyle=dashes, linewidth=1.8, label=f"({letter})")
    axes.axvline(_EXAMPLE, color="0.75", linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    axes.set(xlim=(0, 1), ylim=(-0.03, 1.03))
    axes.set_xlabel(broken(_SHARE, 1.15 * size_of(axes)[0], LABEL_FONT))
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_title(name, fontsize=9.5, color=INK)
    tidy(axes)
    # The letters are written on the curves, where they are apart.
    spots: dict[str, tuple[float, float]] = (
        {"c, d": (0.55, 0.93), "b": (0.5, 0.31), "a": (0.55, 0.05)}
        if name == "precision"
        else {"a": (0.5, 0.17), "b": (0.34, 0.42), "c": (0.45, 0.5), "d": (0.5, 0.81)}
    )
    for letters, spot in spots.items():
        color = _COLORS[_LETTERS.index(letters[-1])]
        axes.text(*spot, letters, color=color, fontsize=9, ha="center", va="center", weight="bold")


def _illustrate(axes: Axes) -> None:
    """Draw the zone and its event in four rows, each with one point."""
    low, high = (1 - _EXAMPLE) / 2, (1 + _EXAMPLE) / 2
    points = {"border": 0.0, "halfway": low / 2, "start": low, "center": 0.5}
    dot: dict[str, Any] = {
        "markeredgecolor": "white",
        "markersize": 8,
        "clip_on": False,
        "zorder": 3,
    }
    for row, (letter, place, color) in enumerate(zip(_LETTERS, _PLACES, _COLORS, strict=True)):
        axes.hlines([-row], 0, 1, colors=FAINT, linewidths=0.8, zorder=1)
        axes.vlines([0, 1], -row - 0.16, -row + 0.16, colors=FAINT, linewidths=0.8, zorder=1)
        axes.bar([low], [0.16], [high - low], [-row - 0.08], align="edge", color=TRUTH, zorder=2)
        axes.plot([points[place]], [-row], "o", color=color, **dot)
        scores = theory.single_prediction(_EXAMPLE, position=place)
        text: dict[str, Any] = {"fontsize": 8.5, "va": "center", "color": INK}
        axes.text(-0.06, -row, letter, weight="bold", ha="right", **{**text, "color": color})
        axes.text(1.06, -row, f"{scores.precision:.2g} / {scores.recall:.2g}", **text)
        axes.text(0, -row + 0.33, _WORDS[place], **{**text, "fontsize": 7.5})
    axes.set(xlim=(-0.12, 1.42), ylim=(-3.3, 0.65))
    axes.set_axis_off()
    axes.set_title("for p = 1/5: precision / recall", fontsize=9.5, color=INK)

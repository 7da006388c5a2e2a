"""How far predictions are from one event, and the event from its predictions, as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.plot.extra import needing_matplotlib
from closecall.plot.one_zone import read_result, read_zone
from closecall.plot.panels import as_given
from closecall.plot.sides import Side, read_sides, side_panels

if TYPE_CHECKING:
    from closecall.affiliation import Affiliation
    from closecall.plot.one_zone import OneZone

_WIDTH, _HEIGHT = 4.8, 2.1  # inches


def plot_distances(
    truth: Any,
    predicted: Any = None,
    *,
    event: int = 0,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    side: Side = "both",
    ax: Any = None,
) -> Any:
    """Draw the distances that make one event's scores, as arrows in its zone of affiliation.

    On the left from the predictions to the event (for precision), on the right from the event to
    the predictions (for recall): each arrow starts at a time and ends at the nearest time of the
    other side, so its length is the distance; upright arrows are on target. Titles tell the mean
    distances, and texts which part is how far, where there is room. The whole zone is shown,
    unless all that matters is in a small part of it.

    Parameters
    ----------
    truth
        What `closecall.affiliation` returned, or the truth as it takes it.
    predicted, times, end, span
        As in `closecall.affiliation`, beside the truth.
    event
        Which event: its row in the result, from 0.
    side
        ``"precision"`` or ``"recall"`` to draw only that one.
    ax
        Where to draw: two axes, or one if only one side is drawn. A new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes that was drawn on, or the two as an array.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    The paper's first zone, in minutes: 0.3 minutes are 18 s, and 1.275 are 76.5 s.

    >>> import closecall as cc
    >>> from closecall.plot import plot_distances
    >>> alarms = cc.Events([(5, 6), (7, 10), (11, 12)])
    >>> axes = plot_distances(cc.Events([(0, 10)]), alarms, span=(0, 30))
    >>> [panel.get_title() for panel in axes]
    ['predictions to event: 0.3 on average', 'event to predictions: 1.275 on average']
    """
    result = read_result(truth, predicted, {"times": times, "end": end, "span": span})
    zone, sides = read_zone(result, event), read_sides(side)
    with needing_matplotlib():
        return _draw(result, zone, sides, ax)


def _draw(result: Affiliation, zone: OneZone, sides: tuple[str, ...], ax: Any) -> Any:
    from closecall.plot.arrows import draw_arrows

    panels = side_panels(sides, ax, _WIDTH, _HEIGHT)
    for axes, side in zip(panels, sides, strict=True):
        draw_arrows(axes, zone, result.events.pair, side)
    if ax is None and len(panels) > 1:
        panels[-1].tick_params(labelleft=False)
    return as_given(panels)

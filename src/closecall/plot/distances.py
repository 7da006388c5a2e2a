"""How far predictions are from one event, and the event from its predictions, as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.plot.sides import Side, draw_sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closecall.plot.one_zone import OneZone
    from closecall.series import Pair

_SIZE = (4.8, 2.1)  # inches, of one side


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
    distances. Texts tell which part is how far where each has room, else which part of the whole is
    on target and how far the rest is off; either way the shares add up. The whole zone is shown,
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
    return draw_sides(
        _draw,
        truth,
        predicted,
        {"times": times, "end": end, "span": span},
        event=event,
        side=side,
        ax=ax,
        size=_SIZE,
    )


def _draw(axes: Axes, zone: OneZone, pair: Pair, side: str) -> None:
    from closecall.plot.arrows import draw_arrows  # it needs matplotlib

    draw_arrows(axes, zone, pair, side)

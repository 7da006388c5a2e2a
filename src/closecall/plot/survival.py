"""What each time of one zone counts for precision and recall, and the areas that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.plot.sides import Side, draw_sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closecall.plot.one_zone import OneZone
    from closecall.series import Pair

_SIZE = (4.8, 2.7)  # inches, of one side


def plot_survival(
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
    """Draw both survival functions over one event's zone, and the areas that make its scores.

    The line is what a time at that place counts: the probability that a point drawn at random in
    the zone is at least as far away (equations 3 to 5 of the paper). On the left its mean over the
    predictions, the filled pieces, is the precision; on the right its mean over the event is the
    recall. The mean of each piece is written above it, where there is room. The whole zone is
    shown, unless the event is a small part of it.

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
    The second zone of the paper's example, in minutes after 3:00.

    >>> import closecall as cc
    >>> from closecall.plot import plot_survival
    >>> alarms = cc.Events([(40, 60), (115, 120)])
    >>> axes = plot_survival(cc.Events([(50, 70)]), alarms, span=(30, 120))
    >>> [panel.get_title() for panel in axes]
    ['precision 0.672: mean over the predictions', 'recall 0.944: mean over the event']
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
    from closecall.plot.areas import draw_areas  # it needs matplotlib

    draw_areas(axes, zone, pair, side)

"""The precision-recall curve over all thresholds, and what each threshold gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.affiliation import AffiliationCurve
from closecall.affiliation.thresholds import OperatingPoint
from closecall.errors import InputTypeError, expected
from closecall.plot.extra import needing_matplotlib
from closecall.tables.scoring import outline_with

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (10.0, 4.4)  # inches
_POINTS = 1000  # drawn; more cannot be told apart


def plot_curve(
    curve: AffiliationCurve,
    *,
    beta: float = 1,
    point: OperatingPoint | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw precision against recall over all thresholds, with one threshold marked.

    The lines are steps, as the average precision sums them: at a recall between two points, the
    precision is that of the lower threshold. Curves with very many thresholds are drawn through
    about a thousand of their exact points.

    Parameters
    ----------
    curve
        What `closecall.affiliation_curve` returns.
    beta
        Which F-beta to draw: lines of equal F-beta, and F-beta at each threshold.
    point
        What to mark, as `AffiliationCurve.best` returns it; the best F-beta if not given.
    ax
        Where to draw the precision-recall curve alone. If not given, a new figure shows it beside
        two more panels over the thresholds: precision, recall and F-beta, and number of alarms.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes that was drawn on; the three of a new figure as an array.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.plot import plot_curve
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> axes = plot_curve(c, point=c.best(min_recall=0.99))
    >>> [panel.get_ylabel() for panel in axes]
    ['precision', 'score', 'alarms']
    >>> axes[0].figure.savefig("curve.png")  # doctest: +SKIP
    """
    if not isinstance(curve, AffiliationCurve):
        raise InputTypeError(
            expected(
                "`curve` to be what `closecall.affiliation_curve` returns",
                type(curve).__name__,
                "For example `plot_curve(cc.affiliation_curve(truth, scores))`.",
            )
        )
    if point is not None and not isinstance(point, OperatingPoint):
        raise InputTypeError(
            expected(
                "`point` to be what `AffiliationCurve.best` returns",
                f"{type(point).__name__}",
                "For example `point=curve.best(min_precision=0.9)`.",
            )
        )
    marked = curve.best(beta) if point is None else point
    with needing_matplotlib():
        return _draw(curve, beta, marked, ax)


def _draw(curve: AffiliationCurve, beta: float, point: OperatingPoint, ax: Axes | None) -> Any:
    from closecall.plot import curve_panels

    outline = outline_with(curve, _POINTS, point)
    if ax is not None:
        curve_panels.draw_precision_recall(ax, curve, outline, beta, point)
        return ax
    import numpy as np
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=_SIZE, layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.25), height_ratios=(1.7, 1))
    left = figure.add_subplot(grid[:, 0])
    upper = figure.add_subplot(grid[0, 1])
    lower = figure.add_subplot(grid[1, 1], sharex=upper)
    curve_panels.draw_precision_recall(left, curve, outline, beta, point)
    curve_panels.draw_by_threshold((upper, lower), curve, outline, beta, point)
    return np.array([left, upper, lower])

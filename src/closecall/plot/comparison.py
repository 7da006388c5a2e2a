"""Detectors beside each other on every event, as dumbbells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from closecall.affiliation import Affiliation
from closecall.errors import InputError, InputTypeError, expected
from closecall.plot.extra import needing_matplotlib
from closecall.plot.panels import as_given, new_panels, read_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCORES = ("precision", "recall", "f1")
_PANEL, _NAMES, _FRAME, _ROW = 2.9, 1.4, 1.0, (0.19, 0.06)  # inches; for two, and each more
_TALLEST = 18.0


def plot_comparison(
    comparison: Any,
    *,
    scores: str | Sequence[str] = _SCORES,
    ax: Any = None,
) -> Any:
    """Draw the scores of several detectors on every event, one row per event, in order of time.

    Each detector is a marker, and a line joins them; with two detectors it has the colour of the
    better one. Events without any prediction, which have no precision and no F1, are in the column
    ``missed``. The last row is the whole series.

    Parameters
    ----------
    comparison
        A mapping from names to what `closecall.affiliation` returns, all for the same truth, or
        an object with such a mapping as its ``results``.
    scores
        Which panels to draw: some of ``"precision"``, ``"recall"`` and ``"f1"``, or one of them.
    ax
        Where to draw: as many axes as there are scores. A new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes or numpy.ndarray
        The axes that was drawn on, or all of them as an array.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.plot import plot_comparison
    >>> truth, axis = cc.Events([(10, 20), (60, 65)]), {"span": (0, 100)}
    >>> results = {
    ...     "forecast": cc.affiliation(truth, cc.Events([(12, 15), (80, 90)]), **axis),
    ...     "threshold": cc.affiliation(truth, cc.Events([(15, 22)]), **axis),
    ... }
    >>> ax = plot_comparison(results, scores="f1")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1', '2', 'all']
    """
    results, names = _read_results(comparison), _read_scores(scores)
    with needing_matplotlib():
        return _draw(results, names, ax)


def _read_results(comparison: Any) -> dict[str, Affiliation]:
    given = getattr(comparison, "results", comparison)
    if not isinstance(given, Mapping):
        raise InputTypeError(
            expected(
                "`comparison` to be a mapping from names to results",
                type(given).__name__,
                'For example `{"mine": cc.affiliation(truth, predicted)}`.',
            )
        )
    for name, result in given.items():
        if not isinstance(result, Affiliation):
            raise InputTypeError(
                expected(
                    f"`comparison[{name!r}]` to be what `closecall.affiliation` returns",
                    type(result).__name__,
                )
            )
    results = {str(name): result for name, result in given.items()}
    if not results:
        raise InputError(expected("`comparison` to hold at least one result", "none"))
    _require_one_truth(results)
    return results


def _require_one_truth(results: dict[str, Affiliation]) -> None:
    (first, one), *others = results.items()
    for name, result in others:
        pairs = one.events.pair, result.events.pair
        same = pairs[0].clock == pairs[1].clock and all(
            side[0].tolist() == side[1].tolist()
            for side in zip(*((pair.truth.starts, pair.truth.stops) for pair in pairs), strict=True)
        )
        if not same:
            raise InputError(
                expected(
                    "all results to be for the same true events",
                    f"others for {name!r} than for {first!r}",
                )
            )


def _read_scores(scores: Any) -> tuple[str, ...]:
    names = (scores,) if isinstance(scores, str) else tuple(scores)
    if not names or any(name not in _SCORES for name in names):
        raise InputError(
            expected('`scores` to be some of "precision", "recall" and "f1"', repr(scores))
        )
    return names


def _draw(results: dict[str, Affiliation], scores: tuple[str, ...], ax: Any) -> Any:
    from closecall.plot.dumbbells import draw_dumbbells, draw_legend, name_rows

    rows = len(next(iter(results.values())).events) + 1
    panels: list[Axes]
    if ax is None:
        size = (_NAMES + _PANEL * len(scores), min(_FRAME + _row(len(results)) * rows, _TALLEST))
        panels = new_panels(len(scores), size, sharey=True)
    else:
        panels = read_panels(ax, scores)
    for axes, score in zip(panels, scores, strict=True):
        draw_dumbbells(axes, results, score)
        name_rows(axes, next(iter(results.values())))
    if ax is None:
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)
    draw_legend(panels, results, own_figure=ax is None)
    return as_given(panels)


def _row(detectors: int) -> float:
    least, more = _ROW
    return least + more * max(detectors - 2, 0)

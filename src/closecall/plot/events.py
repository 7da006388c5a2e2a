"""True and predicted events against time, with the zones and scores of each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation import Affiliation, affiliation
from closecall.axis import read_axis
from closecall.columns import read_column
from closecall.errors import ClosecallError, InputError, InputTypeError, expected
from closecall.events import Events
from closecall.plot.extra import needing_matplotlib
from closecall.plot.palette import PREDICTED, TRUTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Pair

_LEGENDS = {
    "scores": "precision / recall",
    "distances": "mean distance of the predictions / of the event",
}
_WIDTH, _FRAME, _LANE = 10.0, 0.75, 0.55  # inches


def plot_events(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    values: Any = None,
    write: Literal["scores", "distances"] = "scores",
    ax: Axes | None = None,
) -> Axes:
    r"""Draw true and predicted events, one lane per detector, with the scores of each event.

    The truth is the top lane and casts a shadow on the others. Dashed lines are the borders of the
    zones of affiliation. Under the predictions of each zone its precision and recall are written
    (``0.80 / 1.00``, or one above the other where the zone is narrow), or ``missed``. Texts that
    have no room are left out and appear on zooming in; a line under the axis says how many they
    are. A lane's name carries the overall scores.

    Parameters
    ----------
    truth
        A 0/1 vector or `Events`, as in `closecall.affiliation`, with at least one event.
    predicted
        One prediction of the same kind as ``truth``, or a mapping from names to predictions.
    times, end, span
        As in `closecall.affiliation`. Datetimes are written along the axis in their time zone.
    values
        For vectors: the series itself, one number per sample, drawn above the lanes. Nan leaves
        a gap.
    write
        What is written for each event: precision and recall, or the mean distances in time that
        they come from (``18 s / 1 min 16.5 s``: of the predictions from the event, and of the
        event from the predictions).
    ax
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that was drawn on.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.plot import plot_events
    >>> truth = cc.Events([(10, 20), (60, 65)])
    >>> alarms = cc.Events([(12, 15), (80, 90)])
    >>> ax = plot_events(truth, {"forecast": alarms}, span=(0, 100))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['truth', 'forecast\n0.64 / 0.67']
    >>> ax.figure.savefig("events.png")  # doctest: +SKIP
    """
    if write not in _LEGENDS:
        raise InputError(expected('`write` to be "scores" or "distances"', repr(write)))
    results = _score(truth, predicted, {"times": times, "end": end, "span": span})
    series = None if values is None else _read_series(truth, values, times, end)
    with needing_matplotlib():
        return _draw(results, series, write, ax)


def _score(truth: Any, predicted: Any, axis: dict[str, Any]) -> dict[str, Affiliation]:
    if not isinstance(predicted, Mapping):
        return {"predicted": affiliation(truth, predicted, **axis)}
    if not predicted:
        raise InputError(
            expected("`predicted` to hold at least one prediction", "an empty mapping")
        )
    results = {}
    for name, prediction in predicted.items():
        try:
            results[str(name)] = affiliation(truth, prediction, **axis)
        except ClosecallError as error:
            error.add_note(f"This concerns `predicted[{name!r}]`.")
            raise
    return results


def _read_series(
    truth: Any, values: Any, times: Any, end: Any
) -> tuple[Ticks, NDArray[np.float64]]:
    if isinstance(truth, Events):
        raise InputTypeError(
            expected(
                "`values` only beside 0/1 vectors, which share their times",
                "`values` beside Events",
                "Turn the events into vectors with `.to_labels(times)`.",
            )
        )
    series = read_column(values, "values")[0]
    if series.dtype.kind not in "biuf":
        raise InputTypeError(expected("`values` to be numbers", f"values of type {series.dtype}"))
    length = len(read_column(truth, "truth")[0])
    if series.size != length:
        raise InputError(
            expected(
                f"`values` to have one number for each of the {length} labels", f"{series.size}"
            )
        )
    axis = read_axis(length, times, end, of="labels")
    return axis.borders(np.arange(length)), series.astype(np.float64)


def _draw(
    results: dict[str, Affiliation],
    series: tuple[Ticks, NDArray[np.float64]] | None,
    write: str,
    ax: Axes | None,
) -> Axes:
    from closecall.plot import lanes
    from closecall.plot.room_note import RoomNote
    from closecall.plot.ruler import ruler

    bottom, top = -len(results) - 0.02, 1.0 + (0.25 + lanes.SERIES_LANES if series else 0)
    axes = _new_axes(_FRAME + _LANE * (top - bottom)) if ax is None else ax
    events = next(iter(results.values())).events
    pair, scale = events.pair, ruler(events.pair)
    borders = scale.from_start(_from_start(events.borders, pair))
    axes.set_xlim(*scale.from_start(np.array([0, pair.stop - pair.start])))
    axes.set_ylim(bottom, top)
    scale.prepare(axes)
    true_bars = scale.positions(pair.truth.starts), scale.positions(pair.truth.stops)
    lanes.draw_shadows(axes, *true_bars, bottom, top)
    lanes.draw_zones(axes, borders, bottom, top)
    lanes.draw_bars(axes, *true_bars, 0, TRUTH)
    anchors = (true_bars[0] + true_bars[1]) / 2
    lanes.write_numbers(axes, borders, anchors)
    written = {}
    for lane, (name, result) in enumerate(results.items(), start=1):
        color = PREDICTED[(lane - 1) % len(PREDICTED)]
        own = result.events.pair.predicted
        bars = scale.positions(own.starts), scale.positions(own.stops)
        lanes.draw_bars(axes, *bars, lane, color)
        written[name] = lanes.write_events(
            axes, borders, anchors, lane, events=result.events, write=write
        )
    RoomNote(axes, written)
    lanes.name_lanes(axes, results)
    if series is not None:
        lanes.draw_series(axes, scale.positions(series[0]), series[1])
    _tidy(axes, _LEGENDS[write])
    return axes


def _from_start(half_ticks: Ticks, pair: Pair) -> NDArray[np.float64]:
    """Count borders from the span's start, where inexact numbers are counted from 0."""
    offsets: NDArray[np.float64] = half_ticks / 2
    return offsets - pair.start if pair.clock.kind == "number" else offsets


def _new_axes(height: float) -> Axes:
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def _tidy(axes: Axes, legend: str) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_title(
        f"per event: {legend}    dashed: zones of affiliation",
        loc="right",
        fontsize=7.5,
        color="0.35",
    )

"""True and predicted events against time, with the zones and scores of each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from closecall.affiliation import Affiliation, affiliation
from closecall.affiliation.event_scores import TOLD
from closecall.affiliation.zones import in_ticks
from closecall.axis import read_axis
from closecall.columns import read_column
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError
from closecall.events import Events, read_labels
from closecall.parameters import read_length, require_choice
from closecall.plot.drawing import (
    BORDER,
    FAINT,
    HATCHED,
    INK,
    NAMES,
    PREDICTED,
    TRUTH,
    TimeAxis,
    ZoneLabels,
    draw_bars,
    matplotlib_text,
    read_panels,
    shade_ignored,
    short_enough,
    size_of,
    text_width,
    ticks_text,
)
from closecall.wording import outcome_text, score_text, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from numpy.typing import NDArray

    from closecall.affiliation import EventScores
    from closecall.axis import IgnoredTime
    from closecall.clock import Clock, Ticks
    from closecall.plot.drawing import Floats

_LEGENDS = {
    "scores": "precision / recall",
    "distances": "mean distance of the predictions / of the event",
}
_WIDTH, _FRAME, _LANE = 10.0, 0.75, 0.55  # inches
_SERIES = "#5A5A5A"
_SERIES_LANES, _SERIES_BOTTOM = 2.4, 1.15  # height of the series and where it begins, in lanes
_TEXT_ROOM = 0.62  # of a lane, a little of it over bars
_TRUE_BAR, _PREDICTED_BAR = (0.12, 0.52), (0.54, 0.88)  # from a lane's bottom, which is one high
_LONG_SERIES = 20_000  # samples from which on a line is stored as pixels in vector files
_FONT, _SMALL_FONT, _NOTE_GAP = 8.5, 7.5, 3.0  # points
_LINES, _SMALLEST = 2.9, 5.0  # lines of a lane, of which a name takes two; points
_LONGEST, _MOST = 20, 3  # letters of a name in the note, and lanes that it names


def plot_events(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    values: Any = None,
    write: Literal["scores", "distances"] = "scores",
    ax: Axes | None = None,
) -> Axes:
    r"""Draw true and predicted events, one lane per detector, with the scores of each event.

    The truth is the top lane and casts a shadow on the others. Dashed lines are the borders of the
    zones of affiliation. Under the predictions of each zone its precision and recall are written
    (``0.80 / 1.00``), with what happened to the event: ``25 min late``, or in one word where there
    is less room, such as ``caught``. Narrow zones have the two scores only, one above the other; a
    zone without predictions has no scores. Texts that have no room are left out and appear on
    zooming in; a line under the axis says how many they are. A lane's name carries the overall
    scores. Time that does not count is hatched.

    Parameters
    ----------
    truth
        A 0/1 vector or `Events`, as in `closecall.affiliation`, with at least one event.
    predicted
        One prediction of the same kind as ``truth``, or a mapping from names to predictions.
    times, end, span
        As in `closecall.affiliation`. Datetimes are written along the axis in their time zone.
    ignore, max_step
        Time that does not count, as in `closecall.affiliation`.
    values
        For vectors: the series itself, one number per sample, drawn above the lanes, in ignored
        time too. Nan leaves a gap, and so does a step that is longer than `max_step`.
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
    require_choice(write, "write", _LEGENDS)
    if predicted is None or (isinstance(predicted, Mapping) and not predicted):
        got = "none" if predicted is None else "an empty mapping"
        raise InputError("to hold at least one prediction", got, argument="predicted")
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    detectors = read_detectors(truth, predicted, alone=("predicted", None), **axis)
    results = {name: affiliation(pair, None) for name, pair in detectors.predicted.items()}
    series = None
    if values is not None:
        series = _read_series(values, truth, axis, detectors.truth.clock)
    bottom, top = -len(results) - 0.02, 1.0 + (0.25 + _SERIES_LANES if series else 0)
    if ax is None:
        size = (_WIDTH, _FRAME + _LANE * (top - bottom))
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    (ax,) = read_panels(ax, ["events"])
    events = next(iter(results.values())).events
    pair, scale = events.pair, TimeAxis.of(events.pair)
    borders = _zone_positions(events, scale)
    ax.set_xlim(*scale.positions(np.array(pair.span)))
    ax.set_ylim(bottom, top)
    scale.prepare(ax)
    shown = pair.opened(pair.truth)
    starts, stops = scale.positions(shown.starts), scale.positions(shown.stops)
    shadow: dict[str, Any] = {"linewidths": 0.3, "zorder": 0.5}
    draw_bars(ax, starts, stops, (bottom, top), "0.88", **shadow)
    ax.vlines(
        borders[1:-1], bottom, top, colors="0.45", linestyles=BORDER, linewidths=0.7, zorder=1
    )
    draw_bars(ax, starts, stops, _TRUE_BAR, TRUTH)
    anchors = (starts + stops) / 2
    numbers = [str(number) for number in range(1, borders.size)]
    ZoneLabels(ax, borders, anchors, 0.76, [numbers], fontsize=_SMALL_FONT, color=INK)
    written = {}
    for lane, (name, result) in enumerate(results.items(), start=1):
        alarms = pair.opened(result.events.pair.predicted)
        heights = _PREDICTED_BAR[0] - lane, _PREDICTED_BAR[1] - lane
        color = PREDICTED[(lane - 1) % len(PREDICTED)]
        draw_bars(ax, scale.positions(alarms.starts), scale.positions(alarms.stops), heights, color)
        layouts = _event_texts(result.events, write)
        written[name] = ZoneLabels(
            ax, borders, anchors, 0.26 - lane, layouts, room=_TEXT_ROOM, fontsize=7, color=INK
        )
    _note_left_out(ax, written)
    _name_lanes(ax, results)
    if series is not None:
        _draw_series(ax, scale.positions(series[0]), series[1])
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    legend = f"per event: {_LEGENDS[write]}    dashed: zones of affiliation"
    if pair.ignored is not None:
        legend += _shade_ignored(ax, pair.ignored, scale)
    ax.set_title(legend, loc="right", fontsize=_SMALL_FONT, color="0.35", wrap=True)
    return ax


def _shade_ignored(axes: Axes, ignored: IgnoredTime, scale: TimeAxis) -> str:
    """Hatch ignored time, over the lanes and under the series; return its legend."""
    ends = scale.positions(ignored.starts), scale.positions(ignored.stops)
    bottom, top = axes.get_ylim()
    shade_ignored(axes, *ends, (bottom, 1.0), sum(_TRUE_BAR) / 2)
    draw_bars(axes, *ends, (1.0, top), "none", **HATCHED, zorder=0.6)
    return f"\nhatched: ignored, {ticks_text(ignored.total, ignored.clock)} in all"


def _zone_positions(events: EventScores, scale: TimeAxis) -> Floats:
    """Return where the borders of the zones are drawn."""
    pair = events.pair
    if pair.ignored is not None:
        return scale.positions(pair.ignored.open_starts(in_ticks(events.borders, pair)))
    # Inexact numbers are counted from 0, and all others from the span's start.
    offset = pair.start if pair.clock.kind == "number" else 0
    return scale.from_start(events.borders / 2 - offset)


def _read_series(
    values: Any, truth: Any, given: dict[str, Any], clock: Clock
) -> tuple[Ticks, Floats]:
    """Return times and values of all samples, with nan in the steps that are too long."""
    if isinstance(truth, Events):
        rule = "only beside 0/1 vectors, which share their times"
        hint = "Turn the events into vectors with `.to_labels(times)`."
        raise InputTypeError(rule, "`values` beside Events", argument="values", hint=hint)
    series = read_column(values, "values")[0]
    if series.dtype.kind not in "biuf":
        raise InputTypeError("to be numbers", f"values of type {series.dtype}", argument="values")
    length = read_labels(truth, "truth").size
    if series.size != length:
        rule = f"to have one number for each of the {length} labels"
        raise InputError(rule, f"{series.size}", argument="values")
    max_step = given["max_step"]
    axis = read_axis(length, given["times"], given["end"], of="labels", max_step=max_step)
    axis = axis.on_clock(clock)
    ticks, numbers = axis.borders(np.arange(length)), series.astype(np.float64)
    if max_step is not None:
        gaps = np.flatnonzero(np.diff(ticks) > read_length(max_step, clock, "max_step")) + 1
        ticks, numbers = np.insert(ticks, gaps, ticks[gaps]), np.insert(numbers, gaps, np.nan)
    return ticks, numbers


def _event_texts(events: EventScores, write: str) -> list[list[str]]:
    """Write two scores or distances for each event with its outcome, from long to short."""
    clock = events.pair.clock
    if write == "scores":
        scores = zip(events.precision, events.recall, strict=True)
        pairs = [(score_text(precision), score_text(recall)) for precision, recall in scores]
    else:
        pairs = [
            (ticks_text(row[2], clock), ticks_text(row[3], clock)) for row in events.table.tolist()
        ]
    dated = clock.kind == "datetime"
    told = [outcome_text(**row, dated=dated) for row in events.rows(TOLD)]
    words, found = events.outcome.tolist(), (events.predicted_count > 0).tolist()
    delays = [long if word == "caught" else word for long, word in zip(told, words, strict=True)]
    return [
        *(
            [
                f"{' / '.join(pair)}\n{text}" if near else text
                for pair, text, near in zip(pairs, texts, found, strict=True)
            ]
            for texts in (told, delays, words)
        ),
        [
            "\n".join(pair).replace(">0.", ">.").replace("<0.", "<.") if near else word
            for pair, word, near in zip(pairs, words, found, strict=True)
        ],
        # Where lanes are too low for two lines.
        [
            " / ".join(lines) if near else word
            for lines, word, near in zip(pairs, words, found, strict=True)
        ],
    ]


def _note_left_out(axes: Axes, lanes: dict[str, ZoneLabels]) -> None:
    """Say under the axis how many texts have no room, at any size and zoom."""

    def under_axis(renderer: RendererBase) -> Bbox:
        counts = {name: lane.left_out(renderer) for name, lane in lanes.items()}
        told = _left_out(counts)
        if text_width(told, _SMALL_FONT) > size_of(axes)[0]:
            told = _left_out(counts, most=0)
        note.set_text(told or " ")  # an empty text would not be asked for its place
        names, box = axes.xaxis.get_tightbbox(renderer), axes.bbox
        return Bbox.from_extents(box.x0, box.y0 if names is None else names.y0, box.x1, box.y1)

    style: dict[str, Any] = {"va": "top", "fontsize": _SMALL_FONT, "color": FAINT}
    style |= {"textcoords": "offset points", "annotation_clip": False, "wrap": True}
    note = axes.annotate(" ", (0, 0), (0, -_NOTE_GAP), xycoords=under_axis, **style)


def _left_out(counts: dict[str, tuple[int, int]], most: int = _MOST) -> str:
    """Say how many texts of how many events are left out; nothing where all are written."""
    lost = {name: missing for name, (missing, _) in counts.items() if missing}
    if not lost:
        return ""
    shown = max(seen for _, seen in counts.values())
    start, events = "no room for the numbers of", "event" if shown == 1 else "events"
    if len(counts) == 1:
        return f"{start} {next(iter(lost.values()))} of {shown} {events}"
    if len(lost) > most:
        return f"{start} up to {max(lost.values())} of {shown} {events} in {len(lost)} lanes"
    short = map(matplotlib_text, short_names([*lost], _LONGEST))
    listed = [
        f"{count} of {shown} ({name})" for count, name in zip(lost.values(), short, strict=True)
    ]
    return f"{start} {events}: {', '.join(listed)}"


def _name_lanes(axes: Axes, results: dict[str, Affiliation]) -> None:
    """Name each lane on the left, with its overall precision and recall."""
    lane = size_of(axes)[1] / abs(np.diff(axes.get_ylim()).item())
    font = float(np.clip(lane / _LINES, _SMALLEST, _FONT))
    names = short_enough([*results], NAMES * size_of(axes.figure)[0], font)
    named = [
        f"{name}\n{score_text(result.precision)} / {score_text(result.recall)}"
        for name, result in zip(names, results.values(), strict=True)
    ]
    centres = [sum(_TRUE_BAR) / 2, *(0.46 - lane for lane in range(1, len(named) + 1))]
    axes.set_yticks(centres, ["truth", *named], fontsize=font)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=_FONT)
    axes.xaxis.get_offset_text().set_fontsize(_FONT)


def _draw_series(axes: Axes, positions: Floats, values: NDArray[Any]) -> None:
    """Draw the series above the lanes, on a scale of its own with its ticks on the left."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    middle, reach = (low + high) / 2, (high - low) or 1.0

    def scaled(value: Any) -> Any:
        return _SERIES_BOTTOM + _SERIES_LANES * ((value - middle) / reach + 0.5)

    pixels = values.size > _LONG_SERIES
    style: dict[str, Any] = {"color": _SERIES, "linewidth": 0.7, "rasterized": pixels, "zorder": 2}
    axes.plot(positions, scaled(values), **style)
    low, high = middle - reach / 2, middle + reach / 2
    ticks = [tick for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high]
    names = [label.get_text() for label in axes.get_yticklabels()]
    lanes = list(axes.get_yticks())
    axes.set_yticks([*lanes, *map(scaled, ticks)], [*names, *(f"{tick:g}" for tick in ticks)])

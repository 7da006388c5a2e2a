"""Detectors beside each other on every event, as dumbbells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from closecall.affiliation import Affiliation
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import read_names
from closecall.plot.drawing import (
    FAINT,
    INK,
    MARKERS,
    NAMES,
    PREDICTED,
    as_given,
    broken,
    matplotlib_text,
    new_panels,
    read_panels,
    short_enough,
    size_of,
    text_width,
    tidy,
    write_names,
)
from closecall.wording import score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closecall.plot.drawing import Floats

_TITLES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_PANEL, _NAMES, _FRAME, _ROW = 2.9, 1.4, 1.0, (0.19, 0.06)  # inches; for two, and each more
_TALLEST = 18.0
_NO_ALARM = -0.2  # where events are drawn that have no score
_LEFT, _RIGHT = -0.3, 1.03
_GAP = 0.5, 0.02  # rows between the events and the whole series: at least, and for each event
_PAIR = 2
_MANY = 80  # rows from which on markers are small
_FONT, _ROW_FONT = 8.5, 8.0
_FILLS: dict[str, dict[str, Any]] = {
    "caught": {"fillstyle": "full"},
    "close call": {"fillstyle": "left", "markerfacecoloralt": "white"},
    "missed": {"fillstyle": "full", "markerfacecolor": "white"},
}
_KEY = 40.0  # points of a legend's entry beside its text
_INVISIBLE = "\N{ZERO WIDTH SPACE}"


def plot_comparison(
    comparison: Any, *, scores: str | Sequence[str] = tuple(_TITLES), ax: Any = None
) -> Any:
    """Draw the scores of several detectors on every event, one row per event, in order of time.

    Each detector is a marker, and a line joins them; with two detectors it has the colour of the
    better one. A marker is filled if the event was caught, half filled if it was a close call, and
    hollow if it was missed. Events without any prediction in their zone, which have no precision
    and no F1, are in the column ``no alarm``. The last row is the whole series.

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
    results, names = _read_results(comparison), read_names(scores, "scores")
    if not names or any(name not in _TITLES for name in names):
        rule = 'to be some of "precision", "recall" and "f1"'
        raise InputError(rule, shown(scores), argument="scores")
    first = next(iter(results.values()))
    if ax is None:
        row = _ROW[0] + _ROW[1] * max(len(results) - 2, 0)
        height = min(_FRAME + row * (len(first.events) + 1), _TALLEST)
        panels = new_panels(len(names), (_NAMES + _PANEL * len(names), height))
    else:
        panels = read_panels(ax, names)
    for axes, score in zip(panels, names, strict=True):
        _draw_dumbbells(axes, results, score)
        _name_rows(axes, first)
    if ax is None:
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)
    _draw_legend(panels, results)
    return as_given(panels)


def _read_results(comparison: Any) -> dict[str, Affiliation]:
    given = getattr(comparison, "results", comparison)
    if not isinstance(given, Mapping):
        rule = "`comparison` to be a mapping from names to results"
        hint = 'For example `{"mine": cc.affiliation(truth, predicted)}`.'
        raise InputTypeError(rule, type(given).__name__, hint=hint)
    for name, result in given.items():
        if not isinstance(result, Affiliation):
            rule = f"`comparison[{name!r}]` to be what `closecall.affiliation` returns"
            raise InputTypeError(rule, type(result).__name__)
    results = {str(name): result for name, result in given.items()}
    if not results:
        raise InputError("to hold at least one result", "none", argument="comparison")
    if given is comparison:  # a `Comparison` has the same events for all
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
            rule = "all results to be for the same true events"
            raise InputError(rule, f"others for {name!r} than for {first!r}")


def _draw_dumbbells(axes: Axes, results: dict[str, Affiliation], score: str) -> None:
    """Draw one score of every detector, for each event and for the whole series."""
    values = np.array([_values(result, score) for result in results.values()])
    count = values.shape[1] - 1
    heights = _heights(count)
    places = np.where(np.isnan(values), _NO_ALARM, values)
    _shade(axes, heights)
    axes.axvline(0.5, color="0.75", linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    _join(axes, values, places, heights)
    # Of many detectors some coincide, so each keeps to its own part of the row.
    aside = np.linspace(-0.26, 0.26, len(results)) if len(results) > _PAIR else [0, 0]
    # The first detector is on top, where its marker does not hide the others wholly.
    for number, result in enumerate(results.values()):
        style = _marker(number, count, len(results))
        outcomes = np.append(result.events.outcome, "caught")  # all events are one full marker
        for outcome, fill in _FILLS.items():
            rows = outcomes == outcome
            if rows.any():
                marks = places[number][rows], (heights + aside[number])[rows]
                axes.plot(*marks, **style, **fill)
    axes.set(xlim=(_LEFT, _RIGHT), ylim=(heights[-1] + max(0.6, count / 100), -0.6))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    labels = ["0", "", "0.5", "", "1"]
    if np.isnan(values).any():
        room = 1.8 * abs(_NO_ALARM) * size_of(axes)[0] / (_RIGHT - _LEFT)
        named = broken("no alarm", room, _FONT)
        labels[0] = "0" if text_width(named, _FONT) <= room else ""
        ticks, labels = [_NO_ALARM, *ticks], [named, *labels]
    axes.set_xticks(ticks, labels)
    axes.set_title(_TITLES[score], fontsize=9.5, color=INK)
    axes.spines["bottom"].set_bounds(0, 1)
    tidy(axes, "left")


def _heights(count: int) -> Floats:
    return np.append(np.arange(count), count + max(_GAP[0], _GAP[1] * count))


def _join(axes: Axes, values: Floats, places: Floats, heights: Floats) -> None:
    """Draw lines between the detectors, dotted to those without a score."""
    colors: Any = "0.6"
    if len(places) == _PAIR:
        colors = [PREDICTED[int(worse)] for worse in places[0] < places[1]]
    wide = 1.6 if heights.size <= _MANY else 0.8
    style: dict[str, Any] = {"colors": colors, "alpha": 0.6, "zorder": 2}
    least = np.where(np.isnan(values), np.inf, values).min(axis=0)
    most = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    found = np.isfinite(least)
    least, most = np.where(found, least, _NO_ALARM), np.where(found, most, _NO_ALARM)
    axes.hlines(heights, least, most, linewidths=wide, **style)
    dots: Any = (0, (1, 2.5))
    axes.hlines(heights, places.min(axis=0), least, linewidths=0.6 * wide, linestyles=dots, **style)


def _values(result: Affiliation, score: str) -> Floats:
    values: Floats = getattr(result.events, score)
    if score == "recall":
        # Recall 0 without any prediction is drawn apart, as the other scores are.
        values = np.where(result.events.predicted_count > 0, values, np.nan)
    return np.append(values, getattr(result, score))


def _shade(axes: Axes, heights: Floats) -> None:
    """Shade every second row, for the eye to follow, and set the last one apart."""
    for height in heights[:-1:2]:
        axes.axhspan(height - 0.5, height + 0.5, color="0.96", linewidth=0, zorder=0)
    axes.axhline((heights[-2] + heights[-1]) / 2, color=FAINT, linewidth=0.8, zorder=1)


def _marker(number: int, rows: int, detectors: int) -> dict[str, Any]:
    size = 5.5 if detectors <= _PAIR else 4.5
    return {
        "linestyle": "",
        "marker": MARKERS[number % len(MARKERS)],
        "color": PREDICTED[number % len(PREDICTED)],
        "markersize": 3.0 if rows >= _MANY else size,
        "markeredgewidth": 0.9,
        "zorder": 3 + (detectors - number) / (detectors + 1),
        "clip_on": False,
    }


def _name_rows(axes: Axes, result: Affiliation) -> None:
    """Write the number of each event, and its start where times are dates; thinned if crowded."""
    events = result.events
    pair = events.pair
    clock, starts = pair.clock, pair.opened(pair.truth).starts.tolist()
    names = [str(number) for number in range(1, len(starts) + 1)]
    if clock.kind == "datetime":
        stamps = [clock.text(start)[:16] for start in starts]
        room = NAMES * size_of(axes.figure)[0]
        if text_width(f"{stamps[0]}   {names[-1]}", _ROW_FONT) > room:
            stamps = [stamp[5:] for stamp in stamps]  # the year is the least of it
        if text_width(f"{stamps[0]}   {names[-1]}", _ROW_FONT) <= room:
            names = [f"{stamp}   {name}" for stamp, name in zip(stamps, names, strict=True)]
    heights = _heights(len(names)).tolist()
    write_names(axes, "y", heights, [*names, "all"], size=_ROW_FONT, keep_last=True)


def _draw_legend(panels: list[Axes], results: dict[str, Affiliation]) -> None:
    """Name the detectors, with how many events they caught, and what the fillings mean."""
    figure: Any = panels[0].figure
    # Above a figure that has nothing else, all of the width is free.
    engine = figure.get_layout_engine()
    alone = engine is not None and not engine.adjust_compatible and figure.axes == panels
    room = size_of(figure)[0] - _KEY
    told = [
        f"  ({result.caught} of {len(result.events)} caught, F1 {score_text(result.f1)})"
        for result in results.values()
    ]
    names = [*map(matplotlib_text, results)]
    if alone:
        names = short_enough([*results], room - max(text_width(x, _FONT) for x in told), _FONT)
    handles = []
    for number, (name, told_of) in enumerate(zip(names, told, strict=True)):
        # A legend leaves out names that start with an underscore.
        label = f"{_INVISIBLE * name.startswith('_')}{name}{told_of}"
        key = _marker(number, 0, 1)
        key = {part: key[part] for part in ("linestyle", "marker", "color", "markersize")}
        handles.append(Line2D([], [], label=label, **key))
    seen = {outcome for result in results.values() for outcome in result.events.outcome.tolist()}
    key = {"linestyle": "", "marker": "o", "color": FAINT, "markersize": 5.5}
    handles += [
        Line2D([], [], label=outcome, **key, **fill)
        for outcome, fill in _FILLS.items()
        if outcome in seen
    ]
    style: dict[str, Any] = {"handles": handles, "frameon": False, "fontsize": _FONT}
    if alone:
        widths = [text_width(str(handle.get_label()), _FONT) + _KEY for handle in handles]
        most = min(len(handles), len(panels) + 1)
        parts = {count: np.array_split(widths, count) for count in range(1, most + 1)}
        wide = {count: sum(part.max() for part in split) for count, split in parts.items()}
        columns = max((count for count in wide if wide[count] <= room + _KEY), default=1)
        figure.legend(loc="outside upper center", ncols=columns, **style)
    else:
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1)}
        panels[0].legend(ncols=2, borderaxespad=2.4, **place, **style)

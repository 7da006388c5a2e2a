"""Detectors by name on one series: labels, events or scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from closecall.axis import Axis, read_axis
from closecall.columns import require_one_index
from closecall.errors import InputError, InputTypeError, shown
from closecall.evaluated_time import read_stretches
from closecall.events import Events, Intervals, read_labels
from closecall.parameters import is_text
from closecall.scores import (
    read_scores,
    require_nan,
    require_scores,
    samples_without_score,
)
from closecall.series import (
    Closed,
    Pair,
    Scored,
    TruthInSpan,
    in_evaluated_time,
    in_span,
    read_span,
    require_samples_inside,
    require_times,
    whole_axis,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Detectors:
    """Detectors by name on one series: true events, predictions and scores on one clock."""

    truth: TruthInSpan
    """In the time that is evaluated for all; with ``nan="each"``, whatever scores are missing."""
    predicted: dict[str, Pair]
    """Those that gave labels or events."""
    scored: dict[str, Scored]
    """Those that gave scores."""


class Given(NamedTuple):
    """What a detector gave, and what a message calls it."""

    called: str
    values: Any


def by_name(values: Any, argument: str, alone: str | None = None) -> dict[str, Given]:
    """Read a mapping from names of detectors; `alone` names a single one without a name."""
    if values is None:
        return {}
    if alone is not None and not isinstance(values, Mapping):
        return {alone: Given(argument, values)}
    if not hasattr(values, "items"):
        raise InputTypeError(
            "to be a mapping from names of detectors",
            type(values).__name__,
            argument=argument,
            hint=f"Pass a mapping, such as {{'mine': {argument}}}.",
        )
    named = {}
    for name, given in values.items():
        text = name if isinstance(name, str) else shown(name)
        if alone is None and not (is_text(name) and text.strip()):
            raise InputTypeError(f"the names of detectors in `{argument}` to be text", shown(name))
        named[text] = Given(f"{argument}[{text!r}]", given)
    return named


def read_detectors(
    truth: Any,
    predicted: Any = None,
    scores: Any = None,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    close: Any = None,
    alone: tuple[str | None, str | None] = (None, None),
) -> Detectors:
    """Read labels, `Events` and scores of several detectors, and check them once and for all.

    Labels and `Events` may be mixed. `alone` names what is no mapping in `predicted` and `scores`.
    """
    require_nan(nan)
    labelled = by_name(predicted, "predicted", alone[0])
    scored = by_name(scores, "scores", alone[1])
    _require_one_place(labelled, scored)
    sides = {"truth": truth, **dict(labelled.values())}
    require_one_index({**sides, **dict(scored.values()), "times": times, "ignore": ignore})
    labels = {
        called: read_labels(side, called)
        for called, side in sides.items()
        if not isinstance(side, Events)
    }
    columns = {
        called: read_scores(values, called, nan="ignore") for called, values in scored.values()
    }
    if columns and "truth" not in labels:
        require_times(times)
    axis = _shared_axis({**labels, **columns}, times, end, span, max_step)
    intervals = {}
    for called, side in sides.items():
        if isinstance(side, Events):
            side.intervals.require_disjoint(called)
            intervals[called] = side.intervals
        elif axis is not None:
            intervals[called] = Intervals.from_labels(labels[called], axis)
    # Samples without times have no place among true Events, unless a span says where.
    if span is None and axis is not None and ("truth" in labels or times is not None):
        limits = whole_axis(axis)
    else:
        limits = read_span(span)
    series, intervals = in_span(intervals, axis, limits)
    axis = series.axis
    if axis is not None and columns:
        require_samples_inside(axis, series.start, series.stop)
    several = len(labelled) + len(scored) > 1
    values = {name if several else "": columns[called] for name, (called, _) in scored.items()}
    missing = samples_without_score(values, nan)
    stretches = read_stretches(ignore, max_step, axis)

    def evaluated(missing: Mapping[str, NDArray[np.bool_]]) -> tuple[TruthInSpan, Closed]:
        without = [*stretches, *read_stretches(None, None, axis, missing)]
        found, closed = in_evaluated_time(series, intervals, labels, without)
        return found.asking(max_step=max_step, nan=nan).calling(close), closed

    each = nan == "each" and several
    shared = evaluated({} if each else missing)
    whole, closed = shared
    in_time = {
        name: evaluated({"": missing[name]}) if each and name in missing else shared
        for name in scored
    }
    for name, (called, _) in scored.items():
        require_scores(columns[called], called, in_time[name][1].kept)
    return Detectors(
        truth=whole,
        predicted={
            name: whole.predicting(closed.sides[called], closed.left_out[called])
            for name, (called, _) in labelled.items()
        },
        scored={
            name: Scored.of(in_time[name][0], columns[called], in_time[name][1].kept)
            for name, (called, _) in scored.items()
        },
    )


def _require_one_place(labelled: dict[str, Given], scored: dict[str, Given]) -> None:
    for name in labelled:
        if name in scored:
            raise InputError(
                "each detector in `predicted` or in `scores`",
                f"{name!r} in both",
                hint="Give one of the two another name.",
            )


def _shared_axis(
    vectors: dict[str, NDArray[Any]], times: Any, end: Any, span: Any, max_step: Any
) -> Axis | None:
    """Read the axis of all vectors; without any, that of the times if they are the span."""
    if not vectors:
        only_times = times is not None and span is None
        if not only_times:
            return None
        return read_axis(len(times), times, end, of="samples", max_step=max_step)
    first, length = next((called, column.size) for called, column in vectors.items())
    for called, column in vectors.items():
        if column.size != length:
            raise InputError(
                f"to have as many values as `{first}` ({length})", f"{column.size}", argument=called
            )
    return read_axis(length, times, end, of="samples", max_step=max_step)

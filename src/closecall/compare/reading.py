"""Detectors as labels, events or scores, all read onto one clock and into one span."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation_curve
from closecall.axis import Axis, read_axis
from closecall.clock import Timed, on_one_clock
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events, Intervals, read_labels
from closecall.series import Pair, read_pair, read_scored, read_scores, read_span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

_FEWEST = 2


@dataclass(frozen=True, slots=True, eq=False)
class Entrant:
    """A detector's predictions beside the truth, and the threshold that gave them, if one did."""

    pair: Pair
    threshold: float | None


def read_entrants(
    truth: Any,
    predicted: Any,
    scores: Any,
    thresholds: Any,
    *,
    times: Any,
    end: Any,
    span: Any,
) -> dict[str, Entrant]:
    """Read every detector, and check it once and for all."""
    labelled, scored = _by_name(predicted, "predicted"), _by_name(scores, "scores")
    _require_rivals(labelled, scored)
    given = _read_thresholds(thresholds, scored)
    sides = {"truth": truth} | {_entry("predicted", name): labelled[name] for name in labelled}
    columns = {entry: read_scores(scored[name], entry) for name, entry in _entries(scored)}
    axis = {"times": times, "end": end}
    intervals, samples = _read_sides(sides, columns, **axis, span=span)
    chosen: dict[str, float | None] = dict.fromkeys(labelled)
    for name in scored:
        values = columns[_entry("scores", name)]
        chosen[name], pair = _at_threshold(
            truth, values, given.get(name), **axis, span=span, name=name
        )
        intervals[_entry("scores", name)] = pair.predicted
    limits = read_span(span) if samples is None or span is not None else _whole(samples)
    pairs = _on_one_clock(intervals, limits)
    return {
        name: Entrant(pair, threshold)
        for (name, threshold), pair in zip(chosen.items(), pairs, strict=True)
    }


def _entries(scored: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, _entry("scores", name)) for name in scored]


def _by_name(values: Any, argument: str) -> dict[str, Any]:
    """Read a mapping whose keys are names of detectors."""
    if values is None:
        return {}
    if not hasattr(values, "items"):
        raise InputTypeError(
            expected(
                f"`{argument}` to be a mapping from names of detectors",
                type(values).__name__,
                f"Pass a mapping, such as {{'mine': {argument}}}.",
            )
        )
    named = dict(values.items())
    for name in named:
        if not isinstance(name, str) or not name.strip():
            raise InputTypeError(
                expected(f"the names of detectors in `{argument}` to be text", f"{name!r}")
            )
    return named


def _require_rivals(labelled: Mapping[str, Any], scored: Mapping[str, Any]) -> None:
    twice = [name for name in labelled if name in scored]
    if twice:
        raise InputError(
            expected(
                "each detector in `predicted` or in `scores`",
                f"{twice[0]!r} in both",
                "Give one of the two another name.",
            )
        )
    names = [*labelled, *scored]
    if len(names) < _FEWEST:
        got = f"only {names[0]!r}" if names else "none"
        raise InputError(
            expected(
                "at least two detectors to compare",
                got,
                "Score a single detector with `closecall.affiliation`.",
            )
        )


def _read_thresholds(thresholds: Any, scored: dict[str, Any]) -> dict[str, Any]:
    """Read thresholds by name, or one number for all scores."""
    if isinstance(thresholds, (int, float, np.number)) and not isinstance(thresholds, bool):
        if not scored:
            raise InputTypeError(expected("`scores` beside `thresholds`", "none"))
        return dict.fromkeys(scored, thresholds)
    given = _by_name(thresholds, "thresholds")
    _require_known(given, scored)
    return given


def _require_known(thresholds: Mapping[str, Any], scored: Mapping[str, Any]) -> None:
    for name in thresholds:
        if name not in scored:
            close = difflib.get_close_matches(name, scored, n=1)
            listed = ", ".join(map(repr, scored)) or "none"
            raise InputError(
                expected(
                    "`thresholds` to name detectors in `scores`",
                    repr(name),
                    (f"Did you mean {close[0]!r}? " if close else "") + f"There are: {listed}.",
                )
            )


def _entry(argument: str, name: str) -> str:
    return f"{argument}[{name!r}]"


@contextmanager
def saying(argument: str, entry: str) -> Iterator[None]:
    """Say in an error which detector it is about."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        raise type(error)(str(error).replace(f"`{argument}`", f"`{entry}`")) from None


def _read_sides(
    sides: dict[str, Any], columns: dict[str, NDArray[Any]], *, times: Any, end: Any, span: Any
) -> tuple[dict[str, Intervals], Axis | None]:
    """Read the truth and the labelled detectors, and the axis of all vectors if there are any."""
    events = [argument for argument, side in sides.items() if isinstance(side, Events)]
    labels = {
        argument: read_labels(side, argument)
        for argument, side in sides.items()
        if argument not in events
    }
    vectors = {**labels, **columns}
    axis = None
    if vectors:
        if events and times is None:
            raise _times_missing(events[0], next(iter(vectors)))
        axis = _shared_axis(vectors, times, end)
    else:
        # Refuses what every other metric refuses, with the same words.
        read_pair(sides["truth"], sides["truth"], times=times, end=end, span=span)
    intervals = {}
    for argument, side in sides.items():
        if isinstance(side, Events):
            side.intervals.require_disjoint(argument)
            intervals[argument] = side.intervals
        elif axis is not None:
            intervals[argument] = Intervals.from_labels(labels[argument], axis)
    return intervals, axis


def _times_missing(events: str, vector: str) -> InputTypeError:
    return InputTypeError(
        expected(
            "`times` where Events and vectors are compared",
            f"none (`{events}` is Events and `{vector}` a vector)",
            "Pass `times=`, one for each sample of the vectors.",
        )
    )


def _shared_axis(vectors: dict[str, NDArray[Any]], times: Any, end: Any) -> Axis:
    first, length = next((argument, column.size) for argument, column in vectors.items())
    for argument, column in vectors.items():
        if column.size != length:
            raise InputError(
                expected(
                    f"`{argument}` to have as many values as `{first}` ({length})",
                    f"{column.size}",
                )
            )
    return read_axis(length, times, end, of="samples")


def _at_threshold(
    truth: Any, values: NDArray[Any], threshold: Any, *, name: str, **axis: Any
) -> tuple[float, Pair]:
    """Predict at the threshold, or at that of the best F1."""
    scored = read_scored(truth, values, **axis)
    if threshold is None:
        threshold = affiliation_curve(scored, None).best().threshold
    with saying("threshold", _entry("thresholds", name)):
        return threshold, scored.at(threshold)


def _whole(axis: Axis) -> Timed:
    return Timed("times", axis.borders(np.array([0, axis.length])), axis.clock)


def _on_one_clock(intervals: dict[str, Intervals], span: Timed) -> list[Pair]:
    """Pair the truth with each detector, inside the span."""
    bounds = [
        Timed(argument, ticks, own.clock)
        for argument, own in intervals.items()
        for ticks in (own.starts, own.stops)
    ]
    (*ticks, limits), clock = on_one_clock(*bounds, span)
    start, stop = limits.tolist()
    truth, *others = (
        Intervals(*both, clock) for both in zip(ticks[0::2], ticks[1::2], strict=True)
    )
    for argument, own in zip(intervals, (truth, *others), strict=True):
        own.require_inside(start, stop, argument)
    return [
        Pair(truth=truth, predicted=other, start=start, stop=stop, clock=clock).checked()
        for other in others
    ]

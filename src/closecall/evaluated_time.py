"""Evaluated time: what is to be ignored, as callers say it, and the axis closed over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.axis import IgnoredTime, in_ticks_of
from closecall.clock import Timed, on_one_clock
from closecall.errors import InputError, InputTypeError, expected, shown
from closecall.events import Events, Intervals, read_labels, read_set, runs
from closecall.parameters import read_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.axis import Axis
    from closecall.clock import Clock, Tick


class Stretches(NamedTuple):
    """Time to ignore, and the argument that it came from."""

    name: str
    intervals: Intervals


def read_stretches(
    ignore: Any, max_step: Any, axis: Axis | None, missing: NDArray[np.bool_] | None = None
) -> list[Stretches]:
    """Read what is to be ignored: `ignore`, gaps, and samples without a score."""
    stretches = []
    if isinstance(ignore, IgnoredTime):
        own = Intervals(ignore.starts, ignore.stops, ignore.clock)
        stretches.append(Stretches("ignore", own))
    elif ignore is not None:
        stretches.append(Stretches("ignore", _read_ignore(ignore, axis)))
    if max_step is not None:
        if axis is None:
            raise InputTypeError(
                expected(
                    "no `max_step` beside Events, which have no samples",
                    "`max_step`",
                    "Pass `max_step` to `Events.from_labels`, and the gaps as `ignore`.",
                )
            )
        gaps = axis.gaps(read_length(max_step, axis.clock, "max_step"))
        stretches.append(Stretches("max_step", Intervals(*gaps, axis.clock)))
    if missing is not None and axis is not None:
        stretches.append(Stretches("scores", Intervals.from_labels(missing, axis)))
    return [part for part in stretches if len(part.intervals)]


def _read_ignore(ignore: Any, axis: Axis | None) -> Intervals:
    """Read `Events`, pairs in any order, or a 0/1 vector."""
    if isinstance(ignore, Events) or are_pairs(ignore):
        return read_set(ignore, "ignore")
    if axis is None:
        raise InputTypeError(
            expected(
                "`ignore` to be Events or pairs (start, stop) beside Events",
                shown(ignore),
                "Turn a 0/1 vector into events with `Events.from_labels(labels, times)`.",
            )
        )
    labels = read_labels(ignore, "ignore")
    if labels.size != axis.length:
        raise InputError(
            expected(
                f"`ignore` to have one label for each of the {axis.length} samples",
                f"{labels.size}",
                "Pass stretches of time as a list of pairs, `[(start, stop)]`.",
            )
        )
    return Intervals.from_labels(labels, axis)


def are_pairs(ignore: Any) -> bool:
    """Return whether this is a list of pairs, and no vector."""
    if isinstance(ignore, np.ndarray):
        return ignore.ndim == 2  # noqa: PLR2004 - rows and columns
    return isinstance(ignore, list | tuple) and all(
        isinstance(pair, list | tuple | np.ndarray) for pair in ignore[:1]
    )


class Closed(NamedTuple):
    """A series in evaluated time, in closed ticks."""

    ignored: IgnoredTime | None  # None if none of what was given has a length in the span
    start: Tick
    stop: Tick
    clock: Clock
    axis: Axis | None
    sides: dict[str, Intervals]
    left_out: dict[str, int]
    kept: NDArray[np.bool_] | None  # which samples are left; None if there are no vectors


def close_over(
    stretches: list[Stretches],
    span: Timed,
    axis: Axis | None,
    sides: dict[str, Intervals],
    labels: dict[str, NDArray[Any]],
) -> Closed:
    """Close the axis over ignored time; `labels` has those of the sides that came as vectors.

    Samples that are ignored are deleted, and runs of ones that then meet are one event. Events are
    mapped one by one, and those that then meet touch.
    """
    parts = [
        Timed(part.name, ticks, part.intervals.clock)
        for part in stretches
        for ticks in (part.intervals.starts, part.intervals.stops)
    ]
    (limits, *ticks), clock = on_one_clock(span, *parts)
    start, stop = limits.tolist()
    bounds = np.concatenate(ticks[::2]), np.concatenate(ticks[1::2])
    ignored = IgnoredTime.within(*bounds, (start, stop), clock)
    axis, kept = None if axis is None else axis.on_clock(clock), None
    if ignored is not None and axis is not None:
        axis, kept = axis.closed(ignored)
    if ignored is not None:
        stop = ignored.close(limits)[1].item()
        if stop <= start or (axis is not None and axis.length == 0):
            raise InputError(
                expected(
                    "some time that is not ignored",
                    "none",
                    "Ignore less, or allow a longer `max_step`.",
                )
            )
    closed, left_out = {}, {}
    for called, side in sides.items():
        if called in labels and axis is not None:
            vector = labels[called] if kept is None else labels[called][kept]
            closed[called] = Intervals.from_labels(vector, axis)
            left_out[called] = 0 if kept is None else runs_left_out(labels[called], kept)
            continue
        timed = (Timed(called, ticks, side.clock) for ticks in (side.starts, side.stops))
        starts, stops = (in_ticks_of(clock, part) for part in timed)
        covered, details = np.zeros(len(side), dtype=bool), side.details
        if ignored is not None:
            covered = ignored.covers(starts, stops)
            starts, stops = ignored.close(starts)[~covered], ignored.close(stops)[~covered]
            details = {name: values[~covered] for name, values in details.items()}
        closed[called] = Intervals(starts, stops, clock, details)
        left_out[called] = int(np.count_nonzero(covered))
    return Closed(ignored, start, stop, clock, axis, closed, left_out, kept)


def runs_left_out(labels: NDArray[Any], kept: NDArray[np.bool_]) -> int:
    """Count the runs of ones of which no sample is left."""
    first, after = runs(labels)
    before = np.concatenate(([0], np.cumsum(kept)))
    return int(np.count_nonzero(before[first] == before[after]))

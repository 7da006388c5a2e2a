"""Chunks of a stream as the caller gives them, checked and made into parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.stream_parts import (
    EventPart,
    Labels,
    SampledPart,
    TimedPart,
    clock_text,
)
from closecall.affiliation.stretch import Stretch
from closecall.axis import require_increasing
from closecall.clock import LARGEST, Timed, on_one_clock, read_times
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected
from closecall.events import Events, Intervals, interval_text, read_labels

if TYPE_CHECKING:
    from closecall.affiliation.stream_step import Setting
    from closecall.clock import Clock, Tick, Ticks


def read_chunk(truth: Any, predicted: Any) -> Labels | None:
    """Read two 0/1 vectors of one length, or give None if they are empty."""
    sides = []
    for values, name in ((truth, "truth"), (predicted, "predicted")):
        column = read_column(values, name)[0]
        sides.append(read_labels(column, name) if column.size else column)
    labels = Labels(*sides)
    if len(labels.truth) != len(labels.predicted):
        raise InputError(
            expected(
                f"`predicted` to have as many labels as `truth` ({len(labels.truth)})",
                f"{len(labels.predicted)}",
            )
        )
    return labels if len(labels) else None


def sampled_part(labels: Labels, before: SampledPart | None, setting: Setting) -> SampledPart:
    """Give each sample its number, on from those before."""
    step = setting.sample_step() if before is None else before.step
    start = setting.start if before is None else before.known.stop
    clock = setting.clock if before is None else before.known.clock
    placed = setting.placed if before is None else before.placed
    stop = int(start) + step * len(labels)
    if stop > LARGEST:
        raise InputError(expected("samples whose times fit in 64 bits", f"an end at {stop}"))
    return SampledPart(labels.numbered(int(start), step, clock), step, placed)


def refuse_start(setting: Setting) -> None:
    """Refuse a start for samples that have times of their own."""
    if setting.placed:
        raise InputTypeError(
            expected(
                "no `start` for a stream whose chunks have times",
                setting.clock.text(setting.start),
                "Such a stream starts at its first time.",
            )
        )


def timed_part(labels: Labels | None, times: Any, before: TimedPart | None) -> TimedPart | None:
    """Read the times of a chunk, which go on from those before."""
    ticks, clock = read_times(times, "times")
    length = 0 if labels is None else len(labels)
    if ticks.size != length:
        raise InputError(
            expected(f"`times` to have one time for each of the {length} labels", f"{ticks.size}")
        )
    if labels is None:
        return None
    if before is not None:
        (ticks,), clock = on_clock(before.time, before.clock, Timed("times", ticks, clock))
        if ticks[0] <= before.time:
            raise InputError(
                expected(
                    "`times` to be strictly increasing",
                    f"{clock.text(ticks[0].item())} at index 0, after "
                    f"{clock.text(before.time)} in the chunk before",
                    "Give the chunks in the order of time.",
                )
            )
    require_increasing(ticks, clock, "times")
    short = getattr(times, "dtype", None) == np.float32
    return TimedPart.of(labels, ticks, clock, short=short)


def event_part(
    truth: Any, predicted: Any, until: Any, before: EventPart | None, setting: Setting
) -> EventPart:
    """Read the complete events of the next stretch of time."""
    if not isinstance(truth, Events) or not isinstance(predicted, Events):
        other = next(side for side in (truth, predicted) if not isinstance(side, Events))
        raise InputTypeError(
            expected(
                "`truth` and `predicted` to be Events",
                type(other).__name__,
                "Give 0/1 vectors to `update`.",
            )
        )
    if not setting.placed and before is None:
        raise InputTypeError(
            expected(
                "a `start` for a stream of events",
                "none",
                "Make it with `AffiliationStream(start=...)`.",
            )
        )
    start = setting.start if before is None else before.known.stop
    sides = (("truth", truth.intervals), ("predicted", predicted.intervals))
    timed = [
        Timed(name, ticks, own.clock) for name, own in sides for ticks in (own.starts, own.stops)
    ]
    timed.append(Timed("until", *read_times([until], "until")))
    if before is None:
        at = np.array([start])
        ((first,), *ticks), clock = on_one_clock(Timed("start", at, setting.clock), *timed)
        start = first.item()
    else:
        ticks, clock = on_clock(start, before.known.clock, *timed)
    stop = ticks.pop()[0].item()
    intervals = Intervals(ticks[0], ticks[1], clock), Intervals(ticks[2], ticks[3], clock)
    for own, name in zip(intervals, ("truth", "predicted"), strict=True):
        own.require_disjoint(name)
        _require_within(own, start, stop, name)
    true, alarms = (np.column_stack((own.starts, own.stops)) for own in intervals)
    return EventPart(Stretch.of(true, alarms, (start, stop), clock, joins=False))


def on_clock(tick: Tick, clock: Clock, *parts: Timed) -> tuple[list[Ticks], Clock]:
    """Bring times to the clock of a stream, whose scores are kept in its ticks."""
    ticks, common = on_one_clock(Timed("the stream", np.array([tick]), clock), *parts)
    if (common.kind, common.unit) != (clock.kind, clock.unit):
        finer = next(part for part in parts if clock_text(part.clock) != clock_text(clock))
        raise InputTypeError(
            expected(
                f"`{finer.name}` to be {clock_text(clock)}, as before in this stream",
                clock_text(finer.clock),
                "Give times in the finest type from the start.",
            )
        )
    return ticks[1:], clock


def _require_within(intervals: Intervals, start: Tick, stop: Tick, name: str) -> None:
    clock = intervals.clock
    if stop < start:
        raise InputError(
            expected(
                f"`until` to lie after what has been seen, {clock.text(start)}", clock.text(stop)
            )
        )
    outside = (intervals.starts < start) | (intervals.stops > stop)
    if outside.any():
        index = int(outside.argmax())
        raise InputError(
            expected(
                f"`{name}` to lie within the stretch {interval_text(clock, start, stop)} that is "
                "new to the stream",
                f"{intervals.text(index)} at index {index}",
                "Events are given whole: choose an `until` that cuts none.",
            )
        )

"""`AffiliationStream`: a series that comes in chunks, or is cut in time, scored exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.runs import (
    IGNORED,
    NO_STEPS,
    PREDICTED,
    TRUTH,
    Cursor,
    Runs,
    clock_text,
    event_runs,
)
from closecall.affiliation.score import affiliation
from closecall.axis import IgnoredTime, after_last, require_increasing
from closecall.clock import LARGEST, PER_SECOND, Clock, Timed, on_one_clock, read_times
from closecall.columns import read_column, require_one_index
from closecall.errors import (
    InputError,
    InputTypeError,
    UndefinedMetricError,
    UnevenTimesError,
    shown,
)
from closecall.events import Events, Intervals, interval_text, read_ignored, read_labels
from closecall.parameters import read_length
from closecall.series import require_squares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.affiliation.result import Affiliation
    from closecall.clock import Tick, Ticks


class AffiliationStream:
    r"""Score a series chunk by chunk, with the result that `affiliation` gives for all of it.

    A zone of affiliation ends halfway to the next true event, so its scores (equations 4 and 5 of
    the paper, in [0, 1], higher is better) are known as soon as that event starts:

    .. math:: I_j = [(b_{j-1} + a_j) / 2, (b_j + a_{j+1}) / 2), \quad \text{gt}_j = [a_j, b_j).

    A stream keeps at most 17 bytes for each change of truth, prediction or ignored time, and no
    samples. Streams of adjacent stretches of time can be added, so that each can be computed by
    another process.

    Parameters
    ----------
    start
        Where the series, or this part of it, starts: a sample number, or a datetime. A stream
        without it starts at 0, and moves next to a stream that it is added to.
    step
        How long one sample lasts: 1 (the default) or another integer; a timedelta if `start` is a
        datetime. Not used where times are given with each chunk, or events.
    max_step
        How long a sample lasts at most, as in `affiliation`.

    Examples
    --------
    >>> import closecall as cc
    >>> stream = AffiliationStream()
    >>> stream.update([0, 0, 1, 1], [0, 0, 0, 1])
    >>> stream.update([0, 0, 0, 0], [1, 0, 0, 0])
    >>> stream
    AffiliationStream(1 true event, 1 alarm, from 0 to 8)
    >>> stream.result()
    Affiliation(precision=0.812, recall=0.938, f1=0.871, events=1)
    >>> cc.affiliation([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
    Affiliation(precision=0.812, recall=0.938, f1=0.871, events=1)

    Two parts, evaluated apart:

    >>> left, right = AffiliationStream(), AffiliationStream()
    >>> left.update([0, 0, 1, 1], [0, 0, 0, 1])
    >>> right.update([0, 0, 0, 0], [1, 0, 0, 0])
    >>> (left + right).result()
    Affiliation(precision=0.812, recall=0.938, f1=0.871, events=1)
    """

    __slots__ = ("_begun", "_cursor", "_runs", "_yielded")

    def __init__(self, *, start: Any = None, step: Any = None, max_step: Any = None) -> None:
        self._set(_read_options(start, step, max_step))

    def _set(self, runs: Runs, yielded: int = 0) -> AffiliationStream:
        self._runs, self._yielded = runs, yielded
        self._cursor, self._begun = Cursor(), True
        return self

    def update(self, truth: Any, predicted: Any, *, times: Any = None, ignore: Any = None) -> None:
        """Take the next chunk of two 0/1 vectors, of any length.

        A run of ones that continues in the next chunk is one event. A chunk that breaks a rule
        raises an error and leaves the stream as it was.

        Parameters
        ----------
        truth, predicted
            Two 0/1 vectors of one length; they may be empty.
        times
            Strictly increasing times of the samples, with every chunk or with none. A sample lasts
            until the next one starts, also if that is in the next chunk.
        ignore
            A 0/1 vector of the samples that do not count, as in `affiliation`.

        Examples
        --------
        >>> stream = AffiliationStream()
        >>> stream.update([0, 1], [1, 1], times=[0.0, 1.5])
        >>> stream.update([0, 0], [0, 0], times=[3.5, 4.0])
        >>> stream.result(end=5.0).events.stop
        array([3.5])
        """
        require_one_index(
            {"truth": truth, "predicted": predicted, "times": times, "ignore": ignore}
        )
        codes, before = _read_codes(truth, predicted, ignore), self._runs
        if times is None:
            if codes.size:
                self._take(before.counted(codes, _sample_step(before)))
            return
        if before.placed:
            raise InputTypeError(
                "no `start` for a stream whose chunks have times",
                before.clock.text(before.start),
                hint="Such a stream starts at its first time.",
            )
        ticks, clock = read_times(times, "times")
        if ticks.size != codes.size:
            rule = f"to have one time for each of the {codes.size} labels"
            raise InputError(rule, f"{ticks.size}", argument="times")
        if not codes.size:
            return
        if before.way == "times":
            (ticks,), clock = _on_stream_clock(before, Timed("times", ticks, clock))
            if ticks[0] <= before.stop:
                raise InputError(
                    "to be strictly increasing",
                    f"{clock.text(ticks[0].item())} at index 0, after "
                    f"{clock.text(before.stop)} in the chunk before",
                    argument="times",
                    hint="Give the chunks in the order of time.",
                )
        require_increasing(ticks, clock, "times")
        if clock.kind == "number":
            require_squares(np.diff(ticks))
        float32 = getattr(times, "dtype", None) == np.float32
        self._take(before.timed(codes, Timed("times", ticks, clock), float32=float32))

    def update_events(self, truth: Any, predicted: Any, *, until: Any, ignore: Any = None) -> None:
        """Take the events of the next stretch of time, which has then been seen up to `until`.

        Events are given whole, in one stretch; events that touch stay two, also across stretches.
        The stream must have been made with a `start`.

        Parameters
        ----------
        truth, predicted
            Two `Events` that start at the earliest where the last stretch stopped, and stop at the
            latest at `until`.
        until
            Where this stretch of time stops.
        ignore
            `Events` or pairs: the time of this stretch that does not count, as in `affiliation`.

        Examples
        --------
        >>> import closecall as cc
        >>> stream = AffiliationStream(start=0)
        >>> stream.update_events(cc.Events([(2, 4)]), cc.Events([(3, 5)]), until=6)
        >>> stream.update_events(cc.Events([]), cc.Events([]), until=8)
        >>> stream.result()
        Affiliation(precision=0.812, recall=0.938, f1=0.871, events=1)
        """
        before = self._runs
        for side in (truth, predicted):
            if not isinstance(side, Events):
                rule, got = "`truth` and `predicted` to be Events", type(side).__name__
                raise InputTypeError(rule, got, hint="Give 0/1 vectors to `update`.")
        if not before.placed:
            hint = "Make it with `AffiliationStream(start=...)`."
            raise InputTypeError("a `start` for a stream of events", "none", hint=hint)
        if before.max_step is not None:
            rule = "no `max_step` for a stream of events, which have no samples"
            raise InputTypeError(rule, "`max_step`")
        timed = [*truth.intervals.timed("truth"), *predicted.intervals.timed("predicted")]
        timed += read_ignored([] if ignore is None else ignore).timed("ignore")
        timed.append(Timed("until", *read_times([until], "until")))
        if before.way:
            ticks, clock = _on_stream_clock(before, *timed)
            span = before.stop, ticks[-1][0].item()
        else:
            start = Timed("start", np.array([before.stop]), before.clock)
            ((first,), *ticks), clock = on_one_clock(start, *timed)
            span = first.item(), ticks[-1][0].item()
        sides = [Intervals(ticks[at], ticks[at + 1], clock) for at in (0, 2)]
        for name, side in zip(("truth", "predicted"), sides, strict=True):
            side.require_disjoint(name)
            _require_within(side, *span, name)
        ignored = IgnoredTime.within(ticks[4], ticks[5], span, clock)
        nothing = ticks[4][:0], ticks[5][:0]
        bounds = nothing if ignored is None else (ignored.starts, ignored.stops)
        runs = event_runs((*sides, Intervals(*bounds, clock)), span[0], clock)
        chunk = replace(before, clock=clock, start=span[0], stop=span[1], way="events")
        self._take(replace(chunk, arrays=(runs,), steps=NO_STEPS))

    def closed(self) -> Iterator[dict[str, Any]]:
        """Yield the row of each true event whose zone is complete, once, in order.

        A zone is complete as soon as the next true event has started, and is scored once. Rows are
        those of `EventScores.rows`, without the scores above chance; ``nearest`` only considers
        alarms that start before the zone stops, where `result` considers all. The first zone is
        taken to start where the stream does; a sum of streams therefore continues where its left
        part was, and yields all rows of its right part.

        Examples
        --------
        >>> stream = AffiliationStream()
        >>> stream.update([0, 1, 0, 0, 0], [0, 1, 0, 0, 0])
        >>> list(stream.closed())
        []
        >>> stream.update([1, 0], [0, 0])
        >>> [(row["start"], row["zone_stop"], row["recall"]) for row in stream.closed()]
        [(1, 3.5, 1.0)]
        >>> list(stream.closed())
        []
        """
        if not self._begun:
            return
        runs, cursor = self._runs, self._cursor
        rows, following = runs.closed_zones(cursor)
        for index, row in enumerate(rows, cursor.zones):
            if index >= self._yielded:  # another loop over the same stream may have been faster
                self._yielded = index + 1
                yield row
        if self._runs is runs:
            self._cursor, self._begun = following, False

    def result(self, *, end: Any = None) -> Affiliation:
        """Score all that has been seen so far, as `affiliation` would; the stream can go on.

        Parameters
        ----------
        end
            Where the last sample stops, for times that are unevenly spaced.

        Raises
        ------
        UndefinedMetricError
            If there was no true event yet.

        Examples
        --------
        >>> stream = AffiliationStream()
        >>> stream.update([0, 1, 1, 0], [0, 1, 0, 0])
        >>> stream.result()
        Affiliation(precision=1.000, recall=0.875, f1=0.933, events=1)
        >>> stream.update([0, 0, 0, 0], [0, 0, 0, 1])
        >>> stream.result().precision
        0.53125
        """
        if not self:
            raise UndefinedMetricError(
                "at least one true event (affiliation is undefined for a series without any)",
                "a stream that has seen nothing",
            )
        # As one array, which the next call need not copy again.
        runs = self._runs = replace(self._runs, arrays=(self._runs.from_run(0),))
        stop = runs.end()
        if end is not None:
            ((tick,),), clock = _on_stream_clock(runs, Timed("end", *read_times([end], "end")))
            stop = after_last(runs.stop, tick.item(), clock)
            if runs.way != "times":
                rule = "no `end` for a stream that knows where it stops"
                raise InputTypeError(rule, clock.text(stop))
        if stop is None:
            rule = "for unevenly spaced times" if runs.samples > 1 else "for a series of one sample"
            hint = f"Pass `end=`, where the one at {runs.clock.text(runs.stop)} stops."
            kind = UnevenTimesError if runs.samples > 1 else InputError
            raise kind(rule, "none", argument="end", hint=hint)
        return affiliation(runs.until(stop).pair(), None)

    def to_json(self) -> str:
        """Write all that the stream knows as JSON text, from which it can go on elsewhere.

        Examples
        --------
        >>> stream = AffiliationStream()
        >>> stream.update([0, 0, 1, 1], [0, 0, 0, 1])
        >>> again = AffiliationStream.from_json(stream.to_json())
        >>> again.update([0, 0, 0, 0], [1, 0, 0, 0])
        >>> again.result()
        Affiliation(precision=0.812, recall=0.938, f1=0.871, events=1)
        """
        from closecall.affiliation.stream_state import to_json

        return to_json(self._runs, self._yielded)

    @staticmethod
    def from_json(text: str) -> AffiliationStream:
        """Return the stream that `to_json` wrote; raise if the text was changed."""
        from closecall.affiliation.stream_state import from_json

        return AffiliationStream()._set(*from_json(text))  # noqa: SLF001 - of this class

    @property
    def alarms(self) -> int:
        """How many predicted events have been seen, the one that may go on included."""
        return self._runs.count(PREDICTED)

    @property
    def kept(self) -> int:
        """How many changes of truth, prediction or ignored time are kept."""
        return len(self._runs)

    def __add__(self, other: object) -> AffiliationStream:
        """Put a stream that starts where this one stops after it; neither is changed.

        Examples
        --------
        >>> left, right = AffiliationStream(start=0), AffiliationStream(start=3)
        >>> left.update([0, 1, 1], [0, 0, 0])
        >>> right.update([1, 0], [1, 0])
        >>> left + right
        AffiliationStream(1 true event, 1 alarm, from 0 to 5)
        """
        if not isinstance(other, AffiliationStream):
            return NotImplemented
        return AffiliationStream()._set(self._runs.followed_by(other._runs), self._yielded)

    def __len__(self) -> int:
        """How many true events have been seen, the one that may go on included."""
        return self._runs.count(TRUTH)

    def __bool__(self) -> bool:
        """Whether anything has been seen, with true events or without."""
        return self._runs.way != ""

    def __repr__(self) -> str:
        if not self:
            return "AffiliationStream(nothing seen)"
        start, stop = map(self._runs.clock.text, (self._runs.start, self._runs.stop))
        counts = {"true event": len(self), "alarm": self.alarms}
        seen = [f"{count:,} {noun}{'s' * (count != 1)}" for noun, count in counts.items()]
        return f"AffiliationStream({', '.join(seen)}, from {start} to {stop})"

    def _take(self, chunk: Runs) -> None:
        """Put a chunk after what has been seen, once nothing can go wrong any more."""
        self._runs = self._runs.followed_by(chunk) if self else chunk.checked()
        codes = chunk.arrays[0]["code"] & (TRUTH | IGNORED)
        self._begun = self._begun or bool((codes == TRUTH).any())


def _read_options(start: Any, step: Any, max_step: Any) -> Runs:
    """Read a start and a step: integers, or a datetime and a timedelta."""
    # A timedelta is read when the unit of the times is known.
    if max_step is not None and not isinstance(max_step, timedelta | np.timedelta64):
        read_length(max_step, Clock("number"), "max_step")
    ticks, clock = read_times([0 if start is None else start], "start")
    first, length = ticks[0].item(), 1 if clock.kind == "integer" else None
    if step is not None:
        if clock.kind == "datetime":
            first, length, clock = _read_dated_step(clock.native(ticks)[0], clock, step)
        elif clock.kind == "number":
            raise _not_exact("start", start)
        elif isinstance(step, (timedelta, np.timedelta64)):
            raise InputTypeError("a datetime `start` beside this `step`", f"{start}")
        elif isinstance(step, bool) or not isinstance(step, (int, np.integer)):
            raise _not_exact("step", step)
        else:
            length = int(step)
        if length <= 0:
            raise InputError("to be longer than zero", shown(length), argument="step")
        if length > LARGEST:
            raise InputError(f"to be at most {LARGEST:,}", shown(length), argument="step")
    return Runs(clock, first, first, length, start is not None, max_step)


def _sample_step(runs: Runs) -> int:
    """Return the length of a sample in ticks; raise if samples need times."""
    if runs.step is not None:
        return runs.step
    hint = "Make the stream without `start`, and pass `times=` with each chunk."
    if runs.clock.kind == "number":
        rule = "to be an integer, or a datetime, for samples without times"
        raise InputTypeError(rule, runs.clock.text(runs.start), argument="start", hint=hint)
    hint = f"Pass `step=` when the stream is made. Or: {hint[0].lower()}{hint[1:]}"
    raise InputTypeError("`step` beside a `start` that is a datetime", "none", hint=hint)


def _read_dated_step(start: np.datetime64, clock: Clock, step: Any) -> tuple[Tick, int, Clock]:
    """Return start and step in the ticks of a clock that is fine enough for both."""
    if not isinstance(step, (timedelta, np.timedelta64)):
        rule = "to be a timedelta beside a datetime `start`"
        raise InputTypeError(rule, shown(step), argument="step")
    length = step.to_timedelta64() if hasattr(step, "to_timedelta64") else np.timedelta64(step)
    try:
        # numpy takes the finer of the two units.
        both = np.array([start, start + length])
    except TypeError:
        hint = "Months and years differ in length."
        raise InputTypeError("of a fixed length", str(step), argument="step", hint=hint) from None
    (first, second), finer = read_times(both, "step")
    return first.item(), int(second - first), replace(finer, tz=clock.tz)


def _not_exact(name: str, value: Any) -> InputTypeError:
    return InputTypeError(
        "to be an integer, or a datetime with a timedelta",
        shown(value),
        argument=name,
        hint="Multiples of other numbers are rounded; pass the times themselves with each chunk.",
    )


def _read_codes(truth: Any, predicted: Any, ignore: Any) -> NDArray[np.uint8]:
    """Read 0/1 vectors of one length, which may be empty, as one code for each sample."""
    labels = []
    for values, name in ((truth, "truth"), (predicted, "predicted")):
        column = read_column(values, name)[0]
        labels.append(read_labels(column, name) if column.size else column)
    size = labels[0].size
    if size != labels[1].size:
        rule = f"to have as many labels as `truth` ({size})"
        raise InputError(rule, f"{labels[1].size}", argument="predicted")
    mask = read_mask(ignore, size)
    codes: NDArray[np.uint8] = labels[1].astype(np.uint8)
    codes *= PREDICTED
    codes |= labels[0].astype(np.uint8, copy=False)
    if mask is not None:
        codes[mask] |= IGNORED
    return codes


def read_mask(ignore: Any, size: int) -> NDArray[np.bool_] | None:
    """Read which samples of a chunk are ignored; None if none is."""
    if ignore is None:
        return None
    column = read_column(ignore, "ignore")[0]
    mask = read_labels(column, "ignore") if column.size else column
    if mask.size != size:
        rule = f"to have one label for each of the {size} samples"
        raise InputError(rule, f"{mask.size}", argument="ignore")
    return mask.astype(bool) if mask.any() else None


def _on_stream_clock(runs: Runs, *parts: Timed) -> tuple[list[Ticks], Clock]:
    """Bring times to the clock of a stream, whose runs are kept in its ticks."""
    clock = runs.clock
    ticks, common = on_one_clock(Timed("the stream", np.array([runs.stop]), clock), *parts)
    if clock.kind == "datetime":
        # A finer type may hold no finer times.
        finer_by = PER_SECOND[common.unit] // PER_SECOND[clock.unit]
        if not any((times % finer_by).any() for times in ticks):
            return [times // finer_by for times in ticks[1:]], clock
    if (common.kind, common.unit) != (clock.kind, clock.unit):
        finer = next(part for part in parts if clock_text(part.clock) != clock_text(clock))
        raise InputTypeError(
            f"to be {clock_text(clock)}, as before in this stream",
            clock_text(finer.clock),
            argument=finer.name,
            hint="Give times in the finest type from the start.",
        )
    return ticks[1:], clock


def _require_within(intervals: Intervals, start: Tick, stop: Tick, name: str) -> None:
    clock = intervals.clock
    if stop < start:
        rule = f"to lie after what has been seen, {clock.text(start)}"
        raise InputError(rule, clock.text(stop), argument="until")
    stretch = f"the stretch {interval_text(clock, start, stop)} that is new to the stream"
    intervals.refuse(
        (intervals.starts < start) | (intervals.stops > stop),
        f"to lie within {stretch}",
        argument=name,
        hint="Events are given whole: choose an `until` that cuts none.",
    )

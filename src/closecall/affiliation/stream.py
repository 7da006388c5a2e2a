"""`AffiliationStream`: a series that comes in chunks, or is cut in time, scored exactly."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import timedelta, timezone, tzinfo
from hashlib import sha256
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.stream_parts import (
    EventPart,
    Part,
    SampledPart,
    StreamOptions,
    TimedPart,
    join_parts,
    on_stream_clock,
    read_chunk,
    read_mask,
)
from closecall.affiliation.stream_state import Blocks, CallersTime, RunsLeftOut, Segment
from closecall.axis import Spacing, after_last
from closecall.clock import Clock, Timed, read_times
from closecall.columns import time_zone
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, shown
from closecall.parameters import read_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.affiliation.result import Affiliation


_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Blocks,
        CallersTime,
        Clock,
        EventPart,
        RunsLeftOut,
        SampledPart,
        Segment,
        Spacing,
        StreamOptions,
        TimedPart,
    )
}
_VERSION = 1  # of the layout of JSON


class AffiliationStream:
    r"""Score a series chunk by chunk, with the digits that `affiliation` gives for all of it.

    A zone of affiliation ends halfway to the next true event, so its scores (equations 4 and 5 of
    the paper, in [0, 1], higher is better) are known as soon as that event starts:

    .. math:: I_j = [(b_{j-1} + a_j) / 2, (b_j + a_{j+1}) / 2), \quad \text{gt}_j = [a_j, b_j).

    What is kept is one row and up to four predicted events for each true event, and the predicted
    events that reach into the first and into the last zone; never samples. Streams of adjacent
    stretches of time can be added, so that each can be computed by another process.

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

    __slots__ = ("_options", "_part", "_yielded")

    def __init__(self, *, start: Any = None, step: Any = None, max_step: Any = None) -> None:
        # A timedelta is read beside the unit of the times.
        if max_step is not None and not isinstance(max_step, timedelta | np.timedelta64):
            read_length(max_step, Clock("number"), "max_step")
        self._options = replace(StreamOptions.read(start, step), max_step=max_step)
        self._part: Part | None = None
        self._yielded = 0

    def update(self, truth: Any, predicted: Any, *, times: Any = None, ignore: Any = None) -> None:
        """Take the next chunk of two 0/1 vectors, of any length.

        A run of ones that goes on in the next chunk is one event. A chunk that breaks a rule
        raises, and leaves the stream as it was.

        Parameters
        ----------
        truth, predicted
            Two 0/1 vectors of one length; they may be empty.
        times
            Strictly increasing times of the samples, with every chunk or with none. A sample lasts
            until the next one starts, be it in the next chunk.
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
        labels = read_chunk(truth, predicted)
        mask = read_mask(ignore, len(labels[0]))
        if times is None:
            if len(labels[0]):
                self._take(SampledPart.read(labels, mask, self._part, self._options))
            return
        if self._options.placed:
            raise InputTypeError(
                "no `start` for a stream whose chunks have times",
                self._options.clock.text(self._options.start),
                hint="Such a stream starts at its first time.",
            )
        self._take(TimedPart.read(labels, mask, times, self._part, self._options))

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
        self._take(EventPart.read((truth, predicted), until, ignore, self._part, self._options))

    def closed(self) -> Iterator[dict[str, Any]]:
        """Yield the row of each true event whose zone is complete, once, in order.

        That is so as soon as the next true event has started. Rows are those of
        `EventScores.rows`, without the scores above chance; ``nearest`` only knows alarms that
        start before the zone stops, where `result` knows all. The first zone is taken to start
        where the stream does; a sum of streams therefore goes on where its left part was, and
        yields all rows of its right part.

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
        if self._part is None:
            return
        first = self._yielded
        for index, row in enumerate(self._part.known.complete_rows(first), first):
            if index >= self._yielded:  # another loop over the same stream may have been faster
                self._yielded = index + 1
                yield row

    def result(self, *, end: Any = None) -> Affiliation:
        """Score all that has been seen so far, as `affiliation` would; the stream can go on.

        The predicted events are not kept, so the result cannot be drawn, and its ``chance``, for
        which they would be moved, is nan.

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
        if self._part is None:
            raise UndefinedMetricError(
                "at least one true event (affiliation is undefined for a series without any)",
                "a stream that has seen nothing",
            )
        known, stop = self._part.known, None
        if end is not None:
            timed = Timed("end", *read_times([end], "end"))
            last = known.callers.stop
            ((tick,),), clock = on_stream_clock(last, known.clock, timed)
            stop = after_last(last, tick.item(), clock)
        if isinstance(self._part, TimedPart):
            known, stop = self._part.finished(stop), None
        if stop is not None:
            rule = "no `end` for a stream that knows where it stops"
            raise InputTypeError(rule, known.clock.text(stop))
        return known.result(max_step=self._options.max_step)

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
        return _state_to_json((self._options, self._part, self._yielded))

    @staticmethod
    def from_json(text: str) -> AffiliationStream:
        """Return the stream that `to_json` wrote; raise if the text was changed."""
        stream = AffiliationStream.__new__(AffiliationStream)
        for name, value in zip(stream.__slots__, _state_from_json(text), strict=True):
            setattr(stream, name, value)
        return stream

    @property
    def alarms(self) -> int:
        """How many predicted events have been seen, the one that may go on included."""
        return 0 if self._part is None else self._part.known.alarms

    @property
    def kept(self) -> int:
        """How many predicted events are kept, for zones that are not complete on both sides."""
        return 0 if self._part is None else self._part.known.kept

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
        both = AffiliationStream.__new__(AffiliationStream)
        both._yielded = self._yielded
        own, theirs = self._options, other._options
        if own.max_step != theirs.max_step:
            got = f"{own.max_step} and {theirs.max_step}"
            raise InputError("two streams with one `max_step`", got)
        both._options = own if self._part or own.placed or not theirs.told else theirs
        left, right = self._part or self._empty(other), other._part or other._empty(self)
        both._part = self._part or other._part
        if left is not None and right is not None:
            joined = _checked(join_parts(left, right))
            both._part = both._part and joined
        return both

    def __len__(self) -> int:
        """How many true events have been seen, the one that may go on included."""
        return 0 if self._part is None else len(self._part.known.truth)

    def __bool__(self) -> bool:
        """Whether anything has been seen, with true events or without."""
        return self._part is not None

    def __repr__(self) -> str:
        if self._part is None:
            return "AffiliationStream(nothing seen)"
        known = self._part.known
        callers = known.callers
        start, stop = known.clock.text(callers.start), known.clock.text(callers.stop)
        counts = f"{_count(len(self), 'true event')}, {_count(self.alarms, 'alarm')}"
        return f"AffiliationStream({counts}, from {start} to {stop})"

    def _take(self, part: Part | None) -> None:
        """Put a chunk after what has been seen, once nothing can go wrong any more."""
        if part is not None:
            self._part = _checked(part if self._part is None else join_parts(self._part, part))

    def _empty(self, beside: AffiliationStream) -> Part | None:
        """Return a part without length, if this stream was told what to see."""
        own, other = self._options, beside._part
        sampled = isinstance(other, SampledPart) or (
            other is None and None not in (own.step, beside._options.step)
        )
        if not (own.told if sampled else own.placed):
            return None
        nothing = np.empty((0, 2), dtype=np.float64 if own.clock.kind == "number" else np.int64)
        at = Segment.of(nothing, nothing, (own.start, own.start), own.clock, joins=sampled)
        return SampledPart(at, own.sample_step(), own.placed) if sampled else EventPart(at)


def _checked(part: Part) -> Part:
    """Raise if the span is too long for exact arithmetic."""
    known = part.known
    if known.clock.kind != "number" and known.start < known.stop:
        known.pair(known.truth.first(0)).checked()
    return part


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _state_to_json(state: tuple[Any, ...]) -> str:
    """Write a state with a checksum, so that damage is noticed."""
    content = json.dumps(_encoded(state))
    digest = sha256(content.encode()).hexdigest()
    return f'{{"closecall_stream": {_VERSION}, "sha256": "{digest}", "state": {content}}}\n'


def _state_from_json(text: str) -> Any:
    """Read a state; raise if it is no such text, or was changed."""
    if not isinstance(text, str):
        raise InputTypeError("to be the saved state of a stream", shown(text), argument="text")
    try:
        saved = json.loads(text)
        version, digest, state = (saved[key] for key in ("closecall_stream", "sha256", "state"))
    except (ValueError, KeyError, TypeError, RecursionError):
        rule = "the saved state of a stream"
        raise InputError(rule, f"{text[:40]!r}", hint="`to_json` writes one.") from None
    if version != _VERSION:
        rule = f"a state of version {_VERSION}"
        raise InputError(rule, f"{version!r:.20}", hint="Start again from the first sample.")
    if sha256(json.dumps(state).encode()).hexdigest() != digest:
        hint = "Take an older copy, or start again from the first sample."
        raise InputError("a saved state as it was written", "one that was changed", hint=hint)
    return _decoded(state)


def _encoded(value: Any) -> Any:
    """Turn a part of the state into JSON values: a class of ours has its name under ``""``."""
    if isinstance(value, np.generic) and not isinstance(value, np.timedelta64):
        value = value.item()
    if isinstance(value, bool | int | float | str | NoneType):
        return value
    if isinstance(value, tuple):
        return [_encoded(part) for part in value]
    if isinstance(value, np.ndarray):
        shape = list(value.shape)
        return {"": "array", "type": value.dtype.str, "shape": shape, "data": value.tolist()}
    if isinstance(value, timedelta | np.timedelta64):
        length = np.timedelta64(value)
        unit, count = np.datetime_data(length.dtype)
        return {"": "length", "unit": unit, "count": int(length.astype(np.int64)) * count}
    if isinstance(value, tzinfo):
        offset = value.utcoffset(None)
        seconds = None if offset is None else offset / timedelta(seconds=1)
        return {"": "zone", "name": getattr(value, "key", None), "offset": seconds}
    if type(value).__name__ in _KINDS:
        own = {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
        return {"": type(value).__name__, **own}
    raise InputTypeError("a stream that can be saved", f"a {type(value).__name__} in it")


def _decoded(value: Any) -> Any:
    """Turn JSON values into the part of the state that they were written from."""
    if isinstance(value, list):
        return tuple(_decoded(part) for part in value)
    if not isinstance(value, dict):
        return value
    kind = value[""]
    if kind == "array":
        return np.array(value["data"], dtype=value["type"]).reshape(value["shape"])
    if kind == "length":
        return np.timedelta64(value["count"], value["unit"])
    if kind == "zone":
        name, offset = value["name"], value["offset"]
        return timezone(timedelta(seconds=offset)) if name is None else time_zone(name)
    return _KINDS[kind](**{name: _decoded(own) for name, own in value.items() if name})

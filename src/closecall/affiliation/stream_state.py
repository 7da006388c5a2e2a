"""The saved state of a stream: JSON with a version and a checksum, checked when it is read."""

from __future__ import annotations

import json
from datetime import timedelta, timezone, tzinfo
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.runs import (
    BEGIN,
    IGNORED,
    NO_STEPS,
    PREDICTED,
    TRUTH,
    WAYS,
    Limits,
    Runs,
    Steps,
    intervals_of,
    run_type,
)
from closecall.clock import LARGEST, PER_SECOND, Clock
from closecall.columns import time_zone
from closecall.errors import InputError, InputTypeError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.clock import Tick

_VERSION = 2
_ROUNDING = 1e-6  # of lengths of time in floats
_UNITS = {"integer": ("",), "number": ("",), "datetime": tuple(PER_SECOND)}


def to_json(runs: Runs, yielded: int) -> str:
    """Write a state with a checksum, so that damage is noticed."""
    content = json.dumps(_written(runs, yielded))
    digest = sha256(content.encode()).hexdigest()
    return f'{{"closecall_stream": {_VERSION}, "sha256": "{digest}", "state": {content}}}\n'


def from_json(text: str) -> tuple[Runs, int]:
    """Read a state; raise if the text is not one, was changed, or contradicts itself."""
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
    hint = "Take an older copy, or start again from the first sample."
    content = json.dumps(state)
    if sha256(content.encode()).hexdigest() != digest:
        raise InputError("a saved state as it was written", "one that was changed", hint=hint)
    try:
        runs, yielded = _read(state)
        # Values of other types than those that are written come out differently.
        holds = all(_rules(runs, yielded)) and content == json.dumps(_written(runs, yielded))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError):
        holds = False
    if not holds:
        rule = "a saved state that a stream has written"
        raise InputError(rule, "one that contradicts itself", hint=hint)
    return runs, yielded


def _written(runs: Runs, yielded: int) -> dict[str, Any]:
    """Return a state as JSON values."""
    kept, zone = runs.from_run(0), runs.clock.tz
    name = getattr(zone, "key", None)
    offset = zone.utcoffset(None) if isinstance(zone, tzinfo) else None
    if zone is not None and name is None and offset is None:
        raise InputTypeError("a stream that can be saved", f"the zone {zone} in it")
    return {
        "clock": [runs.clock.kind, runs.clock.unit],
        "zone": name or (None if offset is None else offset / timedelta(seconds=1)),
        "start": runs.start,
        "stop": runs.stop,
        "step": runs.step,
        "placed": runs.placed,
        "max_step": _written_length(runs.max_step),
        "way": runs.way,
        "samples": runs.samples,
        "steps": [list(each) if each != Limits() else None for each in runs.steps],
        "float32": runs.float32,
        "short": runs.short,
        "yielded": yielded,
        **{field: kept[field].tolist() for field in kept.dtype.names or ()},
    }


def _written_length(value: Any) -> Any:
    """Return `max_step` as a JSON value: a number, or how many units of time."""
    if isinstance(value, timedelta | np.timedelta64):
        length = np.timedelta64(value)
        unit, count = np.datetime_data(length.dtype)
        return [int(length.astype(np.int64)) * count, unit]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, int | float):
        return value
    raise InputTypeError("a stream that can be saved", f"a {type(value).__name__} in it")


def _read(state: dict[str, Any]) -> tuple[Runs, int]:
    """Turn JSON values into a state; what is wrong with them is found afterwards."""
    (kind, unit), zone, step, max_step = (
        state[key] for key in ("clock", "zone", "step", "max_step")
    )
    if zone is not None:
        zone = time_zone(zone) if isinstance(zone, str) else timezone(timedelta(seconds=zone))
    clock, tick = Clock(kind, unit, zone), float if kind == "number" else int
    kept = np.empty(len(state["tick"]), run_type(clock, state["way"]))
    for name in kept.dtype.names or ():
        kept[name] = state[name]
    limits = [Limits() if each is None else Limits(*map(tick, each)) for each in state["steps"]]
    runs = Runs(
        clock,
        tick(state["start"]),
        tick(state["stop"]),
        step if step is None else int(step),
        bool(state["placed"]),
        np.timedelta64(*max_step) if isinstance(max_step, list) else max_step,
        state["way"],
        (kept,) if kept.size else (),
        int(state["samples"]),
        Steps(*limits),
        bool(state["float32"]),
        bool(state["short"]),
    )
    return runs, int(state["yielded"])


def _rules(runs: Runs, yielded: int) -> Iterator[Any]:
    """Yield whether each rule of a state holds; a rule relies on those before it."""
    clock, kept, number = runs.clock, runs.from_run(0), runs.clock.kind == "number"
    ticks, codes, longest = kept["tick"], kept["code"], None
    yield clock.unit in _UNITS[clock.kind] and (clock.tz is None or clock.kind == "datetime")
    yield -inf < runs.start <= runs.stop < inf
    yield number or (runs.start >= -LARGEST and runs.stop <= LARGEST)
    yield runs.checked() is runs
    yield number or not (runs.float32 or runs.short)
    yield (runs.step or 1) > 0 and (runs.step is not None or clock.kind != "integer")
    yield all(each == Limits() or 0 < each[0] <= each[1] < inf for each in runs.steps)
    yield 0 <= yielded <= max(runs.count(TRUTH) - 1, 0)
    if not runs.way:
        yield kept.size == runs.samples == 0 and runs.steps == NO_STEPS
        yield runs.start == runs.stop
        return
    longest = runs.longest(clock)
    yield runs.way in WAYS and ticks[0] == runs.start and ticks[-1] <= runs.stop
    if runs.way == "events":
        yield runs.placed and longest is None and runs.steps == NO_STEPS
        yield runs.samples == 0
        yield (ticks[1:] >= ticks[:-1]).all() and codes.max() < 1 << (BEGIN + 2)
        yield codes[-1] & (TRUTH | PREDICTED) == 0
        for bit in (TRUTH, PREDICTED):
            yield ((codes >> BEGIN & bit) <= (codes & bit)).all()
            starts = intervals_of(ticks, codes, runs.stop, bit, clock).starts
            yield (starts[1:] > starts[:-1]).all()
        return
    timed, ignored = runs.way == "times", codes >= IGNORED
    yield codes.max() < 2 * IGNORED and runs.samples > 0
    yield (ticks[1:] > ticks[:-1]).all() and (timed or ticks[-1] < runs.stop)
    yield not runs.placed if timed else runs.steps.given == (runs.step, runs.step)
    yield timed or (ignored | ((ticks - runs.start) % (runs.step or 1) == 0)).all()
    counts = np.diff(runs.numbers(), prepend=0, append=runs.samples - timed)
    yield counts[0] == 0
    counts = counts[1:]
    lengths = np.diff(ticks, append=ticks.dtype.type(runs.stop))
    rests = counts == 0
    rests[-1] &= not timed  # the last sample has begun
    yield (counts >= 0).all() and not (rests & ~ignored).any()
    yield longest is not None or not rests.any()
    yield _can_last(runs.samples - timed, runs.stop - runs.start, runs.steps.given)
    evaluated = counts[~ignored].sum().item(), lengths[~ignored].sum().item()
    yield _can_last(*evaluated, runs.steps.evaluated)


def _can_last(count: int, length: Tick, limits: Limits) -> bool:
    """Return whether so many samples can last so long together."""
    if count == 0:
        return limits == Limits()
    slack = _ROUNDING * limits.longest * count if isinstance(length, float) else 0
    return count * limits.shortest - slack <= length <= count * limits.longest + slack

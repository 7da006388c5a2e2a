"""The saved state of a stream: JSON with a version and a checksum, checked when it is read."""

from __future__ import annotations

import json
from datetime import timedelta, timezone, tzinfo
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.runs import (
    BEGIN,
    IGNORED,
    PREDICTED,
    TRUTH,
    WAYS,
    Limits,
    Runs,
    Steps,
    event_intervals,
    run_type,
)
from closecall.affiliation.stream import StreamOptions
from closecall.clock import LARGEST, PER_SECOND, Clock
from closecall.columns import time_zone
from closecall.errors import InputError, InputTypeError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick, Ticks

_VERSION = 2
_ROUNDING = 1e-6  # of lengths of time in floats
_COLUMNS = ("tick", "sample", "code")


def to_json(options: StreamOptions, runs: Runs | None, yielded: int) -> str:
    """Write a state with a checksum, so that damage is noticed."""
    state = {
        "clock": _written_clock(options.clock),
        "start": options.start,
        "step": options.step,
        "placed": options.placed,
        "max_step": _written_length(options.max_step),
        "yielded": yielded,
        "runs": None if runs is None else _written_runs(runs),
    }
    content = json.dumps(state)
    digest = sha256(content.encode()).hexdigest()
    return f'{{"closecall_stream": {_VERSION}, "sha256": "{digest}", "state": {content}}}\n'


def from_json(text: str) -> tuple[StreamOptions, Runs | None, int]:
    """Read a state; raise if the text is not one, was changed, or contradicts itself."""
    if not isinstance(text, str):
        raise InputTypeError.expected("`text` to be the saved state of a stream", shown(text))
    try:
        saved = json.loads(text)
        version, digest, state = (saved[key] for key in ("closecall_stream", "sha256", "state"))
    except (ValueError, KeyError, TypeError, RecursionError):
        rule = "the saved state of a stream"
        raise InputError.expected(rule, f"{text[:40]!r}", "`to_json` writes one.") from None
    if version != _VERSION:
        rule = f"a state of version {_VERSION}"
        raise InputError.expected(rule, f"{version!r:.20}", "Start again from the first sample.")
    hint = "Take an older copy, or start again from the first sample."
    if sha256(json.dumps(state).encode()).hexdigest() != digest:
        raise InputError.expected("a saved state as it was written", "one that was changed", hint)
    try:
        return _read_state(state)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, OSError) as error:
        got = f"`{error}`" if isinstance(error, _Contradiction) else "one that cannot be"
        raise InputError.expected("a saved state without contradictions", got, hint) from error


class _Contradiction(ValueError):
    """What does not agree with the rest of a state."""


def _require(name: str, holds: Any) -> None:
    """Raise unless a rule of that name holds."""
    if not holds:
        raise _Contradiction(name)


def _read_state(state: dict[str, Any]) -> tuple[StreamOptions, Runs | None, int]:
    clock, step, yielded = _read_clock(state["clock"]), state["step"], state["yielded"]
    max_step = _read_length(state["max_step"])
    options = StreamOptions(_tick(state["start"], clock), step, clock, state["placed"], max_step)
    _require("placed", type(options.placed) is bool)
    _require("step", step is None if clock.kind == "number" else _is_whole(step or 1, 1))
    _require("step", step is not None or clock.kind != "integer")
    runs = None if state["runs"] is None else _read_runs(state["runs"], options)
    events = 0 if runs is None else runs.count(TRUTH)
    _require("yielded", _is_whole(yielded, 0) and yielded <= max(events - 1, 0))
    return options, runs, yielded


def _is_whole(value: Any, least: int) -> bool:
    return type(value) is int and least <= value <= LARGEST


def _tick(value: Any, clock: Clock) -> Tick:
    number = clock.kind == "number"
    _require("time", isfinite(value) and type(value) is (float if number else int))
    _require("time", number or -LARGEST <= value <= LARGEST)
    tick: Tick = value
    return tick


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
    raise InputTypeError.expected("a stream that can be saved", f"a {type(value).__name__} in it")


def _read_length(value: Any) -> Any:
    length = np.timedelta64(*value) if isinstance(value, list) else value
    if length is not None:
        _require("max_step", not isinstance(length, bool) and length > 0 * length)
    return length


def _written_clock(clock: Clock) -> dict[str, Any]:
    zone = clock.tz
    name = getattr(zone, "key", None)
    length = zone.utcoffset(None) if isinstance(zone, tzinfo) else None
    offset = None if length is None else length / timedelta(seconds=1)
    if zone is not None and name is None and offset is None:
        raise InputTypeError.expected("a stream that can be saved", f"the zone {zone} in it")
    return {"kind": clock.kind, "unit": clock.unit, "zone": name, "offset": offset}


def _read_clock(written: dict[str, Any]) -> Clock:
    kind, unit, name = written["kind"], written["unit"], written["zone"]
    units = {"integer": [""], "number": [""], "datetime": list(PER_SECOND)}
    _require("unit", unit in units[kind])
    zone = None
    if name is not None:
        zone = time_zone(name)
    elif written["offset"] is not None:
        zone = timezone(timedelta(seconds=written["offset"]))
    _require("zone", zone is None or kind == "datetime")
    return Clock(kind, unit, zone)


def _written_runs(runs: Runs) -> dict[str, Any]:
    kept = runs.from_run(0)
    limits = [list(each) if each.shortest <= each.longest else None for each in runs.steps]
    return {
        "way": runs.way,
        "clock": _written_clock(runs.clock),
        "start": runs.start,
        "stop": runs.stop,
        "samples": runs.samples,
        "steps": limits,
        "float32": runs.float32,
        "short": runs.short,
        **{name: kept[name].tolist() for name in _COLUMNS},
    }


def _read_runs(written: dict[str, Any], options: StreamOptions) -> Runs:
    """Read all that was seen."""
    way, clock, samples = written["way"], _read_clock(written["clock"]), written["samples"]
    _require("way", way in WAYS)
    columns = [np.array(written[name]) for name in _COLUMNS]
    kept = np.empty(columns[0].size, run_type(clock))
    for name, column in zip(_COLUMNS, columns, strict=True):
        kind = "f" if name == "tick" and clock.kind == "number" else "i"
        _require(name, column.dtype.kind == kind and column.shape == (kept.size,))
        kept[name] = column
    _require(
        "code", (columns[2] >= 0).all() and (columns[2] < (8 if way != "events" else 32)).all()
    )
    steps = Steps(*(_read_limits(each, clock) for each in written["steps"]))
    start, stop = (_tick(written[name], clock) for name in ("start", "stop"))
    flags = written["float32"], written["short"]
    _require("float32", all(type(flag) is bool for flag in flags))
    _require("float32", clock.kind == "number" or not any(flags))
    max_step = options.longest(clock)
    runs = Runs(way, clock, (kept,), start, stop, samples, steps, max_step, *flags)
    ticks = kept["tick"]
    _require("start", ticks[0] == start and start <= stop and ticks[-1] <= stop)
    _require("stop", clock.kind == "number" or stop - start < LARGEST // 2)
    if way == "events":
        _require_events(runs, kept, options)
    else:
        _require("step", way == "times" or (steps.given == (options.step, options.step)))
        _require_samples(runs, kept)
    return runs


def _read_limits(written: Any, clock: Clock) -> Limits:
    limits = Limits() if written is None else Limits(*(_tick(each, clock) for each in written))
    _require("steps", written is None or 0 < limits.shortest <= limits.longest)
    return limits


def _require_events(runs: Runs, kept: NDArray[Any], options: StreamOptions) -> None:
    """Raise unless these can be the runs of events."""
    _require("samples", runs.samples == 0 and not kept["sample"].any())
    _require("steps", runs.steps == Steps() and runs.max_step is None and options.placed)
    _require("tick", (np.diff(kept["tick"]) >= 0).all())
    _require("code", kept["code"][-1] & (TRUTH | PREDICTED) == 0)
    for bit in (TRUTH, PREDICTED):
        _require("code", ((kept["code"] & bit) >= (kept["code"] >> BEGIN & bit)).all())
        starts = event_intervals(kept, runs.stop, bit, runs.clock).starts
        _require("tick", (np.diff(starts) > 0).all())


def _require_samples(runs: Runs, kept: NDArray[Any]) -> None:
    """Raise unless these can be the runs of samples of the lengths that are given."""
    timed, ignored = runs.way == "times", kept["code"] >= IGNORED
    _require("samples", _is_whole(runs.samples, 1) and kept["sample"][0] == 0)
    counts = np.diff(kept["sample"], append=runs.samples - timed)
    lengths = np.diff(kept["tick"], append=kept["tick"].dtype.type(runs.stop))
    _require("sample", (counts >= 0).all())
    _require("tick", (lengths[: len(lengths) - timed] > 0).all())
    rests = counts == 0
    rests[-1:] &= not timed  # the last sample has begun
    _require("sample", not (rests & ~ignored).any())
    _require("sample", runs.max_step is not None or not rests.any())
    starts = np.flatnonzero(~rests)
    both = np.add.reduceat(counts, starts), np.add.reduceat(lengths, starts)
    _require("steps", _can_last(*both, runs.steps.given))
    _require("steps", _can_last(counts[~ignored], lengths[~ignored], runs.steps.evaluated))


def _can_last(counts: NDArray[np.int64], lengths: Ticks, limits: Limits) -> bool:
    """Return whether so many samples can last so long together."""
    shortest, longest = limits
    fits = counts == 0
    if shortest == longest and lengths.dtype.kind == "i":
        fits = (lengths % shortest == 0) & (lengths // shortest == counts)
    elif shortest <= longest:
        slack = _ROUNDING * longest * counts
        fits = (lengths >= counts * shortest - slack) & (lengths <= counts * longest + slack)
    return bool(fits.all())

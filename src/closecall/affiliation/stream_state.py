"""The saved state of a stream: JSON with a version and a checksum, each field checked when read."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from datetime import timedelta, timezone, tzinfo
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.runs import (
    CODES,
    IGNORED,
    PREDICTED,
    TRUTH,
    Limits,
    Runs,
    Steps,
    intervals_of,
    run_type,
)
from closecall.affiliation.stream import StreamOptions
from closecall.clock import LARGEST, PER_SECOND, Clock
from closecall.columns import time_zone
from closecall.errors import ClosecallError, InputError, InputTypeError, shown
from closecall.parameters import read_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Tick

_VERSION = 2
_DAY = 86_400  # seconds
_ROUNDING = 1e-6  # of lengths of time in floats


def state_to_json(options: StreamOptions, seen: Runs | None, yielded: int) -> str:
    """Write a state with a checksum, so that damage is noticed."""
    state = {
        "start": options.start,
        "step": options.step,
        "placed": options.placed,
        "max_step": _written_length(options.max_step),
        "clock": _written_clock(options.clock),
        "yielded": yielded,
        "seen": None if seen is None else _written_runs(seen),
    }
    content = json.dumps(state)
    digest = sha256(content.encode()).hexdigest()
    return f'{{"closecall_stream": {_VERSION}, "sha256": "{digest}", "state": {content}}}\n'


def state_from_json(text: str) -> tuple[StreamOptions, Runs | None, int]:
    """Read a state; raise if it is no such text, was changed, or contradicts itself."""
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
    if sha256(json.dumps(state).encode()).hexdigest() != digest:
        hint = "Take an older copy, or start again from the first sample."
        raise InputError.expected("a saved state as it was written", "one that was changed", hint)
    fields = _Fields(state, "state")
    clock = _read_clock(fields.get("clock"))
    options = StreamOptions(
        start=fields.tick("start", clock),
        step=fields.optional("step", lambda name: fields.whole(name, 1)),
        clock=clock,
        placed=fields.flag("placed"),
        max_step=_read_length(fields),
    )
    if options.step is None and clock.kind == "integer":
        raise fields.wrong("step", options.step)
    seen = fields.optional("seen", lambda name: _read_runs(fields.get(name), options))
    yielded = fields.whole("yielded", 0)
    if yielded > (0 if seen is None else seen.counts()[0]):
        raise fields.wrong("yielded", yielded)
    return options, seen, yielded


class _Fields:
    """The fields of a JSON object, by name; each is checked when it is read."""

    def __init__(self, value: Any, name: str) -> None:
        if not isinstance(value, dict):
            raise _inconsistent(name, value)
        self._values = value

    def wrong(self, name: str, value: Any) -> InputError:
        return _inconsistent(name, value)

    def get(self, name: str) -> Any:
        if name not in self._values:
            raise _inconsistent(name, None)
        return self._values[name]

    def optional(self, name: str, read: Any) -> Any:
        return None if self.get(name) is None else read(name)

    def flag(self, name: str) -> bool:
        value = self.get(name)
        if not isinstance(value, bool):
            raise self.wrong(name, value)
        return value

    def choice(self, name: str, choices: Any) -> Any:
        value = self.get(name)
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(name, value)
        return value

    def whole(self, name: str, least: int) -> int:
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
            raise self.wrong(name, value)
        return value

    def tick(self, name: str, clock: Clock) -> Tick:
        return _read_tick(self.get(name), name, clock)


def _inconsistent(name: str, value: Any) -> InputError:
    hint = "Take an older copy, or start again from the first sample."
    rule = f"`{name}` of a saved state to agree with the rest of it"
    return InputError.expected(rule, shown(value), hint)


def _read_tick(value: Any, name: str, clock: Clock) -> Tick:
    if clock.kind == "number":
        if isinstance(value, float) and isfinite(value):
            return value
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return value
    raise _inconsistent(name, value)


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


def _read_length(fields: _Fields) -> Any:
    value = fields.get("max_step")
    if value is None:
        return None
    if isinstance(value, list):
        units = {*PER_SECOND, "W", "D", "h", "m"}
        known = len(value) == 2 and isinstance(value[1], str) and value[1] in units  # noqa: PLR2004
        if not known or type(value[0]) is not int or not 0 < value[0] <= LARGEST:
            raise fields.wrong("max_step", value)
        return np.timedelta64(value[0], value[1])
    if isinstance(value, bool):
        raise fields.wrong("max_step", value)
    read_length(value, Clock("number"), "max_step")
    return value


def _written_clock(clock: Clock) -> dict[str, Any]:
    zone, offset = clock.tz, None
    if isinstance(zone, tzinfo):
        length = zone.utcoffset(None)
        offset = None if length is None else length / timedelta(seconds=1)
    name = getattr(zone, "key", None)
    if zone is not None and name is None and offset is None:
        raise InputTypeError.expected("a stream that can be saved", f"the zone {zone} in it")
    return {"kind": clock.kind, "unit": clock.unit, "zone": name, "offset": offset}


def _read_clock(value: Any) -> Clock:
    fields = _Fields(value, "clock")
    kind = fields.choice("kind", ("integer", "number", "datetime"))
    unit = fields.choice("unit", PER_SECOND if kind == "datetime" else ("",))
    name, offset = fields.get("zone"), fields.get("offset")
    if (name, offset) == (None, None):
        return Clock(kind, unit)
    if kind != "datetime":
        raise fields.wrong("zone", name)
    if name is None:
        if not isinstance(offset, float) or not -_DAY < offset < _DAY:
            raise fields.wrong("offset", offset)
        return Clock(kind, unit, timezone(timedelta(seconds=offset)))
    try:
        return Clock(kind, unit, time_zone(fields.choice("zone", (name,))))
    except (OSError, InputError):
        raise fields.wrong("zone", name) from None


def _written_runs(seen: Runs) -> dict[str, Any]:
    runs = seen.whole()
    columns = {name: b64encode(runs[name].tobytes()).decode() for name in ("tick", "sample", "code")}
    limits = {
        name: None if own.shortest > own.longest else list(own)
        for name, own in seen.steps._asdict().items()
    }
    return {
        "way": seen.way,
        "clock": _written_clock(seen.clock),
        "start": seen.start,
        "stop": seen.stop,
        "samples": seen.samples,
        "step": seen.step,
        "placed": seen.placed,
        "steps": limits,
        "float32": seen.float32,
        "short": seen.short,
        **columns,
    }


def _read_runs(value: Any, options: StreamOptions) -> Runs:
    """Read all that was seen; the fields must agree with each other."""
    fields = _Fields(value, "seen")
    way, clock = fields.choice("way", CODES), _read_clock(fields.get("clock"))
    runs = _read_columns(fields, way, clock)
    start, stop = fields.tick("start", clock), fields.tick("stop", clock)
    exact = clock.kind != "number"
    if runs["tick"][0] != start or not start <= runs["tick"][-1] <= stop:
        raise fields.wrong("start", start)
    if exact and stop - start >= LARGEST // 2:
        raise fields.wrong("stop", stop)
    limits = _Fields(fields.get("steps"), "steps")
    steps = Steps(*(_read_limits(limits, name, clock) for name in Steps._fields))
    try:
        max_step = options.longest(clock)
    except ClosecallError:
        raise fields.wrong("max_step", options.max_step) from None
    seen = Runs(
        way,
        clock,
        (runs,),
        start,
        stop,
        fields.whole("samples", 0),
        fields.optional("step", lambda name: fields.whole(name, 1)),
        fields.flag("placed"),
        max_step,
        steps,
        fields.flag("float32"),
        fields.flag("short"),
    )
    if way == "events":
        _require_events(seen, options)
    else:
        _require_samples(seen)
    return seen


def _read_columns(fields: _Fields, way: str, clock: Clock) -> NDArray[Any]:
    """Read the runs: three columns of one length, in the order of time."""
    kind, columns = run_type(clock), {}
    for name in kind.names or ():
        text, column = fields.get(name), kind[name]
        try:
            content = b64decode(text, validate=True)
            columns[name] = np.frombuffer(content, dtype=column)
        except (TypeError, ValueError):
            raise fields.wrong(name, text) from None
    sizes = {column.size for column in columns.values()}
    if len(sizes) > 1 or 0 in sizes:
        raise fields.wrong("sample", f"{columns['sample'].size} runs")
    runs = np.empty(columns["tick"].size, kind)
    for name, column in columns.items():
        runs[name] = column
    ticks = columns["tick"]
    if not np.isfinite(ticks).all() or (ticks < -LARGEST).any():
        raise fields.wrong("tick", "a time that is none")
    rising = ticks[1:] > ticks[:-1] if way != "events" else ticks[1:] >= ticks[:-1]
    if not rising.all():
        raise fields.wrong("tick", f"times that go back at run {int(rising.argmin()) + 1}")
    if (runs["code"] >= CODES[way]).any():
        raise fields.wrong("code", int(runs["code"].max()))
    return runs


def _read_limits(fields: _Fields, name: str, clock: Clock) -> Limits:
    value = fields.get(name)
    if value is None:
        return Limits()
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - shortest and longest
        raise fields.wrong(name, value)
    shortest, longest = (_read_tick(length, name, clock) for length in value)
    if not 0 < shortest <= longest:
        raise fields.wrong(name, value)
    return Limits(shortest, longest)


def _require_events(seen: Runs, options: StreamOptions) -> None:
    """Raise unless these can be the runs of a stream of events."""
    runs, nothing = seen.whole(), (0, None, True, Steps(), False, False)
    given = seen.samples, seen.step, seen.placed, seen.steps, seen.float32, seen.short
    if given != nothing or runs["sample"].any() or not options.placed or options.max_step:
        raise _inconsistent("samples", seen.samples)
    if runs["code"][-1] & (TRUTH | PREDICTED):
        raise _inconsistent("code", "an event without a stop")
    for bit in (TRUTH, PREDICTED):
        starts = intervals_of(runs, seen.stop, bit, seen.clock).starts
        if (starts[1:] == starts[:-1]).any():
            raise _inconsistent("tick", "two events that start at once")


def _require_samples(seen: Runs) -> None:
    """Raise unless these can be the runs of samples of the lengths that are told."""
    runs, given, evaluated = seen.whole(), seen.steps.given, seen.steps.evaluated
    number = seen.clock.kind == "number"
    timed, complete = seen.way == "times", seen.samples - (seen.way == "times")
    samples = np.append(runs["sample"], complete)
    counts, lengths = np.diff(samples), np.diff(np.append(runs["tick"], runs["tick"].dtype.type(seen.stop)))
    if samples[0] != 0 or (counts < 0).any() or not seen.samples:
        raise _inconsistent("sample", "samples that are not counted in order")
    if (seen.step is None) != timed or (seen.float32 or seen.short) > number or (timed and not seen.placed):
        raise _inconsistent("step", seen.step)
    if not timed and (number or seen.stop - seen.start != int(seen.step or 0) * seen.samples or given != Limits(seen.step, seen.step)):
        raise _inconsistent("step", seen.step)
    ignored = (runs["code"] & IGNORED) > 0
    rests = counts == 0
    rests[-1:] &= not timed  # the last sample has begun
    if (rests & ~ignored).any() or (rests.any() and seen.max_step is None):
        raise _inconsistent("sample", "a run without samples")
    starts = np.flatnonzero(~rests)
    _require_lengths("given", np.add.reduceat(counts, starts), np.add.reduceat(lengths, starts), given)
    _require_lengths("evaluated", counts[~ignored], lengths[~ignored], evaluated)


def _require_lengths(name: str, counts: NDArray[np.int64], lengths: Any, limits: Limits) -> None:
    """Raise unless so many samples can be that long together."""
    shortest, longest = limits
    fits = counts == 0
    if shortest == longest and lengths.dtype.kind == "i":
        fits = (lengths % shortest == 0) & (lengths // shortest == counts)
    elif shortest <= longest:
        slack = _ROUNDING * longest * counts
        fits = (lengths >= counts * shortest - slack) & (lengths <= counts * longest + slack)
    if not fits.all():
        raise _inconsistent(name, list(limits))

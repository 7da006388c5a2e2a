"""The state of a stream as JSON text, so that it can be stored and go on elsewhere."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import timedelta, timezone, tzinfo
from hashlib import sha256
from types import NoneType
from typing import Any

import numpy as np

from closecall.affiliation.stream_parts import EventPart, SampledPart, StreamOptions, TimedPart
from closecall.affiliation.stream_state import Blocks, CallersTime, RunsLeftOut, Segment
from closecall.axis import Spacing
from closecall.clock import Clock
from closecall.columns import time_zone
from closecall.errors import InputError, InputTypeError, shown

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
_VERSION = 1  # of the layout


def to_json(state: tuple[Any, ...]) -> str:
    """Write a state with a checksum, so that damage is noticed."""
    content = json.dumps(_encoded(state))
    digest = sha256(content.encode()).hexdigest()
    return f'{{"closecall_stream": {_VERSION}, "sha256": "{digest}", "state": {content}}}\n'


def from_json(text: str) -> Any:
    """Read a state; raise if it is no such text, or was changed."""
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
    raise InputTypeError.expected("a stream that can be saved", f"a {type(value).__name__} in it")


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

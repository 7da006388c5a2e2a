"""Datetimes of any make, read as exact ticks: numpy stamps, Python datetimes, pandas stamps."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import LARGEST, PER_SECOND, Clock, Ticks
from closecall.errors import InputError, InputTypeError, expected

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SECONDS = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}


def read_stamps(stamps: NDArray[Any], zone: tzinfo | None, name: str) -> tuple[Ticks, Clock]:
    """Read an array of numpy datetimes; units above the second become seconds."""
    unit, count = np.datetime_data(stamps.dtype)
    if unit not in _SECONDS and unit not in PER_SECOND:
        raise InputTypeError(
            expected(
                f"`{name}` to be datetimes in a unit from weeks to nanoseconds",
                str(stamps.dtype),
                "Convert them first, e.g. with `.astype('datetime64[s]')`.",
            )
        )
    missing = np.isnat(stamps)
    if missing.any():
        raise _missing(name, "NaT", int(missing.argmax()))
    own = stamps.astype(np.int64)
    factor = count * _SECONDS.get(unit, 1)
    unit = "s" if unit in _SECONDS else unit
    if factor > 1 and max(abs(int(own.min())), abs(int(own.max()))) * factor > LARGEST:
        largest = stamps[np.abs(own).argmax()]
        raise InputError(expected(f"`{name}` to fit in 64 bits of unit {unit!r}", str(largest)))
    return own * factor if factor > 1 else own, Clock("datetime", unit, zone)


def read_objects(values: NDArray[Any], name: str) -> tuple[Ticks, Clock]:
    """Read Python datetimes, dates and pandas stamps, which numpy keeps as bare objects."""
    for index, value in enumerate(values):
        if is_missing(value):
            raise _missing(name, str(value), index)
    zone = getattr(values[0], "tzinfo", None)
    stamps = []
    for index, value in enumerate(values):
        if not isinstance(value, (date, np.datetime64)):
            raise _not_a_time(value, index, name)
        if (getattr(value, "tzinfo", None) is None) != (zone is None):
            raise mixed_zones(f"`{name}`", f"{values[0]} and {value} at index {index}")
        stamps.append(_stamp(value))
    units = [np.datetime_data(stamp.dtype)[0] for stamp in stamps]
    finest = min(units, key=lambda unit: _nanoseconds(unit, name))
    ticks = [
        int(stamp.astype(np.int64)) * (_nanoseconds(unit, name) // _nanoseconds(finest, name))
        for stamp, unit in zip(stamps, units, strict=True)
    ]
    for index, tick in enumerate(ticks):
        if abs(tick) > LARGEST:
            got = f"{values[index]} at index {index}"
            raise InputError(expected(f"`{name}` to fit in 64 bits of unit {finest!r}", got))
    return read_stamps(np.array(ticks, dtype=np.int64).view(f"datetime64[{finest}]"), zone, name)


def is_missing(value: Any) -> bool:
    """Tell None, nan, NaT and pandas' NA from a value."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124


def mixed_zones(what: str, got: str) -> InputTypeError:
    """Say that some times have a zone and others do not."""
    return InputTypeError(
        expected(
            f"{what} to have a time zone everywhere or nowhere",
            got,
            "Localise the times without a zone, or convert the others to UTC and drop it.",
        )
    )


def _missing(name: str, value: str, index: int) -> InputError:
    return InputError(expected(f"`{name}` to have no missing times", f"{value} at index {index}"))


def _not_a_time(value: Any, index: int, name: str) -> InputTypeError:
    hint = "Integers must fit in 64 bits; text must be parsed first."
    return InputTypeError(
        expected(
            f"`{name}` to be of one kind, numbers or datetimes",
            f"{value!r} at index {index}",
            hint if isinstance(value, (int, str)) else "",
        )
    )


def _nanoseconds(unit: str, name: str) -> int:
    if unit in _SECONDS:
        return _SECONDS[unit] * PER_SECOND["ns"]
    if unit in PER_SECOND:
        return PER_SECOND["ns"] // PER_SECOND[unit]
    raise InputTypeError(
        expected(f"`{name}` to be datetimes in a unit from weeks to nanoseconds", repr(unit))
    )


def _stamp(value: Any) -> np.datetime64:
    if hasattr(value, "to_datetime64"):  # a pandas stamp, which also knows nanoseconds
        return np.datetime64(value.to_datetime64())
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value)

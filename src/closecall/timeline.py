"""Time axes: samples, numbers and datetimes, all kept as exact ticks.

Ticks are int64 where the caller's times are integers or datetimes (counted in the axis' own unit,
in UTC) and float64 for other numbers. Nothing is rounded on the way in, so an axis of epoch
nanoseconds gives the same digits as the same axis counted from zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected

Ticks = NDArray[Any]  # int64 or float64
Tick = int | float
Moment = int | float | datetime | np.datetime64

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EXACT_FLOAT = 2**53  # every integer up to here is a float64


@dataclass(frozen=True, slots=True)
class Clock:
    """What one tick means to the caller: which kind of time, in which unit and time zone."""

    kind: Literal["integer", "number", "datetime"]
    unit: str = ""
    tz: tzinfo | None = None

    def native(self, ticks: Ticks) -> NDArray[Any]:
        """Give ticks back as the caller knows them; datetimes with a zone are in UTC."""
        return ticks.view(f"datetime64[{self.unit}]") if self.kind == "datetime" else ticks

    def scalar(self, tick: Tick) -> Moment:
        """Give one tick back as a Python number or datetime (in its time zone)."""
        if self.kind == "integer":
            return int(tick)
        if self.kind == "number":
            return float(tick)
        stamp: np.datetime64 = np.int64(tick).view(f"datetime64[{self.unit}]")
        if self.tz is None:
            # A datetime cannot hold nanoseconds.
            return stamp if self.unit == "ns" else _as_datetime(stamp)
        if self.unit == "ns" and tick % 1000:
            return _nanosecond_stamp(stamp, self.tz)
        return _as_datetime(stamp).replace(tzinfo=UTC).astimezone(self.tz)

    def text(self, tick: Tick) -> str:
        """Write one tick as the caller would: ``7``, ``0.5`` or ``2024-01-31 08:05:00``."""
        moment = self.scalar(tick)
        if isinstance(moment, np.datetime64):
            return str(moment).replace("T", " ").removesuffix(".000000000")
        return str(moment) if isinstance(moment, datetime) else f"{moment!r}"

    @property
    def ticks_per_second(self) -> int:
        """Ticks in a second of a datetime axis."""
        return _PER_SECOND[self.unit]

    @property
    def seconds(self) -> float:
        """Seconds in one tick of a datetime axis."""
        return 1 / _PER_SECOND[self.unit]

    def duration(self, ticks: NDArray[np.float64]) -> NDArray[Any]:
        """Turn lengths of time in ticks into numbers, or into timedeltas (nan and inf into NaT)."""
        if self.kind != "datetime":
            return ticks
        defined = np.isfinite(ticks)
        scaled = np.where(defined, ticks, 0) * (_PER_SECOND["ns"] // _PER_SECOND[self.unit])
        if (np.abs(scaled) >= np.iinfo(np.int64).max).any():
            # Longer than the 292 years that nanoseconds can count.
            scaled, unit = np.where(defined, ticks, 0), self.unit
        else:
            unit = "ns"
        durations: NDArray[Any] = np.rint(scaled).astype(np.int64).view(f"timedelta64[{unit}]")
        durations[~defined] = np.timedelta64("NaT")
        return durations


SAMPLES = Clock("integer")


def _as_datetime(stamp: np.datetime64) -> datetime:
    moment = stamp.astype("datetime64[us]").item()
    if not isinstance(moment, datetime):
        raise InputError(expected("times within the years 1 to 9999", str(stamp)))
    return moment


def _nanosecond_stamp(stamp: np.datetime64, zone: tzinfo) -> datetime:
    # Only a pandas stamp holds both nanoseconds and a zone, and such times come from pandas.
    import pandas as pd

    return pd.Timestamp(stamp, tz=UTC).tz_convert(zone)


def read_times(values: Any, name: str) -> tuple[Ticks, Clock]:
    """Read a column of times as ticks; refuse nan, NaT, inf and anything that is not a time."""
    array, zone = read_column(values, name)
    kind = array.dtype.kind
    if array.size == 0:
        return np.empty(0, dtype=np.int64), SAMPLES
    if kind == "O":
        array, zone = _read_objects(array, name)
        kind = "M"
    if kind == "M":
        return _read_stamps(array, zone, name)
    if kind in "iu":
        if kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
            raise InputError(expected(f"`{name}` to fit in 64 bits", str(int(array.max()))))
        return np.ascontiguousarray(array, dtype=np.int64), SAMPLES
    if kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            index = int(finite.argmin())
            raise InputError(
                expected(f"`{name}` to be finite", f"{float(array[index])} at index {index}")
            )
        return np.ascontiguousarray(array, dtype=np.float64), Clock("number")
    hints = {
        "m": "Divide by a unit first, e.g. `times / numpy.timedelta64(1, 's')`.",
        "U": "Parse them first, e.g. `numpy.array(times, dtype='datetime64[s]')`.",
        "b": "A column of 0/1 is a label vector, not an axis of times.",
    }
    raise InputTypeError(
        expected(f"`{name}` to be numbers or datetimes", str(array.dtype), hints.get(kind, ""))
    )


def _read_stamps(stamps: NDArray[Any], zone: tzinfo | None, name: str) -> tuple[Ticks, Clock]:
    unit = np.datetime_data(stamps.dtype)[0]
    if unit not in {"W", "D", "h", "m", *_PER_SECOND}:
        raise InputTypeError(
            expected(
                f"`{name}` to be datetimes in a unit from weeks to nanoseconds",
                str(stamps.dtype),
                "Convert them first, e.g. with `.astype('datetime64[s]')`.",
            )
        )
    unit = unit if unit in _PER_SECOND else "s"
    stamps = np.ascontiguousarray(stamps, dtype=f"datetime64[{unit}]")
    missing = np.isnat(stamps)
    if missing.any():
        raise InputError(
            expected(f"`{name}` to have no missing times", f"NaT at index {int(missing.argmax())}")
        )
    return stamps.view(np.int64), Clock("datetime", unit, zone)


def _read_objects(values: NDArray[Any], name: str) -> tuple[NDArray[Any], tzinfo | None]:
    """Read Python datetimes, dates and pandas stamps, which numpy keeps as bare objects."""
    zone = getattr(values[0], "tzinfo", None)
    stamps = []
    for index, value in enumerate(values):
        if value is None or value != value:  # noqa: PLR0124 - NaT and nan differ from themselves
            raise InputError(
                expected(f"`{name}` to have no missing times", f"{value} at index {index}")
            )
        if not isinstance(value, (date, np.datetime64)):
            raise InputTypeError(
                expected(
                    f"`{name}` to be of one kind, numbers or datetimes",
                    f"{value!r} at index {index}",
                    "Integers must fit in 64 bits; text must be parsed first."
                    if isinstance(value, (int, str))
                    else "",
                )
            )
        own_zone = getattr(value, "tzinfo", None)
        if (own_zone is None) != (zone is None):
            raise _mixed_zones(name, f"{values[0]} and {value} at index {index}")
        stamps.append(_stamp(value))
    return np.array(stamps), zone


def _stamp(value: Any) -> np.datetime64:
    if hasattr(value, "to_datetime64"):  # a pandas stamp, which also knows nanoseconds
        return np.datetime64(value.to_datetime64())
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value)


def _mixed_zones(what: str, got: str) -> InputTypeError:
    return InputTypeError(
        expected(
            f"`{what}` to have a time zone everywhere or nowhere",
            got,
            "Localise the times without a zone, or convert the others to UTC and drop it.",
        )
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """Ticks with their clock, and the argument they came from."""

    name: str
    ticks: Ticks
    clock: Clock


def on_one_clock(*parts: Timed) -> tuple[list[Ticks], Clock]:
    """Bring ticks of several arguments to one clock, exactly, or say why that cannot be."""
    filled = [part for part in parts if part.ticks.size]
    if not filled:
        return [part.ticks for part in parts], SAMPLES
    first = filled[0]
    clock = first.clock
    for part in filled[1:]:
        clock = _common(clock, part, first.name)
    return [_convert(part, clock) for part in parts], clock


def _common(clock: Clock, part: Timed, first: str) -> Clock:
    other = part.clock
    if clock == other:
        return clock
    if (clock.kind == "datetime") != (other.kind == "datetime"):
        kinds = [("datetimes" if c.kind == "datetime" else "numbers") for c in (clock, other)]
        raise InputTypeError(
            expected(
                f"`{first}` and `{part.name}` to be on one kind of time axis",
                f"{kinds[0]} and {kinds[1]}",
                "Give all times as datetimes, or all as numbers.",
            )
        )
    if clock.kind != "datetime":
        return Clock("number")
    if (clock.tz is None) != (other.tz is None):
        raise _mixed_zones(f"{first}` and `{part.name}", f"zones {clock.tz} and {other.tz}")
    finer = max(clock.unit, other.unit, key=_PER_SECOND.__getitem__)
    return replace(clock, unit=finer)


def _convert(part: Timed, clock: Clock) -> Ticks:
    ticks, own = part.ticks, part.clock
    if ticks.size == 0:
        return np.empty(0, dtype=np.float64 if clock.kind == "number" else np.int64)
    if own.kind == clock.kind and own.unit == clock.unit:
        return ticks
    largest = max(abs(int(ticks.min())), abs(int(ticks.max())))
    if clock.kind == "number":
        if largest > _EXACT_FLOAT:
            raise InputTypeError(
                expected(
                    f"`{part.name}` to be exact beside times that are not integers",
                    f"the integer {largest}, which no float holds",
                    "Subtract a common origin first, or give all times as integers.",
                )
            )
        return ticks.astype(np.float64)
    factor = _PER_SECOND[clock.unit] // _PER_SECOND[own.unit]
    if largest * factor > np.iinfo(np.int64).max:
        raise InputError(
            expected(
                f"`{part.name}` to fit the unit {clock.unit!r} of the other times",
                f"{own.text(int(ticks[np.abs(ticks).argmax()]))}",
                "Convert all times to one coarser unit.",
            )
        )
    return ticks * np.int64(factor)

"""Time axes: samples, numbers and datetimes of any make, all kept as exact ticks.

Ticks are int64 where the caller's times are integers or datetimes (counted in the axis' own unit,
in UTC) and float64 for other numbers. Nothing is rounded on the way in, so an axis of epoch
nanoseconds gives the same digits as the same axis counted from zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ticks: TypeAlias = "NDArray[Any]"  # int64 or float64
Tick = int | float
Moment = int | float | datetime | np.datetime64

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
LARGEST = 2**63 - 1
_NAT = -(2**63)  # the ticks of numpy's NaT
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Clock:
    """What one tick means to the caller: which kind of time, in which unit and time zone."""

    kind: Literal["integer", "number", "datetime"]
    unit: str = ""
    tz: tzinfo | None = None

    def native(self, ticks: Ticks) -> NDArray[Any]:
        """Return ticks as the caller knows them; datetimes with a zone are in UTC."""
        return ticks.view(f"datetime64[{self.unit}]") if self.kind == "datetime" else ticks

    def scalar(self, tick: Tick) -> Moment:
        """Return one tick as a Python number or datetime (in its time zone)."""
        if self.kind == "integer":
            return int(tick)
        if self.kind == "number":
            return float(tick)
        if self.tz is None and self.unit == "ns":
            return self._stamp(tick)  # a datetime cannot hold nanoseconds
        if self.unit == "ns" and tick % 1000:
            return self._nanosecond_stamp(tick)
        return self._datetime(tick)

    def text(self, tick: Tick) -> str:
        """Write one tick as the caller would: ``7``, ``0.5`` or ``2024-01-31 08:05:00``."""
        if self.kind != "datetime":
            return f"{self.scalar(tick)!r}"
        if self.tz is None or not self._is_datetime(tick):
            text = str(self._stamp(tick)).replace("T", " ")
            return text.rstrip("0").rstrip(".") if text.endswith(".000000000") else _short(text)
        local = self._datetime(tick)
        nanoseconds = f"{tick % 1000:03}" if self.unit == "ns" and tick % 1000 else ""
        precision = "microseconds" if local.microsecond or nanoseconds else "seconds"
        return (
            local.replace(tzinfo=None).isoformat(" ", precision)
            + nanoseconds
            + local.isoformat()[len(local.replace(tzinfo=None).isoformat()) :]
        )

    @property
    def ticks_per_second(self) -> int:
        """Ticks in a second of a datetime axis."""
        return PER_SECOND[self.unit]

    @property
    def seconds(self) -> float:
        """Seconds in one tick of a datetime axis; 1 on others, where no tick has a length."""
        return 1 / PER_SECOND[self.unit] if self.kind == "datetime" else 1.0

    def duration(self, ticks: NDArray[np.float64]) -> NDArray[Any]:
        """Turn lengths of time in ticks into numbers, or into timedeltas (nan and inf into NaT)."""
        if self.kind != "datetime":
            return ticks
        defined = np.isfinite(ticks)
        scaled = np.where(defined, ticks, 0) * (PER_SECOND["ns"] // PER_SECOND[self.unit])
        if (np.abs(scaled) >= LARGEST).any():
            # Longer than the 292 years that nanoseconds can count.
            scaled, unit = np.where(defined, ticks, 0), self.unit
        else:
            unit = "ns"
        whole = np.rint(scaled).astype(np.int64)
        whole[~defined] = _NAT
        durations: NDArray[Any] = whole.view(f"timedelta64[{unit}]")
        return durations

    def _stamp(self, tick: Tick) -> np.datetime64:
        stamp: np.datetime64 = np.int64(tick).view(f"datetime64[{self.unit}]")
        return stamp

    def _is_datetime(self, tick: Tick) -> bool:
        # In its zone a time may lie up to a day before or after.
        room = 0 if self.tz is None or self.tz is UTC else _DAY
        return _FIRST_SECOND + room <= tick // PER_SECOND[self.unit] <= _LAST_SECOND - room

    def _datetime(self, tick: Tick) -> datetime:
        if not self._is_datetime(tick):
            raise InputError("times within the years 1 to 9999", str(self._stamp(tick)))
        moment: datetime = self._stamp(tick).astype("datetime64[us]").item()
        return moment if self.tz is None else moment.replace(tzinfo=UTC).astimezone(self.tz)

    def _nanosecond_stamp(self, tick: Tick) -> datetime:
        # Only a pandas stamp holds both nanoseconds and a zone.
        try:
            import pandas as pd
        except ImportError:
            return self._datetime(tick)
        stamp: datetime = pd.Timestamp(self._stamp(tick), tz=UTC).tz_convert(self.tz)
        return stamp


def _short(text: str) -> str:
    """Leave out a fraction of a second that is zero."""
    whole, point, fraction = text.partition(".")
    return text if point and fraction.strip("0") else whole


SAMPLES = Clock("integer")


_SECONDS = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}


def read_stamps(stamps: NDArray[Any], zone: tzinfo | None, name: str) -> tuple[Ticks, Clock]:
    """Read an array of numpy datetimes; units above the second become seconds."""
    unit, count = np.datetime_data(stamps.dtype)
    if unit not in _SECONDS and unit not in PER_SECOND:
        raise InputTypeError(
            "to be datetimes in a unit from weeks to nanoseconds",
            str(stamps.dtype),
            argument=name,
            hint="Convert them first, e.g. with `.astype('datetime64[s]')`.",
        )
    missing = np.isnat(stamps)
    if missing.any():
        raise _missing(name, "NaT", int(missing.argmax()))
    ticks = stamps.astype(np.int64)
    factor = count * _SECONDS.get(unit, 1)
    unit = "s" if unit in _SECONDS else unit
    if factor > 1 and max(abs(int(ticks.min())), abs(int(ticks.max()))) * factor > LARGEST:
        largest = stamps[np.abs(ticks).argmax()]
        raise InputError(f"to fit in 64 bits of unit {unit!r}", str(largest), argument=name)
    return ticks * factor if factor > 1 else ticks, Clock("datetime", unit, zone)


def read_objects(values: NDArray[Any], name: str) -> tuple[Ticks, Clock]:
    """Read Python datetimes, dates and pandas stamps, which numpy keeps as bare objects."""
    for index, value in enumerate(values):
        if is_missing(value):
            raise _missing(name, str(value), index)
        if isinstance(value, int) and not -LARGEST <= value <= LARGEST:
            raise _not_a_time(value, index, name)
    zone = _zone(values[0])
    stamps = []
    for index, value in enumerate(values):
        if not isinstance(value, (date, np.datetime64)):
            raise _not_a_time(value, index, name)
        if (_zone(value) is None) != (zone is None):
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
            raise InputError(f"to fit in 64 bits of unit {finest!r}", got, argument=name)
    return read_stamps(np.array(ticks, dtype=np.int64).view(f"datetime64[{finest}]"), zone, name)


def is_missing(value: Any) -> bool:
    """Whether a value is None, nan, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    of_numpy = isinstance(value, np.number | np.datetime64)
    return (of_numpy or isinstance(value, float | date)) and bool(value != value)  # noqa: PLR0124


def mixed_zones(what: str, got: str) -> InputTypeError:
    """Return the error for times of which some have a zone and others do not."""
    return InputTypeError(
        f"{what} to have a time zone everywhere or nowhere",
        got,
        hint="Localise the times without a zone, or convert the others to UTC and drop it.",
        code="mixed_zones",
    )


def _missing(name: str, value: str, index: int) -> InputError:
    return InputError("to have no missing times", str(value), argument=name, index=index)


def _not_a_time(value: Any, index: int, name: str) -> InputTypeError:
    hint = "Integers must fit in 64 bits; text must be parsed first."
    return InputTypeError(
        "to be of one kind, numbers or datetimes",
        f"{shown(value)}",
        argument=name,
        index=index,
        hint=hint if isinstance(value, (int, str)) else "",
    )


def _nanoseconds(unit: str, name: str) -> int:
    if unit in _SECONDS:
        return _SECONDS[unit] * PER_SECOND["ns"]
    if unit in PER_SECOND:
        return PER_SECOND["ns"] // PER_SECOND[unit]
    raise InputTypeError(
        "to be datetimes in a unit from weeks to nanoseconds", repr(unit), argument=name
    )


def _stamp(value: Any) -> np.datetime64:
    if hasattr(value, "to_datetime64"):  # a pandas stamp, which also knows nanoseconds
        return np.datetime64(value.to_datetime64())
    offset = value.utcoffset() if isinstance(value, datetime) else None
    if offset is None:
        return np.datetime64(value)
    # The same moment in UTC may lie outside of the years that a datetime can hold.
    utc: Any = np.datetime64(value.replace(tzinfo=None)) - np.timedelta64(offset)
    return np.datetime64(utc)


def _zone(value: Any) -> tzinfo | None:
    """Return the time zone of a datetime that knows its offset."""
    known = isinstance(value, datetime) and value.utcoffset() is not None
    return value.tzinfo if known else None


_EXACT_FLOAT = 2**53  # every integer up to here is a float64


def read_times(values: Any, name: str) -> tuple[Ticks, Clock]:
    """Read a column of times as ticks; refuse nan, NaT, inf and anything that is not a time.

    `Timed` is taken as it is, so that times are read once.
    """
    if isinstance(values, Timed):
        return values.ticks, values.clock
    array, zone = read_column(values, name)
    kind = array.dtype.kind
    if array.size == 0:
        return np.empty(0, dtype=np.int64), SAMPLES
    if kind == "O":
        return read_objects(array, name)
    if kind == "M":
        return read_stamps(array, zone, name)
    if kind in "iu":
        if kind == "u" and int(array.max()) > LARGEST:
            raise InputError("to fit in 64 bits", str(int(array.max())), argument=name)
        return np.ascontiguousarray(array, dtype=np.int64), SAMPLES
    if kind == "f":
        return _read_floats(array, values, name), Clock("number")
    hints = {
        "m": "Divide by a unit first, e.g. `times / numpy.timedelta64(1, 's')`.",
        "U": "Parse them first, e.g. `numpy.array(times, dtype='datetime64[s]')`.",
        "b": "A column of 0/1 is a label vector, not an axis of times.",
    }
    raise InputTypeError(
        "to be numbers or datetimes", str(array.dtype), argument=name, hint=hints.get(kind, "")
    )


def _read_floats(array: NDArray[Any], values: Any, name: str) -> NDArray[np.float64]:
    finite = np.isfinite(array)
    if not finite.all():
        index = int(finite.argmin())
        raise InputError("to be finite", f"{float(array[index])}", argument=name, index=index)
    floats = np.ascontiguousarray(array, dtype=np.float64)
    rounded = floats != array
    if not isinstance(values, np.ndarray) and np.abs(floats).max() > _EXACT_FLOAT:
        # numpy turns integers among floats, and integers of two kinds, into floats.
        both = zip(values, floats.tolist(), strict=True)
        rounded = np.array([isinstance(x, int) and (x != y or x > LARGEST) for x, y in both])
    if rounded.any():
        index = int(rounded.argmax())
        raise InputError(
            "to be exact as 64-bit floats",
            str(values[index]),
            argument=name,
            index=index,
            hint="Subtract a common origin first.",
        )
    return floats


@dataclass(frozen=True, slots=True)
class Timed:
    """Ticks with their clock, and the argument they came from."""

    name: str
    ticks: Ticks
    clock: Clock
    short: bool = False
    """Whether the times came as 32-bit floats."""


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
            f"`{first}` and `{part.name}` to be on one kind of time axis",
            f"{kinds[0]} and {kinds[1]}",
            hint="Give all times as datetimes, or all as numbers.",
            code="mixed_kinds",
        )
    if clock.kind != "datetime":
        return Clock("number")
    if (clock.tz is None) != (other.tz is None):
        raise mixed_zones(f"`{first}` and `{part.name}`", f"zones {clock.tz} and {other.tz}")
    finer = max(clock.unit, other.unit, key=PER_SECOND.__getitem__)
    return replace(clock, unit=finer)


def _convert(part: Timed, clock: Clock) -> Ticks:
    ticks = part.ticks
    if ticks.size == 0:
        return np.empty(0, dtype=np.float64 if clock.kind == "number" else np.int64)
    if part.clock.kind == clock.kind and part.clock.unit == clock.unit:
        return ticks
    largest = max(abs(int(ticks.min())), abs(int(ticks.max())))
    if clock.kind == "number":
        if largest > _EXACT_FLOAT:
            raise InputTypeError(
                "to be exact beside times that are not integers",
                f"the integer {largest}, which no float holds",
                argument=part.name,
                hint="Subtract a common origin first, or give all times as integers.",
            )
        return ticks.astype(np.float64)
    factor = PER_SECOND[clock.unit] // PER_SECOND[part.clock.unit]
    if largest * factor > LARGEST:
        raise InputError(
            f"to fit the unit {clock.unit!r} of the other times",
            f"{part.clock.text(int(ticks[np.abs(ticks).argmax()]))}",
            argument=part.name,
            hint="Convert all times to one coarser unit.",
        )
    return ticks * np.int64(factor)

"""Time axes: samples, numbers and datetimes, all kept as exact ticks.

Ticks are int64 where the caller's times are integers or datetimes (counted in the axis' own unit,
in UTC) and float64 for other numbers. Nothing is rounded on the way in, so an axis of epoch
nanoseconds gives the same digits as the same axis counted from zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import LARGEST, PER_SECOND, SAMPLES, Clock, Ticks
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, expected
from closecall.stamps import mixed_zones, read_objects, read_stamps

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT_FLOAT = 2**53  # every integer up to here is a float64


def read_times(values: Any, name: str) -> tuple[Ticks, Clock]:
    """Read a column of times as ticks; refuse nan, NaT, inf and anything that is not a time."""
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
            raise InputError(expected(f"`{name}` to fit in 64 bits", str(int(array.max()))))
        return np.ascontiguousarray(array, dtype=np.int64), SAMPLES
    if kind == "f":
        return _read_floats(array, values, name), Clock("number")
    hints = {
        "m": "Divide by a unit first, e.g. `times / numpy.timedelta64(1, 's')`.",
        "U": "Parse them first, e.g. `numpy.array(times, dtype='datetime64[s]')`.",
        "b": "A column of 0/1 is a label vector, not an axis of times.",
    }
    raise InputTypeError(
        expected(f"`{name}` to be numbers or datetimes", str(array.dtype), hints.get(kind, ""))
    )


def _read_floats(array: NDArray[Any], values: Any, name: str) -> NDArray[np.float64]:
    finite = np.isfinite(array)
    if not finite.all():
        index = int(finite.argmin())
        raise InputError(
            expected(f"`{name}` to be finite", f"{float(array[index])} at index {index}")
        )
    floats = np.ascontiguousarray(array, dtype=np.float64)
    rounded = floats != array
    if not isinstance(values, np.ndarray) and np.abs(floats).max() > _EXACT_FLOAT:
        # numpy turns integers among floats, and integers of two kinds, into floats.
        both = zip(values, floats.tolist(), strict=True)
        rounded = np.array([isinstance(x, int) and (x != y or x > LARGEST) for x, y in both])
    if rounded.any():
        index = int(rounded.argmax())
        raise InputError(
            expected(
                f"`{name}` to be exact as 64-bit floats",
                f"{values[index]} at index {index}",
                "Subtract a common origin first.",
            )
        )
    return floats


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
        raise mixed_zones(f"`{first}` and `{part.name}`", f"zones {clock.tz} and {other.tz}")
    finer = max(clock.unit, other.unit, key=PER_SECOND.__getitem__)
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
    factor = PER_SECOND[clock.unit] // PER_SECOND[own.unit]
    if largest * factor > LARGEST:
        raise InputError(
            expected(
                f"`{part.name}` to fit the unit {clock.unit!r} of the other times",
                f"{own.text(int(ticks[np.abs(ticks).argmax()]))}",
                "Convert all times to one coarser unit.",
            )
        )
    return ticks * np.int64(factor)

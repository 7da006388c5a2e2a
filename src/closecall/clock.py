"""What one tick of an axis means to the caller, and how times are written and given back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from closecall.errors import InputError, expected

Ticks = NDArray[Any]  # int64 or float64
Tick = int | float
Moment = int | float | datetime | np.datetime64

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
LARGEST = 2**63 - 1
_NAT = -(2**63)  # the ticks of numpy's NaT
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # the years 1 to 9999


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
        """Seconds in one tick of a datetime axis."""
        return 1 / PER_SECOND[self.unit]

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
        return _FIRST_SECOND <= tick // PER_SECOND[self.unit] <= _LAST_SECOND

    def _datetime(self, tick: Tick) -> datetime:
        if not self._is_datetime(tick):
            raise InputError(expected("times within the years 1 to 9999", str(self._stamp(tick))))
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

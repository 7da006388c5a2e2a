"""What times in files mean that do not say it themselves: numbers, and times without an offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from closecall.clock import PER_SECOND, Clock
from closecall.columns import read_column, time_zone
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import is_number, require_choice
from closecall.tables.reading import is_iso_time
from closecall.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from closecall.clock import Moment

Fold = Literal["earlier", "later"]
TimeUnit = Literal["s", "ms", "us", "ns"]
Timezone: TypeAlias = "str | tzinfo | Mapping[str, str | tzinfo] | None"
FOLDS, TIME_UNITS = get_args(Fold), get_args(TimeUnit)
FILES = ("truth", "predicted", "ignore")
"""What files are called that may have times of different zones."""
_SHOWN = 5  # of times that clocks show twice


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How the times of one file are read; those that say what they are stay as they are."""

    zone: tzinfo | None = None
    """What times without an offset are in."""
    fold: Fold | None = None
    """Which is meant of a time that clocks show twice; None makes it an error."""
    unit: TimeUnit | None = None
    """What numbers count from 1970 in UTC; None leaves them numbers."""

    @classmethod
    def read(cls, timezone: Any, fold: Any, time_unit: Any) -> TimeFormat:
        """Check the options of callers."""
        require_format(fold, time_unit)
        return cls(read_zone(timezone), fold, time_unit)

    def column(self, column: Any, name: str, source: str) -> Any:
        """Return a column of times as datetimes; numbers without a unit stay numbers."""
        times = as_times(column, f"column {name!r} of {source}" if source else f"`{name}`")
        if is_arrow(times) and self.unit is not None:
            times = _column_since_epoch(times, self.unit)
        if self.zone is None or not is_local(times):
            return times
        import pyarrow as pa
        import pyarrow.compute as pc  # it takes as long to load as the rest of the reading

        zone = str(self.zone).removeprefix("UTC") or "UTC"
        which = {"earlier": "earliest", "later": "latest"}.get(self.fold or "", "raise")
        try:
            return pc.assume_timezone(times, zone, ambiguous=which)
        except pa.ArrowInvalid:
            first, last = (
                read_column(pc.assume_timezone(times, zone, ambiguous=end, nonexistent=end), name)[
                    0
                ]
                for end in ("earliest", "latest")
            )
            rows = np.flatnonzero(first != last).tolist()
            self.moments(
                ((f"{name!r} in row {row + 1}", times[row].as_py()) for row in rows), source
            )
            raise

    def moment(self, value: Any, called: str) -> Any:
        """Return one time as a datetime."""
        return self.moments([(called, value)], "")[0]

    def moments(self, values: Iterable[tuple[str, Any]], source: str) -> list[Any]:
        """Return times as datetimes; each comes with its place in the source."""
        found: list[Any] = []
        twice: list[tuple[str, datetime]] = []
        for place, value in values:
            moment = value
            if self.unit is not None and (is_number(value) or isinstance(value, Decimal)):
                moment = _since_epoch(value, self.unit)
            elif self.zone is not None and is_local(value):
                moment, later = (value.replace(tzinfo=self.zone, fold=fold) for fold in (0, 1))
                if moment.utcoffset() != later.utcoffset():
                    if moment.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) != value:
                        raise _skipped(f"{place} of {source}" if source else place, moment)
                    if self.fold is None:
                        twice.append((place, moment))
                    moment = later if self.fold == "later" else moment
            found.append(moment)
        if twice:
            raise _shown_twice(twice, source)
        return found


def require_format(fold: Any, time_unit: Any) -> None:
    """Raise for a fold or a unit of time that is not known."""
    for value, name, choices in ((fold, "fold", FOLDS), (time_unit, "time_unit", TIME_UNITS)):
        if value is not None:
            require_choice(value, name, choices)


def read_zone(timezone: Any) -> tzinfo | None:
    """Read what times without an offset are in; None if nothing is said."""
    try:
        zone = time_zone(timezone) if isinstance(timezone, str) else timezone
    except InputError:
        rule = "to name a known time zone, such as Europe/Berlin"
        hint = "If that is one, install tzdata, which knows them all."
        raise InputError(rule, shown(timezone), argument="timezone", hint=hint) from None
    if zone is not None and not isinstance(zone, tzinfo):
        raise InputTypeError("to name a time zone", shown(timezone), argument="timezone")
    return zone


def read_zones(timezone: Any) -> dict[str, tzinfo]:
    """Read what times without an offset are in, by file; a single zone is that of all."""
    given = timezone if isinstance(timezone, Mapping) else dict.fromkeys(FILES, timezone)
    for file in given:
        if file not in FILES:
            rule = "to give the zones of truth, predicted or ignore"
            raise InputError(rule, shown(file), argument="timezone")
    zones = ((file, read_zone(zone)) for file, zone in given.items())
    return {file: zone for file, zone in zones if zone is not None}


def is_local(times: Any) -> bool:
    """Return whether a time, or an Arrow column of times, has a date and no offset."""
    if isinstance(times, datetime):
        return times.tzinfo is None
    if not is_arrow(times):
        return False
    import pyarrow as pa

    return pa.types.is_timestamp(times.type) and times.type.tz is None


def is_arrow(column: Any) -> bool:
    """Return whether a column is one of Arrow's."""
    return type(column).__module__ == "pyarrow.lib" and hasattr(column, "type")


def as_times(column: Any, name: str) -> Any:
    """Turn dates and ISO text of Arrow into datetimes; what is neither stays as it is."""
    if not is_arrow(column):
        return column
    import pyarrow as pa

    types, kind = pa.types, column.type
    if types.is_timestamp(kind):
        return column
    if types.is_date(kind):
        return column.cast(pa.timestamp("s"))
    if types.is_time(kind):
        rule = f"{name} to hold numbers or ISO times"
        raise InputTypeError(rule, "times of day without a date")
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return column
    for stamps in (pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return column.cast(stamps)
        except pa.ArrowInvalid:
            continue
    texts = column.to_pylist()
    row = next((row for row, text in enumerate(texts) if text and not is_iso_time(text)), 0)
    raise InputTypeError(
        f"{name} to hold numbers or ISO times",
        f"{texts[row]!r}",
        index=row,
        hint="Write times as 2024-01-31 08:05:00, all with an offset such as +01:00 or none.",
    )


def _skipped(called: str, moment: datetime) -> InputError:
    return InputError(
        f"{called} to be a time that the clocks of {moment.tzinfo} show once",
        f"{moment.replace(tzinfo=None)}, which is skipped when they change",
        hint=f"Write it with its offset, such as {moment.isoformat()}.",
    )


def _shown_twice(twice: list[tuple[str, datetime]], source: str) -> InputError:
    """Return the error that lists all times of a source that clocks show twice."""
    _, first = twice[0]
    some = [f"{moment.replace(tzinfo=None)} ({place})" for place, moment in twice[:_SHOWN]]
    if len(twice) > _SHOWN:
        some.append(f"and {len(twice) - _SHOWN:,} more")
    return InputError(
        f"times{source and f' of {source}'} that the clocks of {first.tzinfo} show once",
        f"{counted(len(twice), 'time')} that they show twice: {', '.join(some)}",
        hint="Choose with `fold='earlier'` or `fold='later'`, or write them with their offset, as "
        f"{first.isoformat()}.",
    )


def _finer(unit: TimeUnit) -> TimeUnit:
    """Return the unit of times that are not whole; floats hold no more of today's date."""
    return "ns" if unit == "ns" else "us"


def _since_epoch(number: Any, unit: TimeUnit) -> Moment:
    """Return the time that a number counts from 1970 in UTC."""
    try:
        tick, told = int(number), unit
        if tick != number:
            told = _finer(unit)
            tick = round(number * (PER_SECOND[told] // PER_SECOND[unit]))
        return Clock("datetime", told, UTC).scalar(tick)
    except (ValueError, OverflowError):  # nan and inf, too
        rule, got = "to give times within the years 1 to 9999", f"{unit!r} for {shown(number)}"
        raise InputError(rule, got, argument="time_unit") from None


def _column_since_epoch(column: pa.ChunkedArray, unit: TimeUnit) -> pa.ChunkedArray:
    """Return the times of numbers that count from 1970 in UTC; what holds none stays as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        return column
    for end in pc.min_max(column).values():
        if end.is_valid:
            _since_epoch(end.as_py(), unit)
    told = unit if types.is_integer(kind) else _finer(unit)  # whatever the values are
    try:
        if told != unit:
            factor = float(PER_SECOND[told] // PER_SECOND[unit])
            column = pc.round(pc.multiply(column.cast(pa.float64()), factor))
        return column.cast(pa.int64()).cast(pa.timestamp(told, tz="UTC"))
    except pa.ArrowInvalid:
        return column  # nan, which is told where times are read

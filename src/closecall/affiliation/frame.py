"""The rows per event as plain values and as dataframes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation.event_scores import COLUMNS
from closecall.errors import InputError, MissingExtraError, expected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from closecall.affiliation.event_scores import EventScores


TIMES = frozenset(COLUMNS[:4])
_DURATIONS = frozenset(COLUMNS[7:9] + COLUMNS[10:14])


def plain_rows(events: EventScores, names: tuple[str, ...] = COLUMNS) -> Iterator[dict[str, Any]]:
    """Yield each event as plain JSON values, with the columns of these names."""
    clock = events.pair.clock
    dated = clock.kind == "datetime"
    columns = {name: getattr(events, name) for name in names}
    for index in range(len(events)):
        row: dict[str, Any] = {}
        for name, column in columns.items():
            value = column[index]
            if name in TIMES and dated:
                row[name] = clock.text(value.astype(np.int64).item()).replace(" ", "T")
            elif name in _DURATIONS and dated:
                row[name] = None if np.isnat(value) else float(value / np.timedelta64(1, "s"))
            else:
                row[name] = value.item() if np.isfinite(value) else None
        yield row


def event_frame(events: EventScores, backend: Literal["pandas", "polars"]) -> Any:
    """Give the rows as a dataframe of that package."""
    if backend not in ("pandas", "polars"):
        raise InputError(expected("`backend` to be 'pandas' or 'polars'", repr(backend)))
    try:
        return _pandas_frame(events) if backend == "pandas" else _polars_frame(events)
    except ImportError as error:
        raise MissingExtraError(backend) from error


def _pandas_frame(events: EventScores) -> Any:
    import pandas as pd

    frame = pd.DataFrame({name: getattr(events, name) for name in COLUMNS})
    zone = events.pair.clock.tz
    if zone is not None:
        for name in COLUMNS[:4]:
            frame[name] = frame[name].dt.tz_localize("UTC").dt.tz_convert(zone)
    return frame


def _zone_name(zone: tzinfo) -> str:
    """Name a zone for polars, which knows no offsets: whole hours have names, others are UTC."""
    if hasattr(zone, "key"):
        return str(zone.key)
    hours = (zone.utcoffset(None) or timedelta()) / timedelta(hours=1)
    return f"Etc/GMT{-hours:+.0f}" if hours.is_integer() and hours else "UTC"


def _polars_frame(events: EventScores) -> Any:
    import polars as pl

    columns = {name: np.ascontiguousarray(getattr(events, name)) for name in COLUMNS}
    clock = events.pair.clock
    if clock.unit == "s":  # polars counts in milliseconds or finer
        columns |= {name: columns[name].astype("datetime64[ms]") for name in COLUMNS[:4]}
    frame = pl.DataFrame(columns)
    if clock.tz is not None:
        times = pl.col(COLUMNS[:4]).dt.replace_time_zone("UTC")
        times = times.dt.convert_time_zone(_zone_name(clock.tz))
        frame = frame.with_columns(times)
    return frame

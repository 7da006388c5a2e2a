"""What `affiliation` returns: the scores, and one row per true event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta, tzinfo
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation.zones import in_ticks
from closecall.drawing import plots
from closecall.errors import InputError, MissingExtraError, expected
from closecall.events import Events
from closecall.fscore import f_measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.pair import Pair

COLUMNS = (
    "start",
    "stop",
    "zone_start",
    "zone_stop",
    "precision",
    "recall",
    "f1",
    "precision_distance",
    "recall_distance",
    "predicted_count",
    "predicted_duration",
    "early",
    "late",
    "delay",
)
_TIMES = frozenset(COLUMNS[:4])
_DURATIONS = frozenset(COLUMNS[7:9] + COLUMNS[10:])
_HTML_ROWS = 20


@dataclass(frozen=True, repr=False, eq=False)
class EventScores:
    """One row per true event, each column an array.

    On a datetime axis, times are datetime64 (UTC) and lengths of time are timedelta64, with NaT
    for what is undefined or infinite.
    """

    pair: Pair
    """The events that were compared."""
    borders: Ticks
    """Borders of the zones, in half ticks from the origin."""
    table: NDArray[np.float64]
    """The columns as computed, in ticks."""
    predicted_count: NDArray[np.int64]
    """How many predicted events, or parts of them, lie in the event's zone."""

    @property
    def start(self) -> NDArray[Any]:
        """Where the event starts."""
        return self.pair.clock.native(self.pair.truth.starts)

    @property
    def stop(self) -> NDArray[Any]:
        """Where the event stops."""
        return self.pair.clock.native(self.pair.truth.stops)

    @cached_property
    def zone_start(self) -> NDArray[Any]:
        """Where the event's zone of affiliation starts."""
        return self.pair.clock.native(in_ticks(self.borders[:-1], self.pair))

    @cached_property
    def zone_stop(self) -> NDArray[Any]:
        """Where the event's zone of affiliation stops."""
        return self.pair.clock.native(in_ticks(self.borders[1:], self.pair))

    @property
    def precision(self) -> NDArray[np.float64]:
        """Individual precision probability in [0, 1]; nan where nothing is predicted."""
        return self.table[:, 0]

    @property
    def recall(self) -> NDArray[np.float64]:
        """Individual recall probability in [0, 1]; 0 where nothing is predicted."""
        return self.table[:, 1]

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of the two; nan where nothing is predicted."""
        f1: NDArray[np.float64] = f_measure(self.precision, self.recall)
        return f1

    @cached_property
    def precision_distance(self) -> NDArray[Any]:
        """Mean distance from the predictions to the event; nan where nothing is predicted."""
        return self._duration(2)

    @cached_property
    def recall_distance(self) -> NDArray[Any]:
        """Mean distance from the event to the predictions; inf where nothing is predicted."""
        return self._duration(3)

    @cached_property
    def early(self) -> NDArray[Any]:
        """The part of `precision_distance` that lies before the event."""
        return self._duration(4)

    @cached_property
    def late(self) -> NDArray[Any]:
        """The part of `precision_distance` that lies after the event."""
        return self._duration(5)

    @cached_property
    def delay(self) -> NDArray[Any]:
        """The first affiliated alarm minus the event's start; negative if it came before."""
        return self._duration(6)

    @cached_property
    def predicted_duration(self) -> NDArray[Any]:
        """How long the predictions in the event's zone last."""
        return self._duration(7)

    def _duration(self, row: int) -> NDArray[Any]:
        return self.pair.clock.duration(self.table[:, row])

    def __len__(self) -> int:
        return len(self.pair.truth)

    def __repr__(self) -> str:
        return f"EventScores({len(self)} events, columns {', '.join(COLUMNS)})"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each event as plain JSON values.

        Times of a datetime axis become ISO 8601 text and lengths of time seconds; nan and inf
        become None.
        """
        clock = self.pair.clock
        dated = clock.kind == "datetime"
        columns = {name: getattr(self, name) for name in COLUMNS}
        for index in range(len(self)):
            row: dict[str, Any] = {}
            for name, column in columns.items():
                value = column[index]
                if name in _TIMES and dated:
                    row[name] = clock.text(value.astype(np.int64).item()).replace(" ", "T")
                elif name in _DURATIONS and dated:
                    row[name] = None if np.isnat(value) else float(value / np.timedelta64(1, "s"))
                else:
                    row[name] = value.item() if np.isfinite(value) else None
            yield row


@dataclass(frozen=True, repr=False, eq=False)
class Affiliation:
    """Affiliation precision and recall, and the rows per event they are the means of.

    Examples
    --------
    >>> import closecall as cc
    >>> r = cc.affiliation([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    >>> r
    Affiliation(precision=0.625, recall=0.438, f1=0.515, events=2)
    >>> r.events.recall
    array([0.875, 0.   ])
    """

    precision: float
    """Mean individual precision over the events where it is defined; in [0, 1], or nan."""
    recall: float
    """Mean individual recall over all events; in [0, 1]."""
    events: EventScores
    """One row per true event."""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; nan where the precision is."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall; recall weighs beta times as much.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).fbeta(2)
        0.8974358974358974
        """
        return float(f_measure(self.precision, self.recall, beta))

    def values(self) -> dict[str, float]:
        """Give the scores by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    def to_dict(self) -> dict[str, Any]:
        """Give plain values that any JSON writer takes; what is undefined becomes None."""
        return {
            **{name: None if np.isnan(value) else value for name, value in self.values().items()},
            "events": list(self.events.rows()),
        }

    def to_frame(self, backend: Literal["pandas", "polars"] = "pandas") -> Any:
        """Give the rows per event as a dataframe; times keep their time zone.

        Examples
        --------
        >>> import closecall as cc
        >>> frame = cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).to_frame("polars")
        >>> frame["delay"].to_list()
        [0.0]
        """
        if backend not in ("pandas", "polars"):
            raise InputError(expected("`backend` to be 'pandas' or 'polars'", repr(backend)))
        try:
            return _pandas_frame(self.events) if backend == "pandas" else _polars_frame(self.events)
        except ImportError as error:
            raise MissingExtraError(backend) from error

    def plot(self, **options: Any) -> Any:
        """Draw the events and their zones; see `closecall.plot.plot_events` for the options."""
        pair = self.events.pair
        span = (pair.clock.scalar(pair.start), pair.clock.scalar(pair.stop))
        sides = Events.wrap(pair.truth), Events.wrap(pair.predicted)
        return plots().plot_events(*sides, span=span, **options)

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"Affiliation({scores}, events={len(self.events)})"

    def _repr_html_(self) -> str:
        """Show the scores and the first events in a notebook."""
        names = [name for name in COLUMNS if not name.startswith("zone")]
        head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
        rows = []
        for row, _ in zip(self.events.rows(), range(_HTML_ROWS), strict=False):
            cells = "".join(f"<td>{escape(_cell(name, row[name]))}</td>" for name in names)
            rows.append(f"<tr>{cells}</tr>")
        hidden = len(self.events) - len(rows)
        note = f"<p>and {hidden} more events</p>" if hidden else ""
        return (
            f"<div><p><b>precision {self.precision:.3f}, recall {self.recall:.3f}, "
            f"F1 {self.f1:.3f}</b> over {len(self.events)} true events</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            f"{note}</div>"
        )


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) and name not in _TIMES else str(value)


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

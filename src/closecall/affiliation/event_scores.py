"""One row per true event: its zone, scores, outcome, delay and chance, in any form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import _kernels
from closecall.affiliation.shifts import Chance
from closecall.affiliation.zones import in_ticks
from closecall.errors import MissingExtraError
from closecall.fscore import f_measure
from closecall.notebook import heading, time_columns
from closecall.parameters import require_choice
from closecall.plain import plain
from closecall.wording import length_text, outcome_text, score_or_dash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.notebook import Column
    from closecall.series import Pair

_TIMES = ("start", "stop", "zone_start", "zone_stop")
SCORES = ("precision", "recall", "f1")
ABOVE_CHANCE = ("precision_above_chance", "recall_above_chance", "f1_above_chance")
_DISTANCES = ("precision_distance", "recall_distance")
_LENGTHS = ("predicted_duration", "early", "late", "delay", "nearest")
_ALREADY = "already_in_alarm"
COLUMNS = (
    *(*_TIMES, "outcome", *SCORES, *_DISTANCES, "predicted_count", *_LENGTHS),
    *(_ALREADY, *ABOVE_CHANCE),
)
TOLD = ("outcome", "delay", "nearest", _ALREADY)  # what `outcome_text` takes
_TAKEN = {*COLUMNS, "event", "detector", "best"}  # beside each other in a comparison
OUTCOMES = ("missed", "close call", "caught")  # in the order of the codes of `_kernels`


@dataclass(frozen=True, repr=False, eq=False)
class TrueEvents:
    """The true events that rows are about."""

    pair: Pair
    """The events that were compared."""

    @property
    def start(self) -> NDArray[Any]:
        """Where the event starts."""
        return self.pair.clock.native(self.pair.opened(self.pair.truth).starts)

    @property
    def stop(self) -> NDArray[Any]:
        """Where the event stops."""
        return self.pair.clock.native(self.pair.opened(self.pair.truth).stops)

    def __len__(self) -> int:
        return len(self.pair.truth)


@dataclass(frozen=True, repr=False, eq=False)
class EventScores(TrueEvents):
    """One row per true event, each column an array.

    On a datetime axis, times are datetime64 (UTC) and lengths of time are timedelta64, with NaT
    for what is undefined or infinite.
    """

    borders: Ticks
    """Borders of the zones, in half ticks from the origin."""
    table: NDArray[np.float64]
    """The columns of `_kernels`, in ticks."""
    predicted_count: NDArray[np.int64]
    """How many predicted events, or parts of them, lie in the event's zone."""
    alarms: int
    """How many predicted events there are in all."""

    @property
    def details(self) -> Mapping[str, NDArray[Any]]:
        """What else is known of each event: `Events.details` of the truth."""
        return self.pair.truth.details

    @cached_property
    def zone_start(self) -> NDArray[Any]:
        """Where the event's zone of affiliation starts."""
        return self.pair.start_times(in_ticks(self.borders[:-1], self.pair))

    @cached_property
    def zone_stop(self) -> NDArray[Any]:
        """Where the event's zone of affiliation stops."""
        return self.pair.stop_times(in_ticks(self.borders[1:], self.pair))

    @property
    def precision(self) -> NDArray[np.float64]:
        """Individual precision probability in [0, 1]; nan where nothing is predicted."""
        return self.table[:, _kernels.PRECISION]

    @property
    def recall(self) -> NDArray[np.float64]:
        """Individual recall probability in [0, 1]; 0 where nothing is predicted."""
        return self.table[:, _kernels.RECALL]

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of the two; nan where nothing is predicted."""
        f1: NDArray[np.float64] = f_measure(self.precision, self.recall)
        return f1

    @cached_property
    def precision_distance(self) -> NDArray[Any]:
        """Mean distance from the predictions to the event; nan where nothing is predicted."""
        return self._duration(_kernels.PRECISION_DISTANCE)

    @cached_property
    def recall_distance(self) -> NDArray[Any]:
        """Mean distance from the event to the predictions; inf where nothing is predicted."""
        return self._duration(_kernels.RECALL_DISTANCE)

    @cached_property
    def early(self) -> NDArray[Any]:
        """The part of `precision_distance` that lies before the event."""
        return self._duration(_kernels.EARLY)

    @cached_property
    def late(self) -> NDArray[Any]:
        """The part of `precision_distance` that lies after the event."""
        return self._duration(_kernels.LATE)

    @cached_property
    def outcome(self) -> NDArray[np.str_]:
        r"""What happened to the event: ``caught``, ``close call`` or ``missed``.

        Caught: an alarm overlaps it. Close call: none does, but the nearest alarm of its zone is
        nearer than chance would put it. With q the share of places of the zone outside the event
        that are nearer than that alarm, and k alarms in the zone, :math:`1 - (1 - q)^k \le 0.1`;
        and it is no farther than ``close``, where that is given. Missed: all else.
        """
        return np.array(OUTCOMES)[self.table[:, _kernels.OUTCOME].astype(np.int64)]

    @cached_property
    def delay(self) -> NDArray[Any]:
        """The start of the first alarm that overlaps the event, minus the event's start.

        Negative if the alarm was raised before the event, in its zone; 0 if it was on before the
        zone began (`already_in_alarm`); nan if the event was not caught.
        """
        return self._duration(_kernels.DELAY)

    @cached_property
    def nearest(self) -> NDArray[Any]:
        """Time from the event to the nearest alarm where none overlaps it, negative if before.

        nan where the event was caught, and where there is no alarm at all.
        """
        return self._duration(_kernels.NEAREST)

    @cached_property
    def predicted_duration(self) -> NDArray[Any]:
        """How long the predictions in the event's zone last."""
        return self._duration(_kernels.DURATION)

    @property
    def caught(self) -> NDArray[np.bool_]:
        """Whether the event was caught."""
        caught: NDArray[np.bool_] = self.table[:, _kernels.OUTCOME] == _kernels.CAUGHT
        return caught

    @property
    def missed(self) -> NDArray[np.bool_]:
        """Whether the event was not caught; a close call is missed, too."""
        return ~self.caught

    @property
    def already_in_alarm(self) -> NDArray[np.bool_]:
        """Whether the event was caught by an alarm that was on before the event's zone began."""
        already: NDArray[np.bool_] = self.table[:, _kernels.ALREADY] == 1
        return already

    @property
    def median_delay(self) -> Any:
        """The median of `delay`, counting an event that was not caught as never: inf, or NaT."""
        delays = np.where(self.caught, self.table[:, _kernels.DELAY], np.inf)
        ordered = np.sort(delays)
        middle = (ordered[(len(self) - 1) // 2] + ordered[len(self) // 2]) / 2
        return self.pair.clock.duration(np.array([middle]))[0]

    @cached_property
    def chance(self) -> Chance:
        """What chance reaches, without any ``zero_division``; see `Affiliation.chance`."""
        return chance_of(self, nan)

    @property
    def precision_above_chance(self) -> NDArray[np.float64]:
        r"""Precision with 0 at the level of chance m and 1 where it is perfect; at most 1.

        :math:`(T - m) / (1 - m)` with m the mean of the shifts that put an alarm in the event's
        zone; nan where nothing is predicted.
        """
        return self.chance.events.above("precision")

    @property
    def recall_above_chance(self) -> NDArray[np.float64]:
        """Recall with 0 at its mean over all shifts and 1 where it is perfect; at most 1.

        Negative where the event is missed and some shift finds it; 0 where nothing is predicted
        anywhere.
        """
        return self.chance.events.above("recall")

    @property
    def f1_above_chance(self) -> NDArray[np.float64]:
        """F1 with 0 at the level of chance and 1 where it is perfect; nan as for precision."""
        return self.chance.events.above("f1")

    def _duration(self, column: int) -> NDArray[Any]:
        return self.pair.clock.duration(self.table[:, column])

    def __repr__(self) -> str:
        return f"EventScores({len(self)} events, columns {', '.join(COLUMNS)})"

    def rows(self, names: tuple[str, ...] = COLUMNS) -> Iterator[dict[str, Any]]:
        """Yield each event as plain JSON values, all columns or those of some names.

        Times of a datetime axis become ISO 8601 text and lengths of time seconds; nan and inf
        become None. An event of which more is known has it as ``details``.
        """
        clock, details = self.pair.clock, self.details
        dated = clock.kind == "datetime"
        columns = {name: getattr(self, name) for name in names}
        for index in range(len(self)):
            row: dict[str, Any] = {}
            for name, column in columns.items():
                value = column[index]
                if name in _TIMES and dated:
                    row[name] = clock.text(value.astype(np.int64).item()).replace(" ", "T")
                else:
                    row[name] = plain(value if value.dtype.kind == "m" else value.item())
            if details:
                row["details"] = {
                    name: plain_detail(values[index]) for name, values in details.items()
                }
            yield row

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all columns by name, with the details; ``event_NAME`` where a name is taken."""
        return {name: getattr(self, name) for name in COLUMNS} | _beside(self.details)

    def flat_rows(self) -> Iterator[dict[str, Any]]:
        """Yield each event as `rows` does, with its details as `columns` has them."""
        for row in self.rows():
            details = row.pop("details", {})
            yield row | _beside(details)


def _beside(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return details by names that no column of a table of events has."""
    return {f"event_{name}" if name in _TAKEN else name: values for name, values in details.items()}


def chance_of(events: EventScores, zero_division: float) -> Chance:
    """Compute what chance reaches; O(1,000 (n + m)) for n and m events."""
    return Chance.of(events.pair, zero_division)


def plain_detail(value: Any) -> Any:
    """Return a detail as a JSON value; what JSON does not know becomes text."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def outcome_texts(rows: list[dict[str, Any]]) -> list[str]:
    """Return what happened to events, of their plain rows."""
    return [
        outcome_text(**{name: row[name] for name in TOLD}, dated=isinstance(row["start"], str))
        for row in rows
    ]


def notebook_columns(rows: list[dict[str, Any]]) -> list[Column]:
    """Return plain rows of events as columns of a table."""

    def texts(write: Any, *names: str) -> list[Column]:
        return [(heading(name), [write(row[name]) for row in rows]) for name in names]

    length = partial(length_text, dated=isinstance(rows[0]["start"], str))
    details = rows[0].get("details", {})
    return [
        *time_columns(rows, "start", "stop"),
        ("outcome", outcome_texts(rows)),
        *texts(score_or_dash, *SCORES),
        *((name, [row["details"][name] for row in rows]) for name in details),
        *texts(length, *_DISTANCES),
        *texts(str, "predicted_count"),
        *texts(length, "predicted_duration", "early", "late"),
        *time_columns(rows, "zone_start", "zone_stop"),
        *((heading(name), [row[name] for row in rows]) for name in ABOVE_CHANCE),
    ]


def event_frame(events: EventScores, backend: Any) -> Any:
    """Return the rows as a dataframe of that package."""
    require_choice(backend, "backend", ("pandas", "polars"))
    try:
        return (_pandas_frame if backend == "pandas" else _polars_frame)(events)
    except ImportError as error:
        raise MissingExtraError(backend) from error


def _pandas_frame(events: EventScores) -> Any:
    import pandas as pd

    frame = pd.DataFrame(events.columns())
    zone = events.pair.clock.tz
    if zone is not None:
        for name in _TIMES:
            frame[name] = frame[name].dt.tz_localize("UTC").dt.tz_convert(zone)
    return frame


def _polars_frame(events: EventScores) -> Any:
    import polars as pl

    columns: dict[str, Any] = {
        name: values.tolist() if values.dtype == object else np.ascontiguousarray(values)
        for name, values in events.columns().items()
    }
    clock = events.pair.clock
    if clock.unit == "s":  # polars counts in milliseconds or finer
        columns |= {name: columns[name].astype("datetime64[ms]") for name in _TIMES}
    frame = pl.DataFrame(columns)
    if clock.tz is not None:
        times = pl.col(_TIMES).dt.replace_time_zone("UTC")
        frame = frame.with_columns(times.dt.convert_time_zone(_zone_name(clock.tz)))
    return frame


def _zone_name(zone: tzinfo) -> str:
    """Name a zone for polars, which knows no offsets: whole hours have names, others are UTC."""
    if hasattr(zone, "key"):
        return str(zone.key)
    hours = (zone.utcoffset(None) or timedelta()) / timedelta(hours=1)
    return f"Etc/GMT{-hours:+.0f}" if hours.is_integer() and hours else "UTC"

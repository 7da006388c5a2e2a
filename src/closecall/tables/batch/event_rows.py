"""The table of true events: what each detector made of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.result import COLUMNS
from closecall.tables.batch.question import DETECTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from closecall.affiliation import Affiliation
    from closecall.tables.batch.question import Question
    from closecall.tables.batch.row_tables import Keys
    from closecall.tables.batch.series import Series

# What would have to be simulated, for each series and detector, takes longer than all the rest.
_EXACT = tuple(name for name in COLUMNS if name != "f1_above_chance")
_TIMES = frozenset(COLUMNS[:4])
_ON_THE_AXIS = _TIMES | {
    "precision_distance",
    "recall_distance",
    "predicted_duration",
    "early",
    "late",
    "delay",
}


def event_rows(
    detector: str, scores: Affiliation, series: Series, time: pa.DataType | None
) -> pa.Table:
    """Give the true events of one series, with what one detector made of each.

    Times are those of the time column, in its time zone. Where a series' times were ignored they
    are null, and so are lengths of time: its events are known by the numbers of their samples.
    """
    import pyarrow as pa

    events, count = scores.events, len(scores.events)
    truth = events.pair.truth
    ignored = time is not None and not series.timed
    columns = {
        DETECTOR: pa.array([detector] * count, type=pa.string()),
        "event": pa.array(np.arange(count)),
        "first_sample": pa.array(series.sample_numbers(truth.starts)),
        "last_sample": pa.array(series.sample_numbers(truth.stops) - 1),
    }
    for name in _EXACT:
        if ignored and name in _ON_THE_AXIS:
            columns[name] = pa.nulls(count)
            continue
        array = pa.array(np.ascontiguousarray(getattr(events, name)))
        columns[name] = _in_zone(array, time) if name in _TIMES else array
    return pa.table(columns)


def _in_zone(array: pa.Array, time: pa.DataType | None) -> pa.Array:
    """Give stamps, which are in UTC here, the time zone of the time column."""
    import pyarrow as pa

    if time is None or not pa.types.is_timestamp(time) or time.tz is None:
        return array
    return array.view(pa.timestamp(array.type.unit, time.tz))


def events_table(keys: Keys, parts: Sequence[pa.Table], question: Question) -> Any:
    """Put the events of many series in one table; the keys say whose they are."""
    import pyarrow as pa

    if not parts:
        return None
    table = pa.concat_tables(parts, promote_options="permissive")
    if question.is_long:
        table = table.drop_columns([DETECTOR])
    arrays = [*keys.arrays(), *table.columns]
    return pa.Table.from_arrays(arrays, names=[*keys.names, *table.column_names])

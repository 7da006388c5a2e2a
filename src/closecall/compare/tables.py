"""A comparison as rows and as dataframes."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from closecall.affiliation.event_scores import COLUMNS
from closecall.parameters import require_choice
from closecall.plain import rows_frame

if TYPE_CHECKING:
    import narwhals as nw

    from closecall.compare.result import Comparison

BACKENDS = ("pandas", "polars")
Part = Literal["events", "wide", "detectors", "pairs", "ensembles"]
_TRUE = COLUMNS[:4]  # of the true event itself, whichever detector it is
_OWN = COLUMNS[4:]  # of one detector


def event_rows(comparison: Comparison) -> tuple[dict[str, Any], ...]:
    """Return one row per event and detector, in the order of the events."""
    columns: dict[str, dict[str, Any]] = {}
    for name, result in comparison.results.items():
        arrays = {column: getattr(result.events, column) for column in COLUMNS}
        # Numbers become plain ones; stamps and lengths of time stay what they are.
        columns[name] = {
            column: values if values.dtype.kind in "mM" else values.tolist()
            for column, values in arrays.items()
        }
    return tuple(
        {
            "event": event,
            "detector": name,
            **{column: columns[name][column][event] for column in COLUMNS},
            "best": name in best,
        }
        for event, best in enumerate(comparison.best)
        for name in comparison.names
    )


def plain_events(comparison: Comparison) -> list[dict[str, Any]]:
    """Return each event with all its detectors as plain JSON values."""
    sides = [result.events.rows() for result in comparison.results.values()]
    return [
        {
            "event": event,
            **{column: rows[0][column] for column in _TRUE},
            **({"details": rows[0]["details"]} if "details" in rows[0] else {}),
            "best": list(best),
            "detectors": {
                name: {column: row[column] for column in _OWN}
                for name, row in zip(comparison.names, rows, strict=True)
            },
        }
        for event, (best, *rows) in enumerate(zip(comparison.best, *sides, strict=True))
    ]


def frame(comparison: Comparison, backend: Any, part: Any) -> Any:
    """Return one part as a dataframe of that package."""
    require_choice(part, "part", get_args(Part))
    require_choice(backend, "backend", BACKENDS)
    if part == "events":
        return _long(comparison, backend)
    if part == "wide":
        return _wide(comparison, backend)
    if part == "pairs":
        return rows_frame([pair.values() for pair in comparison.pairs], backend)
    if part == "detectors":
        rows = [detector.values() for detector in comparison.detectors]
        for row in rows:
            row["threshold"] = nan if row["threshold"] is None else row["threshold"]
        return rows_frame(rows, backend)
    rows = []
    for ensemble in comparison.ensembles():
        first, second = ensemble.names
        plain = ensemble.to_dict() | ensemble.result.values()
        del plain["names"]
        rows.append({"first": first, "second": second, **plain})
    return rows_frame(rows, backend)


def _details(comparison: Comparison) -> list[str]:
    """Return the columns of what else is known of the true events."""
    columns = next(iter(comparison.results.values())).events.columns()
    return [name for name in columns if name not in COLUMNS]


def _sides(comparison: Comparison, backend: Any) -> list[nw.DataFrame[Any]]:
    import narwhals as nw

    return [
        nw.from_native(result.to_frame(backend), eager_only=True).with_row_index("event")
        for result in comparison.results.values()
    ]


def _long(comparison: Comparison, backend: Any) -> Any:
    import narwhals as nw

    sides = [
        side.with_columns(
            nw.lit(name).alias("detector"),
            nw.new_series("best", np.ascontiguousarray(leads), backend=backend),
        )
        for name, side, leads in zip(
            comparison.names, _sides(comparison, backend), comparison.leads, strict=True
        )
    ]
    order = np.arange(comparison.leads.size).reshape(comparison.leads.shape).T.ravel()
    rows = nw.concat(sides)[order.tolist()]
    rows = rows.select("event", "detector", *COLUMNS, *_details(comparison), "best")
    return nw.maybe_reset_index(rows).to_native()


def _wide(comparison: Comparison, backend: Any) -> Any:
    import narwhals as nw

    sides = _sides(comparison, backend)
    best = nw.new_series("best", [", ".join(names) for names in comparison.best], backend=backend)
    columns = [
        side[column].alias(f"{name}_{column}")
        for name, side in zip(comparison.names, sides, strict=True)
        for column in _OWN
    ]
    return (
        sides[0]
        .select("event", *_TRUE, *_details(comparison))
        .with_columns(best, *columns)
        .to_native()
    )

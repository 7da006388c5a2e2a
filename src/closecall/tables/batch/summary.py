"""What a batch comes to: means over series, numbers pooled over events, and counts of samples."""

from __future__ import annotations

from collections import Counter
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.fscore import f_measure
from closecall.metrics.result import ratio
from closecall.tables.batch.question import ALARMED, DETECTOR
from closecall.tables.batch.trouble import OK, STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.tables.batch.question import Question


def summarise(
    rows: pa.Table,
    question: Question,
    by: str | Iterable[str] = DETECTOR,
    *,
    unread: str = "",
) -> pa.Table:
    """Sum rows of series up, one row for each detector (and each value of `by` columns).

    See `closecall.tables.batch.result.BatchResult.summary` for the columns. `unread` says what is
    missing from the rows, which nobody knows the detector or series of.
    """
    import pyarrow as pa

    names = summary_columns(by, question)
    keys, numbers = [], []
    from closecall.tables.sources.grouping import group  # slow to import

    for key, part in group(rows, names):
        keys.append(key)
        numbers.append(_numbers(part, question))
        numbers[-1]["trouble"] = "; ".join(filter(None, [numbers[-1]["trouble"], unread]))
    columns = [
        pa.array([key[place] for key in keys], type=_value_type(rows, name))
        for place, name in enumerate(names)
    ]
    table = pa.Table.from_pylist(numbers)
    return pa.Table.from_arrays([*columns, *table.columns], names=[*names, *table.column_names])


def summary_columns(by: str | Iterable[str], question: Question) -> tuple[str, ...]:
    """Check which columns a summary is by; the detector is always one of them."""
    if not isinstance(by, str) and not hasattr(by, "__iter__"):
        raise InputTypeError(expected("`by` to be a column or a list of columns", f"{by!r:.80}"))
    asked = (by,) if isinstance(by, str) else tuple(by)
    known = tuple(dict.fromkeys((*question.by, DETECTOR)))
    for name in asked:
        if name not in known:
            raise InputError(
                expected(
                    "`by` to name columns that tell series apart",
                    repr(name),
                    f"There is: {', '.join(known)}.",
                )
            )
    return (*(name for name in asked if name != DETECTOR), DETECTOR)


def numbers_of(rows: pa.Table, name: str) -> NDArray[np.float64]:
    """Give a column of numbers, nan where there is none."""
    import pyarrow as pa

    column = rows.column(name).cast(pa.float64()).combine_chunks()
    numbers: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    return numbers


def mean(values: NDArray[np.float64]) -> float:
    """Average what is defined; nan if nothing is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else nan


def trouble_text(statuses: Iterable[str]) -> str:
    """Say how many series are in which trouble; nothing if none is.

    Examples
    --------
    >>> trouble_text(["ok", "no_event", "bad_labels", "no_event"])
    '2 without a true event; 1 with labels that are not 0 or 1'
    """
    counts = Counter(statuses)
    del counts[OK]
    ordered = counts.most_common()
    return "; ".join(f"{count} {STATUSES.get(status, status)}" for status, count in ordered)


def _numbers(rows: pa.Table, question: Question) -> dict[str, Any]:
    statuses = rows.column("status").to_pylist()
    values = {name: numbers_of(rows, name) for name in question.metric_columns}
    undefined = np.isnan(np.column_stack(list(values.values()))).any(axis=1)
    row: dict[str, Any] = {
        "series": rows.num_rows,
        "series_ok": statuses.count(OK),
        "series_undefined": int(undefined.sum()),
        "trouble": trouble_text(statuses),
    }
    row |= {f"mean_{name}": mean(column) for name, column in values.items()}
    row |= {f"mean_{name}": mean(numbers_of(rows, name)) for name in question.chance_columns}
    if question.has_affiliation:
        row |= _pooled(rows)
    return row | _micro(rows)


def _pooled(rows: pa.Table) -> dict[str, Any]:
    """Average over events: each series' means are turned back into the sums they came from."""
    precision, recall = (numbers_of(rows, f"affiliation_{x}") for x in ("precision", "recall"))
    alarmed, events = (numbers_of(rows, name) for name in (ALARMED, "true_events"))
    # A series with a recall is one whose events were scored.
    scored = ~np.isnan(recall)
    count, defined = float(events[scored].sum()), float(alarmed[scored].sum())
    pooled_precision = ratio(float(np.nansum((precision * alarmed)[scored])), defined)
    pooled_recall = ratio(float((recall * events)[scored].sum()), count)
    return {
        "pooled_events": int(count),
        "pooled_affiliation_precision": pooled_precision,
        "pooled_affiliation_recall": pooled_recall,
        "pooled_affiliation_f1": float(f_measure(pooled_precision, pooled_recall)),
    }


def _micro(rows: pa.Table) -> dict[str, float]:
    """Compare summed samples, wherever something was predicted or could have been."""
    hit, predicted, true = (
        numbers_of(rows, f"{name}_samples") for name in ("hit", "predicted", "true")
    )
    known = ~np.isnan(predicted)
    hits = float(hit[known].sum())
    precision, recall = ratio(hits, predicted[known].sum()), ratio(hits, true[known].sum())
    return {
        "micro_precision": float(precision),
        "micro_recall": float(recall),
        "micro_f1": float(f_measure(precision, recall)),
    }


def _value_type(rows: pa.Table, name: str) -> Any:
    import pyarrow as pa

    kind: Any = rows.schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind

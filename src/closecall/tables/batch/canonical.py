"""The one order of rows, whichever unit or machine they came from, and in whatever order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.tables.batch.question import DETECTOR

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from closecall.tables.batch.question import Question

_PLACE = "__place__"


def in_order(tables: Iterable[pa.Table], question: Question) -> pa.Table:
    """Join tables of rows and sort them by key, then as the detectors were given, then by event.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from closecall.tables.batch.question import Question
    >>> question = Question.ask(by="series", truth="label", score=["b", "a"])
    >>> parts = [pa.table({"series": [key] * 2, "detector": ["a", "b"]}) for key in ("y", "x")]
    >>> in_order(parts, question).to_pylist()[:2]
    [{'series': 'x', 'detector': 'b'}, {'series': 'x', 'detector': 'a'}]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.concat_tables(tables, promote_options="permissive")
    keys = [(name, "ascending") for name in question.by]
    sortable = _with_sortable_keys(table, question)
    if not question.is_long:
        given = pa.array(question.detectors, type=pa.string())
        places = pc.index_in(table.column(DETECTOR), value_set=given)
        sortable = sortable.append_column(_PLACE, places)
        keys.append((_PLACE, "ascending"))
    if "event" in table.column_names:
        keys.append(("event", "ascending"))
    return table.take(pc.sort_indices(sortable, sort_keys=keys))


def _with_sortable_keys(table: pa.Table, question: Question) -> pa.Table:
    """Give floats of half precision, which Arrow does not sort, the precision that it does."""
    import pyarrow as pa

    for name in question.by:
        if pa.types.is_float16(table.schema.field(name).type):
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).cast(pa.float32()))
    return table

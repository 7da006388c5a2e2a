"""The table of a result: one row for each series and detector, under its series' own key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.tables.batch.question import ALARMED, COUNTS, DETECTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from closecall.tables.batch.question import Question

_TEXTS = (DETECTOR, "status", "reason")
_WHOLE = (*COUNTS, ALARMED)


class Keys:
    """The values of the `by` columns, in their own types, row by row."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.values: list[list[Any]] = [[] for _ in names]
        self.types: dict[str, Any] = {}

    def add(self, key: Sequence[Any], table: pa.Table, times: int) -> None:
        """Note that the next rows belong to a series, and learn the types from its table."""
        if len(self.types) < len(self.names):
            self._learn_types(table)
        for values, value in zip(self.values, key, strict=True):
            values.extend([value] * times)

    def _learn_types(self, table: pa.Table) -> None:
        import pyarrow as pa

        for name in self.names:
            kind: Any = table.schema.field(name).type if name in table.column_names else None
            coded = kind is not None and pa.types.is_dictionary(kind)
            self.types[name] = kind.value_type if coded else kind

    def arrays(self) -> list[pa.Array]:
        """Give the columns."""
        import pyarrow as pa

        return [
            pa.array(values, type=self.types.get(name))
            for name, values in zip(self.names, self.values, strict=True)
        ]


def rows_table(keys: Keys, rows: Sequence[dict[str, Any]], question: Question) -> pa.Table:
    """Put rows of series and detectors under their columns."""
    import pyarrow as pa

    columns = question.row_columns
    arrays = [pa.array([row[name] for row in rows], type=_type_of(name)) for name in columns]
    return pa.Table.from_arrays([*keys.arrays(), *arrays], names=[*keys.names, *columns])


def _type_of(name: str) -> Any:
    import pyarrow as pa

    if name in _TEXTS:
        return pa.string()
    return pa.int64() if name in _WHOLE else pa.float64()

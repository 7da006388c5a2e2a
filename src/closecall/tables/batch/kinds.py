"""Arrow tables in the kind of table that the caller works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import MissingExtraError
from closecall.tables.batch.question import ALARMED, COUNTS

if TYPE_CHECKING:
    import pyarrow as pa

    from closecall.tables.sources.source import Kind

# Counts that are not known of a series in trouble; pandas' plain integers have no missing value.
_MAYBE_MISSING = (*COUNTS[1:], ALARMED)


def in_kind(table: pa.Table, kind: Kind) -> Any:
    """Give an Arrow table as a pandas or polars dataframe, or as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> in_kind(pa.table({"true_events": [2, None]}), "pandas")["true_events"].tolist()
    [2, <NA>]
    """
    try:
        if kind == "pandas":
            return _pandas(table)
        if kind == "polars":
            import polars as pl

            return pl.from_arrow(table)
    except ImportError as error:
        raise MissingExtraError(kind) from error
    return table


def _pandas(table: pa.Table) -> Any:
    import pandas as pd

    frame = table.to_pandas()
    for name in _MAYBE_MISSING:
        if name in frame:
            frame[name] = pd.array(table.column(name).to_pylist(), dtype="Int64")
    return frame

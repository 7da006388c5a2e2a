"""Arrow tables in the caller's kind."""

from __future__ import annotations

import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from closecall.errors import MissingExtraError
from closecall.tables.batch.kinds import in_kind

TABLE = pa.table({"series": ["a", "b"], "true_events": [3, None], "f1": [0.5, float("nan")]})


def test_each_kind_keeps_its_values():
    assert in_kind(TABLE, "arrow") is TABLE
    frame = in_kind(TABLE, "pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["true_events"].tolist() == [3, pd.NA]
    assert in_kind(TABLE, "polars").equals(pl.from_arrow(TABLE))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_missing_package_is_named(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(MissingExtraError, match=kind):
        in_kind(TABLE, kind)

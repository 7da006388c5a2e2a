"""The rows per event as plain values and as dataframes."""

import json
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from closecall.affiliation.event_scores import COLUMNS
from closecall.errors import InputError, MissingExtraError
from tests.affiliation.examples import (
    ALL,
    LENGTHS,
    NOTHING,
    NUMBERS,
    OFFSET,
    PARIS,
    TIMES,
    day,
    scored,
)


@pytest.mark.parametrize("result", ALL.values(), ids=ALL)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_hold_every_column(result, backend):
    frame = result.to_frame(backend)
    assert isinstance(frame, pd.DataFrame if backend == "pandas" else pl.DataFrame)
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == len(result.events)
    assert frame["recall"].to_list() == result.events.recall.tolist()
    assert frame["predicted_count"].to_list() == result.events.predicted_count.tolist()
    if result.events.pair.clock.tz is None:
        np.testing.assert_array_equal(frame["stop"].to_numpy(), result.events.stop)


@pytest.mark.parametrize("zone", [PARIS, UTC, OFFSET], ids=str)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_keep_the_zone(backend, zone):
    frame = scored(zone).to_frame(backend)
    assert frame["start"].to_list() == [day(3, zone), day(10, zone)]
    for name in TIMES:
        first = frame[name].to_list()[0]
        assert first.utcoffset() == first.astimezone(zone).utcoffset()


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_lengths_of_time_in_frames(backend):
    frame = scored().to_frame(backend)
    first = {name: frame[name].to_list()[0] for name in LENGTHS}
    assert first["delay"] == timedelta(days=1)
    assert first["late"] == timedelta(hours=6)
    assert first["early"] == timedelta(0)
    null = frame["delay"].isna() if backend == "pandas" else frame["delay"].is_null()
    assert null.to_list() == [False, True]


def test_pandas_is_the_default():
    pd.testing.assert_frame_equal(NUMBERS.to_frame(), NUMBERS.to_frame("pandas"))


@pytest.mark.parametrize("backend", ["arrow", "", None])
def test_unknown_backend(backend):
    with pytest.raises(InputError) as caught:
        NUMBERS.to_frame(backend)
    assert str(caught.value) == f"Expected `backend` to be 'pandas' or 'polars', got {backend!r}."


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_missing_backend_names_an_install_command_that_works(monkeypatch, backend):
    monkeypatch.setitem(sys.modules, backend, None)
    with pytest.raises(MissingExtraError, match=f"This needs {backend}") as caught:
        NUMBERS.to_frame(backend)
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    text = str(caught.value)
    assert f"pip install {backend}" in text or any(f"closecall[{name}]" in text for name in extras)


@pytest.mark.parametrize("result", ALL.values(), ids=ALL)
def test_plain_values(result):
    values = result.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    plain = (int, float, str, type(None))
    assert all(type(values[name]) in plain for name in ("precision", "recall", "f1"))
    for row in values["events"]:
        assert tuple(row) == COLUMNS
        assert {type(value) for value in row.values()} <= set(plain)


def test_undefined_becomes_none():
    values = NOTHING.to_dict()
    assert (values["precision"], values["recall"], values["f1"]) == (None, 0.0, None)
    row = values["events"][0]
    assert [row[name] for name in ("precision", "f1", *LENGTHS)] == [None] * 7
    assert (row["recall"], row["predicted_count"], row["predicted_duration"]) == (0.0, 0, 0.0)


def test_numbers_in_a_dict():
    row = NUMBERS.to_dict()["events"][0]
    assert {name: row[name] for name in (*TIMES, "delay", "late")} == {
        "start": 2,
        "stop": 4,
        "zone_start": 0.0,
        "zone_stop": 6.5,
        "delay": 1.0,
        "late": 0.25,
    }


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        (None, "2024-01-03T00:00:00"),
        (PARIS, "2024-01-03T00:00:00+01:00"),
        (OFFSET, "2024-01-03T00:00:00+02:00"),
    ],
)
def test_datetimes_in_a_dict(zone, start):
    row = scored(zone).to_dict()["events"][0]
    assert row["start"] == start
    assert datetime.fromisoformat(row["zone_start"]) == day(1, zone)
    assert row["delay"] == 86400
    assert row["late"] == 21600


def test_nanoseconds_in_a_dict():
    row = ALL["nanoseconds"].to_dict()["events"][0]
    assert row["start"] == "1970-01-01T00:00:00.000000001"
    assert row["delay"] == -1e-9

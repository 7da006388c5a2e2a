"""Results on every kind of time axis: scores, rows, frames, plain values and notebooks."""

import json
import pickle
import sys
import tomllib
from datetime import UTC, datetime, timedelta, timezone
from math import inf
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest

import closecall as cc
from closecall import Events
from closecall.affiliation.event_scores import COLUMNS
from closecall.datasets import demo
from closecall.errors import InputError, MissingExtraError
from closecall.fscore import f_measure

PARIS = ZoneInfo("Europe/Paris")
OFFSET = timezone(timedelta(hours=2))
TIMES, LENGTHS = COLUMNS[:4], ("precision_distance", "recall_distance", "early", "late", "delay")


def day(number, zone=None):
    return datetime(2024, 1, number, tzinfo=zone)


def scored(zone=None):
    """Score two events by days, one of them missed."""
    truth = Events([(day(3, zone), day(5, zone)), (day(10, zone), day(11, zone))])
    predicted = Events([(day(4, zone), day(6, zone))])
    return cc.affiliation(truth, predicted, span=(day(1, zone), day(15, zone)))


NUMBERS = cc.affiliation(Events([(2, 4), (9, 10)]), Events([(3, 5)]), span=(0, 14))
FLOATS = cc.affiliation(Events([(2.0, 4.0), (9.0, 10.0)]), Events([(3, 5)]), span=(0, 14))
NOTHING = cc.affiliation([0, 1, 0], [0, 0, 0])
ALL = {
    "integers": NUMBERS,
    "floats": FLOATS,
    "nothing": NOTHING,
    "naive": scored(),
    "Paris": scored(PARIS),
    "UTC": scored(UTC),
    "offset": scored(OFFSET),
    "seconds": cc.affiliation([0, 1, 0], [1, 0, 0], times=np.arange(3).astype("datetime64[s]")),
    "nanoseconds": cc.affiliation(
        [0, 1, 0], [1, 0, 0], times=np.arange(3).astype("datetime64[ns]")
    ),
}


@pytest.mark.parametrize("beta", [0, 0.5, 1, 2, inf])
def test_fbeta(beta):
    assert NUMBERS.fbeta(beta) == f_measure(NUMBERS.precision, NUMBERS.recall, beta)
    assert cc.affiliation([0, 1], [0, 1]).fbeta(beta) == 1


def test_repr():
    assert repr(NOTHING) == "Affiliation(precision=nan, recall=0.000, f1=nan, events=1)"
    assert repr(cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0])) == (
        "Affiliation(precision=1.000, recall=0.875, f1=0.933, events=1)"
    )
    assert repr(NUMBERS.events) == f"EventScores(2 events, columns {', '.join(COLUMNS)})"
    assert len(NUMBERS.events) == 2


def test_frozen():
    with pytest.raises(AttributeError):
        NUMBERS.precision = 1.0
    with pytest.raises(AttributeError):
        NUMBERS.events.predicted_count = None


def test_pickle():
    twin = pickle.loads(pickle.dumps(scored(PARIS)))  # noqa: S301 - our own bytes
    assert twin.to_dict() == scored(PARIS).to_dict()


def test_scores_above_chance_are_in_the_plain_values():
    values = NUMBERS.to_dict()
    for name in ("precision_above_chance", "recall_above_chance", "f1_above_chance"):
        assert values[name] == getattr(NUMBERS, name)
    assert values["chance"] == NUMBERS.chance.to_dict()
    assert [row["recall_above_chance"] for row in values["events"]] == (
        NUMBERS.events.recall_above_chance.tolist()
    )
    assert NOTHING.to_dict()["f1_above_chance"] is None


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
        assert {type(value) for value in row.values()} <= {bool, *plain}


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
    assert (row["outcome"], row["delay"], row["nearest"]) == ("close call", None, 0)


def test_what_happened_to_the_series():
    result = scored()
    assert (result.caught, result.alarms, result.false_alarms) == (1, 1, 0)
    assert result.alarmed == pytest.approx(1 / 7)
    assert result.events.caught.tolist() == [True, False]
    assert result.events.missed.tolist() == [False, True]
    assert result.events.nearest[1] == -np.timedelta64(4, "D")
    assert np.isnat(result.events.median_delay)  # between a day and never
    assert result.headline == "1 of 2 caught (0.4 by chance), median delay never, no false alarms"


@pytest.mark.parametrize(
    ("alarms", "median", "headline"),
    [
        (
            [(1, 2), (11, 12), (21, 22)],
            1,
            "3 of 3 caught (1.5 by chance), median delay 1, no false alarms",
        ),
        (
            [(3, 4), (13, 14), (25, 26)],
            3,
            "2 of 3 caught (2.2 by chance), median delay 3, 3.3 false alarms per 100",
        ),
        ([(0, 30)], 0, "3 of 3 caught (3 by chance), in alarm 100 % of the time"),
        ([(3, 4)], inf, "1 of 3 caught (0.7 by chance), median delay never, no false alarms"),
    ],
)
def test_the_median_delay_counts_never(alarms, median, headline):
    truth = Events([(0, 5), (10, 15), (20, 25)])
    result = cc.affiliation(truth, Events(alarms), span=(0, 30))
    assert result.events.median_delay == median
    assert result.headline == headline


def test_options_and_what_is_written():
    data = demo()
    result = cc.affiliation(data.truth, data.predicted["forecast"], times=data.times)
    narrow, wide = result.interval(level=0.5), result.interval(level=0.99)
    assert wide.recall.low < narrow.recall.low < narrow.recall.high < wide.recall.high
    assert result.interval(seed=1).recall != result.interval(seed=2).recall
    plain = narrow.to_dict()
    assert plain["recall"] == {
        "value": narrow.recall.value,
        "low": narrow.recall.low,
        "high": narrow.recall.high,
    }
    assert (plain["level"], plain["events"], plain["caution"]) == (0.5, 7, narrow.caution)
    assert repr(narrow).startswith("ScoreIntervals(precision=0.992 [0.")
    assert repr(narrow).endswith("level=0.5, 7 events)")

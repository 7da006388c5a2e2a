"""One messy table through every entry point: the same events, numbers, notes and refusals.

The reference is `closecall.affiliation` of vectors that plain pandas code puts in order. To add an
entry point, write a function that returns what it tells, and add it to `ENTRY_POINTS`.
"""

import base64
import json
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import closecall as cc
from tests.cli import conftest

run = conftest.run  # the fixture of commands
THRESHOLD = 0.9
MINUTE = timedelta(minutes=1)
START = datetime.fromisoformat("2024-03-30T22:00:00+01:00")  # clocks change in this night
LIMITS = {"since": START + 40 * MINUTE, "until": START + 1560 * MINUTE}
OPTIONS = {"max_step": 15 * MINUTE, "ignore": "off", **LIMITS}
SCORES = ("precision", "recall", "f1", "caught", "alarms", "false_alarms")


def messy_table():
    """Return 300 samples five minutes apart, with everything that may be wrong with them."""
    return made_once().copy()


@cache
def made_once():
    random, count = np.random.default_rng(5), 300
    minutes = 5 * np.arange(count)
    minutes[150:] += 180  # a gap
    minutes[-1] += 2  # an uneven end
    label = np.zeros(count, dtype=int)
    for first, after in ((2, 5), (40, 52), (110, 113), (148, 153), (200, 220), (270, 276)):
        label[first:after] = 1
    score = random.random(count) + 0.5 * np.roll(label, 2)
    score[[20, 21, 99, 205]] = np.nan
    times = pd.Timestamp(START) + pd.to_timedelta(minutes, unit="min")
    table = pd.DataFrame(
        {
            "t": times.tz_convert("Europe/Berlin"),
            "label": label,
            "score": score,
            "alarm": (random.random(count) < 0.1).astype(int),
            "second": (random.random(count) < 0.1).astype(int),
            "off": (np.arange(count) // 10 % 9 == 4).astype(int),
        }
    )
    order = np.arange(count)
    order[[60, 61, 230, 233]] = order[[61, 60, 233, 230]]  # times that go back
    order = np.insert(order, [30, 120, 210], [29, 119, 209])  # times that repeat
    table = table.iloc[order].reset_index(drop=True)
    table.loc[[30, 121, 212], "score"] = [0.95, 0.1, np.nan]
    table.loc[[30, 121], "alarm"] = 1
    return table


# The reference: vectors prepared by hand.


def ordered(table, how):
    """Sort samples by time, and keep one of each time."""
    rows = table.sort_values("t", kind="stable")
    if how == "mean":
        kept = dict.fromkeys(rows.columns.drop("t"), "max")
        return rows.groupby("t", as_index=False).agg(kept | {"score": mean_of_all})
    if how in ("first", "last"):
        rows = rows.drop_duplicates("t", keep=how)
    return rows.reset_index(drop=True)


def mean_of_all(scores):
    return scores.mean(skipna=False)


def cut_at(rows, moment):
    """Cut the sample that lasts over a moment into two."""
    before = rows[rows["t"] < moment].tail(1)
    if before.empty or (rows["t"] == moment).any():
        return rows
    return pd.concat([rows, before.assign(t=moment)]).sort_values("t", ignore_index=True)


def reference(table, detector, disorder, *, nan="raise", ignore=None, max_step=None, **limits):
    """Score vectors that were prepared by hand."""
    rows = table if disorder == "error" else ordered(table, disorder)
    end = rows["t"].iloc[-1] + rows["t"].diff().median()
    for moment in limits.values():
        rows = cut_at(rows, moment)
    skipped = np.zeros(len(rows), dtype=bool) if ignore is None else rows[ignore] == 1
    skipped |= rows["t"] < limits.get("since", rows["t"].min())
    skipped |= rows["t"] >= limits.get("until", end)
    axis = {"times": rows["t"], "end": end, "ignore": skipped, "max_step": max_step}
    if detector == "score":
        scores = rows["score"].to_numpy()
        return cc.affiliation_curve(rows["label"], scores, nan=nan, **axis).at(THRESHOLD)
    return cc.affiliation(rows["label"], rows[detector], **axis)


# What an entry point tells, in one shape.


@dataclass(frozen=True)
class Told:
    """All text that an entry point writes, and what it says of one detector."""

    text: str
    scores: dict
    """Those of `SCORES`; empty if it refuses."""
    events: list
    """Start and stop of the true events, in UTC."""


def told(text, scores=(), events=(), **names):
    names = {name: name for name in SCORES} | names
    values = {name: scores[key] for name, key in names.items()} if scores else {}
    pairs = [(row["start"], row["stop"]) for row in events]
    in_utc = [tuple(pd.Timestamp(time).tz_convert("UTC") for time in pair) for pair in pairs]
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d", utc_text, text)
    return Told(" ".join(text.split()), values, in_utc)


def utc_text(found):
    return str(datetime.fromisoformat(found[0]).astimezone(UTC))


def told_row(text, rows, events, **key):
    """Read the row of a batch, and its events."""
    (row,) = (row for row in rows if key.items() <= row.items())
    if row["status"] != "ok":
        return told(f"{text} {row['reason']}")
    names = {name: f"affiliation_{name}" for name in SCORES[:3]} | {"alarms": "predicted_events"}
    return told(text, row, [event for event in events if key.items() <= event.items()], **names)


def with_texts(table):
    """Write times as text, with an offset if they have a zone."""
    if pd.api.types.is_integer_dtype(table["t"]):
        return table
    times = [time if pd.isna(time) else time.isoformat() for time in table["t"]]
    return table.assign(t=pd.Series(times, index=table.index, dtype=object))


def in_milliseconds(table):
    """Write times as milliseconds of an epoch."""
    return table.assign(t=[round(1000 * time.timestamp()) for time in table["t"]])


def as_clocks_show(table):
    """Leave out the offset of times."""
    return table.assign(t=table["t"].dt.tz_localize(None))


def many(table, written):
    """Return a table of three series, of which "b" is this one and the others are sound."""
    sound = written(ordered(messy_table(), "first").fillna({"score": 0.5}))
    parts = {"a": sound, "b": table, "c": sound.assign(score=sound["score"] / 2)}
    return pd.concat([part.assign(series=name) for name, part in parts.items()])


def sides(detector):
    if detector == "score":
        return {"score": "score", "threshold": THRESHOLD}
    return {"predicted": detector}


def command_line(name, file, options):
    """Write options of Python as those of a command."""
    line = [name, file, "--truth", "label", "--time", "t"]
    for key, value in options.items():
        option = {"since": "--from"}.get(key, f"--{key.replace('_', '-')}")
        if isinstance(value, timedelta):
            value = f"{value // MINUTE}min"  # noqa: PLW2901 - as a command has it
        line += [option, value.isoformat() if isinstance(value, datetime) else str(value)]
    return line


def json_of(run, name, table, options, *more, file="table.csv"):
    """Return all text of a command, and its JSON; None if it refuses."""
    if file.endswith(".csv"):
        with_texts(table).to_csv(file, index=False)
    else:
        table.to_parquet(file)
    result = run(*command_line(name, file, options), *more, "--format", "json")
    text = result.stdout + result.stderr
    return text, json.loads(result.stdout) if result.exit_code == 0 else None


# The entry points. Each takes the fixture, a table, the name of a detector and options of reading.


def vectors(_, table, detector, disorder, **options):
    try:
        result = reference(table, detector, disorder, **options)
    except (ValueError, TypeError) as error:
        return told(str(error))
    scores = {name: getattr(result, name) for name in SCORES}
    return told("", scores, list(result.events.rows()))


def frame(_, table, detector, disorder, **options):
    options |= {"truth": "label", "time": "t", "disorder": disorder, "per_event": True}
    try:
        result = cc.evaluate_frame(table, **sides(detector), **options)
    except (ValueError, TypeError) as error:
        return told(str(error))
    return told_row("", result.table.to_pylist(), result.events.to_dict("records"))


def score(run, table, detector, disorder, *, file="table.csv", **options):
    options |= sides(detector) | {"disorder": disorder}
    text, values = json_of(run, "score", table, options, file=file)
    return told(text) if values is None else told(text, values, values["events"])


def score_parquet(*arguments, **options):
    return score(*arguments, **options, file="table.parquet")


def curve(run, table, detector, disorder, **options):
    options |= sides(detector) | {"disorder": disorder}
    text, values = json_of(run, "curve", table, options)
    return (
        told(text) if values is None else told(text, values["chosen"], values["chosen"]["events"])
    )


def compare(run, table, detector, disorder, **options):
    options |= sides(detector) | {"disorder": disorder}
    other = "alarm" if detector == "score" else "second"
    text, values = json_of(run, "compare", table, options, "--predicted", other)
    if values is None:
        return told(text)
    (row,) = (row for row in values["detectors"] if row["detector"] == detector)
    return told(text, row, values["events"])


def batch(run, table, detector, disorder, key=(), **options):
    options |= sides(detector) | {"disorder": disorder}
    text, values = json_of(run, "batch", table, options, "--per-event")
    if values is None:
        return told(text)
    notes = [note for note in values["notes"] if not key or note.startswith("b: ")]
    return told_row(" ".join(notes), values["rows"], values["events"], **dict(key))


def batch_of_many(run, table, *arguments, **options):
    table = many(table, written_as(options))
    return batch(run, table, *arguments, key={"series": "b"}, by="series", **options)


def written_as(options):
    """Return how the times of other series are written."""
    ways = {"time_unit": in_milliseconds, "timezone": as_clocks_show}
    return next((way for option, way in ways.items() if option in options), lambda table: table)


def report(run, table, detector, disorder, **options):
    with_texts(table).to_csv("table.csv", index=False)
    options |= sides(detector) | {"disorder": disorder, "script": "cdn", "output": "page.html"}
    result = run(*command_line("report", "table.csv", options))
    if result.exit_code != 0:
        return told(result.stderr)
    page = Path("page.html").read_text(encoding="utf-8")
    blocks = re.findall(r'type="application/json" id="[\w-]+">(.*?)</script>', page, re.DOTALL)
    about, *series = map(json.loads, blocks)
    shown = series[[one["name"] for one in about["series"]].index("b" if "by" in options else "")]
    if shown is None:
        return told(result.stderr)
    text = " ".join([result.stderr, *shown["advice"]])
    return told(text, shown["detectors"][0], page_events(shown))


def report_of_many(run, table, *arguments, **options):
    return report(run, many(table, written_as(options)), *arguments, by="series", **options)


def stream(run, table, detector, disorder, **options):
    """Stream the table, in order where the others are asked to put it in order."""
    rows = table if disorder == "error" else ordered(table, disorder)
    with_texts(rows).to_csv("table.csv", index=False)
    result = run(*command_line("stream", "table.csv", options | sides(detector)))
    text = result.stdout + result.stderr
    if result.exit_code != 0:
        return told(text)
    *events, total = map(json.loads, result.stdout.splitlines())
    return told(text, total if "f1" in total else (), events)  # the last event is not closed


ENTRY_POINTS = {
    "vectors": vectors,
    "evaluate_frame": frame,
    "score": score,
    "score of Parquet": score_parquet,
    "curve": curve,
    "compare": compare,
    "report": report,
    "report of many": report_of_many,
    "batch": batch,
    "batch of many": batch_of_many,
    "stream": stream,
}
PYTHON = ("vectors", "evaluate_frame")
BATCHES = ("evaluate_frame", "batch", "batch of many")
OF_MANY = ("batch of many", "report of many")
SERIES_OF_MANY = (*BATCHES, "report of many")


def page_events(series):
    """Return the true events of a page, which counts evaluated time only."""
    ignored, clock = series["ignored"], series["clock"]
    seams, lengths = np.empty(0), np.empty(0)
    if ignored is not None:
        seams = unpacked(ignored["seams"])
        lengths = unpacked(ignored["stops"]) - unpacked(ignored["starts"])
    origin = pd.Timestamp(int(clock["origin"]), unit="ms", tz="UTC")

    def times(offsets, side):
        before = np.append(0, np.cumsum(lengths))[np.searchsorted(seams, offsets, side)]
        return origin + pd.to_timedelta((offsets + before) * clock["unit"], unit="ms")

    starts = times(unpacked(series["truth"]["starts"]), "right")
    stops = times(unpacked(series["truth"]["stops"]), "left")
    return [{"start": start, "stop": stop} for start, stop in zip(starts, stops, strict=True)]


def unpacked(column):
    """Read offsets that a page holds as a first one and one step or several."""
    if "step" in column:
        return column["first"] + column["step"] * np.arange(column["count"])
    kind = np.dtype(column["steps"]["type"])
    content = zlib.decompress(base64.b64decode(column["steps"]["data"]))
    planes = np.frombuffer(content, dtype=np.uint8).reshape(kind.itemsize, -1)
    steps = np.ascontiguousarray(planes.T).view(kind).ravel()
    return np.array(list(accumulate(steps.tolist(), initial=column["first"])))


# What all of them must tell alike.


def spoiled(column, value, *, how="mean", row=17):
    """Return the table in order, with a value that is not allowed; None is a missing one."""
    table = messy_table() if how is None else ordered(messy_table(), how)
    if value is None and column != "t":
        table[column] = table[column].astype("Int64")
    elif column == "alarm":
        table[column] = table[column].astype(float)
    table.loc[row, column] = value
    return table


def backward():
    return messy_table().drop([30, 121, 212]).reset_index(drop=True)


def in_order(**columns):
    return ordered(messy_table(), "mean").assign(**columns)


@dataclass(frozen=True)
class Refusal:
    """What must not be evaluated, and what the message says after the name of the argument."""

    table: object
    """A function that returns it."""
    message: str
    detector: str = "alarm"
    disorder: str = "error"
    options: tuple = ()
    without: tuple = ()
    """Entry points that are not asked: there is nothing to refuse, or the test itself would."""


MISSING = "to have no missing values, got one (nan, NaT or null) at index {}."
MOMENT = "2024-03-30 23:25:00+00:00"
TWICE = f"to be strictly increasing, got {MOMENT} after {MOMENT} at index 30."
SPAN = "to lie between 2024-03-30 21:00:00+00:00 and 2024-04-01 01:02:00+00:00, got"
EMPTY = "Expected some time that is not ignored, got none."
NO_EVENT = "Expected at least one true event (affiliation is undefined for a series without any), "
REFUSALS = {
    "times go back": Refusal(
        backward,
        "to be strictly increasing, got 2024-03-31 02:00:00+00:00 after 2024-03-31 02:05:00+00:00 "
        "at index 61.",
    ),
    "times repeat": Refusal(messy_table, TWICE),
    "times repeat when sorted": Refusal(messy_table, TWICE, disorder="sort"),
    "a time is missing": Refusal(lambda: spoiled("t", None), MISSING.format(17)),
    "a time is missing among others out of order": Refusal(
        lambda: spoiled("t", None, how=None), MISSING.format(17), disorder="mean",
        without=("vectors", "stream"),
    ),
    "a label is 2": Refusal(
        lambda: spoiled("label", 2), "labels to be 0 or 1, got 2 at index 17."
    ),
    "a label is 2 among samples out of order": Refusal(
        lambda: spoiled("label", 2, how=None, row=123),
        "labels to be 0 or 1, got 2 at index 121.", disorder="mean",
    ),
    "a label is missing": Refusal(lambda: spoiled("label", None), MISSING.format(17)),
    "a label is missing among samples out of order": Refusal(
        lambda: spoiled("label", None, how=None, row=123), MISSING.format(121), disorder="first"
    ),
    "a label is missing among samples that are averaged": Refusal(
        lambda: spoiled("label", None, how=None, row=123), MISSING.format(121), disorder="mean"
    ),
    "an alarm is 0.5": Refusal(
        lambda: spoiled("alarm", 0.5), "labels to be 0 or 1, got 0.5 at index 17."
    ),
    "an alarm is missing": Refusal(lambda: spoiled("alarm", None), MISSING.format(17)),
    "a score is missing": Refusal(
        in_order, "to be numbers, or inf, got nan at index 20.", "score"
    ),
    "a score is missing among samples out of order": Refusal(
        messy_table, "to be numbers, or inf, got nan at index 20.", "score", "mean"
    ),
    "every score is missing": Refusal(
        lambda: in_order(score=np.nan), EMPTY, "score", options=(("nan", "ignore"),)
    ),
    "an ignored sample is marked 2": Refusal(
        lambda: spoiled("off", 2), "labels to be 0 or 1, got 2 at index 17.",
        options=(("ignore", "off"),), without=("vectors",),
    ),
    "a mark of ignored samples is missing": Refusal(
        lambda: spoiled("off", None), MISSING.format(17),
        options=(("ignore", "off"),), without=("vectors",),
    ),
    "everything is ignored": Refusal(
        lambda: in_order(off=1), EMPTY, options=(("ignore", "off"),)
    ),
    "there is no event": Refusal(lambda: in_order(label=0), NO_EVENT + "got none in"),
    "no event is left": Refusal(
        in_order, NO_EVENT + "got none in evaluated time, and 6 in ignored time.",
        options=(("until", START + 10 * MINUTE),),
    ),
    # A batch has series of other times, and a stream may be started before its first sample.
    "the evaluated time starts before the series": Refusal(
        in_order, f"{SPAN} 2024-03-30 19:20:00+00:00.", options=(("since", START - 100 * MINUTE),),
        without=("vectors", "stream", *SERIES_OF_MANY),
    ),
    "the evaluated time starts after the series": Refusal(
        in_order, f"{SPAN} 2024-04-06 03:00:00+00:00.", options=(("since", START + 9000 * MINUTE),),
        without=("vectors",),
    ),
    "the evaluated time stops before it starts": Refusal(
        in_order,
        "to lie before `--until`, got 2024-03-31 05:20:00+00:00 and 2024-03-31 03:40:00+00:00.",
        options=(("since", START + 500 * MINUTE), ("until", START + 400 * MINUTE)),
        without=PYTHON,
    ),
    "the evaluated time has no zone": Refusal(
        in_order, "to have a time zone everywhere or nowhere, got zones ",
        options=(("since", datetime(2024, 3, 31)),), without=PYTHON,  # noqa: DTZ001 - wanted
    ),
    "the longest step is a number": Refusal(
        in_order, "to be a timedelta of 0 or more, got 5.", options=(("max_step", 5),)
    ),
    "the longest step is zero": Refusal(
        in_order, "to be longer than 0, got datetime.timedelta(0).",
        options=(("max_step", 0 * MINUTE),),
    ),
    "there is one sample": Refusal(
        lambda: in_order().iloc[40:41].reset_index(drop=True),
        "for a series of one sample, got none.", without=PYTHON,
    ),
}  # fmt: skip

NOTES = {
    "order": (
        "Samples are put in the order of their times: 3 went back; the mean is kept where 3 "
        "repeat a time."
    ),
    "end": (
        "Times are unevenly spaced, and no --end says where the last sample stops: it is taken to "
        "last the median step, until 2024-04-01 01:02:00+00:00."
    ),
    "gap": (
        "The longest step is 37 times the median one, and its sample lasts as long: if nothing "
        "was seen there, limit how long samples last with --max-step."
    ),
    "ignored": "Ignored: 8 h 27 min of 1 d 4 h; left out: 1 true event",
}


def cases(*names, without=()):
    """Return names of cases with those of entry points."""
    return [
        (name, entry)
        for name in names
        for entry in ENTRY_POINTS
        if entry not in (without(name) if callable(without) else without)
    ]


def require_same(found, table, detector, disorder, **options):
    """Raise unless scores and events are those of vectors prepared by hand."""
    expected = vectors(None, table, detector, disorder, **options)
    assert found.scores == pytest.approx(expected.scores, rel=0, abs=1e-12)
    closed = len(found.events)
    assert found.events == expected.events[:closed]
    assert len(expected.events) - closed in (0, 1)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("how", ["first", "last", "mean"])
def test_scores_and_events_of_a_column_of_scores(run, entry, how):
    options = OPTIONS | {"nan": "ignore"}
    found = ENTRY_POINTS[entry](run, messy_table(), "score", how, **options)
    require_same(found, messy_table(), "score", how, **options)


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry != "curve"])
@pytest.mark.parametrize(
    ("how", "options"),
    [("first", OPTIONS), ("last", OPTIONS), ("mean", OPTIONS), ("mean", {})],
    ids=["first", "last", "mean", "whole"],
)
def test_scores_and_events_of_a_column_of_alarms(run, entry, how, options):
    found = ENTRY_POINTS[entry](run, messy_table(), "alarm", how, **options)
    require_same(found, messy_table(), "alarm", how, **options)


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry != "curve"])
def test_samples_that_only_go_back_are_sorted(run, entry):
    found = ENTRY_POINTS[entry](run, backward(), "alarm", "sort", **OPTIONS)
    require_same(found, backward(), "alarm", "sort", **OPTIONS)


SPECIAL_OPTIONS = {
    "inside a sample": {"since": START + 502 * MINUTE, "until": START + 1303 * MINUTE},
    "nan beside alarms": {"nan": "ignore"},
}


@pytest.mark.parametrize(("name", "entry"), cases(*SPECIAL_OPTIONS, without=("curve",)))
def test_options_that_are_read_alike(run, name, entry):
    options = SPECIAL_OPTIONS[name]
    found = ENTRY_POINTS[entry](run, messy_table(), "alarm", "mean", **options)
    require_same(found, messy_table(), "alarm", "mean", **options)


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry != "vectors"])
def test_numbers_of_an_epoch(run, entry):
    options = OPTIONS | {"nan": "ignore"}
    table = in_milliseconds(messy_table())
    found = ENTRY_POINTS[entry](run, table, "score", "mean", time_unit="ms", **options)
    require_same(found, messy_table(), "score", "mean", **options)


ZONED = [entry for entry in ENTRY_POINTS if entry not in ("vectors", *BATCHES, "stream")]


@pytest.mark.parametrize("entry", ZONED)
@pytest.mark.parametrize("timezone", ["Europe/Berlin", "predicted=Europe/Berlin"])
def test_times_as_clocks_show_them(run, entry, timezone):
    options = OPTIONS | {"nan": "ignore"}
    table = as_clocks_show(messy_table())
    found = ENTRY_POINTS[entry](run, table, "score", "mean", timezone=timezone, **options)
    require_same(found, messy_table(), "score", "mean", **options)


def unasked(name):
    """Return the entry points that a case does not ask; a curve has no alarms."""
    refusal = REFUSALS[name]
    return (*refusal.without, *(("curve",) if refusal.detector == "alarm" else ()))


@pytest.mark.parametrize(("name", "entry"), cases(*REFUSALS, without=unasked))
def test_refusals(run, name, entry):
    refusal = REFUSALS[name]
    arguments = (refusal.table(), refusal.detector, refusal.disorder)
    found = ENTRY_POINTS[entry](run, *arguments, **dict(refusal.options))
    assert found.scores == {}
    assert refusal.message in found.text


ONE_SPOILED = [name for name, refusal in REFUSALS.items() if not refusal.options]


@pytest.mark.parametrize(
    ("name", "entry"),
    cases(
        *(f"beside: {name}" for name in ONE_SPOILED),
        without=[entry for entry in ENTRY_POINTS if entry not in OF_MANY],
    ),
)
def test_a_series_that_is_refused_stops_no_other(run, name, entry):
    refusal = REFUSALS[name.removeprefix("beside: ")]
    found = ENTRY_POINTS[entry](run, refusal.table(), refusal.detector, refusal.disorder)
    assert not found.text.startswith("Error: ")


def silent(name):
    """Return the entry points without notes; a stream gets samples in order."""
    return (*PYTHON, "stream") if name == "order" else PYTHON


@pytest.mark.parametrize(("name", "entry"), cases(*NOTES, without=silent))
def test_notes(run, name, entry):
    options = {"nan": "ignore"} if name == "gap" else OPTIONS | {"nan": "ignore"}
    found = ENTRY_POINTS[entry](run, messy_table(), "score", "mean", **options)
    assert NOTES[name] in found.text


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry not in PYTHON])
def test_nothing_is_noted_of_a_table_in_order(run, entry):
    table = in_order().iloc[:100].fillna({"score": 0.5})
    found = ENTRY_POINTS[entry](run, table, "score", "error")
    require_same(found, table, "score", "error")
    for start in ("Samples are put", "Times are unevenly", "The longest step", "Ignored:"):
        assert start not in found.text

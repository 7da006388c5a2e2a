"""Results of a run, in any of their forms: the numbers of each detector, and what they rest on."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isclose, isfinite, isnan, nan
from os import PathLike
from statistics import median
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from closecall.affiliation.result import Affiliation
from closecall.affiliation.shifts import caught_above_chance
from closecall.detectors import by_name
from closecall.errors import InputError, InputTypeError, shown
from closecall.fscore import counted_f1
from closecall.metrics.registry import METRICS
from closecall.plain import schema_name
from closecall.signature import Signature, parse
from closecall.statistics.intervals import SCORES, Interval, count_limits
from closecall.statistics.leads import ROUNDING, mean_difference
from closecall.statistics.sample import Sample, mean_interval
from closecall.tables.reading import PARQUET_MAGIC, imported, opened, read_table, shown_name
from closecall.wording import event_title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from closecall.metrics.registry import Metric

    _Key = tuple[str, Any, Any]  # of an event: its series, start and stop
    Runs = dict[str | None, "Run"]  # by detector; an only one may have no name

NUMBERS: dict[str, Metric] = {
    metric.name if number == "value" else f"{metric.name}_{number}": metric
    for metric in METRICS.values()
    for number in metric.gives
}
"""The metric of each number, by the names of `closecall.evaluate` and of batches."""
LEVEL = 0.95
"""How often intervals are meant to hold the number over all events there could be."""
_UNITS = {"hour": 3_600, "day": 86_400, "week": 604_800}
_OF_ONE = ("caught", "close_calls", "missed", "alarms", "false_alarms", "alarmed")
_WHOLE = ("close_calls", "missed", "false_alarms")
_ABOVE_CHANCE = tuple(f"{number}_above_chance" for number in (*SCORES, "caught"))
# A delay that is never is null in JSON, as one that is undefined.
_SKIPPED = ("detector", "status", "reason", "threshold", "median_delay", "signature")
_ROWS = {"detector", "status", "true_events"}  # columns that rows of a batch have, and no data
_SUMMED = (
    *("samples", "true_events", "predicted_events", "caught", "close_calls", "false_alarms"),
    *("chance_caught", "evaluated_days"),
)
_LOST = ("failed", "nan_score", "bad_scores")  # series on which the detector itself gave nothing
_NONE = Interval(nan, nan, nan)
_HEAD_BYTES, _MOST_BYTES = 4096, 2**31
_OURS = re.compile(rb'\s*\{\s*"schema"\s*:\s*"closecall/')
_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Run:
    """One detector of a run: on one series, or on the many of a batch."""

    numbers: dict[str, float]
    events: dict[_Key, dict[str, Any]]
    """The rows of true events; empty if a batch wrote none."""
    series: tuple[str, ...] = ()
    """Names of the series of a batch; none for one series."""
    columns: Mapping[str, NDArray[np.float64]] | None = None
    """The numbers of each series of a batch; None for one series."""
    lost: int = 0
    """On how many series the detector gave nothing."""
    evaluated: float = nan
    """Seconds."""
    signature: Signature | None = None
    """What decided the numbers; None where files do not say it."""

    @classmethod
    def of_one(cls, record: Mapping[str, Any]) -> Self:
        """Read what JSON says of a detector on one series."""
        events = _read_events(record["events"])
        delays = [inf if isnan(row["delay"]) else row["delay"] for row in events.values()]
        numbers = {name: _number(record[name]) for name in (*_OF_ONE, *_ABOVE_CHANCE)}
        numbers |= {f"affiliation_{name}": _number(record[name]) for name in SCORES}
        numbers |= {name: int(numbers[name]) for name in _WHOLE}
        numbers |= {"events": len(events), "median_delay": median(delays)}
        numbers |= {name: _number(number) for name, number in record.get("metrics", {}).items()}
        dated = all(isinstance(start, str) for _, start, _ in events)
        evaluated = _number(record.get("evaluated_time")) if dated else nan
        return cls(numbers | _rates(numbers, evaluated), events, evaluated=evaluated)

    @classmethod
    def of_many(cls, rows: list[dict[str, Any]], events: list[dict[str, Any]]) -> Self:
        """Read the rows of a detector on many series: means over these, and sums of counts."""
        names = [*rows[0]]
        keys = [name for name in names[: names.index("status")] if name != "detector"]

        def series(row: Mapping[str, Any]) -> str:
            return ", ".join(str(row[name]) for name in keys)

        columns = {
            name: np.array([_number(row[name]) for row in rows])
            for name in names
            if name not in (*keys, *_SKIPPED)
            and all(isinstance(row[name], float | int | None) for row in rows)
        }
        alarms, true = columns["predicted_events"], columns["true_events"]
        columns |= {
            name: counted_f1(column, alarms, true)
            for name, column in columns.items()
            if name.endswith("_f1")
        }
        numbers = {
            name: float((np.nansum if name in _SUMMED else _mean)(column))
            for name, column in columns.items()
        }
        numbers |= {"alarms": numbers["predicted_events"], "events": numbers["true_events"]}
        if "caught" in columns:  # on a series without a result, no event is
            numbers["missed"] = numbers["events"] - numbers["caught"]
        if "chance_caught" in columns:
            happened = (numbers[name] for name in ("caught", "events", "chance_caught"))
            numbers["caught_above_chance"] = caught_above_chance(*happened)
        if "evaluated_days" in columns:
            dated = ~np.isnan(columns["evaluated_days"])
            counts = {"false_alarms": float(np.nansum(columns["false_alarms"][dated]))}
            numbers |= _rates(counts, numbers["evaluated_days"] * _UNITS["day"])
        called = tuple(map(series, rows))
        if len(set(called)) < len(called):
            raise ValueError("a series twice")
        return cls(
            numbers,
            _read_events(events, series),
            called,
            columns,
            sum(row["status"] in _LOST for row in rows),
        )

    @cached_property
    def _scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Precision and recall of each event."""
        rows = self.events.values()
        precision, recall = (np.array([row[name] for row in rows]) for name in SCORES[:2])
        return precision, recall

    @cached_property
    def _intervals(self) -> dict[str, Interval]:
        precision, recall = self._scores
        found = Sample.read([precision], [recall]).intervals(0, LEVEL, n=2000, seed=0)
        return {f"affiliation_{name}": getattr(found, name) for name in SCORES}

    def interval(self, number: str) -> Interval:
        """Return where a number may lie; nan limits where nothing says so."""
        if self.columns is not None:
            if number not in NUMBERS:
                return _NONE
            metric = NUMBERS[number]
            values, level = self.columns[number], LEVEL
            return mean_interval(values, level=level, low=metric.lowest, high=metric.highest)
        rate = re.fullmatch(r"false_alarms_per_(\w+)", number)
        if rate:  # as if each came on its own
            per = _UNITS[rate[1]] / self.evaluated
            low, high = count_limits(round(self.numbers["false_alarms"]), LEVEL)
            return Interval(self.numbers[number], per * low, per * high)
        return self._intervals.get(number, _NONE)

    def newly_missed(self, before: Run) -> float | None:
        """Count the events that were caught before and are not now; None if nothing says it.

        Without rows of events, it is how many fewer each series of a batch has.
        """
        if self.events and before.events:
            pairs = ((was, self.events[key]) for key, was in before.events.items())
            return sum(is_newly_missed(was, now) for was, now in pairs)
        if self.columns is None or before.columns is None:
            return 0  # there are no events
        if not ("caught" in self.columns and "caught" in before.columns):
            return None
        now, was = (np.nan_to_num(side["caught"]) for side in (self.columns, before.columns))
        return float(np.maximum(was - now, 0).sum())

    def against(self, before: Run) -> Iterator[tuple[str, float, float, Interval, int]]:
        """Yield numbers now and before, the interval of the difference, and series that are lost.

        There is no interval where no event, or series, got worse: then nothing speaks for a loss.
        """
        shared = [name for name in NUMBERS if name in self.numbers and name in before.numbers]
        if self.columns is None or before.columns is None:
            now, was = (np.stack(run._scores) for run in (self, before))  # noqa: SLF001
            leads = dict.fromkeys(shared, _NONE)
            if _worse(now, was):
                sides = zip(now, was, strict=True)
                found = Sample.read(*map(list, sides)).differences(0, 1, LEVEL)
                leads |= {f"affiliation_{x}": lead for x, lead in zip(SCORES, found, strict=True)}
            for name in shared:
                value, other = self.numbers[name], before.numbers[name]
                same = isclose(leads[name].value, value - other, abs_tol=ROUNDING)
                yield name, value, other, leads[name] if same else _NONE, 0
            return
        for name in shared:
            now, was = self.columns[name], before.columns[name]
            both = np.isfinite(now) & np.isfinite(was)
            lost = int(np.count_nonzero(np.isfinite(was) & ~np.isfinite(now)))
            sign = 1 if NUMBERS[name].higher_is_better else -1
            lead: Interval = _NONE
            if both.any() and _worse(sign * now[both], sign * was[both]):
                bounds = {"low": NUMBERS[name].lowest, "high": NUMBERS[name].highest}
                lead, _ = mean_difference(now, was, level=LEVEL, **bounds)
            # Where all is lost, what there was is undefined now.
            yield name, _mean(now[both]), _mean(was[both] if both.any() else was), lead, lost


def is_newly_missed(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether an event was caught before and is not now, be it a close call or not."""
    return bool(was["outcome"] == "caught" != now["outcome"])


def _worse(now: NDArray[np.float64], was: NDArray[np.float64]) -> bool:
    lost = np.isnan(now) & ~np.isnan(was)
    return bool((lost | (now < was - ROUNDING)).any())


def _read_events(
    rows: Sequence[Mapping[str, Any]], series: Callable[[Mapping[str, Any]], str] = lambda _: ""
) -> dict[_Key, dict[str, Any]]:
    return {
        (series(row), row["start"], row["stop"]): {
            "outcome": str(row["outcome"]),
            "already_in_alarm": bool(row.get("already_in_alarm")),
            **{name: _number(row[name]) for name in ("delay", *SCORES)},
            **{name: None if value is None else str(value) for name, value in _named(row).items()},
        }
        for row in rows
    }


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the list of events calls one of them, and how grave it is."""
    details = row.get("details") or {}
    return {"title": event_title(details), "severity": details.get("severity")}


def _number(value: Any) -> float:
    return nan if value is None else float(value)


def _mean(column: NDArray[np.float64]) -> float:
    known = column[~np.isnan(column)]
    return float(known.mean()) if known.size else nan


def _rates(numbers: Mapping[str, float], evaluated: float) -> dict[str, float]:
    """Return how often there are alarms of each kind, if it is known in how many seconds."""
    if not (isfinite(evaluated) and evaluated > 0):
        return {}
    return {
        f"{name}_per_{unit}": numbers[name] * seconds / evaluated
        for name in ("false_alarms", "alarms")
        if name in numbers
        for unit, seconds in _UNITS.items()
    }


def read_runs(results: Any, argument: str) -> Runs:
    """Read results in any of their forms, by detector."""
    from closecall.tables.batch.result import BatchResult

    if isinstance(results, Affiliation):
        return {None: replace(Run.of_one(results.to_dict()), signature=results.signature)}
    if isinstance(results, BatchResult):
        results = {"schema": schema_name("batch"), **results.to_dict()}
    if isinstance(results, str | PathLike):
        name = shown_name(results)
        results = _read_file(results)
    else:
        name = f"`{argument}`"
    if isinstance(results, Mapping) and "schema" in results:
        return _read_json(results, name)
    several = results.values() if isinstance(results, Mapping) else ()
    if several and all(isinstance(one, Affiliation) for one in several):
        named = by_name(results, argument)
        return {
            key: replace(Run.of_one(one.values.to_dict()), signature=one.values.signature)
            for key, one in named.items()
        }
    raise InputTypeError(f"{name} to be results of closecall", shown(results))


def _read_json(values: Mapping[str, Any], name: str) -> Runs:
    """Read JSON of `closecall score` or `closecall batch`."""
    schema = values["schema"]
    known = schema_name("score"), schema_name("batch")
    if schema not in known:
        hint = "Write it anew with `closecall score --format json` of this version."
        raise InputError(f"{name} to be {' or '.join(known)}", shown(schema), hint=hint)
    try:
        if schema == known[0]:
            records = values.get("detectors") or [values]
            runs: Runs = {record.get("detector"): Run.of_one(record) for record in records}
        else:
            runs = _read_rows(values)
    except _MALFORMED as error:
        got = f"{type(error).__name__}: {error}"
        raise InputError(f"{name} to follow the schema {schema}", got) from None
    if not runs:
        raise InputError(f"{name} to hold results", "no rows")
    line = values.get("signature")
    if line is None:
        return runs
    try:
        signature = parse(line)
    except (InputError, InputTypeError):
        rule = f"{name} to have a signature that can be read"
        raise InputError(rule, shown(line), hint="Write it anew with this version.") from None
    return {detector: replace(run, signature=signature) for detector, run in runs.items()}


def _read_rows(values: Mapping[str, Any]) -> Runs:
    """Read what JSON says of a batch."""
    runs: Runs = {}
    for detector in dict.fromkeys(row["detector"] for row in values["rows"]):
        rows, events = (
            [row for row in values[part] or () if row["detector"] == detector]
            for part in ("rows", "events")
        )
        runs[detector] = Run.of_many(rows, events)
    return runs


def is_results(source: str | PathLike[str]) -> bool:
    """Return whether a file holds results, by its content, or data to evaluate."""
    head = _head(source)
    if head.startswith(PARQUET_MAGIC) and str(source) != "-":
        with suppress(OSError, ValueError):  # those who read it say what is wrong with it
            return set(imported("pyarrow.parquet").read_schema(source).names) >= _ROWS
        return False
    first = head.partition(b"\n")[0].decode(errors="replace")
    return bool(_OURS.match(head)) or set(first.strip().split(",")) >= _ROWS


def _head(source: str | PathLike[str]) -> bytes:
    if str(source) != "-":
        with opened(source) as file:
            return file.read(_HEAD_BYTES)
    stream: Any = sys.stdin.buffer
    if hasattr(stream, "peek"):
        return bytes(stream.peek(_HEAD_BYTES))
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    return bytes(head)


def _read_file(source: str | PathLike[str]) -> Any:
    name = shown_name(source)
    if not is_results(source):
        rule = f"{name} to hold results of `closecall score` or `closecall batch`"
        raise InputError(rule, "something else", hint="Write them with --format json.")
    if _OURS.match(_head(source)):
        with opened(source) as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:  # however small it is on disk
            raise InputError(f"{name} to hold at most {_MOST_BYTES:,} bytes", "more")
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} to be whole JSON", str(error)) from None
    rows = read_table(source, text=("detector", "status", "reason", "signature")).to_pylist()
    line = rows[0].get("signature") if rows else None
    return {"schema": schema_name("batch"), "rows": rows, "events": None, "signature": line}

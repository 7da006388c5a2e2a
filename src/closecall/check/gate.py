"""The gate: limits, what moved against an earlier run, the function that decides, and its forms."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.check.runs import LEVEL, NUMBERS, Run, is_newly_missed, read_runs
from closecall.errors import InputError, InputTypeError, shown
from closecall.notebook import MOST_ROWS, display, heading, more_rows
from closecall.parameters import is_number, is_text, read_number
from closecall.plain import plain
from closecall.signature import joined_hash, value_text
from closecall.statistics.intervals import SCORES, Interval
from closecall.statistics.leads import ROUNDING
from closecall.wording import counted, listed, outcome_text, plain_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from closecall.check.runs import Runs
    from closecall.signature import Signature

    Status = Literal["pass", "fail", "investigate"]

_STATUSES = ("pass", "investigate", "fail")  # from the best to the worst
# Options of tests, intervals and searches, which decide no number that is checked.
_BESIDE = (
    *("n", "correction", "level", "resamples", "block", "seed", "decimals", "retune", "budget"),
    *("thresholds", "metric", "detector", "missing"),
)
_NEWLY_MISSED = "newly_missed"
_LOSSES = ("newly missed", "fewer caught")
_CHANGES = (
    ("delay", "later", "earlier"),
    *((name, f"higher {heading(name)}", f"lower {heading(name)}") for name in reversed(SCORES)),
)


@dataclass(frozen=True)
class Limit:
    """One number of one detector, the limit that it should keep, and whether it does."""

    detector: str | None
    """None for an only detector without a name."""
    number: str
    value: float
    at_least: bool
    """Whether the number should be at least the limit, or at most."""
    limit: float
    low: float
    """From here to `high` the number may lie, at a level of 95 %; nan where nothing says so."""
    high: float
    baseline: float | None
    """What the number was, if the limit is the tolerance below or above that; else None.

    `low` and `high` then come from the paired difference of the two runs.
    """
    status: Status
    reason: str = ""
    """Why, where that is neither the number nor its interval; which events are newly missed."""

    def cells(self) -> dict[str, str]:
        """Return what tables show."""
        value, limit = f"{self.value:.4g}", f"{self.limit:.4g}"
        if value == limit and self.value != self.limit:  # rounded, it would contradict the status
            value = f"{self.value:.15g}"
        return {
            "status": self.status,
            "detector": "" if self.detector is None else plain_name(self.detector),
            "number": plain_name(self.number),
            "value": "undefined" if isnan(self.value) else value,
            "95 % interval": "-" if isnan(self.low) else f"{self.low:.4g} to {self.high:.4g}",
            "limit": f"{'>=' if self.at_least else '<='} {limit}",
            "baseline": "" if self.baseline is None else f"{self.baseline:.4g}",
            "reason": self.reason,
        }

    @property
    def sentence(self) -> str:
        """The same in a line."""
        cells = self.cells()
        of = f" of {cells['detector']}" if cells["detector"] else ""
        within = "" if isnan(self.low) else f" (95 % interval {cells['95 % interval']})"
        was = "" if self.baseline is None else f" (baseline {cells['baseline']})"
        why = f"; {self.reason}" if self.reason else ""
        return (
            f"{cells['number']}{of} is {cells['value']}{within}, limit {cells['limit']}{was}{why}"
        )


@dataclass(frozen=True)
class Moved:
    """One true event, or one series of a batch without rows of events, that changed."""

    detector: str | None
    series: str | None
    """Of a batch; else None."""
    start: Any
    stop: Any
    change: str
    """Such as ``newly missed``, ``newly caught``, ``later``, ``earlier``, ``lower F1``."""
    before: str
    """What had happened to the event, in words."""
    after: str
    f1_before: float
    f1_after: float
    title: str | None = None
    """What the list of events calls it; None if it does not say."""
    severity: str | None = None

    @property
    def called(self) -> str:
        """The series, the start and the title of the event, as far as they are known."""
        cells = self.cells()
        name = " ".join(filter(None, (cells["series"], cells["event"], cells["title"])))
        return f"{name} ({cells['severity']})" if cells["severity"] else name

    def cells(self) -> dict[str, str]:
        """Return what tables show."""
        scores = ("-" if isnan(x) else f"{x:.3f}" for x in (self.f1_before, self.f1_after))
        return {
            "change": self.change,
            "detector": "" if self.detector is None else plain_name(self.detector),
            "series": "" if self.series is None else plain_name(self.series),
            "event": "" if self.start is None else str(self.start).replace("T", " "),
            "title": plain_name(self.title or ""),
            "severity": plain_name(self.severity or ""),
            "before": self.before,
            "after": self.after,
            "F1": " to ".join(scores),
        }


@dataclass(frozen=True, repr=False)
class Check:
    """What `closecall.check` found: the limits, and what moved against the baseline."""

    limits: tuple[Limit, ...]
    moved: tuple[Moved, ...]
    """Events that changed, the worst first; empty without a baseline."""
    signature: Signature | None = None
    """What decided the numbers, in one line; None if the results do not say it."""
    baseline_signature: Signature | None = None
    """The same of the baseline."""

    @property
    def status(self) -> Status:
        """``pass``; ``fail`` if any limit is broken; else ``investigate`` if any is in doubt."""
        return max((limit.status for limit in self.limits), key=_STATUSES.index)

    @property
    def headline(self) -> str:
        """The status, and how many limits it rests on."""
        counts = Counter[str](limit.status for limit in self.limits)
        limits = counted(len(self.limits), "limit")
        told = [
            f"{counts[status]} of {limits} {words}"
            for status, words in (("fail", "broken"), ("investigate", "in doubt"))
            if counts[status]
        ]
        return f"{self.status}: {', '.join(told) or f'{limits} kept'}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        values: dict[str, Any] = plain(
            {
                "status": self.status,
                "headline": self.headline,
                "level": LEVEL,
                "limits": [asdict(limit) for limit in self.limits],
                "moved": [asdict(moved) for moved in self.moved],
                "signature": None,
                "baseline_signature": None,
                **self._signatures,
            }
        )
        return values

    @property
    def _signatures(self) -> dict[str, str]:
        """The two lines by name, as far as they are known."""
        both = {"signature": self.signature, "baseline_signature": self.baseline_signature}
        return {name: str(line) for name, line in both.items() if line is not None}

    def to_junit(self) -> str:
        """Return JUnit XML: a test case for each limit, skipped if it is in doubt."""
        from xml.etree import ElementTree as ET

        counts = Counter(limit.status for limit in self.limits)
        totals = {
            "name": "closecall check",
            "tests": str(len(self.limits)),
            "failures": str(counts["fail"]),
            "errors": "0",
            "skipped": str(counts["investigate"]),
            "time": "0",
        }
        root = ET.Element("testsuites", totals)
        suite = ET.SubElement(root, "testsuite", totals)
        if self._signatures:
            properties = ET.SubElement(suite, "properties")
            for name, line in self._signatures.items():
                ET.SubElement(properties, "property", name=name, value=line)
        for limit in self.limits:
            cells = limit.cells()
            owner = ".".join(filter(None, ("closecall", cells["detector"])))
            name = f"{cells['number']} {cells['limit']}"
            name += "" if limit.baseline is None else " (baseline)"
            case = ET.SubElement(suite, "testcase", classname=owner, name=name, time="0")
            if limit.status != "pass":
                tag = "failure" if limit.status == "fail" else "skipped"
                told = ET.SubElement(case, tag, type=limit.status, message=limit.sentence)
                told.text = limit.sentence
        told = ET.SubElement(suite, "system-out")
        told.text = "\n".join(map(plain_name, str(self).split("\n")))
        ET.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'

    def to_markdown(self) -> str:
        """Return a summary in Markdown, as pull requests and jobs show it."""
        parts = [f"## closecall check: {_markdown(self.headline)}", _table(self.limits)]
        if self.moved:
            parts += ["### What moved against the baseline", _table(self.moved)]
        lines = (f"{name.replace('_', ' ')}: `{line}`" for name, line in self._signatures.items())
        parts += [f"<sub>{line}</sub>" for line in lines]
        return "\n\n".join(parts) + "\n"

    def __str__(self) -> str:
        lines = [f"closecall check: {self.headline}"]
        lines += [f"  {limit.status}: {limit.sentence}" for limit in self.limits]
        lines += ["moved against the baseline:"] if self.moved else []
        for moved in self.moved:
            cells = moved.cells()
            where = " ".join(filter(None, (cells["detector"], moved.called)))
            lines.append(f"  {where}: {moved.change} ({moved.before}, now {moved.after})")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Check({self.headline}; {len(self.moved)} moved)"

    def _repr_html_(self) -> str:
        """Show the limits and what moved in a notebook."""
        moved = columns(self.moved[:MOST_ROWS])
        return display(
            f"closecall check: {self.headline}",
            [*columns(self.limits).items()],
            [*moved.items()] or "",
            more_rows(len(self.moved), "moved event"),
        )


def columns(rows: Sequence[Limit | Moved]) -> dict[str, list[str]]:
    """Return the columns of a table of these, without those that hold nothing."""
    cells = [row.cells() for row in rows]
    named = {name: [row[name] for row in cells] for name in (cells[0] if cells else ())}
    return {name: column for name, column in named.items() if any(column)}


def _table(rows: Sequence[Limit | Moved]) -> str:
    named = columns(rows)
    lines = [named, ["---"] * len(named), *zip(*named.values(), strict=True)]
    return "\n".join(f"| {' | '.join(map(_markdown, line))} |" for line in lines)


def _markdown(text: str) -> str:
    """Return a text so that it is no markup, and ends no cell."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", plain_name(text))


def decide(value: float, limit: float, interval: Interval, *, at_least: bool) -> Status:
    """Return whether a number keeps a limit; investigate if its interval is on both sides of it.

    Without an interval, whose limits are then nan, the number alone decides. What is undefined
    keeps no limit.

    >>> decide(0.9, 0.8, Interval(0.9, 0.85, 0.95), at_least=True)
    'pass'
    >>> decide(0.9, 0.8, Interval(0.9, 0.7, 0.95), at_least=True)
    'investigate'
    >>> decide(3, 2, Interval(3, float("nan"), float("nan")), at_least=False)
    'fail'
    """
    sign, slack = (1 if at_least else -1), ROUNDING * max(abs(limit), 1.0)
    ahead, low, high = (sign * (number - limit) for number in (value, interval.low, interval.high))
    if min(low, high) < -slack and max(low, high) >= -slack:
        return "investigate"
    return "pass" if ahead >= -slack else "fail"


def check(
    results: Any,
    *,
    min: Mapping[str, float] | None = None,  # noqa: A002 - the word that people look for
    max: Mapping[str, float] | None = None,  # noqa: A002
    baseline: Any = None,
    tolerance: float = 0.0,
    detector: str | None = None,
) -> Check:
    r"""Check numbers against limits and an earlier run: pass, fail or investigate.

    A number passes if it keeps its limit and its 95 % interval does too, fails if both break it,
    and is to be investigated if the interval is on both sides of the limit. Precision, recall and
    F1 of affiliation have the intervals of `closecall.statistics` over events, numbers of a batch
    those of the mean over series, and rates of false alarms the exact ones of a Poisson count.
    Others have none, and the number alone decides. What is undefined fails.

    Parameters
    ----------
    results
        What `closecall.affiliation` returned, or several of these by name; a `BatchResult`; or the
        JSON of ``closecall score`` or ``closecall batch``, or rows of a batch in CSV or Parquet, as
        a path or, for JSON, what was read from it.
    min, max
        The least, and the most, that numbers may be, by name: ``affiliation_f1`` (or ``f1``) and
        all other numbers of these results, and on dated axes ``false_alarms_per_day``, ``_hour``
        and ``_week``, and so for ``alarms``. Every detector must keep them. ``missed`` counts all
        events that were not caught, and ``close_calls`` those among them that were close.
    baseline
        Results of an earlier run, of the same true events, in any of these forms. No number of a
        metric that both hold may be worse than there by more than `tolerance`. The interval is that
        of the paired difference. There is none where no event got worse: the number decides. It
        must be of the same version and options, as the signatures say; a threshold that is a number
        may differ, since it makes alarms. No event that was caught there may be missed now,
        unless `max` has a limit for ``newly_missed``.
    tolerance
        How much worse a number may be: in its own unit, or for a metric without bounds as a share
        of what it was. 0 or more.
    detector
        Which detector to check, where there are several; all by default.

    Returns
    -------
    Check
        ``status``, ``limits`` and ``moved``, with ``to_dict``, ``to_junit`` and ``to_markdown``.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0, 1, 1, 0, 0, 0, 1, 0, 0, 0]
    >>> old = cc.affiliation(truth, [0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
    >>> new = cc.affiliation(truth, [0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
    >>> found = cc.check(new, max={"missed": 0}, baseline=old, tolerance=0.05)
    >>> found.status
    'fail'
    >>> [limit.sentence for limit in found.limits][0]
    'missed is 1, limit <= 0'
    >>> found.moved[0].change
    'newly missed'
    """
    asked = [*_read_limits(min, "min", at_least=True), *_read_limits(max, "max", at_least=False)]
    allowed = read_number(tolerance, "tolerance", "a number of 0 or more", lambda x: 0 <= x < inf)
    if not asked and baseline is None:
        hint = "Pass, for example, `min={'affiliation_f1': 0.8}`."
        raise InputError("a limit (`min` or `max`) or a `baseline`", "neither", hint=hint)
    runs = read_runs(results, "results")
    if detector is not None:
        if not is_text(detector):
            raise InputTypeError("to be a name", shown(detector), argument="detector")
        runs = {detector: _named(runs, detector, "results")}
    found: list[Limit] = []
    compared: list[Limit] = []
    moved: list[Moved] = []
    earlier = {} if baseline is None else read_runs(baseline, "baseline")
    usual = [] if _NEWLY_MISSED in (max or ()) else [(_NEWLY_MISSED, 0.0, False)]
    for name, run in runs.items():
        limits, changes, numbers = asked, [], run.numbers
        if baseline is not None:
            alone = len(earlier) == len(runs) == 1
            before = next(iter(earlier.values())) if alone else _named(earlier, name, "baseline")
            _require_same_options(run.signature, before.signature)
            before = _aligned(run, before)
            compared += _compared(name, run, before, allowed)
            changes = _moved(name, run, before)
            count = run.newly_missed(before)
            if count is not None:
                limits, numbers = [*asked, *usual], {_NEWLY_MISSED: count, **run.numbers}
        known = replace(run, numbers=numbers)
        found += (_limited(name, known, limit, changes) for limit in limits)
        moved += changes
    found += compared
    if not found:
        raise InputError("to hold a metric of the results", "none", argument="baseline")
    was = None if baseline is None else _signed(earlier.values())
    return Check(tuple(found), tuple(moved), _signed(runs.values()), was)


def _read_limits(given: Any, argument: str, *, at_least: bool) -> Iterator[tuple[str, float, bool]]:
    if given is not None and not isinstance(given, Mapping):
        rule = f"`{argument}` to be limits by the names of numbers"
        raise InputTypeError(rule, shown(given))
    for name, limit in (given or {}).items():
        if not isinstance(name, str):
            raise InputTypeError(f"names in `{argument}` to be text", shown(name))
        number = f"affiliation_{name}" if name in SCORES else name
        rule = "a limit that is a finite number"
        yield number, read_number(limit, f"{argument}[{name!r}]", rule, isfinite), at_least


def _limited(
    name: str | None, run: Run, asked: tuple[str, float, bool], changes: Sequence[Moved]
) -> Limit:
    number, limit, at_least = asked
    known = run.numbers
    if number not in known:
        close = difflib.get_close_matches(number, known, n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"There is: {listed([*known])}."
        if re.match(r"(false_)?alarms_per_", number) and "false_alarms_per_day" not in known:
            hint = "Rates need times that are dates, and results that say how much was evaluated."
        if number == _NEWLY_MISSED:
            hint = "Events are newly missed against a `baseline`, where both say what was caught."
        raise InputError("the name of a number in the results", shown(number), hint=hint)
    reason = f"the detector gave nothing on {run.lost} series" if run.lost else ""
    interval = run.interval(number)
    found = _judged((name, number, known[number], at_least, limit), interval, None, reason)
    if number != _NEWLY_MISSED or not known[number]:
        return found
    return replace(found, reason=listed([one.called for one in changes if one.change in _LOSSES]))


def _judged(
    limited: tuple[str | None, str, float, bool, float],
    interval: Interval,
    baseline: float | None,
    reason: str,
) -> Limit:
    """Decide on a number; what gives a reason for doubt does not pass."""
    _, _, value, at_least, limit = limited
    status = decide(value, limit, interval, at_least=at_least)
    status = "investigate" if reason and status == "pass" else status
    return Limit(*limited, interval.low, interval.high, baseline, status, reason)


def _compared(name: str | None, run: Run, before: Run, tolerance: float) -> Iterator[Limit]:
    for number, value, was, lead, lost in run.against(before):
        metric = NUMBERS[number]
        if isnan(was):
            continue  # there is nothing to be worse than
        bounded = isfinite(metric.lowest) and isfinite(metric.highest)
        room = tolerance if bounded else tolerance * abs(was)
        up = metric.higher_is_better
        limit = was - room if up else was + room
        ends = np.clip([was + lead.low, was + lead.high], metric.lowest, metric.highest)
        interval = Interval(value, *ends.tolist())
        reason = f"{lost} series had a number, and have none now" if lost else ""
        yield _judged((name, number, value, up, limit), interval, was, reason)


def _signed(runs: Iterable[Run]) -> Signature | None:
    """Return the signature of runs, of detectors that were signed one by one that of all."""
    signed = dict.fromkeys(run.signature for run in runs if run.signature is not None)
    if not signed:
        return None
    first = next(iter(signed))
    return first.adding(data=joined_hash({signature.data: signature.data for signature in signed}))


def _require_same_options(now: Signature | None, was: Signature | None) -> None:
    """Raise if numbers of another version, or with other options, are no baseline."""
    if now is None or was is None:
        return
    if now.version != was.version:
        hint = "Evaluate the earlier run with this version, and write it anew."
        rule = f"to be of closecall {now.version}, as the results are"
        raise InputError(rule, was.version, argument="baseline", hint=hint)
    both = now.metrics.keys() & was.metrics.keys()
    ours, theirs = (_decisive(signature, both) for signature in (now, was))
    names = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    if names:
        told = [f"{name} {_told(theirs, name)} instead of {_told(ours, name)}" for name in names]
        hint = "Evaluate the earlier run with the same options, and write it anew."
        rule = "to be of the options of the results"
        raise InputError(rule, listed(told), argument="baseline", hint=hint)


def _decisive(signature: Signature, metrics: Collection[str]) -> dict[str, Any]:
    """Return what decides the numbers of some metrics, apart from the data."""
    found = {key: value for key, value in signature.options.items() if key not in _BESIDE}
    if is_number(found.get("threshold")):
        del found["threshold"]  # it makes alarms, which are data
    if "nan" not in found:  # then the detector decides on what is ignored
        found["ignore"] = dict(signature.parts).get("ignore")
    return found | {
        name: parameters
        for name, parameters in signature.metrics.items()
        if name in metrics and parameters
    }


def _told(options: Mapping[str, Any], name: str) -> str:
    value = options.get(name)
    pairs = value.items() if isinstance(value, Mapping) else ()
    return ", ".join(f"{key}={value_text(x)}" for key, x in pairs) or value_text(value)


def _aligned(run: Run, before: Run) -> Run:
    """Return the baseline in the order of the run; raise if it is of other events or series."""
    if (run.columns is None) != (before.columns is None):
        kinds = ["one series" if side.columns is None else "a batch" for side in (run, before)]
        raise InputError(f"to be of {kinds[0]}", kinds[1], argument="baseline")
    _require_same(run.series, before.series, "series")
    events = before.events
    if (run.lost or before.lost) and {key[0] for key in run.events} != {key[0] for key in events}:
        events = {}  # a series without a result has no rows of events: compare series
    if run.columns is None or (run.events and events):
        _require_same(run.events, events, "true events")
        events = {key: events[key] for key in run.events}
    places = {name: place for place, name in enumerate(before.series)}
    order = [places[name] for name in run.series]
    columns = before.columns and {name: column[order] for name, column in before.columns.items()}
    return replace(before, events=events, series=run.series, columns=columns)


def _require_same(ours: Collection[Any], theirs: Collection[Any], what: str) -> None:
    known, held = set(ours), set(theirs)
    missing, others = [x for x in ours if x not in held], [x for x in theirs if x not in known]
    if missing or others:
        first = (missing or others)[0]
        such = first if isinstance(first, str) else f"{first[1]} to {first[2]}"
        got = f"{len(missing)} that it lacks and {len(others)} others, such as {such}"
        hint = "Evaluate the earlier run on the same data, and write it anew."
        raise InputError(f"to hold the {what} at hand", got, argument="baseline", hint=hint)


def _moved(name: str | None, run: Run, before: Run) -> list[Moved]:
    """Return what changed, the worst first: events, or series where there are no events."""
    found = []
    for key, now in run.events.items():
        was = before.events.get(key, now)
        change, dated = _change(was, now), isinstance(key[1], str)
        if change:
            old, new = (_told_outcome(row, dated=dated) for row in (was, now))
            where, called = (key[0] or None, *key[1:]), (now["title"], now["severity"])
            found.append(Moved(name, *where, change, old, new, was["f1"], now["f1"], *called))
    counts = {"caught", "affiliation_f1"} <= run.numbers.keys() & before.numbers.keys()
    if run.columns and before.columns and counts and not (run.events and before.events):
        for place, series in enumerate(run.series):
            (had, f1), (has, f1_now) = (
                (columns["caught"][place], float(columns["affiliation_f1"][place]))
                for columns in (before.columns, run.columns)
            )
            if had != has and not (isnan(had) and isnan(has)):
                change = "more caught" if has > had else "fewer caught"
                told = ["no result" if isnan(x) else f"{x:.0f} caught" for x in (had, has)]
                found.append(Moved(name, series, None, None, change, told[0], told[1], f1, f1_now))
    return sorted(
        found,
        key=lambda one: (one.change not in _LOSSES, _known(one.f1_after) - _known(one.f1_before)),
    )


def _told_outcome(row: Mapping[str, Any], *, dated: bool) -> str:
    stuck = row["already_in_alarm"]
    return outcome_text(row["outcome"], row["delay"], None, already_in_alarm=stuck, dated=dated)


def _change(was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say what became different of an event; nothing if all is the same."""
    if is_newly_missed(was, now):
        return "newly missed"
    if was["outcome"] != now["outcome"]:
        return {"caught": "newly caught", "close call": "now a close call"}.get(
            now["outcome"], "no longer a close call"
        )
    for name, more, less in _CHANGES:
        before, after = _known(was[name]), _known(now[name])
        if abs(after - before) > ROUNDING:
            return more if after > before else less
    return ""


def _known(value: float) -> float:
    return 0.0 if isnan(value) else value


def _named(runs: Runs, name: str | None, argument: str) -> Run:
    if name in runs:
        return runs[name]
    got = listed([known or "one without a name" for known in runs])
    what = "one detector" if name is None else f"the detector {plain_name(name)!r}"
    raise InputError(f"to hold {what}", got, argument=argument)

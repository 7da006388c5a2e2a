"""The gate itself: which numbers are checked, and the one function that decides."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.check.result import Check, Limit, Moved
from closecall.check.runs import NUMBERS, Run, read_runs
from closecall.errors import InputError, InputTypeError, shown
from closecall.notebook import heading
from closecall.parameters import is_number, is_text, read_number
from closecall.signature import joined_hash, value_text
from closecall.statistics.intervals import SCORES, Interval
from closecall.statistics.leads import ROUNDING
from closecall.wording import listed, outcome_text, plain_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from closecall.check.result import Status
    from closecall.check.runs import Runs
    from closecall.signature import Signature

# Options of tests, intervals and searches, which decide no number that is checked.
_BESIDE = (
    *("n", "correction", "level", "resamples", "block", "seed", "decimals", "retune", "budget"),
    "thresholds",
)
_CHANGES = (
    ("delay", "later", "earlier"),
    *((name, f"higher {heading(name)}", f"lower {heading(name)}") for name in reversed(SCORES)),
)


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
    ahead, low, high = (sign * (own - limit) for own in (value, interval.low, interval.high))
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
        and ``_week``, and so for ``alarms``. Every detector must keep them.
    baseline
        Results of an earlier run, of the same true events, in any of these forms. No number of a
        metric that both hold may be worse than there by more than `tolerance`. The interval is that
        of the paired difference. There is none where no event got worse: the number decides. It
        must be of the same version and options, as the signatures say; a threshold that is a number
        may differ, since it makes alarms.
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
        raise InputError.expected("a limit (`min` or `max`) or a `baseline`", "neither", hint)
    runs = read_runs(results, "results")
    if detector is not None:
        if not is_text(detector):
            raise InputTypeError.expected("`detector` to be a name", shown(detector))
        runs = {detector: _named(runs, detector, "results")}
    found = [
        _limited(name, run, number, limit, at_least=at_least)
        for name, run in runs.items()
        for number, limit, at_least in asked
    ]
    moved: list[Moved] = []
    if baseline is not None:
        earlier = read_runs(baseline, "baseline")
        for name, run in runs.items():
            alone = len(earlier) == len(runs) == 1
            before = next(iter(earlier.values())) if alone else _named(earlier, name, "baseline")
            _require_same_options(run.signature, before.signature)
            before = _aligned(run, before)
            found += _compared(name, run, before, allowed)
            moved += _moved(name, run, before)
    if not found:
        raise InputError.expected("`baseline` to hold a metric of the results", "none")
    signed = [_signed(own.values()) for own in (runs, {} if baseline is None else earlier)]
    return Check(tuple(found), tuple(moved), *signed)


def _read_limits(given: Any, argument: str, *, at_least: bool) -> Iterator[tuple[str, float, bool]]:
    if given is not None and not isinstance(given, Mapping):
        rule = f"`{argument}` to be limits by the names of numbers"
        raise InputTypeError.expected(rule, shown(given))
    for name, limit in (given or {}).items():
        if not isinstance(name, str):
            raise InputTypeError.expected(f"names in `{argument}` to be text", shown(name))
        number = f"affiliation_{name}" if name in SCORES else name
        rule = "a limit that is a finite number"
        yield number, read_number(limit, f"{argument}[{name!r}]", rule, isfinite), at_least


def _limited(name: str | None, run: Run, number: str, limit: float, *, at_least: bool) -> Limit:
    if number not in run.numbers:
        raise _unknown(number, run.numbers)
    reason = f"the detector gave nothing on {run.lost} series" if run.lost else ""
    interval = run.interval(number)
    return _judged((name, number, run.numbers[number], at_least, limit), interval, None, reason)


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


def _unknown(name: Any, known: Mapping[str, Any]) -> InputError:
    """Return the error of a limit on a number that is not there, with the names near it."""
    close = difflib.get_close_matches(str(name), known, n=3)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There is: {listed([*known])}."
    if re.match(r"(false_)?alarms_per_", str(name)) and "false_alarms_per_day" not in known:
        hint = "Rates need times that are dates, and results that say how much was evaluated."
    return InputError.expected("the name of a number in the results", shown(name), hint)


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
    return first.adding(data=joined_hash({own.data: own.data for own in signed}))


def _require_same_options(now: Signature | None, was: Signature | None) -> None:
    """Raise if numbers of another version, or with other options, are no baseline."""
    if now is None or was is None:
        return
    if now.version != was.version:
        hint = "Evaluate the earlier run with this version, and write it anew."
        rule = f"`baseline` to be of closecall {now.version}, as the results are"
        raise InputError.expected(rule, was.version, hint)
    both = now.metrics.keys() & was.metrics.keys()
    ours, theirs = (_decisive(own, both) for own in (now, was))
    names = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    if names:
        told = [f"{name} {_told(theirs, name)} instead of {_told(ours, name)}" for name in names]
        hint = "Evaluate the earlier run with the same options, and write it anew."
        rule = "`baseline` to be of the options of the results"
        raise InputError.expected(rule, listed(told), hint)


def _decisive(signature: Signature, metrics: Collection[str]) -> dict[str, Any]:
    """Return what decides the numbers of some metrics, apart from the data."""
    found = {key: own for key, own in signature.options.items() if key not in _BESIDE}
    if is_number(found.get("threshold")):
        del found["threshold"]  # it makes alarms, which are data
    if "nan" not in found:  # then the detector decides on what is ignored
        found["ignore"] = dict(signature.parts).get("ignore")
    return found | {name: own for name, own in signature.metrics.items() if name in metrics and own}


def _told(options: Mapping[str, Any], name: str) -> str:
    own = options.get(name)
    pairs = own.items() if isinstance(own, Mapping) else ()
    return ", ".join(f"{key}={value_text(x)}" for key, x in pairs) or value_text(own)


def _aligned(run: Run, before: Run) -> Run:
    """Return the baseline in the order of the run; raise if it is of other events or series."""
    if (run.columns is None) != (before.columns is None):
        kinds = ["one series" if own.columns is None else "a batch" for own in (run, before)]
        raise InputError.expected(f"`baseline` to be of {kinds[0]}", kinds[1])
    _require_same(run.series, before.series, "series")
    events = before.events
    if run.columns is None or (run.events and before.events):
        _require_same(run.events, events, "true events")
        events = {key: events[key] for key in run.events}
    places = {name: place for place, name in enumerate(before.series)}
    order = [places[name] for name in run.series]
    columns = before.columns and {name: own[order] for name, own in before.columns.items()}
    return Run(before.numbers, events, run.series, columns, before.lost, before.evaluated)


def _require_same(ours: Collection[Any], theirs: Collection[Any], what: str) -> None:
    known, held = set(ours), set(theirs)
    missing, others = [x for x in ours if x not in held], [x for x in theirs if x not in known]
    if missing or others:
        first = (missing or others)[0]
        such = first if isinstance(first, str) else f"{first[1]} to {first[2]}"
        got = f"{len(missing)} that it lacks and {len(others)} others, such as {such}"
        hint = "Evaluate the earlier run on the same data, and write it anew."
        raise InputError.expected(f"`baseline` to hold the {what} at hand", got, hint)


def _moved(name: str | None, run: Run, before: Run) -> list[Moved]:
    """Return what changed, the worst first: events, or series where there are no events."""
    found = []
    for key, now in run.events.items():
        was = before.events.get(key, now)
        change, dated = _change(was, now), isinstance(key[1], str)
        if change:
            old, new = (
                outcome_text(row["outcome"], row["delay"], None, dated=dated) for row in (was, now)
            )
            where = key[0] or None, *key[1:]
            found.append(Moved(name, *where, change, old, new, was["f1"], now["f1"]))
    counts = {"caught", "affiliation_f1"} <= run.numbers.keys() & before.numbers.keys()
    if run.columns and before.columns and counts and not (run.events and before.events):
        for place, series in enumerate(run.series):
            (had, f1), (has, f1_now) = (
                (own["caught"][place], float(own["affiliation_f1"][place]))
                for own in (before.columns, run.columns)
            )
            if had != has and not (isnan(had) and isnan(has)):
                change = "more caught" if has > had else "fewer caught"
                told = ["no result" if isnan(x) else f"{x:.0f} caught" for x in (had, has)]
                found.append(Moved(name, series, None, None, change, told[0], told[1], f1, f1_now))
    return sorted(found, key=lambda own: _known(own.f1_after) - _known(own.f1_before))


def _change(was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say what became different of an event; nothing if all is the same."""
    if was["outcome"] != now["outcome"]:
        return f"newly {'a ' if now['outcome'] == 'close call' else ''}{now['outcome']}"
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
    got = listed([own or "one without a name" for own in runs])
    what = "one detector" if name is None else f"the detector {plain_name(name)!r}"
    raise InputError.expected(f"`{argument}` to hold {what}", got)

"""`report_batch`: many series on one page, each opened from a leaderboard and a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import read_axis
from closecall.clock import read_times
from closecall.columns import read_column
from closecall.detectors import by_name
from closecall.errors import (
    OUT_OF_ORDER,
    ClosecallError,
    InputError,
    InputTypeError,
    MissingExtraError,
    UndefinedMetricError,
    reason,
    shown,
)
from closecall.evaluated_time import are_pairs
from closecall.events import Events, Intervals, read_labels
from closecall.parameters import require_choice
from closecall.report.explorer import Page, Report, SeriesTrouble, require_page
from closecall.report.series import ALONE, require_exact, series_content, summary
from closecall.scores import read_scores, require_scores
from closecall.series import close_series, on_axis
from closecall.statistics import compute_ranks
from closecall.tables.batch.series import ignored_outside, timed_series
from closecall.tables.batch.status import (
    DISORDER_HINT,
    STATUSES,
    Status,
    empty_series,
    with_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from closecall.axis import IgnoredTime
    from closecall.clock import Clock, Ticks
    from closecall.report.explorer import Script
    from closecall.tables.batch.options import Disorder

_AXIS = ("times", "end", "span", "ignore", "max_step", "nan")
_ARGUMENTS = ("truth", *_AXIS, "predicted", "scores", "thresholds", "values")
_MOST_MOVED = 1_000_000  # scores that are moved for chance, a thousand times: half a minute
_UNMOVED = (
    "What chance reaches with a tuned threshold is left out, since this page has more than "
    f"{_MOST_MOVED:,} scores; a page of fewer series tells it."
)
# In place of hints that name arguments of Python: who reads a page may not know it.
_HINTS = {
    Status.NAN_SCORE: "--nan ignore leaves out samples without a score.",
    Status.BAD_LABELS: "Write 1 where a value marks an anomaly, and 0 elsewhere.",
}


def report_batch(
    series: Mapping[str, Mapping[str, Any]],
    *,
    disorder: Disorder = "error",
    since: Any = None,
    until: Any = None,
    title: str = "closecall report",
    script: Script = "embed",
) -> Report:
    """Build one page for many series: a leaderboard, and a table that opens each series.

    The series are read as `closecall.evaluate_frame` reads them, so the same ones are scored, with
    the same digits. Series of more than 50 MB are written to a folder beside the page, one file
    each. The page of a series tells what chance reaches with a tuned threshold for up to a million
    scores on all series together; beyond, that would take minutes.

    Parameters
    ----------
    series
        For each series' name, the arguments of `report` by name: ``truth``, ``predicted``,
        ``scores``, ``times``, ``end``, ``span``, ``ignore``, ``max_step``, ``nan``, ``values`` and
        ``thresholds``. Where times are
        uneven and there is no ``end``, the last sample lasts the median step of its series. A
        series that cannot be scored, such as one without a true event, is listed with the reason;
        a detector that cannot be scored on a series is left out of that series.
    disorder
        What to do where times repeat or go back: ``"error"`` lists the series as not scored;
        ``"sort"`` sorts its samples by time (repeated times remain an error); ``"index"`` ignores
        its times and counts samples.
    since, until
        Evaluate only the time from the one to the other, as in `closecall.evaluate_frame`.
    title, script
        As in `report`.

    Returns
    -------
    Report
        ``save(path)``, ``html``, ``troubles`` (what is not scored, and why), and the page itself
        where it is displayed in a notebook. The leaderboard holds means over the series of
        precision, recall and F1, in [0, 1], higher is better.

    Examples
    --------
    >>> from closecall.report import report_batch
    >>> noisy = {"truth": [0, 1, 1, 0], "scores": {"a": [0.1, 0.2, 0.9, 0.3]}}
    >>> quiet = {"truth": [0, 0, 0, 0], "scores": {"a": [0.1, 0.2, 0.1, 0.3]}}
    >>> report_batch({"noisy": noisy, "quiet": quiet}, script="cdn")
    Report('closecall report', 2 series, detectors: a; 0.2 MB)
    """
    require_page(title, script)
    require_choice(disorder, "disorder", ("error", "sort", "index"))
    given: Any = series
    if not isinstance(given, Mapping) or not given:
        rule = "to map at least one name to arguments"
        raise InputTypeError(rule, shown(given), argument="series")
    named = ((key if isinstance(key, str) else shown(key), own) for key, own in given.items())
    scores = sum(map(_count_scores, given.values()))
    limits = {"disorder": disorder, "since": since, "until": until}
    return batch_page(named, scores, **limits, title=title, script=script)


def _count_scores(arguments: Any) -> int:
    """Return how many scores a series has, of all detectors; 0 for what is refused later."""
    scores: Any = arguments.get("scores") if isinstance(arguments, Mapping) else None
    count = 0
    for column in scores.values() if isinstance(scores, Mapping) else [scores]:
        with suppress(TypeError):  # None, or an array without a dimension
            count += len(column)
    return count


def batch_page(
    series: Iterable[tuple[str, Any]],
    scores: int,
    *,
    disorder: Disorder,
    since: Any,
    until: Any,
    title: str,
    script: Script,
    called: Mapping[str, str | None] | None = None,
) -> Report:
    """Build the page of series that come one after the other, with so many `scores` together.

    `called` has the columns that arguments were read from, which reasons then name.
    """
    require_page(title, script)
    summaries: list[dict[str, Any]] = []
    page = Page({}, script)
    troubles: list[SeriesTrouble] = []
    failure: ClosecallError | None = None
    notes = () if scores <= _MOST_MOVED else (_UNMOVED,)
    for name, arguments in series:
        try:
            content, own = _series_content(name, arguments, disorder, since, until, moved=not notes)
        except MissingExtraError:
            raise
        except ClosecallError as error:
            failure = failure or error
            own = [_trouble(name, None, error, disorder, called or {})]
            summaries.append(unscored(own[0]))
            page.append(None)
        else:
            content["advice"] = [*content["advice"], *notes]
            left_out = {str(trouble.detector): str(trouble) for trouble in own}
            summaries.append(summary(content) | {"left_out": left_out})
            page.append(content)
        troubles += own
    if failure is not None and all("status" in about for about in summaries):
        cause = failure.__cause__
        raise cause if isinstance(cause, ClosecallError) else failure
    page.about = batch_about(title, summaries)
    names = tuple(about["name"] for about in summaries)
    return Report(title, names, detectors_of(summaries), page, tuple(troubles), notes)


def unscored(trouble: SeriesTrouble) -> dict[str, Any]:
    """Return what the first page tells of a series without a score."""
    words = STATUSES.get(trouble.status, trouble.status)
    return {"name": trouble.series, "status": str(trouble), "words": words}


def detectors_of(summaries: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the detectors that are scored on any series, in the order in which they appear."""
    rows = (row for about in summaries for row in about.get("detectors", ()))
    return tuple(dict.fromkeys(row["name"] for row in rows))


def batch_about(title: str, summaries: list[dict[str, Any]], signature: str = "") -> dict[str, Any]:
    """Return what the first page tells: each series in short, and how detectors rank on them."""
    about = {"title": title, "series": summaries, "batch": True, "signature": signature}
    scored = [{row["name"]: row["f1"] for row in one.get("detectors", ())} for one in summaries]
    table = {
        name: [nan if own.get(name) is None else own[name] for own in scored if own]
        for name in detectors_of(summaries)
    }
    try:
        ranks = compute_ranks(table, missing="drop", metric="F1").to_dict()
    except ClosecallError as error:
        return about | {"ranks": None, "unranked": reason(error)}
    names = ("detectors", "cliques", "series", "text")
    return about | {"ranks": {name: ranks[name] for name in names}}


def _trouble(
    series: str,
    detector: str | None,
    error: ClosecallError,
    disorder: str = "",
    called: Mapping[str, str | None] = MappingProxyType({}),
) -> SeriesTrouble:
    """Take the status, the reason and the hint from an error; the page has one for disorder."""
    status = error.status
    if not status:
        status = Status.NO_EVENT if isinstance(error, UndefinedMetricError) else Status.FAILED
    hint = _HINTS.get(status, error.hint)
    if disorder == "error" and error.code in OUT_OF_ORDER:
        hint = f"{DISORDER_HINT}."
    what = reason(error, lambda name: called.get(name) or name)
    return SeriesTrouble(series, detector, status, what, hint)


def _series_content(
    name: str, arguments: Any, disorder: Disorder, since: Any, until: Any, *, moved: bool
) -> tuple[dict[str, Any], list[SeriesTrouble]]:
    """Lay out the page of a series, and list what is not on it; raise if nothing can be scored."""
    rule = f"the arguments of {name!r} to be those of `report`"
    hint = 'For example {"truth": labels, "scores": {"mine": scores}}.'
    if not isinstance(arguments, Mapping):
        raise InputTypeError(f"{rule}, by name", type(arguments).__name__, hint=hint)
    unknown = [key for key in arguments if not (isinstance(key, str) and key in _ARGUMENTS)]
    if unknown or "truth" not in arguments:
        raise InputError(rule, shown(unknown[0]) if unknown else "no `truth`", hint=hint)
    given: dict[str, Any] = {key: arguments.get(key) for key in _ARGUMENTS}
    given["nan"] = given["nan"] or "raise"
    order, kept = _put_in_order(given, disorder), None
    if any(limit is not None for limit in (given["ignore"], since, until)):
        ends = [("since", since, False), ("until", until, True)]
        counted = arguments.get("times") is not None and given["times"] is None
        given["ignore"], kept = _ignored(given, order, ends, counted=counted)
    troubles = _read_each(name, given, order, kept)
    if given["values"] is not None:
        given["values"] = _ordered(read_column(given["values"], "values")[0], order, "values")
    return series_content(name, **given, moved=moved), troubles


def _ignored(
    given: dict[str, Any],
    order: NDArray[np.int64] | None,
    ends: list[tuple[str, Any, bool]],
    *,
    counted: bool,
) -> tuple[IgnoredTime | None, NDArray[np.bool_] | None]:
    """Join what is ignored and the time outside of the ends; also return which samples are left."""
    truth, times, ignore = given["truth"], given["times"], given["ignore"]
    if isinstance(truth, Events) and times is None:
        raise InputTypeError("`times` beside `ignore`, `since` and `until`", "none")
    size = len(times) if isinstance(truth, Events) else truth.size
    if ignore is not None and not isinstance(ignore, Events) and not are_pairs(ignore):
        with with_status(Status.BAD_LABELS):
            ignore = _of_size(read_labels(ignore, "ignore"), size, "ignore")
        ignore = _ordered(ignore, order, "ignore")
    labels = np.zeros(size, dtype=np.uint8) if isinstance(truth, Events) else truth
    with with_status(Status.BAD_TIMES):
        axis = read_axis(size, times, given["end"], of="truth", max_step=given["max_step"])
        stretches = list(ignored_outside(axis, ends, counted=counted))
    with with_status(Status.BAD_TIMES, values=Status.EMPTY):
        own = on_axis(Intervals.from_labels(labels, axis), axis)
        closed, kept = close_series(own, labels, [ignore, *stretches])
    return closed.ignored, kept


def _put_in_order(given: dict[str, Any], disorder: Disorder) -> NDArray[np.int64] | None:
    """Read truth and times as a batch does; return the order of time if samples are not in it."""
    known = isinstance(given["truth"], Events)
    if not known:
        with with_status(Status.BAD_LABELS):
            if read_column(given["truth"], "truth")[0].size == 0:
                raise empty_series()
            given["truth"] = read_labels(given["truth"], "truth")
    if given["times"] is None:
        return None
    with with_status(Status.BAD_TIMES):
        ticks, clock = read_times(given["times"], "times")
        if given["end"] is not None and (ticks[1:] > ticks[:-1]).all():
            return None
        labels = np.zeros(ticks.size, dtype=np.uint8) if known else given["truth"]
        # Events have times of their own, which the numbers of samples cannot replace.
        allowed: Disorder = "error" if known and disorder == "index" else disorder
        # A zone changes nothing here; 32-bit floats are even up to their own rounding.
        dated = clock.kind == "datetime"
        times = clock.native(ticks) if dated else read_column(given["times"], "times")[0]
        _of_size(times, labels.size, "times")
        series = timed_series(labels, times, name="times", disorder=allowed)
    if not series.timed:
        given["times"] = given["end"] = None
        return None
    if given["end"] is None:
        given["end"] = _own_times(clock, np.array([series.axis.end], dtype=ticks.dtype))[0]
    if series.order is not None:
        given["times"] = _own_times(clock, ticks[series.order])
        if not known:
            given["truth"] = series.labels
    return series.order


def _own_times(clock: Clock, ticks: Ticks) -> Any:
    """Return ticks as times of the caller, in their zone if they have one."""
    if clock.tz is None:
        return clock.native(ticks)
    return [clock.scalar(tick) for tick in ticks.tolist()]


def _of_size(values: NDArray[Any], size: int, called: str) -> NDArray[Any]:
    """Raise for a column that an order of so many samples would cut short."""
    if values.size != size:
        rule = f"to have as many values as samples ({size})"
        raise InputError(rule, f"{values.size}", argument=called)
    return values


def _ordered(values: NDArray[Any], order: NDArray[np.int64] | None, called: str) -> NDArray[Any]:
    return values if order is None else _of_size(values, order.size, called)[order]


def _read_each(
    name: str,
    given: dict[str, Any],
    order: NDArray[np.int64] | None,
    kept: NDArray[np.bool_] | None,
) -> list[SeriesTrouble]:
    """Read every detector; those in trouble are left out, and the others go on."""
    troubles: list[SeriesTrouble] = []
    failure: ClosecallError | None = None
    for argument, alone in (("scores", ALONE[1]), ("predicted", ALONE[0])):
        read = {}
        for detector, (called, values) in by_name(given[argument], argument, alone).items():
            try:
                own = _read_one(argument, called, values, order)
                if argument == "scores":
                    _require_known(own, called, given["nan"], kept)
                read[detector] = own
            except ClosecallError as error:
                failure = failure or error
                troubles.append(_trouble(name, detector, error))
        given[argument] = read or None
    if failure is not None and given["scores"] is None and given["predicted"] is None:
        raise failure
    if isinstance(given["thresholds"], Mapping):
        lost = {trouble.detector for trouble in troubles}
        chosen = given["thresholds"].items()
        given["thresholds"] = {key: one for key, one in chosen if str(key) not in lost}
    return troubles


def _read_one(argument: str, called: str, values: Any, order: NDArray[np.int64] | None) -> Any:
    if argument == "predicted":
        if isinstance(values, Events):
            return values
        with with_status(Status.BAD_LABELS):
            read = read_labels(values, called)
    else:
        with with_status(Status.BAD_SCORES):
            read = read_scores(values, called, nan="ignore")
    return _ordered(read, order, called)


def _require_known(
    scores: NDArray[Any], called: str, nan: str, kept: NDArray[np.bool_] | None
) -> None:
    """Raise for missing scores of samples that are left, and for those that the page rounds."""
    if kept is not None:
        _of_size(scores, kept.size, called)
    with with_status(Status.NAN_SCORE):
        if nan == "raise":
            require_scores(scores, called, kept)
    with with_status(Status.BAD_SCORES):
        require_exact(scores, called)

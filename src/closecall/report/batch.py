"""`report_batch`: many series on one page, each opened from a leaderboard and a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closecall.columns import require_one_index
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
    with_names,
)
from closecall.evaluated_time import are_pairs
from closecall.events import Events, read_ignored
from closecall.fscore import counted_f1
from closecall.parameters import require_choice
from closecall.plain import plain
from closecall.report.explorer import Page, Report, SeriesTrouble, require_page
from closecall.report.series import ALONE, require_exact, series_content, summary
from closecall.series import Scored
from closecall.statistics import compute_ranks
from closecall.tables.batch.summary import DISORDER_HINT, STATUSES
from closecall.tables.roles import NamedTable
from closecall.tables.series import Reading, Status, read_series, with_status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from closecall.report.explorer import Script
    from closecall.tables.series import Disorder

_COLUMNS = ("truth", "times", "ignore", "values")
_ARGUMENTS = (
    *_COLUMNS,
    "end",
    "span",
    "max_step",
    "close",
    "nan",
    "predicted",
    "scores",
    "thresholds",
)
OPENED = (
    "at the threshold that its page opens with: unless another was given, the best one on the same "
    "labels, so that these scores are optimistic"
)
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
        ``scores``, ``times``, ``end``, ``span``, ``ignore``, ``max_step``, ``close``, ``nan``,
        ``values`` and ``thresholds``. Where times are uneven and there is no ``end``, the last
        sample lasts the median step of its series. A series that cannot be scored, such as one
        without a true event, is listed with the reason; a detector that cannot be scored on a
        series is left out of that series.
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
    Reading(since=since, until=until)  # what is wrong with these is wrong for all series
    named = ((key if isinstance(key, str) else shown(key), one) for key, one in given.items())
    pages = ((name, _vectors(name, one, disorder, since, until)) for name, one in named)
    scores = sum(map(_count_scores, given.values()))
    return batch_page(pages, scores, title=title, script=script)


def _count_scores(arguments: Any) -> int:
    """Return how many scores a series has, of all detectors; 0 for what is refused later."""
    scores: Any = arguments.get("scores") if isinstance(arguments, Mapping) else None
    count = 0
    for column in scores.values() if isinstance(scores, Mapping) else [scores]:
        with suppress(TypeError):  # None, or an array without a dimension
            count += len(column)
    return count


class PageSeries(NamedTuple):
    """One series of a page: a table, how it is read, and what is shown of it."""

    table: NamedTable
    reading: Reading
    value: str | None = None
    """The column of the series itself."""
    thresholds: Any = None
    names: Mapping[str, str] = MappingProxyType({})
    """Names of detectors by their columns, where they are others."""


def batch_page(
    series: Iterable[tuple[str, PageSeries | ClosecallError]],
    scores: int,
    *,
    title: str,
    script: Script,
    thresholds: str = OPENED,
) -> Report:
    """Build the page of series that come one after the other, with so many `scores` together.

    The leaderboard says what its `thresholds` are.
    """
    require_page(title, script)
    summaries: list[dict[str, Any]] = []
    page = Page({}, script)
    troubles: list[SeriesTrouble] = []
    failure: ClosecallError | None = None
    notes = () if scores <= _MOST_MOVED else (_UNMOVED,)
    for name, one in series:
        try:
            if isinstance(one, ClosecallError):
                raise one
            content, left_out = _series_content(name, one, moved=not notes)
        except MissingExtraError:
            raise
        except ClosecallError as error:
            failure = failure or error
            left_out = [_trouble(name, None, error, one)]
            summaries.append(unscored(left_out[0]))
            page.append(None)
        else:
            content["advice"] = [*content["advice"], *notes]
            reasons = {str(trouble.detector): str(trouble) for trouble in left_out}
            summaries.append(summary(content) | {"left_out": reasons})
            page.append(content)
        troubles += left_out
    if failure is not None and all("status" in about for about in summaries):
        cause = failure.__cause__
        raise cause if isinstance(cause, ClosecallError) else failure
    page.about = batch_about(title, summaries, thresholds=thresholds)
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


def batch_about(
    title: str, summaries: list[dict[str, Any]], signature: str = "", *, thresholds: str
) -> dict[str, Any]:
    """Return what the first page tells: each series in short, and how detectors rank on them."""
    about = {"title": title, "series": summaries, "batch": True, "signature": signature}
    about["thresholds"] = thresholds
    for one in summaries:
        for row in one.get("detectors", ()):
            pair = np.array([row["f1"], row["chance"]["f1"]], dtype=float)
            row["counted"] = plain(counted_f1(pair, row["alarms"], one["events"]).tolist())
    scored = [
        {row["name"]: row["counted"][0] for row in one.get("detectors", ())} for one in summaries
    ]
    table = {
        name: [nan if scores.get(name) is None else scores[name] for scores in scored if scores]
        for name in detectors_of(summaries)
    }
    try:
        ranks = compute_ranks(table, missing="drop", metric="F1").to_dict()
    except ClosecallError as error:
        return about | {"ranks": None, "unranked": reason(error)}
    names = ("detectors", "cliques", "series", "text")
    return about | {"ranks": {name: ranks[name] for name in names}}


def _trouble(
    series: str, detector: str | None, error: ClosecallError, one: PageSeries | ClosecallError
) -> SeriesTrouble:
    """Take the status, the reason and the hint from an error; the page has one for disorder."""
    status = error.status
    if not status:
        status = Status.NO_EVENT if isinstance(error, UndefinedMetricError) else Status.FAILED
    hint = _HINTS.get(status, error.hint)
    disorder = one.reading.disorder if isinstance(one, PageSeries) else ""
    if disorder == "error" and error.code in OUT_OF_ORDER:
        hint = f"{DISORDER_HINT}."
    return SeriesTrouble(series, detector, status, reason(error), hint)


def _series_content(
    name: str, one: PageSeries, *, moved: bool
) -> tuple[dict[str, Any], list[SeriesTrouble]]:
    """Lay out the page of a series, and list what is not on it; raise if nothing can be scored."""
    series = read_series([one.table], one.reading)
    troubles: list[SeriesTrouble] = []
    failure: ClosecallError | None = None
    sides: dict[str, dict[str, Any]] = {"scores": {}, "predicted": {}}
    for kind, readable in sides.items():
        for column, values in getattr(series.sides, kind).items():
            detector = one.names.get(column, column)
            try:
                found = series.detector(column)
                if isinstance(found, Scored):
                    with with_status(Status.BAD_SCORES):
                        require_exact(found.scores, column)
                readable[detector] = values
            except ClosecallError as error:
                failure = failure or error
                troubles.append(_trouble(name, detector, error, one))
    if failure is not None and not any(sides.values()):
        raise failure
    thresholds = one.thresholds
    if isinstance(thresholds, Mapping):
        lost = {trouble.detector for trouble in troubles}
        thresholds = {key: cut for key, cut in thresholds.items() if str(key) not in lost}
    values = None if one.value is None else series.column(one.value, "values")
    with with_names({"truth": one.reading.called("truth")}):
        content = series_content(
            name,
            series.sides.truth,
            **{kind: found or None for kind, found in sides.items()},
            values=values,
            thresholds=thresholds,
            notes=series.notes,
            signed=one.reading.signed,
            moved=moved,
            **series.options,
            close=series.reading.close,
        )
    return content, troubles


def _vectors(
    name: str, arguments: Any, disorder: Disorder, since: Any, until: Any
) -> PageSeries | ClosecallError:
    """Take the arguments of `report` for a table of vectors; return what is wrong with them."""
    rule = f"the arguments of {name!r} to be those of `report`"
    hint = 'For example {"truth": labels, "scores": {"mine": scores}}.'
    if not isinstance(arguments, Mapping):
        return InputTypeError(f"{rule}, by name", type(arguments).__name__, hint=hint)
    unknown = [key for key in arguments if not (isinstance(key, str) and key in _ARGUMENTS)]
    if unknown or "truth" not in arguments:
        return InputError(rule, shown(unknown[0]) if unknown else "no `truth`", hint=hint)
    given: dict[str, Any] = {key: arguments.get(key) for key in _ARGUMENTS}
    columns = {key: given[key] for key in _COLUMNS if given[key] is not None}
    try:
        detectors = {
            kind: by_name(given[kind], kind, alone)
            for kind, alone in (("predicted", ALONE[0]), ("scores", ALONE[1]))
        }
        if "ignore" in columns and are_pairs(given["ignore"]):
            columns["ignore"] = Events.wrap(read_ignored(given["ignore"]))
        for found in detectors.values():
            columns |= dict(found.values())
        require_one_index(columns)
        reading = Reading(
            truth="truth",
            time="times" if "times" in columns else None,
            ignore="ignore" if "ignore" in columns else None,
            predicted=tuple(called for called, _ in detectors["predicted"].values()),
            scores=tuple(called for called, _ in detectors["scores"].values()),
            disorder=disorder,
            since=since,
            until=until,
            nan=given["nan"] or "raise",
            usual_end=True,
            of_many=True,
            **{key: given[key] for key in ("end", "span", "max_step", "close")},
        )
    except ClosecallError as error:
        return error
    names = {one.called: name for found in detectors.values() for name, one in found.items()}
    value = "values" if "values" in columns else None
    table = NamedTable(repr(name), columns)
    return PageSeries(table, reading, value, given["thresholds"], names)

"""The explorer straight from a table: one series, or one for each value of a column."""

from __future__ import annotations

from math import nan as undefined
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError, expected
from closecall.report.batch import report_batch
from closecall.report.explorer import report
from closecall.tables.batch.series import plain_values
from closecall.tables.incidents import read_events
from closecall.tables.reading import MEMORY, arrow
from closecall.tables.roles import (
    EvaluatedTime,
    Source,
    axis_arguments,
    read_side,
    read_sources,
    with_nan,
)
from closecall.tables.sources.memory import group

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.events import Events
    from closecall.report.explorer import Report, Script
    from closecall.tables.batch.options import Disorder
    from closecall.tables.roles import File, Role

_NAMELESS = "(no name)"


def report_files(
    truth_file: File,
    detectors_file: File | None = None,
    *,
    truth: str | None = None,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    time: str | None = None,
    value: str | None = None,
    by: str | Sequence[str] = (),
    disorder: Disorder | None = None,
    ignore: str | PathLike[str] | None = None,
    since: Any = None,
    until: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    title: str | None = None,
    script: Script = "embed",
    encoding: str = "utf-8",
    memory: float = MEMORY,
    **axis: Any,
) -> Report:
    r"""Build the explorer of one or two CSV or Parquet files.

    Parameters
    ----------
    truth_file, detectors_file
        Paths as `closecall.tables.read_table` takes them; without the second, the first holds
        everything.
    truth
        The column of 0/1 labels, or ``START,STOP`` for two columns that list events (then `time`
        is required); by default as in `closecall.tables.score_files`.
    predicted, scores
        Columns of 0/1 predictions and of scores; each is a detector.
    time, value
        Columns of times and of the series itself.
    by
        Columns of a single file whose values tell series apart, as in `closecall.evaluate_frame`;
        the page is then that of `report_batch`.
    disorder
        As in `report_batch`; only beside `by`.
    ignore, since, until, max_step, nan
        As in `closecall.tables.curve_files`.
    title, script
        As in `report`; by default the title is the name of the file with the detectors.
    encoding, memory
        As in `closecall.tables.score_files`.
    axis
        ``end`` and ``span``, as in `report`.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path("scores.csv").write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> report_files("scores.csv", scores=["score"], script="cdn")
    Report('scores.csv', detectors: score; 0.2 MB)
    """
    sources = read_sources(truth_file, detectors_file, encoding=encoding, memory=memory)
    options: dict[str, Any] = {
        "truth": truth,
        "predicted": predicted,
        "scores": scores,
        "time": time,
        "value": value,
        "axis": {"end": None, "span": None, **axis},
        "evaluated": EvaluatedTime(
            ignore=ignore, since=since, until=until, max_step=max_step, encoding=encoding
        ),
        "nan": nan,
    }
    name = sources[-1].name if title is None else title
    keys = (by,) if isinstance(by, str) else tuple(by)
    if keys:
        if detectors_file is not None:
            raise InputError(expected("one file with everything beside `by`", "two files"))
        # Each series has an axis of its own, which is read with what is wrong with it.
        options["evaluated"] = EvaluatedTime()
        options["axis"]["max_step"] = max_step
        series = _series(sources[0], keys, options, _read_ignore(ignore, sources[0], encoding))
        limits = {"disorder": disorder or "error", "since": since, "until": until}
        return report_batch(series, **limits, title=name, script=script)
    if disorder is not None:
        rule = "`disorder` only beside `by`"
        hint = "Sort the samples of the file by time first."
        raise InputTypeError(expected(rule, f"{disorder!r} for one series", hint))
    arguments = _arguments(sources, **options)
    return report(arguments.pop("truth"), title=name, script=script, **arguments)


def _arguments(
    sources: list[Source],
    *,
    truth: str | None,
    predicted: Sequence[str],
    scores: Sequence[str],
    time: str | None,
    value: str | None,
    axis: dict[str, Any],
    evaluated: EvaluatedTime,
    nan: str,
) -> dict[str, Any]:
    """Take the columns that `report` is called with."""
    detectors = sources[-1]

    def taken(names: Sequence[str], role: Role) -> dict[str, Any] | None:
        columns = {name: plain_values(detectors.column(name, role)) for name in names}
        if role == "score":
            columns = {name: with_nan(column) for name, column in columns.items()}
        return columns or None

    actual = read_side(sources[0], "truth", truth, time=time, shared=len(sources) == 1)
    samples = detectors.table.column(0)
    own = axis | axis_arguments(
        sources, samples, actual, time=time, end=axis["end"], span=axis["span"], evaluated=evaluated
    )
    return {
        "truth": actual,
        "predicted": taken(predicted, "predicted"),
        "scores": taken(scores, "score"),
        "values": None if value is None else _with_gaps(detectors.column(value, "value")),
        **own,
        "max_step": own["max_step"] or axis.get("max_step"),
        "nan": nan,
    }


def _with_gaps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn missing values of the drawn series into nan, which is drawn as a gap."""
    types = arrow("pyarrow").types
    plain = plain_values(column)
    if not plain.null_count or not (types.is_integer(plain.type) or types.is_floating(plain.type)):
        return plain
    return plain.cast("float64").fill_null(undefined)


def _read_ignore(
    ignore: str | PathLike[str] | None, source: Source, encoding: str
) -> Events | str | None:
    """Return the name of a column to ignore, or the events of a file."""
    if ignore is None or str(ignore) in source.columns or not Path(ignore).exists():
        return ignore if ignore is None else str(ignore)
    return read_events(ignore, encoding=encoding, merge=True)


def _series(
    source: Source, by: tuple[str, ...], options: dict[str, Any], ignore: Events | str | None
) -> dict[str, dict[str, Any]]:
    """Take the arguments of each series, in the order in which the series appear."""
    if isinstance(ignore, str):
        source.column(ignore, "ignore")
    for name in by:
        source.column(name, "by")
    # A column that is missing is missing for all.
    _arguments([Source(source.name, source.table.slice(0, 0))], **options)
    series: dict[str, dict[str, Any]] = {}
    for key, table in group(source.table, by):
        own = _own_arguments(Source(source.name, table), options)
        own["ignore"] = table.column(ignore) if isinstance(ignore, str) else ignore
        series[_unused(_series_name(key), series)] = own
    if not series:
        raise InputError(expected(f"{source.name} to hold at least one series", "none"))
    return series


def _own_arguments(source: Source, options: dict[str, Any]) -> dict[str, Any]:
    try:
        return _arguments([source], **options)
    except InputTypeError:
        # Text of one series that is no time must not stop the others; it is refused again there.
        untimed = _arguments([source], **{**options, "time": None})
        return {**untimed, "times": source.column(options["time"], "time")}


def _series_name(key: tuple[Any, ...]) -> str:
    """Write the values that tell a series apart; what has none is said to have none."""
    return ", ".join(_NAMELESS if part is None or part == "" else str(part) for part in key)


def _unused(name: str, series: dict[str, Any]) -> str:
    """Add a number to a name that another series has, as nulls and empty texts may."""
    count = 1
    free = name
    while free in series:
        count += 1
        free = f"{name} {count}"
    return free

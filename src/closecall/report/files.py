"""The explorer straight from a table: one series, or one for each value of a column."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from datetime import tzinfo
from math import nan as undefined
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError
from closecall.plain import plain
from closecall.report.batch import batch_about, batch_page, unscored
from closecall.report.explorer import Page, Report, SeriesTrouble, require_page, series_page
from closecall.signature import value_text
from closecall.tables.file_names import ONE, FileNames
from closecall.tables.incidents import read_events
from closecall.tables.inputs import Inputs
from closecall.tables.reading import arrow, plain_values, read_table, shown_name
from closecall.tables.roles import MENDED, Source
from closecall.tables.sources.csv import joined_files, with_folders
from closecall.tables.sources.memory import group
from closecall.tables.sources.paths import list_files
from closecall.wording import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    import pyarrow as pa

    from closecall.events import Events
    from closecall.report.explorer import Script
    from closecall.report.series import Call

_NAMELESS = "(no name)"
_ROWS = ("detector", "status", "caught", "affiliation_f1", "chance_f1")  # only a batch writes these


def folder_inputs(inputs: Inputs, keys: tuple[str, ...]) -> tuple[Inputs, tuple[str, ...]]:
    """Read a folder as one table, and return it with the columns that tell its series apart."""
    folder = inputs.files[0]
    if not isinstance(folder, str | PathLike) or not Path(folder).is_dir():
        return inputs, keys
    if inputs.series not in (None, ONE):
        keys = (*keys, *FileNames.read(inputs.series).fields)
    files = list_files(folder, inputs.series)
    if not keys and len(files) > 1 and inputs.series != ONE:
        hint = "Pass `series='filename'` where each file is a series, or `by='COLUMN'`."
        raise InputError("`series` or `by` beside several files", "neither", hint=hint)
    if len([file for file in inputs.files if file is not None]) > 1:
        raise InputError("one folder with everything", "a folder and a file")
    tables = {
        file: with_folders(
            read_table(file.path, encoding=inputs.encoding, memory=inputs.memory), file
        )
        for file in files
    }
    source = Source(shown_name(folder), joined_files(tables))
    return replace(inputs, files=(source,), series=None), keys


def report_inputs(
    inputs: Inputs,
    *,
    by: tuple[str, ...],
    title: str | None,
    script: Script,
    batch: str | PathLike[str] | None,
    **columns: Any,
) -> tuple[Report, list[str]]:
    """Build the page of inputs, and return what was inferred."""
    name = Path(inputs.sources[-1].name).name if title is None else title
    named = (by, batch, inputs.truth, columns["predicted"], columns["scores"])
    if not any(named) and {*_ROWS} <= {*inputs.sources[-1].columns}:
        return _page_of_rows(inputs.sources[-1].table, name, script), []
    if batch is not None and (not by or columns["thresholds"] is not None):
        got = "`thresholds` as well" if by else "one series"
        raise InputTypeError("for several series, without `thresholds`", got, argument="batch")
    if by:
        chosen = {} if batch is None else _batch_thresholds(batch, by, inputs.encoding)
        series = _series(inputs, by, columns, chosen)
        scores = inputs.sources[0].table.num_rows * len(inputs.names(columns["scores"], "score"))
        left: Any = "error" if inputs.disorder in MENDED else inputs.disorder
        limits = {"disorder": left, "since": inputs.since, "until": inputs.until}
        called = {"truth": inputs.truth, "times": inputs.time}
        page = batch_page(series, scores, **limits, title=name, script=script, called=called)
        return page, [*page.notes]
    if inputs.disorder == "index":
        rule = "`disorder='index'` only beside `by`"
        hint = "Leave out `time` to count samples."
        raise InputTypeError(rule, "it for one series", hint=hint)
    arguments, notes = _arguments(inputs, **columns)
    calls = _commands(inputs, arguments)
    return series_page(title=name, script=script, calls=calls, **arguments), notes


def _commands(inputs: Inputs, arguments: dict[str, Any]) -> dict[str, Call]:
    """Write the `closecall score` that computes each detector's results again from these files."""
    files = [file for file in inputs.files if file is not None]
    detectors = [*(arguments["scores"] or ()), *(arguments["predicted"] or ())]
    # Time without a score is ignored for all detectors, which no command for one of them says.
    if not all(isinstance(file, str | PathLike) for file in files) or (
        inputs.nan != "raise" and len(detectors) > 1
    ):
        return {}
    usual = Inputs(())
    options: list[str] = []
    for field in fields(Inputs):
        name, value = field.name, getattr(inputs, field.name)
        if name in ("files", "usual_end") or value == getattr(usual, name):
            continue
        option = f"--{ {'since': 'from', 'max_step': 'max-step'}.get(name, name) }"
        values = [] if value is True else value if isinstance(value, tuple) else [value]
        options += [option, *(_option_text(one) for one in values)]
    calls = {}
    for kind, ending in (("scores", " --threshold="), ("predicted", "")):
        option = "--score" if kind == "scores" else "--predicted"
        for detector in arguments[kind] or ():
            words = shlex.join([*map(str, files), option, detector, *options])
            calls[detector] = {
                "language": "shell",
                "before": f"closecall score {words}{ending}",
                "after": "",
            }
    return calls


def _option_text(value: Any) -> str:
    """Write the value of an option as a command line reads it."""
    return (
        value
        if isinstance(value, str)
        else str(value)
        if isinstance(value, PathLike | tzinfo)
        else value_text(value)
    )


def _page_of_rows(table: pa.Table, title: str, script: Script) -> Report:
    """Build the page of what `closecall.evaluate_frame` wrote: no series can be opened."""
    require_page(title, script)
    keys = table.column_names[: table.column_names.index("detector")]
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in plain(table.to_pylist()):
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    series: dict[str, dict[str, Any]] = {}
    troubles = []
    for key, rows in found.items():
        name = _unused(_series_name(key) or _NAMELESS, series)
        scored = [row for row in rows if row["true_events"] and row["caught"] is not None]
        for row in rows if scored else rows[:1]:
            if row not in scored:
                whose = str(row["detector"]) if scored else None
                told = row["status"], row["reason"] or "", ""
                troubles.append(SeriesTrouble(name, whose, *told))
        series[name] = (
            unscored(troubles[-1])
            if not scored
            else {
                "name": name,
                "events": scored[0]["true_events"],
                "closed": True,
                "detectors": [_row_summary(row) for row in scored],
            }
        )
    detectors = dict.fromkeys(str(row["detector"]) for rows in found.values() for row in rows)
    summaries = list(series.values())
    signed = (
        table.column_names[-1] == "signature" and table.column("signature").unique().to_pylist()
    )
    line = signed[0] if signed and len(signed) == 1 else ""
    page = Page(batch_about(title, summaries, line), script)
    return Report(title, tuple(series), tuple(detectors), page, tuple(troubles))


def _row_summary(row: dict[str, Any]) -> dict[str, Any]:
    """Return what the first page says of a detector on a series."""
    scores = ("precision", "recall", "f1")
    false_alarms = counted(row["false_alarms"], "false alarm")
    return {
        "name": str(row["detector"]),
        **{score: row[f"affiliation_{score}"] for score in scores},
        "chance": {score: row[f"chance_{score}"] for score in scores},
        "headline": f"{row['caught']} of {row['true_events']} caught, {false_alarms}",
        "caught": row["caught"],
        "false_alarms": row["false_alarms"],
    }


def _arguments(
    inputs: Inputs,
    *,
    predicted: Sequence[str],
    scores: Sequence[str],
    thresholds: Any,
    value: str | None,
    ignore: Events | str | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Take the columns that `report` is called with, and return what was inferred."""
    columns = inputs.read(predicted, scores)
    drawn = None if value is None else _with_gaps(columns.source.column(value, "value"))
    sides = {"predicted": columns.predicted or None, "scores": columns.scores or None}
    own = {"truth": columns.truth, **sides, "values": drawn, "thresholds": thresholds}
    axis = dict(columns.axis)
    if ignore is not None:
        axis["ignore"] = (
            columns.source.column(ignore, "ignore") if isinstance(ignore, str) else ignore
        )
    return own | axis, columns.notes


def _with_gaps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn missing values of the drawn series into nan, which is drawn as a gap."""
    types = arrow("pyarrow").types
    plain = plain_values(column)
    if not plain.null_count or not (types.is_integer(plain.type) or types.is_floating(plain.type)):
        return plain
    return plain.cast("float64").fill_null(undefined)


def _read_ignore(inputs: Inputs) -> Events | str | None:
    """Return the name of a column to ignore, or the events of a file."""
    named = inputs.ignore
    if named is None or str(named) in inputs.sources[0].columns or not Path(named).exists():
        return named if named is None else str(named)
    options: dict[str, Any] = {"timezone": inputs.timezone, "series": inputs.series}
    return read_events(named, merge=True, encoding=inputs.encoding, **options)


def _series(
    inputs: Inputs,
    by: tuple[str, ...],
    columns: dict[str, Any],
    chosen: dict[tuple[str, ...], dict[str, float]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the arguments of each series, in the order in which they appear."""
    if len(inputs.sources) > 1:
        raise InputError("one file with everything beside `by`", "two files")
    (source,) = inputs.sources
    # Each series has an axis of its own, which is read with what is wrong with it.
    columns["ignore"] = _read_ignore(inputs)
    how = inputs.disorder if inputs.disorder in MENDED else "error"
    inputs = replace(
        inputs, files=(), usual_end=False, disorder=how, ignore=None, since=None, until=None
    )
    for name in by:
        source.column(name, "by")

    def arguments(table: pa.Table, **options: Any) -> dict[str, Any]:
        own = replace(inputs, files=[Source(source.name, table)], **options)
        return _arguments(own, **columns)[0]

    arguments(source.table.slice(0, 0))  # a column that is missing is missing for all
    grouped = group(source.table, by)
    arrow("pyarrow").default_memory_pool().release_unused()  # what reading the file left behind
    names: set[str] = set()
    for key, table in grouped:
        name = _unused(_series_name(key), names)
        names.add(name)
        try:
            series = arguments(table)
        except InputTypeError:
            # Text of one series that is no time must not stop the others; it is refused there.
            times = table.column(str(inputs.time))
            series = {**arguments(table, time=None), "times": times}
        if chosen:
            scored, own = series["scores"] or {}, chosen.get(tuple(map(str, key)), {})
            series["thresholds"] = {at: own[at] for at in own if at in scored} or None
        yield name, series
    if not names:
        raise InputError(f"{source.name} to hold at least one series", "none")


def _batch_thresholds(
    batch: str | PathLike[str], by: tuple[str, ...], encoding: str
) -> dict[tuple[str, ...], dict[str, float]]:
    """Read the thresholds of each series by detector from the rows of a batch."""
    rows = Source(shown_name(batch), read_table(batch, encoding=encoding))
    names = (*by, "detector", "threshold")
    columns = [rows.column(name, "batch").to_pylist() for name in names]
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for *key, detector, threshold in zip(*columns, strict=True):
        if threshold is not None and threshold == threshold:  # noqa: PLR0124 - nan
            found.setdefault(tuple(map(str, key)), {})[detector] = threshold
    if not found:
        raise InputError(f"{rows.name} to have the threshold of a series", "none")
    return found


def _series_name(key: tuple[Any, ...]) -> str:
    """Write the values that tell a series apart; what has none is said to have none."""
    return ", ".join(_NAMELESS if part is None or part == "" else str(part) for part in key)


def _unused(name: str, series: Container[str]) -> str:
    """Add a number to a name that another series has, as nulls and empty texts may."""
    count = 1
    free = name
    while free in series:
        count += 1
        free = f"{name} {count}"
    return free

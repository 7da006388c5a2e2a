"""The explorer straight from a table: one series, or one for each value of a column."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import tzinfo
from math import inf, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.affiliation.rules import ThresholdRule
from closecall.errors import ClosecallError, InputError, InputTypeError
from closecall.events import Events
from closecall.plain import plain
from closecall.report.batch import OPENED, PageSeries, batch_about, batch_page, unscored
from closecall.report.explorer import Page, Report, SeriesTrouble, require_page, series_page
from closecall.report.series import require_one_time
from closecall.signature import parse, value_text
from closecall.tables.data_files import ONE, FileNames, list_files
from closecall.tables.grouping import group
from closecall.tables.reading import arrow, read_table, shown_name
from closecall.tables.roles import NamedTable
from closecall.tables.series import Inputs, Sides, read_ignored_file, require_zones
from closecall.tables.sources import joined_files
from closecall.wording import headline

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    import pyarrow as pa

    from closecall.report.explorer import Script
    from closecall.report.series import Call

_NO_OPTIONS = ("files", "predicted", "scores", "usual_end", "of_many")
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
        file: file.complete(read_table(file.path, encoding=inputs.encoding, memory=inputs.memory))
        for file in files
    }
    table = NamedTable(shown_name(folder), joined_files(tables))
    return replace(inputs, files=(table,), series=None), keys


def report_inputs(
    inputs: Inputs,
    *,
    by: tuple[str, ...],
    title: str | None,
    script: Script,
    batch: str | PathLike[str] | None,
    predicted: Sequence[str],
    scores: Sequence[str],
    thresholds: Any,
    value: str | None,
) -> tuple[Report, list[str]]:
    """Build the page of inputs, and return what was inferred."""
    table = inputs.tables[-1]
    name = Path(table.name).name if title is None else title
    named = (by, batch, inputs.truth, predicted, scores)
    if not any(named) and {*_ROWS} <= {*table.columns}:
        return _page_of_rows(table.table, name, script), []
    if batch is not None and (not by or thresholds is not None):
        got = "`thresholds` as well" if by else "one series"
        raise InputTypeError("for several series, without `thresholds`", got, argument="batch")
    if by:
        chosen, told = {}, OPENED
        if batch is not None:
            rows = NamedTable(shown_name(batch), read_table(batch, encoding=inputs.encoding))
            chosen, told = _batch_thresholds(rows, by), _chosen_thresholds(_signature(rows.table))
        labelled, scored = inputs.names(predicted, "predicted"), inputs.names(scores, "score")
        require_one_time(inputs.nan, len(labelled) + len(scored))
        reading = replace(inputs, predicted=tuple(labelled), scores=tuple(scored))
        pages = _series(reading, by, value, thresholds, chosen)
        count = inputs.tables[0].samples * len(scored)
        page = batch_page(pages, count, title=name, script=script, thresholds=told)
        return page, [*page.notes]
    if inputs.disorder == "index":
        rule = "`disorder='index'` only beside `by`"
        hint = "Leave out `time` to count samples."
        raise InputTypeError(rule, "it for one series", hint=hint)
    series = inputs.read(predicted, scores)
    arguments = series.arguments
    arguments["values"] = None if value is None else series.column(value, "value")
    calls = _commands(inputs, arguments)
    arguments |= {"notes": series.notes, "thresholds": thresholds, "close": inputs.close}
    arguments["signed"] = inputs.signed
    return series_page(title=name, script=script, calls=calls, **arguments), [*series.notes]


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
        if name in _NO_OPTIONS or value == getattr(usual, name):
            continue
        option = f"--{ {'since': 'from'}.get(name, name).replace('_', '-') }"
        if isinstance(value, Mapping):  # zones by file
            for key, one in value.items():
                options += [option, f"{key}={_option_text(one)}"]
            continue
        if name == "severity_order":
            value = ",".join(value)
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
    line = _signature(table)
    page = Page(batch_about(title, summaries, line, thresholds=_chosen_thresholds(line)), script)
    return Report(title, tuple(series), tuple(detectors), page, tuple(troubles))


def _signature(rows: pa.Table) -> str:
    """Return the signature of the rows of a batch; none if they have none, or several."""
    if rows.column_names[-1] != "signature":
        return ""
    lines = rows.column("signature").unique().to_pylist()
    return str(lines[0] or "") if len(lines) == 1 else ""


def _chosen_thresholds(signature: str) -> str:
    """Say what the thresholds of a batch are, as far as its signature says it."""
    try:
        options = parse(signature).options
    except ClosecallError:
        return "at the thresholds of the batch; those chosen on the same labels are optimistic"
    if options.get("threshold") is None:
        return "with its alarms of the batch"
    if options.get("fit_until") is not None:
        return "at the thresholds of the batch, which were chosen on earlier time"
    rule = ThresholdRule.read(options["threshold"])
    if rule.is_optimistic:
        return "at the thresholds of the batch, chosen on the same labels: scores are optimistic"
    where = ", which were chosen on other series" if rule.looks_at_truth else f" ({rule})"
    return f"at the thresholds of the batch{where}"


def _row_summary(row: dict[str, Any]) -> dict[str, Any]:
    """Return what the first page says of a detector on a series."""
    scores = ("precision", "recall", "f1")
    days, delay = row["evaluated_days"], row["median_delay"]
    told = headline(
        row["caught"],
        row["true_events"],
        chance=row["chance_caught"] if row["predicted_events"] else nan,
        median_delay=inf if delay is None else delay,
        alarmed=row["alarmed"],
        false_alarms=row["false_alarms"],
        length=nan if days is None else days * 86_400,
        dated=days is not None,
    )
    return {
        "name": str(row["detector"]),
        **{score: row[f"affiliation_{score}"] for score in scores},
        "chance": {score: row[f"chance_{score}"] for score in (*scores, "caught")},
        "headline": told,
        "caught": row["caught"],
        "alarms": row["predicted_events"],
        "alarmed": row["alarmed"],
        "false_alarms": row["false_alarms"],
    }


def _read_ignore(inputs: Inputs) -> Events | str | None:
    """Return the name of a column to ignore, or the events of a file."""
    named = inputs.ignore
    if named is None or isinstance(named, Events):
        return named
    if str(named) in inputs.tables[0].columns or not Path(named).exists():
        return str(named)
    return read_ignored_file(inputs)


def _series(
    inputs: Inputs,
    by: tuple[str, ...],
    value: str | None,
    thresholds: Any,
    chosen: dict[tuple[str, ...], dict[str, float]],
) -> Iterator[tuple[str, PageSeries]]:
    """Yield the name of each series and how it is read, in the order in which they appear."""
    if len(inputs.tables) > 1:
        raise InputError("one file with everything beside `by`", "two files")
    (table,) = inputs.tables
    # What is missing is missing for all series.
    for name in by:
        table.column(name, "by")
    require_zones([table], Sides.find([table], inputs), inputs)
    for column, argument in ((inputs.time, "time"), (value, "value")):
        if column is not None:
            table.column(column, argument)
    reading = replace(inputs, ignore=_read_ignore(inputs), usual_end=True, of_many=True)
    if isinstance(reading.ignore, str):
        table.column(reading.ignore, "ignore")
    grouped = group(table.table, by)
    arrow("pyarrow").default_memory_pool().release_unused()  # what reading the file left behind
    names: set[str] = set()
    for key, rows in grouped:
        name = _unused(_series_name(key), names)
        names.add(name)
        cuts = thresholds
        if chosen:
            kept = chosen.get(tuple(map(str, key)), {})
            cuts = {at: kept[at] for at in kept if at in reading.scores} or None
        yield name, PageSeries(NamedTable(table.name, rows), reading, value, cuts)
    if not names:
        raise InputError(f"{table.name} to hold at least one series", "none")


def _batch_thresholds(
    rows: NamedTable, by: tuple[str, ...]
) -> dict[tuple[str, ...], dict[str, float]]:
    """Read the thresholds of each series by detector from the rows of a batch."""
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

"""The explorer straight from a table: one series, or one for each value of a column."""

from __future__ import annotations

from dataclasses import replace
from math import nan as undefined
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, InputTypeError
from closecall.report.batch import report_batch
from closecall.report.explorer import report
from closecall.tables.incidents import read_events
from closecall.tables.inputs import Inputs
from closecall.tables.reading import arrow, plain_values
from closecall.tables.roles import Source
from closecall.tables.sources.memory import group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    import pyarrow as pa

    from closecall.events import Events
    from closecall.report.explorer import Report, Script
    from closecall.tables.inputs import File, InputOptions

_NAMELESS = "(no name)"
_MENDED = ("first", "last", "mean")  # while it is read; a page of many series does the rest


def report_files(
    truth_file: File,
    detectors_file: File | None = None,
    *,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    thresholds: Mapping[str, float] | float | None = None,
    value: str | None = None,
    by: str | Sequence[str] = (),
    title: str | None = None,
    script: Script = "embed",
    **inputs: Unpack[InputOptions],
) -> Report:
    r"""Build the explorer of one or two CSV or Parquet files.

    Parameters
    ----------
    truth_file, detectors_file
        Paths as `closecall.tables.read_table` takes them; without the second, the first holds
        everything.
    predicted, scores
        Columns of 0/1 predictions and of scores; each is a detector.
    thresholds
        Where the page opens, as in `report`.
    value
        The column of the series itself.
    by
        Columns of a single file whose values tell series apart, as in `closecall.evaluate_frame`;
        the page is then that of `report_batch`.
    title, script
        As in `report`; by default the title is the name of the file with the detectors.
    inputs
        The other options of `closecall.tables.Inputs`, as in `closecall.tables.curve_files`;
        beside `by`, ``disorder`` may be ``"index"``, as in `report_batch`.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path("scores.csv").write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> report_files("scores.csv", scores=["score"], script="cdn")
    Report('scores.csv', detectors: score; 0.2 MB)
    """
    own = Inputs((truth_file, detectors_file), **inputs)
    columns: dict[str, Any] = {"predicted": predicted, "scores": scores, "value": value}
    columns["thresholds"] = thresholds
    return report_inputs(own, by=by, title=title, script=script, **columns)[0]


def report_inputs(
    inputs: Inputs,
    *,
    by: str | Sequence[str],
    title: str | None,
    script: Script,
    **columns: Any,
) -> tuple[Report, list[str]]:
    """Build the page of inputs, and return what was inferred."""
    name = inputs.sources[-1].name if title is None else title
    keys = (by,) if isinstance(by, str) else tuple(by)
    if keys:
        series = _series(inputs, keys, columns)
        left: Any = "error" if inputs.disorder in _MENDED else inputs.disorder
        limits = {"disorder": left, "since": inputs.since, "until": inputs.until}
        return report_batch(series, **limits, title=name, script=script), []
    if inputs.disorder == "index":
        rule = "`disorder='index'` only beside `by`"
        hint = "Leave out `time` to count samples."
        raise InputTypeError.expected(rule, "it for one series", hint)
    arguments, notes = _arguments(inputs, **columns)
    return report(arguments.pop("truth"), title=name, script=script, **arguments), notes


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
    inputs: Inputs, by: tuple[str, ...], columns: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Take the arguments of each series, in the order in which the series appear."""
    if len(inputs.sources) > 1:
        raise InputError.expected("one file with everything beside `by`", "two files")
    (source,) = inputs.sources
    # Each series has an axis of its own, which is read with what is wrong with it.
    columns["ignore"] = _read_ignore(inputs)
    how = inputs.disorder if inputs.disorder in _MENDED else "error"
    inputs = replace(
        inputs, files=(), usual_end=False, disorder=how, ignore=None, since=None, until=None
    )
    for name in by:
        source.column(name, "by")

    def arguments(table: pa.Table, **options: Any) -> dict[str, Any]:
        own = replace(inputs, files=[Source(source.name, table)], **options)
        return _arguments(own, **columns)[0]

    arguments(source.table.slice(0, 0))  # a column that is missing is missing for all
    series: dict[str, dict[str, Any]] = {}
    for key, table in group(source.table, by):
        name = _unused(_series_name(key), series)
        try:
            series[name] = arguments(table)
        except InputTypeError:
            # Text of one series that is no time must not stop the others; it is refused there.
            times = table.column(str(inputs.time))
            series[name] = {**arguments(table, time=None), "times": times}
    if not series:
        raise InputError.expected(f"{source.name} to hold at least one series", "none")
    return series


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

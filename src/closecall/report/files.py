"""The explorer straight from a table: one series, or one for each value of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected
from closecall.frames import read_table
from closecall.frames.files import arrow, shown_name
from closecall.frames.sides import (
    Source,
    read_sample_times,
    read_side,
    refuse_standard_input_twice,
)
from closecall.report.batch import report_batch
from closecall.report.explorer import report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.report.page import Script
    from closecall.report.result import Report


def report_files(
    truth_file: str | PathLike[str],
    detectors_file: str | PathLike[str] | None = None,
    *,
    truth: str | None = None,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    time: str | None = None,
    value: str | None = None,
    by: str | None = None,
    title: str | None = None,
    script: Script = "embed",
    **axis: Any,
) -> Report:
    r"""Build the explorer of one or two CSV or Parquet files.

    Parameters
    ----------
    truth_file, detectors_file
        Paths as `closecall.frames.read_table` takes them; without the second, the first holds
        everything.
    truth
        The column of 0/1 labels, or ``START,STOP`` for two columns that list events (then `time`
        is required); by default as in `closecall.frames.score_files`.
    predicted, scores
        Columns of 0/1 predictions and of scores; each is a detector.
    time, value
        Columns of times and of the series itself.
    by
        A column of a single file whose values tell series apart; the page is then that of
        `report_batch`.
    title, script
        As in `report`; by default the title is the name of the file with the detectors.
    axis
        ``end`` and ``span``, as in `closecall.affiliation`.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path("scores.csv").write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> report_files("scores.csv", scores=["score"], script="cdn")
    Report('scores.csv', detectors: score; 0.1 MB)
    """
    refuse_standard_input_twice(truth_file, detectors_file)
    files = [truth_file] if detectors_file is None else [truth_file, detectors_file]
    sources = [Source(shown_name(file), read_table(file)) for file in files]
    options: dict[str, Any] = {
        "truth": truth,
        "predicted": predicted,
        "scores": scores,
        "time": time,
        "value": value,
        "axis": axis,
    }
    name = sources[-1].name if title is None else title
    if by is None:
        arguments = _arguments(sources, **options)
        return report(arguments.pop("truth"), title=name, script=script, **arguments)
    if detectors_file is not None:
        raise InputError(expected("one file with everything beside `by`", "two files"))
    groups = {
        str(key): _arguments([Source(sources[0].name, table)], **options)
        for key, table in _groups(sources[0], by)
    }
    return report_batch(groups, title=name, script=script)


def _arguments(
    sources: list[Source],
    *,
    truth: str | None,
    predicted: Sequence[str],
    scores: Sequence[str],
    time: str | None,
    value: str | None,
    axis: dict[str, Any],
) -> dict[str, Any]:
    """Take the columns that `report` is called with."""
    detectors = sources[-1]
    actual = read_side(sources[0], "truth", truth, time=time, shared=len(sources) == 1)
    return {
        "truth": actual,
        "predicted": {name: detectors.column(name, "predicted") for name in predicted} or None,
        "scores": {name: detectors.column(name, "score") for name in scores} or None,
        "times": read_sample_times(sources, time, actual),
        "values": None if value is None else detectors.column(value, "value"),
        **axis,
    }


def _groups(source: Source, by: str) -> list[tuple[Any, pa.Table]]:
    """Split a table by a column, each group in the order of its rows."""
    column = source.column(by, "by")
    compute = arrow("pyarrow.compute")
    keys = compute.unique(column)
    return [(key.as_py(), source.table.filter(compute.equal(column, key))) for key in keys]

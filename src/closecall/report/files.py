"""The explorer straight from a table: one series, or one for each value of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.frames import read_table
from closecall.frames.files import arrow, shown_name
from closecall.frames.sides import Source, read_values
from closecall.report.batch import report_batch
from closecall.report.explorer import report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa

    from closecall.report.page import Script
    from closecall.report.result import Report


def report_file(
    data: str | PathLike[str],
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
    r"""Build the explorer of a CSV or Parquet file.

    Parameters
    ----------
    data
        A path as `closecall.frames.read_table` takes it.
    truth
        The column of 0/1 labels; by default a column called ``truth``.
    predicted, scores
        Columns of 0/1 predictions and of scores; each is a detector.
    time, value
        Columns of times and of the series itself.
    by
        A column whose values tell series apart; the page is then that of `report_batch`.
    title, script
        As in `report`; by default the title is the file's name.
    axis
        ``end`` and ``span``, as in `closecall.affiliation`.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path("scores.csv").write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> report_file("scores.csv", scores=["score"], script="cdn")
    Report('scores.csv', detectors: score; 0.1 MB)
    """
    source = Source(shown_name(data), read_table(data))
    options: dict[str, Any] = {
        "truth": truth,
        "predicted": predicted,
        "scores": scores,
        "time": time,
        "value": value,
        "axis": axis,
    }
    name = source.name if title is None else title
    if by is None:
        arguments = _arguments(source, **options)
        return report(arguments.pop("truth"), title=name, script=script, **arguments)
    groups = {
        str(key): _arguments(Source(source.name, table), **options)
        for key, table in _groups(source, by)
    }
    return report_batch(groups, title=name, script=script)


def _arguments(
    source: Source,
    *,
    truth: str | None,
    predicted: Sequence[str],
    scores: Sequence[str],
    time: str | None,
    value: str | None,
    axis: dict[str, Any],
) -> dict[str, Any]:
    """Take the columns that `report` is called with."""
    return {
        "truth": read_values(source, "truth", truth, time=time, shared=True),
        "predicted": {name: source.column(name, "predicted") for name in predicted} or None,
        "scores": {name: source.column(name, "score") for name in scores} or None,
        "times": None if time is None else source.times(time, "time"),
        "values": None if value is None else source.column(value, "value"),
        **axis,
    }


def _groups(source: Source, by: str) -> list[tuple[Any, pa.Table]]:
    """Split a table by a column, each group in the order of its rows."""
    column = source.column(by, "by")
    compute = arrow("pyarrow.compute")
    keys = compute.unique(column)
    return [(key.as_py(), source.table.filter(compute.equal(column, key))) for key in keys]

"""Open whatever holds the rows: a dataframe, a file, a glob, or a folder."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from closecall.errors import InputError, expected
from closecall.tables.reading import arrow
from closecall.tables.sources.csv import csv_source
from closecall.tables.sources.dataframes import dataframe_source
from closecall.tables.sources.parquet import parquet_source
from closecall.tables.sources.paths import files_name, is_parquet, list_files

if TYPE_CHECKING:
    from closecall.tables.batch.question import Question
    from closecall.tables.sources.source import Source
    from closecall.tables.sources.unit import UnitSize


def open_source(data: Any, question: Question, *, size: UnitSize | None = None) -> Source:
    """Open a table or files, to be read in units of whole series.

    Parameters
    ----------
    data
        A pandas, polars (eager or lazy), pyarrow, DuckDB or Dask frame; the path of a Parquet or
        CSV file, a glob, a folder (with hive partitions or without), or a list of these.
    question
        Which columns are asked for.
    size
        How many values a unit has.

    Returns
    -------
    Source
        The kind of table it came as, its fingerprint, and its units.

    Raises
    ------
    InputError
        A file or a column is missing, or a file cannot be read.
    InputTypeError
        `data` is nothing of the above.
    MissingExtraError
        pyarrow is not installed; or the rows of the series lie apart in a large file, and DuckDB
        is not installed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from closecall.tables.batch.question import Question
    >>> table = pa.table({"series": ["a", "a", "b"], "label": [0, 1, 1], "score": [0.1, 0.9, 0.8]})
    >>> source = open_source(table, Question.ask(by="series", truth="label", score="score"))
    >>> [unit] = source.units()
    >>> [(key, rows.num_rows) for key, rows in unit.groups()]
    [(('a',), 2), (('b',), 1)]
    """
    arrow("pyarrow")
    if not isinstance(data, (str, PathLike, list, tuple)):
        return dataframe_source(data, question, size)
    files = list_files(data)
    name = files_name(files, data)
    kinds = [is_parquet(file) for file in files]
    if all(kinds):
        return parquet_source(files, question, name=name, size=size)
    if any(kinds):
        raise InputError(
            expected(
                f"the files of {name} to be of one kind",
                f"{files[0].path} and {files[kinds.index(not kinds[0])].path}",
                "Pass a glob, such as 'folder/*.parquet'.",
            )
        )
    return csv_source(files, question, name=name, size=size)

"""Score one or two tables: labels in columns, or lists of events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from closecall.affiliation import Affiliation, affiliation
from closecall.tables.arguments import arguments_of_files, arguments_of_tables

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa


def score_files(
    truth_file: str | PathLike[str],
    predicted_file: str | PathLike[str] | None = None,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    zero_division: float = math.nan,
) -> Affiliation:
    r"""Score predictions against the truth, straight from CSV or Parquet files.

    Parameters
    ----------
    truth_file, predicted_file
        Paths as `read_table` takes them; without the second, the first holds both sides.
    truth, predicted
        What to compare: a column of 0/1 labels, or ``START,STOP`` for two columns that list
        events (the same column twice lists points). By default a column called ``truth`` or
        ``predicted``, else the columns ``start`` and ``stop``, else the file's only column.
    time
        The column of times that goes with the labels, in either file; in both, they must agree.
    end
        The time that follows the last sample; needed where times are not evenly spaced.
    span
        Start and stop of the whole series; needed with lists of events.
    zero_division
        What to count for an undefined precision, as in `closecall.affiliation`.

    Returns
    -------
    Affiliation
        What `closecall.affiliation` returns: scores in 0..1, higher is better.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("truth,predicted\n0,0\n1,0\n1,1\n0,0\n")
    >>> score_files(path).precision
    1.0
    """
    arguments = arguments_of_files(
        truth_file,
        predicted_file,
        truth=truth,
        predicted=predicted,
        time=time,
        end=end,
        span=span,
    )
    return affiliation(**arguments, zero_division=zero_division)


def score_tables(
    truth_table: pa.Table,
    predicted_table: pa.Table | None = None,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    zero_division: float = math.nan,
    names: tuple[str, str] = ("the truth table", "the predicted table"),
) -> Affiliation:
    """Score predictions against the truth from one or two Arrow tables.

    The columns and options are those of `score_files`. Where one side is a list of events and the
    other a column of labels, the labels become events on their times first.

    Parameters
    ----------
    truth_table, predicted_table
        The tables; without the second, the first holds both sides.
    truth, predicted, time
        Names of columns.
    end, span, zero_division
        As in `closecall.affiliation`.
    names
        What messages call the two tables.

    Examples
    --------
    >>> import pyarrow as pa
    >>> incidents = pa.table({"start": [10], "stop": [20]})
    >>> alarms = pa.table({"at": [12, 18]})
    >>> score_tables(incidents, alarms, predicted="at,at", span=(0, 100)).precision
    1.0
    """
    arguments = arguments_of_tables(
        truth_table,
        predicted_table,
        truth=truth,
        predicted=predicted,
        time=time,
        end=end,
        span=span,
        names=names,
    )
    return affiliation(**arguments, zero_division=zero_division)

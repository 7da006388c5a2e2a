"""Score one or two tables: labels in columns, or lists of events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from closecall.affiliation import Affiliation, affiliation
from closecall.errors import InputTypeError, expected
from closecall.events import Events
from closecall.frames.files import read_table, shown_name
from closecall.frames.sides import (
    both_sources,
    read_side,
    read_times,
    refuse_standard_input_twice,
)

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
    refuse_standard_input_twice(truth_file, predicted_file)
    return score_tables(
        read_table(truth_file),
        None if predicted_file is None else read_table(predicted_file),
        truth=truth,
        predicted=predicted,
        time=time,
        end=end,
        span=span,
        zero_division=zero_division,
        names=(shown_name(truth_file), shown_name(predicted_file or "")),
    )


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
    sources = both_sources(truth_table, predicted_table, names)
    shared = predicted_table is None
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    claimed = read_side(sources[-1], "predicted", predicted, time=time, shared=shared)
    if span is None and (isinstance(actual, Events) or isinstance(claimed, Events)):
        raise InputTypeError(
            expected(
                "`span` with a list of events",
                "none",
                "Say where the whole series starts and stops: `span=(start, stop)` in Python, "
                "`--span START STOP` on the command line.",
            )
        )
    times = None if time is None else read_times(sources, time)
    if isinstance(actual, Events) != isinstance(claimed, Events):
        actual, claimed = (
            side if isinstance(side, Events) else Events.from_labels(side, times=times, end=end)
            for side in (actual, claimed)
        )
        times = end = None
    return affiliation(
        actual, claimed, times=times, end=end, span=span, zero_division=zero_division
    )

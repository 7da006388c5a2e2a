"""Compare several columns of detectors straight from tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from closecall.compare import Comparison, compare
from closecall.errors import InputError, expected
from closecall.tables.files import read_table, shown_name
from closecall.tables.sides import (
    Source,
    both_sources,
    read_sample_times,
    read_side,
    read_values,
    refuse_standard_input_twice,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

_FEWEST = 2


def compare_files(
    truth_file: str | PathLike[str],
    detectors_file: str | PathLike[str] | None = None,
    *,
    truth: str | None = None,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    decimals: int | None = None,
) -> Comparison:
    r"""Compare detectors event by event, straight from CSV or Parquet files.

    Parameters
    ----------
    truth_file, detectors_file
        Paths as `read_table` takes them; without the second, the first holds everything.
    truth
        A column of 0/1 labels, or ``START,STOP`` for two columns that list events. By default as
        in `score_files`.
    predicted
        Columns of 0/1 labels, one for each detector, which goes by the column's name.
    scores
        Columns of scores, higher is more anomalous, one for each further detector.
    thresholds
        Thresholds by column of scores; the best F1 of a detector decides where none is given.
    time
        The column of times, in either file; needed with a list of events.
    end
        The time that follows the last sample; needed where times are not evenly spaced.
    span
        Start and stop of the whole series; by default that of the samples.
    decimals
        To how many decimals scores are rounded before they are compared.

    Returns
    -------
    Comparison
        What `closecall.compare` returns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.csv"
    >>> _ = path.write_text("truth,mine,theirs\n0,0,0\n1,1,0\n1,1,1\n0,0,0\n")
    >>> compare_files(path, predicted=["mine", "theirs"]).best
    (('mine',),)
    """
    refuse_standard_input_twice(truth_file, detectors_file)
    return compare_tables(
        read_table(truth_file),
        None if detectors_file is None else read_table(detectors_file),
        truth=truth,
        predicted=predicted,
        scores=scores,
        thresholds=thresholds,
        time=time,
        end=end,
        span=span,
        decimals=decimals,
        names=(shown_name(truth_file), shown_name(detectors_file or "")),
    )


def compare_tables(
    truth_table: pa.Table,
    detectors_table: pa.Table | None = None,
    *,
    truth: str | None = None,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    decimals: int | None = None,
    names: tuple[str, str] = ("the truth table", "the detectors table"),
) -> Comparison:
    """Compare detectors event by event, from one or two Arrow tables.

    The columns and options are those of `compare_files`.

    Parameters
    ----------
    truth_table, detectors_table
        The tables; without the second, the first holds everything.
    truth, predicted, scores, thresholds, time
        Names of columns.
    end, span, decimals
        As in `closecall.compare`.
    names
        What messages call the two tables.

    Examples
    --------
    >>> import pyarrow as pa
    >>> incidents = pa.table({"start": [1], "stop": [3]})
    >>> detectors = pa.table({"t": [0, 1, 2, 3], "mine": [0, 1, 1, 0], "score": [0, 7, 8, 9]})
    >>> compared = compare_tables(
    ...     incidents, detectors, predicted=["mine"], scores=["score"], time="t"
    ... )
    >>> compared.best, compared.thresholds["score"]
    ((('mine',),), 7)
    """
    sources = both_sources(truth_table, detectors_table, names)
    _require_rivals(sources[-1], [*predicted, *scores])
    shared = detectors_table is None
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    times = read_sample_times(sources, time, actual)
    options: dict[str, Any] = {"time": time, "shared": shared}
    return compare(
        actual,
        {name: read_values(sources[-1], "predicted", name, **options) for name in predicted},
        scores={name: read_values(sources[-1], "score", name, **options) for name in scores},
        thresholds=thresholds,
        times=times,
        end=end,
        span=span,
        decimals=decimals,
    )


def _require_rivals(source: Source, columns: list[str]) -> None:
    """Refuse fewer than two detectors, and a column that is named twice."""
    listing = f"The columns of {source.name} are: {', '.join(source.columns)}."
    if len(columns) < _FEWEST:
        got = f"only {columns[0]!r}" if columns else "none"
        raise InputError(expected("columns of at least two detectors to compare", got, listing))
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise InputError(
            expected("each detector's column to be named once", f"{name!r} {count} times", listing)
        )

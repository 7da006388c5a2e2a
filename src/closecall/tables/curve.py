"""Score every threshold straight from tables, and lay the curve out as rows."""

from __future__ import annotations

from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import AffiliationCurve, affiliation_curve
from closecall.tables.files import read_table, shown_name
from closecall.tables.sides import (
    both_sources,
    read_sample_times,
    read_side,
    read_values,
    refuse_standard_input_twice,
)

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa
    from numpy.typing import NDArray

    from closecall.affiliation.thresholds import OperatingPoint

_SECONDS_PER_DAY = 86_400


def curve_files(
    truth_file: str | PathLike[str],
    scores_file: str | PathLike[str] | None = None,
    *,
    truth: str | None = None,
    score: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
) -> AffiliationCurve:
    r"""Score a detector at every threshold, straight from CSV or Parquet files.

    Parameters
    ----------
    truth_file, scores_file
        Paths as `read_table` takes them; without the second, the first holds both sides.
    truth
        A column of 0/1 labels, or ``START,STOP`` for two columns that list events. By default
        as in `score_files`.
    score
        The column of scores, higher is more anomalous. By default a column called ``score``,
        else the only column of `scores_file` beside the times.
    time
        The column of times, in either file; needed with a list of events.
    end
        The time that follows the last sample; needed where times are not evenly spaced.
    span
        Start and stop of the whole series; by default that of the samples.

    Returns
    -------
    AffiliationCurve
        What `closecall.affiliation_curve` returns: scores in 0..1, higher is better.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> curve_files(path).best()
    OperatingPoint(threshold=0.7, precision=1.000, recall=1.000, f1=1.000, alarms=1)
    """
    refuse_standard_input_twice(truth_file, scores_file)
    return curve_tables(
        read_table(truth_file),
        None if scores_file is None else read_table(scores_file),
        truth=truth,
        score=score,
        time=time,
        end=end,
        span=span,
        names=(shown_name(truth_file), shown_name(scores_file or "")),
    )


def curve_tables(
    truth_table: pa.Table,
    scores_table: pa.Table | None = None,
    *,
    truth: str | None = None,
    score: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    names: tuple[str, str] = ("the truth table", "the scores table"),
) -> AffiliationCurve:
    """Score a detector at every threshold from one or two Arrow tables.

    The columns and options are those of `curve_files`.

    Parameters
    ----------
    truth_table, scores_table
        The tables; without the second, the first holds both sides.
    truth, score, time
        Names of columns.
    end, span
        As in `closecall.affiliation_curve`.
    names
        What messages call the two tables.

    Examples
    --------
    >>> import pyarrow as pa
    >>> incidents = pa.table({"start": [1], "stop": [3]})
    >>> detector = pa.table({"t": [0, 1, 2, 3], "score": [0.1, 0.7, 0.9, 0.2]})
    >>> curve_tables(incidents, detector, time="t")
    AffiliationCurve(4 thresholds, average_precision=1.000, best f1=1.000 at 0.7)
    """
    sources = both_sources(truth_table, scores_table, names)
    shared = scores_table is None
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    scores = read_values(sources[-1], "score", score, time=time, shared=shared)
    times = read_sample_times(sources, time, actual)
    return affiliation_curve(actual, scores, times=times, end=end, span=span)


def curve_columns(
    curve: AffiliationCurve, *, points: int | None = 200, chosen: OperatingPoint | None = None
) -> dict[str, NDArray[Any]]:
    """Lay the curve out as columns: threshold, precision, recall, f1 and alarms.

    Parameters
    ----------
    curve
        What `closecall.affiliation_curve` returns.
    points
        About how many exact points to take, evenly spread along the curve; None takes all.
    chosen
        A point of the curve that must be among them.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> curve_columns(c, points=2)["threshold"]
    array([0.9, 0.1])
    """
    rows = slice(None) if points is None else outline_with(curve, points, chosen)
    # Written in float32, 0.7 would read back as a number above the score it stands for.
    wide = np.float64 if curve.thresholds.dtype.kind == "f" else curve.thresholds.dtype
    return {
        "threshold": curve.thresholds[rows].astype(wide),
        "precision": curve.precision[rows],
        "recall": curve.recall[rows],
        "f1": curve.f1[rows],
        "alarms": curve.alarms[rows],
    }


def outline_with(
    curve: AffiliationCurve, points: int, chosen: OperatingPoint | None
) -> NDArray[np.int64]:
    """Choose indices that draw the curve, the chosen point among them."""
    rows = curve.outline(points)
    if chosen is None:
        return rows
    return np.union1d(rows, np.flatnonzero(curve.thresholds == chosen.threshold))


def alarm_rate(curve: AffiliationCurve, alarms: int) -> float:
    """Return the alarms per day of a datetime axis, or per one unit of a numeric one.

    Examples
    --------
    >>> import closecall as cc
    >>> alarm_rate(cc.affiliation_curve([0, 1, 0, 0], [0, 1, 0, 1]), 2)
    0.5
    """
    pair = curve.scored
    whole = pair.stop - pair.start
    if pair.clock.kind == "datetime":
        return alarms / (whole * pair.clock.seconds / _SECONDS_PER_DAY)
    return alarms / whole


def curve_report(
    curve: AffiliationCurve, chosen: OperatingPoint, *, points: int | None = 200
) -> dict[str, Any]:
    """Give the curve, and each event's scores at the chosen threshold, as plain JSON values.

    To what `AffiliationCurve.to_dict` gives, ``chosen`` adds the chosen point, how often it
    alarms, and what `Affiliation.to_dict` gives there.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 0, 1, 1, 0, 0], [0.1, 0.6, 0.9, 0.4, 0.1, 0.2])
    >>> chosen = curve_report(c, c.best(min_recall=0.99))["chosen"]
    >>> chosen["threshold"], chosen["events"][0]["recall"]
    (0.4, 1.0)
    """
    columns = curve_columns(curve, points=points, chosen=chosen)
    plain = {name: column.tolist() for name, column in columns.items()}
    thresholds = [_json_number(value) for value in plain.pop("threshold")]
    dated = curve.scored.clock.kind == "datetime"
    return {
        **curve.to_dict(points=1),
        "curve": {"thresholds": thresholds, **plain},
        "chosen": {
            **asdict(chosen),
            "threshold": _json_number(chosen.threshold),
            f"alarms_per_{'day' if dated else 'unit'}": alarm_rate(curve, chosen.alarms),
            **curve.at(chosen.threshold).to_dict(),
        },
    }


def _json_number(value: float) -> float | str:
    return str(value) if isinf(value) else value

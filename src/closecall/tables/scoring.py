"""Score, sweep and compare detectors straight from files and Arrow tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from decimal import ROUND_FLOOR, Context, Decimal
from math import floor, inf, isinf, isnan, log10, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation import (
    Affiliation,
    AffiliationCurve,
    OperatingPoint,
    affiliation,
    affiliation_curve,
)
from closecall.errors import InputError, InputTypeError, expected, shown
from closecall.parameters import read_names, require_count
from closecall.tables.reading import MEMORY
from closecall.tables.roles import (
    EvaluatedTime,
    Source,
    affiliation_arguments,
    axis_arguments,
    curve_arguments,
    read_side,
    read_sources,
    with_nan,
)
from closecall.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from closecall.compare import Comparison
    from closecall.tables.roles import File

_SECONDS_PER_DAY = 86_400
_SHORT = 8  # significant digits of a threshold that need no shortening
_FEWEST_DIGITS, _MOST_DIGITS = 4, 17  # significant digits of one that is shortened
_FEWEST_DETECTORS = 2


def score_files(
    truth_file: File,
    predicted_file: File | None = None,
    *,
    truth: str | None = None,
    predicted: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    ignore: str | PathLike[str] | None = None,
    since: Any = None,
    until: Any = None,
    max_step: Any = None,
    point_length: Any = None,
    zero_division: float = nan,
    encoding: str = "utf-8",
    memory: float = MEMORY,
) -> Affiliation:
    r"""Score predictions against the truth, straight from CSV or Parquet files or Arrow tables.

    Parameters
    ----------
    truth_file, predicted_file
        Paths as `read_table` takes them, or Arrow tables; without the second, the first holds
        both sides.
    truth, predicted
        What to compare: a column of 0/1 labels, or ``START,STOP`` for two columns that list
        events (the same column twice lists points). By default a column called ``truth`` or
        ``predicted``, else the columns ``start`` and ``stop``, else the file's only column.
        One side may be a list and the other labels.
    time
        The column of times that goes with the labels, in either file; in both, they must agree.
    end
        The time that follows the last sample; needed where times are not evenly spaced.
    span
        Start and stop of the whole series; needed with lists of events.
    ignore
        Time that does not count: a column of 0/1 labels, or a file with the columns ``start`` and
        ``stop``, in any order.
    since, until
        Ignore everything before the one, and from the other on.
    max_step
        How long a sample lasts at most; what is left of a longer step is ignored.
    point_length, zero_division
        A length for points, and what to count for an undefined precision, as in
        `closecall.affiliation`.
    encoding, memory
        How the text of CSV files is encoded, and how many gigabytes each file may take with what
        is computed from it, as in `read_table`.

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
    >>> import pyarrow as pa
    >>> incidents = pa.table({"start": [10], "stop": [20]})
    >>> alarms = pa.table({"at": [12, 18]})
    >>> score_files(incidents, alarms, predicted="at,at", span=(0, 100)).headline
    '1 of 1 caught, median delay 2, no false alarms'
    """
    evaluated = EvaluatedTime(
        ignore=ignore, since=since, until=until, max_step=max_step, encoding=encoding
    )
    columns = {"truth": truth, "predicted": predicted, "time": time}
    sources = read_sources(truth_file, predicted_file, encoding=encoding, memory=memory)
    arguments = affiliation_arguments(sources, **columns, end=end, span=span, evaluated=evaluated)
    return affiliation(**arguments, point_length=point_length, zero_division=zero_division)


def curve_files(
    truth_file: File,
    scores_file: File | None = None,
    *,
    truth: str | None = None,
    score: str | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    ignore: str | PathLike[str] | None = None,
    since: Any = None,
    until: Any = None,
    max_step: Any = None,
    nan: Literal["raise", "ignore"] = "raise",
    encoding: str = "utf-8",
    memory: float = MEMORY,
) -> AffiliationCurve:
    r"""Score a detector at every threshold, straight from CSV or Parquet files or Arrow tables.

    Parameters
    ----------
    truth_file, scores_file
        Paths as `read_table` takes them, or Arrow tables; without the second, the first holds
        both sides.
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
    ignore, since, until, max_step
        Time that does not count, as in `score_files`.
    nan
        What to do with samples without a score: ``"raise"``, or ``"ignore"`` their time.
    encoding, memory
        As in `score_files`.

    Returns
    -------
    AffiliationCurve
        What `closecall.affiliation_curve` returns: scores in 0..1, higher is better.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> curve_files(path)
    AffiliationCurve(4 thresholds, average_precision=1.000, best f1=1.000 at 0.7)
    """
    evaluated = EvaluatedTime(
        ignore=ignore, since=since, until=until, max_step=max_step, encoding=encoding
    )
    arguments = curve_arguments(
        read_sources(truth_file, scores_file, encoding=encoding, memory=memory),
        truth=truth,
        score=score,
        time=time,
        end=end,
        span=span,
        evaluated=evaluated,
        nan=nan,
    )
    return affiliation_curve(**arguments)


def curve_columns(
    curve: AffiliationCurve, *, points: int | None = 200, chosen: OperatingPoint | None = None
) -> dict[str, NDArray[Any]]:
    """Lay the curve out as columns: the threshold, the scores, and what is caught and alarmed.

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
    _require_curve(curve, chosen)
    rows = slice(None) if points is None else outline_with(curve, points, chosen)
    # Written in float32, 0.7 would read back as a number above the score it stands for.
    wide = np.float64 if curve.thresholds.dtype.kind == "f" else curve.thresholds.dtype
    return {
        "threshold": curve.thresholds[rows].astype(wide),
        "precision": curve.precision[rows],
        "recall": curve.recall[rows],
        "f1": curve.f1[rows],
        "caught": curve.caught[rows],
        "alarms": curve.alarms[rows],
        "false_alarms": curve.false_alarms[rows],
        "alarmed": curve.alarmed[rows],
    }


def _require_curve(curve: Any, chosen: Any = None) -> None:
    if not isinstance(curve, AffiliationCurve):
        rule = "`curve` to be what `closecall.affiliation_curve` returns"
        raise InputTypeError(expected(rule, shown(curve)))
    if chosen is not None and not isinstance(chosen, OperatingPoint):
        rule = "`chosen` to be what `AffiliationCurve.best` returns"
        raise InputTypeError(expected(rule, shown(chosen)))


def outline_with(
    curve: AffiliationCurve, points: int, chosen: OperatingPoint | None
) -> NDArray[np.int64]:
    """Choose indices that draw the curve, the point with the chosen alarms among them."""
    rows = curve.outline(points)
    if chosen is None:
        return rows
    return np.union1d(rows, same_alarms(curve, chosen.threshold))


def same_alarms(curve: AffiliationCurve, threshold: float) -> NDArray[np.int64]:
    """Return the index of the point that predicts what the threshold does; none if it does not.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 1, 0], [0.1, 0.5, 0.3])
    >>> same_alarms(c, 0.4), same_alarms(c, 0.6)
    (array([0]), array([], dtype=int64))
    """
    return np.flatnonzero(curve.thresholds >= threshold)[-1:]


def alarm_rate(curve: AffiliationCurve, alarms: int) -> float:
    """Return the alarms per day of a datetime axis, or per one unit of a numeric one.

    Examples
    --------
    >>> import closecall as cc
    >>> alarm_rate(cc.affiliation_curve([0, 1, 0, 0], [0, 1, 0, 1]), 2)
    0.5
    """
    _require_curve(curve)
    require_count(alarms, "alarms", 0, curve.scored.all_scores.size)
    pair = curve.scored
    whole = pair.stop - pair.start
    if pair.clock.kind == "datetime":
        return alarms / (whole * pair.clock.seconds / _SECONDS_PER_DAY)
    return alarms / whole


def curve_report(
    curve: AffiliationCurve, chosen: OperatingPoint, *, points: int | None = 200
) -> dict[str, Any]:
    """Return the curve, and each event's scores at the chosen threshold, as plain JSON values.

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
    if chosen is None:
        raise InputTypeError(
            expected("`chosen` to be what `AffiliationCurve.best` returns", "None")
        )
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
            "fbeta": None if isnan(chosen.fbeta) else chosen.fbeta,
            f"alarms_per_{'day' if dated else 'unit'}": alarm_rate(curve, chosen.alarms),
            **curve.at(chosen.threshold).to_dict(),
        },
    }


def _json_number(value: float) -> float | str:
    return str(value) if isinf(value) else value


def compare_files(
    truth_file: File,
    detectors_file: File | None = None,
    *,
    truth: str | None = None,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    time: str | None = None,
    end: Any = None,
    span: tuple[Any, Any] | None = None,
    ignore: str | PathLike[str] | None = None,
    since: Any = None,
    until: Any = None,
    max_step: Any = None,
    nan: Literal["raise", "ignore"] = "raise",
    decimals: int | None = None,
    encoding: str = "utf-8",
    memory: float = MEMORY,
) -> Comparison:
    r"""Compare detectors event by event, straight from CSV or Parquet files or Arrow tables.

    Parameters
    ----------
    truth_file, detectors_file
        Paths as `read_table` takes them, or Arrow tables; without the second, the first holds
        everything.
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
    ignore, since, until, max_step
        Time that does not count, as in `score_files`.
    nan
        What to do with samples to which a detector gives no score: ``"raise"``, or ``"ignore"``
        their time for all detectors.
    decimals
        To how many decimals scores are rounded before they are compared.
    encoding, memory
        As in `score_files`.

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
    from closecall.compare import compare  # which a score does without

    sources = read_sources(truth_file, detectors_file, encoding=encoding, memory=memory)
    detectors, shared = sources[-1], len(sources) == 1
    predicted, scores = read_names(predicted, "predicted"), read_names(scores, "scores")
    _require_rivals(detectors, [*predicted, *scores])
    actual = read_side(sources[0], "truth", truth, time=time, shared=shared)
    labelled = {name: detectors.column(name, "predicted") for name in predicted}
    scored = {name: with_nan(detectors.column(name, "score")) for name in scores}
    evaluated = EvaluatedTime(
        ignore=ignore, since=since, until=until, max_step=max_step, encoding=encoding
    )
    column = next(iter((labelled | scored).values()))
    axis = axis_arguments(
        sources, column, actual, time=time, end=end, span=span, evaluated=evaluated
    )
    axis |= {"nan": nan, "decimals": decimals}
    return compare(actual, labelled, scores=scored, thresholds=thresholds, **axis)


def _require_rivals(source: Source, columns: list[str]) -> None:
    """Raise if there are fewer than two detectors, or a column is named twice."""
    listing = f"The columns of {source.name} are: {listed(source.columns)}."
    if len(columns) < _FEWEST_DETECTORS:
        got = f"only {columns[0]!r}" if columns else "none"
        raise InputError(expected("columns of at least two detectors to compare", got, listing))
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise InputError(
            expected("each detector's column to be named once", f"{name!r} {count} times", listing)
        )


def threshold_text(curve: AffiliationCurve, threshold: float) -> str:
    """Write one of the curve's thresholds so that it can be typed in and predicts the same.

    A long number is cut, downwards, as long as it stays above the next lower score.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.affiliation_curve([0, 1, 0], [0.1, 0.123456789, 1 / 3])
    >>> [threshold_text(c, threshold) for threshold in c.thresholds.tolist()]
    ['0.3333', '0.1234', '0.1']
    """
    short = f"{threshold:.{_SHORT}g}"
    if isinstance(threshold, int) or isinf(threshold) or float(short) == threshold:
        return str(threshold) if isinstance(threshold, int) else short
    ascending = curve.thresholds[::-1]
    lower = ascending[: np.searchsorted(ascending, threshold)]
    next_lower = float(lower[-1]) if lower.size else -inf
    whole_digits = floor(log10(abs(threshold))) + 1
    for digits in range(min(max(_FEWEST_DIGITS, whole_digits), _MOST_DIGITS), _MOST_DIGITS):
        down = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(threshold))
        text = f"{float(down):.{digits}g}"
        if next_lower < float(text) <= threshold:
            return text
    return repr(threshold)

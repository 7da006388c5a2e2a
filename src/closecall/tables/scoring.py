"""Score, sweep and compare detectors straight from files and Arrow tables."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from math import floor, inf, isinf, log10, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import (
    Affiliation,
    AffiliationCurve,
    OperatingPoint,
    affiliation,
    affiliation_curve,
)
from closecall.affiliation.rules import BEST_F1
from closecall.errors import InputTypeError, shown
from closecall.parameters import read_names, require_count
from closecall.tables.series import Inputs
from closecall.wording import json_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from closecall.affiliation.rules import ThresholdRule
    from closecall.compare import Comparison
    from closecall.tables.series import File, ReadingOptions, SeriesInput

_SECONDS_PER_DAY = 86_400
_SHORT = 8  # significant digits of a threshold that need no shortening
_FEWEST_DIGITS, _MOST_DIGITS = 4, 17  # significant digits of one that is shortened


def score_files(
    truth_file: File,
    predicted_file: File | None = None,
    *,
    predicted: str | None = None,
    point_length: Any = None,
    zero_division: float = nan,
    **inputs: Unpack[ReadingOptions],
) -> Affiliation:
    r"""Score predictions against the truth, straight from CSV or Parquet files or Arrow tables.

    Parameters
    ----------
    truth_file, predicted_file
        Paths as `read_table` takes them, or Arrow tables; without the second, the first holds
        both sides.
    predicted
        A column of 0/1 labels, or ``START,STOP`` for two columns that list events (the same column
        twice lists points). By default a column called ``predicted``, else the columns of an event
        list, else the file's only column.
    point_length, zero_division
        A length for points, and what to count for an undefined precision, as in
        `closecall.affiliation`.
    inputs
        The other options of `Inputs`: ``truth``, which is found as `predicted` is, ``time``,
        ``end``, ``span``, ``ignore``, ``since``, ``until``, ``max_step``, ``encoding`` and
        ``memory``.

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
    '1 of 1 caught (0.2 by chance), median delay 2, no false alarms'
    """
    series = Inputs((truth_file, predicted_file), **inputs).read([predicted])
    results, _ = score_series(series, point_length=point_length, zero_division=zero_division)
    return next(iter(results.values()))


def score_series(
    series: SeriesInput, rules: Mapping[str, ThresholdRule] | None = None, **options: Any
) -> tuple[dict[str, Affiliation], dict[str, Any]]:
    """Score every detector that was read; return the thresholds of those that gave scores."""
    read = series.detectors
    pairs, thresholds = dict(read.predicted), {}
    for name, scored in read.scored.items():
        thresholds[name] = (rules or {}).get(name, BEST_F1).choose(scored)
        pairs[name] = scored.at(thresholds[name])
    return {name: affiliation(pair, None, **options) for name, pair in pairs.items()}, thresholds


def curve_files(
    truth_file: File,
    scores_file: File | None = None,
    *,
    score: str | None = None,
    **inputs: Unpack[ReadingOptions],
) -> AffiliationCurve:
    r"""Score a detector at every threshold, straight from CSV or Parquet files or Arrow tables.

    Files and options are those of `score_files`, and ``nan``; `score` is the column of scores,
    higher is more anomalous: by default one called ``score``, else the only one of `scores_file`
    beside the times. Returns what `closecall.affiliation_curve` does: scores in 0..1, higher is
    better.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("truth,score\n0,0.1\n1,0.7\n1,0.9\n0,0.2\n")
    >>> curve_files(path)
    AffiliationCurve(4 thresholds, average_precision=1.000, best f1=1.000 at 0.7)
    """
    series = Inputs((truth_file, scores_file), **inputs).read(scores=[score])
    (scored,) = series.detectors.scored.values()
    return affiliation_curve(scored, None)


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
        raise InputTypeError(rule, shown(curve))
    if chosen is not None and not isinstance(chosen, OperatingPoint):
        rule = "`chosen` to be what `AffiliationCurve.best` returns"
        raise InputTypeError(rule, shown(chosen))


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
            "to be what `AffiliationCurve.best` returns", "None", argument="chosen"
        )
    columns = curve_columns(curve, points=points, chosen=chosen)
    plain = {name: column.tolist() for name, column in columns.items()}
    thresholds = [json_number(value) for value in plain.pop("threshold")]
    dated = curve.scored.clock.kind == "datetime"
    return {
        **curve.to_dict(points=1),
        "curve": {"thresholds": thresholds, **plain},
        "chosen": {
            **chosen.to_dict(),
            f"alarms_per_{'day' if dated else 'unit'}": alarm_rate(curve, chosen.alarms),
            **curve.at(chosen.threshold).to_dict(),
        },
    }


def compare_files(
    truth_file: File,
    detectors_file: File | None = None,
    *,
    predicted: Sequence[str] = (),
    scores: Sequence[str] = (),
    thresholds: Any = None,
    decimals: int | None = None,
    **inputs: Unpack[ReadingOptions],
) -> Comparison:
    r"""Compare detectors event by event, straight from CSV or Parquet files or Arrow tables.

    Files and options are those of `score_files`, and ``nan``: samples to which a detector gives no
    score are ignored for all detectors. `predicted` and `scores` name a column for each detector,
    which goes by that name; `thresholds` and `decimals` are those of `closecall.compare`, which
    says what is returned.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.csv"
    >>> _ = path.write_text("truth,mine,theirs\n0,0,0\n1,1,0\n1,1,1\n0,0,0\n")
    >>> compare_files(path, predicted=["mine", "theirs"]).best
    (('mine',),)
    """
    from closecall.compare import compare  # which a score does without

    names = read_names(predicted, "predicted"), read_names(scores, "scores")
    series = Inputs((truth_file, detectors_file), **inputs).read(*names, fewest=2)
    options = {"close": series.reading.close, "thresholds": thresholds, "decimals": decimals}
    return compare(**series.arguments, **options)


def threshold_text(curve: AffiliationCurve, threshold: float) -> str:
    """Write one of the curve's thresholds so that it can be typed in and predicts the same.

    A long number is cut, downwards, as long as it stays above the next lower score.

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

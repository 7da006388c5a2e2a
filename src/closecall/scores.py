"""Scores, one for each sample: what may be one, and what a threshold makes of them."""

from __future__ import annotations

import re
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import LARGEST
from closecall.columns import read_column
from closecall.errors import InputError, InputTypeError, shown
from closecall.parameters import is_number, require_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

NAN = ("raise", "ignore", "each")
"""What to do with samples without a score: raise, ignore their time, or ignore it for the detector
that has none, and not for the others."""
_NUMBERS = re.compile(
    "u?int|halffloat|float|double|null|decimal|dictionary<values=(u?int|float|double)"
).match  # types of Arrow


def read_scores(values: Any, name: str = "scores", *, nan: str = "raise") -> NDArray[Any]:
    """Read a vector of scores: float64, int64 or uint64; inf is legal, nan is told.

    What is missing in a list or a dataframe's column is nan. Kernels are compiled for each of these
    types, so that narrower ones, which they hold, become one.
    """
    scores = read_column(with_nan(values), name)[0]
    if scores.size == 0:
        raise InputError("to have at least one sample", "an empty vector", argument=name)
    kind = scores.dtype.kind
    if kind not in "iufb":
        raise InputTypeError("to be numbers", f"values of type {scores.dtype}", argument=name)
    if nan == "raise":
        require_scores(scores, name)
    if scores.dtype.kind in "biu" and scores.dtype.itemsize < 8:  # noqa: PLR2004 - bytes
        scores = scores.astype(np.int64)
    elif kind == "f" and scores.dtype.itemsize != 8:  # noqa: PLR2004 - bytes
        given = scores
        with np.errstate(over="ignore"):
            scores = given.astype(np.float64)
        rounded = (scores != given) & ~np.isnan(given)
        if rounded.any():
            rule, index = f"`{name}` to be exact as 64-bit floats", int(rounded.argmax())
            raise InputError(rule, str(given[index]), index=index)
    # Nobody writes into them; but kernels are compiled once more for what may not be written to.
    return np.require(scores, scores.dtype.newbyteorder("="), ["C", "W"])


def with_nan(values: Any) -> Any:
    """Turn numbers that are missing, as None or a dataframe has them, into nan."""
    if isinstance(values, (list, tuple)) or getattr(values, "dtype", None) == np.dtype(object):
        has_gaps = any(value is None for value in values)
        return [np.nan if value is None else value for value in values] if has_gaps else values
    if isinstance(values, (np.ndarray, range)):
        return values
    if type(values).__module__ == "pyarrow.lib":
        # What is no number is refused where it is read.
        numbers = getattr(values, "null_count", 0) and _NUMBERS(str(values.type))
        return values.cast("float64").fill_null(np.nan) if numbers else values
    return _known_or_nan(values)


def _known_or_nan(values: Any) -> Any:
    """Turn what is missing in a dataframe's column of numbers into nan."""
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not (isinstance(series, nw.Series) and series.dtype.is_numeric()):
        return values
    known = ~np.asarray(series.is_null().to_numpy(), dtype=bool)
    scores = np.full(known.size, np.nan)
    scores[known] = series.drop_nulls().to_numpy()
    return values if known.all() else scores


def require_scores(scores: NDArray[Any], name: str, kept: NDArray[np.bool_] | None = None) -> None:
    """Raise if a sample has no score, and is not ignored."""
    if _has_nan(scores):
        missing = np.isnan(scores) if kept is None else np.isnan(scores) & kept
        if missing.any():
            raise InputError(
                "to be numbers, or inf",
                "nan",
                argument=name,
                index=int(missing.argmax()),
                hint="Leave those samples out with `nan='ignore'`, or give them the lowest score "
                "if they are no alarm.",
            )


def _has_nan(scores: NDArray[Any]) -> bool:
    return scores.dtype.kind == "f" and bool(np.isnan(scores.max()))


def require_nan(nan: Any) -> None:
    """Raise unless it is said what to do with samples that have no score."""
    require_choice(nan, "nan", NAN)


def samples_without_score(
    columns: Mapping[str, NDArray[Any]], nan: str
) -> dict[str, NDArray[np.bool_]]:
    """Return the samples to ignore, by detector that has no score there."""
    if nan == "raise":
        return {}
    return {name: np.isnan(scores) for name, scores in columns.items() if _has_nan(scores)}


def predicted_at(scores: NDArray[Any], threshold: Any) -> NDArray[np.uint8]:
    """Return 1 where a score is at least the threshold, and 0 elsewhere."""
    require_threshold(threshold)
    # A bare float would be rounded to the precision of the scores, in numpy 1 any scalar, and
    # numpy compares integers exactly only with a bare Python integer.
    whole = isinstance(threshold, (int, np.integer)) and scores.dtype.kind in "iu"
    exact = int(threshold) if whole else np.array([_lowest_float(threshold)])
    labels: NDArray[np.uint8] = (scores >= exact).view(np.uint8)
    return labels


def plain_threshold(threshold: Any) -> float:
    """Return a threshold that can be told: an integer of 64 bits, or a float with the same alarms.

    >>> plain_threshold(3), plain_threshold(10**400)
    (3, inf)
    """
    if isinstance(threshold, (int, np.integer)) and abs(int(threshold)) <= LARGEST:
        return int(threshold)
    return float(_lowest_float(threshold))


def _lowest_float(threshold: Any) -> np.float64:
    """Return the lowest float that is at least a number."""
    try:
        number = float(threshold)
    except OverflowError:
        number = inf if threshold > 0 else -inf
    return np.float64(nextafter(number, inf) if number < threshold else number)


def require_threshold(threshold: Any, name: str = "threshold") -> None:
    """Raise if a threshold is not a number."""
    if not is_number(threshold) or threshold != threshold:  # noqa: PLR0124 - nan
        raise InputError("to be a number, or inf", shown(threshold), argument=name)

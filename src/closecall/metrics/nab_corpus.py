"""The score of a detector on a whole corpus, at the threshold that suits it best, as NAB has it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.metrics.nab import NabResult
from closecall.metrics.nab_profile import NabProfile, normalised, read_probation, read_profile
from closecall.metrics.nab_rows import Rows, read_rows, score_at
from closecall.metrics.nab_threshold import Totals, best_threshold, climbed_threshold
from closecall.parameters import read_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_THRESHOLD = "a number, or inf, and not nan; or 'climb', or None"


@dataclass(frozen=True, slots=True, repr=False)
class NabCorpusResult:
    """The NAB score of one detector on many series."""

    value: float
    """From 0 (no detection at all) to 100 (perfect), or below 0; nan without windows."""
    raw: float
    """The sum over the series."""
    threshold: float
    """Rows with at least this score are detections.

    If it is best to detect nothing it is inf, or nan where scores are inf.
    """
    series: dict[str, NabResult]
    """Each series at that threshold."""

    def values(self) -> dict[str, float]:
        """Give the numbers by name."""
        return {"value": self.value, "raw": self.raw, "threshold": self.threshold}

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value:.6g}" for name, value in self.values().items())
        return f"{type(self).__name__}({numbers}, series={len(self.series)})"


def nab_corpus(
    truth: Mapping[str, Any],
    scores: Mapping[str, Any],
    *,
    times: Mapping[str, Any] | None = None,
    profile: str | NabProfile = "standard",
    probation: float = 0.15,
    threshold: float | Literal["climb"] | None = None,
) -> NabCorpusResult:
    r"""Score a detector on a corpus as NAB does: one threshold for all series, the best there is.

    The raw scores of `nab` are added up over the series and normalised once,

    .. math:: \text{value} = 100\,\frac{\sum_s \text{raw}_s + A_{FN} W}{(A_{TP} + A_{FN})\,W}

    for W windows. At most 100, higher is better, nan without any window. Every threshold is tried
    in one pass over the sorted scores, O(N log N) for N rows; of equally good ones the highest is
    taken, as in NAB.

    Parameters
    ----------
    truth
        By name of the series: the windows as pairs (first, last) of its times, **both included**,
        as in NAB's ``combined_windows.json`` (whose texts become times with
        ``np.array(windows, "datetime64[us]")``). Without `times`: 0/1 labels, or `Events` of row
        numbers, half-open as everywhere else.
    scores
        By name: one anomaly score per row, higher is more anomalous.
    times
        By name: the time of each row, in the order of the file. They may repeat or go back, as
        some of NAB's do: rows count, times only say where the windows are. A window runs from the
        first row at (or after) its first time up to the first row at (or before) its last one.
    profile, probation
        As in `nab`.
    threshold
        Where scores count as detections: a number; None for the best of all; or ``"climb"`` for
        the one that the search finds by which NAB's published thresholds were found. It needs
        scores from 0 to 1, looks at some dozens of thresholds only, and may stop at one that is
        only better than those around it.

    Examples
    --------
    >>> from closecall import metrics
    >>> truth = {"a": [0, 0, 1, 1, 0], "b": [0, 0, 0, 0]}
    >>> scores = {"a": [0.1, 0.2, 0.9, 0.3, 0.1], "b": [0.5, 0.1, 0.1, 0.1]}
    >>> result = metrics.nab_corpus(truth, scores, probation=0)
    >>> result
    NabCorpusResult(value=100, raw=1, threshold=0.9, series=2)
    >>> metrics.nab_corpus(truth, scores, probation=0, threshold=0.5).series["b"]
    NabResult(value=nan, raw=-0.11, windows=0, detected=0)

    A climb from 0.5 that gains nothing nearby stays there, though 0.9 is better:

    >>> scores["b"] = [0.7, 0.1, 0.1, 0.1]
    >>> metrics.nab_corpus(truth, scores, probation=0, threshold="climb")
    NabCorpusResult(value=94.5, raw=0.89, threshold=0.5, series=2)
    """
    weights, share = read_profile(profile), read_probation(probation)
    _require_same_names(truth, scores, "scores")
    if times is not None:
        _require_same_names(truth, times, "times")
    corpus = {
        name: read_rows(name, truth[name], scores[name], None if times is None else times[name])
        for name in truth
    }
    return _score(corpus, weights, share, _threshold(threshold, corpus, weights, share))


def _threshold(wanted: Any, corpus: dict[str, Rows], weights: NabProfile, share: float) -> float:
    if wanted is None:
        return best_threshold(Totals.of(list(corpus.values()), weights, share))
    if isinstance(wanted, str) and wanted == "climb":
        for name, rows in corpus.items():
            _require_in_reach(name, rows.scores)
        return climbed_threshold(Totals.of(list(corpus.values()), weights, share))
    return _read_threshold(wanted)


def _score(
    corpus: dict[str, Rows], weights: NabProfile, share: float, threshold: float
) -> NabCorpusResult:
    series = {
        name: NabResult.of(score_at(rows, weights, share, threshold), weights)
        for name, rows in corpus.items()
    }
    raw = float(sum(result.raw for result in series.values()))
    windows = sum(result.windows for result in series.values())
    return NabCorpusResult(normalised(raw, windows, weights), raw, threshold, series)


def _read_threshold(value: Any) -> float:
    read_number(value, "threshold", _THRESHOLD, lambda x: not isnan(x))
    # Whole numbers stay whole, as the scores they are compared with may be.
    exact: float = value.item() if isinstance(value, np.number) else value
    return exact if isinstance(exact, int) else float(exact)


def _require_in_reach(name: str, scores: NDArray[Any]) -> None:
    outside = (scores < 0) | (scores > 1)
    if outside.any():
        index = int(outside.argmax())
        rule = f"`scores[{name!r}]` to be from 0 to 1 for `threshold='climb'`"
        hint = "Rescale the scores, or leave `threshold` out for the best of all."
        raise InputError(expected(rule, f"{scores[index]} at index {index}", hint))


def _require_same_names(truth: Any, other: Any, name: str) -> None:
    if not hasattr(truth, "keys") or not hasattr(other, "keys"):
        raise InputTypeError(
            expected(f"`truth` and `{name}` to be mappings by name of the series", "something else")
        )
    if not truth:
        raise InputError(expected("`truth` to have at least one series", "none"))
    odd = sorted(set(truth) ^ set(other), key=str)
    if odd:
        raise InputError(
            expected(f"`{name}` to have the same series as `truth`", f"{odd[0]!r} in one only")
        )

"""Numbers as the paper writes them."""

from __future__ import annotations

from math import isnan

from closecall.fscore import f_measure
from closecall.paper.result import Cell

_MINUTE = 60


def score(value: float) -> str:
    """Write a score with two decimals.

    Examples
    --------
    >>> score(0.2864), score(float("nan"))
    ('0.29', 'NaN')
    """
    return "NaN" if isnan(value) else f"{value:.2f}"


def scores(precision: float, recall: float, f1: float) -> str:
    """Write precision, recall and F1; the recall of an event without predictions is a bare 0.

    Examples
    --------
    >>> scores(0.857, 0.794, 0.825), scores(float("nan"), 0.0, float("nan"))
    ('0.86/0.79/0.82', 'NaN/0/NaN')
    """
    nothing = isnan(precision) and recall == 0
    return f"{score(precision)}/{'0' if nothing else score(recall)}/{score(f1)}"


def scores_cell(precision: float, recall: float, f1: float, published: str) -> Cell:
    """Set three scores beside the published ones, and explain an F1 of rounded numbers."""
    values = {"precision": precision, "recall": recall, "f1": f1}
    computed = scores(**values)
    return Cell(computed, published, _rounded_first(values, computed, published), values)


def _rounded_first(values: dict[str, float], computed: str, published: str) -> str:
    pair, _, f1 = computed.rpartition("/")
    published_pair, _, published_f1 = published.rpartition("/")
    if pair != published_pair or f1 == published_f1:
        return ""
    precision, recall = (float(part) for part in pair.split("/"))
    if score(float(f_measure(precision, recall))) != published_f1:
        return ""
    return (
        f"the published F1 is that of the rounded pair {pair}; "
        f"of the exact pair it is {values['f1']:.4f}"
    )


def length(seconds: float, published: str) -> str:
    """Write a length of time in seconds, or in minutes and seconds where the paper does.

    Examples
    --------
    >>> length(76.5, "76.5s"), length(690.0, "11min30s")
    ('76.5s', '11min30s')
    """
    if "min" not in published:
        return f"{_plain(seconds)}s"
    minutes, rest = divmod(seconds, _MINUTE)
    return f"{int(minutes)}min{_plain(rest)}s"


def clock(minutes: float) -> str:
    """Write minutes after 3:00 as a time of day.

    Examples
    --------
    >>> clock(30), clock(125)
    ('3:30', '5:05')
    """
    hours, rest = divmod(int(minutes), _MINUTE)
    return f"{3 + hours}:{rest:02}"


def _plain(value: float) -> str:
    return f"{round(value, 6):g}"

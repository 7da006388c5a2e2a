"""Classical precision and recall: time against time, each moment on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from closecall.errors import InputError, expected
from closecall.metrics.entry import Metric
from closecall.metrics.overlap import overlap_lengths
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.pair import read_pair, read_sample_pair

if TYPE_CHECKING:
    from closecall.pair import Pair


def classical(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    by: Literal["samples", "duration"] = "samples",
) -> PrecisionRecallResult:
    r"""Classical precision and recall, sample by sample.

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{TP + FN}

    Both in [0, 1], higher is better; nan without any prediction (precision) or truth (recall).

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    by
        What is counted for label vectors: ``"samples"``, or their ``"duration"`` on uneven
        times. Events are always counted by duration; on an integer axis that is the same.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.classical([0, 1, 1, 0], [0, 0, 1, 1])
    PrecisionRecallResult(precision=0.500, recall=0.500, f1=0.500)
    """
    if by not in ("samples", "duration"):
        raise InputError(expected("`by` to be 'samples' or 'duration'", repr(by)))
    read = read_sample_pair if by == "samples" else read_pair
    return _classical(read(truth, predicted, times=times, end=end, span=span))


def _classical(pair: Pair, *, by: str = "samples") -> PrecisionRecallResult:  # noqa: ARG001 - the pair says
    hit = float(overlap_lengths(pair.truth, pair.predicted).sum())
    true, found = (float((side.stops - side.starts).sum()) for side in (pair.truth, pair.predicted))
    return PrecisionRecallResult(ratio(hit, found), ratio(hit, true))


ENTRIES = (
    Metric(
        name="classical",
        function=classical,
        compute=_classical,
        family="pointwise",
        takes="labels",
        gives=("precision", "recall", "f1"),
        lowest=0.0,
        highest=1.0,
        higher_is_better=True,
        mainly_for="point",
        handles_adjacency=False,
        handles_durations=False,
        paper="the definition",
        counts_samples=True,
    ),
)

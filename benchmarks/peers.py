"""The peers that closecall is measured against, from the extra ``bench``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Intervals = list[tuple[Any, Any]]  # start and stop, numbers of one kind


class MissingPeerError(Exception):
    """A peer is not installed; the message is one line with the command that installs it."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"This benchmark needs {package}: run `pip install 'closecall[bench]'` first."
        )


class OfficialAffiliation:
    """The official affiliation code, as the package telemeval carries it unchanged."""

    _from_events: Callable[[Intervals, Intervals, tuple[int, int]], dict[str, Any]]
    _to_events: Callable[[Sequence[int]], Intervals]

    def __init__(self) -> None:
        try:
            module = import_module("telemeval.metrics.affiliation")
        except ImportError as error:
            raise MissingPeerError("telemeval") from error
        self._from_events = module.pr_from_events
        self._to_events = module.convert_vector_to_events

    def score_events(
        self, truth: Intervals, predicted: Intervals, span: tuple[int, int]
    ) -> dict[str, Any]:
        """Score lists of intervals, which is what the official code takes."""
        return self._from_events(predicted, truth, span)

    def score_vectors(self, truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
        """Score 0/1 vectors with the official conversion, which wants lists."""
        intervals = [self._to_events(labels.tolist()) for labels in (truth, predicted)]
        return self._from_events(intervals[1], intervals[0], (0, len(truth)))


class PointwiseCurve:
    """scikit-learn's precision-recall curve, which counts samples."""

    _curve: Callable[[NDArray[Any], NDArray[Any]], tuple[NDArray[Any], ...]]

    def __init__(self) -> None:
        try:
            self._curve = import_module("sklearn.metrics").precision_recall_curve
        except ImportError as error:
            raise MissingPeerError("scikit-learn") from error

    def score(self, truth: NDArray[Any], scores: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Return precision, recall and thresholds."""
        return self._curve(truth, scores)

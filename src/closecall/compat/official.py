"""The call and the dictionary of the paper's own implementation, affiliation-metrics-py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation
from closecall.errors import renamed
from closecall.events import Events

if TYPE_CHECKING:
    from collections.abc import Sequence

_THEIRS = {
    "truth": "events_gt",
    "predicted": "events_pred",
    "span": "Trange",
    "truth.merged()": "list(closecall.Events(events_gt).merged())",
    "predicted.merged()": "list(closecall.Events(events_pred).merged())",
}


def pr_from_events(
    events_pred: Sequence[tuple[Any, Any]],
    events_gt: Sequence[tuple[Any, Any]],
    Trange: tuple[Any, Any],
) -> dict[str, Any]:
    r"""Score events as ``affiliation.metrics.pr_from_events`` does, with the same keys.

    Equations 4 to 6 of the paper, as in `closecall.affiliation`, to which this is a door; the
    numbers agree with the official ones to 1e-12. Predictions come first here. The cost is
    O(n + m) instead of O(n m), points are allowed, and times may be datetimes.

    Parameters
    ----------
    events_pred, events_gt
        Predicted and true events, sorted and disjoint, as pairs of start and stop.
    Trange
        Start and stop of the whole series.

    Returns
    -------
    dict
        ``precision`` and ``recall`` in [0, 1], higher is better (precision is nan without any
        prediction), and lists with a number per true event:
        ``individual_precision_probabilities``, ``individual_recall_probabilities``,
        ``individual_precision_distances`` (nan where nothing is predicted) and
        ``individual_recall_distances`` (inf there). Distances on datetimes are in seconds.

    Examples
    --------
    >>> from closecall.compat import pr_from_events
    >>> scores = pr_from_events([(4, 5), (8, 9)], [(3, 4), (7, 10)], (0, 10))
    >>> scores["individual_precision_distances"]
    [0.5, 0.0]
    """
    with renamed(_THEIRS):
        with renamed({"intervals": "events_gt"}):
            truth = Events(events_gt)
        with renamed({"intervals": "events_pred"}):
            predicted = Events(events_pred)
        result = affiliation(truth, predicted, span=Trange)
    events = result.events
    return {
        "precision": result.precision,
        "recall": result.recall,
        "individual_precision_probabilities": events.precision.tolist(),
        "individual_recall_probabilities": events.recall.tolist(),
        "individual_precision_distances": _numbers(events.precision_distance, np.nan),
        "individual_recall_distances": _numbers(events.recall_distance, np.inf),
    }


def _numbers(distances: Any, undefined: float) -> list[float]:
    if distances.dtype.kind == "m":
        distances = np.where(np.isnat(distances), undefined, distances / np.timedelta64(1, "s"))
    numbers: list[float] = distances.tolist()
    return numbers

"""The call and the dictionary of the paper's own implementation, affiliation-metrics-py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation
from closecall.errors import InputError, InputTypeError, renamed
from closecall.events import Events

if TYPE_CHECKING:
    from collections.abc import Sequence

_THEIRS = {
    "truth": "events_gt",
    "predicted": "events_pred",
    "span": "Trange",
    "span=(start, stop)": "Trange=(start, stop)",
    "truth.merged()": "list(closecall.Events(events_gt).merged())",
    "predicted.merged()": "list(closecall.Events(events_pred).merged())",
}


def pr_from_events(
    events_pred: Sequence[tuple[Any, Any]],
    events_gt: Sequence[tuple[Any, Any]],
    Trange: tuple[Any, Any],
) -> dict[str, Any]:
    r"""Score events as ``affiliation.metrics.pr_from_events`` does, with the same keys.

    Equations 4 to 6 of the paper, as in `closecall.affiliation`, to which this is a door.
    Predictions come first here. The cost is O(n + m) instead of O(n m). Points, events that touch,
    arrays and datetimes are accepted, and are errors there.

    Parameters
    ----------
    events_pred, events_gt
        Predicted and true events, sorted and disjoint, as pairs of start and stop.
    Trange
        Start and stop of the whole series; required, as there.

    Returns
    -------
    dict
        ``precision`` and ``recall`` in [0, 1], higher is better (precision is nan without any
        prediction), and lists with a number per true event:
        ``individual_precision_probabilities``, ``individual_recall_probabilities``,
        ``individual_precision_distances`` (nan where nothing is predicted) and
        ``individual_recall_distances`` (inf there). Distances on datetimes are in seconds.

    Notes
    -----
    On integer times up to a million the numbers agree with the official ones to 1e-12. The
    official recall takes differences of squared times, and loses digits where times are large
    beside the zones. Over 300 random cases each, its largest error of an individual recall,
    against exact fractions, was 2e-8 on float times from 1000 to 1010 (here 2e-13), and 1.7 on
    integers from 1,700,000,000, seconds since 1970, to 1000 later (here 1e-16).

    Examples
    --------
    >>> from closecall.compat import pr_from_events
    >>> scores = pr_from_events([(4, 5), (8, 9)], [(3, 4), (7, 10)], (0, 10))
    >>> scores["individual_precision_distances"]
    [0.5, 0.0]
    """
    with renamed(_THEIRS):
        truth, predicted = _read(events_gt, "events_gt"), _read(events_pred, "events_pred")
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


def _read(intervals: Any, name: str) -> Events:
    """Read events, and name the argument in every message about them."""
    try:
        return Events(intervals)
    except (InputError, InputTypeError) as error:
        message = str(error)
        for ours, theirs in (
            ("`intervals`", f"`{name}`"),
            ("`Events(sorted(intervals))`", f"`sorted({name})`"),
            ("Expected events", f"Expected `{name}` events"),
            ("Expected each event", f"Expected each event of `{name}`"),
        ):
            message = message.replace(ours, theirs)
        raise type(error)(message) from None


def _numbers(distances: Any, undefined: float) -> list[float]:
    if distances.dtype.kind == "m":
        distances = np.where(np.isnat(distances), undefined, distances / np.timedelta64(1, "s"))
    numbers: list[float] = distances.tolist()
    return numbers

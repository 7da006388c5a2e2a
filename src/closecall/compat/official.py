"""The public names of the paper's own implementation, affiliation-metrics-py."""

from __future__ import annotations

import gzip
import zlib
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation import affiliation
from closecall.errors import InputError, InputTypeError, shown, with_names
from closecall.events import Events
from closecall.fscore import f_measure
from closecall.parameters import read_number, read_path

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
    with with_names(_THEIRS):
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


def test_events(events: Sequence[tuple[Any, Any]]) -> None:
    """Raise unless events are sorted and disjoint pairs of start and stop.

    Examples
    --------
    >>> from closecall.compat.official import test_events
    >>> test_events([(1, 3), (5, 6)])
    """
    _read(events, "events")


test_events.__test__ = False  # type: ignore[attr-defined] # pytest takes it for one


def convert_vector_to_events(vector: Any) -> list[tuple[int, int]]:
    """Return the runs of ones of a 0/1 vector as pairs, the first index and the one after the last.

    Examples
    --------
    >>> from closecall.compat.official import convert_vector_to_events
    >>> convert_vector_to_events([0, 1, 1, 0, 0, 1, 0])
    [(1, 3), (5, 6)]
    """
    with with_names({"labels": "vector"}):
        events: list[Any] = list(Events.from_labels(vector))
    return events


def infer_Trange(  # noqa: N802 - the name is theirs
    events_pred: Sequence[tuple[Any, Any]], events_gt: Sequence[tuple[Any, Any]]
) -> tuple[Any, Any]:
    """Return the shortest range that holds all events; the series may well be longer.

    Examples
    --------
    >>> from closecall.compat.official import infer_Trange
    >>> infer_Trange([(4, 5)], [(3, 4), (7, 10)])
    (3, 10)
    """
    truth, predicted = _read(events_gt, "events_gt"), _read(events_pred, "events_pred")
    if len(truth) == 0:
        raise InputError("to hold an event", "none", argument="events_gt")
    events: list[Any] = [*predicted, *truth]
    try:
        return min(start for start, _ in events), max(stop for _, stop in events)
    except TypeError:
        got = f"{shown(events[0][0])} and {shown(events[-1][0])}"
        raise InputTypeError("times of one kind in both lists", got) from None


def has_point_anomalies(events: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether an event has no length.

    Examples
    --------
    >>> from closecall.compat.official import has_point_anomalies
    >>> has_point_anomalies([(3, 4), (7, 7)])
    True
    """
    return any(start == stop for start, stop in _read(events, "events"))


def f1_func(p: float, r: float) -> float:
    """Return the harmonic mean of precision and recall, in [0, 1]; 0 where both are 0.

    Examples
    --------
    >>> from closecall.compat.official import f1_func
    >>> f1_func(0.5, 1.0)
    0.6666666666666666
    """
    rule = "a number from 0 to 1, or nan"
    precision, recall = (
        read_number(value, name, rule, lambda x: isnan(x) or 0 <= x <= 1)
        for name, value in (("p", p), ("r", r))
    )
    return float(f_measure(precision, recall))


def read_gz_data(filename: str = "data/machinetemp_groundtruth.gz") -> list[int]:
    r"""Read a gzipped file with a 0 or a 1 on each line.

    Examples
    --------
    >>> import gzip
    >>> from closecall.compat.official import read_gz_data
    >>> with gzip.open("all.gz", "wt") as file:
    ...     _ = file.write("0\n1\n1\n")
    >>> read_gz_data("all.gz")
    [0, 1, 1]
    """
    path = read_path(filename, "filename")
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return [int(line) for line in file]
    except (EOFError, ValueError, gzip.BadGzipFile, zlib.error) as error:
        rule = f"{path} to be gzipped, with a 0 or a 1 on each line"
        raise InputError(rule, f"`{error}`") from None


def read_all_as_events() -> tuple[dict[str, dict[str, list[tuple[int, int]]]], dict[str, Any]]:
    """Read each ``data/DATASET_ALGORITHM.gz``; return events by data set and algorithm, and spans.

    Examples
    --------
    >>> from closecall.compat.official import read_all_as_events
    >>> read_all_as_events()  # no such folder here
    ({}, {})
    """
    datasets: dict[str, dict[str, list[tuple[int, int]]]] = {}
    spans: dict[str, Any] = {}
    for path in sorted(Path("data").glob("*_*.gz")):
        dataset, algorithm = path.name.removesuffix(".gz").split("_")[:2]
        labels = read_gz_data(str(path))
        datasets.setdefault(dataset, {})[algorithm] = convert_vector_to_events(labels)
        spans.setdefault(dataset, (0, len(labels)))
    return datasets, spans


def produce_all_results() -> dict[str, dict[str, dict[str, Any]]]:
    """Score every algorithm in ``data/`` against the ``groundtruth`` of its data set.

    Examples
    --------
    >>> from closecall.compat.official import produce_all_results
    >>> produce_all_results()  # no such folder here
    {}
    """
    datasets, spans = read_all_as_events()
    for dataset, algorithms in datasets.items():
        if "groundtruth" not in algorithms:
            raise InputError(f"a file data/{dataset}_groundtruth.gz", "none")
    return {
        dataset: {
            name: pr_from_events(predicted, algorithms["groundtruth"], spans[dataset])
            for name, predicted in algorithms.items()
            if name != "groundtruth"
        }
        for dataset, algorithms in datasets.items()
    }


def _read(intervals: Any, name: str) -> Events:
    """Read events, and name the argument in every message about them."""
    with with_names({"intervals": name}):
        return Events(intervals)


def _numbers(distances: Any, undefined: float) -> list[float]:
    if distances.dtype.kind == "m":
        distances = np.where(np.isnat(distances), undefined, distances / np.timedelta64(1, "s"))
    numbers: list[float] = distances.tolist()
    return numbers

"""The paper's tables, each computed again and set beside what is printed."""

from __future__ import annotations

from math import isnan
from statistics import harmonic_mean
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall import Events, affiliation, compare, metrics
from closecall.datasets import load_kdd2022
from closecall.datasets.kdd2022 import MEASURED
from closecall.theory import single_prediction
from evidence.paper.published import (
    ALGORITHMS,
    CHARACTERISTIC_COLUMNS,
    CHARACTERISTICS,
    CLOSED_FORMS,
    COMPARISON,
    COUNTS,
    DATASETS,
    DESCRIPTION,
    DISTANCES,
    EVENT_COUNTS,
    EVENTS,
    METRICS,
    PER_EVENT,
    PRACTICAL_SETTINGS,
    SECOND_ZONE,
    ZONE_BORDERS,
)
from evidence.paper.result import Cell, Reproduction, Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from closecall import Affiliation
    from closecall.affiliation import EventScores
    from closecall.datasets import LabelledSeries

    Data = Mapping[str, LabelledSeries]


def reproduce(folder: str | PathLike[str] | None = None) -> Reproduction:
    """Compute every table of the paper, and set each cell beside the published one.

    Two cells match when they are the same once written as the paper writes them; where they do
    not, the cell's note says why, if that is known.

    Parameters
    ----------
    folder
        Where the labels are, as for `closecall.datasets.load_kdd2022`; downloaded by default.

    Returns
    -------
    Reproduction
        The tables ``characteristics``, ``running_example``, ``datasets``, ``comparison``,
        ``per_event``, ``counts`` and ``closed_forms``.
    """
    data = load_kdd2022(folder)
    return Reproduction(
        (
            characteristics(),
            running_example(),
            description(data),
            comparison(data),
            per_event(data),
            event_counts(data),
            closed_forms(),
        )
    )


# Table 2. Each row's metric, and the others that the paper cites in that row.
_MEMBERS = {
    "(i) distance": ("hausdorff", "modified_hausdorff", "semimetric", "segmentation"),
    "(ii) window": ("window_once", "two_sided", "nab"),
    "(iii) RP/RR": ("range_based",),
    "(iii) TaP/TaR": ("time_aware",),
    "(iii) point adjust": ("point_adjust", "point_adjust_k"),
    "affiliation": ("affiliation",),
}
# What stands for an undefined value is a convention of the caller's, not a setting of the metric.
_CONVENTIONS = {"zero_division"}


def characteristics() -> Table:
    """Compare the table of what metrics can do with what the registry states of each."""
    rows = []
    for name, printed in CHARACTERISTICS.items():
        traits = {member: _traits(member) for member in _MEMBERS[name]}
        first, *others = traits
        cells = []
        for column, (trait, published) in enumerate(zip(traits[first], printed, strict=True)):
            values = {other: traits[other][column] for other in others}
            differ = [f"{other} {value}" for other, value in values.items() if value != trait]
            note = f"others of the class: {', '.join(differ)}" if differ else ""
            cells.append(Cell(trait, published, note))
        rows.append(Row((name, first), tuple(cells)))
    notes = (
        "(A): does a near miss count? (B): does a long event count no more than a short one?",
        "Nothing here is computed from data: the registry of metrics states these, and the",
        "number of parameters is that of the function. `closecall audit` measures (A) and (B).",
    )
    about = "characteristics", "Characteristics of metrics", "table 2", ("class", "metric")
    return Table(*about, CHARACTERISTIC_COLUMNS, tuple(rows), notes, typed=True)


def _traits(name: str) -> tuple[str, ...]:
    (metric,) = (row for row in metrics.table() if row["name"] == name)
    pair, near, durations = (
        "yes" if value else "no"
        for value in (
            {"precision", "recall"} <= {*metric["gives"]},
            metric["handles_adjacency"],
            metric["handles_durations"],
        )
    )
    settings = len(metric["parameters"].keys() - _CONVENTIONS)
    return pair, metric["mainly_for"], near, durations, str(settings)


# Section 3, in minutes after 3:00. The paper draws its intervals and prints only the first zone's;
# the others are those with which the printed numbers come out.
TRUTH = ((0, 10), (50, 70), (170, 175))
PREDICTED = ((5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170))
SPAN = (0, 180)
_SECOND = 1
_SECOND_ZONE = (30, 120)
# Table 3: the first zone as label vectors on uneven times.
_TIMES = (0, 2, 5, 6, 7, 10, 11, 12)
_LABELS = {"pred": (0, 0, 1, 0, 1, 0, 1, 0), "gt": (1, 1, 1, 1, 1, 0, 0, 0)}
_END = 30


def running_example() -> Table:
    """Compare the numbers of the running example."""
    events = affiliation(Events(TRUTH), Events(PREDICTED), span=SPAN).events
    cells: dict[str, Cell] = {}
    for index, published in enumerate(ZONE_BORDERS):
        border = _clock(float(events.zone_stop[index]))
        cells[f"border of zones {index + 1} and {index + 2}"] = Cell(border, published)
    for zone, both in enumerate(DISTANCES):
        for side, published in zip(("precision", "recall"), both, strict=True):
            seconds = 60 * float(getattr(events, f"{side}_distance")[zone])
            cell = Cell(write_length(seconds, published), published, values={"seconds": seconds})
            cells[f"zone {zone + 1}: {side} distance"] = cell
    rows = {**cells, **dict(_second_zone(events)), **dict(_settings())}
    about = "running_example", "The running example", "section 3 and table 3", ("number",)
    return Table(*about, ("value",), tuple(Row((name,), (cell,)) for name, cell in rows.items()))


def _second_zone(events: EventScores) -> Iterator[tuple[str, Cell]]:
    point = affiliation(Events(TRUTH), Events.from_points([40]), span=SPAN)
    # One moment of the event, in the zone of the whole event: a true point with that span.
    near = Events([(40, 60), (115, 120)])
    moment = affiliation(Events.from_points([70]), near, span=_SECOND_ZONE)
    values = (
        point.events.precision[_SECOND],
        events.precision[_SECOND],
        moment.recall,
        events.recall[_SECOND],
    )
    for value, (name, published) in zip(values, SECOND_ZONE.items(), strict=True):
        yield f"zone 2: {name}", Cell(f"{value:.3f}", published, values={"value": float(value)})


def _settings() -> Iterator[tuple[str, Cell]]:
    for side, printed in PRACTICAL_SETTINGS.items():
        events = Events.from_labels(_LABELS[side], times=_TIMES, end=_END)
        bounds = zip(events.starts.tolist(), events.stops.tolist(), printed, strict=True)
        for number, (start, stop, published) in enumerate(bounds, start=1):
            written = f"[{_clock(start)}, {_clock(stop)})"
            yield f"event {side} {number}", Cell(written, published)


def description(data: Data) -> Table:
    """Compare the description of the datasets and of their trivial events (table 4)."""
    columns = [_describe(data[name], DESCRIPTION[name]) for name in DATASETS]
    labels = ("samples", "anom.", "# events", "trivial")
    left_out = tuple(
        f"trivial of {title}: the folder has no measurements of it "
        f"({MEASURED[name].rpartition('/')[2]})"
        for (name, title), column in zip(DATASETS.items(), columns, strict=True)
        if column[-1] is None
    )
    title = "Datasets, and the function that finds each one's trivial event"
    about = "datasets", title, "table 4", ("number",), tuple(DATASETS.values())
    return Table(*about, _by_rows(labels, columns), left_out=left_out)


def _describe(series: LabelledSeries, published: tuple[str, ...]) -> tuple[Cell | None, ...]:
    share = float(series.truth.mean())
    events = Events.from_labels(series.truth)
    samples, anomalies, count, function = published
    if series.name == "swat":
        first = np.zeros_like(series.truth)
        for start, stop in zip(events.starts[:1].tolist(), events.stops[:1].tolist(), strict=True):
            first[start:stop] = 1
        same = np.array_equal(first, series.predicted["trivial"])
        trivial: Cell | None = Cell(function if same else "not the first event", function)
    else:
        trivial = _trivial_function(series, function)
    return (
        Cell(str(len(series.truth)), samples),
        Cell(f"{100 * share:.0f}%", anomalies, values={"share": share}),
        Cell(str(len(events)), count),
        trivial,
    )


def _trivial_function(series: LabelledSeries, published: str) -> Cell | None:
    """Compare where the function holds with the trivial event: there, and nowhere else."""
    if series.values is None:
        return None
    _, sign, bound = published.split()
    compare = np.less if sign == "<" else np.greater
    holds, trivial = compare(series.values, float(bound)), series.predicted["trivial"] == 1
    found, event, inside = int(holds.sum()), int(trivial.sum()), int((holds & trivial).sum())
    if not inside:
        return Cell("nowhere in the trivial event", published)
    if inside < found:
        return Cell(f"also elsewhere: {found - inside}", published)
    note = f"holds in {found} of the trivial event's {event} samples, and nowhere else"
    return Cell(published, published, "" if found == event else note)


# Table 5. The paper does not print these; they were found by search, and every cell agrees.
_TIME_AWARE = {"theta": 0.5, "delta": 180, "alpha": 0.5}
_RANGE_BASED: dict[str, Any] = {"alpha": 0.5, "precision_bias": "flat"}
_RANGE_BASED_ON_NAB: dict[str, Any] = {"cardinality": "reciprocal", "recall_bias": "back"}
_RANGE_BASED_ON_SWAT: dict[str, Any] = {"cardinality": "one", "recall_bias": "front"}
_SETTINGS = (
    "Each cell is precision/recall/F1. The paper does not print its settings; these reproduce it.",
    "RP/RR: alpha 0.5 and flat bias for precision; on SWaT, cardinality one and front bias for",
    "recall; elsewhere, cardinality reciprocal and back bias for recall.",
    "TaP/TaR: theta 0.5, delta 180, alpha 0.5. Classical: samples. Affiliation: nothing to set.",
)


def comparison(data: Data) -> Table:
    """Compare the 80 cells of precision, recall and F1."""
    rows = tuple(
        Row((title, shown), tuple(_compare(metric, data[one], algorithm) for one in DATASETS))
        for metric, title in METRICS.items()
        for algorithm, shown in ALGORITHMS.items()
    )
    about = "comparison", "Comparison of metrics", "table 5", ("metric", "algorithm")
    return Table(*about, tuple(DATASETS.values()), rows, _SETTINGS)


def _compare(metric: str, series: LabelledSeries, algorithm: str) -> Cell | None:
    published = COMPARISON[metric][series.name].get(algorithm)
    if published is None:
        return None
    truth, predicted = series.truth, series.predicted[algorithm]
    if metric == "range_based":
        chosen = _RANGE_BASED_ON_SWAT if series.name == "swat" else _RANGE_BASED_ON_NAB
        result: Any = metrics.range_based(truth, predicted, **_RANGE_BASED | chosen)
    elif metric == "time_aware":
        result = metrics.time_aware(truth, predicted, **_TIME_AWARE)
    else:
        result = (metrics.classical if metric == "classical" else affiliation)(truth, predicted)
    return scores_cell(result.precision, result.recall, result.f1, published)


def per_event(data: Data) -> Table:
    """Compare the mean and the first six events of SWaT, for iForest and seq2seq (table 6)."""
    swat = data["swat"]
    columns = []
    for name, published in PER_EVENT.items():
        result = affiliation(swat.truth, swat.predicted[name])
        events = result.events
        each = zip(
            events.precision.tolist(), events.recall.tolist(), events.f1.tolist(), strict=True
        )
        rows = [(result.precision, result.recall, result.f1), *each]
        columns.append(
            tuple(
                scores_cell(*rows[at], text) if at < len(rows) else Cell("no such event", text)
                for at, text in enumerate(published)
            )
        )
    about = "per_event", "Affiliation per event on SWaT", "table 6", ("event",)
    names = tuple(ALGORITHMS[name] for name in PER_EVENT)
    return Table(*about, names, _by_rows(EVENTS, columns), ("Each cell is precision/recall/F1.",))


def event_counts(data: Data) -> Table:
    """Compare the numbers of events in the text."""
    swat = data["swat"]
    predicted = {name: swat.predicted[name] for name in ("seq2seq", "iforest")}
    pair = compare(swat.truth, predicted, decimals=2).pair("seq2seq", "iforest")
    computed = {
        "better": pair.better_both + pair.better_precision,
        "better in both": pair.better_both,
        "better in precision only": pair.better_precision,
        "equivocal": pair.equivocal,
        "worse": pair.worse_both,
        "undetected by iForest": pair.undetected_by_second + pair.undetected_by_both,
        "undetected by seq2seq": pair.undetected_by_first + pair.undetected_by_both,
    }
    cells = {name: Cell(str(computed[name]), str(count)) for name, count in EVENT_COUNTS.items()}
    rows = tuple(Row((name,), (cell,)) for name, cell in (cells | _other_counts(data)).items())
    title = "Numbers in the text: seq2seq against iForest on SWaT's events, and others"
    about = "counts", title, "sections 4.2, 4.3 and appendix D", ("number",), ("count",)
    note = "Events are compared on scores rounded to two decimals, as the paper must have done."
    return Table(*about, rows, (note,))


def _other_counts(data: Data) -> dict[str, Cell]:
    first, adversary, most = COUNTS
    events = {
        name: len(Events.from_labels(labels)) for name, labels in data["swat"].predicted.items()
    }
    busiest = max(events, key=events.__getitem__)
    note = f"{COUNTS[most]} is the adversary's number; {ALGORITHMS[busiest]} has more"
    explained = events["adversary"] == COUNTS[most] != events[busiest]
    computed = {
        first: int(Events.from_labels(data["swat"].truth).durations[0]),
        adversary: len(Events.from_labels(data["nyctaxi"].predicted["adversary"])),
        most: events[busiest],
    }
    notes = {most: note if explained else ""}
    return {
        name: Cell(str(count), str(COUNTS[name]), notes.get(name, ""))
        for name, count in computed.items()
    }


# Section 4.4 and appendix C.
_PROPORTIONS = (0.1, 0.2, 0.5, 0.8)
_ZONE = 4000  # ticks; every place below is then a whole number
_MISPRINT = "the printed factor 16/(9p) is a misprint of 9/(16p), which gives the computed value"


def closed_forms() -> Table:
    """Compare the closed forms as printed with the metric, for an event centred in its zone."""
    title = "Closed forms against the metric, for an event that fills a share p of its zone"
    about = "closed_forms", title, "section 4.4 and appendix C", ("prediction",)
    cells = {name: tuple(_closed_form(name, p) for p in _PROPORTIONS) for name in CLOSED_FORMS}
    rows = tuple(Row((name,), found) for name, found in cells.items())
    note = "Each cell is precision/recall; a random point is averaged over the whole zone."
    return Table(*about, tuple(f"p = {p:g}" for p in _PROPORTIONS), rows, (note,))


def _closed_form(name: str, proportion: float) -> Cell:
    def write(precision: float, recall: float) -> str:
        return f"{precision:.4f}/{recall:.4f}"

    result = _measure(name, round(proportion * _ZONE))
    printed = write(*CLOSED_FORMS[name](proportion))
    values = {"precision": result.precision, "recall": result.recall}
    computed = write(**values)
    right = write(*single_prediction(proportion, position="start"))
    misprint = name == "(c) start" and printed != computed == right
    return Cell(computed, printed, _MISPRINT if misprint else "", values)


def _measure(name: str, event: int) -> Affiliation:
    start, stop = (_ZONE - event) // 2, (_ZONE + event) // 2
    if name == "random point":
        # As many zones in a row as a zone has ticks; the point is one tick further on in each.
        # In half ticks it can lie in the middle of each tick: the mean is then exact enough.
        zones = _ZONE * np.arange(_ZONE)
        truth = Events.from_arrays(2 * (zones + start), 2 * (zones + stop))
        points = Events.from_points(2 * (zones + np.arange(_ZONE)) + 1)
        return affiliation(truth, points, span=(0, 2 * _ZONE * _ZONE))
    places = {
        "whole interval": Events([(0, _ZONE)]),
        "(a) border": Events.from_points([0]),
        "(b) halfway": Events.from_points([start // 2]),
        "(c) start": Events.from_points([start]),
        "(d) center": Events.from_points([_ZONE // 2]),
    }
    return affiliation(Events([(start, stop)]), places[name], span=(0, _ZONE))


def _by_rows(labels: tuple[str, ...], columns: list[Any]) -> tuple[Row, ...]:
    cells = zip(*columns, strict=True)
    return tuple(Row((label,), found) for label, found in zip(labels, cells, strict=True))


# Numbers as the paper writes them.
_MINUTE = 60


def scores_cell(precision: float, recall: float, f1: float, published: str) -> Cell:
    """Set three scores beside the published ones, and explain an F1 of rounded numbers."""
    values = {"precision": precision, "recall": recall, "f1": f1}
    # The recall of an event without predictions is a bare 0.
    nothing = isnan(precision) and recall == 0
    pair = f"{_score(precision)}/{'0' if nothing else _score(recall)}"
    published_pair, _, published_f1 = published.rpartition("/")
    note = ""
    if pair == published_pair and _score(f1) != published_f1:
        rounded = [float(part) for part in pair.split("/")]
        if _score(harmonic_mean(rounded)) == published_f1:
            note = (
                f"the published F1 is that of the rounded pair {pair}; of the exact pair it is "
                f"{f1:.4f}"
            )
    return Cell(f"{pair}/{_score(f1)}", published, note, values)


def _score(value: float) -> str:
    return "NaN" if isnan(value) else f"{value:.2f}"


def write_length(seconds: float, published: str) -> str:
    """Write a length of time in seconds, or in minutes and seconds where the paper does.

    >>> write_length(76.5, "76.5s"), write_length(690.0, "11min30s")
    ('76.5s', '11min30s')
    """
    if "min" not in published:
        return f"{round(seconds, 6):g}s"
    minutes, rest = divmod(seconds, _MINUTE)
    return f"{int(minutes)}min{round(rest, 6):g}s"


def _clock(minutes: float) -> str:
    """Write minutes after 3:00 as a time of day."""
    hours, rest = divmod(int(minutes), _MINUTE)
    return f"{3 + hours}:{rest:02}"

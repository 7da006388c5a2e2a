"""The paper's event-by-event comparison of iForest and seq2seq on SWaT."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation import affiliation
from closecall.events import Events
from closecall.paper.published import ALGORITHMS, COUNTS, EVENT_COUNTS, EVENTS, PER_EVENT
from closecall.paper.result import Cell, Row, Table
from closecall.paper.writing import scores_cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from closecall.affiliation import Affiliation, EventScores
    from closecall.datasets import LabelledSeries


def per_event(data: Mapping[str, LabelledSeries]) -> Table:
    """Compare the mean and the first six events of SWaT."""
    swat = data["swat"]
    columns = [
        _column(affiliation(swat.truth, swat.predicted[name]), published)
        for name, published in PER_EVENT.items()
    ]
    return Table(
        name="per_event",
        title="Affiliation per event on SWaT",
        source="table 6",
        headings=("event",),
        columns=tuple(ALGORITHMS[name] for name in PER_EVENT),
        rows=tuple(
            Row((label,), cells)
            for label, cells in zip(EVENTS, zip(*columns, strict=True), strict=True)
        ),
        notes=("Each cell is precision/recall/F1.",),
    )


def _column(result: Affiliation, published: tuple[str, ...]) -> tuple[Cell, ...]:
    events = result.events
    mean = (result.precision, result.recall, result.f1)
    own = zip(events.precision.tolist(), events.recall.tolist(), events.f1.tolist(), strict=True)
    rows = [mean, *own]
    return tuple(
        scores_cell(*rows[index], text) if index < len(rows) else Cell("no such event", text)
        for index, text in enumerate(published)
    )


def event_counts(data: Mapping[str, LabelledSeries]) -> Table:
    """Compare the numbers of events in the text."""
    swat = data["swat"]
    iforest, seq2seq = (
        affiliation(swat.truth, swat.predicted[name]).events for name in ("iforest", "seq2seq")
    )
    computed = _who_is_better(iforest, seq2seq)
    rows = [_row(name, computed[name], published) for name, published in EVENT_COUNTS.items()]
    return Table(
        name="counts",
        title="Numbers in the text: seq2seq against iForest on SWaT's events, and others",
        source="sections 4.2, 4.3 and appendix D",
        headings=("number",),
        columns=("count",),
        rows=(*rows, *_other_counts(data)),
        notes=(
            "Events are compared on scores rounded to two decimals, as the paper must have done.",
        ),
    )


def _who_is_better(iforest: EventScores, seq2seq: EventScores) -> dict[str, int]:
    """Count the events by how seq2seq's rounded scores compare with iForest's."""
    detected = ~np.isnan(iforest.precision) & ~np.isnan(seq2seq.precision)
    precision, recall = (
        np.sign(np.round(getattr(seq2seq, name), 2) - np.round(getattr(iforest, name), 2))[detected]
        for name in ("precision", "recall")
    )
    both = int(((precision > 0) & (recall > 0)).sum())
    precision_only = int(((precision > 0) & (recall == 0)).sum())
    return {
        "better": both + precision_only,
        "better in both": both,
        "better in precision only": precision_only,
        "equivocal": int((precision * recall < 0).sum()),
        "worse": int(((precision < 0) & (recall < 0)).sum()),
        "undetected by iForest": int(np.isnan(iforest.precision).sum()),
        "undetected by seq2seq": int(np.isnan(seq2seq.precision).sum()),
    }


def _other_counts(data: Mapping[str, LabelledSeries]) -> list[Row]:
    first, adversary, most = COUNTS
    samples = int(Events.from_labels(data["swat"].truth).durations[0])
    thirteen = len(Events.from_labels(data["nyctaxi"].predicted["adversary"]))
    events = {
        name: len(Events.from_labels(labels)) for name, labels in data["swat"].predicted.items()
    }
    busiest = max(events, key=events.__getitem__)
    note = f"{COUNTS[most]} is the adversary's number; {ALGORITHMS[busiest]} has more"
    explained = events["adversary"] == COUNTS[most] != events[busiest]
    return [
        _row(first, samples, COUNTS[first]),
        _row(adversary, thirteen, COUNTS[adversary]),
        _row(most, events[busiest], COUNTS[most], note if explained else ""),
    ]


def _row(name: str, computed: int, published: int, note: str = "") -> Row:
    return Row((name,), (Cell(str(computed), str(published), note),))

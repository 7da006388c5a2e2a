"""The paper's closed forms as printed, against the metric itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closecall.affiliation import affiliation
from closecall.events import Events
from closecall.paper.published import CLOSED_FORMS
from closecall.paper.result import Cell, Row, Table
from closecall.theory import single_prediction

if TYPE_CHECKING:
    from closecall.affiliation import Affiliation

_PROPORTIONS = (0.1, 0.2, 0.5, 0.8)
_ZONE = 4000  # ticks; every place below is then a whole number
_START = "(c) start"


def closed_forms() -> Table:
    """Compare the closed forms with the metric, for an event centred in its zone."""
    return Table(
        name="closed_forms",
        title="Closed forms against the metric, for an event that fills a share p of its zone",
        source="section 4.4 and appendix C",
        headings=("prediction",),
        columns=tuple(f"p = {p:g}" for p in _PROPORTIONS),
        rows=tuple(
            Row((name,), tuple(_cell(name, p) for p in _PROPORTIONS)) for name in CLOSED_FORMS
        ),
        notes=("Each cell is precision/recall; a random point is averaged over the whole zone.",),
    )


def _cell(name: str, proportion: float) -> Cell:
    result = _measured(name, round(proportion * _ZONE))
    printed = _write(*CLOSED_FORMS[name](proportion))
    values = {"precision": result.precision, "recall": result.recall}
    computed = _write(**values)
    return Cell(computed, printed, _misprint(name, proportion, computed, printed), values)


def _measured(name: str, event: int) -> Affiliation:
    start, stop = (_ZONE - event) // 2, (_ZONE + event) // 2
    if name == "random point":
        return _random_point(start, stop)
    places = {
        "whole interval": Events([(0, _ZONE)]),
        "(a) border": Events.from_points([0]),
        "(b) halfway": Events.from_points([start // 2]),
        "(c) start": Events.from_points([start]),
        "(d) center": Events.from_points([_ZONE // 2]),
    }
    return affiliation(Events([(start, stop)]), places[name], span=(0, _ZONE))


def _random_point(start: int, stop: int) -> Affiliation:
    """Lay as many zones in a row as a zone has ticks; the point is one tick on in each."""
    zones = _ZONE * np.arange(_ZONE)
    truth = Events.from_arrays(zones + start, zones + stop)
    # In half ticks the points can lie in the middle of each tick: the mean is then exact enough.
    points = Events.from_points(2 * (zones + np.arange(_ZONE)) + 1)
    doubled = Events.from_arrays(2 * truth.starts, 2 * truth.stops)
    return affiliation(doubled, points, span=(0, 2 * _ZONE * _ZONE))


def _write(precision: float, recall: float) -> str:
    return f"{precision:.4f}/{recall:.4f}"


def _misprint(name: str, proportion: float, computed: str, printed: str) -> str:
    """Explain (c), whose printed factor is upside down."""
    if name != _START or computed == printed:
        return ""
    if _write(*single_prediction(proportion, position="start")) != computed:
        return ""
    return "the printed factor 16/(9p) is a misprint of 9/(16p), which gives the computed value"

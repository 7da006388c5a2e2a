"""The paper's table of what metrics can do, from what the registry knows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.metrics.registry import find
from closecall.paper.published import CHARACTERISTIC_COLUMNS, CHARACTERISTICS
from closecall.paper.result import Cell, Row, Table

if TYPE_CHECKING:
    from closecall.metrics.registry import Metric

# Each row's metric, and the others that the paper cites in that row.
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
    """Compare the table of characteristics."""
    return Table(
        name="characteristics",
        title="Characteristics of metrics",
        source="table 2",
        headings=("class", "metric"),
        columns=CHARACTERISTIC_COLUMNS,
        rows=tuple(_row(name, printed) for name, printed in CHARACTERISTICS.items()),
        notes=(
            "(A): does a near miss count? (B): does a long event count no more than a short one?",
        ),
    )


def _row(name: str, printed: tuple[str, ...]) -> Row:
    first, *others = (_traits(find(member)) for member in _MEMBERS[name])
    cells = tuple(
        Cell(trait, published, _exceptions(_MEMBERS[name][1:], others, column, trait))
        for column, (trait, published) in enumerate(zip(first, printed, strict=True))
    )
    return Row((name, _MEMBERS[name][0]), cells)


def _traits(metric: Metric) -> tuple[str, ...]:
    return (
        _yes("precision" in metric.gives and "recall" in metric.gives),
        metric.mainly_for,
        _yes(metric.handles_adjacency),
        _yes(metric.handles_durations),
        str(len(metric.parameters.keys() - _CONVENTIONS)),
    )


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _exceptions(
    names: tuple[str, ...], traits: list[tuple[str, ...]], column: int, usual: str
) -> str:
    """Name the other metrics of the row that differ from its first."""
    differ = [
        f"{name} {own[column]}"
        for name, own in zip(names, traits, strict=True)
        if own[column] != usual
    ]
    return f"others of the class: {', '.join(differ)}" if differ else ""

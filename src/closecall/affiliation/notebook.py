"""A result as a notebook shows it."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from closecall.affiliation.coverage import covered_share, covers_much
from closecall.affiliation.event_scores import COLUMNS
from closecall.affiliation.frame import TIMES

if TYPE_CHECKING:
    from closecall.affiliation.result import Affiliation

_MOST_ROWS = 20


def as_html(result: Affiliation) -> str:
    """Write the scores, the level of chance and the first events as HTML."""
    names = [name for name in COLUMNS if not name.startswith("zone")]
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    rows = []
    for row, _ in zip(result.events.rows(), range(_MOST_ROWS), strict=False):
        cells = "".join(f"<td>{escape(_cell(name, row[name]))}</td>" for name in names)
        rows.append(f"<tr>{cells}</tr>")
    hidden = len(result.events) - len(rows)
    note = f"<p>and {hidden} more events</p>" if hidden else ""
    return (
        f"<div><p><b>{_headline(result.values())}</b> over {len(result.events)} true events</p>"
        f"<p>by chance: {_headline(result.chance.values())}{_long(result)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"{note}</div>"
    )


def _long(result: Affiliation) -> str:
    if not covers_much(result.events):
        return ""
    share = f"{covered_share(result.events):.0%}"
    return (
        f". Alarms cover {share} of the series; random ones are points. So recall and F1 look "
        "better than they are: <code>significance</code> moves the alarms themselves."
    )


def _headline(scores: dict[str, float]) -> str:
    named = {"f1": "F1"}
    return ", ".join(
        f"{named.get(name, name)} {'-' if isnan(value) else f'{value:.3f}'}"
        for name, value in scores.items()
    )


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) and name not in TIMES else str(value)

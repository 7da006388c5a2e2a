"""What `closecall audit` prints: the scores and verdicts, and the design targets."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from closecall.adversary import TARGETS
from closecall.cli import words
from closecall.cli.names import SHORTEST_NAME, plain_name, short_names
from closecall.metrics.registry import find

if TYPE_CHECKING:
    from rich.console import Console

    from closecall.adversary import Audit, Verdict

_STAR = "*: the prediction that beats the detectors by most, for this metric."
_RIVAL = "rival: the strongest prediction without information, for this metric."
_LEGEND = (
    "alternating, composite: built from one true event; the detectors they are compared with for "
    "the verdict are given the same event. Random predictions: the median of 25 "
    "draws that had no say in their choice. Each family is shown with its strongest attempt.\n"
    "A metric is also beaten where no detector is better than chance."
)
_ANY_WIDTH = 10_000
_DISTANCES = ("hausdorff", "modified_hausdorff", "semimetric")  # lengths of time
_WHOLE = 10  # from where on the decimals of a number without bounds are left out
_LEFT = {"metric", "best_detector", "rival", "verdict"}
_ALL_BEATEN = "Every metric is beaten: on this series the detectors may be no better than chance."


def print_audit(audit: Audit, console: Console) -> None:
    """Print both tables, and what they mean."""
    beaten = len(audit.beaten)
    events = f"{audit.events} true event{'' if audit.events == 1 else 's'}"
    console.print(
        Text(
            f"{beaten} of {len(audit.verdicts)} metrics are beaten by a prediction without "
            f"information ({events}, {audit.tried} such predictions tried)\n",
            style="bold",
        )
    )
    wide = _scores(audit)
    needed = Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), wide).maximum
    fits = needed <= console.width
    console.print(wide if fits else _best_only(audit, console))
    console.print()
    if beaten == len(audit.verdicts):
        console.print(Text(_ALL_BEATEN, style="bold yellow"))
    console.print(Text(_STAR if fits else f"{_RIVAL} {_elsewhere(needed)}", style="dim"))
    distances = [name for name in audit.verdicts if name in _DISTANCES]
    if distances:
        console.print(Text(f"{', '.join(distances)}: in {audit.unit}.", style="dim"))
    console.print(Text(_LEGEND, style="dim"))
    console.print(Text("\nDesign targets, on a canonical series\n", style="bold"))
    console.print(_targets(audit))
    console.print()
    for name, target in TARGETS.items():
        console.print(Text(f"{name}: {target.meaning} ({_limits(name)})", style="dim"))
    for name, reason in audit.left_out.items():
        console.print(Text(f"Left out: {name}, {reason}", style="yellow"))


def _table(headings: list[str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(
            Text("\n".join(map(plain_name, heading.split("_")))),
            justify="left" if heading in _LEFT else "right",
            vertical="bottom",
            no_wrap=True,
        )
    return table


def _scores(audit: Audit) -> Table:
    predictions = list(dict.fromkeys(row["prediction"] for row in audit.table))
    table = _table(["metric", *predictions, "verdict"])
    for metric, verdict in audit.verdicts.items():
        rows = {row["prediction"]: row for row in audit.table if row["metric"] == metric}
        cells = [_score(rows.get(name), verdict) for name in predictions]
        table.add_row(Text(metric, style="cyan"), *cells, _words(verdict))
    return table


def _elsewhere(needed: int) -> str:
    return f"A terminal of {needed} columns, json and csv show every prediction."


def _best_only(audit: Audit, console: Console) -> Table:
    """Show only what the verdicts compare, where there is no room for every prediction."""
    names = dict.fromkeys(row["prediction"] for row in audit.table if row["kind"] == "detector")
    longest = max(cell_len(plain_name(verdict.detector)) for verdict in audit.verdicts.values())
    for most in range(longest, min(longest, SHORTEST_NAME) - 1, -1):
        table = _compared(audit, short_names(names, most))
        options = console.options.update(max_width=_ANY_WIDTH)
        if Measurement.get(console, options, table).maximum <= console.width:
            break
    return table


def _compared(audit: Audit, short: dict[str, str]) -> Table:
    table = _table(["metric", "best_detector", "its_score", "rival", "rival's_score", "verdict"])
    for metric, verdict in audit.verdicts.items():
        table.add_row(
            Text(metric, style="cyan"),
            Text(short[verdict.detector]),
            _number(metric, verdict.detector_score),
            verdict.by.replace("_", " "),
            _number(metric, verdict.score),
            _words(verdict),
        )
    return table


def _score(row: dict[str, Any] | None, verdict: Verdict) -> Text:
    if row is None:
        return Text(words.UNDEFINED, style="dim")
    text = _number(row["metric"], row["score"])
    if row["kind"] == "uninformative" and row["prediction"] == verdict.by:
        return Text(
            f"{text}*" if verdict.beaten else text, style="bold red" if verdict.beaten else ""
        )
    return Text(text, style="bold" if row["prediction"] == verdict.detector else "")


def _number(metric: str, value: float) -> str:
    if not isfinite(value):
        return words.UNDEFINED
    entry = find(metric)
    bounded = entry.lowest >= -1 and entry.highest <= 1
    if bounded and value >= 0:
        return words.score(value)
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.2g}"


def _words(verdict: Verdict) -> Text:
    if verdict.beaten is None:
        return Text("undefined", style="dim")
    if verdict.beaten:
        return Text("beaten", style="red")
    return Text("holds", style="green")


def _targets(audit: Audit) -> Table:
    table = _table(["metric", *TARGETS])
    for metric in audit.verdicts:
        rows = {row["target"]: row for row in audit.targets if row["metric"] == metric}
        table.add_row(Text(metric, style="cyan"), *(_target(rows[name]) for name in TARGETS))
    return table


def _target(row: dict[str, Any]) -> Text:
    if row["met"] is None:
        return Text(words.UNDEFINED, style="dim")
    # A mark beside the colour, for those who see none.
    return Text(f"{row['value']:.2f} {'+' if row['met'] else '-'}", style=_STYLES[row["met"]])


_STYLES = {True: "green", False: "red"}


def _limits(name: str) -> str:
    target = TARGETS[name]
    bounds = {"at least": target.least, "at most": target.most}
    text = " and ".join(f"{words_for} {b:g}" for words_for, b in bounds.items() if isfinite(b))
    return f"met if {text}"

"""The generated tables of the documents, as Markdown: metrics, columns of results, options.

`extension.py` puts them on pages. Facts come from the registry, from docstrings and from the
commands themselves. What the registry of metrics does not have, a section of the page of its
family has by hand: the paragraphs that begin with *Rewards*, *Misleads* and *Peers*, and the cost.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import click

from closecall.affiliation import EventScores
from closecall.cli.commands import closecall as cli
from closecall.metrics import table

FAMILIES = Path(__file__).parent / "metrics"
COLUMNS = (
    ("start", "stop", "zone_start", "zone_stop"),
    ("precision", "recall", "f1", "precision_distance", "recall_distance", "early", "late"),
    ("outcome", "delay", "nearest", "already_in_alarm", "predicted_count", "predicted_duration"),
    ("precision_above_chance", "recall_above_chance", "f1_above_chance"),
)


def rows_of(*cells: list[str]) -> str:
    """Return a Markdown table; the first cells are its head."""
    head, *body = cells
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body))


def sections() -> dict[str, tuple[str, str]]:
    """Return the page and the text of the section of each metric, by its name."""
    found = {}
    for page in sorted(FAMILIES.glob("*.md")):
        parts = re.split(r"^## `(\w+)`\n", page.read_text("utf-8"), flags=re.MULTILINE)[1:]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            found[name] = page.stem, text
    return found


def told(text: str, word: str) -> str:
    """Return the first sentence of the paragraph of a section that begins with *word*."""
    found = re.search(rf"\n\*{word}\*(:?) (.+?)(?:\n\n|\Z)", text, flags=re.DOTALL)
    if not found:
        message = f"no paragraph that begins with *{word}*: {text[:60]!r}"
        raise ValueError(message)
    paragraph = " ".join(found[2].split())
    first = re.split(r"(?<=[.:]) (?=[A-Z`])|:$", paragraph)[0].rstrip(":.")
    first = f"Peers {first}" if (word, found[1]) == ("Peers", "") else first
    first = first.removeprefix("because ")
    return f"{first[0].upper()}{first[1:]}."


def gives(row: dict[str, Any]) -> str:
    return "P, R, F1" if "recall" in row["gives"] else ", ".join(row["gives"])


def bounds(row: dict[str, Any]) -> str:
    return " to ".join(f"{bound:g}" for bound in row["range"]).replace("inf", "∞")


def better(row: dict[str, Any]) -> str:
    return "higher" if row["higher_is_better"] else "lower"


def parameters(row: dict[str, Any]) -> str:
    """Return the metric's own parameters with their defaults."""
    own = (
        f"`{name}`" if default == "required" else f"`{name}={default!r}`"
        for name, default in row["parameters"].items()
    )
    return ", ".join(own) or "none"


def metric_index() -> str:
    """Return the table of all metrics, with links to their sections."""
    head = ["metric, cost, paper", "rewards", "misleads", "gives, parameters", "peers"]
    rows = []
    for row in table():
        page, text = sections()[row["name"]]
        link = f"[`{row['name']}`](metrics/{page}.md#{row['name']})"
        cost = re.search(r"^:cost: (.+)$", text, flags=re.MULTILINE)[1]
        paper = re.sub(r"^([^,]+), .+, ([^,]+)$", r"\1, \2", row["paper"])  # without its title
        lower = "" if row["higher_is_better"] else ", lower is better"
        given = f"{gives(row)}: {bounds(row)}{lower}"
        own = f"<br>{parameters(row)}" if row["parameters"] else ""
        said = [told(text, "Rewards"), told(text, "Misleads")]
        peers = told(text, "Peers") if "\n*Peers*" in text else "\N{EN DASH}"
        rows.append([f"{link}<br>{cost}<br>{paper}", *said, f"{given}{own}", peers])
    return rows_of(head, *rows)


def metric_facts(name: str, cost: str) -> str:
    """Return what the registry knows of one metric, and its cost, in sentences."""
    row = next(row for row in table() if row["name"] == name)
    takes = "scores" if row["takes"] == "scores" else "labels or events"
    return (
        f"Takes {takes}, gives {gives(row)} from {bounds(row)}; {better(row)} is better. "
        f"Parameters: {parameters(row)}. Cost: {cost}. Paper: {row['paper']}."
    )


def limitations() -> str:
    """Return which metrics have the two limitations of the paper, and where the audit differs."""
    flags = ("handles_adjacency", "handles_durations")
    rows, notes = [], {}
    for row in table():
        cells = [
            ("yes" if row[flag] else "no") + ("\\*" if flag in row["measured_otherwise"] else "")
            for flag in flags
        ]
        rows.append([f"`{row['name']}`", row["mainly_for"], *cells])
        for note in row["measured_otherwise"].values():
            notes.setdefault(note, []).append(f"`{row['name']}`")
    shown = rows_of(["metric", "mainly for", "(A) near misses", "(B) durations"], *rows)
    starred = "\n".join(f"- {', '.join(names)}: {note}." for note, names in notes.items())
    return f"{shown}\n\n{starred}"


def first_words(text: str) -> str:
    """Return the first paragraph of a docstring, for a cell of a Markdown table."""
    paragraph = inspect.cleandoc(text).partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`").replace("|", "\\|")


def event_columns() -> str:
    """Return the columns of `result.events`, from their docstrings."""
    rows = []
    for name in (name for group in COLUMNS for name in group):
        member = inspect.getattr_static(EventScores, name, None)
        text = getattr(member, "__doc__", None) or _field_text(name)
        rows.append([f"`{name}`", first_words(text)])
    return rows_of(["column", "what it is"], *rows)


def _field_text(name: str) -> str:
    """Return the text under an attribute in the source of the class or of those it extends."""
    for owner in EventScores.__mro__[:-1]:
        pattern = rf'^    {name}: [^\n]*\n    """([^"]+)"""'
        found = re.search(pattern, inspect.getsource(owner), flags=re.MULTILINE)
        if found:
            return found[1]
    message = f"{name} has no docstring"
    raise ValueError(message)


SHARED_BY = 4
"""An option that so many commands have in the same words is listed once, for all of them."""


def options_by_command() -> dict[str, list[tuple[str, str]]]:
    """Return the options of each command, as it is typed and what it does."""
    context = click.Context(cli, info_name="closecall")
    found = {}
    for name in cli.list_commands(context):
        found[name] = []
        for option in cli.get_command(context, name).params:
            if isinstance(option, click.Option):
                value = "" if option.is_flag else f" {option.make_metavar(context)}"
                names = ", ".join(sorted(option.opts, key=len))
                typed = f"`{names}{value}`".replace("|", "\\|")
                text = re.sub(r"(--[\w-]+)", r"`\1`", first_words(option.help or ""))
                found[name].append((typed, text))
    return found


def shared_options() -> dict[tuple[str, str], list[str]]:
    """Return the options that many commands have in the same words, with those commands."""
    owners: dict[tuple[str, str], list[str]] = {}
    for name, options in options_by_command().items():
        for option in options:
            owners.setdefault(option, []).append(name)
    return {option: names for option, names in owners.items() if len(names) >= SHARED_BY}


def common_options() -> str:
    """Return the options that many commands share, and which commands those are."""
    rows = [[*option, ", ".join(names)] for option, names in shared_options().items()]
    return rows_of(["option", "what it does", "commands"], *rows)


def command_options(name: str) -> str:
    """Return what a command is for, and the options that it does not share."""
    context = click.Context(cli, info_name="closecall")
    command = cli.get_command(context, name)
    shared = shared_options()
    rows = [[*option] for option in options_by_command()[name] if option not in shared]
    usage = " ".join(["closecall", name, *command.collect_usage_pieces(context)])
    shown = rows_of(["option", "what it does"], *rows) if rows else ""
    return f"{first_words(command.help)}\n\n```text\n{usage}\n```\n\n{shown}"

"""`closecall schema`: what the JSON of each command looks like, as JSON Schema."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import click

from closecall.cli import options

_HELP = """\
Print the JSON Schema of the JSON that a command writes; without COMMAND, list those that have one.

Each JSON says at `schema` which one it follows, a name and a version: closecall/score/1. Of
`closecall stream`, each line does.

\b
Examples:
  closecall schema
  closecall schema score
  closecall schema batch > batch.schema.json
"""
_FOLDER = files("closecall") / "schemas"
_SHARED = "common"
NAMES = sorted(
    file.name.removesuffix(".json")
    for file in _FOLDER.iterdir()
    if file.name not in (f"{_SHARED}.json", "__pycache__")
)


@click.command(cls=options.Command, help=_HELP)
@click.argument("name", metavar="[COMMAND]", required=False, type=click.Choice(NAMES))
def schema(name: str | None) -> None:
    """Print a schema, or the names of all."""
    click.echo("\n".join(NAMES) if name is None else json.dumps(read_schema(name), indent=2))


def read_schema(name: str) -> dict[str, Any]:
    """Return the schema of a command's JSON, with the shared definitions that it uses."""
    found = _read(name)
    shared, known = _read(_SHARED)["$defs"], found.setdefault("$defs", {})
    missing = _used(found) - known.keys()
    while missing:
        known |= {part: shared[part] for part in sorted(missing)}
        missing = _used(known) - known.keys()
    return found


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _used(part: dict[str, Any]) -> set[str]:
    return set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(part)))

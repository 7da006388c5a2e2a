"""Draw the architecture from the code: the layers of the import contract, and who imports whom."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import grimp
from matplotlib import pyplot as plt

REPOSITORY = Path(__file__).parents[1]
PACKAGE = "closecall"
BOX_HEIGHT, ROW_HEIGHT, WIDTH = 0.62, 1.0, 12.0


def layers() -> list[list[str]]:
    """Return the rooms of each layer of the import contract, from the top down."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return [re.split(" [|:] ", layer) for layer in contract["layers"]]


def imports(rooms: list[str]) -> set[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second, without shortcuts.

    A pair is left out where the import also follows from two others, so that the lines show the
    order of the house and can be counted.
    """
    graph = grimp.build_graph(PACKAGE)
    pairs = {
        (upper, lower)
        for upper in rooms
        for lower in rooms
        if upper != lower
        and graph.direct_import_exists(importer=upper, imported=lower, as_packages=True)
    }
    order = {room: number for number, room in enumerate(rooms)}
    down = {(upper, lower) for upper, lower in pairs if order[upper] < order[lower]}
    reached = set(down)
    for middle in rooms:  # Warshall's closure
        above = {upper for upper, lower in reached if lower == middle}
        below = {lower for upper, lower in reached if upper == middle}
        reached |= {(upper, lower) for upper in above for lower in below}
    through = {
        (upper, lower)
        for upper, middle in down
        for other, lower in reached
        if middle == other and (upper, lower) in down
    }
    return down - through


def weight(room: str) -> str:
    """Return how many files and lines a room has."""
    path = REPOSITORY / "src" / Path(*room.split("."))
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    count = f"{len(files)} files, " if len(files) > 1 else ""
    return f"{count}{lines:,} lines"


def draw_imports() -> Any:
    """Draw every layer as a row of boxes, and a line from each box down to what it imports."""
    rows = layers()
    figure, ax = plt.subplots(figsize=(8.4, 0.62 * len(rows)), layout="constrained")
    places = {}
    for number, rooms in enumerate(rows):
        for column, room in enumerate(rooms):
            places[room] = (WIDTH * (column + 0.5) / len(rooms), -number * ROW_HEIGHT)
    for upper, lower in sorted(imports(list(places))):
        (x0, y0), (x1, y1) = places[upper], places[lower]
        ax.plot([x0, x1], [y0, y1], color="#0072B2", alpha=0.35, linewidth=1, zorder=1)
    width = 0.94 * WIDTH / max(map(len, rows))
    for room, (x, y) in places.items():
        box = plt.Rectangle(
            (x - width / 2, y - BOX_HEIGHT / 2),
            width,
            BOX_HEIGHT,
            facecolor="white",
            edgecolor="#444444",
            linewidth=0.8,
            zorder=2,
        )
        ax.add_patch(box)
        name = room.removeprefix(f"{PACKAGE}.")
        ax.text(x, y + 0.1, name, ha="center", va="center", fontsize=9, zorder=3)
        ax.text(x, y - 0.17, weight(room), ha="center", va="center", fontsize=6.5, zorder=3)
    ax.set(xlim=(0, WIDTH), ylim=(-(len(rows) - 0.5) * ROW_HEIGHT, 0.5 * ROW_HEIGHT))
    ax.axis("off")
    return figure

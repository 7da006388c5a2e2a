r"""Tables for papers: LaTeX with the rules of the package booktabs."""

from __future__ import annotations

import re
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputTypeError, shown
from closecall.notebook import heading
from closecall.plain import plain
from closecall.wording import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_MANY = 100
_NO_NUMBER = "--"
_COMMANDS = r"\\[a-z]+\{?|[{}\\]"
# Letters that fit the text width of an article, by the size of the type.
_SIZES = ((82, "footnotesize"), (96, "scriptsize"))


def escape(text: str) -> str:
    r"""Write text so that LaTeX prints it as it is.

    >>> print(escape("# events: 6% of Y < 40"))
    \# events: 6\% of Y \textless{} 40
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def latex_heading(name: str, *, abreast: bool = True) -> str:
    """Return the heading of a column of that name in Python.

    A level of chance is right of its number, whose name is left out where columns are `abreast`.

    >>> latex_heading("false_alarms"), latex_heading("mean_chance_f1")
    ('false alarms', 'chance')
    >>> latex_heading("mean_chance_f1", abreast=False)
    'F1 by chance'
    """
    level = name.removeprefix("mean_")
    if not level.startswith("chance_"):
        return heading(name)
    return "chance" if abreast else f"{heading(level.removeprefix('chance_'))} by chance"


def chance_note(events: str, moved: str = "alarms") -> str:
    """Return what is said below a table with levels of chance, over so many events."""
    return f"Over {events}. Chance: means over the same {moved}, shifted in time."


def line(cells: Iterable[str]) -> str:
    """Write one line of a table, of cells that are LaTeX."""
    return " & ".join(cells) + " \\\\"


def floating(
    kinds: str,
    head: Iterable[str],
    body: Iterable[str],
    *,
    caption: str,
    label: str,
    notes: Iterable[str] = (),
    size: str = "footnotesize",
    between: int = 2,
) -> str:
    """Write a table of such lines, with a caption above and notes below, which are texts.

    It is set in that `size`, with so many points `between` a column and its edge.
    """
    # A line may end after each part of a signature.
    below = [
        escape(note).replace(_SPECIAL["|"], _SPECIAL["|"] + r"\allowbreak{}") for note in notes
    ]
    lines = [
        "\\begin{table}",
        f"\\centering\\{size}\\setlength{{\\tabcolsep}}{{{between}pt}}",
        f"\\caption{{{escape(caption)}.}}",
        f"\\label{{tab:{label}}}",
        f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        *("\\toprule", *head, "\\midrule", *body, "\\bottomrule"),
        "\\end{tabular}",
        *(f"\\par\\smallskip {note}" for note in below),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_table(
    rows: Sequence[Mapping[str, Any]],
    headings: Mapping[str, str],
    *,
    best: Mapping[str, bool],
    title: str,
    label: str,
    caption: str = "",
    said: str = "",
    note: str = "",
    across: str = "",
) -> str:
    r"""Write a table: a column for each heading; of numbers, the best bold, the second underlined.

    Cells are texts, numbers, or numbers with `low` and `high`, written as a range behind them.
    Lengths of time are in seconds, which their heading says. `best` says of columns whether higher
    is better. Equal as printed is equal: where two are the best, none is the second. With `across`,
    columns become rows, and that one the headings. The caption is the `title`, unless there is
    another; what is `said`, and the note, are below. A table that is wide for a page is set in
    smaller type; no cell is broken into lines. The document needs the package booktabs.

    >>> rows = [{"name": "a_1", "f1": 0.84}, {"name": "b", "f1": 0.91}]
    >>> text = latex_table(
    ...     rows, {"name": "detector", "f1": "F1"}, best={"f1": True}, title="F1", label="f1"
    ... )
    >>> print("\n".join(text.split("\n")[8:10]))
    a\_1 & \underline{0.840} \\
    b & \textbf{0.910} \\
    """
    for name, text in (("caption", caption), ("note", note)):
        if not isinstance(text, str):
            raise InputTypeError("to be text", shown(text), argument=name)
    cells = {name: [row.get(name) for row in rows] for name in headings}
    units = {name: " (s)" for name, values in cells.items() if any(map(_is_length, values))}
    named = [escape(text) + units.get(name, "") for name, text in headings.items()]
    columns = [_column(values, best.get(name)) for name, values in cells.items()]
    lines = [*zip(named, *zip(*columns, strict=True), strict=True)]
    kinds = "l" + "r" * len(rows)
    if across:
        first = [*headings].index(across)
        lines.insert(0, lines.pop(first))
    else:
        lines = [*zip(*lines, strict=True)]
        texts = [all(isinstance(row.get(name), str) for row in rows) for name in headings]
        kinds = "".join("l" if text else "r" for text in texts)
    widths = [[len(re.sub(_COMMANDS, "", cell)) + 1 for cell in cells] for cells in lines]
    width = sum(map(max, zip(*widths, strict=True)))
    size = next((size for most, size in _SIZES if width <= most), "tiny")
    head, *body = map(line, lines)
    return floating(
        kinds,
        [head],
        body,
        caption=caption or title,
        label=label,
        notes=filter(None, (said, note)),
        size=size,
        between=3 if size == "footnotesize" else 2,
    )


def _column(cells: Sequence[Any], higher: bool | None) -> list[str]:
    """Write the cells of a column with as many decimals, and mark its best."""
    values = [None if isinstance(cell, str) else _value(cell) for cell in cells]
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    whole = largest >= _MANY or all(isinstance(cell, int | str | None) for cell in cells)
    # A third decimal says little where limits are farther apart.
    fine = largest <= 1 and not any(hasattr(cell, "low") for cell in cells)
    decimals = 0 if whole else 3 if fine else 2
    texts = [None if value is None else f"{value:z.{decimals}f}" for value in values]
    known = [float(text) for text in texts if text is not None]
    marks: dict[float, str] = {}
    if higher is not None and len(set(known)) > 1:
        first, second, *_ = sorted(set(known), reverse=higher)
        marks = {first: "\\textbf"} | ({second: "\\underline"} if known.count(first) == 1 else {})
    written = []
    for cell, text in zip(cells, texts, strict=True):
        if text is None:
            written.append(escape(plain_name(cell)) if isinstance(cell, str) else _NO_NUMBER)
            continue
        mark = marks.get(float(text))
        limits = [getattr(cell, name, nan) for name in ("low", "high")]
        low, high = (f"{limit:z.{decimals}f}" for limit in limits)
        marked = f"{mark}{{{text}}}" if mark else text
        written.append(marked if isnan(limits[0]) else f"{marked} ({low}--{high})")
    return written


def _is_length(cell: Any) -> bool:
    return isinstance(cell, np.timedelta64)


def _value(cell: Any) -> float | None:
    value = plain(cell) if _is_length(cell) else getattr(cell, "value", cell)
    return None if value is None or not isfinite(value) else float(value)

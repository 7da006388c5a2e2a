r"""Tables for papers: LaTeX with the rules of the package booktabs."""

from __future__ import annotations

import re
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputTypeError, shown
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
_LETTERS, _SMALL_LETTERS = 82, 88  # that fit the text width of an article, in either size
_NARROWEST = 9  # letters of a name in one line
_LETTER = 0.47  # of an em
_SHORT = 4  # letters, behind which a word without marks may be broken
_CHARACTERS = re.compile(r"\\[a-z]+\{\}|\\.|.")  # of escaped text
_MARKS = ("\\_", *"-./: ")  # behind which a name may be broken


def escape(text: str) -> str:
    r"""Write text so that LaTeX prints it as it is.

    >>> print(escape("# events: 6% of Y < 40"))
    \# events: 6\% of Y \textless{} 40
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def _breakable(text: str) -> str:
    """Let LaTeX begin a new line after each part of a signature."""
    return text.replace(_SPECIAL["|"], _SPECIAL["|"] + r"\allowbreak{}")


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
    lines = [
        "\\begin{table}",
        f"\\centering\\{size}\\setlength{{\\tabcolsep}}{{{between}pt}}",
        f"\\caption{{{escape(caption)}.}}",
        f"\\label{{tab:{label}}}",
        f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        *("\\toprule", *head, "\\midrule", *body, "\\bottomrule"),
        "\\end{tabular}",
        *(f"\\par\\smallskip {_breakable(escape(note))}" for note in notes),
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
    is better. Equal as printed is equal: where two are the
    best, none is the second. With `across`, columns become rows, and that one the headings. The
    caption is the `title`, unless there is another; what is `said`, and the note, are below. The
    document needs the package booktabs.

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
    units = {name: " (s)" for name, own in cells.items() if any(map(_is_length, own))}
    named = [_Text(escape(text) + units.get(name, "")) for name, text in headings.items()]
    columns = [_column(own, best.get(name)) for name, own in cells.items()]
    lines = [*zip(named, *zip(*columns, strict=True), strict=True)]
    kinds = "l" + "r" * len(rows)
    if across:
        first = [*headings].index(across)
        lines.insert(0, lines.pop(first))
    else:
        lines = [*zip(*lines, strict=True)]
        texts = [all(isinstance(row.get(name), str) for row in rows) for name in headings]
        kinds = "".join("l" if own else "r" for own in texts)
    own = [*zip(*lines, strict=True)]
    wide = sum(max(map(_letters, column)) for column in own) > _LETTERS
    head, *body = map(line, zip(*_narrowed(own), strict=True))
    return floating(
        kinds,
        [head],
        body,
        caption=caption or title,
        label=label,
        notes=filter(None, (said, note)),
        size="scriptsize" if wide else "footnotesize",
        between=2 if wide else 3,
    )


class _Text(str):
    """A cell that may be broken into lines."""

    __slots__ = ()


def _letters(cell: str) -> int:
    """Return about how many letters wide a cell is, with the space beside it."""
    return len(re.sub(_COMMANDS, "", cell)) + 1


def _narrowed(columns: list[tuple[str, ...]]) -> list[list[str]]:
    """Break texts into lines where the table is wider than the page, the longest ones first."""
    longest = [max(map(_letters, column)) for column in columns]
    fixed = [max((_letters(c) for c in x if not isinstance(c, _Text)), default=0) for x in columns]
    sides = [*zip(fixed, longest, strict=True)]
    fitting = (
        most
        for most in range(max(longest), _NARROWEST, -1)
        if sum(max(least, min(width, most)) for least, width in sides) <= _SMALL_LETTERS
    )
    most = next(fitting, _NARROWEST)
    return [
        [_broken(cell, max(least, most), first=not place, head=not row) for row, cell in own]
        for place, (least, own) in enumerate(zip(fixed, map(enumerate, columns), strict=True))
    ]


def _broken(cell: str, most: int, *, first: bool, head: bool) -> str:
    """Let a text that is longer have several lines; its words are broken if they are, too."""
    if not isinstance(cell, _Text) or _letters(cell) <= most:
        return cell
    words: list[list[str]] = [[]]
    for character in _CHARACTERS.findall(cell):
        words[-1].append(character)
        if character in _MARKS:
            words.append([])
    parts = []
    for word in words:
        size = len(word) if len(word) + 2 < most else _SHORT
        parts += ["".join(word[start : start + size]) for start in range(0, len(word), size or 1)]
    text = "\\allowbreak{}".join(parts)
    place, side = "b" if head else "t", "right" if first else "left"
    return f"\\parbox[{place}]{{{_LETTER * most:.1f}em}}{{\\ragged{side} {text}\\strut}}"


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
            named = isinstance(cell, str)
            written.append(_Text(escape(plain_name(cell))) if named else _NO_NUMBER)
            continue
        mark = marks.get(float(text))
        limits = [getattr(cell, name, nan) for name in ("low", "high")]
        low, high = (f"{limit:z.{decimals}f}" for limit in limits)
        own = f"{mark}{{{text}}}" if mark else text
        written.append(own if isnan(limits[0]) else f"{own} ({low}--{high})")
    return written


def _is_length(cell: Any) -> bool:
    return isinstance(cell, np.timedelta64)


def _value(cell: Any) -> float | None:
    value = plain(cell) if _is_length(cell) else getattr(cell, "value", cell)
    return None if value is None or not isfinite(value) else float(value)

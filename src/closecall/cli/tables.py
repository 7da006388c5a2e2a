"""Tables that fit the terminal: split where they are too wide, with one name for each detector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from closecall.cli.names import SHORTEST_NAME, plain_name, short_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

_EASY_NAME, _EASY_SHARE = 14, 1 / 4  # of the terminal: what names keep before tables are split


@dataclass(frozen=True)
class Column:
    """One column of a table, ready to print."""

    heading: str
    cells: list[Text]
    right: bool = True

    @property
    def width(self) -> int:
        """The cells that its widest line takes."""
        texts = [self.heading, *(cell.plain for cell in self.cells)]
        return max(cell_len(line) for text in texts for line in text.split("\n"))

    def stacked(self) -> Column:
        """Put the words of the heading, or a number and its limits, one under the other."""
        cells = [Text(cell.plain.replace(" (", "\n("), cell.style) for cell in self.cells]
        return Column(self.heading.replace(" ", "\n"), cells, self.right)


@dataclass(frozen=True)
class Grid:
    """Columns side by side."""

    columns: list[Column]
    gap: int = 2

    @property
    def width(self) -> int:
        """The cells that all of it takes."""
        return sum(column.width + self.gap for column in self.columns) - self.gap

    def table(self) -> Table:
        """Draw it."""
        table = Table(box=None, padding=(0, self.gap, 0, 0), pad_edge=False, header_style="bold")
        for column in self.columns:
            justify: Literal["left", "right"] = "right" if column.right else "left"
            table.add_column(Text(column.heading), justify=justify, vertical="bottom", no_wrap=True)
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            table.add_row(*cells)
        return table


Names = Mapping[str, str]  # by detector, what it is called in this output
Part = Callable[[Names], Grid | Text]  # of an output, once the names are known


def _blank(_: Names) -> Text:
    return Text()


def name_column(heading: str, names: Iterable[str], short: Names) -> Column:
    """Give the column that names detectors; no name is no detector."""
    cells = [Text(short[name] if name else "", style="bold cyan") for name in names]
    return Column(heading, cells, right=False)


class Page:
    """An output of several parts, in which each detector has one name, as long as all parts allow.

    Parameters
    ----------
    names
        The detectors, if there are several.
    console
        Where to print.
    """

    def __init__(self, names: Sequence[str], console: Console) -> None:
        self._names = names
        self._console = console
        self._parts: list[Part] = []
        easy = min(_EASY_NAME, int(console.width * _EASY_SHARE))
        self._easy = short_names(names, max(easy, SHORTEST_NAME))

    def text(self, text: str = "", style: str = "") -> None:
        """Add lines that name nobody."""
        shown = Text(text, style=style)
        self._parts.append(lambda _: shown)

    def add(self, *layouts: Sequence[Part]) -> None:
        """Add the first layout that fits, or the last."""
        self._parts += next(filter(self._fits, layouts), layouts[-1])

    def _fits(self, parts: Iterable[Part], short: Names | None = None) -> bool:
        made = (part(self._easy if short is None else short) for part in parts)
        return all(isinstance(one, Text) or one.width <= self._console.width for one in made)

    def split(
        self,
        keys: Callable[[Names], list[Column]],
        groups: Sequence[list[Column]],
        *,
        before: Sequence[Column] = (),
        after: Sequence[Column] = (),
    ) -> list[Part]:
        """Split groups of columns into tables that fit, all with the keys, and blank lines between.

        Parameters
        ----------
        keys
            The columns that say what a row is about.
        groups
            Columns that stay side by side, as a number and its chance level.
        before, after
            More columns of the first table; those after it come last if they do not fit.
        """

        def table(first: Sequence[Column], chosen: Sequence[Column]) -> Part:
            return lambda short: Grid([*first, *keys(short), *chosen])

        left, parts = list(groups), list[Part]()
        if after and not self._fits([table(before, [*left[0], *after])]):
            left, after = [*left, list(after)], ()
        while left:
            chosen = left.pop(0)
            if not self._fits([table(before, [*chosen, *after])]):
                chosen = [column.stacked() for column in chosen]
            while left and self._fits([table(before, [*chosen, *left[0], *after])]):
                chosen = [*chosen, *left.pop(0)]
            parts += [table(before, [*chosen, *after]), _blank]
            before = after = ()
        return parts[:-1]

    def print(self) -> None:
        """Print all parts, with the longest names for which there is room."""
        width = self._console.width
        longest = max((cell_len(plain_name(name)) for name in self._names), default=0)
        for most in range(max(min(longest, width), SHORTEST_NAME), SHORTEST_NAME - 1, -1):
            short = short_names(self._names, most)
            if self._fits(self._parts, short):
                break
        for part in self._parts:
            made = part(short)
            self._console.print(made if isinstance(made, Text) else made.table())

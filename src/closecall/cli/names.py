"""Names that come from data, as text that can only be read: no markup, no control characters."""

from __future__ import annotations

from collections import Counter
from itertools import count, takewhile
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST_NAME = 6
_DOTS = "..."


def plain_name(name: str, most: int | None = None) -> str:
    r"""Write a name on one line; of one that is too wide, both ends, which tell names apart.

    Examples
    --------
    >>> plain_name("a\nb\x1b[31m"), plain_name("isolation_forest_200_trees", 15)
    ('a\\nb\\x1b[31m', 'isolat..._trees')
    """
    text = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in name
    )
    if most is None or cell_len(text) <= most:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while cell_len(head) + cell_len(tail) + len(_DOTS) > most and (head or tail):
        if cell_len(head) >= cell_len(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return f"{head}{_DOTS}{tail}"


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Shorten different names to different texts of at most so many cells.

    Where the ends of names are the same, what is shown is the part where they differ; names that
    this does not tell apart are numbered.

    Examples
    --------
    >>> list(short_names(["forest_window_100_v2", "forest_window_200_v2", "lof"], 13).values())
    ['...dow_100_v2', '...dow_200_v2', 'lof']
    >>> list(short_names(["forest_window_100_v2", "forest_window_200_v2"], 6).values())
    ['...2~1', '...2~2']
    """
    short = {name: plain_name(name, most) for name in names}
    for text in _shared(short):
        alike = [name for name, own in short.items() if own == text]
        short |= _differing([plain_name(name) for name in alike], alike, most)
    return _numbered(short, most)


def _shared(short: dict[str, str]) -> list[str]:
    return [text for text, times in Counter(short.values()).items() if times > 1]


def _differing(texts: list[str], names: list[str], most: int) -> dict[str, str]:
    """Show of each text what is between the start and the end that all of them share."""
    start = _same(texts)
    end = _same([text[start:][::-1] for text in texts])
    return {
        name: _around(text, start, len(text) - end, most)
        for name, text in zip(names, texts, strict=True)
    }


def _same(texts: list[str]) -> int:
    """Count the first letters that are the same in all texts."""
    return sum(1 for _ in takewhile(lambda own: len(set(own)) == 1, zip(*texts, strict=False)))


def _around(text: str, start: int, stop: int, most: int) -> str:
    """Show a part of a text, from its start on, and as much on both sides as there is room for."""
    first = last = start
    shown = _cut(text, first, last)
    while True:
        ways = [(first, last + 1), (first - 1, last)]
        if last >= stop and last - stop > start - first:
            ways.reverse()
        for one, other in ways:
            wider = _cut(text, one, other)
            if one >= 0 and other <= len(text) and cell_len(wider) <= most:
                first, last, shown = one, other, wider
                break
        else:
            return shown


def _cut(text: str, first: int, last: int) -> str:
    """Put dots for what is left out, unless it takes no more room than they do."""
    before, after = (
        part if cell_len(part) <= len(_DOTS) else _DOTS for part in (text[:first], text[last:])
    )
    return f"{before}{text[first:last]}{after}"


def _numbered(short: dict[str, str], most: int) -> dict[str, str]:
    """Put numbers at the end of those that are still the same."""
    shared, taken = set(_shared(short)), set(short.values())
    for name, text in short.items():
        if text in shared:
            ends = (f"~{number}" for number in count(1))
            tried = (f"{plain_name(name, most - len(end))}{end}" for end in ends)
            short[name] = next(one for one in tried if one not in taken)
            taken.add(short[name])
    return short

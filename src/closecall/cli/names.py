"""Names that come from data, as text that can only be read: no markup, no control characters."""

from __future__ import annotations

from rich.cells import cell_len

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

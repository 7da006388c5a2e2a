"""Names that come from data are text, and never a formula."""

from __future__ import annotations

_INVISIBLE = "\N{ZERO WIDTH SPACE}"


def plain(name: str) -> str:
    r"""Write a name so that matplotlib shows it letter by letter.

    Dollar signs would start a formula, and what cannot be printed has no letters.

    Examples
    --------
    >>> plain("price_$a_vs_$b"), plain("a\tb")
    ('price_\\$a_vs_\\$b', 'a\\tb')
    """
    printable = "".join(
        letter
        if letter.isprintable() or letter == "\n"
        else letter.encode("unicode_escape").decode("ascii")
        for letter in name
    )
    return printable.replace("$", r"\$")


def plain_key(text: str) -> str:
    """Write a name for a legend, which would leave out one that starts with an underscore."""
    return f"{_INVISIBLE}{text}" if text.startswith("_") else text

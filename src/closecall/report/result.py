"""What `report` returns: a page to save, or to look at in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from closecall.report.trouble import SeriesTrouble

_HEIGHT = 900  # pixels, in a notebook


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """A self-contained interactive page, which displays itself in a notebook.

    Examples
    --------
    >>> from closecall.report import report
    >>> page = report([0, 1, 1, 0, 0, 0], scores=[0.1, 0.9, 0.7, 0.8, 0.1, 0.0])
    >>> page.save("report.html").name
    'report.html'
    """

    title: str
    """What the page is called."""
    series: tuple[str, ...]
    """Names of the series it shows."""
    detectors: tuple[str, ...]
    """Names of the detectors it shows."""
    html: str
    """The whole page."""
    troubles: tuple[SeriesTrouble, ...] = ()
    """What is not scored on a page of many series, and why."""

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, which any browser opens, and give its path."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        count = f"{len(self.series)} series, " if len(self.series) > 1 else ""
        names = ", ".join(self.detectors)
        return f"Report({self.title!r}, {count}detectors: {names}; {len(self.html) / 1e6:.1f} MB)"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, in a frame of its own."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )

"""All of the paper's tables in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.datasets import load_kdd2022
from closecall.paper.characteristics import characteristics
from closecall.paper.closed_forms import closed_forms
from closecall.paper.comparison import comparison
from closecall.paper.description import description
from closecall.paper.per_event import event_counts, per_event
from closecall.paper.result import Reproduction
from closecall.paper.running_example import running_example

if TYPE_CHECKING:
    from os import PathLike


def reproduce(folder: str | PathLike[str] | None = None) -> Reproduction:
    """Compute every table of the paper, and set each cell beside the published one.

    Two cells match when they are the same once written as the paper writes them; where they do
    not, the cell's note says why, if that is known.

    Parameters
    ----------
    folder
        Where the labels are, as for `closecall.datasets.load_kdd2022`; downloaded by default.

    Returns
    -------
    Reproduction
        The tables ``characteristics``, ``running_example``, ``datasets``, ``comparison``,
        ``per_event``, ``counts`` and ``closed_forms``.

    Examples
    --------
    >>> paper = reproduce()  # doctest: +SKIP
    >>> paper["comparison"]  # doctest: +SKIP
    Table(comparison, 79 of 80 cells match)
    """
    data = load_kdd2022(folder)
    return Reproduction(
        (
            characteristics(),
            running_example(),
            description(data),
            comparison(data),
            per_event(data),
            event_counts(data),
            closed_forms(),
        )
    )

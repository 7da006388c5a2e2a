"""Pictures of events and scores, with matplotlib: an axes in, the same axes out.

Without matplotlib each raises `closecall.errors.MissingExtraError`, which names what to install.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from closecall.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from closecall.plot.batch import plot_batch
    from closecall.plot.comparison import plot_comparison
    from closecall.plot.curve import plot_curve
    from closecall.plot.distances import plot_distances
    from closecall.plot.events import plot_events
    from closecall.plot.ranks import plot_ranks
    from closecall.plot.single_prediction import plot_single_prediction
    from closecall.plot.survival import plot_survival

__all__ = [
    "plot_batch",
    "plot_comparison",
    "plot_curve",
    "plot_distances",
    "plot_events",
    "plot_ranks",
    "plot_single_prediction",
    "plot_survival",
]


def __getattr__(name: str) -> Any:
    """Load a function, and matplotlib with it, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needing_matplotlib():
        home = import_module(f"{__name__}.{name.removeprefix('plot_')}")
    globals()[name] = getattr(home, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


@contextmanager
def needing_matplotlib() -> Iterator[None]:
    """Name the extra to install where matplotlib is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise MissingExtraError("matplotlib", "plot") from error

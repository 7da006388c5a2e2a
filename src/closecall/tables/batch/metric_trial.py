"""A metric is tried on a few samples before a batch begins: a wrong call is said once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, UndefinedMetricError
from closecall.series import Pair, Scored, read_pair, read_scored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from closecall.metrics.registry import Metric

_TRUTH = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0])
_PREDICTED = np.array([0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0])
_SCORES = np.arange(12) % 5 + _PREDICTED
_WITHOUT_A_PACKAGE = ("affiliation", "affiliation_average_precision")
_OF_THE_SERIES = ("windows",)  # what is legal depends on each series


def try_metric(entry: Metric, parameters: Mapping[str, Any], *, timed: bool) -> None:
    """Refuse parameters that no series could be evaluated with, and a package that is missing.

    Parameters
    ----------
    entry, parameters
        The metric, and what it is called with.
    timed
        Whether the series have times. Of which kind is not known yet, so that a length of time
        that suits one kind is let through.

    Examples
    --------
    >>> from closecall.metrics.registry import find
    >>> try_metric(find("margin"), {"margin": -3}, timed=False)
    Traceback (most recent call last):
    closecall.errors.InputError: Expected `margin` to be a finite number of 0 or more, got -3.
    """
    if entry.name in _WITHOUT_A_PACKAGE or (entry.takes == "labels" and not parameters):
        return
    tried = {
        name: value
        for name, value in parameters.items()
        if name not in _OF_THE_SERIES and not callable(value)
    }
    dated = any(isinstance(value, timedelta | np.timedelta64) for value in tried.values())
    refusal: InputError | InputTypeError | None = None
    for few in _few_samples(entry, timed=timed, dated=dated):
        try:
            entry.function(few, None, **tried)
        except UndefinedMetricError:
            return
        except (InputError, InputTypeError) as error:
            refusal = refusal or error
        else:
            return
    if refusal is not None and any(f"`{name}`" in str(refusal) for name in tried):
        raise refusal


def _few_samples(entry: Metric, *, timed: bool, dated: bool) -> Iterator[Pair | Scored]:
    """Yield a small series on each axis that is possible, the likeliest first."""
    dates = np.datetime64("2000-01-01", "s") + np.arange(_TRUTH.size)
    axes: list[Any] = [None, np.arange(_TRUTH.size) / 2, dates] if timed else [None]
    for times in reversed(axes) if dated else axes:
        if entry.takes == "scores":
            yield read_scored(_TRUTH, _SCORES, times=times)
        else:
            yield read_pair(_TRUTH, _PREDICTED, times=times)

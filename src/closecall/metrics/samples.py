"""Scores read sample by sample: which samples are true, and how they rank by score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, InputTypeError, expected
from closecall.events import runs
from closecall.parameters import is_number, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.series import Scored


def read_count(value: Any, name: str, most: int | None = None) -> int:
    """Read a parameter that counts samples: a whole number from 0 on."""
    limit = "0 or more" if most is None else f"from 0 to {most:,}"
    rule = f"`{name}` to be a whole number of samples, {limit}"
    if not (is_number(value) and isinstance(value, int | np.integer)):
        hint = "It counts samples on every axis, also beside times."
        raise InputTypeError(expected(rule, shown(value), hint))
    if value < 0 or (most is not None and value > most):
        raise InputError(expected(rule, shown(value)))
    return int(value)


def true_samples(scored: Scored) -> NDArray[np.uint8]:
    """Give a 0/1 vector: 1 where the sample ``[t(i), t(i+1))`` meets a true event.

    Events that touch become one run of ones, as in a label vector.
    """
    truth, axis = scored.truth, scored.axis
    if axis.ticks is None:
        first, after = truth.starts, truth.stops
    else:
        _require_samples(scored)
        first = np.maximum(np.searchsorted(axis.ticks, truth.starts, side="right") - 1, 0)
        after = np.maximum(np.searchsorted(axis.ticks, truth.stops, side="left"), first + 1)
    steps = np.zeros(axis.length + 1, dtype=np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, after, -1)
    return (np.cumsum(steps[:-1]) > 0).view(np.uint8)


def _require_samples(scored: Scored) -> None:
    """Refuse an event that meets no sample, which no score could find."""
    truth, axis = scored.truth, scored.axis
    points = truth.starts == truth.stops
    early = (truth.stops < axis.start) | (~points & (truth.stops == axis.start))
    missed = early | (truth.starts >= axis.end)
    if missed.any():
        index = int(missed.argmax())
        raise InputError(
            expected(
                "each true event to meet a sample",
                f"{truth.text(index)} at index {index}",
                "This metric counts samples; pass `times` that cover every event.",
            )
        )


def true_runs(scored: Scored) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the first sample of each true event, and the sample after its last one."""
    return runs(true_samples(scored))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Some samples from the highest score down, in groups of equal scores."""

    samples: NDArray[np.int64]
    bounds: NDArray[np.int64]
    """Group k holds ``samples[bounds[k]:bounds[k + 1]]``."""
    above: NDArray[np.int64]
    """How many samples of the whole series score higher than each group."""
    reach: NDArray[np.int64]
    """How many score at least as high."""


def rank(scores: NDArray[Any], chosen: NDArray[np.int64]) -> Ranking:
    """Rank the chosen samples among all."""
    own = scores[chosen]
    # Among equal scores the order is the same for every type and on every machine.
    order = np.argsort(own, kind="stable")[::-1]
    own = own[order]
    first = np.flatnonzero(np.concatenate(([True], own[1:] != own[:-1])))
    everything = np.sort(scores)
    return Ranking(
        samples=chosen[order],
        bounds=np.append(first, own.size),
        above=scores.size - np.searchsorted(everything, own[first], side="right"),
        reach=scores.size - np.searchsorted(everything, own[first], side="left"),
    )

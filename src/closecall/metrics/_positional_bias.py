"""How much the parts of an event weigh: by their length, and by where in the event they lie.

Positions are counted from the start of the event itself, so moving the whole series changes
nothing. On an integer axis the samples 1 to L of an event have weights, which add up; on the
others a density is integrated. One closed form serves both: the first x samples of a rising bias
weigh x(x + 1)/2, the first x of a density x(x + 0)/2, and `step` is that 1 or 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.metrics._running_sums import RunningSums
from closecall.parameters import call_option, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from closecall.clock import Clock
    from closecall.events import Intervals

    Floats = NDArray[np.float64]
    Bias = str | Callable[[float, float], float]

_MOST_SAMPLES = 10**7  # a callable is asked about each sample
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)


def _flat(left: Floats, right: Floats, length: Floats, step: int) -> Floats:  # noqa: ARG001 - as the others
    return right - left


def _back(left: Floats, right: Floats, length: Floats, step: int) -> Floats:  # noqa: ARG001 - as the others
    return (right - left) * (right + left + step)


def _front(left: Floats, right: Floats, length: Floats, step: int) -> Floats:
    return (right - left) * ((length - right) + (length - left) + step)


def _middle(left: Floats, right: Floats, length: Floats, step: int) -> Floats:
    half = np.ceil(length / 2) if step else length / 2
    rising = _back(np.minimum(left, half), np.minimum(right, half), length, step)
    falling = _front(np.maximum(left, half), np.maximum(right, half), length, step)
    return rising + falling


_BIASES = {"flat": _flat, "front": _front, "middle": _middle, "back": _back}


def read_bias(bias: Any, name: str) -> None:
    """Refuse what is neither the name of a bias nor a function."""
    if not (callable(bias) or (isinstance(bias, str) and bias in _BIASES)):
        names = ", ".join(repr(known) for known in _BIASES)
        rule = f"`{name}` to be one of {names}, or a function of a position and a length"
        raise InputError(expected(rule, shown(bias)))


def weighted_shares(
    bias: Bias, name: str, events: Intervals, owner: NDArray[np.int64], parts: tuple[Any, Any]
) -> Floats:
    """Give which share of its event's weight each part [start, stop) of an event has.

    A part of a point is all of it. The name is that of the parameter which is the bias.
    """
    starts, stops = parts
    length = (events.stops - events.starts).astype(np.float64)[owner]
    left = (starts - events.starts[owner]).astype(np.float64)
    right = (stops - events.starts[owner]).astype(np.float64)
    shares = np.ones(length.size)
    ranged = length > 0
    own = (left[ranged], right[ranged], length[ranged])
    if isinstance(bias, str):
        step = int(events.clock.kind == "integer")
        weigh = _BIASES[bias]
        shares[ranged] = weigh(*own, step) / weigh(np.zeros_like(own[2]), own[2], own[2], step)
    elif events.clock.kind == "integer":
        shares[ranged] = _summed(_Asked(bias, name), *own)
    else:
        shares[ranged] = _integrated(_Asked(bias, name), owner[ranged], *own, clock=events.clock)
    return shares


@dataclass(frozen=True)
class _Asked:
    """A bias that is a function, and the parameter that it is."""

    function: Callable[[float, float], float]
    name: str

    def weight(self, position: float, length: float) -> float:
        return call_option(
            self.function, self.name, "a finite weight of 0 or more", _weighs, position, length
        )

    def require_some(self, total: Floats, length: Floats) -> Floats:
        if (total <= 0).any():
            event = f"an event of length {length[int((total <= 0).argmax())]:g}"
            rule = f"`{self.name}` to give some position a weight above 0"
            raise InputError(expected(rule, f"0 everywhere in {event}"))
        return total


def _weighs(weight: float) -> bool:
    return isfinite(weight) and weight >= 0


def _summed(bias: _Asked, left: Floats, right: Floats, length: Floats) -> Floats:
    """Ask a callable about each sample, once for events of equal length."""
    distinct = np.unique(length)
    if distinct.sum() > _MOST_SAMPLES:
        raise InputError(
            expected(
                f"events of at most {_MOST_SAMPLES} samples for a `{bias.name}` that is a function",
                f"{distinct.sum():.0f}",
                "Count time in a coarser unit, or in floats.",
            )
        )

    def weights(count: int) -> Floats:
        return np.array([bias.weight(i, count) for i in range(1, count + 1)])

    sums = RunningSums(length, weights)
    total = sums.between(np.zeros_like(length), length)
    return sums.between(left, right) / bias.require_some(total, length)


def _integrated(
    bias: _Asked,
    owner: NDArray[np.int64],
    left: Floats,
    right: Floats,
    length: Floats,
    *,
    clock: Clock,
) -> Floats:
    """Integrate a callable between all borders in an event, so that shares add up to one."""
    unit = clock.seconds if clock.kind == "datetime" else 1.0
    shares = np.empty(length.size)
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    for rows in np.split(np.arange(length.size), begin[1:]) if begin.size else []:
        whole = length[rows[0]]
        borders = np.unique(np.concatenate(([0, whole / 2, whole], left[rows], right[rows])))
        half_widths = np.diff(borders)[:, None] / 2
        positions = borders[:-1, None] + half_widths * (1 + _NODES)
        values = [bias.weight(x, whole * unit) for x in (positions * unit).ravel().tolist()]
        cells = (np.reshape(values, positions.shape) * _NODE_WEIGHTS * half_widths).sum(axis=1)
        before = np.concatenate(([0.0], np.cumsum(cells)))
        at = np.searchsorted(borders, right[rows]), np.searchsorted(borders, left[rows])
        shares[rows] = (before[at[0]] - before[at[1]]) / bias.require_some(
            before[-1:], length[rows[:1]]
        )
    return shares

"""What the metrics of the Numenta Anomaly Benchmark share: weights, sigmoid and normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.errors import InputError, expected
from closecall.parameters import read_amount, read_number, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEEPNESS = 5.0
FAR = 3.0  # window widths after a window, from where a false positive costs all it can
_PROBATION_ROWS = 5000  # rows of a series that count for the length of its probation


@dataclass(frozen=True, slots=True)
class NabProfile:
    """What an application gains and loses: the weights of a profile, all 0 or more.

    Examples
    --------
    >>> PROFILES["reward_low_FN_rate"]
    NabProfile(true_positive=1.0, false_positive=0.11, false_negative=2.0)
    """

    true_positive: float = 1.0
    """Gained for a window that is detected at its start."""
    false_positive: float = 0.11
    """Lost for a false positive far from any window."""
    false_negative: float = 1.0
    """Lost for a window that is missed."""

    def __post_init__(self) -> None:
        """Refuse weights that are no finite numbers of 0 or more."""
        for name in ("true_positive", "false_positive", "false_negative"):
            read_amount(getattr(self, name), name)


PROFILES = {
    "standard": NabProfile(),
    "reward_low_FP_rate": NabProfile(false_positive=0.22),
    "reward_low_FN_rate": NabProfile(false_negative=2.0),
}


def read_profile(profile: Any) -> NabProfile:
    """Look a profile up, or check the weights of one's own."""
    if isinstance(profile, NabProfile):
        return profile
    if isinstance(profile, str) and profile in PROFILES:
        return PROFILES[profile]
    names = ", ".join(repr(name) for name in PROFILES)
    raise InputError(expected(f"`profile` to be {names} or a NabProfile", shown(profile)))


def read_probation(probation: Any) -> float:
    """Read the share of a series that is not scored."""
    rule = "a number of 0 or more and below 1"
    return read_number(probation, "probation", rule, lambda x: 0 <= x < 1)


def probation_rows(rows: int, probation: float) -> int:
    """Give how many of the first rows are not scored."""
    return ceil(min(floor(probation * rows), probation * _PROBATION_ROWS))


def sigmoid(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map a place relative to a window to (-1, 1).

    A place is -1 at the start of the window, 0 at its end and 1 a window's width after it.

    Examples
    --------
    >>> sigmoid(np.array([-1.0, -0.5, 0.0, 1.0, 3.5])).round(5)
    array([ 0.98661,  0.84828,  0.     , -0.98661, -1.     ])
    """
    near = np.minimum(position, FAR)
    return np.where(position > FAR, -1.0, 2 / (1 + np.exp(_STEEPNESS * near)) - 1)


def reward(position: NDArray[np.float64], profile: NabProfile) -> NDArray[np.float64]:
    """Give what a detection at these places inside a window is worth; at the start, all of it."""
    best: float = sigmoid(np.array(-1.0)).item()
    return sigmoid(position) / best * profile.true_positive


def normalised(raw: float, windows: int, profile: NabProfile) -> float:
    """Put a score on the scale where no detection at all is 0 and a perfect detector 100."""
    null = -profile.false_negative * windows
    perfect = profile.true_positive * windows
    return 100 * (raw - null) / (perfect - null) if perfect > null else nan

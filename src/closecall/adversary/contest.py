"""The contest of random predictions: ranked by few draws, chosen by more, judged by fresh ones.

The best of many medians of a few draws is the luckiest as well, so its value says too much. Each
round draws afresh, and the draws of the last one had no say in what was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from closecall.adversary.families import Attempt


@dataclass(frozen=True)
class Round:
    """How often each random prediction is drawn in a round; its median draw stands for it."""

    draws: int
    most: int | None
    """How many of each family come this far; all if None."""


ROUNDS = (Round(5, None), Round(25, 3), Round(25, 1))


def remaining(
    attempts: Sequence[Attempt], number: int, worth: Callable[[int, int], float]
) -> list[int]:
    """List the random attempts that come as far as a round.

    They are the best of their families in the round before, by ``worth(attempt, round)``.
    """
    left = [index for index, attempt in enumerate(attempts) if attempt.family.random]
    for earlier, following in enumerate(ROUNDS[1 : number + 1]):
        families: dict[str, list[int]] = {}
        for index in sorted(left, key=lambda index: -worth(index, earlier)):
            families.setdefault(attempts[index].family.name, []).append(index)
        left = [index for own in families.values() for index in own[: following.most]]
    return left

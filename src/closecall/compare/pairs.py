"""Two detectors, event by event: the counts of section 4.3 of the paper."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.plain import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation


@dataclass(frozen=True, repr=False)
class PairComparison:
    """On how many events one detector does better or worse than another.

    Every true event is counted once: in one of the eight counts of events that both detect (with
    at least one prediction in the event's zone), or in one of the three of events that are
    undetected. Apart from these, ``missed_by_first`` and its like count events not caught.

    Examples
    --------
    >>> import closecall as cc
    >>> c = cc.compare([0, 0, 1, 1, 0], {"late": [0, 0, 0, 1, 1], "full": [0, 0, 1, 1, 0]})
    >>> c.pair("full", "late").better_both
    1
    """

    first: str
    second: str
    better_both: int
    """The first has the higher precision and the higher recall."""
    better_precision: int
    """The first has the higher precision, and the recall is equal."""
    better_recall: int
    """The first has the higher recall, and the precision is equal."""
    equivocal: int
    """Each has one of the two higher."""
    equal: int
    """Both are equal."""
    worse_both: int
    worse_precision: int
    worse_recall: int
    undetected_by_first: int
    """The first has no prediction in the event's zone, and the second has."""
    undetected_by_second: int
    undetected_by_both: int
    missed_by_first: int
    """The second caught the event, and the first did not."""
    missed_by_second: int
    missed_by_both: int
    precision_difference: float
    """Mean precision of the first, minus that of the second."""
    recall_difference: float
    f1_difference: float

    @property
    def better(self) -> int:
        """Events on which the first is better in something and worse in nothing."""
        return self.better_both + self.better_precision + self.better_recall

    @property
    def worse(self) -> int:
        """Events on which the first is worse in something and better in nothing."""
        return self.worse_both + self.worse_precision + self.worse_recall

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        values: dict[str, Any] = plain(self.values())
        return values

    def values(self) -> dict[str, Any]:
        """Return the names, all counts and the differences by name."""
        return asdict(self) | {"better": self.better, "worse": self.worse}

    def __repr__(self) -> str:
        undetected = self.undetected_by_first, self.undetected_by_second, self.undetected_by_both
        return (
            f"PairComparison({self.first!r} against {self.second!r}: {self.better} better "
            f"({self.better_both} both, {self.better_precision} precision, {self.better_recall} "
            f"recall), {self.equivocal} equivocal, {self.equal} equal, {self.worse} worse; "
            "undetected by first {}, by second {}, by both {})".format(*undetected)
        )


def compare_pair(
    results: dict[str, Affiliation], first: str, second: str, decimals: int | None
) -> PairComparison:
    """Count the events by who does better in what."""
    mine, theirs = results[first], results[second]
    # Without a prediction in its zone there is no precision to compare.
    absent = mine.events.predicted_count == 0, theirs.events.predicted_count == 0
    missed = mine.events.missed, theirs.events.missed
    found = ~absent[0] & ~absent[1]

    def signs(name: str) -> NDArray[np.float64]:
        ours, others = (
            rounded(getattr(side.events, name)[found], decimals) for side in (mine, theirs)
        )
        return np.sign(ours - others)

    precision, recall = signs("precision"), signs("recall")

    def count(precision_sign: int, recall_sign: int) -> int:
        return int(np.count_nonzero((precision == precision_sign) & (recall == recall_sign)))

    return PairComparison(
        first=first,
        second=second,
        better_both=count(1, 1),
        better_precision=count(1, 0),
        better_recall=count(0, 1),
        equivocal=count(1, -1) + count(-1, 1),
        equal=count(0, 0),
        worse_both=count(-1, -1),
        worse_precision=count(-1, 0),
        worse_recall=count(0, -1),
        **{
            f"{name}_by_{who}": int(np.count_nonzero(rows))
            for name, (ours, others) in (("undetected", absent), ("missed", missed))
            for who, rows in (
                ("first", ours & ~others),
                ("second", others & ~ours),
                ("both", ours & others),
            )
        },
        precision_difference=mine.precision - theirs.precision,
        recall_difference=mine.recall - theirs.recall,
        f1_difference=mine.f1 - theirs.f1,
    )


def rounded(column: NDArray[np.float64], decimals: int | None) -> NDArray[np.float64]:
    """Round scores before they are compared, if that was asked for."""
    return column if decimals is None else np.round(column, decimals)

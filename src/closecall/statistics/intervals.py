"""Scores with the limits between which they may lie, and cautions about too few events."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from closecall.errors import InputError
from closecall.notebook import display, heading
from closecall.parameters import read_number, require_count
from closecall.plain import plain
from closecall.wording import counted, pvalue_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCORES = ("precision", "recall", "f1")
_FEWEST_RESAMPLES = 100
_MOST_RESAMPLES = 1_000_000  # they are all held; the last digits settle long before
FEWEST = 2  # one event says nothing about others
# One of two equally good detectors wins all of m events by luck with probability 2 / 2**m: more
# than once in 20 up to five. So no honest method can tell two detectors apart with fewer than six.
FEWEST_TO_COMPARE = 6
FEW = 9
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
_NO_DIFFERENCE = (
    f"differences have no interval and no p-value, which take {FEWEST_TO_COMPARE} or more."
)


def read_level(level: Any) -> float:
    """Return the level as a float; raise if it is not between 0 and 1."""
    rule = "a number between 0 and 1"
    return read_number(level, "level", rule, lambda x: 0 < x < 1, "Pass 0.95 for 95 %.")


def read_drawing(n: Any, seed: Any) -> tuple[int, int]:
    """Return both as integers; raise if there are too few or too many resamples, or no seed."""
    require_count(n, "n", _FEWEST_RESAMPLES, _MOST_RESAMPLES)
    require_count(seed, "seed", 0)
    return int(n), int(seed)


def read_bounds(low: Any, high: Any) -> tuple[float, float]:
    """Return bounds as floats; raise if they are no numbers, or the wrong way round."""
    least, most = (
        read_number(bound, name, "a number, which may be infinite", lambda x: not isnan(x))
        for name, bound in (("low", low), ("high", high))
    )
    if least >= most:
        raise InputError("to be below `high`", f"{least:g} and {most:g}", argument="low")
    return least, most


def require_within(column: NDArray[np.float64], low: float, high: float) -> None:
    """Raise if a number is out of its bounds by more than rounding."""
    slack = 1e-9 * max(abs(bound) for bound in (low, high, 1.0) if isfinite(bound))
    outside = (column < low - slack) | (column > high + slack)
    if outside.any():
        index = int(outside.argmax())
        raise InputError(f"numbers from {low:g} to {high:g}", str(column[index]), index=index)


@dataclass(frozen=True, repr=False)
class Interval:
    """A score, and the limits between which it may lie; nan where nothing can be said.

    Examples
    --------
    >>> Interval(0.85, 0.7, 0.93)
    Interval(0.850, from 0.700 to 0.930)
    """

    value: float
    """The score itself, over the events at hand."""
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far the limits are apart; nan where there are none."""
        return self.high - self.low

    def to_dict(self) -> dict[str, float | None]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        values: dict[str, float | None] = plain(asdict(self))
        return values

    def __repr__(self) -> str:
        if isnan(self.low):
            return f"Interval({self.value:.3f}, no limits)"
        return f"Interval({self.value:.3f}, from {self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, repr=False)
class Difference(Interval):
    """By how much one detector is ahead of another on the same events.

    Examples
    --------
    >>> Difference(0.12, -0.02, 0.26, 0.09)
    Difference(+0.120, from -0.020 to +0.260, p-value 0.09)
    >>> Difference(0.12, -0.02, 0.26, 0.09).reversed().high
    0.02
    >>> from math import nan
    >>> Difference(nan, nan, nan, nan)
    Difference(nan, no limits)
    """

    pvalue: float
    """Two-sided p-value of equally good detectors, in [0, 1]; nan with fewer than six events.

    How often detectors that are equally good on all events there could be would differ so much on
    as many events. The interval leaves out 0 where this is below 1 - level. It is never below the
    p-value of the paired t-test (`closecall.statistics.leads`), nor is it the probability that
    they are equally good.
    """

    def reversed(self) -> Difference:
        """Return the same seen from the other detector."""
        return Difference(-self.value, -self.high, -self.low, self.pvalue)

    def __repr__(self) -> str:
        value = "nan" if isnan(self.value) else f"{self.value:+.3f}"
        limits = "no limits"
        if not isnan(self.low):
            limits = f"from {self.low:+.3f} to {self.high:+.3f}"
        pvalue = "" if isnan(self.pvalue) else f", p-value {pvalue_text(self.pvalue)}"
        return f"Difference({value}, {limits}{pvalue})"


class Cautions(NamedTuple):
    """What the events at hand do not allow to say about a detector, or two; empty if nothing."""

    few: str
    """There are few events."""
    dependent: str
    """Consecutive events are alike, and should be taken in blocks."""
    precision: str
    """Few events have a precision; that does not touch recall."""

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(filter(None, self))

    @property
    def of_recall(self) -> str:
        """What holds for recall, which is defined on all events."""
        return self._replace(precision="").text


@dataclass(frozen=True, repr=False)
class ScoreIntervals:
    """Precision, recall and F1 of one detector, each with its interval.

    Examples
    --------
    >>> from closecall.statistics import hierarchical
    >>> s = hierarchical([0.9, 0.8, 1.0, 0.7], [1.0, 0.9, 0.8, 0.3], [1, 2, 3, 4])
    >>> s.recall
    Interval(0.750, from 0.337 to 0.943)
    >>> s.caution[:27]
    'There are only four series.'
    """

    precision: Interval
    recall: Interval
    f1: Interval
    level: float
    """How often such intervals hold the score of a detector on all events there could be."""
    n: int
    """How many resamples were drawn."""
    events: int
    """How many true events there are."""
    series: int | None
    """How many series they are from; None if events were resampled one by one."""
    block: int
    """How many consecutive events were resampled together; 1 for one by one."""
    cautions: Cautions
    """What the events do not allow to say, by reason."""
    signature: Any = field(default=None, compare=False)
    """The `closecall.signature.Signature` of the result; None for a table of numbers."""

    @property
    def caution(self) -> str:
        """What the events do not allow to say; empty if there is nothing."""
        return self.cautions.text

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        return {
            **{name: getattr(self, name).to_dict() for name in SCORES},
            "level": self.level,
            "n": self.n,
            "events": self.events,
            "series": self.series,
            "block": self.block,
            "caution": self.caution,
        }

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={limits(getattr(self, name))}" for name in SCORES)
        return f"ScoreIntervals({scores}, level={self.level:g}, {_counted(self)})"

    def _repr_html_(self) -> str:
        """Show the scores, their limits and the caution in a notebook."""
        scores = [("score", [*map(heading, SCORES)])]
        return display(
            f"{self.level:.3g} intervals over {_counted(self)}",
            [*scores, ("value and limits", [limits(getattr(self, name)) for name in SCORES])],
            self.caution and f"Caution. {self.caution}",
        )


def _counted(intervals: ScoreIntervals) -> str:
    events = counted(intervals.events, "event")
    if intervals.block > 1:
        return f"{events} in blocks of {intervals.block}"
    return events if intervals.series is None else f"{events} of {intervals.series} series"


def limits(interval: Interval) -> str:
    """Write a score and its limits on one line; a dash stands for what there is not.

    >>> from math import nan
    >>> limits(Interval(0.85, 0.7, 0.93)), limits(Difference(1.0, nan, nan, nan))
    ('0.850 [0.700, 0.930]', '1.000 -')
    """
    value = "-" if isnan(interval.value) else f"{interval.value:.3f}"
    if isnan(interval.low):
        return "-" if value == "-" else f"{value} -"
    return f"{value} [{interval.low:.3f}, {interval.high:.3f}]"


def caution_about(count: int, what: str = "events") -> str:
    """Return what so many events, or series, do not allow to conclude about a detector.

    >>> caution_about(3)[:71]
    'There are only three events. The scores hold for these; about others th'
    >>> caution_about(12)
    ''
    """
    if count == 0:
        return f"There are no {what} to tell from."
    if count < FEWEST:
        return (
            f"There is only one {_one(what)}. The scores hold for it, and say nothing about "
            "others: there are no intervals."
        )
    if count < FEWEST_TO_COMPARE:
        return (
            f"There are only {_WORDS[count]} {what}. The scores hold for these; about others they "
            "say little, and the intervals are as wide as that."
        )
    if count <= FEW:
        return f"There are only {count} {what}: the intervals are wide, and rough."
    return ""


def caution_about_pairs(count: int, what: str = "events") -> str:
    """Return what so many events, or series, do not allow to conclude about two detectors.

    >>> caution_about_pairs(3)[-66:]
    'differences have no interval and no p-value, which take 6 or more.'
    >>> caution_about_pairs(10)
    ''
    """
    if FEWEST <= count < FEWEST_TO_COMPARE:
        number = _WORDS[count]
        every = "both" if count == FEWEST else f"all {number}"
        return (
            f"There are only {number} {what}. They show who did better on these, and in what; not "
            f"who is better. One of two equally good detectors wins {every} by luck one time in "
            f"{2 ** (count - 1)}: {_NO_DIFFERENCE}"
        )
    if count == 1:
        return (
            f"There is only one {_one(what)}. It shows who did better on it, and says nothing "
            f"about who is better: {_NO_DIFFERENCE}"
        )
    return caution_about(count, what)


def _one(what: str) -> str:
    return {"events": "event", "blocks of events": "block of events"}.get(what, what)


def count_limits(count: int, level: float) -> tuple[float, float]:
    """Return the exact limits of a Poisson mean of which `count` was drawn (Garwood 1936).

    >>> [round(limit, 3) for limit in count_limits(5, 0.95)]
    [1.623, 11.668]
    """
    from scipy.special import gammainccinv, gammaincinv

    tail = (1 - level) / 2
    low = float(gammaincinv(count, tail)) if count else 0.0
    return low, float(gammainccinv(count + 1, tail))

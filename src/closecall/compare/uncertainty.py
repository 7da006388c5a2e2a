"""How sure a comparison is: intervals of scores and of differences, with p-values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal

from closecall.compare.tables import BACKENDS
from closecall.errors import InputError, shown
from closecall.notebook import display, heading
from closecall.parameters import is_text, require_choice
from closecall.plain import rows_frame
from closecall.statistics import (
    FEWEST_TO_COMPARE,
    SCORES,
    Cautions,
    Difference,
    Sample,
    ScoreIntervals,
    limits,
)
from closecall.wording import counted, pvalue_text

if TYPE_CHECKING:
    from closecall.affiliation import Affiliation
    from closecall.signature import Signature


@dataclass(frozen=True, repr=False)
class PairIntervals:
    """By how much the first detector is ahead of the second, with intervals.

    There are none, and no p-values, with fewer than six events; for precision and F1, with
    fewer than six on which each of the two has a precision.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.datasets import demo
    >>> data = demo()
    >>> c = cc.compare(data.truth, data.predicted, times=data.times)
    >>> c.intervals().pair("forecast", "threshold").precision
    Difference(+0.121, from -0.293 to +0.445, p-value 0.16)
    """

    first: str
    second: str
    precision: Difference
    recall: Difference
    f1: Difference
    cautions: Cautions
    """What the events do not allow to say, by reason."""

    @property
    def caution(self) -> str:
        """What the events do not allow to say; empty if there is nothing."""
        return self.cautions.text

    def reversed(self) -> PairIntervals:
        """Return the same seen from the second detector."""
        turned = {name: getattr(self, name).reversed() for name in SCORES}
        return PairIntervals(self.second, self.first, **turned, cautions=self.cautions)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        scores = {name: getattr(self, name).to_dict() for name in SCORES}
        return {"first": self.first, "second": self.second, **scores, "caution": self.caution}

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {limits(getattr(self, name))}" for name in SCORES)
        return f"PairIntervals({self.first!r} minus {self.second!r}: {scores})"


@dataclass(frozen=True, repr=False)
class ComparisonIntervals:
    """The intervals of every detector's scores, and of the differences of every two.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.datasets import demo
    >>> data = demo()
    >>> cc.compare(data.truth, data.predicted, times=data.times).intervals()
    ComparisonIntervals(2 detectors on 7 events, 0 of 1 pairs apart in F1, level=0.95, n=2000, \
caution='There are only 7 events: the intervals are wide, and rough.')
    """

    detectors: dict[str, ScoreIntervals]
    """By detector, its scores."""
    pairs: tuple[PairIntervals, ...]
    """Every two detectors, in their order: the first against the second."""
    level: float
    """How often such intervals are meant to hold what they are about."""
    n: int
    """How many resamples were drawn."""
    events: int
    """How many true events there are."""
    block: int
    """How many consecutive events were taken together."""
    caution: str
    """What so few events do not allow to say, or if they depend on each other; else empty."""
    sample: Sample = field(repr=False, compare=False)
    """The events behind the intervals."""
    signature: Signature = field(compare=False)
    """What decided these digits, in one line; see `closecall.signature`."""

    def events_needed(self, first: str, second: str, score: str = "f1") -> tuple[int, int] | None:
        """Return how many events are needed to show a difference with a power of 80 %: a range.

        For a difference in the score (``"precision"``, ``"recall"`` or ``"f1"``) at either of its
        limits, the larger one first. None if it cannot be said, as where 0 lies within the limits.
        See `closecall.statistics.events_needed`.

        Examples
        --------
        >>> import closecall as cc
        >>> from closecall.datasets import demo
        >>> data = demo()
        >>> c = cc.compare(data.truth, data.predicted, times=data.times)
        >>> print(c.intervals().events_needed("forecast", "threshold"))
        None
        >>> truth = [0, 1, 1] * 40
        >>> c = cc.compare(truth, {"a": truth, "b": [0, 1, 0] * 40})
        >>> c.intervals().events_needed("a", "b", "recall")
        (6, 6)
        """
        require_choice(score, "score", SCORES)
        self.pair(first, second)
        ours, theirs = ([*self.detectors].index(name) for name in (first, second))
        return self.sample.events_needed(ours, theirs, SCORES.index(score), self.level)

    def pair(self, first: str, second: str) -> PairIntervals:
        """Return by how much the first detector is ahead of the second."""
        named = is_text(first) and is_text(second)
        for pair in self.pairs if named else ():
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.first, pair.second) == (second, first):
                return pair.reversed()
        listed = ", ".join(map(repr, self.detectors))
        raise InputError(
            "two of the detectors",
            f"{shown(first)} and {shown(second)}",
            hint=f"There are: {listed}.",
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per score of each detector and of each pair, as a batch does.

        ``value``, ``low`` and ``high`` are those of the score named ``number`` of ``detector``,
        where ``against`` is empty, or of its lead over ``against``; ``pvalue`` is that of a lead,
        and otherwise nan. ``caution`` says what the events do not allow to say of this number; it
        is empty if there is nothing to say.
        """
        sides: list[tuple[str, str, ScoreIntervals | PairIntervals]] = [
            *((name, "", scores) for name, scores in self.detectors.items()),
            *((pair.first, pair.second, pair) for pair in self.pairs),
        ]
        rows = []
        for first, second, scores in sides:
            cautions = scores.cautions
            for name in SCORES:
                interval = getattr(scores, name)
                rows.append(
                    {
                        "detector": first,
                        "against": second,
                        "number": name,
                        "value": interval.value,
                        "low": interval.low,
                        "high": interval.high,
                        "pvalue": getattr(interval, "pvalue", nan),
                        "caution": cautions.of_recall if name == "recall" else cautions.text,
                    }
                )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        return {
            "level": self.level,
            "n": self.n,
            "events": self.events,
            "block": self.block,
            "detectors": {
                name: {score: getattr(row, score).to_dict() for score in SCORES}
                | {"caution": row.caution}
                for name, row in self.detectors.items()
            },
            "pairs": [pair.to_dict() for pair in self.pairs],
            "caution": self.caution,
        }

    def to_frame(self, backend: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return `rows` as a dataframe.

        Examples
        --------
        >>> import closecall as cc
        >>> truth = [0, 1, 1] * 40
        >>> c = cc.compare(truth, {"a": truth, "b": [0, 1, 0] * 40})
        >>> frame = c.intervals().to_frame("polars")
        >>> frame.filter(against="b", number="recall")["pvalue"].round(3).to_list()
        [0.0]
        """
        require_choice(backend, "backend", BACKENDS)
        return rows_frame(self.rows(), backend)

    def __repr__(self) -> str:
        events = counted(self.events, "event")
        apart = sum(pair.f1.low > 0 or pair.f1.high < 0 for pair in self.pairs)
        first, stop, _ = self.caution.partition(". ")
        caution = f", caution={first + stop.strip()!r}" if first else ""
        return (
            f"ComparisonIntervals({len(self.detectors)} detectors on {events}, "
            f"{apart} of {len(self.pairs)} pairs apart in F1, "
            f"level={self.level:g}, n={self.n}{caution})"
        )

    def _repr_html_(self) -> str:
        """Show the scores, the differences and the caution in a notebook."""
        rows: list[ScoreIntervals | PairIntervals] = [*self.detectors.values(), *self.pairs]
        pairs = [f"{pair.first} - {pair.second}" for pair in self.pairs]
        pvalues = [pvalue_text(pair.f1.pvalue) for pair in self.pairs]
        return display(
            f"{self.level:.3g} intervals over {counted(self.events, 'true event')}",
            [
                ("detector", [*self.detectors, *pairs]),
                *((heading(name), [limits(getattr(row, name)) for row in rows]) for name in SCORES),
                ("p-value of F1", [""] * len(self.detectors) + pvalues),
            ],
            self.caution and f"Caution. {self.caution}",
        )


def comparison_intervals(
    results: dict[str, Affiliation],
    signature: Signature,
    *,
    level: float,
    n: int,
    seed: int,
    block: int,
) -> ComparisonIntervals:
    """Take the events as one sample, for all detectors."""
    sides = [result.events for result in results.values()]
    sample = Sample.read(
        [side.precision for side in sides], [side.recall for side in sides], block=block
    )
    detectors = {}
    for place, (name, result) in enumerate(results.items()):
        intervals = sample.intervals(place, level, n=n, seed=seed)
        signed = result.signature.drawing(level, n, seed, block)
        detectors[name] = replace(intervals, signature=signed)
    pairs = tuple(
        _pair(sample, (first, second), (mine, theirs), level)
        for (mine, first), (theirs, second) in combinations(enumerate(results), 2)
    )
    return ComparisonIntervals(
        detectors=detectors,
        pairs=pairs,
        level=float(level),
        n=int(n),
        events=sample.events,
        block=sample.block,
        caution=_caution(detectors, pairs),
        sample=sample,
        signature=signature.drawing(level, n, seed, block),
    )


def _pair(
    sample: Sample, names: tuple[str, str], places: tuple[int, int], level: float
) -> PairIntervals:
    precision, recall, f1 = sample.differences(*places, level)
    return PairIntervals(*names, precision, recall, f1, sample.pair_cautions(*places))


def _caution(detectors: dict[str, ScoreIntervals], pairs: tuple[PairIntervals, ...]) -> str:
    """Join what holds for all with what holds for some, who are named."""
    if not pairs:
        return next(iter(detectors.values())).caution
    every = {name: row.cautions for name, row in detectors.items()}
    every |= {f"{pair.first} - {pair.second}": pair.cautions for pair in pairs}
    parts = [pairs[0].cautions.few]
    alike = [f"{name}: {row.dependent}" for name, row in every.items() if row.dependent]
    if alike:
        more = f" So for {len(alike) - 1} more detectors or pairs." if len(alike) > 1 else ""
        parts.append(alike[0] + more)
    parts += [
        f"{name}: {row.cautions.precision}"
        for name, row in detectors.items()
        if row.cautions.precision
    ]
    lacking = any(isnan(pair.f1.pvalue) and not isnan(pair.recall.pvalue) for pair in pairs)
    if lacking:
        parts.append(
            f"With fewer than {FEWEST_TO_COMPARE} events on which a detector has a precision, its "
            "differences in precision and F1 have no interval and no p-value."
        )
    return " ".join(filter(None, parts))

"""How sure a comparison is: the interval of each score and difference, and how surely one leads."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal

from closecall.compare.tables import rows_frame
from closecall.errors import InputError, expected
from closecall.statistics import (
    FEWEST_TO_COMPARE,
    SCORES,
    Difference,
    Resamples,
    ScoreIntervals,
    caution_about,
    caution_about_pairs,
    caution_html,
    limits,
)

if TYPE_CHECKING:
    from closecall.affiliation import Affiliation


@dataclass(frozen=True, repr=False)
class PairIntervals:
    """By how much the first detector is ahead of the second, with intervals.

    There are none, and no probabilities, with fewer than six events; for precision and F1, with
    fewer than six on which each of the two has a precision.

    Examples
    --------
    >>> import closecall as cc
    >>> from closecall.datasets import demo
    >>> data = demo()
    >>> c = cc.compare(data.truth, data.predicted, times=data.times)
    >>> c.intervals().pair("forecast", "threshold").precision
    Difference(+0.121, from -0.276 to +0.438, probability 0.75)
    """

    first: str
    second: str
    precision: Difference
    recall: Difference
    f1: Difference
    caution: str
    """What so few events do not allow to say; empty if there are enough."""

    def reversed(self) -> PairIntervals:
        """Return the same seen from the second detector."""
        turned = {name: getattr(self, name).reversed() for name in SCORES}
        return PairIntervals(self.second, self.first, **turned, caution=self.caution)

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
    caution: str
    """What so few events do not allow to say; empty if there are enough."""

    def pair(self, first: str, second: str) -> PairIntervals:
        """Return by how much the first detector is ahead of the second."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.first, pair.second) == (second, first):
                return pair.reversed()
        listed = ", ".join(map(repr, self.detectors))
        raise InputError(
            expected("two of the detectors", f"{first!r} and {second!r}", f"There are: {listed}.")
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per score of each detector and of each pair, as a batch does.

        ``value``, ``low`` and ``high`` are those of the score named ``number`` of ``detector``,
        where ``against`` is empty, or of its lead over ``against``; ``probability`` is that of a
        lead, and otherwise nan. ``caution`` says what so few events do not allow to say of this
        number; it is empty if there are enough.
        """
        of_one, of_two = caution_about(self.events), caution_about_pairs(self.events)
        sides: list[tuple[str, str, ScoreIntervals | PairIntervals, str]] = [
            *((name, "", scores, of_one) for name, scores in self.detectors.items()),
            *((pair.first, pair.second, pair, of_two) for pair in self.pairs),
        ]
        rows = []
        for first, second, scores, general in sides:
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
                        "probability": getattr(interval, "probability", nan),
                        # Precision may be defined on fewer events, recall is on all.
                        "caution": general if name == "recall" else scores.caution,
                    }
                )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        return {
            "level": self.level,
            "n": self.n,
            "events": self.events,
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
        >>> frame.filter(against="b", number="recall")["probability"].to_list()
        [0.9995]
        """
        return rows_frame(self.rows(), backend)

    def __repr__(self) -> str:
        events = f"{self.events} event{'' if self.events == 1 else 's'}"
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
        head = "<tr><th></th><th>precision</th><th>recall</th><th>F1</th><th>better F1</th></tr>"
        rows = "".join(_html_row(name, scores) for name, scores in self.detectors.items())
        rows += "".join(
            _html_row(f"{pair.first} - {pair.second}", pair, _surely(pair.f1))
            for pair in self.pairs
        )
        return (
            f"<div><p>{self.level:.3g} intervals over {self.events} true events; better F1: how "
            f"surely the first is ahead</p><table><thead>{head}</thead>"
            f"<tbody>{rows}</tbody></table>{caution_html(self.caution)}</div>"
        )


def _surely(lead: Difference) -> str:
    return "-" if isnan(lead.probability) else f"{lead.probability:.2f}"


def _html_row(name: str, scores: ScoreIntervals | PairIntervals, probability: str = "") -> str:
    cells = "".join(f"<td>{limits(getattr(scores, score))}</td>" for score in SCORES)
    return f"<tr><th>{escape(name)}</th>{cells}<td>{probability}</td></tr>"


def comparison_intervals(
    results: dict[str, Affiliation], *, level: float, n: int, seed: int
) -> ComparisonIntervals:
    """Resample the events once, for all detectors."""
    sides = [result.events for result in results.values()]
    resamples = Resamples.draw(
        [side.precision for side in sides], [side.recall for side in sides], n=n, seed=seed
    )
    detectors = {name: resamples.intervals(place, level) for place, name in enumerate(results)}
    pairs = tuple(
        _pair(resamples, (first, second), (mine, theirs), level)
        for (mine, first), (theirs, second) in combinations(enumerate(results), 2)
    )
    events = len(sides[0])
    return ComparisonIntervals(
        detectors=detectors,
        pairs=pairs,
        level=float(level),
        n=int(n),
        events=events,
        caution=_caution(events, detectors, pairs),
    )


def _pair(
    resamples: Resamples, names: tuple[str, str], places: tuple[int, int], level: float
) -> PairIntervals:
    precision, recall, f1 = resamples.differences(*places, level)
    return PairIntervals(*names, precision, recall, f1, resamples.pair_caution(*places))


def _caution(
    events: int, detectors: dict[str, ScoreIntervals], pairs: tuple[PairIntervals, ...]
) -> str:
    """Return what all events do not allow, or else what those that few detectors found do not."""
    if not pairs:
        return next(iter(detectors.values())).caution
    if events < FEWEST_TO_COMPARE:
        return caution_about_pairs(events)
    few = [f"{name}: {row.caution}" for name, row in detectors.items() if row.caution]
    general = caution_about_pairs(events)
    parts = [general] if general else few
    if any(isnan(pair.f1.probability) for pair in pairs):
        parts.append(
            f"With fewer than {FEWEST_TO_COMPARE} events on which a detector has a precision, its "
            "differences in precision and F1 have no interval and no probability."
        )
    return " ".join(parts)

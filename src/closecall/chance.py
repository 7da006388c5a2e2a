"""Whether a detector is better than chance: its alarms, or scores, or the events, shifted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from closecall.affiliation._shift_kernels import TOLERANCE
from closecall.affiliation.event_scores import TrueEvents
from closecall.affiliation.shifts import above_chance, higher_level, score_shifts
from closecall.affiliation.sweep import roll_scores, score_rolls
from closecall.errors import InputError, InputTypeError, shown
from closecall.notebook import MOST_ROWS, display, heading, more_rows, time_columns
from closecall.parameters import read_flag, require_choice, require_count, require_progress
from closecall.plain import flat_numbers, plain
from closecall.series import SHIFTS, Pair, Scored, read_pair, read_scored
from closecall.signature import sign
from closecall.statistics import SCORES
from closecall.statistics.leads import CORRECTIONS, Correction, adjust_pvalues
from closecall.wording import pvalue_text, score_or_dash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from closecall.signature import Signature

    Progress = Callable[[int, int], None]

__all__ = [
    "EventSignificance",
    "EventTests",
    "ScoresSignificance",
    "ShiftTest",
    "Significance",
    "adjust_pvalues",
    "significance",
]

MOST_SHIFTS = 1_000_000
LEVEL, EFFECT = 0.05, 0.05  # what is told to be better than chance has both
_BEST = "best_f1"

_NOTEBOOK: dict[str, tuple[str, Callable[[Any], str]]] = {  # numbers of each event's scores
    "observed": ("{}", score_or_dash),
    "mean": ("{} by chance", score_or_dash),
    "pvalue": ("p-value of {}", pvalue_text),
    "adjusted_pvalue": ("adjusted, of {}", pvalue_text),
}


@dataclass(frozen=True, repr=False, eq=False)
class ShiftTest:
    """One score, and its values where predictions, or the true events, are shifted."""

    name: str
    """What the score is called in a sentence."""
    observed: float
    """The score of the predictions where they are; nan if it is undefined."""
    null: NDArray[np.float64]
    """The score of each shift of the predictions."""
    shifted: str
    """What was shifted, in words: ``alarms``, or ``scores``."""
    exact: bool
    """Whether these are all shifts there are, no shift at all among them."""
    event_null: NDArray[np.float64] | None = None
    """The score of each shift of the true events, where these were shifted, too."""

    @property
    def at_least(self) -> int:
        """How many shifts score at least as well; a difference within 1e-12 is a tie.

        Where both sides were shifted, these are of the side with the larger p-value.
        """
        return self._counts[0]

    @property
    def draws(self) -> int:
        """How many shifts these are counted among."""
        return self._counts[1]

    @property
    def pvalue(self) -> float:
        """One-sided p-value in (0, 1]; nan if undefined.

        The share of all shifts that score at least as well, if all were scored; else the same with
        the observed score counted among them, (1 + at_least) / (1 + draws). Where both sides were
        shifted, it is the larger of the two.
        """
        return nan if isnan(self.observed) else float(_shares(*self._counts, exact=self.exact))

    @property
    def mean(self) -> float:
        """Mean score of the shifts: the level of chance. Of two sides, the higher."""
        return self._level[0]

    @property
    def std(self) -> float:
        """Standard deviation of the scores of the shifts whose mean is taken."""
        return self._level[1]

    @cached_property
    def _level(self) -> tuple[float, float]:
        sides = [(null.mean(), null.std()) for null in self._nulls]
        mean, std = higher_level(self.observed, sides[0], sides[-1])
        return float(mean), float(std)

    @property
    def _nulls(self) -> list[NDArray[np.float64]]:
        return [null for null in (self.null, self.event_null) if null is not None]

    @cached_property
    def _counts(self) -> tuple[int, int]:
        reached = self.observed - TOLERANCE
        counts = [(int(np.count_nonzero(null >= reached)), null.size) for null in self._nulls]
        return max(counts, key=lambda each: float(_shares(*each, exact=self.exact)))

    @property
    def above_chance(self) -> float:
        """How far the score is above their mean; see `closecall.affiliation.shifts.above_chance`.

        At most 1, 0 at chance, negative below; nan if the score is undefined.
        """
        return float(above_chance(self.observed, self.mean))

    @property
    def better_than_chance(self) -> bool:
        """Whether p is at most 0.05, and the score at least 0.05 above chance.

        A p-value alone says that a difference is there, not that it matters: alarms at all times
        but one always have some shift that is a little worse.
        """
        return self.pvalue <= LEVEL and self.above_chance >= EFFECT

    @property
    def sentence(self) -> str:
        """The finding in words: the effect, and the p-value."""
        if isnan(self.observed):
            return f"There are no {self.shifted} to move, so {self.name} is undefined."
        moved = f"the same {self.shifted} moved"
        if self.event_null is not None:
            moved = f"shifted {self.shifted} or events"
        elif self.name == "best F1":
            moved = f"the same {self.shifted} re-tuned in every shift"
        return (
            f"{self.name[:1].upper()}{self.name[1:]} {score_or_dash(self.observed)} where {moved} "
            f"reach {score_or_dash(self.mean)} on average "
            f"({_effect(self.above_chance)}, p = {self.pvalue:.2g})."
        )

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values that any JSON writer takes, without the draws; nan becomes None."""
        names = ("observed", "pvalue", "at_least", "mean", "std", "above_chance")
        values = {name: getattr(self, name) for name in names}
        if isnan(self.observed):
            values["at_least"] = nan
        numbers: dict[str, float | int | None] = plain(values)
        return numbers

    def __repr__(self) -> str:
        return (
            f"ShiftTest(observed={self.observed:.3f}, pvalue={self.pvalue:.3g}, "
            f"null={self.mean:.3f} +/- {self.std:.3f}, n={self.null.size})"
        )


def _shares(at_least: Any, draws: Any, *, exact: bool) -> Any:
    """Return p-values: exact ones, or those of draws that the observed score is counted among."""
    added = 0 if exact else 1
    return (at_least + added) / np.maximum(np.add(draws, added), 1)


def _effect(above: float) -> str:
    """Write how far a score is above chance, and below as such."""
    if isnan(above):
        return "chance is perfect"
    text = f"{abs(above):.2f}"
    if float(text) == 0:
        return "at chance"
    return f"{text} {'above' if above > 0 else 'below'} chance"


@dataclass(frozen=True, repr=False, eq=False)
class EventTests:
    """One score of every true event, each beside its values for the shifts; columns are arrays."""

    observed: NDArray[np.float64]
    """The event's score where the predictions are; nan where it is undefined."""
    draws: NDArray[np.int64]
    """In how many shifts the score is defined there: of alarms or events, as p is larger."""
    at_least: NDArray[np.int64]
    """How many of these score at least as well there; a difference within 1e-12 is a tie."""
    mean: NDArray[np.float64]
    """Mean score of the shifts, the higher of both sides; nan if it is never defined."""
    std: NDArray[np.float64]
    """Standard deviation of the scores of the shifts whose mean is taken."""
    exact: bool
    """Whether these are all shifts there are, no shift at all among them."""
    correction: Correction
    """How `adjusted_pvalue` allows for the number of events."""

    @cached_property
    def pvalue(self) -> NDArray[np.float64]:
        """One-sided p-value of each event, among the shifts in which its score is defined.

        nan where the observed score is undefined.
        """
        pvalue = _shares(self.at_least, self.draws, exact=self.exact)
        return np.where(np.isnan(self.observed), nan, pvalue)

    @cached_property
    def adjusted_pvalue(self) -> NDArray[np.float64]:
        """The p-values with all events taken into account, see `adjust_pvalues`."""
        return adjust_pvalues(self.pvalue, self.correction)

    @cached_property
    def above_chance(self) -> NDArray[np.float64]:
        """How far each event's score is above its mean over these shifts, as in `ShiftTest`."""
        above: NDArray[np.float64] = above_chance(self.observed, self.mean)
        return above

    def __len__(self) -> int:
        return self.observed.size

    def __repr__(self) -> str:
        return f"EventTests({len(self)} events, correction={self.correction!r})"


@dataclass(frozen=True, repr=False, eq=False)
class EventSignificance(TrueEvents):
    """The same for each true event; columns such as ``precision.pvalue`` are arrays."""

    precision: EventTests
    """Individual precision; undefined where no prediction is in the event's zone."""
    recall: EventTests
    """Individual recall; 0 where no prediction is in the event's zone."""
    f1: EventTests
    """Harmonic mean of the two; undefined where the precision is."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each event as plain JSON values; what is undefined becomes None."""
        clock, truth = self.pair.clock, self.pair.opened(self.pair.truth)
        dated = clock.kind == "datetime"
        columns = {
            f"{score}_{name}": getattr(getattr(self, score), name)
            for score in SCORES
            for name in ("observed", "mean", "above_chance", "pvalue", "adjusted_pvalue")
        }
        for index in range(len(self)):
            times = (truth.starts[index].item(), truth.stops[index].item())
            start, stop = (clock.text(t).replace(" ", "T") if dated else t for t in times)
            values = {name: column[index].item() for name, column in columns.items()}
            yield {"start": start, "stop": stop, **plain(values)}

    def __repr__(self) -> str:
        return f"EventSignificance({len(self)} events, correction={self.recall.correction!r})"


@dataclass(frozen=True, repr=False, eq=False)
class _ShiftTests:
    f1: ShiftTest
    """The test to name: of F1; of scores, of the best F1, whose threshold each shift chooses."""
    n: int
    """How many shifts were scored."""
    exact: bool
    """Whether these are all there are, so that p-values are exact."""
    signature: Signature
    """What decided these digits, in one line; see `closecall.signature`."""

    @property
    def sentence(self) -> str:
        """The finding in words: F1, what it is by chance, and its p-value."""
        return self.f1.sentence

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes, without the draws; nan becomes None.

        With `flat`, only numbers, by dotted names such as ``f1.pvalue``, as trackers of experiments
        take them.
        """
        values = {
            "n": self.n,
            "exact": self.exact,
            "sentence": self.sentence,
            **{name: test.to_dict() for name, test in self._tests.items()},
            "signature": str(self.signature),
        }
        return flat_numbers(values) if read_flag(flat, "flat") else values

    def _display(self, *more: Any) -> str:
        tests = self._tests.values()
        return display(
            self.sentence,
            f"Over {self._drawn}; the p-value to name is that of F1.",
            [
                ("score", [test.name for test in tests]),
                ("observed", [score_or_dash(test.observed) for test in tests]),
                ("by chance", [score_or_dash(test.mean) for test in tests]),
                ("above chance", [test.above_chance for test in tests]),
                ("p-value", [pvalue_text(test.pvalue) for test in tests]),
            ],
            *more,
        )

    @property
    def _tests(self) -> dict[str, ShiftTest]:
        return {name: test for name, test in vars(self).items() if isinstance(test, ShiftTest)}

    @property
    def _drawn(self) -> str:
        return f"{'all ' if self.exact else ''}{self.n} shifts"


@dataclass(frozen=True, repr=False, eq=False)
class Significance(_ShiftTests):
    """Whether alarms are where they are by more than chance: overall, and for each event.

    The p-value to name is that of F1; precision and recall are its parts, and three tests would
    be three chances to find something.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0] * 60 + [1] * 5 + [0] * 35
    >>> s = cc.significance(truth, [0] * 61 + [1] * 5 + [0] * 34)
    >>> s.sentence
    'F1 0.99 where shifted alarms or events reach 0.62 on average (0.98 above chance, p = 0.031).'
    """

    precision: ShiftTest
    """Mean individual precision, a part of F1."""
    recall: ShiftTest
    """Mean individual recall, a part of F1."""
    events: EventSignificance
    """The same for each true event."""

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes, without the draws; nan becomes None.

        With `flat`, only numbers, by dotted names such as ``f1.pvalue``, as trackers of experiments
        take them; the events are left out.
        """
        values = super().to_dict(flat=flat)
        if read_flag(flat, "flat"):
            return values
        head = {name: values[name] for name in ("n", "exact", "sentence")}
        head["correction"] = self.events.recall.correction
        return head | values | {"events": list(self.events.rows())}

    def _repr_html_(self) -> str:
        """Show the finding, overall and for the first events, in a notebook."""
        rows = list(islice(self.events.rows(), MOST_ROWS))
        columns = [
            (title.format(heading(score)), [write(row[f"{score}_{name}"]) for row in rows])
            for score in ("f1", "recall", "precision")
            for name, (title, write) in _NOTEBOOK.items()
        ]
        return self._display(
            f"Each event, with p-values adjusted by {self.events.recall.correction}:",
            [*time_columns(rows, "start", "stop"), *columns],
            more_rows(len(self.events), "event"),
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {getattr(self, name).pvalue:.3g}" for name in SCORES[:2])
        counts = f"{self._drawn}, {len(self.events)} events"
        return f"Significance(f1 p={self.f1.pvalue:.3g}, parts: {parts}; {counts})"


@dataclass(frozen=True, repr=False, eq=False)
class ScoresSignificance(_ShiftTests):
    """Whether scores are high where they are by more than chance, at a threshold or at all."""

    average_precision: ShiftTest
    """What `AffiliationCurve.average_precision` is."""

    def _repr_html_(self) -> str:
        """Show the finding, and each score beside that of the shifts, in a notebook."""
        return self._display()

    def __repr__(self) -> str:
        average = f"average_precision {self.average_precision.pvalue:.3g}"
        return f"ScoresSignificance(best f1 p={self.f1.pvalue:.3g}, {average}; {self._drawn})"


class _Options(TypedDict, total=False):
    n: int
    times: Any
    end: Any
    span: Any
    ignore: Any
    max_step: Any
    nan: str
    correction: Correction
    progress: Progress | None


@overload
def significance(
    truth: Any,
    predicted: None = None,
    *,
    scores: Any,
    threshold: Literal["best_f1"] | None = None,
    **options: Unpack[_Options],
) -> ScoresSignificance: ...
@overload
def significance(
    truth: Any,
    predicted: Any = None,
    *,
    scores: Any = None,
    threshold: float | None = None,
    **options: Unpack[_Options],
) -> Significance: ...
def significance(
    truth: Any,
    predicted: Any = None,
    *,
    scores: Any = None,
    threshold: float | Literal["best_f1"] | None = None,
    n: int = SHIFTS,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    correction: Correction = "holm",
    progress: Progress | None = None,
) -> Significance | ScoresSignificance:
    r"""Test whether predictions are closer to the true events than either side shifted in time.

    All alarms are shifted together; what leaves the span at its end comes back at its start. A
    shift keeps their number, lengths and spacing, and so everything but the link with the true
    events. The true events are shifted over the alarms in the same way. Where there are at most `n`
    shifts, all of them are scored and the p-value is exact: with :math:`T` a score and :math:`T_i`
    its values,

    .. math:: p = \frac1n \#\{i : T_i \ge T\}, \qquad
        \text{else} \quad p = \frac{1 + \#\{i : T_i \ge T\}}{n + 1},

    one-sided, in (0, 1]; lower is stronger evidence that the detector knows where the events are.
    The p-value is the larger of the two sides, and the level of chance the higher of their means.
    If the detector knows nothing, :math:`P(p \le \alpha) \le \alpha` for every level
    :math:`\alpha`, provided that any shift was as likely, of the alarms or of the events. Nothing
    is random: the same input gives the same digits. The cost is O(n (t + m)) for t true and m
    predicted events.

    Parameters
    ----------
    truth, predicted
        Two 0/1 vectors of one length, or two `Events`.
    scores
        Instead of `predicted`: one score per sample, higher is more anomalous.
    threshold
        Beside `scores`. A number: the alarms at that threshold are tested, as if they were
        `predicted`; it must not have been chosen on the same labels. ``"best_f1"`` (or none):
        the scores are rolled by whole samples, and each roll is scored at the threshold that is
        best for it. The cost is that of n curves without sorting.
    n
        How many shifts to score at most, of either side, from 1 to 1,000,000.
    times, end, span, ignore, max_step, nan
        As in `closecall.affiliation`; beside `scores` as in `closecall.affiliation_curve`. Ignored
        time does not exist, so nothing is moved there.
    correction
        How the adjusted p-values of the events allow for their number: ``"holm"``,
        ``"bonferroni"`` or ``"benjamini-hochberg"``, see `closecall.chance.adjust_pvalues`.
    progress
        Called with what is done and what there is to do, in shifts.

    Returns
    -------
    Significance
        ``sentence``; ``f1``, the test to name, and its parts ``precision`` and ``recall``, each
        with ``observed``, ``null`` and ``event_null`` (the scores of the shifts of either side),
        ``pvalue``, ``mean``, ``std``, ``above_chance`` and ``sentence``; ``events``, the same for
        each true event, with ``adjusted_pvalue``. For scores without a number as threshold, a
        `ScoresSignificance`, with ``f1`` (the best of all thresholds) and ``average_precision``.

    Notes
    -----
    Where evenly spaced samples are known, everything is shifted by whole samples, and else by the
    longest step that divides all times; by 1 where these are at most 1,000 whole numbers, and by
    any number where they are floats that no step divides. The seam is where the end of the series
    meets its start. It never cuts a true event; it cuts an alarm in two only where at most half of
    the time is in alarm: "everything but the first sample" has two shifts. Zones are those of the
    shifted events. A score within 1e-12 of the observed one is a tie, and counts as at least as
    good: a prediction that no shift changes has p = 1, and is at chance. Scores without a number as
    threshold are rolled, and the events stay.

    An event's precision and F1 are undefined where no prediction is in its zone. Then its p-values
    are nan, which count among the tests in the correction; otherwise it is compared with the shifts
    that do put a prediction in its zone. Its recall is always defined. Without any prediction
    precision and F1 are undefined, and recall, 0 in any case, has a p-value of 1.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0] * 60 + [1] * 5 + [0] * 35
    >>> late = [0] * 61 + [1] * 5 + [0] * 34
    >>> s = cc.significance(truth, late)
    >>> s
    Significance(f1 p=0.0312, parts: precision 0.0312, recall 0.0312; all 100 shifts, 1 events)
    >>> s.sentence
    'F1 0.99 where shifted alarms or events reach 0.62 on average (0.98 above chance, p = 0.031).'

    With scores, the threshold chosen again in every shift:

    >>> cc.significance(truth, scores=[-abs(sample - 61) for sample in range(100)])
    ScoresSignificance(best f1 p=0.03, average_precision 0.03; all 100 shifts)
    """
    require_count(n, "n", 1, MOST_SHIFTS)
    require_choice(correction, "correction", CORRECTIONS)
    require_progress(progress)
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    if isinstance(truth, Scored) or (scores is not None and predicted is None):
        scored = read_scored(truth, scores, **axis, nan=nan)
        scored.require_truth("affiliation")
        if threshold is None or (isinstance(threshold, str) and threshold == _BEST):
            return _of_scores(scored, n, progress)
        if isinstance(threshold, str):
            raise InputError(f"to be a number or '{_BEST}'", shown(threshold), argument="threshold")
        pair = scored.at(threshold)
    else:
        if not isinstance(truth, Pair) and (scores is None) == (predicted is None):
            got = "neither" if scores is None else "both"
            raise InputTypeError("either `predicted` or `scores`", got)
        if threshold is not None:
            raise InputTypeError("no `threshold` without `scores`", shown(threshold))
        pair = read_pair(truth, predicted, **axis)
        pair.require_truth("affiliation")
    return _of_alarms(pair.asking(threshold=threshold), n, correction, progress)


def _of_alarms(
    pair: Pair, n: int, correction: Correction, progress: Progress | None
) -> Significance:
    found = score_shifts(pair, n)
    alarms, moved = found.alarms, found.events
    count, exact = alarms.scores.shape[1], alarms.exact and moved.exact
    if progress is not None:
        progress(count, count)
    precision, recall, f1 = (
        ShiftTest("F1" if name == "f1" else name, float(observed), null, "alarms", exact, other)
        for name, observed, null, other in zip(
            SCORES, found.observed, alarms.scores, moved.scores, strict=False
        )
    )
    shares = [_shares(*side.events[1::-1], exact=exact) for side in (alarms, moved)]
    larger = shares[1] > shares[0]
    counts = np.where(larger, moved.events[:2], alarms.events[:2]).astype(np.int64)
    levels = higher_level(
        found.event_observed, alarms.events[2:], moved.events[2:], always=alarms.events[0] == count
    )
    columns = zip(found.event_observed, *counts, *levels, strict=True)
    settings: Any = {"exact": exact, "correction": correction}
    events = EventSignificance(pair, *(EventTests(*column, **settings) for column in columns))
    signature = sign("affiliation", pair, n=n, correction=correction)
    return Significance(f1, count, exact, signature, precision, recall, events)


def _of_scores(scored: Scored, n: int, progress: Progress | None) -> ScoresSignificance:
    rolls = score_rolls(scored.scores.size, n)
    observed = roll_scores(scored, rolls[:1] * 0)[:, 0].tolist()
    null, exact = roll_scores(scored, rolls, progress), rolls.size == scored.scores.size
    average, best = (
        ShiftTest(name, value, values, "scores", exact)
        for name, value, values in zip(
            ("average precision", "best F1"), observed, null, strict=True
        )
    )
    signature = sign("affiliation", scored, threshold=_BEST, n=n)
    return ScoresSignificance(best, rolls.size, exact, signature, average)

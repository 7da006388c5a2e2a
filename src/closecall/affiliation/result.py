"""What `affiliation` returns: the scores over all events, and what is said and written of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation import _kernels
from closecall.affiliation.event_scores import (
    ABOVE_CHANCE,
    SCORES,
    EventScores,
    chance_of,
    event_frame,
    notebook_columns,
    plain_detail,
)
from closecall.affiliation.shifts import caught_above_chance
from closecall.affiliation.zones import origin_of
from closecall.errors import InputError, shown
from closecall.events import Events
from closecall.fscore import f_measure
from closecall.latex import chance_note, latex_heading, latex_table
from closecall.notebook import MOST_ROWS, display, heading, more_rows
from closecall.parameters import is_text, read_flag
from closecall.plain import flat_numbers, plain
from closecall.signature import sign
from closecall.wording import counted, headline, listed, score_or_dash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from closecall.affiliation.shifts import Chance
    from closecall.series import LeftOut, TruthInSpan
    from closecall.signature import Signature
    from closecall.statistics import ScoreIntervals

_COUNTS = ("caught", "close_calls", "missed", "alarms", "false_alarms", "alarmed")


@dataclass(frozen=True, repr=False, eq=False)
class Affiliation:
    """Affiliation precision and recall, and the rows per event they are the means of.

    Examples
    --------
    >>> import closecall as cc
    >>> r = cc.affiliation([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    >>> r
    Affiliation(precision=0.625, recall=0.438, f1=0.515, events=2)
    >>> r.events.recall
    array([0.875, 0.   ])
    """

    precision: float
    """Mean individual precision over the events where it is defined; in [0, 1], or nan."""
    recall: float
    """Mean individual recall over all events; in [0, 1]."""
    events: EventScores
    """One row per true event."""
    zero_division: float = nan
    """What an event without an affiliated prediction counts for in `precision`; nan: nothing."""

    @cached_property
    def signature(self) -> Signature:
        """What decided these digits, in one line; see `closecall.signature`."""
        return sign("affiliation", self.events.pair, zero_division=self.zero_division)

    @property
    def caught(self) -> int:
        """How many true events an alarm overlaps."""
        return int(np.count_nonzero(self.events.caught))

    @property
    def close_calls(self) -> int:
        """How many true events were not caught, but an alarm came close; see `events.outcome`."""
        return int(np.count_nonzero(self.events.outcome == "close call"))

    @property
    def missed(self) -> int:
        """How many true events were not caught, close calls among them."""
        return len(self.events) - self.caught

    @property
    def alarms(self) -> int:
        """How many predicted events there are."""
        return self.events.alarms

    @property
    def false_alarms(self) -> int:
        """How many predicted events overlap no true event."""
        return self.alarms - int(self.events.table[:, _kernels.HITS].sum())

    @property
    def alarmed(self) -> float:
        """The share of the evaluated time that is in alarm, in [0, 1]."""
        covered = self.events.table[:, _kernels.DURATION].sum()
        return float(covered / (self.events.pair.stop - self.events.pair.start))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; nan where the precision is."""
        return self.fbeta(1)

    def fbeta(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall; recall weighs beta times as much.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).fbeta(2)
        0.8974358974358974
        """
        return float(f_measure(self.precision, self.recall, beta))

    @cached_property
    def chance(self) -> Chance:
        """What chance reaches: means over circular shifts of the alarms, or of the events.

        Always the same shifts, scored with the ``zero_division`` of this result. O(1,000 (n + m))
        for n true and m predicted events, once.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.affiliation([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0]).chance
        Chance(precision=0.670, recall=0.812, f1=0.731, caught=0.429, shifts=8)
        """
        if isnan(self.zero_division):
            return self.events.chance
        return chance_of(self.events, self.zero_division)

    @property
    def ignored_time(self) -> Any:
        """How much time was ignored, a number or a timedelta; 0 if none was."""
        return self.events.pair.ignored_time

    @property
    def left_out(self) -> LeftOut:
        """How many true events and alarms were left out, since they lie in ignored time."""
        return self.events.pair.left_out

    @property
    def points_without_weight(self) -> int:
        """How many predicted points weigh nothing in precision, beside ranges in their zone.

        They do count for recall. `point_length` of `affiliation` gives them a length.
        """
        pair, borders = self.events.pair, self.events.borders
        starts = pair.predicted.starts
        points = 2 * (starts[starts == pair.predicted.stops] - origin_of(pair))
        # A point on a border belongs to what comes after it.
        zones = np.minimum(np.searchsorted(borders, points, side="right"), len(self.events)) - 1
        return int(np.count_nonzero(self.events.table[zones, _kernels.DURATION] > 0))

    @property
    def precision_above_chance(self) -> float:
        r"""Precision with 0 at the level of chance m and 1 where it is perfect: at most 1.

        :math:`(T - m) / (1 - m)` with m the mean of the shifts, ``chance.precision``; nan where
        nothing is predicted. A prediction of everything has exactly 0.

        Examples
        --------
        >>> import closecall as cc
        >>> r = cc.affiliation([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
        >>> round(r.precision_above_chance, 3), round(r.recall_above_chance, 3)
        (0.432, 0.667)
        """
        return self.chance.above("precision")

    @property
    def recall_above_chance(self) -> float:
        """Recall with 0 at ``chance.recall`` and 1 where it is perfect; 0 without alarms."""
        return self.chance.above("recall")

    @property
    def f1_above_chance(self) -> float:
        """F1 with 0 at ``chance.f1`` and 1 where it is perfect; nan where nothing is predicted."""
        return self.chance.above("f1")

    @property
    def caught_above_chance(self) -> float:
        """The share of the events that chance does not catch, and that were caught; at most 1.

        :math:`(c - m) / (n - m)` for c of n events caught and m caught by chance,
        ``chance.caught``; nan where chance catches all.
        """
        return caught_above_chance(self.caught, len(self.events), self.chance.caught)

    @property
    def headline(self) -> str:
        """What people ask first: how many events were caught, by how much luck, how fast.

        Beside the events caught stands how many chance catches, see `chance`. The
        median delay counts an event that was not caught as never; where more than half of the time
        is in alarm, that share is told in its place. Then come the false alarms.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.affiliation([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 1]).headline
        '2 of 2 caught (1.3 by chance), median delay 0.5, no false alarms'
        """
        return self._headline(0)

    def _headline(self, fewest: int) -> str:
        delay = plain(self.events.median_delay)
        return headline(
            self.caught,
            len(self.events),
            chance=self.chance.caught if self.alarms else nan,
            median_delay=inf if delay is None else float(delay),
            alarmed=self.alarmed,
            false_alarms=self.false_alarms,
            length=self._evaluated_time,
            dated=self.events.pair.clock.kind == "datetime",
            fewest=fewest,
        )

    @property
    def _evaluated_time(self) -> float:
        """How much time was not ignored, in seconds where times are dates."""
        pair = self.events.pair
        return float(pair.stop - pair.start) * pair.clock.seconds

    def interval(
        self, *, level: float = 0.95, n: int = 2000, seed: int = 0, block: int = 1
    ) -> ScoreIntervals:
        """Compute confidence intervals of the scores, since there are only so many events.

        The true events at hand are taken as a sample of those that there could be, and resampled
        (see `closecall.statistics`). Events without a precision are left out of its mean, whatever
        ``zero_division`` was. O(n m) for m events.

        Parameters
        ----------
        level
            How often such intervals are meant to hold the true score, between 0 and 1.
        n
            How many resamples to draw, 100 or more.
        seed
            The same seed gives the same intervals.
        block
            How many consecutive events to resample together, where they depend on each other.

        Returns
        -------
        ScoreIntervals
            ``precision``, ``recall`` and ``f1``, each with ``value``, ``low`` and ``high`` in
            [0, 1], higher is better; nan with a single event. ``caution`` says what few events do
            not allow, and if they are so alike that they need a ``block``.

        Examples
        --------
        >>> import closecall as cc
        >>> truth = [0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]
        >>> found = [0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
        >>> cc.affiliation(truth, found).interval().recall
        Interval(0.688, from 0.205 to 0.958)
        """
        from closecall.statistics import Sample

        sample = Sample.read([self.events.precision], [self.events.recall], block=block)
        found = sample.intervals(0, level, n=n, seed=seed)
        return replace(found, signature=self.signature.drawing(level, n, seed, block))

    def values(self) -> dict[str, float]:
        """Return the scores by name."""
        return {name: getattr(self, name) for name in SCORES}

    def counts_by(self, column: str) -> list[dict[str, Any]]:
        """Count what became of the true events by what their list says of them.

        Parameters
        ----------
        column
            One of `events.details`, which come with `closecall.read_events`.

        Examples
        --------
        >>> import closecall as cc
        >>> import pandas as pd
        >>> table = pd.DataFrame({"start": [10, 40], "stop": [20, 50], "team": ["a", "b"]})
        >>> r = cc.affiliation(cc.read_events(table), cc.Events([(12, 14)]), span=(0, 100))
        >>> r.counts_by("team")[0]
        {'column': 'team', 'value': 'a', 'events': 1, 'caught': 1, 'close_calls': 0, 'missed': 0}
        """
        known = self.events.details
        if not is_text(column) or column not in known:
            rule = "to name a column of the list of true events"
            hint = (
                f"Its columns are: {listed(list(known))}." if known else "Labels have no columns."
            )
            raise InputError(rule, shown(column), argument="column", hint=hint)
        outcomes: dict[Any, list[str]] = {}
        values = known[column].tolist()
        for value, outcome in zip(values, self.events.outcome.tolist(), strict=True):
            missing = value is None or value != value  # noqa: PLR0124 - nan and NaT
            outcomes.setdefault(None if missing else plain_detail(value), []).append(outcome)
        return [
            {
                "column": column,
                "value": value,
                "events": len(happened),
                "caught": (caught := happened.count("caught")),
                "close_calls": happened.count("close call"),
                "missed": len(happened) - caught,
            }
            for value, happened in outcomes.items()
        ]

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None.

        With `flat`, only numbers, by dotted names, as trackers of experiments take them: what is
        undefined, texts and the rows of events are left out.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).to_dict(flat=True)["recall"]
        0.875
        """
        numbers = (*_COUNTS, *SCORES, *ABOVE_CHANCE, "caught_above_chance")
        values = {
            **plain({name: getattr(self, name) for name in numbers}),
            "chance": self.chance.to_dict(),
            "evaluated_time": self._evaluated_time,
            **ignored_to_dict(self.events.pair),
            "signature": str(self.signature),
            "events": [] if read_flag(flat, "flat") else list(self.events.rows()),
        }
        return flat_numbers(values) if read_flag(flat, "flat") else values

    def to_frame(self, backend: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return the rows per event as a dataframe; times keep their time zone.

        Examples
        --------
        >>> import closecall as cc
        >>> frame = cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).to_frame("polars")
        >>> frame["delay"].to_list()
        [0.0]
        """
        return event_frame(self.events, backend)

    def to_latex(
        self,
        *,
        level: float | None = None,
        caption: str = "",
        note: str | None = None,
        **drawn: Any,
    ) -> str:
        r"""Write the scores as a table for a paper, for which the package booktabs is needed.

        With a `level`, and what else `interval` takes, scores have their limits. The `note` is
        below: the signature, unless there is another.

        Examples
        --------
        >>> import closecall as cc
        >>> text = cc.affiliation([0, 1, 1, 0], [0, 1, 0, 0]).to_latex()
        >>> print("\n".join(text.split("\n")[6:9]))
        precision & recall & F1 & chance & caught & chance & false alarms \\
        \midrule
        1.000 & 0.875 & 0.933 & 0.784 & 1 & 0.667 & 0 \\
        """
        limits = {} if level is None else {"": self.interval(level=level, **drawn)}
        note = self.signature.drawing(level, **drawn).note if note is None else note
        return latex_scores({"": self}, limits, caption=caption, note=note)

    def plot(self, **options: Any) -> Any:
        """Draw the events and their zones; see `closecall.plot.plot_events` for the options."""
        pair = self.events.pair
        span = tuple(map(pair.clock.scalar, pair.span))
        sides = Events.wrap(pair.opened(pair.truth)), Events.wrap(pair.opened(pair.predicted))
        from closecall.plot import plot_events

        return plot_events(*sides, span=span, ignore=pair.ignored, **options)

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={value:.3f}" for name, value in self.values().items())
        return f"Affiliation({scores}, events={len(self.events)})"

    def _repr_html_(self) -> str:
        """Show the scores, the level of chance and the first events in a notebook."""
        moved = f"by chance: {_scores_line(self.chance)}"
        return display(
            self.headline,
            _scores_line(self),
            moved,
            notebook_columns(list(islice(self.events.rows(), MOST_ROWS))),
            more_rows(len(self.events), "event"),
        )


def latex_scores(
    results: Mapping[str, Affiliation],
    intervals: Mapping[str, ScoreIntervals],
    *,
    caption: str = "",
    note: str = "",
) -> str:
    """Write the scores of detectors, or of one without a name, with their intervals if any.

    Beside F1 and the events caught is what chance reaches, and the number of events is below.
    """
    rows: list[dict[str, Any]] = []
    for name, result in results.items():
        scores, chance = intervals.get(name, result), result.chance
        values = {score: getattr(scores, score) for score in SCORES}
        values |= {"chance_f1": chance.f1, "caught": result.caught}
        values |= {"chance_caught": chance.caught, "false_alarms": result.false_alarms}
        rows.append(({"detector": name} if name else {}) | values)
    count = counted(len(result.events), "true event")
    limits = "".join(
        {f", with {100 * limit.level:.4g} % intervals" for limit in intervals.values()}
    )
    return latex_table(
        rows,
        {name: latex_heading(name) for name in rows[0]},
        best={**dict.fromkeys((*SCORES, "caught"), True), "false_alarms": False},
        title=f"Affiliation scores over {count}{limits}",
        label="scores",
        caption=caption,
        said=chance_note(count),
        note=note,
    )


def ignored_to_dict(series: TruthInSpan) -> dict[str, Any]:
    """Return what was ignored as plain JSON values, lengths of time in seconds."""
    return {"ignored_time": plain(series.ignored_time), "left_out": series.left_out._asdict()}


def _scores_line(scores: Affiliation | Chance) -> str:
    return ", ".join(f"{heading(name)} {score_or_dash(getattr(scores, name))}" for name in SCORES)


def fewest_false_alarms(results: Iterable[Affiliation]) -> int:
    """Return the fewest false alarms, of detectors that have any: rates are told in their unit."""
    return min((result.false_alarms for result in results if result.false_alarms), default=0)


def headlines(results: Mapping[str, Affiliation]) -> dict[str, str]:
    """Return the headlines of detectors on one series, their rates in one unit of time."""
    fewest = fewest_false_alarms(results.values())
    return {name: result._headline(fewest) for name, result in results.items()}  # noqa: SLF001

"""Which detector does better on which event: `compare`, and what it returns."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closecall.affiliation import affiliation
from closecall.affiliation.event_scores import TOLD, outcome_texts
from closecall.affiliation.result import headlines, latex_scores
from closecall.affiliation.rules import BEST_F1, read_rules, rule_notes, signed_rules
from closecall.compare import tables
from closecall.compare.ensemble import Ensemble, How, agreed, read_votes
from closecall.compare.pairs import PairComparison, compare_pair, rounded
from closecall.compare.uncertainty import ComparisonIntervals, comparison_intervals
from closecall.detectors import by_name, read_detectors
from closecall.errors import InputError, InputTypeError, shown
from closecall.events import Events
from closecall.notebook import MOST_ROWS, display, heading, more_rows, time_columns
from closecall.parameters import is_listed, read_flag
from closecall.plain import flat_numbers, plain
from closecall.series import read_pair
from closecall.signature import ignored_text, sign
from closecall.wording import counted, json_number, score_or_dash, score_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from closecall.affiliation import Affiliation
    from closecall.detectors import Detectors
    from closecall.signature import Signature

_FEWEST = 2
_NOTEBOOK = (  # counts, those that are read first at the front
    *("caught", "close_calls", "missed", "alarms", "false_alarms", "alarmed"),
    *("caught_alone", "best", "tied", "found", "found_alone", "threshold"),
)
_MOST_DECIMALS = 15  # a float has no more, and numpy rounds to nan with many more


def compare(
    truth: Any,
    predicted: Mapping[str, Any] | None = None,
    *,
    scores: Mapping[str, Any] | None = None,
    thresholds: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
    close: Any = None,
    decimals: int | None = None,
) -> Comparison:
    """Compare detectors event by event: who is better, on which events, and in what.

    Each detector is scored as by `closecall.affiliation` (in [0, 1], higher is better; equations 4
    to 6 of the paper). Two detectors are then compared on each true event as in section 4.3 of the
    paper: better in both precision and recall, in one of them only, equivocal, or worse; events
    that one of the two does not detect, with no prediction in their zone, are counted apart.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    predicted
        Predictions by the name of the detector: 0/1 vectors, or `Events`.
    scores
        Scores by the name of the detector, one per sample, higher is more anomalous. A detector is
        taken at the threshold with its own best F1, or by its rule in `thresholds`. Nothing
        tells scores from labels but the argument they are given in.
    thresholds
        A number or a rule of `closecall.choose_threshold`, such as ``"quantile:0.99"`` or
        ``"alarms:2/week"``, for all `scores`; or a mapping from the names of some of them.
    times, end
        As in `closecall.affiliation`, for all vectors. Needed where vectors and `Events` meet.
    span
        Where the whole series starts and stops: needed if there are only `Events`; otherwise that
        of the samples if not given.
    ignore, max_step
        Time that does not count, and how long a sample lasts at most, as in
        `closecall.affiliation`.
    nan
        What to do with samples whose score is nan: ``"raise"``, or ``"ignore"`` their time for all
        detectors. ``"each"`` ignores it only for the detector that has none, which is an error
        where detectors are then left with different true events; on different times there are no
        ensembles.
    close
        How far from a true event a close call may be at most, as in `closecall.affiliation`.
    decimals
        Round the scores of each event to so many decimals before they are compared (the paper's
        counts come out with 2). By default they are compared as they are. What is reported is
        never rounded.

    Returns
    -------
    Comparison
        ``headline``, ``detectors``, ``events``, ``best``, ``missed_by_all``, ``pairs``,
        ``pair(a, b)``, ``ensemble(...)``, ``best_pair(...)``, ``results``, ``to_frame``,
        ``to_dict``.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
    >>> late, noisy = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 1, 0, 0, 1, 0]
    >>> c = cc.compare(truth, {"late": late, "noisy": noisy})
    >>> c.headline[:66]
    "'noisy' has the best F1, 0.91: 2 of 2 caught (1.3 by chance), medi"
    >>> c.best
    (('late',), ('noisy',))
    >>> c.pair("noisy", "late").missed_by_second
    1
    """
    given: Any = decimals
    if given is not None and (
        not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= _MOST_DECIMALS
    ):
        raise InputError(
            f"to be a whole number from 0 to {_MOST_DECIMALS}, or None",
            shown(decimals),
            argument="decimals",
        )
    axis = {"times": times, "end": end, "span": span, "ignore": ignore, "max_step": max_step}
    _require_one_kind(truth, predicted, scores, **axis)
    detectors = read_detectors(truth, predicted, scores, **axis, nan=nan, close=close)
    rules = dict.fromkeys(detectors.scored, BEST_F1) | read_rules(thresholds, detectors.scored)
    names = [*detectors.predicted, *detectors.scored]
    if len(names) < _FEWEST:
        raise InputError(
            "at least two detectors to compare",
            f"only {names[0]!r}" if names else "none",
            hint="Score a single detector with `closecall.affiliation`.",
        )
    detectors.truth.require_truth("affiliation")
    _require_same_events(detectors)
    pairs, chosen = dict(detectors.predicted), dict.fromkeys(names)
    for name, scored in detectors.scored.items():
        chosen[name] = threshold = rules[name].choose(scored)
        pairs[name] = scored.at(threshold)
    results = {name: affiliation(pair, None) for name, pair in pairs.items()}
    searched = {name for name, rule in rules.items() if rule.kind != "number"}
    signature = sign(
        "affiliation",
        {
            name: detectors.scored[name] if name in searched else pair
            for name, pair in pairs.items()
        },
        **signed_rules(rules),
        decimals=decimals,
        ignore=ignored_text(detectors.truth),
    )
    notes = tuple(rule_notes(rules, chosen, pairs))
    return Comparison(results, chosen, decimals, signature, notes)


def _require_one_kind(truth: Any, predicted: Any, scores: Any, times: Any, **axis: Any) -> None:
    """Raise if Events meet vectors without times, or if there are only Events and no span."""
    sides = {"truth": truth, **dict(by_name(predicted, "predicted").values())}
    columns = dict(by_name(scores, "scores").values())
    events = [called for called, side in sides.items() if isinstance(side, Events)]
    vectors = [called for called in (*sides, *columns) if called not in events]
    if not vectors:
        read_pair(truth, truth, times=times, **axis)
    elif events and times is None:
        raise InputTypeError(
            "where Events and vectors are compared",
            f"none (`{events[0]}` is Events and `{vectors[0]}` a vector)",
            argument="times",
            hint="Pass `times=`, one for each sample of the vectors.",
        )


def _require_same_events(detectors: Detectors) -> None:
    """Raise if missing scores leave detectors with different true events."""
    whole, every = detectors.truth, np.arange(len(detectors.truth.truth))
    starts = whole.opened(whole.truth).starts
    for name, scored in detectors.scored.items():
        if scored.ignored is whole.ignored:
            continue
        events = scored.opened(scored.truth).starts
        kept = np.searchsorted(starts, events, side="right") - 1
        if not np.array_equal(kept, every):
            raise InputError(
                "scores of every detector for every true event, to compare them event by event",
                f"{len(set(kept.tolist()))} of {every.size} events with scores of {name!r}",
                hint="Compare them where all have scores, with `nan='ignore'`.",
            )


@dataclass(frozen=True)
class DetectorSummary:
    """One detector: its scores, and how it stands among the others."""

    name: str
    threshold: float | None
    """Where its scores were cut; None if it gave labels or events."""
    precision: float
    recall: float
    f1: float
    alarms: int
    """How many events it predicts."""
    false_alarms: int
    """How many of them overlap no true event."""
    alarmed: float
    """The share of the time in alarm."""
    caught: int
    """True events that an alarm overlaps."""
    caught_alone: int
    """True events that it caught, and no other detector."""
    close_calls: int
    """True events that no alarm overlaps, but one is near."""
    missed: int
    """True events that no alarm overlaps, close calls among them."""
    caught_above_chance: float
    """The share of the events that chance does not catch, and that it caught; nan if none."""
    found: int
    """True events with at least one prediction in their zone."""
    found_alone: int
    """Those with no prediction of another detector in their zone."""
    best: int
    """True events on which no other detector reaches its F1."""
    tied: int
    """True events on which it shares the highest F1."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        values: dict[str, Any] = plain(self.values())
        if isinstance(self.threshold, float):  # which may be infinite
            values["threshold"] = json_number(self.threshold)
        return values

    def values(self) -> dict[str, Any]:
        """Return the name, as ``detector``, and everything else by name."""
        values = asdict(self)
        return {"detector": values.pop("name"), **values}


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """Several detectors on one series, event by event."""

    results: dict[str, Affiliation]
    """By detector, what `closecall.affiliation` gives."""
    thresholds: dict[str, float | None]
    """By detector, where its scores were cut; None if it gave labels or events."""
    decimals: int | None
    """To how many decimals scores were rounded before they were compared; None for not at all."""
    signature: Signature
    """What decided these digits, in one line; see `closecall.signature`."""
    notes: tuple[str, ...] = ()
    """What to know of thresholds: detectors that give no alarm, or alarm most of the time."""

    @property
    def names(self) -> tuple[str, ...]:
        """The detectors, in the order in which they were given."""
        return tuple(self.results)

    @property
    def on_one_time(self) -> bool:
        """Whether all detectors are judged on the same time; with ``nan="each"``, maybe not."""
        return len({id(result.events.pair.ignored) for result in self.results.values()}) == 1

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Whether each detector (rows) has a prediction in each event's zone (columns)."""
        return np.array([result.events.predicted_count > 0 for result in self.results.values()])

    @cached_property
    def leads(self) -> NDArray[np.bool_]:
        """Whether each detector (rows) has the highest F1 on each event (columns)."""
        f1 = np.array(
            [rounded(result.events.f1, self.decimals) for result in self.results.values()]
        )
        known = np.where(np.isnan(f1), -1.0, f1)
        leads: NDArray[np.bool_] = (known == known.max(axis=0)) & ~np.isnan(f1)
        return leads

    @cached_property
    def best(self) -> tuple[tuple[str, ...], ...]:
        """For each event the detector with the highest F1; several if tied, none without any."""
        return tuple(
            tuple(name for name, leads in zip(self.names, column, strict=True) if leads)
            for column in self.leads.T.tolist()
        )

    @property
    def missed_by_all(self) -> tuple[int, ...]:
        """Numbers of the events, from 0, that no detector caught."""
        missed = np.array([result.events.missed for result in self.results.values()])
        return tuple(np.flatnonzero(missed.all(axis=0)).tolist())

    @property
    def headline(self) -> str:
        """Who has the highest F1, and how many events it caught, how fast, at which price.

        Examples
        --------
        >>> import closecall as cc
        >>> cc.compare([0, 1, 1, 0], {"a": [0, 0, 1, 1], "b": [0, 1, 1, 0]}).headline
        "'b' has the best F1, 1.00: 1 of 1 caught (1 by chance), median delay 0, no false alarms"
        """
        leader = max(self.detectors, key=lambda row: row.f1 if isfinite(row.f1) else -1.0)
        if not isfinite(leader.f1):
            return "no detector has an alarm"
        told = headlines(self.results)[leader.name]
        return f"{leader.name!r} has the best F1, {score_text(leader.f1)}: {told}"

    @cached_property
    def detectors(self) -> tuple[DetectorSummary, ...]:
        """One row per detector: scores, events caught, and events on which it is the best."""
        caught = {name: result.events.caught for name, result in self.results.items()}
        catchers, finders, leaders = (
            np.sum(rows, axis=0) for rows in (list(caught.values()), self.found, self.leads)
        )
        rows = zip(self.results.items(), self.found, self.leads, strict=True)
        return tuple(
            DetectorSummary(
                name=name,
                threshold=self.thresholds[name],
                **result.values(),
                alarms=result.alarms,
                false_alarms=result.false_alarms,
                alarmed=result.alarmed,
                caught=result.caught,
                caught_alone=int(np.count_nonzero(caught[name] & (catchers == 1))),
                close_calls=result.close_calls,
                missed=result.missed,
                caught_above_chance=result.caught_above_chance,
                found=int(np.count_nonzero(found)),
                found_alone=int(np.count_nonzero(found & (finders == 1))),
                best=int(np.count_nonzero(leads & (leaders == 1))),
                tied=int(np.count_nonzero(leads & (leaders > 1))),
            )
            for (name, result), found, leads in rows
        )

    @cached_property
    def events(self) -> tuple[dict[str, Any], ...]:
        """One row per event and detector, with ``event`` (from 0), ``detector`` and ``best``.

        The other columns are those of `closecall.EventScores`.
        """
        return tables.event_rows(self)

    @cached_property
    def pairs(self) -> tuple[PairComparison, ...]:
        """Every two detectors, in the order of `names`: the first against the second."""
        return tuple(self.pair(*names) for names in combinations(self.names, 2))

    def pair(self, first: str, second: str) -> PairComparison:
        """Count the events on which the first detector is better than the second, and in what."""
        self._known((first, second))
        return compare_pair(self.results, first, second, self.decimals)

    def intervals(
        self, *, level: float = 0.95, n: int = 2000, seed: int = 0, block: int = 1
    ) -> ComparisonIntervals:
        """Compute how sure the scores and their differences are, given so many events.

        The true events are taken as a sample of those that there could be; differences are paired,
        event by event (see `closecall.statistics`). Asked again, the answer is kept.

        Parameters
        ----------
        level
            How often such intervals are meant to hold what they are about, between 0 and 1.
        n, seed
            How many resamples to draw for the scores, 100 or more, and their seed. Differences
            need none.
        block
            How many consecutive events go together, where they depend on each other, as if one
            fault causes several; ``caution`` says when that is so.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.compare([0, 1, 0, 0, 1], {"a": [0, 1, 0, 0, 1], "b": [1, 0, 0, 0, 0]})
        >>> c.intervals().pair("a", "b").recall
        Difference(+0.667, no limits)
        """
        asked = tuple(map(shown, (level, n, seed, block)))
        if asked not in self._intervals:
            self._intervals[asked] = comparison_intervals(
                self.results, self.signature, level=level, n=n, seed=seed, block=block
            )
        return self._intervals[asked]

    @cached_property
    def _intervals(self) -> dict[tuple[str, ...], ComparisonIntervals]:
        return {}

    def ensemble(
        self, names: Sequence[str] | None = None, *, how: How = "union", votes: int | None = None
    ) -> Ensemble:
        """Score several detectors taken as one.

        Parameters
        ----------
        names
            The detectors to take; all of them by default.
        how
            Predict where any of them does (``"union"``), where all do (``"intersection"``), or
            where at least `votes` of them do (``"vote"``).
        votes
            How many must agree in a vote; more than half by default.

        Examples
        --------
        >>> import closecall as cc
        >>> truth = [0, 1, 1, 0, 0]
        >>> c = cc.compare(truth, {"a": [1, 1, 0, 0, 0], "b": [0, 1, 0, 1, 0], "c": truth})
        >>> c.ensemble(how="vote").predicted
        Events([(1, 2)])
        """
        if not self.on_one_time:
            rule = "detectors that are judged on the same time, to take them as one"
            hint = "Compare them with `nan='ignore'`."
            raise InputError(rule, "different times, with `nan='each'`", hint=hint)
        chosen = self._known(self.names if names is None else names)
        needed = read_votes(how, votes, len(chosen))
        pairs = [self.results[name].events.pair for name in chosen]
        together = replace(pairs[0], predicted=agreed([pair.predicted for pair in pairs], needed))
        return Ensemble(chosen, how, needed, affiliation(together, None))

    def ensembles(self, how: How | None = None) -> tuple[Ensemble, ...]:
        """Score every two detectors taken as one; by union and by intersection by default."""
        kinds: tuple[How, ...] = ("union", "intersection") if how is None else (how,)
        return tuple(
            self.ensemble(names, how=kind)
            for names in combinations(self.names, 2)
            for kind in kinds
        )

    def best_pair(self, how: How | None = None) -> Ensemble:
        """Find the two detectors that together reach the highest F1; the first two of equals."""
        return max(self.ensembles(how), key=lambda pair: pair.f1 if isfinite(pair.f1) else -1.0)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None.

        Events are counted from 0. Times of a datetime axis become ISO 8601 text, and lengths of
        time seconds. Detectors have the level of chance of each score, such as ``chance_f1``.

        With `flat`, only numbers, by dotted names such as ``detectors.forecast.f1``, as trackers
        of experiments take them: of every detector, and of the best pair.
        """
        detectors = []
        for detector in self.detectors:
            levels = plain(self.results[detector.name].chance.values())
            named = {f"chance_{name}": level for name, level in levels.items()}  # as in a batch
            if not self.on_one_time:
                named["ignored_time"] = plain(self.results[detector.name].ignored_time)
            detectors.append(detector.to_dict() | named)
        best_pair = self.best_pair().to_dict() if self.on_one_time else None
        if read_flag(flat, "flat"):
            named = {str(row["detector"]): row for row in detectors}
            pairs = {} if best_pair is None else {"best_pair": best_pair}
            return flat_numbers({"detectors": named, **pairs})
        return {
            "detectors": detectors,
            "events": tables.plain_events(self),
            "missed_by_all": list(self.missed_by_all),
            "pairs": [pair.to_dict() for pair in self.pairs],
            "ensembles": [one.to_dict() for one in (self.ensembles() if self.on_one_time else ())],
            "best_pair": best_pair,
            "decimals": self.decimals,
            "signature": str(self.signature),
        }

    def to_frame(
        self, backend: Literal["pandas", "polars"] = "pandas", *, part: tables.Part = "events"
    ) -> Any:
        """Return one part as a dataframe; times keep their time zone.

        Parameters
        ----------
        backend
            Which package the frame is of.
        part
            ``"events"``: one row per event and detector. ``"wide"``: one row per event, with
            columns such as ``forecast_recall``. ``"detectors"``, ``"pairs"`` and ``"ensembles"``
            (of every two detectors): one row each.

        Examples
        --------
        >>> import closecall as cc
        >>> c = cc.compare([0, 1, 1, 0], {"a": [0, 1, 0, 0], "b": [0, 1, 1, 1]})
        >>> c.to_frame("polars", part="wide")["b_recall"].to_list()
        [1.0]
        """
        return tables.frame(self, backend, part)

    def to_latex(
        self,
        *,
        level: float | None = None,
        caption: str = "",
        note: str | None = None,
        **drawn: Any,
    ) -> str:
        """Write the scores of the detectors as a table for a paper.

        The best of a column is bold, the second underlined; the package booktabs is needed. With a
        `level`, and what else `intervals` takes, scores have their limits. The `note` is below: the
        signature, unless there is another.
        """
        limits = {} if level is None else self.intervals(level=level, **drawn).detectors
        note = self.signature.drawing(level, **drawn).note if note is None else note
        return latex_scores(self.results, limits, caption=caption, note=note)

    def plot(self, **options: Any) -> Any:
        """Draw each event's scores; see `closecall.plot.plot_comparison` for the options."""
        from closecall.plot import plot_comparison

        return plot_comparison(self, **options)

    def _known(self, names: Any) -> tuple[str, ...]:
        if not is_listed(names):
            hint = f"Pass [{names!r}]." if isinstance(names, str) else ""
            raise InputTypeError("to be names in a list", shown(names), argument="names", hint=hint)
        chosen = tuple(islice(names, len(self.results) + 1))
        for name in chosen:
            if not isinstance(name, str) or name not in self.results:
                close = difflib.get_close_matches(shown(name), self.names, n=1)
                suggestion = f"Did you mean {close[0]!r}? " if close else ""
                listed = ", ".join(map(repr, self.names))
                raise InputError(
                    "a detector", shown(name), hint=f"{suggestion}There are: {listed}."
                )
        if len(set(chosen)) < len(chosen):
            raise InputError("each of `names` once", f"{chosen}")
        if not chosen:
            raise InputError("at least one detector in `names`", "none")
        return chosen

    def __repr__(self) -> str:
        events, missed = counted(len(self.best), "event"), len(self.missed_by_all)
        return (
            f"Comparison({len(self.names)} detectors on {events}; {self.headline}; "
            f"{missed} missed by all)"
        )

    def _repr_html_(self) -> str:
        """Show the detectors, and what each made of the first events, in a notebook."""
        shown = self.detectors[:MOST_ROWS]
        scores = {
            heading(name): [score_or_dash(getattr(row, name)) for row in shown]
            for name in ("precision", "recall", "f1")
        }
        scores["F1 by chance"] = [score_or_dash(self.results[row.name].chance.f1) for row in shown]
        names = ("start", "stop", *TOLD)
        sides = {
            name: list(islice(result.events.rows(names), MOST_ROWS))
            for name, result in self.results.items()
        }
        return display(
            self.headline,
            [
                ("detector", [row.name for row in shown]),
                *scores.items(),
                *((heading(name), [getattr(row, name) for row in shown]) for name in _NOTEBOOK),
            ],
            more_rows(len(self.names), "detector"),
            [
                *time_columns(next(iter(sides.values())), "start", "stop"),
                ("best F1", [", ".join(best) for best in self.best[:MOST_ROWS]]),
                *((name, outcome_texts(rows)) for name, rows in sides.items()),
            ],
            more_rows(len(self.best), "event"),
        )

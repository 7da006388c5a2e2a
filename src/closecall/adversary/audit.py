"""Which metrics can be trusted on a series: which ones a prediction without information beats."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from math import inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from closecall.adversary.families import FAMILIES, MOST_TRIED, Contest, plan, read_families
from closecall.adversary.predictions import read_events_in_span
from closecall.adversary.search import Values, audited, main_number, merit, read_judge, read_truth
from closecall.adversary.targets import EXPERIMENTS, TARGETS, canonical_times, measure_targets
from closecall.clock import Timed, read_times
from closecall.detectors import read_detectors
from closecall.errors import InputError, InputTypeError, shown, with_names
from closecall.events import Events, Intervals
from closecall.metrics.registry import LENGTHS_OF_TIME
from closecall.notebook import display
from closecall.parameters import is_text, require_choice, require_count, require_progress
from closecall.plain import plain, rows_frame
from closecall.series import in_span, read_pair
from closecall.signature import ignored_text, sign
from closecall.wording import counted, in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from closecall.adversary.search import Judge
    from closecall.series import TruthInSpan
    from closecall.signature import Signature


def audit(
    truth: Any,
    detectors: Mapping[str, Any],
    *,
    metrics: str | Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    trivial: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    seed: int = 0,
    budget: int = 120,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Find out which metrics can be trusted on a series: who is fooled, and by what.

    Each metric scores the detectors, the trivial event alone, and predictions that carry no
    information: those of `closecall.adversary.search`. A metric is *beaten* where one of these
    scores at least as well as every detector. It is also beaten where no detector is better than
    chance; then it is the detectors that failed.

    Some of these predictions are built from one true event, so they know that event. Each metric
    therefore has two verdicts. *Raw*: the detectors as they are, as in the paper's comparison.
    *Joined*: the detectors are given the event that the other prediction knows, in place of their
    own predictions in its zone, so that both know as much. A metric that is beaten raw and holds
    joined is not fooled: the event that was given away is worth that much.

    The design targets of the paper are measured beside it, on a small canonical series: whether a
    near miss counts, whether long events are overrated, whether slight improvements give slight
    gains, and whether what happens around one event counts for that event only.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    detectors
        Predictions by name, vectors or `Events`. The names of the predictions that an audit makes
        itself (``trivial`` and the families in `closecall.adversary.FAMILIES`) are taken.
    metrics
        A name or names from `closecall.metrics.table`, or a mapping from names to parameters; each
        metric once. ``affiliation_above_chance`` is one more: the scores of `closecall.affiliation`
        above chance. By default it and every metric that judges 0/1 predictions and whose
        parameters all have a default.
    trivial
        One event that anybody can find, of the kind of `truth`, to build adversaries from; it
        meets one true event. By default each true event in turn; the row ``trivial`` is then the
        first true event.
    times, end, span, ignore, max_step
        As in `closecall.affiliation`; ignored time does not exist, as if it were cut out.
    seed
        Of the random predictions; the same arguments always give the same result.
    budget
        How many uninformative predictions to score in search of the strongest, about. The fresh
        draws of the best random ones come on top.
    progress
        Called with what is done and what there is to do, in predictions. The latter grows when
        random predictions are drawn afresh.

    Returns
    -------
    Audit
        ``table``, ``verdicts``, ``targets``, ``to_frame``, ``to_dict``.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = ([0] * 40 + [1] * 20) * 3
    >>> late = [0] * 10 + truth[:-10]
    >>> cc.audit(truth, {"late": late}, metrics=["classical", "affiliation"], budget=20)
    Audit(2 metrics on 3 events, 118 uninformative predictions, beaten raw: none; joined: none)
    """
    _require_detectors(detectors)
    detectors = dict(detectors.items())  # of a dataframe too
    require_count(seed, "seed", 0)
    require_count(budget, "budget", 1, MOST_TRIED)
    require_progress(progress)
    axis = {"times": times, "end": end, "span": span}
    asked: dict[str, Any] = {"seed": seed, "budget": budget}
    kinds = {isinstance(side, Events) for side in (truth, *detectors.values())}
    if ignore is not None or max_step is not None or len(kinds) > 1:
        sides = {**detectors, **({} if trivial is None else {"trivial": trivial})}
        given = {**axis, "ignore": ignore, "max_step": max_step}
        truth, sides, axis, evaluated = _evaluated(truth, sides, **given)
        asked |= {"ignore": ignored_text(evaluated), "max_step": max_step}
        trivial = None if trivial is None else sides.pop("trivial")
        detectors, times, span = sides, axis["times"], axis["span"]
    series, pairs = read_truth(truth, trivial, span), {}
    for name, predicted in detectors.items():
        with with_names({"predicted": f"detectors[{name!r}]"}):
            pairs[name] = read_pair(truth, predicted, **axis)
    if trivial is not None:
        pairs["\0trivial"] = read_pair(truth, trivial, **axis)  # a name that no detector has
    judge, left_out = read_judge(truth, next(iter(detectors.values())), metrics, axis)
    attempts, skipped = plan(series, read_families(None), seed=seed, budget=budget)
    informed = [attempt for attempt in attempts if attempt.family.knows]
    known: list[int | None] = list(dict.fromkeys(one.parameters["event"] for one in informed))
    count = _Count(progress, todo=len(detectors) * (1 + len(known)) + 1 + EXPERIMENTS)

    def score(predicted: Any, judge: Judge = judge) -> Values:
        values = judge.values(predicted)
        count.advance()
        return values

    def only(event: int | None) -> Any:
        return series.as_given(series.only(event).events)

    as_they_are = {name: score(predicted) for name, predicted in detectors.items()}
    trivial_scores = score(only(0 if series.trivial is None else None))
    contest = Contest(attempts, series, judge.metrics, score, _worth)
    contest.hold(count.plan)
    own_span = span if isinstance(truth, Events) else None
    joined = {
        event: {
            name: score(join_event(truth, predicted, only(event), own_span))
            for name, predicted in detectors.items()
        }
        for event in known
    }
    canonical = replace(judge, axis={"times": canonical_times(series, times)})
    targets, distances = measure_targets(
        lambda truth, predicted: score(predicted, replace(canonical, truth=truth))
    )
    table: list[dict[str, Any]] = []
    verdicts: dict[str, Verdicts] = {}
    for metric in judge.metrics:
        rivals = _rivals(contest, metric)
        table += _rows(metric, as_they_are, trivial_scores, rivals)
        raw = [(one, as_they_are) for one in rivals]
        fair = [
            (one, joined[one.parameters["event"]] if one.knows else scores) for one, scores in raw
        ]
        verdicts[metric] = Verdicts(_verdict(metric, "raw", raw), _verdict(metric, "joined", fair))
    changed = {name: audited(name).changed(given) for name, given in judge.metrics.items()}
    clock = series.clock if times is None else read_times(times, "times")[1]
    unit = "samples" if series.samples and times is None else "the unit of the times"
    return Audit(
        table=tuple(table),
        verdicts=verdicts,
        targets=tuple(targets),
        distances=distances,
        events=len(series.events),
        tried=sum(map(len, contest.draws.values())),
        left_out=left_out | skipped,
        unit="seconds" if clock.kind == "datetime" else unit,
        signature=sign("all" if metrics is None else changed, pairs, samples=True, **asked),
    )


def _evaluated(
    truth: Any, sides: Any, **axis: Any
) -> tuple[Any, dict[str, Any], dict[str, Any], TruthInSpan]:
    """Return all sides as labels, or all as `Events`, on the axis closed over ignored time."""
    with with_names({f"predicted[{name!r}]": f"detectors[{name!r}]" for name in sides}):
        read = read_detectors(truth, sides, **axis)
    series, clock = read.truth, replace(read.truth.clock, tz=None)
    sides = {"": series.truth} | {name: pair.predicted for name, pair in read.predicted.items()}
    events = {name: Events.wrap(replace(side, clock=clock)) for name, side in sides.items()}
    start, stop = clock.native(np.array([series.start, series.stop]))
    closed: dict[str, Any] = {"times": None, "end": None, "span": (start, stop)}
    if series.axis is None:
        return events.pop(""), events, closed, series
    *times, end = clock.native(series.axis.borders())
    labels = {name: side.to_labels(times, end) for name, side in events.items()}
    if axis["times"] is not None or series.axis.ticks is not None:
        closed |= {"times": times, "end": end}
    if axis["span"] is None:
        closed["span"] = None
    return labels.pop(""), labels, closed, series


@dataclass
class _Count:
    """How many predictions are scored, of how many as far as is known: each round adds its own."""

    progress: Callable[[int, int], None] | None
    todo: int
    done: int = 0

    def plan(self, more: int) -> None:
        self.todo += more

    def advance(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.todo)


@dataclass(frozen=True)
class Verdict:
    """Whether a prediction without information does at least as well as the best detector."""

    metric: str
    comparison: Literal["raw", "joined"]
    """With the detectors as they are, or with those that were given the event the other knows."""
    number: str
    """What is compared: f1, or the metric's only value."""
    beaten: bool | None
    """None where the metric is undefined for all detectors and all other predictions."""
    by: str
    """The family of the strongest uninformative prediction, whether it beats or not."""
    parameters: dict[str, Any]
    knows: int
    """How many true events that prediction was built from: 0 or 1."""
    score: float
    detector: str
    """The best detector in this comparison."""
    detector_score: float
    margin: float
    """How much better the uninformative prediction is; negative where the metric holds."""


class Verdicts(NamedTuple):
    """Both verdicts on a metric."""

    raw: Verdict
    joined: Verdict
    """Against a prediction that knows no event, this is the raw comparison."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The scores of detectors and of predictions without information under many metrics."""

    table: tuple[dict[str, Any], ...]
    """One row per metric and prediction: metric, prediction, kind (detector, trivial or
    uninformative), number, score, precision, recall, knows, parameters. A family of uninformative
    predictions is there with its strongest attempt."""
    verdicts: dict[str, Verdicts]
    """By metric, the verdicts ``raw`` and ``joined``."""
    targets: tuple[dict[str, Any], ...]
    """One row per metric and design target: metric, target, value, met, claimed (what the registry
    says of the metric; None if nothing) and note (why the two differ)."""
    distances: dict[str, dict[int, float]]
    """Per metric, the score by the distance in samples at which every event is missed."""
    events: int
    """How many true events the series has."""
    tried: int
    """How many uninformative predictions were scored."""
    left_out: dict[str, str]
    """Families and metrics that were not used, and why."""
    unit: str = "samples"
    """What the metrics that are distances are in: samples, seconds, or the unit of the times."""
    signature: Signature = field(kw_only=True)
    """What decided these digits, in one line; see `closecall.signature`."""

    @property
    def beaten(self) -> tuple[str, ...]:
        """Names of the metrics that are beaten raw: the detectors are as they are."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.raw.beaten)

    @property
    def beaten_joined(self) -> tuple[str, ...]:
        """Names of the metrics that are beaten where detectors know as much as their rival."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.joined.beaten)

    @property
    def headline(self) -> str:
        """How many metrics are beaten, either way."""
        return (
            f"{len(self.beaten)} of {len(self.verdicts)} metrics are beaten by a prediction "
            f"without information, and {len(self.beaten_joined)} if the detectors are given the "
            f"event that it knows ({counted(self.events, 'true event')}, {self.tried} such "
            "predictions tried)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that any JSON writer takes; what is undefined becomes None."""
        values: dict[str, Any] = plain(
            {
                "events": self.events,
                "tried": self.tried,
                "unit": self.unit,
                "verdicts": [
                    asdict(verdict) for both in self.verdicts.values() for verdict in both
                ],
                "table": list(self.table),
                "targets": list(self.targets),
                "distances": {
                    name: [{"distance": far, "score": score} for far, score in scores.items()]
                    for name, scores in self.distances.items()
                },
                "meaning": {name: target.meaning for name, target in TARGETS.items()},
                "left_out": self.left_out,
                "signature": str(self.signature),
            }
        )
        return values

    def to_frame(
        self,
        backend: Literal["pandas", "polars"] = "pandas",
        *,
        part: Literal["table", "verdicts", "targets"] = "table",
    ) -> Any:
        """Return one part as a dataframe; parameters become text.

        Examples
        --------
        >>> import closecall as cc
        >>> truth = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0]
        >>> found = cc.audit(truth, {"late": [0] + truth[:-1]}, metrics=["classical"])
        >>> found.to_frame("polars").columns[:4]
        ['metric', 'prediction', 'kind', 'number']
        """
        require_choice(part, "part", ("table", "verdicts", "targets"))
        require_choice(backend, "backend", ("pandas", "polars"))
        return rows_frame(flat_rows(self, part), backend)

    def __repr__(self) -> str:
        raw, joined = (", ".join(names) or "none" for names in (self.beaten, self.beaten_joined))
        return (
            f"Audit({len(self.verdicts)} metrics on {counted(self.events, 'event')}, {self.tried} "
            f"uninformative predictions, beaten raw: {raw}; joined: {joined})"
        )

    def _repr_html_(self) -> str:
        """Show both verdicts on every metric in a notebook."""
        verdicts = [verdict for both in self.verdicts.values() for verdict in both]
        words = {None: "undefined", True: "beaten", False: "holds"}

        def written(metric: str, score: float) -> float | str:
            timed = self.unit == "seconds" and metric in LENGTHS_OF_TIME
            return in_words(score) if timed and isfinite(score) else score

        return display(
            self.headline,
            [
                ("metric", [x.metric for x in verdicts]),
                ("comparison", [x.comparison for x in verdicts]),
                ("best detector", [x.detector for x in verdicts]),
                ("its score", [written(x.metric, x.detector_score) for x in verdicts]),
                ("rival", [x.by.replace("_", " ") for x in verdicts]),
                ("its score", [written(x.metric, x.score) for x in verdicts]),
                ("verdict", [words[x.beaten] for x in verdicts]),
            ],
            *(f"Left out: {name}, {reason}" for name, reason in self.left_out.items()),
        )


def flat_rows(audit: Audit, part: str) -> list[dict[str, Any]]:
    """Return the rows of one part with nothing nested in them."""
    if part == "verdicts":
        rows = [asdict(verdict) for both in audit.verdicts.values() for verdict in both]
    else:
        rows = [dict(row) for row in getattr(audit, part)]
    for row in rows:
        if "parameters" in row:
            row["parameters"] = json.dumps(row["parameters"])
    return rows


def _require_detectors(detectors: Any) -> None:
    """Raise if predictions have no names, or those of the audit's own predictions."""
    if not hasattr(detectors, "items"):
        rule = "`detectors` to be predictions by name"
        got = type(detectors).__name__
        raise InputTypeError(rule, got, hint="Pass a mapping, such as {'mine': predicted}.")
    if len(detectors) == 0:
        raise InputError("at least one detector in `detectors`", "none")
    taken = ("trivial", *FAMILIES)
    for name in detectors:
        if not is_text(name):
            raise InputTypeError("names in `detectors` to be text", shown(name))
        if name in taken:
            names = ", ".join(taken)
            rule = f"names in `detectors` other than those of the audit's own predictions ({names})"
            raise InputError(rule, repr(name), hint="Give the detector another name.")


class Rival(NamedTuple):
    """An uninformative prediction that detectors are compared with, and its scores."""

    family: str
    knows: int
    parameters: dict[str, Any]
    scores: Values


def _worth(metric: str, values: Values) -> float:
    """Turn the scores of a prediction into how good it is under a metric."""
    return merit(audited(metric), values[metric][main_number(audited(metric))])


def _rivals(contest: Contest, metric: str) -> list[Rival]:
    """List the predictions to compare with."""
    families = [attempt.family for attempt in contest.attempts]
    return [
        Rival(families[index].name, families[index].knows, *drawn)
        for index, drawn in contest.judged(metric).items()
    ]


def _verdict(
    metric: str,
    comparison: Literal["raw", "joined"],
    against: list[tuple[Rival, dict[str, Values]]],
) -> Verdict:
    """Return the verdict by the rival that beats its detectors by most, or comes closest."""
    compared = []
    for rival, detectors in against:
        worths = {name: _worth(metric, scores) for name, scores in detectors.items()}
        best = max(worths, key=worths.__getitem__)
        worth = _worth(metric, rival.scores)
        # Two scores that are undefined, or infinite alike, leave no difference.
        alike = worth == worths[best] and abs(worth) == inf
        margin = nan if alike else worth - worths[best]
        compared.append((margin, rival, best, detectors[best]))
    margin, rival, best, scores = max(compared, key=lambda one: -inf if isnan(one[0]) else one[0])
    number = main_number(audited(metric))
    return Verdict(
        metric=metric,
        comparison=comparison,
        number=number,
        beaten=None if isnan(margin) else margin >= 0,
        by=rival.family,
        parameters=rival.parameters,
        knows=rival.knows,
        score=rival.scores[metric][number],
        detector=best,
        detector_score=scores[metric][number],
        margin=margin,
    )


def _rows(
    metric: str, detectors: dict[str, Values], trivial: Values, rivals: list[Rival]
) -> list[dict[str, Any]]:
    """List the predictions under one metric; of each family, its strongest attempt."""
    number = main_number(audited(metric))
    strongest: dict[str, Rival] = {}
    for rival in rivals:
        best = strongest.setdefault(rival.family, rival)
        if _worth(metric, rival.scores) > _worth(metric, best.scores):
            strongest[rival.family] = rival
    predictions: list[tuple[str, str, dict[str, float], int, dict[str, Any]]] = [
        *((name, "detector", values[metric], 0, {}) for name, values in detectors.items()),
        ("trivial", "trivial", trivial[metric], 1, {}),
        *(
            (name, "uninformative", best.scores[metric], best.knows, best.parameters)
            for name, best in strongest.items()
        ),
    ]
    return [
        {
            "metric": metric,
            "prediction": name,
            "kind": kind,
            "number": number,
            "score": values[number],
            "precision": values.get("precision", nan),
            "recall": values.get("recall", nan),
            "knows": knows,
            "parameters": parameters,
        }
        for name, kind, values, knows, parameters in predictions
    ]


def join_event(truth: Any, predicted: Any, event: Any, span: Any = None) -> Any:
    """Replace the predictions around the given events by the events themselves.

    Around an event is its zone, as in the affiliation metrics: up to halfway to its neighbours.
    All three are 0/1 vectors, or Events within the span.
    """
    given = {"truth": truth, "predicted": predicted, "trivial": event}
    read = {name: read_events_in_span(side, name, span) for name, side in given.items()}
    given_truth = read["truth"]
    limits = Timed("span", np.array([given_truth.start, given_truth.stop]), given_truth.clock)
    series, sides = in_span({name: one.events for name, one in read.items()}, None, limits)
    first, last, clock = series.start, series.stop, series.clock
    true_starts, true_stops, claim_starts, claim_stops, *known = (
        ticks for side in sides.values() for ticks in (side.starts, side.stops)
    )
    gaps = true_starts[1:] - true_stops[:-1]
    halfway = true_stops[:-1] + (gaps // 2 if gaps.dtype.kind == "i" else gaps / 2)
    touched = np.unique(np.searchsorted(halfway, known[0], side="right"))
    borders = np.concatenate(([first], halfway, [last]))
    points = claim_starts == claim_stops
    parts = [tuple(known)]
    # What is claimed between the touched zones stays, cut at their borders.
    lows, highs = [first, *borders[touched + 1]], [*borders[touched], last]
    for low, high in zip(lows, highs, strict=True):
        starts, stops = np.maximum(claim_starts, low), np.minimum(claim_stops, high)
        kept = (starts < stops) | (points & (starts == stops) & (starts < high))
        parts.append((starts[kept], stops[kept]))
    starts, stops = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.argsort(starts, kind="stable")
    return given_truth.as_given(Intervals(starts[order], stops[order], clock).merged())

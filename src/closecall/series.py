"""What every metric starts from: true and predicted events, or scores, on one clock in one span.

`read_pair` and `read_scored` read one detector. All ticks are
those of evaluated time, closed over what is ignored; `start_times` and `stop_times` tell the
caller's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from closecall.axis import Axis, IgnoredTime, in_ticks_of, read_axis
from closecall.clock import Timed, on_one_clock, read_times
from closecall.columns import require_one_index
from closecall.errors import InputError, InputTypeError, UndefinedMetricError, shown
from closecall.evaluated_time import read_stretches, runs_left_out
from closecall.events import Events, Intervals, interval_text, read_labels
from closecall.parameters import read_duration
from closecall.scores import (
    predicted_at,
    read_scores,
    require_nan,
    require_scores,
    samples_without_score,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick, Ticks
    from closecall.evaluated_time import Stretches

_SHORTEST_SPAN, _LONGEST_SPAN = 1e-140, 1e152  # areas are squares of times
SHIFTS = 1000  # of alarms: all positions up to this many, else as many of them
_LARGEST_SPAN = 2**62  # zone borders are kept in half ticks, which must fit in 64 bits


class LeftOut(NamedTuple):
    """How many events lie wholly inside ignored time, and are left out."""

    events: int
    """True events."""
    alarms: int
    """Predicted events; 0 where they depend on a threshold that is not chosen yet."""


NONE_LEFT_OUT = LeftOut(0, 0)


class Unscored(NamedTuple):
    """True events that are left out only because one of several detectors has no scores there."""

    left_out: dict[tuple[str, ...], int]
    """How many, by the detectors of which each has no scores there; by none where it takes the
    missing scores of several."""
    events: int
    """How many true events there are, without those in time that is ignored anyway."""

    def of(self, detector: str) -> int:
        """Return how many are left out because this detector has no scores there."""
        return sum(count for names, count in self.left_out.items() if detector in names)


NONE_UNSCORED = Unscored({}, 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruthInSpan:
    """Disjoint true events, and the span of the whole series that holds them."""

    truth: Intervals
    start: Tick
    stop: Tick
    clock: Clock
    axis: Axis | None = None
    """Where the samples of vectors lie, on the same clock; None for Events."""
    ignored: IgnoredTime | None = None
    """What the time axis is closed over."""
    left_out: LeftOut = NONE_LEFT_OUT
    """How many events lie wholly inside ignored time."""
    unscored: Unscored = NONE_UNSCORED
    """How many of them because of missing scores of one of several detectors."""
    close: Tick | None = None
    """How far from an event a close call may be at most, in ticks; None for any distance."""
    asked: dict[str, Any] = field(default_factory=dict)
    """Options that decided all this, which a signature names."""

    @property
    def span(self) -> tuple[Tick, Tick]:
        """Where the series starts and stops for the caller, with ignored time, in ticks."""
        if self.ignored is None:
            return self.start, self.stop
        opened = self.ignored.open_starts(np.array([self.stop]))
        return self.start, opened[0].item()

    @property
    def ignored_time(self) -> Any:
        """How much of the span is ignored: a number, or a timedelta; 0 if nothing is."""
        total = 0 if self.ignored is None else self.ignored.total
        if self.clock.kind == "datetime":
            return self.clock.duration(np.array([float(total)]))[0]
        return total

    def start_times(self, ticks: Ticks) -> NDArray[Any]:
        """Return the caller's times of starts; at a seam, those after the ignored stretch."""
        return self.clock.native(ticks if self.ignored is None else self.ignored.open_starts(ticks))

    def stop_times(self, ticks: Ticks) -> NDArray[Any]:
        """Return the caller's times of stops; at a seam, those before the ignored stretch."""
        return self.clock.native(ticks if self.ignored is None else self.ignored.open_stops(ticks))

    def opened(self, intervals: Intervals) -> Intervals:
        """Return intervals at the caller's own times, in ticks."""
        if self.ignored is None:
            return intervals
        starts = self.ignored.open_starts(intervals.starts)
        stops = self.ignored.open_stops(intervals.stops)
        points = intervals.starts == intervals.stops
        return Intervals(starts, np.where(points, starts, stops), self.clock)

    def checked(self) -> Self:
        """Raise if half ticks of the span do not fit in 64 bits, or its square in a float."""
        if self.clock.kind != "number" and self.stop - self.start >= _LARGEST_SPAN:
            raise InputError(
                "a span of fewer than 2**62 ticks",
                f"{self.stop - self.start}",
                hint="Count time in a coarser unit.",
            )
        if not _SHORTEST_SPAN < self.stop - self.start < _LONGEST_SPAN:
            raise InputError(
                "a span whose square a float can hold",
                f"{self.start} to {self.stop}",
                hint="Count time in another unit.",
            )
        if self.clock.kind == "number":
            samples = [] if self.axis is None else [self.axis.lengths()]
            require_squares(*_steps(self.truth, self.start), *samples)
        return self

    def require_truth(self, metric: str) -> None:
        """Raise if there is no true event: recall does not exist then."""
        if len(self.truth) == 0:
            got = "none in `truth`"
            if self.left_out.events:
                got = f"none in evaluated time, and {self.left_out.events:,} in ignored time"
            raise UndefinedMetricError(
                f"at least one true event ({metric} is undefined for a series without any)",
                got,
                hint="Leave the series out, and say so; its false alarms need another measure.",
            )

    def predicting(self, predicted: Intervals, left_out: int = 0, **asked: Any) -> Pair:
        """Return the true events with predictions on the same clock.

        `left_out` is how many more predictions lie in ignored time, `asked` are more options that
        decided all this.
        """
        shared = self.shared()
        shared["left_out"] = self.left_out._replace(alarms=left_out)
        shared["asked"] = self.asked | asked
        return Pair(**shared, predicted=predicted)

    def asking(self, **options: Any) -> Self:
        """Return the same with options that decided it."""
        return replace(self, asked={**self.asked, **options})

    def calling(self, close: Any) -> Self:
        """Return the same where no alarm farther than `close` from an event is a close call."""
        if close is None:
            return self
        return replace(
            self,
            close=read_duration(close, self.clock, "close"),
            asked={**self.asked, "close": close},
        )

    def shared(self) -> dict[str, Any]:
        """Return what a series is apart from predictions and scores, by name."""
        return {field.name: getattr(self, field.name) for field in fields(TruthInSpan)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair(TruthInSpan):
    """True and predicted events with the same clock, and the span that holds them."""

    predicted: Intervals

    @property
    def alarmed(self) -> float:
        """The share of the evaluated time that is in alarm, in [0, 1]."""
        covered = (self.predicted.stops - self.predicted.starts).sum()
        return float(covered / (self.stop - self.start))

    def with_point_length(self, length: Tick) -> Self:
        """Return the same with a length for points, cut at the next event or where time stops."""
        truth = self.truth.with_point_length(length, self.stop)
        predicted = self.predicted.with_point_length(length, self.stop)
        return replace(self, truth=truth, predicted=predicted)

    @property
    def sample_step(self) -> Tick | None:
        """The step of evenly spaced samples that fill the span, or None."""
        axis = self.axis
        if axis is None or (axis.start, axis.end) != (self.start, self.stop):
            return None
        return axis.even_step()

    @property
    def whole_step(self) -> int:
        """The longest step that divides all times, which are exact; 1 for up to 1,000 numbers."""
        step = int(np.gcd.reduce(self.from_start()))
        numbers = self.clock.kind == "integer" and self.stop - self.start <= SHIFTS
        return min(step, 1) if numbers else step

    def from_start(self, *more: Ticks) -> Ticks:
        """Return the ends of true events, alarms and the span, and more, from the span's start."""
        sides = (self.truth.starts, self.truth.stops, self.predicted.starts, self.predicted.stops)
        ends = np.concatenate((*sides, np.array([self.stop], dtype=sides[0].dtype)))
        return np.concatenate((ends - self.start, *more))


def read_pair(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
) -> Pair:
    """Read two `Events`, or two 0/1 vectors of one length, and check them once and for all.

    A `Pair` is taken as it is, so that many metrics can share one reading.
    """
    if isinstance(truth, Pair):
        return truth
    require_one_index({"truth": truth, "predicted": predicted, "times": times, "ignore": ignore})
    axis, labels = None, {}
    if isinstance(truth, Events) and isinstance(predicted, Events):
        for name, value in (("times", times), ("end", end)):
            if value is not None:
                rule = f"no `{name}` beside Events, which carry their own times"
                hint = "Say where the series starts and stops with `span=(start, stop)`."
                raise InputTypeError(rule, f"`{name}`", hint=hint)
        sides = {"truth": truth.intervals, "predicted": predicted.intervals}
        for name, side in sides.items():
            side.require_disjoint(name)
    elif isinstance(truth, Events) or isinstance(predicted, Events):
        given = truth, predicted
        kinds = ("Events" if isinstance(side, Events) else "a vector" for side in given)
        raise InputTypeError(
            "`truth` and `predicted` to be both Events or both 0/1 vectors",
            " and ".join(kinds),
            hint="Turn the vector into events with `Events.from_labels(labels, times)`.",
        )
    else:
        true, found = read_labels(truth, "truth"), read_labels(predicted, "predicted")
        if true.size != found.size:
            rule = f"`predicted` to have as many labels as `truth` ({true.size})"
            raise InputError(rule, f"{found.size}")
        axis = read_axis(true.size, times, end, of="labels", max_step=max_step)
        labels = {"truth": true, "predicted": found}
        sides = {
            "truth": Intervals.from_labels(true, axis),
            "predicted": Intervals.from_labels(found, axis),
        }
    if axis is not None and span is None:
        series = on_axis(sides["truth"], axis)
    else:
        series, sides = in_span(sides, axis, read_span(span))
    left_out = 0
    if ignore is not None or max_step is not None:
        stretches = read_stretches(ignore, max_step, axis)
        series, closed = in_evaluated_time(series, sides, labels, stretches)
        sides, left_out = closed.sides, closed.left_out["predicted"]
    return series.predicting(sides["predicted"], left_out, max_step=max_step)


def on_axis(truth: Intervals, axis: Axis) -> TruthInSpan:
    """Return true events in the span of a whole axis."""
    series = TruthInSpan(truth=truth, start=axis.start, stop=axis.end, clock=axis.clock, axis=axis)
    return series.checked()


def in_span(
    sides: dict[str, Intervals], axis: Axis | None, span: Timed, *, of_samples: bool = False
) -> tuple[TruthInSpan, dict[str, Intervals]]:
    """Bring events, the axis and the span to one clock; raise if events leave the span.

    With `of_samples`, also if samples do.
    """
    parts = [part for name, side in sides.items() for part in side.timed(name)]
    whole = [] if axis is None else [whole_axis(axis)]
    (*ticks, limits), clock = on_one_clock(*parts, *whole, span)
    start, stop = limits.tolist()
    axis = None if axis is None else axis.on_clock(clock)
    if of_samples and axis is not None:
        require_samples_inside(axis, start, stop)
    ends = zip(sides.items(), ticks[::2], ticks[1::2], strict=False)
    sides = {
        name: Intervals(starts, stops, clock, side.details) for (name, side), starts, stops in ends
    }
    for name, side in sides.items():
        side.require_inside(start, stop, name)
    series = TruthInSpan(truth=sides["truth"], start=start, stop=stop, clock=clock, axis=axis)
    series.checked()
    if clock.kind == "number":
        require_squares(*(steps for side in sides.values() for steps in _steps(side, start)))
    return series, sides


class Closed(NamedTuple):
    """What closing the axis makes of the sides of a series."""

    sides: dict[str, Intervals]
    left_out: dict[str, int]
    kept: NDArray[np.bool_] | None  # which samples are left; None for all, and without vectors


def in_evaluated_time(
    series: TruthInSpan,
    sides: dict[str, Intervals],
    labels: dict[str, NDArray[Any]],
    stretches: list[Stretches],
) -> tuple[TruthInSpan, Closed]:
    """Close a series over ignored time; `labels` has those of the sides that came as vectors.

    Samples that are ignored are deleted, and runs of ones that then meet are one event. Events are
    mapped one by one, and those that then meet touch.
    """
    if not stretches:
        return series, Closed(sides, dict.fromkeys(sides, 0), None)
    parts = [timed for part in stretches for timed in part.intervals.timed(part.name)]
    span = Timed("span", np.array([series.start, series.stop]), series.clock)
    (limits, *ticks), clock = on_one_clock(span, *parts)
    whole = start, stop = tuple(limits.tolist())
    ends = [*zip(ticks[::2], ticks[1::2], strict=True)]
    ignored = _ignored_time(ends, whole, clock)
    axis, kept = None if series.axis is None else series.axis.on_clock(clock), None
    if ignored is not None:
        if axis is not None:
            axis, kept = axis.closed(ignored)
        stop = ignored.close(limits)[1].item()
        if stop <= start or (axis is not None and axis.length == 0):
            raise nothing_evaluated()
    closed, left_out = {}, {}
    for name, side in sides.items():
        if name in labels and axis is not None:
            vector = labels[name] if kept is None else labels[name][kept]
            closed[name] = Intervals.from_labels(vector, axis)
            left_out[name] = 0 if kept is None else runs_left_out(labels[name], kept)
            continue
        starts, stops = (in_ticks_of(clock, part) for part in side.timed(name))
        covered, details = np.zeros(len(side), dtype=bool), side.details
        if ignored is not None:
            covered = ignored.covers(starts, stops)
            starts, stops = ignored.close(starts)[~covered], ignored.close(stops)[~covered]
            details = {key: values[~covered] for key, values in details.items()}
        closed[name] = Intervals(starts, stops, clock, details)
        left_out[name] = int(np.count_nonzero(covered))
    unscored = NONE_UNSCORED
    if left_out["truth"] and any(part.detector for part in stretches):
        starts, stops = (in_ticks_of(clock, part) for part in sides["truth"].timed("truth"))
        by_detector = [*zip((part.detector for part in stretches), ends, strict=True)]
        unscored = _count_unscored(Intervals(starts, stops, clock), by_detector, whole)
    series = TruthInSpan(
        truth=closed["truth"],
        start=start,
        stop=stop,
        clock=clock,
        axis=axis,
        ignored=ignored,
        left_out=LeftOut(left_out["truth"], 0),
        unscored=unscored,
    )
    return series.checked(), Closed(closed, left_out, kept)


def _ignored_time(
    ends: Iterable[tuple[Ticks, Ticks]], span: tuple[Tick, Tick], clock: Clock
) -> IgnoredTime | None:
    starts, stops = zip(*ends, strict=True)
    return IgnoredTime.within(np.concatenate(starts), np.concatenate(stops), span, clock)


def _count_unscored(
    truth: Intervals, ends: list[tuple[str, tuple[Ticks, Ticks]]], span: tuple[Tick, Tick]
) -> Unscored:
    """Count the true events that only missing scores leave out; time to ignore is by detector."""

    def covered(*detectors: str) -> NDArray[np.bool_]:
        chosen = [part for detector, part in ends if detector in detectors]
        ignored = _ignored_time(chosen, span, truth.clock) if chosen else None
        if ignored is None:
            return np.zeros(len(truth), dtype=bool)
        return ignored.covers(truth.starts, truth.stops)

    anyway = covered("")
    rest = covered(*(detector for detector, _ in ends)) & ~anyway
    groups: dict[bytes, list[str]] = {}
    for detector in dict.fromkeys(detector for detector, _ in ends if detector):
        lost = covered("", detector) & ~anyway
        if lost.any():
            groups.setdefault(lost.tobytes(), []).append(detector)
            rest &= ~lost
    left_out = {
        tuple(detectors): int(np.count_nonzero(np.frombuffer(lost, dtype=bool)))
        for lost, detectors in groups.items()
    }
    if rest.any():
        left_out[()] = int(np.count_nonzero(rest))
    return Unscored(left_out, int(np.count_nonzero(~anyway)))


def nothing_evaluated() -> InputError:
    """Return the error for a series of which everything is ignored."""
    hint = "Ignore less, or allow a longer `max_step`."
    return InputError("some time that is not ignored", "none", hint=hint)


def read_sample_pair(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    max_step: Any = None,
    **given: Any,
) -> Pair:
    """Read a pair whose label vectors are compared sample by sample, whatever their times.

    Samples that are ignored in part count whole.
    """
    if isinstance(truth, Pair):
        return truth
    pair = read_pair(truth, predicted, times=times, end=end, max_step=max_step, **given)
    if pair.axis is None or (pair.ignored is None and times is None and end is None):
        return pair
    labels = read_labels(truth, "truth"), read_labels(predicted, "predicted")
    if pair.ignored is None:
        return read_pair(*labels)
    axis = read_axis(labels[0].size, times, end, of="labels", max_step=max_step)
    borders = axis.on_clock(pair.clock).borders()
    return read_pair(*labels, ignore=pair.ignored.covers(borders[:-1], borders[1:]))


def _steps(side: Intervals, start: Tick) -> tuple[Ticks, Ticks]:
    """Return how long events last, and the time before each."""
    return side.stops - side.starts, side.starts - np.append(start, side.stops[:-1])[: len(side)]


def require_squares(*lengths: Ticks) -> None:
    """Raise if a length of time has a square that no float holds."""
    for steps in lengths:
        short = (steps > 0) & (steps < _SHORTEST_SPAN)
        if short.any():
            raise InputError(
                f"no step of time below {_SHORTEST_SPAN:g}, whose square no float holds",
                f"{steps[short][0]:g}",
                hint="Count time in another unit, or drop what follows so closely.",
            )


def predict_labels(
    series: TruthInSpan, labels: NDArray[Any], kept: NDArray[np.bool_] | None = None
) -> Pair:
    """Put 0/1 predictions of all samples, of which some are left, beside the true events."""
    if series.axis is None:
        raise InputTypeError("the axis of the predictions", "none")
    if kept is None:
        return series.predicting(Intervals.from_labels(labels, series.axis))
    left_out = runs_left_out(labels, kept)
    return series.predicting(Intervals.from_labels(labels[kept], series.axis), left_out)


def read_span(span: Any) -> Timed:
    """Read where the whole series starts and stops."""
    if span is None:
        raise InputTypeError(
            "`span=(start, stop)` beside Events",
            "none",
            hint="Probabilities need to know where the whole series starts and stops.",
        )
    try:
        start, stop = span
    except (TypeError, ValueError):
        raise InputTypeError("to be a pair (start, stop)", shown(span), argument="span") from None
    bounds, clock = read_times([start, stop], "span")
    if not bounds[0] < bounds[1]:
        text = interval_text(clock, *bounds.tolist())
        raise InputError("to start before it stops", text, argument="span")
    return Timed("span", bounds, clock)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored(TruthInSpan):
    """Disjoint true events on the axis of the scores; a higher score is more anomalous."""

    axis: Axis
    scores: NDArray[Any]
    """Those of evaluated samples."""
    all_scores: NDArray[Any]
    """Those of all samples, in the caller's order; some may be nan where they are ignored."""
    kept: NDArray[np.bool_] | None = None
    """Which of all samples are evaluated; None if all are."""

    @classmethod
    def of(
        cls,
        series: TruthInSpan,
        scores: NDArray[Any],
        kept: NDArray[np.bool_] | None = None,
        **asked: Any,
    ) -> Scored:
        """Return true events on an axis with the scores of all its samples.

        `asked` are more options that decided all this.
        """
        shared = series.shared()
        shared["asked"] = series.asked | asked
        values = scores if kept is None else scores[kept]
        return cls(**shared, scores=values, all_scores=scores, kept=kept)

    def at(self, threshold: Any) -> Pair:
        """Predict the samples whose score is at least the threshold."""
        labels = predicted_at(self.scores, threshold)
        left_out = 0
        if self.kept is not None:
            left_out = runs_left_out(predicted_at(self.all_scores, threshold), self.kept)
        return self.predicting(Intervals.from_labels(labels, self.axis), left_out)


def read_scored(
    truth: Any,
    scores: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    ignore: Any = None,
    max_step: Any = None,
    nan: str = "raise",
) -> Scored:
    """Read labels or `Events`, and one score per sample, and check them once and for all.

    A `Scored` is taken as it is, so that many metrics can share one reading.
    """
    if isinstance(truth, Scored):
        return truth
    require_nan(nan)
    require_one_index({"truth": truth, "scores": scores, "times": times, "ignore": ignore})
    # A copy: the caller may write into the array, and then ask the result for more.
    values = read_scores(scores, nan="ignore").copy()
    labels = {}
    if isinstance(truth, Events):
        require_times(times)
        truth.intervals.require_disjoint("truth")
    else:
        labels["truth"] = read_labels(truth, "truth")
        if labels["truth"].size != values.size:
            raise InputError(
                f"to have as many values as `truth` ({labels['truth'].size})",
                f"{values.size}",
                argument="scores",
            )
    of = "labels" if labels else "scores"
    axis = read_axis(values.size, times, end, of=of, max_step=max_step)
    intervals = Intervals.from_labels(labels["truth"], axis) if labels else truth.intervals
    if labels and span is None:
        series = on_axis(intervals, axis)
    else:
        limits = whole_axis(axis) if span is None else read_span(span)
        series, _ = in_span({"truth": intervals}, axis, limits, of_samples=True)
    missing, kept = samples_without_score({"": values}, nan), None
    if ignore is not None or max_step is not None or missing:
        stretches = read_stretches(ignore, max_step, axis, missing)
        series, closed = in_evaluated_time(series, {"truth": series.truth}, labels, stretches)
        kept = closed.kept
    require_scores(values, "scores", kept)
    return Scored.of(series, values, kept, max_step=max_step, nan=nan)


def fit_and_rest(truth: Any, scores: Any, fit: Any, **axis: Any) -> tuple[Scored, Scored]:
    """Read a series twice: the part of the time to fit something on, and the rest of it."""
    whole = read_scored(truth, scores, **axis)
    samples = read_axis(whole.all_scores.size, axis.get("times"), axis.get("end"), of="scores")
    given = read_stretches(fit, None, samples)
    if not given:
        raise InputError("to have a length", "none", argument="fit")
    fitted, clock = given[0].intervals.merged(), whole.clock
    starts, stops = (in_ticks_of(clock, part) for part in fitted.timed("fit"))
    start, stop = whole.span
    before = (starts[:0], stops[:0])
    if whole.ignored is not None:
        before = (whole.ignored.starts, whole.ignored.stops)
    parts = []
    for first, after in ((np.append(start, stops), np.append(starts, stop)), (starts, stops)):
        ends = np.concatenate((first, before[0])), np.concatenate((after, before[1]))
        ignored = IgnoredTime.within(*ends, (start, stop), clock)
        parts.append(read_scored(truth, scores, **axis | {"ignore": ignored}))
    return parts[0], parts[1]


def require_times(times: Any) -> None:
    """Raise if scores beside true `Events` have no times."""
    if times is None:
        raise InputTypeError(
            "of the scores beside true Events",
            "none",
            argument="times",
            hint="Pass `times=`, one for each score.",
        )


def whole_axis(axis: Axis) -> Timed:
    """Return where an axis starts and stops."""
    return Timed("times", axis.borders(np.array([0, axis.length])), axis.clock)


def require_samples_inside(axis: Axis, start: Tick, stop: Tick) -> None:
    """Raise if samples lie outside of the span."""
    if axis.start < start or axis.end > stop:
        clock = axis.clock
        raise InputError(
            f"all samples to lie within the span {interval_text(clock, start, stop)}",
            f"samples from {clock.text(axis.start)} to {clock.text(axis.end)}",
            hint="Widen `span`.",
        )

"""Predictions built to fool metrics: public functions, and what they build in ticks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.clock import SAMPLES
from closecall.errors import InputError, InputTypeError, shown, with_names
from closecall.events import Events, Intervals, covered, read_labels, runs
from closecall.parameters import read_duration, read_number, require_count
from closecall.series import in_span, read_span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Clock, Tick, Ticks

Prediction = Any  # a vector of 0 and 1, or Events: whichever kind was given
_MOST_ADDED = 1000  # predictions beside the trivial event, unless a number is asked for
_MOST_DRAWN = 10_000_000  # predictions of one adversary


@dataclass(frozen=True, slots=True)
class EventsInSpan:
    """Events in ticks (sample numbers for a vector), and the span that predictions are built in."""

    events: Intervals
    start: Tick
    stop: Tick
    samples: bool
    trivial: Intervals | None = None
    """What adversaries start from; each of the events in turn, if nothing is given."""

    @property
    def clock(self) -> Clock:
        """What one tick means."""
        return self.events.clock

    @property
    def whole(self) -> bool:
        """Whether a tick cannot be cut: samples, integers, and datetimes in their own unit."""
        return self.clock.kind != "number"

    @property
    def unit(self) -> bool:
        """Whether one tick is one sample."""
        return self.clock.kind == "integer"

    @property
    def length(self) -> Tick:
        """How many ticks the series lasts."""
        return self.stop - self.start

    @property
    def durations(self) -> Ticks:
        """How long each event lasts."""
        return self.events.stops - self.events.starts

    @property
    def gap(self) -> int:
        """How far ranges of samples are kept apart, so that they do not become one."""
        return 1 if self.unit else 0

    @property
    def free(self) -> Tick:
        """How many ticks the events leave free."""
        covered: Tick = self.durations.sum().item()
        return self.length - covered

    def only(self, index: int | None) -> EventsInSpan:
        """Keep one of the events, or the trivial one that was given (None)."""
        if index is None:
            return self if self.trivial is None else replace(self, events=self.trivial)
        one = slice(index, index + 1)
        starts, stops = self.events.starts[one], self.events.stops[one]
        return replace(self, events=Intervals(starts, stops, self.clock))

    def as_given(self, predicted: Intervals) -> Prediction:
        """Return predictions in the kind that was given: a vector, or Events."""
        if not self.samples:
            return Events.wrap(predicted)
        return covered(predicted.starts, predicted.stops, int(self.stop)).view(np.uint8)


def read_events_in_span(values: Any, name: str, span: Any = None) -> EventsInSpan:
    """Read a 0/1 vector, or Events within a span."""
    if not isinstance(values, Events):
        if span is not None:
            rule = "no `span` beside a vector, whose samples are the whole series"
            hint = "Leave it out; predictions for a vector are vectors of the same length."
            raise InputTypeError(rule, shown(span), hint=hint)
        labels = read_labels(values, name)
        return EventsInSpan(Intervals(*runs(labels), SAMPLES), 0, labels.size, samples=True)
    values.intervals.require_disjoint(name)
    with with_names({"truth": name}):
        series, _ = in_span({"truth": values.intervals}, None, read_span(span))
    return EventsInSpan(series.truth, series.start, series.stop, samples=False)


def _read_trivial(values: Any, span: Any) -> EventsInSpan:
    event = read_events_in_span(values, "trivial", span)
    if not (event.durations > 0).any():
        hint = "An adversary needs one event that is known; any true event will do."
        raise InputError("to hold an event that lasts", "none", argument="trivial", hint=hint)
    return event


def trivial_event(flagged: Any, *, widen: int = 0) -> NDArray[np.uint8]:
    """Turn a one-line rule into one trivial event: from its first to its last flagged sample.

    The functions in the paper's table of datasets need this last step to give the events that its
    experiments used: ``Y < 40`` (machine temperature) leaves out five samples inside the event,
    and ``Y > 12000`` (Twitter) flags one sample, which was widened by 50 on either side.

    Parameters
    ----------
    flagged
        A 0/1 vector, such as ``values < 40``.
    widen
        How many samples to add on either side.

    Examples
    --------
    >>> import numpy as np
    >>> from closecall import adversary
    >>> values = np.array([50, 39, 41, 38, 60, 60])
    >>> adversary.trivial_event(values < 40)
    array([0, 1, 1, 1, 0, 0], dtype=uint8)
    """
    labels = read_labels(flagged, "flagged")
    require_count(widen, "widen", 0)
    found = np.flatnonzero(labels)
    if found.size == 0:
        rule = "to flag at least one sample"
        raise InputError(rule, "none", argument="flagged", hint="Loosen the rule.")
    event = np.zeros(labels.size, dtype=np.uint8)
    more = min(int(widen), labels.size)
    event[max(0, found[0] - more) : found[-1] + more + 1] = 1
    return event


def from_trivial(trivial: Any, *, span: Any = None, step: Any = None) -> Prediction:
    """Build the paper's adversary (section 4.2) from one event that anybody can find.

    Inside the trivial event positive and negative samples alternate, starting with a positive
    one; one sample on either side of it is negative; everything else is positive. A metric that
    takes each predicted event as a unit sees many correct ones and a few wrong ones, though
    nearly all of the series is predicted.

    Parameters
    ----------
    trivial
        A 0/1 vector, or `Events`: the trivial event, such as one true event or what
        `trivial_event` gives. Several events are each treated alike.
    span
        Where the whole series starts and stops; for `Events` only, and required there.
    step
        For `Events`: the length of one alternation, a number or a timedelta as the axis demands.
        By default 1 on an integer axis, else a hundredth of the event.

    Returns
    -------
    numpy.ndarray or Events
        The prediction, of the kind of `trivial`.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> adversary.from_trivial([0, 0, 0, 1, 1, 1, 1, 1, 0, 0])
    array([1, 1, 0, 1, 0, 1, 0, 1, 0, 1], dtype=uint8)
    >>> adversary.from_trivial(Events([(3.0, 8.0)]), span=(0.0, 10.0), step=2.0)
    Events([(0.0, 1.0), (3.0, 5.0), (7.0, 8.0)])
    """
    event = _read_trivial(trivial, span)
    length = default_step(event) if step is None else _read_ticks(step, event, "step")
    return event.as_given(alternating(event, length))


def against_composite(
    trivial: Any, *, count: int | None = None, share: float = 0.1, span: Any = None
) -> Prediction:
    r"""Build the adversary of composite F1 (footnote of section 4.2).

    Keeps the trivial event of length T and adds N predictions of length :math:`T / (10 N)`,
    regularly spaced over the rest. The precision over time is then at least
    :math:`1 / (1 + 1/10) \approx 0.91`, and each true event longer than the spacing is touched.

    Parameters
    ----------
    trivial, span
        As in `from_trivial`.
    count
        How many predictions to add (N). By default as many as can last one tick (one sample for
        vectors), but no more than 1000.
    share
        What all of them last together, as a share of T; in (0, 1], the paper's value is 1/10.

    Returns
    -------
    numpy.ndarray or Events
        The prediction, of the kind of `trivial`.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> adversary.against_composite(Events([(40, 60)]), span=(0, 100))
    Events([(19, 20), (40, 60), (79, 80)])
    """
    event = _read_trivial(trivial, span)
    share = read_number(share, "share", "a number above 0 and up to 1", lambda x: 0 < x <= 1)
    if count is not None:
        require_count(count, "count", 1, _MOST_DRAWN)
    return event.as_given(beside_trivial(event, *added_predictions(event, count, share)))


def everything(series: Any, *, span: Any = None) -> Prediction:
    """Predict the whole series.

    Parameters
    ----------
    series
        A 0/1 vector or `Events`, such as the truth; only its length or its axis is used.
    span
        Where the whole series starts and stops; for `Events` only, and required there.

    Examples
    --------
    >>> from closecall import adversary
    >>> adversary.everything([0, 1, 0])
    array([1, 1, 1], dtype=uint8)
    """
    given = read_events_in_span(series, "series", span)
    return given.as_given(whole_span(given))


def random_points(series: Any, *, count: int, seed: int = 0, span: Any = None) -> Prediction:
    """Draw that many samples of a vector, or moments (zero-length events) of a span.

    Parameters
    ----------
    series, span
        As in `everything`.
    count
        How many; each sample, and each tick of an integer or datetime axis, is drawn at most once.
    seed
        Of numpy's default generator; the same seed gives the same prediction.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> int(adversary.random_points([0] * 50, count=7).sum())
    7
    >>> len(adversary.random_points(Events([]), count=7, span=(0.0, 1.0)))
    7
    """
    given = read_events_in_span(series, "series", span)
    require_count(count, "count", 1, _MOST_DRAWN)
    require_count(seed, "seed", 0)
    if given.whole and count > given.length:
        raise InputError(f"to be at most {given.length}", shown(count), argument="count")
    return given.as_given(draw_points(given, count, seed))


def random_ranges(
    series: Any, *, count: int, length: Any, seed: int = 0, span: Any = None
) -> Prediction:
    """Draw disjoint ranges of one length; every placement is as likely as any other.

    Parameters
    ----------
    series, span
        As in `everything`.
    count
        How many ranges; on an axis of samples or integers they are at least one tick apart.
    length
        Of each: samples for a vector, else a number or a timedelta as the axis demands.
    seed
        Of numpy's default generator; the same seed gives the same prediction.

    Examples
    --------
    >>> from closecall import Events, adversary
    >>> drawn = adversary.random_ranges([0] * 50, count=3, length=5)
    >>> Events.from_labels(drawn).durations
    array([5, 5, 5])
    """
    given = read_events_in_span(series, "series", span)
    require_count(count, "count", 1, _MOST_DRAWN)
    require_count(seed, "seed", 0)
    ticks = _read_ticks(length, given, "length")
    needed = count * ticks + (count - 1) * given.gap
    if needed > given.length:
        rule = "ranges of this `length` to fit in the series"
        got = f"{needed:g} ticks of {given.length:g}"
        raise InputError(rule, got, argument="count", hint="Ask for fewer, or for shorter ones.")
    return given.as_given(draw_ranges(given, count, ticks, seed))


def _read_ticks(value: Any, series: EventsInSpan, name: str) -> Tick:
    ticks = read_duration(value, series.clock, name)
    if ticks == 0 or (series.whole and not float(ticks).is_integer()):
        rule = "a whole number of ticks, 1 or more" if series.whole else "more than 0"
        raise InputError(f"to be {rule}", shown(value), argument=name)
    if ticks > series.length:
        raise InputError("to fit in the series", shown(value), argument=name)
    return int(ticks) if series.whole else ticks


def alternating(series: EventsInSpan, step: Tick) -> Intervals:
    """Alternate inside the events, leave one step beside them, and predict everything else."""
    trivial = series.events
    if series.durations.max() / step > _MOST_DRAWN:
        rule = f"to cut an event into at most {_MOST_DRAWN:,} pieces"
        raise InputError(rule, f"{step:g} ticks", argument="step")
    left = np.concatenate(([series.start], trivial.stops + step))
    right = np.concatenate((trivial.starts - step, [series.stop]))
    around = left < right
    starts, stops = [left[around]], [right[around]]
    for start, stop in zip(trivial.starts.tolist(), trivial.stops.tolist(), strict=True):
        pieces = start + 2 * step * np.arange(-(-(stop - start) // (2 * step)))
        pieces = pieces[pieces < stop]  # rounding may put a last float on the end itself
        starts.append(pieces)
        stops.append(np.minimum(pieces + step, stop))
    return _sorted(np.concatenate(starts), np.concatenate(stops), series)


def default_step(series: EventsInSpan) -> Tick:
    """Return one sample where there are samples, else a hundredth of the longest event."""
    if series.unit:
        return 1
    longest: Tick = series.durations.max().item()
    return max(1, longest // 100) if series.whole else longest / 100


def added_predictions(series: EventsInSpan, count: int | None, share: float) -> tuple[int, Tick]:
    """Find how many predictions the composite adversary adds, and how long each of them is."""
    rest = series.free
    total = share * (series.length - rest)
    # The product of a share and a whole number may end just below the whole number it is.
    whole = int(np.floor(total + 1e-9 * total))
    if count is None:
        count = min(_MOST_ADDED, whole) if series.whole else _MOST_ADDED
    if series.whole and (count == 0 or whole < count):
        rule = (
            f"a trivial event that leaves one tick to each added prediction "
            f"({share:g} of it is {whole})"
        )
        hint = "Add fewer predictions, raise `share`, or choose a longer event."
        raise InputError(rule, f"`count` {max(count, 1)}", hint=hint)
    length = whole // count if series.whole else total / count
    if length * count > rest:
        rule = "a trivial event that leaves room for the added predictions"
        raise InputError(rule, f"{rest} ticks beside it", hint="Choose a shorter event.")
    return count, length


def beside_trivial(series: EventsInSpan, count: int, length: Tick) -> Intervals:
    """Keep the events, and add predictions spread evenly over what they leave free."""
    trivial = series.events
    rest = series.free
    spacing = rest // count if series.whole else rest / count
    first = (rest - spacing * (count - 1) - length) / 2
    starts = np.arange(count) * spacing + (int(first) if series.whole else first)
    added = _around(starts, starts + length, series)
    starts = np.concatenate((trivial.starts, added.starts))
    stops = np.concatenate((trivial.stops, added.stops))
    return _sorted(starts, stops, series).merged()


def _around(starts: Ticks, stops: Ticks, series: EventsInSpan) -> Intervals:
    """Map places in the free time, counted without the events, back to the whole series."""
    trivial = series.events
    skipped = np.concatenate(([0], np.cumsum(series.durations)))
    places = trivial.starts - series.start - skipped[:-1]
    starts = starts + skipped[np.searchsorted(places, starts, side="right")]
    stops = stops + skipped[np.searchsorted(places, stops, side="left")]
    return Intervals(starts + series.start, stops + series.start, series.clock)


def whole_span(series: EventsInSpan) -> Intervals:
    """Predict the whole series."""
    kind = series.events.starts.dtype
    start, stop = (np.array([end], dtype=kind) for end in (series.start, series.stop))
    return Intervals(start, stop, series.clock)


def draw_points(series: EventsInSpan, count: int, seed: int) -> Intervals:
    """Draw samples of a vector, or moments of a span, each at most once."""
    starts = _distinct(series, series.length, count, seed) + series.start
    return Intervals(starts, starts + 1 if series.samples else starts, series.clock)


def draw_ranges(series: EventsInSpan, count: int, length: Tick, seed: int) -> Intervals:
    """Draw disjoint ranges of one length, every placement being as likely as any other."""
    gap = series.gap
    free = series.length - count * length - (count - 1) * gap
    order = np.arange(count)
    # Distinct whole numbers minus their rank are the ways to share the free ticks out.
    more, rank = (count, order) if series.whole else (0, 0)
    before = _distinct(series, free + more, count, seed) - rank
    starts = before + order * (length + gap) + series.start
    # Rounding may carry the last float past the end.
    return Intervals(starts, np.minimum(starts + length, series.stop), series.clock)


def _distinct(series: EventsInSpan, below: Tick, count: int, seed: int) -> Ticks:
    random = np.random.default_rng(seed)
    if not series.whole:
        return np.sort(random.uniform(0, below, count))
    return np.sort(random.choice(int(below), count, replace=False, shuffle=False))


def _sorted(starts: Ticks, stops: Ticks, series: EventsInSpan) -> Intervals:
    kind = series.events.starts.dtype
    order = np.argsort(starts, kind="stable")
    return Intervals(starts[order].astype(kind), stops[order].astype(kind), series.clock)

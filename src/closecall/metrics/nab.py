"""The score of the Numenta Anomaly Benchmark (NAB) for one series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import read_axis
from closecall.clock import SAMPLES, Timed, on_one_clock
from closecall.errors import InputError, InputTypeError, shown, with_names
from closecall.events import Events, Intervals
from closecall.metrics.overlap import (
    common_parts,
    count_up,
    lengths,
    overlap_counts,
    overlap_lengths,
    overlapping,
)
from closecall.metrics.result import MetricResult
from closecall.metrics.window import from_origin
from closecall.parameters import is_number, read_amount, read_number
from closecall.series import read_sample_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Pair

_STEEPNESS = 5.0
_FAR = 3  # window widths after a window, from where a false positive costs all it can
_PROBATION_ROWS = 5000  # rows of a series that count for the length of its probation


@dataclass(frozen=True, slots=True)
class NabProfile:
    """What an application gains and loses: the weights of a profile, all 0 or more.

    Examples
    --------
    >>> PROFILES["reward_low_FN_rate"]
    NabProfile(true_positive=1.0, false_positive=0.11, false_negative=2.0)
    """

    true_positive: float = 1.0
    """Gained for a window that is detected at its start."""
    false_positive: float = 0.11
    """Lost for a false positive far from any window."""
    false_negative: float = 1.0
    """Lost for a window that is missed."""

    def __post_init__(self) -> None:
        """Raise if a weight is no finite number of 0 or more."""
        for name in ("true_positive", "false_positive", "false_negative"):
            read_amount(getattr(self, name), name)


PROFILES = {
    "standard": NabProfile(),
    "reward_low_FP_rate": NabProfile(false_positive=0.22),
    "reward_low_FN_rate": NabProfile(false_negative=2.0),
}


def read_profile(profile: Any) -> NabProfile:
    """Return the profile of a name, or one's own."""
    if isinstance(profile, NabProfile):
        return profile
    if isinstance(profile, str) and profile in PROFILES:
        return PROFILES[profile]
    names = ", ".join(repr(name) for name in PROFILES)
    raise InputError(f"to be {names} or a NabProfile", shown(profile), argument="profile")


@dataclass(frozen=True, repr=False)
class NabResult(MetricResult):
    """A NAB score and what it is made of.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.nab([0, 0, 1, 1], [0, 0, 1, 0], probation=0)
    NabResult(value=100, raw=1, windows=1, detected=1)
    """

    value: float
    """From 0 (no detection at all) to 100 (perfect), or below 0; nan without windows."""
    raw: float
    """The sum of rewards and losses."""
    windows: int
    """Windows that are scored: those not wholly in the probationary period."""
    detected: int
    """Windows with a detection."""
    true_positives: int
    """Predicted rows in windows; on a time axis, the windows detected."""
    false_positives: int
    """Predicted rows outside; on a time axis, alarms that start outside."""
    false_negatives: int
    """Rows of windows that are not predicted; on a time axis, the windows missed."""
    true_negatives: int | None
    """Other rows; on a time axis there is nothing to count."""

    def values(self) -> dict[str, float]:
        """Return the number by name."""
        return {"value": self.value}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(value={self.value:.6g}, raw={self.raw:.6g}, "
            f"windows={self.windows}, detected={self.detected})"
        )


def _read_windows(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    windows: Any = None,
) -> Pair:
    """Read a pair in rows; windows, if there are any, take the place of the true events."""
    pair = read_sample_pair(truth, predicted, times=times, end=end, span=span)
    if windows is None:
        return pair
    read = read_windows(windows, "windows")
    read.require_disjoint("windows")
    return _with_windows(
        pair, read if times is None else _rows_of(read, times, end, int(pair.stop))
    )


def nab(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    profile: str | NabProfile = "standard",
    windows: Any = None,
    probation: float = 0.15,
) -> NabResult:
    r"""Score detections by how early they are in the true windows, as NAB does.

    A place y relative to a window is -1 at its start, 0 at its end and positive after it. With the
    weights :math:`A_{TP}, A_{FP}, A_{FN}` of the profile, a window whose earliest detection is at
    y earns :math:`A_{TP}\,\sigma(y) / \sigma(-1)`, a missed one costs :math:`A_{FN}`, and a
    predicted row outside costs :math:`A_{FP}\,|\sigma(y)|` relative to the window before it, all
    of :math:`A_{FP}` before the first window and where :math:`y > 3`:

    .. math:: \sigma(y) = \frac{2}{1 + e^{5y}} - 1, \quad
        \text{value} = 100\,\frac{\text{raw} - \text{null}}{\text{perfect} - \text{null}}

    where null is the score of no detection and perfect of every window detected at its start. The
    value is at most 100, higher is better, and below 0 is worse than silence. It is nan if there
    are no windows to score.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. Rows are samples, whatever their times. On a float or
        datetime axis (Events) there are no rows: a predicted event is one alarm, which detects
        each window it overlaps, and is one false positive if it starts in none.
    profile
        ``"standard"``, ``"reward_low_FP_rate"``, ``"reward_low_FN_rate"``, or a `NabProfile`.
    windows
        Windows in which a detection counts, as `Events` or pairs (start, stop) on the same axis;
        the true events if not given. NAB makes them by widening each event so that together they
        take a tenth of the series.
    probation
        Share of the series, at its start, that is not scored. NAB's 0.15, of at most 5000 rows.

    Notes
    -----
    NAB's code divides by zero after a window of one row; here what follows such a window is far
    from it. NAB counts windows in the probationary period towards perfect, though nobody can
    detect them; here they are left out.

    References
    ----------
    Lavin and Ahmad, *Evaluating Real-Time Anomaly Detection Algorithms: the Numenta Anomaly
    Benchmark*, ICMLA 2015, section II; https://github.com/numenta/NAB.

    Examples
    --------
    >>> from closecall import metrics
    >>> truth = [0, 0, 1, 1, 1, 1, 0, 0]
    >>> metrics.nab(truth, [0, 0, 0, 0, 1, 1, 0, 1], probation=0)
    NabResult(value=87.8685, raw=0.757371, windows=1, detected=1)
    """
    given = {"times": times, "end": end, "span": span, "windows": windows}
    pair = _read_windows(truth, predicted, **given)
    weights, share = read_profile(profile), read_probation(probation)
    score = score_rows if pair.clock.kind == "integer" else _score_alarms
    parameters = {"profile": profile, "windows": windows, "probation": probation}
    return score(pair, weights, share).signed("nab", pair, parameters)


def _with_windows(pair: Pair, windows: Intervals) -> Pair:
    """Let the windows take the place of the true events."""
    (starts, stops, first, last, limits), clock = on_one_clock(
        *windows.timed("windows"),
        *pair.predicted.timed("predicted"),
        Timed("span", np.array([pair.start, pair.stop]), pair.clock),
    )
    if clock.kind != pair.clock.kind:
        rule = "to start and stop at whole rows"
        raise InputError(rule, f"{windows.text(0)} at index 0", argument="windows")
    start, stop = limits.tolist()
    inside, predicted = Intervals(starts, stops, clock), Intervals(first, last, clock)
    inside.require_inside(start, stop, "windows")
    return replace(pair, truth=inside, predicted=predicted, start=start, stop=stop, clock=clock)


def _rows_of(windows: Intervals, times: Any, end: Any, rows: int) -> Intervals:
    """Turn windows of time into windows of rows: those whose time lies in them."""
    axis = read_axis(rows, times, end, of="labels")
    (starts, stops, ticks), _ = on_one_clock(
        *windows.timed("windows"), Timed("times", axis.borders(np.arange(rows)), axis.clock)
    )
    first = np.searchsorted(ticks, starts, side="left")
    after = np.searchsorted(ticks, stops, side="left")
    windows.refuse(first >= after, "each of `windows` to hold at least one sample")
    return Intervals(first, after, SAMPLES)


def read_windows(windows: Any, name: str) -> Intervals:
    """Read Events or pairs; messages about them name the argument."""
    if isinstance(windows, Events):
        return windows.intervals
    if isinstance(windows, str | bytes) or hasattr(windows, "keys") or is_number(windows):
        rule = "to be Events, or pairs (start, stop)"
        raise InputTypeError(rule, shown(windows), argument=name)
    with with_names({"intervals": name}):
        return Events(windows).intervals


def read_probation(probation: Any) -> float:
    """Read the share of a series that is not scored."""
    rule = "a number of 0 or more and below 1"
    return read_number(probation, "probation", rule, lambda x: 0 <= x < 1)


def probation_rows(rows: int, probation: float) -> int:
    """Return how many of the first rows are not scored."""
    return ceil(min(floor(probation * rows), probation * _PROBATION_ROWS))


def sigmoid(position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map a place relative to a window to (-1, 1).

    A place is -1 at the start of the window, 0 at its end and 1 a window's width after it.

    Examples
    --------
    >>> sigmoid(np.array([-1.0, -0.5, 0.0, 1.0, 3.5])).round(5)
    array([ 0.98661,  0.84828,  0.     , -0.98661, -1.     ])
    """
    near = np.minimum(position, _FAR)
    return np.where(position > _FAR, -1.0, 2 / (1 + np.exp(_STEEPNESS * near)) - 1)


def reward(position: NDArray[np.float64], profile: NabProfile) -> NDArray[np.float64]:
    """Return the worth of a detection at these places in a window; at the start, all of it."""
    best: float = sigmoid(np.array(-1.0)).item()
    return sigmoid(position) / best * profile.true_positive


def normalised(raw: float, windows: int, profile: NabProfile) -> float:
    """Put a score on the scale where no detection at all is 0 and a perfect detector 100."""
    null = -profile.false_negative * windows
    perfect = profile.true_positive * windows
    return 100 * (raw - null) / (perfect - null) if perfect > null else nan


def score_rows(pair: Pair, profile: NabProfile, probation: float) -> NabResult:
    """Score each predicted row (tick of an integer axis) after the probationary period.

    Only rows near the end of a window are looked at one by one, so that the cost does not depend on
    the length of the series.
    """
    windows, predicted = from_origin(pair)
    # A point at the very end of the span is one more row.
    rows = int(max([pair.stop - pair.start, *windows.stops[-1:], *predicted.stops[-1:]]))
    begin = probation_rows(rows, probation)
    scored, detections = _after(begin, windows), _after(begin, predicted)
    earned, detected = _rewards(windows, scored, detections, profile)
    hit = int(overlap_lengths(detections, scored).sum())
    false, missed = (int(lengths(side).sum()) - hit for side in (detections, scored))
    near = _near_losses(windows, detections, rows)
    raw = earned + profile.false_positive * (float(near.sum()) - (false - near.size))
    value = normalised(raw, len(scored), profile)
    quiet = rows - begin - hit - false - missed
    return NabResult(value, raw, len(scored), detected, hit, false, missed, quiet)


def _score_alarms(pair: Pair, profile: NabProfile, probation: float) -> NabResult:
    """Score each predicted event once, where it starts, and each window it overlaps."""
    windows, predicted = from_origin(pair)
    begin = probation * float(pair.stop - pair.start)
    scored, detections = _after(begin, windows), _after(begin, predicted)
    earned, detected = _rewards(windows, scored, detections, profile)
    starts = Intervals(detections.starts, detections.starts, pair.clock)
    alarms = detections.starts[overlap_counts(starts, windows) == 0]
    losses = np.full(alarms.size, -1.0)
    before = np.searchsorted(windows.starts, alarms, side="right") - 1
    follows, window = before >= 0, before[before >= 0]
    past = alarms[follows] - windows.stops[window]
    losses[follows] = sigmoid(_in_widths(past, lengths(windows)[window]))
    raw = earned + profile.false_positive * float(losses.sum())
    value, missed = normalised(raw, len(scored), profile), len(scored) - detected
    return NabResult(value, raw, len(scored), detected, detected, alarms.size, missed, None)


def _after(begin: float, intervals: Intervals) -> Intervals:
    """Cut off what lies in the probationary period."""
    points = intervals.starts == intervals.stops
    kept = (intervals.stops > begin) | (points & (intervals.stops == begin))
    starts = np.maximum(intervals.starts[kept], begin)
    return Intervals(starts, intervals.stops[kept], intervals.clock)


def _rewards(
    windows: Intervals, scored: Intervals, detections: Intervals, profile: NabProfile
) -> tuple[float, int]:
    """Add up the windows: what the earliest detection earns, or what a miss costs."""
    starts = windows.starts[len(windows) - len(scored) :]  # before they were cut
    first, after = overlapping(scored, detections)
    found = first < after
    earliest = np.maximum(detections.starts[first[found]], scored.starts[found])
    stops, widths = scored.stops[found], (scored.stops - starts)[found]
    places = np.where(widths > 0, -_in_widths(stops - earliest, widths), -1.0)
    detected = int(found.sum())
    missed = len(scored) - detected
    return float(reward(places, profile).sum()) - profile.false_negative * missed, detected


def _near_losses(windows: Intervals, detections: Intervals, rows: int) -> NDArray[np.float64]:
    """Score the predicted rows that follow a window by no more than three times its width."""
    widths = lengths(windows) - 1  # NAB's, from the first row to the last
    ends = np.minimum(windows.stops + _FAR * widths, np.append(windows.starts[1:], rows))
    near = np.flatnonzero(ends > windows.stops)
    parts = common_parts(Intervals(windows.stops[near], ends[near], windows.clock), detections)
    counts = parts.stops - parts.starts
    row, window = count_up(parts.starts, counts), np.repeat(near[parts.first], counts)
    return sigmoid((row - windows.stops[window] + 1) / widths[window])


def _in_widths(part: Ticks, widths: Ticks) -> NDArray[np.float64]:
    """Divide; past a window without width everything is far."""
    far = np.full(part.shape, np.inf)
    np.divide(part, widths, out=far, where=widths > 0)
    return far

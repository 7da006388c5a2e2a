"""The score of the Numenta Anomaly Benchmark (NAB) for one series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.axis import read_axis
from closecall.clock import Timed, on_one_clock
from closecall.errors import InputError, expected
from closecall.events import Events, Intervals
from closecall.metrics.entry import Metric
from closecall.metrics.nab_profile import NabProfile, normalised, read_probation, read_profile
from closecall.metrics.nab_tally import score_alarms, score_rows
from closecall.metrics.nab_windows import read_intervals
from closecall.series import read_sample_pair

if TYPE_CHECKING:
    from closecall.metrics.nab_tally import Tally
    from closecall.series import Pair


@dataclass(frozen=True, slots=True, repr=False)
class NabResult:
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

    @classmethod
    def of(cls, tally: Tally, profile: NabProfile) -> NabResult:
        """Normalise what was added up."""
        return cls(normalised(tally.raw, tally.windows, profile), *tally)

    def values(self) -> dict[str, float]:
        """Give the number by name."""
        return {"value": self.value}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(value={self.value:.6g}, raw={self.raw:.6g}, "
            f"windows={self.windows}, detected={self.detected})"
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
    pair = read_sample_pair(truth, predicted, times=times, end=end, span=span)
    if windows is not None and times is not None:
        windows = _rows_of(windows, times, end, int(pair.stop))
    return _nab(pair, profile=profile, windows=windows, probation=probation)


def _nab(
    pair: Pair,
    *,
    profile: str | NabProfile = "standard",
    windows: Any = None,
    probation: float = 0.15,
) -> NabResult:
    weights, share = read_profile(profile), read_probation(probation)
    scored = pair if windows is None else _with_windows(pair, windows)
    tally = (score_rows if scored.clock.kind == "integer" else score_alarms)(scored, weights, share)
    return NabResult.of(tally, weights)


def _with_windows(pair: Pair, windows: Any) -> Pair:
    """Let the windows take the place of the true events."""
    own, predicted = _read_windows(windows), pair.predicted
    bounds = np.array([pair.start, pair.stop])
    (starts, stops, first, last, limits), clock = on_one_clock(
        Timed("windows", own.starts, own.clock),
        Timed("windows", own.stops, own.clock),
        Timed("predicted", predicted.starts, pair.clock),
        Timed("predicted", predicted.stops, pair.clock),
        Timed("span", bounds, pair.clock),
    )
    if clock.kind != pair.clock.kind:
        raise InputError(
            expected("`windows` to start and stop at whole rows", f"{own.text(0)} at index 0")
        )
    start, stop = limits.tolist()
    inside = Intervals(starts, stops, clock)
    inside.require_inside(start, stop, "windows")
    return replace(
        pair,
        truth=inside,
        predicted=Intervals(first, last, clock),
        start=start,
        stop=stop,
        clock=clock,
    )


def _rows_of(windows: Any, times: Any, end: Any, rows: int) -> Events:
    """Turn windows of time into windows of rows: those whose time lies in them."""
    own, axis = _read_windows(windows), read_axis(rows, times, end, of="labels")
    (starts, stops, ticks), _ = on_one_clock(
        Timed("windows", own.starts, own.clock),
        Timed("windows", own.stops, own.clock),
        Timed("times", axis.borders(np.arange(rows)), axis.clock),
    )
    first = np.searchsorted(ticks, starts, side="left")
    after = np.searchsorted(ticks, stops, side="left")
    if (first >= after).any():
        index = int((first >= after).argmax())
        raise InputError(
            expected(
                "each of `windows` to hold at least one sample",
                f"{own.text(index)} at index {index}",
            )
        )
    return Events.from_arrays(first, after)


def _read_windows(windows: Any) -> Intervals:
    own = read_intervals(windows, "windows")
    own.require_disjoint("windows")
    return own


ENTRIES = (
    Metric(
        name="nab",
        function=nab,
        family="window",
        gives=("value",),
        lowest=float("-inf"),
        highest=100.0,
        mainly_for="point",
        handles_adjacency=True,
        paper="Lavin and Ahmad 2015",
        counts_samples=True,
    ),
)

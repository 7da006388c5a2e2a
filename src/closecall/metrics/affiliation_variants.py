"""Variants of the affiliation metrics in the literature, which rescale its precision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import copysign, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from closecall.affiliation.score import affiliation
from closecall.affiliation.zones import origin_of, zone_borders
from closecall.clock import Clock
from closecall.events import Intervals
from closecall.fscore import f_measure
from closecall.metrics import _kernels
from closecall.metrics.result import PrecisionRecallResult
from closecall.parameters import require_count
from closecall.series import read_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from closecall.clock import Ticks
    from closecall.series import Pair

# How many places there are for each one drawn: with fewer, too many would be drawn again; with
# more, marking the drawn ones takes too much memory.
_CROWDED, _SPARSE = 4, 1_000
_SPARE = 16
_FEW = 64
_DRAWN_PER_BUCKET = 8
_REPEATS = 3
_RATE = 0.02
_MOST_DRAWN = 100_000
_POINTS = 10_000


@dataclass(frozen=True, repr=False)
class RescaledResult(PrecisionRecallResult):
    """A precision that is 0 at chance level and below it for worse, with a recall in [0, 1].

    F-beta is computed from the size of the precision and takes its sign.

    Examples
    --------
    >>> RescaledResult(-0.5, 0.5)
    RescaledResult(precision=-0.500, recall=0.500, f1=-0.500)
    """

    def fbeta(self, beta: float) -> float:
        """Weighted harmonic mean of the precision's size and recall, with the precision's sign."""
        size = float(f_measure(abs(self.precision), self.recall, beta))
        return copysign(size, self.precision) if size else size


def normalised_affiliation(
    truth: Any, predicted: Any, *, times: Any = None, end: Any = None, span: Any = None
) -> RescaledResult:
    r"""Compute affiliation with a precision that is 0 where a random point has about 1/2 (NAff).

    .. math::

        P' = \frac{P - 0.5}{1 - 0.5}, \quad
        F = \operatorname{sign}(P') \frac{2 |P'| R}{|P'| + R}

    Precision and F1 in [-1, 1], recall (which is left as it is) in [0, 1]; higher is better.
    Nothing is clipped, as published: below 0 is worse than random. nan as in
    `closecall.affiliation`, whose parameters it takes: precision and F1 where nothing is predicted.

    tsadmetrics puts the signed precision in the denominator instead of its size, so that its
    scores for worse than random are not bounded by -1; its constant is called alpha and is 0 by
    default, which is plain affiliation.

    References
    ----------
    Zhong et al., *SimAD: A Simple Dissimilarity-Based Approach for Time-Series Anomaly
    Detection*, IEEE TNNLS 2025 (arXiv 2405.11238), and the authors' code.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.normalised_affiliation([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
    RescaledResult(precision=0.625, recall=0.938, f1=0.750)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    result = affiliation(pair, None)
    return RescaledResult(_above(result.precision, 0.5), result.recall).signed(
        "normalised_affiliation", pair
    )


def unbiased_affiliation(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    seed: int = 0,
) -> RescaledResult:
    r"""Compute affiliation with a precision that is 0 where random predictions are (UAff).

    .. math::

        P' = \frac{P - b}{1 - b}, \quad
        F = \operatorname{sign}(P') \frac{2 |P'| R}{|P'| + R}

    with b the mean affiliation precision of three random predictions of the series. Precision is
    at most 1 and not bounded below (it is -b/(1 - b) or more), recall (left as it is) in [0, 1],
    F1 at most 1; higher is better. nan as in `closecall.affiliation`, and for the precision where
    b is 1: nothing can be better than random if everything is anomalous.

    A random prediction is 2 percent of the samples of a vector, at least one and at most 100,000,
    drawn by their numbers without replacement, so that the unit of the times does not matter.
    `Events` have no samples: on an integer axis its ticks take their place, and elsewhere it is
    10,000 points, drawn evenly over the span. Three draws of 2 percent are what the authors' later
    code (CCE) takes; that of the paper (SimAD) has one stored b for each data set. On a short
    series that is a few samples, so that another seed can give quite another b. Drawing and
    scoring them costs several times what the other metrics of labels do.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`.
    seed
        Seed of the random predictions, a whole number of 0 or more; the authors' code has none.

    References
    ----------
    Zhong et al., *SimAD: A Simple Dissimilarity-Based Approach for Time-Series Anomaly
    Detection*, IEEE TNNLS 2025 (arXiv 2405.11238), and the authors' code.

    Examples
    --------
    >>> from closecall import metrics
    >>> truth = [0] * 40 + [1] * 20 + [0] * 40
    >>> metrics.unbiased_affiliation(truth, truth)
    RescaledResult(precision=1.000, recall=1.000, f1=1.000)
    """
    require_count(seed, "seed", 0)
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    result = affiliation(pair, None)
    drawn_on = _in_steps(pair) if pair.axis is None and pair.clock.kind == "datetime" else pair
    generator = np.random.default_rng(seed)
    draws = [_precision_of(*_random(drawn_on, generator), drawn_on) for _ in range(_REPEATS)]
    return RescaledResult(_above(result.precision, float(np.mean(draws))), result.recall).signed(
        "unbiased_affiliation", pair, {"seed": seed}, samples=True
    )


def _in_steps(pair: Pair) -> Pair:
    """Count dated events in the longest step that divides all, so that their unit is none."""
    step, clock = pair.whole_step, Clock("number")
    starts, stops = ((ends - pair.start) / step for ends in (pair.truth.starts, pair.truth.stops))
    truth = Intervals(starts, stops, clock)
    stop = (pair.stop - pair.start) / step
    return replace(pair, truth=truth, start=0.0, stop=stop, clock=clock)


def _precision_of(starts: Ticks, stops: Ticks | None, pair: Pair) -> float:
    """Compute the affiliation precision of samples or points, as `_random` draws them."""
    origin, borders, drawn = origin_of(pair), zone_borders(pair), [starts]
    drawn += [] if stops is None else [stops]
    drawn += [pair.truth.starts, pair.truth.stops]
    times = [ends - origin for ends in drawn] if origin else drawn
    if borders.dtype.kind == "i":  # in a unit that divides all, so that products are rounded alike
        unit = 0
        for ends in (borders, *(some[:_FEW] for some in times), *times):
            if unit != 1:  # few samples mostly show it
                unit = int(np.gcd(unit, np.gcd.reduce(ends)))
        if unit > 1:
            borders, *times = (ends // unit for ends in (borders, *times))
    zones = np.zeros((len(pair.truth), 2))
    guide = np.empty(starts.size // _DRAWN_PER_BUCKET + 1, dtype=np.int64)
    series: Any = (*times, origin - origin, borders, guide, zones)
    if stops is None:
        _kernels.add_points(*series)
    else:
        _kernels.add_samples(*series)
    return float(_kernels.mean_precision(borders, zones))


def _random(pair: Pair, generator: np.random.Generator) -> tuple[Ticks, Ticks | None]:
    """Draw samples, as starts and stops; or points, where there are no samples."""
    if pair.axis is not None:
        # By their numbers, so that the unit of the times does not matter.
        drawn = _some_of(pair.axis.length, generator)
        return pair.axis.borders(drawn), pair.axis.borders(drawn + 1)
    if pair.clock.kind == "integer":
        starts = _some_of(int(pair.stop - pair.start), generator) + pair.start
        return starts, starts + 1
    return generator.uniform(pair.start, pair.stop, _POINTS), None


def _some_of(length: int, generator: np.random.Generator) -> NDArray[np.int64]:
    return _distinct(length, max(1, min(round(_RATE * length), _MOST_DRAWN)), generator)


def _distinct(length: int, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw places without replacement, in any order, by leaving out repeated ones."""
    if not _CROWDED * size < length < _SPARSE * size:
        return generator.choice(length, size, replace=False, shuffle=False)
    places = np.empty(size, dtype=np.int64)
    marks = np.zeros(length // 64 + 1, dtype=np.uint64)
    count = 0
    while count < size:
        # About size²/2 length of so many repeat an earlier one, so this is nearly always enough.
        drawn = generator.integers(length, size=size + size * size // length + _SPARE)
        count = _kernels.take_distinct(drawn, marks, places, count)
    return places


def _above(precision: float, chance: float) -> float:
    if isnan(precision) or chance >= 1:
        return nan
    return (precision - chance) / (1 - chance)

"""Precision and recall with a tolerance, each side judged from its own view."""

from __future__ import annotations

from dataclasses import replace
from math import floor
from typing import TYPE_CHECKING, Any

from closecall.metrics.entry import Metric
from closecall.metrics.overlap import overlap_lengths
from closecall.metrics.result import PrecisionRecallResult, ratio
from closecall.metrics.window import from_origin, read_reach, within
from closecall.series import read_pair

if TYPE_CHECKING:
    from closecall.events import Intervals
    from closecall.series import Pair


def two_sided(
    truth: Any,
    predicted: Any,
    *,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    tolerance: Any,
) -> PrecisionRecallResult:
    r"""Precision and recall with temporal tolerance (Scharwaechter and Mueller).

    A predicted sample is right if there is a true one at most the tolerance :math:`\delta` away,
    and a true sample is found if there is a predicted one at most that far. With E the true and A
    the predicted samples,

    .. math::

        P = \frac{|\{t \in A : E \cap [t - \delta, t + \delta] \neq \emptyset\}|}{|A|}, \quad
        R = \frac{|\{t \in E : A \cap [t - \delta, t + \delta] \neq \emptyset\}|}{|E|}

    The two count different true positives, hence the name. Both in [0, 1], higher is better; nan
    without any prediction (precision) or truth (recall). With tolerance 0 they are the classical
    ones. How high they are by chance is what `two_sided_null` says.

    Parameters
    ----------
    truth, predicted, times, end, span
        As in `closecall.affiliation`. On a float or datetime axis the sets are measured by
        duration; on a side that has points only, the points are counted.
    tolerance
        The largest distance allowed: samples for vectors without times (and for whole numbers), a
        number or a timedelta on other axes. There is no default; the authors' code tries 0 to 4.

    Notes
    -----
    Near the ends of the series the window is cut at the end. The authors' demonstration code
    leaves out the samples there in the numerators, but counts them in the denominators, so that
    it gives a perfect prediction of the first sample a recall of 0.

    References
    ----------
    Scharwaechter and Mueller, *Statistical Evaluation of Anomaly Detectors for Sequences*, KDD
    Workshop on Mining and Learning from Time Series, 2020, arXiv:2008.05788.

    Examples
    --------
    >>> from closecall import metrics
    >>> metrics.two_sided([0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0, 0, 0], tolerance=1)
    PrecisionRecallResult(precision=1.000, recall=0.500, f1=0.667)
    """
    pair = read_pair(truth, predicted, times=times, end=end, span=span)
    return _two_sided(pair, tolerance=tolerance)


def _two_sided(pair: Pair, *, tolerance: Any) -> PrecisionRecallResult:
    return judge(*from_origin(pair), read_reach(tolerance, pair, "tolerance"))


def judge(truth: Intervals, predicted: Intervals, reach: float) -> PrecisionRecallResult:
    """Judge both sides, which count time from the origin."""
    return PrecisionRecallResult(
        _share_near(predicted, truth, reach), _share_near(truth, predicted, reach)
    )


def _share_near(of: Intervals, by: Intervals, reach: float) -> float:
    """Give how much of one set lies within reach of the other, as a share of it."""
    whole = float((of.stops - of.starts).sum())
    if whole == 0:
        first, after = within(reach, of, by)
        return ratio(int((first < after).sum()), len(of))
    # Whole ticks stay whole; a part of a sample reaches no further one.
    whole_ticks = of.clock.kind == "integer" or reach == floor(reach)
    step = floor(reach) if whole_ticks else reach
    grown = replace(by, starts=by.starts - step, stops=by.stops + step).merged()
    return ratio(min(float(overlap_lengths(of, grown).sum()), whole), whole)


ENTRIES = (
    Metric(
        name="two_sided",
        function=two_sided,
        family="window",
        mainly_for="point",
        handles_adjacency=True,
        paper="Scharwaechter and Mueller 2020",
    ),
)

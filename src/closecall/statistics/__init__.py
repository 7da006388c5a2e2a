r"""How far scores may be off because there are only so many events: weighted resampling.

A resample gives every true event a random weight, independent and exponential with mean 1 (the
Bayesian bootstrap), and takes the weighted means of the individual precision (over the events where
it is defined) and recall; F1 is that of the two means. Detectors on the same events share the
weights, so their differences are paired. Events of one series share one weight: series are
resampled whole, since drawing events within them as well would count twice what varies there.

The events at hand may lack the kind on which a detector fails. So the lower limit of a score is
the quantile of resamples to which half an event is added on which it is 0, and the upper one that
of resamples with half an event on which it is 1: a weight drawn from Gamma(1/2), times the size of
the series that the average event is in. For a score that is always 0 or 1 that is close to the
Jeffreys interval of a proportion.

A difference has two limits on each side, and the farther one counts. The first is that of the
paired t-test, :math:`d \pm t_{m-1}\, s \sqrt{(m+1)/(m-1)}`, with s the standard deviation of d over
the resamples and m the number of events, or of series, on which both means rest: for precision and
F1 those where it is defined, for the detector with fewer. The second is a quantile of resamples
with half an event on which only one of the two fails, or only one succeeds; where the limits hold 0
nonetheless, one fails and the other succeeds (`leads.SetBack`). How surely one detector is ahead
says whether they do, and may be no surer than luck allows (`leads.lead`). With fewer than six
events there is neither.

All of it was chosen by the coverage it had in simulations, which the document on intervals shows.
"""

from closecall.statistics.intervals import (
    FEWEST_TO_COMPARE,
    SCORES,
    Difference,
    Interval,
    ScoreIntervals,
    caution_about,
    caution_about_pairs,
    caution_html,
    limits,
)
from closecall.statistics.means import (
    mean_difference,
    mean_differences,
    mean_interval,
    mean_intervals,
)
from closecall.statistics.resamples import Resamples, hierarchical

__all__ = [
    "FEWEST_TO_COMPARE",
    "SCORES",
    "Difference",
    "Interval",
    "Resamples",
    "ScoreIntervals",
    "caution_about",
    "caution_about_pairs",
    "caution_html",
    "hierarchical",
    "limits",
    "mean_difference",
    "mean_differences",
    "mean_interval",
    "mean_intervals",
]

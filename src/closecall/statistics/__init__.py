r"""How far scores and their differences may be off because there are only so many events.

**Scores** are resampled: every true event gets a random weight, independent and exponential with
mean 1 (the Bayesian bootstrap), in the means of the individual precision (over the events where it
is defined) and recall; F1 is that of the two means. The events at hand may lack the kind on which a
detector fails. So the lower limit is a quantile of resamples to which half an event is added on
which it scores 0, and the upper one of resamples with half an event on which it scores 1. For a
score that is always 0 or 1 that is close to the Jeffreys interval of a proportion.

**Differences** have the limits and the p-value of the paired t-test, with room for what the events
at hand do not show, in closed form (`closecall.statistics.leads.lead`). The standard error of
precision and F1 comes from their derivatives by the weights of events; a mean over fewer events, as
precision may be, has the degrees of freedom of those. With fewer than six events there is neither.

**What varies** is an event, a block of consecutive events (``block``), where one fault causes
several of them, or a series. Blocks and series are taken whole: precision and recall are sums over
each of them.

All of it was chosen by the coverage it had in simulations: ``python -m evidence intervals``.
"""

from closecall.statistics.intervals import (
    FEWEST_TO_COMPARE,
    SCORES,
    Cautions,
    Difference,
    Interval,
    ScoreIntervals,
    caution_about,
    caution_about_pairs,
    limits,
)
from closecall.statistics.leads import events_needed, mean_difference, mean_differences
from closecall.statistics.ranks import RankedPair, Ranks, compute_ranks
from closecall.statistics.sample import Sample, hierarchical, mean_interval, mean_intervals

__all__ = [
    "FEWEST_TO_COMPARE",
    "SCORES",
    "Cautions",
    "Difference",
    "Interval",
    "RankedPair",
    "Ranks",
    "Sample",
    "ScoreIntervals",
    "caution_about",
    "caution_about_pairs",
    "compute_ranks",
    "events_needed",
    "hierarchical",
    "limits",
    "mean_difference",
    "mean_differences",
    "mean_interval",
    "mean_intervals",
]

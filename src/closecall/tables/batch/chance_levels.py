"""What chance reaches on a series with as many alarms: the closed forms, a row at a time."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closecall.affiliation.result import EventScores


def chance_levels(events: EventScores) -> tuple[float, float, float]:
    """Give about the precision of `closecall.chance`, its recall exactly, and the F1 of the two.

    The precision is the mean level of the zones, weighted by the chance that an alarm reaches
    them; it depends on how many alarms there are, not on where. The mean precision and the mean
    F1 of a random detector have no closed form, and simulating them for each row would take far
    longer than everything else.
    """
    from closecall.affiliation import _chance_kernels

    if events.alarms == 0:
        return nan, 0.0, nan
    truth = events.pair.truth
    precision, recall = _chance_kernels.mean_levels(
        truth.starts, truth.stops, events.borders, events.alarms
    )
    return precision, recall, 2 * precision * recall / (precision + recall)

"""Two generated weeks of a service's latency, with its incidents and two detectors.

The data is made up, but seeded from a stream that numpy has frozen and rounded to what a monitor
would log, so it is the same on every machine and in every version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DAYS = 14
_PER_DAY = 288  # one sample every 5 minutes
_SEED = 2022
_BURST_RATE = 0.008  # samples at which something unrelated jolts the latency

# Day, hour and minute it starts; minutes it lasts; milliseconds it adds at its start and its end.
_INCIDENTS = (
    (3, 10, 20, 45, 48.0, 52.0),  # a plain outage in the busy hours
    (4, 2, 30, 180, 26.0, 30.0),  # subtle, at night: still below any busy afternoon
    (6, 14, 0, 150, 4.0, 75.0),  # a slow ramp, hard to see at first
    (8, 18, 5, 15, 70.0, 60.0),  # three samples, gone before smoothing notices
    (9, 21, 40, 390, 44.0, 36.0),  # a whole evening and night
    (11, 9, 0, 60, 58.0, 66.0),  # announced by the queue that builds up before it
    (12, 15, 30, 90, 36.0, 40.0),  # a plateau on top of the daily peak
)
_PRECURSOR = (11, 8, 20, 40, 12.0, 54.0)  # not an incident yet, but it shows


@dataclass(frozen=True, eq=False)
class Demo:
    """Two weeks of one metric, what was wrong when, and what two detectors made of it.

    Every array has one entry per sample and is read-only.

    Attributes
    ----------
    times
        When each sample was taken, every 5 minutes (``datetime64[s]``, without a time zone).
    values
        The latency in milliseconds.
    truth
        1 while an incident lasted, else 0.
    scores
        Per detector, how anomalous each sample is; higher is more anomalous.
    thresholds
        Per detector, the score from which on it raises the alarm.
    predicted
        Per detector, 1 where ``scores >= thresholds``, else 0.
    """

    times: NDArray[np.datetime64]
    values: NDArray[np.float64]
    truth: NDArray[np.uint8]
    scores: dict[str, NDArray[np.float64]]
    thresholds: dict[str, float]
    predicted: dict[str, NDArray[np.uint8]]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the data as one table: time, value, label, and two columns per detector.

        Examples
        --------
        >>> list(demo().columns())  # doctest: +NORMALIZE_WHITESPACE
        ['time', 'value', 'label', 'threshold', 'forecast', 'threshold_score', 'forecast_score']
        """
        return {
            "time": self.times,
            "value": self.values,
            "label": self.truth,
            **self.predicted,
            **{f"{name}_score": scores for name, scores in self.scores.items()},
        }

    def __repr__(self) -> str:
        return f"Demo({len(self.times)} samples, detectors: {', '.join(self.predicted)})"


def demo() -> Demo:
    """Generate the demo data; every call gives the same digits.

    The latency has a daily rhythm, noise and seven incidents. ``threshold`` alarms whenever the
    latency is high: noisy, with false alarms in busy hours, and blind to what happens at night.
    ``forecast`` alarms on the smoothed difference from the same hour of the days before: late,
    but precise.

    Returns
    -------
    Demo
        Times, values, truth, and the scores and alarms of both detectors.

    Examples
    --------
    >>> data = demo()
    >>> data
    Demo(4032 samples, detectors: threshold, forecast)
    >>> data.times[0], data.values[0].item(), data.truth.sum().item()
    (np.datetime64('2024-03-04T00:00:00'), 92.9, 186)
    """
    steps = np.arange(_DAYS * _PER_DAY)
    times = np.datetime64("2024-03-04T00:00:00", "s") + 300 * steps.astype("timedelta64[s]")
    disturbance, truth = _incidents(steps)
    values = np.round(_latency(steps) + disturbance, 1)
    scores = {"threshold": values.copy(), "forecast": _forecast_scores(values)}
    thresholds = {"threshold": 160.0, "forecast": 24.0}
    predicted = {name: (scores[name] >= thresholds[name]).astype(np.uint8) for name in scores}
    for array in (times, values, truth, *scores.values(), *predicted.values()):
        array.setflags(write=False)
    return Demo(times, values, truth, scores, thresholds, predicted)


def _latency(steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the undisturbed latency: a daily rhythm, quieter weekends, and noise with memory."""
    random = np.random.RandomState(_SEED)  # its stream is frozen; default_rng's is not
    hour = steps % _PER_DAY / (_PER_DAY / 24)
    rhythm = 32 * np.cos((hour - 15) * np.pi / 12) + 9 * np.cos((hour - 20) * np.pi / 6)
    weekend = np.where(np.isin(steps // _PER_DAY % 7, (5, 6)), 0.7, 1.0)
    shocks = 4.5 * random.standard_normal(len(steps))
    bursts = random.random_sample(len(steps)) < _BURST_RATE
    shocks += np.where(bursts, random.exponential(26, len(steps)), 0)
    noise = np.empty(len(steps))
    level = 0.0
    for index, shock in enumerate(shocks):
        level = 0.6 * level + shock
        noise[index] = level
    latency: NDArray[np.float64] = 120 + rhythm * weekend + noise
    return latency


def _incidents(steps: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return what the incidents add to the latency, and the labels."""
    added = np.zeros(len(steps))
    truth = np.zeros(len(steps), dtype=np.uint8)
    for day, hour, minute, lasts, first, last in (*_INCIDENTS, _PRECURSOR):
        start = day * _PER_DAY + hour * 12 + minute // 5
        stop = start + lasts // 5
        added[start:stop] += np.linspace(first, last, stop - start)
        truth[start:stop] = (day, hour, minute) != _PRECURSOR[:3]
    return added, truth


def _forecast_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smoothed difference from the median of the same minute on the days before."""
    days = values.reshape(_DAYS, _PER_DAY)
    surprise = np.zeros_like(days)
    for day in range(1, _DAYS):
        surprise[day] = days[day] - np.median(days[max(0, day - 7) : day], axis=0)
    smooth = np.empty(values.size)
    level = 0.0
    for index, difference in enumerate(surprise.ravel()):
        level += 0.12 * (difference - level)
        smooth[index] = level
    return np.round(smooth, 2)

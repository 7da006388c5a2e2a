"""Random small cases against brute force: affiliation of events and points, and its curve."""

from __future__ import annotations

from math import isclose, isnan
from typing import TYPE_CHECKING

from tests.oracle import affiliation as oracle

import closecall as cc
from benchmarks.fuzz_calls import Attempt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_LENGTH = 24
_TOLERANCE = 1e-9  # of the quadrature behind the oracle
_COLUMNS = ("precision", "recall", "precision_distance", "recall_distance", "early", "late")


def attempts(random: Random) -> Iterator[Attempt]:
    """Yield cases without end: events and points on a grid, or scores with ties."""
    while True:
        truth = [0] * _LENGTH
        while not any(truth):
            truth = _labels(random)
        if random.random() < 0.5:  # noqa: PLR2004 - as often
            yield _events(_runs(truth), _intervals(random))
        else:
            yield _curve(truth, [random.randrange(5) for _ in range(_LENGTH)])


def _labels(random: Random) -> list[int]:
    share = random.choice((0.1, 0.3, 0.6))
    return [int(random.random() < share) for _ in range(_LENGTH)]


def _intervals(random: Random) -> list[oracle.Interval]:
    """Return alarms, some of them points, which never lie in a range."""
    cuts = sorted(random.sample(range(_LENGTH + 1), 2 * random.randrange(1, 6)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=True))
    return [(start, start if random.random() < 0.3 else stop) for start, stop in pairs]  # noqa: PLR2004


def _runs(labels: list[int]) -> list[oracle.Interval]:
    return oracle.events_of_labels(labels, range(_LENGTH), _LENGTH)


def _events(truth: list[oracle.Interval], predicted: list[oracle.Interval]) -> Attempt:
    source = f"cc.affiliation({truth}, {predicted}, span=(0, {_LENGTH}))"
    own = cc.affiliation(cc.Events(truth), cc.Events(predicted), span=(0, _LENGTH))
    expected = oracle.evaluate(truth, predicted, (0, _LENGTH))
    pairs = [(own.precision, expected.precision), (own.recall, expected.recall)]
    for name in _COLUMNS:
        column = getattr(own.events, name)
        pairs += [(column[j], getattr(row, name)) for j, row in enumerate(expected.rows)]
    return _judged(source, pairs)


def _curve(truth: list[int], scores: list[int]) -> Attempt:
    source = f"cc.affiliation_curve({truth}, {scores})"
    curve, pairs = cc.affiliation_curve(truth, scores), []
    for k, threshold in enumerate(curve.thresholds):
        labels = [int(score >= threshold) for score in scores]
        expected = oracle.evaluate(_runs(truth), _runs(labels), (0, _LENGTH))
        pairs += [(curve.precision[k], expected.precision), (curve.recall[k], expected.recall)]
    return _judged(source, pairs)


def _judged(source: str, pairs: list[tuple[float, float]]) -> Attempt:
    for own, expected in pairs:
        close = isclose(own, expected, rel_tol=0, abs_tol=_TOLERANCE) or own == expected
        if not close and not (isnan(own) and isnan(expected)):
            return Attempt(source, "failed", f"{own} where brute force gives {expected}")
    return Attempt(source, "accepted", "")

"""From scores to rows and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

from closecall.adversary.contest import ROUNDS
from closecall.adversary.judge import main_number
from closecall.audit.result import Verdict
from closecall.metrics.registry import find

if TYPE_CHECKING:
    from closecall.audit.session import Session


@dataclass(frozen=True)
class _Strongest:
    """The attempt of a family that comes closest to the detectors, or beats them by most."""

    parameters: dict[str, Any]
    values: dict[str, float]
    knows: int
    detector: str
    detector_score: float
    margin: float


def verdict(session: Session, metric: str) -> Verdict:
    """Judge a metric by the strongest of all uninformative predictions."""
    number = main_number(find(metric))
    families = _strongest(session, metric)
    family = max(families, key=lambda name: _order(families[name].margin))
    best = families[family]
    return Verdict(
        metric=metric,
        number=number,
        beaten=None if isnan(best.margin) else best.margin >= 0,
        by=family,
        parameters=best.parameters,
        knows=best.knows,
        score=best.values[number],
        detector=best.detector,
        detector_score=best.detector_score,
        margin=best.margin,
    )


def rows(session: Session, metric: str) -> list[dict[str, Any]]:
    """List the predictions under one metric; of each family, its strongest attempt."""
    detectors = [
        _row(metric, name, "detector", values[metric]) for name, values in session.plain.items()
    ]
    trivial = _row(metric, "trivial", "trivial", session.trivial[metric], knows=1)
    families = [
        _row(
            metric,
            name,
            "uninformative",
            best.values,
            knows=best.knows,
            parameters=best.parameters,
        )
        for name, best in _strongest(session, metric).items()
    ]
    return [*detectors, trivial, *families]


def _row(
    metric: str,
    prediction: str,
    kind: str,
    values: dict[str, float],
    *,
    knows: int = 0,
    parameters: dict[str, Any] | None = None,
) -> dict[str, Any]:
    number = main_number(find(metric))
    return {
        "metric": metric,
        "prediction": prediction,
        "kind": kind,
        "number": number,
        "score": values[number],
        "precision": values.get("precision", nan),
        "recall": values.get("recall", nan),
        "knows": knows,
        "parameters": parameters or {},
    }


def _strongest(session: Session, metric: str) -> dict[str, _Strongest]:
    number = main_number(find(metric))
    last = len(ROUNDS) - 1
    left = session.remaining(metric, last)
    best: dict[str, _Strongest] = {}
    for index, attempt in enumerate(session.attempts):
        if attempt.family.random and index not in left:
            continue
        parameters, values = session.median(metric, index, last if index in left else 0)
        knows = attempt.family.knows
        rivals = session.hinted[parameters["event"]] if knows else session.plain
        name = max(rivals, key=lambda rival: session.worth(metric, rivals[rival]))
        margin = _difference(session.worth(metric, values), session.worth(metric, rivals[name]))
        family = attempt.family.name
        if family not in best or _order(margin) > _order(best[family].margin):
            against = rivals[name][metric][number]
            best[family] = _Strongest(parameters, values[metric], knows, name, against, margin)
    return best


def _difference(left: float, right: float) -> float:
    """Subtract, where two scores that are undefined, or infinite alike, leave no difference."""
    return nan if left == right and abs(left) == inf else left - right


def _order(margin: float) -> float:
    return -inf if isnan(margin) else margin

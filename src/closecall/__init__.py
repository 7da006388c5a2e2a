"""Local, parameter-free evaluation of time series anomaly detectors."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from closecall import adversary, compat, datasets, metrics, plot, signature, statistics, theory
    from closecall.adversary.audit import audit
    from closecall.affiliation import (
        Affiliation,
        AffiliationCurve,
        Chance,
        EventScores,
        affiliation,
        affiliation_average_precision_score,
        affiliation_curve,
        affiliation_f1_score,
        affiliation_precision_score,
        affiliation_recall_score,
        choose_threshold,
    )
    from closecall.affiliation.stream import AffiliationStream
    from closecall.chance import significance
    from closecall.check import check
    from closecall.compare import compare
    from closecall.evaluate import evaluate
    from closecall.events import Events
    from closecall.report import Report, report, report_batch
    from closecall.tables import BatchResult, evaluate_frame, read_events

__version__ = "0.1.0"

__all__ = [
    "Affiliation",
    "AffiliationCurve",
    "AffiliationStream",
    "BatchResult",
    "Chance",
    "EventScores",
    "Events",
    "Report",
    "adversary",
    "affiliation",
    "affiliation_average_precision_score",
    "affiliation_curve",
    "affiliation_f1_score",
    "affiliation_precision_score",
    "affiliation_recall_score",
    "audit",
    "check",
    "choose_threshold",
    "compare",
    "compat",
    "datasets",
    "evaluate",
    "evaluate_frame",
    "metrics",
    "plot",
    "read_events",
    "report",
    "report_batch",
    "signature",
    "significance",
    "statistics",
    "theory",
]

# Where each name is, so that it is loaded when it is first used; modules are their own home.
_HOMES = {
    "Affiliation": "affiliation",
    "AffiliationCurve": "affiliation",
    "AffiliationStream": "affiliation.stream",
    "BatchResult": "tables",
    "Chance": "affiliation",
    "EventScores": "affiliation",
    "Events": "events",
    "Report": "report",
    "affiliation": "affiliation",
    "affiliation_average_precision_score": "affiliation",
    "affiliation_curve": "affiliation",
    "affiliation_f1_score": "affiliation",
    "affiliation_precision_score": "affiliation",
    "affiliation_recall_score": "affiliation",
    "audit": "adversary.audit",
    "check": "check",
    "choose_threshold": "affiliation",
    "compare": "compare",
    "evaluate": "evaluate",
    "evaluate_frame": "tables",
    "read_events": "tables",
    "report": "report",
    "report_batch": "report",
    "significance": "chance",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES.get(name, name)}")
    value = getattr(home, name) if name in _HOMES else home
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `closecall.affiliation` the function when the package of that name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

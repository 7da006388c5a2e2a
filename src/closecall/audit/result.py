"""What an audit found: scores, verdicts and design targets."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

from closecall.audit.targets import TARGETS
from closecall.errors import InputError, MissingExtraError, expected


@dataclass(frozen=True)
class Verdict:
    """Whether a prediction without information does at least as well as the best detector."""

    metric: str
    number: str
    """What is compared: f1, or the metric's only value."""
    beaten: bool | None
    """None where the metric is undefined for all detectors and all other predictions."""
    by: str
    """The family of the strongest uninformative prediction, whether it beats or not."""
    parameters: dict[str, Any]
    knows: int
    """How many true events that prediction was built from: 0 or 1."""
    score: float
    detector: str
    """The best detector, after it was given the events that the other prediction knows."""
    detector_score: float
    margin: float
    """How much better the uninformative prediction is; negative where the metric holds."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The scores of detectors and of predictions without information under many metrics."""

    table: tuple[dict[str, Any], ...]
    """One row per metric and prediction: metric, prediction, kind (detector, trivial or
    uninformative), number, score, precision, recall, knows, parameters. A family of uninformative
    predictions is there with its strongest attempt."""
    verdicts: dict[str, Verdict]
    targets: tuple[dict[str, Any], ...]
    """One row per metric and design target: metric, target, value, met."""
    distances: dict[str, dict[int, float]]
    """Per metric, the score by the distance in samples at which every event is missed."""
    events: int
    """How many true events the series has."""
    tried: int
    """How many uninformative predictions were scored."""
    left_out: dict[str, str]
    """Families and metrics that were not used, and why."""
    unit: str = "samples"
    """What the metrics that are distances are in: samples, seconds, or the unit of the times."""

    @property
    def beaten(self) -> tuple[str, ...]:
        """Names of the metrics that a prediction without information beats."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.beaten)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values that any JSON writer takes; what is undefined becomes None."""
        plain: dict[str, Any] = _plain(
            {
                "events": self.events,
                "tried": self.tried,
                "unit": self.unit,
                "verdicts": [asdict(verdict) for verdict in self.verdicts.values()],
                "table": list(self.table),
                "targets": list(self.targets),
                "distances": {
                    name: [{"distance": far, "score": score} for far, score in scores.items()]
                    for name, scores in self.distances.items()
                },
                "meaning": {name: target.meaning for name, target in TARGETS.items()},
                "left_out": self.left_out,
            }
        )
        return plain

    def to_frame(
        self,
        backend: Literal["pandas", "polars"] = "pandas",
        *,
        part: Literal["table", "verdicts", "targets"] = "table",
    ) -> Any:
        """Give one part as a dataframe; parameters become text.

        Examples
        --------
        >>> import closecall as cc
        >>> truth = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0]
        >>> found = cc.audit(truth, {"late": [0] + truth[:-1]}, metrics=["classical"])
        >>> found.to_frame("polars").columns[:4]
        ['metric', 'prediction', 'kind', 'number']
        """
        if part not in ("table", "verdicts", "targets"):
            raise InputError(expected("`part` to be 'table', 'verdicts' or 'targets'", repr(part)))
        if backend not in ("pandas", "polars"):
            raise InputError(expected("`backend` to be 'pandas' or 'polars'", repr(backend)))
        rows = flat_rows(self, part)
        columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
        try:
            if backend == "pandas":
                import pandas as pd

                return pd.DataFrame(columns)
            import polars as pl

            return pl.DataFrame(columns)
        except ImportError as error:
            raise MissingExtraError(backend) from error

    def __repr__(self) -> str:
        beaten = ", ".join(self.beaten) or "none"
        events = f"{self.events} event{'' if self.events == 1 else 's'}"
        return (
            f"Audit({len(self.verdicts)} metrics on {events}, {self.tried} "
            f"uninformative predictions tried, beaten: {beaten})"
        )


def flat_rows(audit: Audit, part: str) -> list[dict[str, Any]]:
    """Give the rows of one part with nothing nested in them."""
    if part == "verdicts":
        rows = [asdict(verdict) for verdict in audit.verdicts.values()]
    else:
        rows = [dict(row) for row in getattr(audit, part)]
    for row in rows:
        if "parameters" in row:
            row["parameters"] = json.dumps(row["parameters"])
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value

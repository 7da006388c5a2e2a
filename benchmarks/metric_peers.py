"""Other implementations of the metrics: what they are called, and a script that times one.

The script runs in the isolated environment of the peers, where closecall is not installed:
``python metric_peers.py METRIC PACKAGE FOLDER [exact]`` times a peer on the arrays in a folder.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import inf
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, float]
    Prepared = Callable[[], Values]

SHARED = (
    "numpy==2.2.6",
    "scipy==1.15.3",
    "scikit-learn==1.6.1",
    "pandas==2.3.3",
    "numba==0.61.2",
    "statsmodels==0.14.5",
    "matplotlib==3.10.7",
    "pyyaml==6.0.3",
    "tqdm==4.67.1",
    "toml==0.10.2",
)
WINDOW, EXACT_WINDOW = 100, 20
DELTA = 180
_LONG_ENOUGH, _MOST_CALLS = 2.0, 7  # seconds and calls, for a peer that is not slow


@dataclass(frozen=True, slots=True)
class Task:
    """What a peer is given: two arrays, and whether to take all thresholds of the scores."""

    truth: Any
    scored: Any
    """Scores, or 0/1 predictions."""
    exact: bool

    @property
    def pair(self) -> tuple[Any, Any]:
        """Both arrays, in the order that most peers have."""
        return self.truth, self.scored

    @property
    def sizes(self) -> tuple[int, int]:
        """The widest window of VUS and the number of its thresholds."""
        return (EXACT_WINDOW, len(self.scored)) if self.exact else (WINDOW, 250)


@dataclass(frozen=True, slots=True)
class Peer:
    """A function of a package that computes the metric, or something like it."""

    package: str
    prepare: Callable[[Task], Prepared]
    """Import the peer, and give a call of it."""
    differs: str = ""
    """Why its numbers are others than closecall's, where they are meant to be."""


def _range_prts(task: Task) -> Prepared:
    prts = import_module("prts")
    settings = {"cardinality": "reciprocal", "bias": "flat"}
    return lambda: {
        "precision": prts.ts_precision(*task.pair, alpha=0.0, **settings),
        "recall": prts.ts_recall(*task.pair, alpha=0.5, **settings),
    }


def _range_aeon(task: Task) -> Prepared:
    aeon = import_module("aeon.benchmarking.metrics.anomaly_detection")
    return lambda: {
        "precision": aeon.range_precision(*task.pair, alpha=0),
        "recall": aeon.range_recall(*task.pair, alpha=0.5),
    }


def _range_dtaianomaly(task: Task) -> Prepared:
    evaluation = import_module("dtaianomaly.evaluation")
    return lambda: {
        "precision": evaluation.RangeBasedPrecision().compute(*task.pair),
        "recall": evaluation.RangeBasedRecall(alpha=0.5).compute(*task.pair),
    }


def _range_tsadmetrics(task: Task) -> Prepared:
    score = _tsadmetrics("tpdm", "RangebasedFScore")
    metric = score(p_alpha=0.0, r_alpha=0.5, cardinality_mode="reciprocal")
    return lambda: {"f1": metric.compute(*task.pair)}


def _time_aware_tsadmetrics(task: Task) -> Prepared:
    score = _tsadmetrics("ptdm", "TimeseriesAwareFScore")
    metric = score(theta=0.5, delta=DELTA - 1, alpha=0.5)  # it takes one sample more than delta
    return lambda: {"f1": metric.compute(*task.pair)}


def _vus(module: str, attribute: str) -> Callable[[Task], Prepared]:
    def prepare(task: Task) -> Prepared:
        compute = getattr(import_module(module), attribute)().RangeAUC_volume_opt
        given = (*task.pair, *task.sizes)
        return lambda: dict(zip(("roc", "pr"), compute(*given)[-2:], strict=True))

    return prepare


def _vus_tsadmetrics(task: Task) -> Prepared:
    curve = import_module("tsadmetrics.utils.functions_vus").generate_curve
    window, count = task.sizes
    given = (*task.pair, window, "opt_mem", count)
    return lambda: dict(zip(("roc", "pr"), curve(*given)[-2:], strict=True))


def _vus_dtaianomaly(task: Task) -> Prepared:
    evaluation = import_module("dtaianomaly.evaluation")
    truth, scores = task.pair
    scores = (scores - scores.min()) / (scores.max() - scores.min())
    volumes = (evaluation.VolumeUnderROC, evaluation.VolumeUnderPR)
    window, count = task.sizes

    def call(samples: int | None = None) -> Values:
        values = [
            volume(max_buffer_size=window, max_samples=count).compute(
                truth[:samples], scores[:samples]
            )
            for volume in volumes
        ]
        return dict(zip(("roc", "pr"), values, strict=True))

    call(int(np.flatnonzero(truth)[0]) + 1)  # compiles
    return call


def _pate(module: str) -> Callable[[Task], Prepared]:
    def prepare(task: Task) -> Prepared:
        compute = import_module(module).PATE
        given = (*task.pair, 100, 100)
        options = {"Big_Data": False, "drop_intermediate": False} if task.exact else {}
        return lambda: {"value": compute(*given, **options)}

    return prepare


def _adjusted_easytsad(task: Task) -> Prepared:
    protocol = import_module("EasyTSAD.Evaluations.Protocols.PointF1PA").PointF1PA()

    def call() -> Values:
        best = protocol.calc(task.scored, task.truth, None)
        return {"precision": best.p, "recall": best.r, "f1": best.f1}

    return call


def _adjusted_deepod(task: Task) -> Prepared:
    _without_opening("deepod")
    metrics = import_module("deepod.metrics")
    truth, scores = task.pair

    def call() -> Values:
        # It adds 1e-5 to a denominator of F1, but not to these two.
        *_, precision, recall = metrics.ts_metrics(truth, metrics.point_adjustment(truth, scores))
        return {"precision": precision, "recall": recall}

    return call


def _adjusted_tsadmetrics(task: Task) -> Prepared:
    metric = _tsadmetrics("tpdm", "PointadjustedAucPr")()
    return lambda: {"area": metric.compute(*task.pair)}


def _adjusted_tsb_ad(task: Task) -> Prepared:
    metrics = import_module("TSB_AD.evaluation.basic_metrics").basic_metricor()
    return lambda: {"f1": metrics.metric_PointF1PA(*task.pair)}


def _tsadmetrics(family: str, name: str) -> Any:
    return getattr(import_module(f"tsadmetrics.metrics.tem.{family}.{name}"), name)


def _without_opening(package: str) -> None:
    """Let modules of a package be imported though its own imports need what is not here (torch)."""
    specification = find_spec(package)
    if specification is None:
        raise ModuleNotFoundError(package)
    module = ModuleType(package)
    module.__path__ = list(specification.submodule_search_locations or ())
    sys.modules[package] = module


_LISTED = (Path(__file__).parent / "peers.txt").read_text(encoding="utf-8").splitlines()
_PINS = {line.partition("==")[0]: line for line in _LISTED if "==" in line}
PEERS = {
    "range_based": (
        Peer(_PINS["prts"], _range_prts),
        Peer(_PINS["aeon"], _range_aeon),
        Peer(_PINS["dtaianomaly"], _range_dtaianomaly),
        Peer(_PINS["tsadmetrics"], _range_tsadmetrics),
    ),
    "time_aware": (Peer(_PINS["tsadmetrics"], _time_aware_tsadmetrics),),
    "vus": (
        Peer(_PINS["vus"], _vus("vus.utils.metrics", "metricor")),
        Peer(_PINS["TSB-AD"], _vus("TSB_AD.evaluation.basic_metrics", "basic_metricor")),
        Peer(_PINS["tsadmetrics"], _vus_tsadmetrics),
        Peer(
            _PINS["dtaianomaly"],
            _vus_dtaianomaly,
            "other buffers, and trapezoids under the PR curve",
        ),
    ),
    "pate": (
        Peer(_PINS["PATE"], _pate("pate.PATE_metric")),
        Peer(_PINS["tsadmetrics"], _pate("tsadmetrics.utils.functions_pate")),
    ),
    "point_adjust_curve": (
        Peer(_PINS["EasyTSAD"], _adjusted_easytsad),
        Peer(_PINS["DeepOD"], _adjusted_deepod),
        Peer(_PINS["tsadmetrics"], _adjusted_tsadmetrics, "it gives the area under the curve"),
        Peer(_PINS["TSB-AD"], _adjusted_tsb_ad, "it takes 100 thresholds at even distances"),
    ),
}


def _measure(call: Prepared) -> tuple[float, Values]:
    """Return the best time of some calls, of one if that takes long, and what the first gave."""
    best, spent, calls, values = inf, 0.0, 0, {}
    while not calls or (spent < _LONG_ENOUGH and calls < _MOST_CALLS):
        start = perf_counter()
        result = call()
        seconds = perf_counter() - start
        best, spent, calls, values = min(best, seconds), spent + seconds, calls + 1, result
    return best, {name: float(value) for name, value in values.items()}


def main(metric: str, package: str, folder: str, *options: str) -> None:
    truth, scored = (np.load(Path(folder) / f"{name}.npy") for name in ("truth", "scored"))
    peer = next(peer for peer in PEERS[metric] if peer.package == package)
    print(json.dumps(_measure(peer.prepare(Task(truth, scored, exact="exact" in options)))))


if __name__ == "__main__":
    main(*sys.argv[1:])

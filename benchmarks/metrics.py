"""The other metrics: closecall beside their peers on PyPI, and beside reading the labels."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import metric_peers, series
from benchmarks.affiliation import DisagreementError
from benchmarks.environment import Environment, PeerError
from benchmarks.metric_peers import DELTA, EXACT_WINDOW, PEERS, SHARED, WINDOW, Peer
from benchmarks.timing import (
    Row,
    Target,
    beside,
    best_time,
    best_times,
    hold_memory,
    options,
    print_tables,
)
from closecall import metrics
from closecall.datasets import load_kdd2022
from closecall.errors import ClosecallError
from closecall.metrics.registry import METRICS
from closecall.series import read_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Arrays = tuple[NDArray[Any], NDArray[Any]]  # truth, and predictions or scores
    Values = Mapping[str, float]

_AGREEMENT = 1e-9
_SWAT_SAMPLES, _SWAT_TRUE, _SWAT_PREDICTED = 449_919, 35, 2_601
_MOST_READINGS = 5
_MARGIN = 60  # samples, for the metrics that have no default for theirs
_OWN_PARAMETERS: dict[str, dict[str, Any]] = {
    "window_once": {"margin": _MARGIN},
    "margin": {"margin": _MARGIN},
    "two_sided": {"tolerance": _MARGIN},
}


@dataclass(frozen=True, slots=True)
class Contest:
    """A metric, what it is timed on, and how many times faster than its peers it shall be."""

    name: str
    title: str
    arrays: Arrays
    bound: float
    own: Callable[[Arrays], Values]
    """Compute everything that a peer may give too."""
    own_exact: Callable[[Arrays], Values] | None = None
    """The same where peers take all thresholds, if they cannot bear that on these arrays."""
    curve: Callable[[Arrays], object] | None = None
    """More than peers give; it is held to the same target."""


def swat_iforest() -> Arrays:
    """Load the labels of SWaT and the predictions of iForest, or generate a series like them."""
    shape = f"{_SWAT_SAMPLES:,} samples, {_SWAT_TRUE} true, {_SWAT_PREDICTED:,} predicted events"
    try:
        swat = load_kdd2022()["swat"]
    except ClosecallError as error:
        reason = str(error).partition("\n")[0]
        print(f"Generated labels in place of SWaT/iForest ({shape}): {reason}")
        # This seed keeps events further apart than delta, where definitions of TaP/TaR differ.
        truth = series.labels(_SWAT_TRUE, _SWAT_SAMPLES, mean=1_560, seed=111)
        return truth, series.labels(_SWAT_PREDICTED, _SWAT_SAMPLES, mean=20, seed=2)
    print(f"The labels are those of SWaT/iForest ({shape}).")
    return swat.truth, swat.predicted["iforest"]


def scored(truth: NDArray[Any], window: int) -> Arrays:
    """Draw scores that move slowly and rise at the events, as a detector's do; all distinct."""
    total = np.cumsum(np.random.default_rng(4).normal(size=truth.size + window) / window**0.5)
    return truth.astype(np.int64), total[window:] - total[:-window] + 2.0 * truth


def contests(swat: Arrays, *, quick: bool) -> list[Contest]:
    """List what is compared with peers; in a quick run, slow peers get less to do."""
    vus, pate, every = (20_000, 2_000, 45_000) if quick else (200_000, 20_000, swat[0].size)
    # About as many events per sample as in SWaT, and as long; for more, peers take longer.
    vus_truth = series.labels(max(1, vus // 12_500), vus, mean=1_560, seed=3)
    pate_truth = series.labels(pate // 2_000, pate, mean=100, seed=5)
    return [
        Contest("range_based", "RP/RR, SWaT/iForest", swat, 100, computed("range_based")),
        Contest(
            "time_aware",
            f"TaP/TaR (delta {DELTA}), SWaT/iForest",
            swat,
            100,
            computed("time_aware", delta=DELTA),
        ),
        Contest(
            "vus",
            f"VUS-ROC and VUS-PR, all thresholds, window {WINDOW}, {vus:,} samples",
            scored(vus_truth, 1_000),
            100,
            computed("vus", window=WINDOW),
            computed("vus", window=EXACT_WINDOW),
        ),
        Contest(
            "pate",
            f"PATE, all thresholds, {pate:,} samples",
            scored(pate_truth, 100),
            200,
            computed("pate"),
            computed("pate"),
        ),
        Contest(
            "point_adjust_curve",
            f"best point-adjusted F1 of all thresholds, {every:,} samples",
            scored(swat[0][:every], 1_000),
            20,
            lambda arrays: metrics.point_adjust_curve(*arrays).best().values(),
            curve=lambda arrays: metrics.point_adjust_curve(*arrays).f1,
        ),
    ]


def computed(name: str, **parameters: Any) -> Callable[[Arrays], Values]:
    """Return what computes a metric."""
    return lambda arrays: getattr(metrics, name)(*arrays, **parameters).values()


def against_peers(contest: Contest, environment: Environment, *, judged: bool) -> list[Row]:
    """Time peers and closecall on the same arrays, once they agree; no rows without a peer."""
    times: dict[str, float] = {}
    for peer in PEERS[contest.name]:
        try:
            environment.install(peer.package)
            times[peer.package] = _time_peer(contest, peer, environment)
        except PeerError as error:
            print(f"  {peer.package} is left out: {error}")
    if not times:
        return []
    fastest = min(times, key=lambda package: times[package])
    own = best_time(lambda: contest.own(contest.arrays))
    meaning = f"times faster than {fastest}"
    target = Target(">=", contest.bound) if judged else None
    rows = [beside(package, seconds, own, "times closecall") for package, seconds in times.items()]
    rows.append(Row(f"closecall, {contest.title}", own, times[fastest] / own, meaning, target))
    if contest.curve is not None:
        whole = contest.curve
        spent = best_time(lambda: whole(contest.arrays))
        label = "closecall, F1 at each threshold"
        rows.append(Row(label, spent, times[fastest] / spent, meaning, target))
    return rows


def _time_peer(contest: Contest, peer: Peer, environment: Environment) -> float:
    """Compare a peer's numbers with closecall's, and give its seconds."""
    own, few = contest.own, contest.arrays
    if contest.own_exact is not None:
        own, few = contest.own_exact, scored(series.labels(4, 500, mean=20, seed=6), 50)
        _, theirs = _run_peer(contest.name, peer, environment, few, "exact")
        _compare(peer, own(few), theirs)
    seconds, theirs = _run_peer(contest.name, peer, environment, contest.arrays)
    if contest.own_exact is None:
        _compare(peer, own(few), theirs)
    return seconds


def _run_peer(
    name: str, peer: Peer, environment: Environment, arrays: Arrays, *options: str
) -> tuple[float, Values]:
    script = Path(metric_peers.__file__)
    with tempfile.TemporaryDirectory() as folder:
        for stem, array in zip(("truth", "scored"), arrays, strict=True):
            np.save(Path(folder) / f"{stem}.npy", array)
        seconds, values = environment.run(script, (name, peer.package, folder, *options))
    return seconds, values


def _compare(peer: Peer, own: Values, theirs: Values) -> None:
    """Print how far a peer's numbers are from closecall's; too far is an error."""
    differences = [abs(own[name] - theirs[name]) for name in theirs if name in own]
    largest = f"by {max(differences):.1e}" if differences else "and cannot be compared"
    if peer.differs:
        print(f"  {peer.package} differs by definition ({peer.differs}), {largest}.")
    elif not max(differences) < _AGREEMENT:
        raise DisagreementError(f"closecall and {peer.package} differ {largest}.")
    else:
        print(f"  {peer.package} agrees to {max(differences):.1e} ({', '.join(theirs)}).")


def beside_reading(swat: Arrays) -> list[Row]:
    """Time every metric of labels that has no target above, from the vectors to its result."""
    entries = [e for e in METRICS.values() if e.takes == "labels" and e.name not in PEERS]
    calls: dict[str, Callable[[], object]] = {"": lambda: read_pair(*swat)}
    for entry in entries:
        own = computed(entry.name, **_OWN_PARAMETERS.get(entry.name, {}))
        calls[entry.name] = partial(own, swat)
    times = best_times(calls, rounds=15)
    read = times.pop("")
    target = Target("<=", _MOST_READINGS)
    return [
        Row("reading both vectors into events", read),
        *(beside(name, spent, read, "times reading", target) for name, spent in times.items()),
    ]


def peer_sections(swat: Arrays, *, quick: bool) -> tuple[dict[str, list[Row]], list[str]]:
    """Run all contests; return their rows, and the titles of those without any peer."""
    # Some peers compute nonsense from labels in a smaller type; all contestants get this one.
    wide = (swat[0].astype(np.int64), swat[1].astype(np.int64))
    listed = contests(wide, quick=quick)
    try:
        environment = Environment(SHARED)
    except PeerError as error:
        print(f"There is no environment for the peers: {error}", file=sys.stderr)
        return {}, [contest.title for contest in listed]
    sections: dict[str, list[Row]] = {}
    for contest in listed:
        print(f"\n{contest.title}:", flush=True)
        judged = not quick or contest.arrays is wide
        sections[contest.title] = against_peers(contest, environment, judged=judged)
    return sections, [title for title, rows in sections.items() if not rows]


def main(arguments: list[str]) -> int:
    parser = options("metrics", __doc__, "a tenth of the scores for peers")
    quick = parser.parse_args(arguments).quick
    if hold_memory():
        print("Freed memory is kept for the next call, of every contestant.")
    swat = swat_iforest()
    if quick:
        print("Quick run: a tenth of the samples for metrics of scores, which are not judged.")
    try:
        sections, unmatched = peer_sections(swat, quick=quick)
    except DisagreementError as error:
        print(error, file=sys.stderr)
        return 2
    sections["Beside reading the labels, SWaT/iForest"] = beside_reading(swat)
    status = print_tables(sections)
    for title in unmatched:
        print(f"Not judged, for want of a peer: {title}.", file=sys.stderr)
    return status

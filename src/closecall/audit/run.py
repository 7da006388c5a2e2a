"""Which metrics can be trusted on a series: the public function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.adversary.families import plan, read_families
from closecall.adversary.judge import read_judge
from closecall.adversary.search import read_truth
from closecall.audit.detectors import read_detectors, require_detectors
from closecall.audit.judgement import rows, verdict
from closecall.audit.result import Audit
from closecall.audit.session import Session
from closecall.audit.targets import canonical_times, measure_targets
from closecall.clock import read_times
from closecall.parameters import require_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from closecall.adversary.canvas import Canvas


def audit(
    truth: Any,
    detectors: Mapping[str, Any],
    *,
    metrics: str | Iterable[str] | Mapping[str, Mapping[str, Any]] | None = None,
    trivial: Any = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    seed: int = 0,
    budget: int = 120,
    progress: Callable[[int, int], None] | None = None,
) -> Audit:
    """Find out which metrics can be trusted on a series: who is fooled, and by what.

    Each metric scores the detectors, the trivial event alone, and predictions that carry no
    information: those of `closecall.adversary.search`. A metric is *beaten* where one of these
    scores at least as well as every detector. A prediction that was built from a true event knows
    that event, so the detectors it is compared with are given the same event first: their own
    predictions in its zone are replaced by it. A metric is also beaten where no detector is better
    than chance; then it is the detectors that failed.

    The design targets of the paper are measured beside it, on a small canonical series: whether a
    near miss counts, whether long events are overrated, whether slight improvements give slight
    gains, and whether what happens around one event counts for that event only.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    detectors
        Predictions of the same kind, by name. The names of the predictions that an audit makes
        itself (``trivial`` and the families in `closecall.adversary.FAMILIES`) are taken.
    metrics
        A name or names from `closecall.metrics.table`, or a mapping from names to parameters; each
        metric once. By default
        every metric that judges 0/1 predictions and whose parameters all have a default.
    trivial
        One event that anybody can find, of the kind of `truth`, to build adversaries from; it
        meets one true event. By default each true event in turn; the row ``trivial`` is then the
        first true event.
    times, end, span
        As in `closecall.affiliation`.
    seed
        Of the random predictions; the same arguments always give the same result.
    budget
        How many uninformative predictions to score in search of the strongest, about. The fresh
        draws of the best random ones come on top.
    progress
        Called with what is done and what there is to do, in predictions. The latter grows when
        random predictions are drawn afresh.

    Returns
    -------
    Audit
        ``table``, ``verdicts``, ``targets``, ``to_frame``, ``to_dict``.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = ([0] * 40 + [1] * 20) * 3
    >>> late = [0] * 10 + truth[:-10]
    >>> cc.audit(truth, {"late": late}, metrics=["classical", "affiliation"], budget=20)
    Audit(2 metrics on 3 events, 118 uninformative predictions tried, beaten: none)
    """
    require_detectors(detectors)
    require_count(seed, "seed", 0)
    require_count(budget, "budget", 1)
    canvas = read_truth(truth, trivial, span)
    axis = {"times": times, "end": end, "span": span}
    read_detectors(truth, detectors, axis)
    judge, left_out = read_judge(truth, next(iter(detectors.values())), metrics, axis)
    attempts, skipped = plan(canvas, read_families(None), seed=seed, budget=budget)
    session = Session(judge, canvas, dict(detectors), attempts, progress)
    session.run()
    targets, distances = measure_targets(judge, canonical_times(canvas, times), session.advance)
    return Audit(
        table=tuple(row for metric in judge.metrics for row in rows(session, metric)),
        verdicts={metric: verdict(session, metric) for metric in judge.metrics},
        targets=tuple(targets),
        distances=distances,
        events=len(canvas.events),
        tried=session.tried,
        left_out=left_out | skipped,
        unit=_unit(canvas, times),
    )


def _unit(canvas: Canvas, times: Any) -> str:
    """Say what distances are in."""
    clock = canvas.clock if times is None else read_times(times, "times")[1]
    if clock.kind == "datetime":
        return "seconds"
    return "samples" if canvas.samples and times is None else "the unit of the times"

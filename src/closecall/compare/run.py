"""Which detector finds which event better: the public function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closecall.affiliation.score import score_pair
from closecall.compare.reading import read_entrants
from closecall.compare.result import Comparison
from closecall.errors import InputError, expected

if TYPE_CHECKING:
    from collections.abc import Mapping


def compare(
    truth: Any,
    predicted: Mapping[str, Any] | None = None,
    *,
    scores: Mapping[str, Any] | None = None,
    thresholds: Mapping[str, float] | float | None = None,
    times: Any = None,
    end: Any = None,
    span: Any = None,
    decimals: int | None = None,
) -> Comparison:
    """Compare detectors event by event: who is better, on which events, and in what.

    Each detector is scored as by `closecall.affiliation` (in [0, 1], higher is better; equations 4
    to 6 of the paper). Two detectors are then compared on each true event as in section 4.3 of the
    paper: better in both precision and recall, in one of them only, equivocal, or worse; events
    that one of the two does not detect are counted apart.

    Parameters
    ----------
    truth
        A 0/1 vector, or `Events`.
    predicted
        Predictions by the name of the detector: 0/1 vectors, or `Events`.
    scores
        Scores by the name of the detector, one per sample, higher is more anomalous. A detector is
        taken at the threshold with its own best F1, or at the one given in `thresholds`. Nothing
        tells scores from labels but the argument they are given in.
    thresholds
        Thresholds by the name of the detector, for any of those in `scores`; or one number for all
        of them.
    times, end
        As in `closecall.affiliation`, for all vectors. Needed where vectors and `Events` meet.
    span
        Where the whole series starts and stops: needed if there are only `Events`; otherwise that
        of the samples if not given.
    decimals
        Round the scores of each event to so many decimals before they are compared (the paper's
        counts come out with 2). By default they are compared as they are. What is reported is
        never rounded.

    Returns
    -------
    Comparison
        ``detectors``, ``events``, ``best``, ``missed_by_all``, ``pairs``, ``pair(a, b)``,
        ``ensemble(...)``, ``best_pair(...)``, ``results``, ``to_frame``, ``to_dict``.

    Examples
    --------
    >>> import closecall as cc
    >>> truth = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
    >>> late, noisy = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 1, 0, 0, 1, 0]
    >>> c = cc.compare(truth, {"late": late, "noisy": noisy})
    >>> c
    Comparison(2 detectors on 2 events, best f1=0.909 by 'noisy', 0 missed by all)
    >>> c.best
    (('late',), ('noisy',))
    >>> c.pair("noisy", "late").missed_by_second
    1
    """
    _require_decimals(decimals)
    entrants = read_entrants(truth, predicted, scores, thresholds, times=times, end=end, span=span)
    next(iter(entrants.values())).pair.require_truth("affiliation")
    return Comparison(
        results={name: score_pair(entrant.pair) for name, entrant in entrants.items()},
        thresholds={name: entrant.threshold for name, entrant in entrants.items()},
        decimals=decimals,
    )


def _require_decimals(decimals: Any) -> None:
    if decimals is None:
        return
    if not isinstance(decimals, int) or isinstance(decimals, bool) or decimals < 0:
        raise InputError(
            expected("`decimals` to be a whole number from 0 up, or None", repr(decimals))
        )

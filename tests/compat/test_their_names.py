"""Messages name the arguments that the caller passed."""

import numpy as np
import pytest

from closecall.compat import get_metrics, pr_from_events
from closecall.compat.their_names import their_names
from closecall.errors import InputError, InputTypeError, MissingExtraError, UndefinedMetricError

LABELS, SCORES = [0, 0, 1, 0], [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((SCORES, [0, 0, 2, 0]), InputError, "Expected `labels` labels to be 0 or 1, got 2"),
        ((SCORES, [0] * 4), UndefinedMetricError, "got none in `labels`"),
        (([1, 2, np.nan, 3], LABELS), InputError, "Expected `score` to be numbers"),
        (([1, 2], LABELS), InputError, r"`score` to have as many values as `labels` \(4\), got 2"),
        ((SCORES, LABELS, -1), InputError, "Expected `slidingWindow` to be a whole number"),
        ((SCORES, LABELS, 2, [1, 0]), InputError, "Expected `pred` to have as many .* `labels`"),
    ],
)
def test_get_metrics(arguments, kind, message):
    with pytest.raises(kind, match=message):
        get_metrics(*arguments)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (
            ([(1, 3), (2, 4)], [(1, 2)], (0, 9)),
            InputError,
            r"`events_pred` .*\n\n.*Events\(events_p",
        ),
        (
            ([(1, 3)], [(1, 3), (2, 4)], (0, 9)),
            InputError,
            r"`events_gt` .*\n\n.*Events\(events_gt",
        ),
        (([(1, 3)], [(1, 2)], (9, 0)), InputError, "Expected `Trange` to start before it stops"),
        (([(1, 3)], [], (0, 9)), UndefinedMetricError, "got none in `events_gt`"),
        (([(1, 3)], 7, (0, 9)), InputTypeError, "Expected `events_gt` to be pairs"),
        (([("a", "b")], [(1, 3)], (0, 9)), InputTypeError, "Expected `events_pred` to be numbers"),
    ],
)
def test_pr_from_events(arguments, kind, message):
    with pytest.raises(kind, match=message):
        pr_from_events(*arguments)


def test_other_errors_go_through_as_they_are():
    with pytest.raises(MissingExtraError, match="needs `truth`"), their_names({"truth": "labels"}):
        raise MissingExtraError("`truth`")

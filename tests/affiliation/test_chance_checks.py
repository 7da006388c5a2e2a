"""What the closed forms of chance refuse."""

import numpy as np
import pytest

from closecall.affiliation.chance import (
    averaged_precision,
    averaged_recall,
    mean_recall_of_points,
    precision_of_points,
    recall_of_one_point,
)
from closecall.errors import ClosecallError

INSIDE = "Expected `event` to start before it stops, inside its zone, got "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: precision_of_points(1.5), "Expected `filled` to be in [0, 1], got 1.5."),
        (lambda: precision_of_points(float("nan")), "Expected `filled` to be in [0, 1], got nan."),
        (
            lambda: precision_of_points([0.5, -0.1]),
            "Expected `filled` to be in [0, 1], got -0.1 at index 1.",
        ),
        (
            lambda: precision_of_points(0.5, 0),
            "Expected `points` to be whole numbers of 1 or more, got 0.",
        ),
        (
            lambda: mean_recall_of_points([3, 1.5]),
            "Expected `points` to be whole numbers of 0 or more, got 1.5 at index 1.",
        ),
        (
            lambda: averaged_precision([0.5], [-1]),
            "Expected `counts` to be whole numbers of 0 or more, got -1 at index 0.",
        ),
        (
            lambda: averaged_recall([2.0], [0.5], [1]),
            "Expected `before` to be in [0, 1], got 2 at index 0.",
        ),
        (lambda: precision_of_points("x"), "Expected `filled` to be numbers, got 'x'."),
        (
            lambda: averaged_precision([0.1, 0.2], [1]),
            "Expected `counts` to have one value for each of 2 zones, got 1.",
        ),
        (
            lambda: averaged_recall([0.1], [0.95], [1]),
            "Expected `before + filled` to be in [0, 1], got 1.05 at index 0.",
        ),
        (
            lambda: recall_of_one_point(5, (0, 10)),
            "Expected `event` to be a pair (start, stop), got 5.",
        ),
        (lambda: recall_of_one_point((40, 160), (0, 100)), f"{INSIDE}(40, 160)."),
        (lambda: recall_of_one_point((60, 40), (0, 100)), f"{INSIDE}(60, 40)."),
        (
            lambda: recall_of_one_point((np.array([1, -1]), 5), (0, 10)),
            f"{INSIDE}(-1, 5) at index 1.",
        ),
        (
            lambda: recall_of_one_point((5, 5), (5, 5)),
            "Expected `zone` to stop after its start, got (5, 5).",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ClosecallError) as caught:
        call()
    assert str(caught.value) == message

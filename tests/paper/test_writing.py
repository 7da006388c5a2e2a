"""When a differing F1 is explained, and when not."""

import pytest

from closecall.paper.writing import length, scores_cell

EXACT = (0.17224976, 0.84923381, 0.28640759)


@pytest.mark.parametrize(
    ("published", "explained"),
    [
        ("0.17/0.85/0.28", True),  # the F1 of the rounded pair is 0.2833
        ("0.17/0.85/0.29", False),  # nothing to explain
        ("0.17/0.85/0.27", False),  # neither of the two
        ("0.17/0.84/0.28", False),  # the pair itself differs
    ],
)
def test_an_f1_of_rounded_numbers(published, explained):
    cell = scores_cell(*EXACT, published)
    assert cell.computed == "0.17/0.85/0.29"
    assert ("0.2864" in cell.note) is explained
    assert cell.values == dict(zip(("precision", "recall", "f1"), EXACT, strict=True))


def test_lengths_in_the_unit_of_the_paper():
    assert length(90, "18s") == "90s"
    assert length(76.25, "1min30s") == "1min16.25s"

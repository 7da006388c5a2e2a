"""The closed forms: what is computed is the metric, and agrees with the theory that is right."""

import pytest

from closecall import theory
from closecall.paper.closed_forms import closed_forms

POSITIONS = {
    "(a) border": "border",
    "(b) halfway": "halfway",
    "(c) start": "start",
    "(d) center": "center",
}


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.8])
def test_the_metric_is_what_the_theory_says(share):
    table = closed_forms()
    for name, position in POSITIONS.items():
        values = table.cell(name, column=f"p = {share}").values
        expected = theory.single_prediction(share, position=position)
        assert values == pytest.approx(expected._asdict(), abs=1e-12)
    values = table.cell("whole interval", column=f"p = {share}").values
    assert values == pytest.approx(theory.whole_interval(share)._asdict(), abs=1e-12)
    # The average over a zone of 4000 places, each in the middle of its tick.
    values = table.cell("random point", column=f"p = {share}").values
    assert values == pytest.approx(theory.single_random_prediction(share)._asdict(), abs=1e-7)


def test_only_the_misprint_differs():
    table = closed_forms()
    differ = [(*row.labels, column) for row, column, cell in table.entries() if not cell.match]
    assert differ == [("(c) start", "p = 0.5"), ("(c) start", "p = 0.8")]
    (remark,) = table.remarks()
    assert remark.startswith("(c) start, p = 0.5 and p = 0.8: the printed factor 16/(9p) is a ")

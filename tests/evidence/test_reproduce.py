"""The whole paper on the real data, and on data that is not the paper's."""

import pytest
from evidence.paper.reproduce import (
    closed_forms,
    comparison,
    description,
    event_counts,
    per_event,
    scores_cell,
    write_length,
)

from closecall import theory
from closecall.datasets import load_kdd2022
from closecall.errors import UndefinedMetricError
from evidence import paper
from tests.datasets.conftest import write_kdd2022, write_labels, write_measured

CELLS = {
    "characteristics": (30, 30),
    "running_example": (16, 16),
    "datasets": (16, 16),
    "comparison": (79, 80),
    "per_event": (14, 14),
    "counts": (9, 10),
    "closed_forms": (22, 24),
}


@pytest.fixture(scope="module")
def result(data_folder):
    return paper.reproduce(data_folder)


def test_how_many_cells_match(result):
    assert {table.name: (table.matched, table.total) for table in result.tables} == CELLS
    assert (result.matched, result.total) == (156, 160)
    assert (result.typed_matched, result.typed_total) == (30, 30)
    assert repr(result) == "Reproduction(156 of 160 computed cells match, 30 of 30 typed ones)"
    assert repr(result["characteristics"]) == "Table(characteristics, 30 of 30 typed cells match)"
    assert repr(result["comparison"]) == "Table(comparison, 79 of 80 cells match)"


def test_the_mismatches_are_known_and_explained(result):
    found = {
        (table.name, *row.labels, column): (cell.computed, cell.published)
        for table, row, column, cell in result.mismatches()
    }
    assert found == {
        ("comparison", "Classical", "OCSVM", "SWaT"): ("0.17/0.85/0.29", "0.17/0.85/0.28"),
        ("counts", "most predicted events on SWaT", "count"): ("2601", "472"),
        ("closed_forms", "(c) start", "p = 0.5"): ("1.0000/0.5312", "1.0000/0.5988"),
        ("closed_forms", "(c) start", "p = 0.8"): ("1.0000/0.3531", "1.0000/0.6840"),
    }
    notes = [cell.note for *_, cell in result.mismatches()]
    assert notes == [
        "the published F1 is that of the rounded pair 0.17/0.85; of the exact pair it is 0.2864",
        "472 is the adversary's number; iForest has more",
        *["the printed factor 16/(9p) is a misprint of 9/(16p), which gives the computed value"]
        * 2,
    ]


def test_nothing_is_left_out_where_the_data_is_whole(result):
    assert result.left_out == ()


def test_the_event_without_predictions(result):
    cell = result["per_event"].cell("event 4", column="iForest")
    assert cell.computed == cell.published == "NaN/0/NaN"
    assert cell.to_dict()["values"] == {"precision": None, "recall": 0.0, "f1": None}


def test_trivial_functions_are_checked_on_the_measurements(result):
    table = result["datasets"]
    notes = {column: table.cell("trivial", column=column).note for column in table.columns}
    assert notes == {
        "Machine-Temp": "holds in 375 of the trivial event's 380 samples, and nowhere else",
        "NYC-Taxi": "",
        "Twitter-AAPL": "holds in 1 of the trivial event's 101 samples, and nowhere else",
        "SWaT": "",
    }


def test_as_plain_values(result):
    values = result.to_dict()
    assert (values["matched"], values["total"]) == (156, 160)
    assert (values["typed_matched"], values["typed_total"]) == (30, 30)
    assert {table["name"]: table["matched"] for table in values["tables"]} == {
        name: matched for name, (matched, _) in CELLS.items()
    }
    first = next(table for table in values["tables"] if table["name"] == "comparison")["cells"][0]
    assert first == {
        "metric": "Classical",
        "algorithm": "trivial",
        "column": "Machine-Temp",
        "computed": "1.00/0.34/0.50",
        "published": "1.00/0.34/0.50",
        "match": True,
        "note": None,
        "values": pytest.approx({"precision": 1, "recall": 380 / 1134, "f1": 2 * 380 / 1514}),
    }


def test_a_table_that_is_not_there(result):
    with pytest.raises(KeyError, match="there are characteristics, running_example, datasets, "):
        result["figure"]
    with pytest.raises(KeyError, match="table 'comparison' has no row"):
        result["comparison"].cell("Classical", "iForest", column="NYC-Taxi")


# Other data in the same shape: nothing is taken from what is published.


@pytest.fixture
def other(tmp_path):
    write_kdd2022(tmp_path / "kdd2022")
    return tmp_path


def test_other_data_gives_other_numbers(other):
    table = comparison(load_kdd2022(other))
    assert table.total == 80
    # One predicted sample of three true ones, on target.
    cell = table.cell("Classical", "iForest", column="SWaT")
    assert (cell.computed, cell.note) == ("1.00/0.33/0.50", "")
    assert not cell.match


def test_other_data_is_described(other):
    table = description(load_kdd2022(other))
    assert table.total == 13  # no measurements, so no function of theirs
    assert [text.partition(":")[0] for text in table.left_out] == [
        "trivial of Machine-Temp",
        "trivial of NYC-Taxi",
        "trivial of Twitter-AAPL",
    ]
    assert table.cell("samples", column="SWaT").computed == "8"
    assert table.cell("anom.", column="SWaT").computed == "38%"
    assert table.cell("trivial", column="SWaT").computed == "not the first event"


def test_a_function_that_holds_elsewhere(other):
    write_measured(other / "nab")
    table = description(load_kdd2022(other))
    cell = table.cell("trivial", column="Machine-Temp")
    assert (cell.computed, cell.match) == ("also elsewhere: 7", False)
    cell = table.cell("trivial", column="Twitter-AAPL")
    assert (cell.computed, cell.match) == ("nowhere in the trivial event", False)


def test_other_data_with_fewer_events(other):
    table = per_event(load_kdd2022(other))
    assert table.cell("event 2", column="seq2seq").computed == "NaN/0/NaN"
    assert table.cell("event 3", column="seq2seq").computed == "no such event"
    counts = event_counts(load_kdd2022(other))
    assert counts.cell("samples in the first event of SWaT", column="count").computed == "2"
    most = counts.cell("most predicted events on SWaT", column="count")
    assert (most.computed, most.note) == ("1", "")


def test_other_data_without_any_event(other):
    write_labels(other / "kdd2022" / "swat_groundtruth.gz", [0] * 8)
    with pytest.raises(UndefinedMetricError):
        paper.reproduce(other)


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
    assert write_length(90, "18s") == "90s"
    assert write_length(76.25, "1min30s") == "1min16.25s"

"""Tables in parts, and as LaTeX."""

import re

import pytest
from evidence.paper import Cell, Reproduction, Row, Table
from evidence.paper.result import in_blocks
from evidence.paper.writing import to_latex


def table(*rows, columns=("one", "two", "three"), headings=("kind", "name")):
    return Table("little", "A little table", "table 9", headings, columns, rows, ("A note_1.",))


SAME = Cell("0.50", "0.50")
OTHER = Cell("6% & #1", "7%", "because")


@pytest.fixture
def uneven():
    return table(
        Row(("a", "x"), (SAME, SAME, SAME)),
        Row(("a", "y"), (SAME, OTHER, None)),
        Row(("b", "z"), (None, None, SAME)),
    )


# Labels take 4 and 4 characters, columns 12, 15 and 12, and the gaps between them 2.
@pytest.mark.parametrize(
    ("width", "parts"),
    [
        (100, [("one", "two"), ("three",)]),
        (41, [("one", "two"), ("three",)]),
        (40, [("one",), ("two",), ("three",)]),
        (5, [("one",), ("two",), ("three",)]),
    ],
)
def test_as_many_columns_as_fit(uneven, width, parts):
    blocks = in_blocks(uneven, width, same_rows=True)
    assert [block.columns for block in blocks] == parts


def test_parts_for_a_terminal_keep_all_rows(uneven):
    blocks = list(in_blocks(uneven, 55, same_rows=False))
    assert [block.columns for block in blocks] == [("one", "two", "three")]
    blocks = list(in_blocks(uneven, 54, same_rows=False))
    assert [block.columns for block in blocks] == [("one", "two"), ("three",)]
    assert {len(block.rows) for block in blocks} == {3}


def test_parts_leave_empty_rows_out(uneven):
    left, right = in_blocks(uneven, 100, same_rows=True)
    assert [row.labels for row in left.rows] == [("a", "x"), ("a", "y")]
    assert [row.labels for row in right.rows] == [("a", "x"), ("b", "z")]
    assert left.total + right.total == uneven.total == 6
    assert left.matched + right.matched == uneven.matched == 5


def test_latex_of_a_table(uneven):
    text = to_latex(Reproduction((uneven,)))
    first, second = text.split("\\end{table}\n")[:2]
    assert first.splitlines() == [
        "\\begin{table}",
        "\\centering\\footnotesize\\setlength{\\tabcolsep}{2pt}",
        "\\caption{A little table (table 9 of the paper): 3 of 4 match, part 1 of 2.}",
        "\\label{tab:little-1}",
        "\\begin{tabular}{@{}llllll@{}}",
        "\\toprule",
        " &  & \\multicolumn{2}{c}{one} & \\multicolumn{2}{c}{two} \\\\",
        "\\cmidrule(lr){3-4}\\cmidrule(lr){5-6}",
        "kind & name & here & paper & here & paper \\\\",
        "\\midrule",
        "a & x & 0.50 & 0.50 & 0.50 & 0.50 \\\\",
        " & y & 0.50 & 0.50 & \\textbf{6\\% \\& \\#1} & 7\\% \\\\",
        "\\bottomrule",
        "\\end{tabular}",
        "\\par\\smallskip a, y, two: because.",
    ]
    assert "\\par\\smallskip A note\\_1." in second
    assert text.endswith("% 5 of 6 computed cells match the paper, and 0 of 0 typed ones.\n")


def test_latex_separates_groups():
    rows = [Row((kind, name), (SAME,)) for kind, name in ("ax", "ay", "bz")]
    text = to_latex(Reproduction((table(*rows, columns=("one",)),)))
    assert re.search(r"& y &.*\n\\addlinespace\nb & z", text)


def test_cells_compare_as_written():
    assert SAME.match
    assert not OTHER.match
    assert Cell("1", "1", values={"x": float("inf")}).to_dict() == {
        "computed": "1",
        "published": "1",
        "match": True,
        "note": None,
        "values": {"x": None},
    }

"""Tables for papers: what is bold, what is escaped, and that they compile."""

import shutil
from math import nan

import numpy as np
import pyarrow as pa
import pytest

import closecall as cc
from closecall.errors import InputTypeError
from closecall.latex import escape, latex_table
from closecall.statistics import Interval, compute_ranks
from tests.conftest import run_program


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("50% & more #1", r"50\% \& more \#1"),
        ("$x^2$ {y} ~", r"\$x\textasciicircum{}2\$ \{y\} \textasciitilde{}"),
        ("\\", r"\textbackslash{}"),
        ("Y < 40 > 3", r"Y \textless{} 40 \textgreater{} 3"),
    ],
)
def test_escape(text, escaped):
    assert escape(text) == escaped


def cells(values, *, higher=True):
    """The cells of one column of numbers."""
    rows = [{"name": "x", "number": value} for value in values]
    text = latex_table(
        rows, {"name": "", "number": "n"}, best={"number": higher}, title="c", label="l"
    )
    body = text.split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    return [line.removeprefix("x & ").removesuffix(" \\\\") for line in body.split("\n")]


@pytest.mark.parametrize(
    ("values", "higher", "expected"),
    [
        ([0.5, 0.9, 0.7], True, ["0.500", r"\textbf{0.900}", r"\underline{0.700}"]),
        ([0.5, 0.9, 0.7], False, [r"\textbf{0.500}", "0.900", r"\underline{0.700}"]),
        # Equal as printed is equal; where two are the best, none is second.
        ([0.90001, 0.9, 0.7], True, [r"\textbf{0.900}", r"\textbf{0.900}", "0.700"]),
        ([0.9, 0.7, 0.7], True, [r"\textbf{0.900}", r"\underline{0.700}", r"\underline{0.700}"]),
        ([0.5, 0.5], True, ["0.500", "0.500"]),
        ([nan, 0.5, None], True, ["--", "0.500", "--"]),
        ([1.25, 12.5], None, ["1.25", "12.50"]),
        ([3, 12], None, ["3", "12"]),
        ([1234.5, 12.5], None, ["1234", "12"]),
        ([-0.0001, 0.2], None, ["0.000", "0.200"]),
        (
            [Interval(0.84, 0.8, 0.9), Interval(0.7, nan, nan)],
            True,
            [r"\textbf{0.84} (0.80--0.90)", r"\underline{0.70}"],
        ),
        (["a_b", "6%"], None, [r"a\_b", r"6\%"]),
    ],
)
def test_cells(values, higher, expected):
    assert cells(values, higher=higher) == expected


def test_a_table():
    rows = [{"detector": "a&b", "f1": 0.5, "delay": 3}, {"detector": "c", "f1": 0.6, "delay": 2}]
    headings = {"detector": "detector", "f1": "F1", "delay": "delay"}
    how = {"best": {"f1": True, "delay": False}, "title": "All_1", "label": "all"}
    assert latex_table(rows, headings, note="50 %", **how).splitlines() == [
        "\\begin{table}",
        "\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}",
        "\\caption{All\\_1.}",
        "\\label{tab:all}",
        "\\begin{tabular}{@{}lrr@{}}",
        "\\toprule",
        "detector & F1 & delay \\\\",
        "\\midrule",
        "a\\&b & \\underline{0.500} & \\underline{3} \\\\",
        "c & \\textbf{0.600} & \\textbf{2} \\\\",
        "\\bottomrule",
        "\\end{tabular}",
        "\\par\\smallskip 50 \\%",
        "\\end{table}",
    ]
    assert latex_table(rows, headings, across="detector", **how).splitlines()[4:10] == [
        "\\begin{tabular}{@{}lrr@{}}",
        "\\toprule",
        "detector & a\\&b & c \\\\",
        "\\midrule",
        "F1 & \\underline{0.500} & \\textbf{0.600} \\\\",
        "delay & \\underline{3} & \\textbf{2} \\\\",
    ]


def test_captions_are_text():
    with pytest.raises(InputTypeError, match="`caption` to be text, got 3"):
        compute_ranks({"a": [1] * 6, "b": [2] * 6}).to_latex(caption=3)


NAMES = ("isolation_forest", "50%_quantile", "a&b ~ {#1}", "C:\\x^2 <y>")


@pytest.fixture(scope="module")
def tables():
    """Every table there is, of detectors with names that LaTeX would trip over."""
    random = np.random.default_rng(0)
    label = np.tile(np.isin(np.arange(60), range(20, 26)), 12).astype(np.int8)
    columns = {
        name: (label + random.random(label.size) * (place + 1)) / 3
        for place, name in enumerate(NAMES)
    }
    series = np.repeat(np.arange(12), 60)
    frame = pa.table({"series": series, "label": label} | columns)
    batch = cc.evaluate_frame(frame, by="series", truth="label", score=NAMES)
    compared = cc.compare(label, scores=columns)
    many = cc.evaluate(label, scores=columns, threshold="quantile:0.9", metrics="all")
    return {
        "evaluate": cc.evaluate(
            label, scores=columns, threshold="quantile:0.9", metrics=["affiliation", "hausdorff"]
        ).to_latex(note="data:ab12_cd"),
        "all metrics": many.to_latex(),
        "one row": cc.evaluate(label, scores=columns[NAMES[0]]).to_latex(),
        "score": cc.affiliation(label, label).to_latex(),
        "score with intervals": compared.results[NAMES[0]].to_latex(level=0.9, n=100),
        "compare": compared.to_latex(),
        "compare with intervals": compared.to_latex(level=0.95, caption="How sure"),
        "batch": batch.to_latex(),
        "batch with intervals": batch.to_latex(level=0.95),
        "ranks": batch.ranks().to_latex(note="signature|affiliation"),
    }


def test_tables_have_the_numbers_of_their_results(tables):
    assert tables["evaluate"].count("\\textbf") == 4  # precision, recall, F1 and the distance
    assert "\\par\\smallskip data:ab12\\_cd" in tables["evaluate"]
    assert "\\caption{How sure.}" in tables["compare with intervals"]
    assert "\\caption{Affiliation scores over 12 true events.}" in tables["compare"]
    assert tables["compare with intervals"].count("--") == 3 * len(NAMES)
    assert tables["batch with intervals"].count("--") == 4 * len(NAMES)
    assert "over 12 series, with 95 \\% intervals.}" in tables["batch with intervals"]
    assert tables["score with intervals"].count("--") == 3
    assert "12 true events, with 90 \\% intervals.}" in tables["score with intervals"]
    label = np.tile(np.isin(np.arange(60), range(20, 26)), 12)
    chance = cc.affiliation(label, label).chance
    cells = f"1.000 & {chance.f1:.3f} & 12 & {chance.caught:.2f} & 0 "
    assert f"1.000 & 1.000 & {cells}" in tables["score"]
    for name in ("score", "compare", "compare with intervals"):
        assert "F1 & chance & caught & chance & false alarms" in tables[name]
        below = "Over 12 true events. Chance: means over the same alarms, shifted in time."
        assert f"\\par\\smallskip {below}\n" in tables[name]
    assert "F1 & chance & average precision & caught & chance & mean rank" in tables["batch"]
    rows = [line.partition(" & ")[0] for line in tables["batch with intervals"].splitlines()[8:16]]
    assert rows[2:] == [
        *("F1", "F1 by chance", "average precision", "caught", "caught by chance", "mean rank")
    ]
    assert "mean affiliation\\_f1 & chance & best on" in tables["ranks"]
    for name in ("batch", "batch with intervals", "ranks"):
        assert "Over 12 true events. Chance: means over the same alarms, shifted" in tables[name]
    assert "letter in common" in tables["ranks"]
    assert "Holm over 6 pairs" in tables["ranks"]
    # LaTeX prints | as a dash, and would not break lines there.
    assert r"signature\textbar{}\allowbreak{}affiliation" in tables["ranks"]


def test_the_signature_is_below_unless_there_is_another_note(tables):
    other = {"evaluate": "data:ab12\\_cd", "ranks": r"signature\textbar{}\allowbreak{}affiliation"}
    for name, text in tables.items():
        note = text.splitlines()[-2].removeprefix("\\par\\smallskip ")
        assert note.startswith(other.get(name, "Signature: ")), name
        assert note == other.get(name) or "\\allowbreak{}v:" in note


def test_a_table_of_metrics_has_the_signature_of_all_its_rows():
    label, scores = [0, 1, 1, 0, 0], [0.1, 0.8, 0.3, 0.2, 0.1]
    how = {"metrics": ["classical"]}
    sides = {"a": scores, "b": scores[::-1]}
    one, two = (cc.evaluate(label, scores=own, threshold=0.3, **how) for own in (sides, sides))
    assert one.signature == two.signature
    assert one.signature.options == {"threshold": 0.3}
    assert one.signature.data not in {row.signature.data for row in one}
    other = cc.evaluate(label, scores=sides, threshold={"a": 0.3, "b": "quantile:0.5"}, **how)
    assert other.signature.options == {"thresholds": {"a": 0.3, "b": "quantile:0.5"}}
    assert cc.signature.parse(str(other.signature)) == other.signature


def test_lengths_of_time_are_in_seconds_and_say_so():
    times = np.arange("2024-01-01", "2024-01-05", dtype="datetime64[D]")
    sides = {"late": [0, 0, 1, 0], "silent": [0, 0, 0, 0]}
    table = cc.evaluate([0, 1, 0, 0], sides, times=times, metrics=["hausdorff", "classical"])
    lines = table.to_latex().splitlines()
    assert lines[6] == "metric & late & silent \\\\"
    assert lines[8] == "hausdorff (s) & 86400 & -- \\\\"
    assert lines[10].startswith("classical recall & 0.000")


def test_ranks_as_a_table():
    hits = {"a": [9, 8, 7, 9, 6, 8, 9], "b": [5, 4, 6, 4, 5, 7, 8], "c": [5, 6, 5, 3, 5, 5, 2]}
    lines = compute_ranks(hits, metric="hits").to_latex().splitlines()
    assert lines[6:12] == [
        "detector & average rank & groups & mean hits & best on \\\\",
        "\\midrule",
        "a & \\textbf{1.00} &  & \\textbf{8.00} & \\textbf{7} \\\\",
        "b & \\underline{2.29} & a & \\underline{5.57} & \\underline{0} \\\\",
        "c & 2.71 & a & 4.43 & \\underline{0} \\\\",
        "\\bottomrule",
    ]


def test_a_long_name_stays_in_one_cell():
    name = "lstm_autoencoder_window_128_stride_4_seed_0_threshold_quantile_0.99"
    rows = [{"detector": name, **dict.fromkeys(("p", "r", "f1"), 0.5)}]
    headings = {"detector": "detector", "p": "precision", "r": "recall", "f1": "F1"}
    lines = latex_table(rows, headings, best={}, title="c", label="l").splitlines()
    assert lines[1] == "\\centering\\scriptsize\\setlength{\\tabcolsep}{2pt}"
    assert lines[8] == f"{escape(name)} & 0.500 & 0.500 & 0.500 \\\\"


@pytest.mark.parametrize(
    ("letters", "size"),
    [(73, "footnotesize"), (74, "scriptsize"), (87, "scriptsize"), (88, "tiny")],
)
def test_a_table_of_more_than_82_letters_is_set_in_smaller_type(letters, size):
    """Each of the two columns has one letter more, for the space beside it."""
    rows = [{"name": "x" * letters, "f1": "0.50000"}]
    text = latex_table(rows, {"name": "", "f1": "F1"}, best={}, title="c", label="l")
    assert f"\\centering\\{size}\\" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_all_compile_and_fit_the_page(tables, tmp_path):
    body = "\n\\clearpage\n".join(tables.values())
    (tmp_path / "main.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}\n"
        f"\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    made = run_program(command, cwd=tmp_path)
    assert made.returncode == 0, made.stdout
    assert "Overfull" not in made.stdout

"""`python -m evidence paper`: its four formats on the real data, and its refusals."""

import csv
import io
import json
import re
import shutil
from functools import cache

import pytest
from evidence.paper import figures, reproduce

from tests.conftest import run_program
from tests.datasets.conftest import write_kdd2022

COMPUTED = cache(reproduce)
LAST = "156 of 160 computed cells match the paper"


@pytest.fixture(autouse=True)
def computed_once(monkeypatch):
    """Compute the tables of each folder once, whatever they are written as."""
    monkeypatch.setattr("evidence.paper.reproduce", COMPUTED)


def unwrapped(output):
    return " ".join(output.split())


@pytest.mark.parametrize("width", ["80", "140"])
def test_table(run, data_folder, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    result = run("paper", "--data", str(data_folder))
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert max(map(len, lines)) <= int(width)
    assert any(re.search(r"OCSVM +0\.17/0\.85/0\.29 != 0\.17/0\.85/0\.28$", line) for line in lines)
    assert any("NaN/0/NaN      == NaN/0/NaN" in line for line in lines)
    # Each cell is marked: 186 the same, 4 not; the legend has one of each.
    assert (result.stdout.count(" == "), result.stdout.count(" != ")) == (186 + 1, 4 + 1)
    text = unwrapped(result.stdout)
    assert "of the exact pair it is 0.2864." in text
    assert text.endswith(
        f"{LAST} (running_example 16/16, datasets 16/16, comparison 79/80, "
        "per_event 14/14, counts 9/10, closed_forms 22/24). "
        "The 4 that do not are explained below their tables. "
        "Counted apart, since they are typed and not computed: characteristics 30/30."
    )


def test_the_environment_names_the_data(run, data_folder, monkeypatch):
    monkeypatch.setenv("CLOSECALL_DATA", str(data_folder))
    assert LAST in unwrapped(run("paper").stdout)


def test_json(run, data_folder):
    values = json.loads(run("paper", "--data", str(data_folder), "--format", "json").stdout)
    assert (values["matched"], values["total"]) == (156, 160)
    assert (values["typed_matched"], values["typed_total"]) == (30, 30)
    assert [table["name"] for table in values["tables"] if table["typed"]] == ["characteristics"]
    assert [table["name"] for table in values["tables"]][3] == "comparison"
    assert values["tables"][3]["matched"] == 79


def test_csv(run, data_folder):
    output = run("paper", "--data", str(data_folder), "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(output)))
    assert len(rows) == 190
    assert sum(row["typed"] == "no" for row in rows) == 160
    differ = [row for row in rows if row["match"] == "no"]
    assert len(differ) == 4
    assert (differ[0]["table"], differ[0]["row"], differ[0]["column"]) == (
        "comparison",
        "Classical, OCSVM",
        "SWaT",
    )
    assert all(row["note"] for row in differ)


def test_latex_to_a_file_that_compiles(run, data_folder, tmp_path):
    result = run("paper", "--data", str(data_folder), "--format", "latex", "-o", "tables.tex")
    assert result.stdout == ""
    text = (tmp_path / "tables.tex").read_text()
    assert text.count("\\begin{table}") == text.count("\\end{table}") >= 7
    assert "\\textbf{0.17/0.85/0.29} & 0.17/0.85/0.28 \\\\" in text
    # Braces pair up, and every line of a table has as many cells as columns.
    assert text.count("{") == text.count("}")
    for body in re.findall(r"\\begin\{tabular\}\{@\{\}(l+)@\{\}\}(.*?)\\end", text, re.DOTALL):
        for line in re.findall(r"^.* \\\\$", body[1], re.MULTILINE):
            doubled = line.count("\\multicolumn{2}")
            assert len(re.findall(r"(?<!\\)&", line)) + 1 + doubled == len(body[0]), line
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    (tmp_path / "main.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\n"
        "\\begin{document}\\input{tables.tex}\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    made = run_program(command, cwd=tmp_path)
    assert made.returncode == 0, made.stdout
    assert "Overfull" not in made.stdout


def test_other_data_says_what_is_not_explained(run, tmp_path):
    write_kdd2022(tmp_path / "kdd2022")
    text = unwrapped(run("paper", "--data", str(tmp_path)).stdout)
    assert re.search(r"Of those that do not, \d{2,} have no known explanation\. 3 more are", text)


def test_cells_without_data_are_said_to_be_left_out(run, data_folder, tmp_path):
    shutil.copytree(data_folder / "kdd2022", tmp_path / "kdd2022")
    printed = unwrapped(run("paper", "--data", str(tmp_path)).stdout)
    assert (
        "Left out: trivial of NYC-Taxi: the folder has no measurements of it (nyc_taxi.csv)."
        in printed
    )
    assert "3 more are left out for want of data. Counted apart" in printed
    plain = json.loads(run("paper", "--data", str(tmp_path), "--format", "json").stdout)
    assert (plain["total"], len(plain["left_out"])) == (157, 3)
    result = run("paper", "--data", str(tmp_path), "--format", "csv")
    assert result.stderr.count("Left out: datasets, trivial of") == 3


def test_no_such_folder(refuse):
    assert refuse("paper", "--data", "gone", code=2) == (
        "Error: Invalid value for '--data': Directory 'gone' does not exist."
    )


def test_a_folder_without_the_labels(refuse, tmp_path):
    assert refuse("paper", "--data", str(tmp_path), code=1).startswith("Hint: ")


def test_an_unknown_format(refuse):
    assert "'latex'" in refuse("paper", "--format", "xml", code=2)
    assert "'pdf'" in refuse("paper", "--out", "figures", "--figure-format", "gif", code=2)


@pytest.fixture
def few_figures(monkeypatch):
    """Draw only one figure beside those that need the data."""
    few = [figure for figure in figures.FIGURES if figure.needs_data or figure.name == "zones"]
    monkeypatch.setattr(figures, "FIGURES", few)


def test_figures(run, data_folder, tmp_path, few_figures):
    result = run("paper", "--data", str(data_folder), "--out", "figures")
    assert result.exit_code == 0
    names = [f"figures/{name}.png" for name in ("zones", "adversary", "per-event")]
    assert result.stdout.splitlines() == names
    for name in names:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_figures_without_data(run, tmp_path, monkeypatch, few_figures):
    monkeypatch.delenv("CLOSECALL_DATA", raising=False)
    monkeypatch.setenv("CLOSECALL_CACHE", str(tmp_path / "cache"))
    # A proxy that nothing listens at: every download fails at once.
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    result = run("paper", "--out", ".", "--figure-format", "pdf")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == ["zones.pdf"]
    assert (tmp_path / "zones.pdf").read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "adversary.pdf").exists()
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Left out")]
    assert line.startswith(
        "Left out: adversary, per-event, which need the paper's data. Could not download https://"
    )
    assert "CLOSECALL_DATA" in line


def test_figures_of_data_without_measurements(run, tmp_path, few_figures):
    write_kdd2022(tmp_path / "kdd2022")
    result = run("paper", "--data", str(tmp_path), "--out", "figures", "--figure-format", "svg")
    assert len(result.stdout.splitlines()) == 3


def test_figures_are_not_tables(refuse):
    assert refuse("paper", "--out", "figures", "--format", "json", code=2) == (
        "Error: --out draws figures, and takes neither --format nor --output."
    )
    assert refuse("paper", "--figure-format", "svg", code=2) == (
        "Error: --figure-format needs --out, the folder of the figures."
    )
    assert "'gone' does not exist" in refuse("paper", "--out", "figures", "--data", "gone", code=2)

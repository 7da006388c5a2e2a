"""The studies as commands: what they list, and the tables that simulations write."""

import csv
import io
import re
import sys
from functools import partial

import pytest
from evidence.__main__ import STUDIES
from evidence.simulation import run_all

from evidence import chance, intervals
from tests.conftest import REPOSITORY, run_program


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Simulate little, in this process."""
    for module in (chance, intervals):
        monkeypatch.setattr(module, "run_all", lambda jobs: [job() for job in jobs])
    monkeypatch.setattr(chance, "QUICK_SERIES", 4)
    monkeypatch.setattr(chance, "EVENTS", (2, 5))
    monkeypatch.setattr(chance, "SCENARIOS", chance.SCENARIOS[:2])
    for name, kept in (("PAIRS", 2), ("BEYOND", 1), ("CLUSTERED", 1)):
        pairs = dict([*getattr(intervals, name).items()][:kept])
        monkeypatch.setattr(intervals, name, pairs)
    monkeypatch.setattr(intervals, "_QUICK_SETS", 25)
    monkeypatch.setattr(intervals, "_EVENTS", (6, 20))
    monkeypatch.setattr(intervals, "PLANNED", ("good and middling",))
    monkeypatch.setattr(intervals, "_PLANNED_FROM", (20,))
    monkeypatch.setattr(intervals, "_QUICK_PLANNED_SETS", 10)


def test_the_studies_are_listed():
    command = [sys.executable, "-m", "evidence", "--help"]
    listed = run_program(command, cwd=REPOSITORY, check=True).stdout.partition("Commands:")[2]
    assert re.findall(r"^  (\w+) +[A-Z]", listed, re.MULTILINE) == list(STUDIES)


def test_an_unknown_study(refuse):
    assert refuse("papers", code=2) == "Error: No such command 'papers'."


def cells_of(line):
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_cases_run_in_processes():
    jobs = [partial(intervals.measure, "pair", "good", events, 5) for events in (6, 10)]
    assert run_all(jobs) == [job() for job in jobs]


@pytest.mark.parametrize("name", ["chance", "intervals"])
def test_the_formats_have_the_same_numbers(run, name, tmp_path):
    shown = run(name, "--quick")
    assert shown.exit_code == 0, shown.stdout
    markdown = run(name, "--quick", "--format", "markdown").stdout
    assert run(name, "--quick", "--format", "csv", "-o", "rows.csv").stdout == ""
    rows = [*csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text("utf-8")))]
    tables = [block for block in markdown.split("\n\n") if block.startswith("|")]
    for table in tables:
        lines = [cells_of(line) for line in table.splitlines()]
        assert {len(line) for line in lines} == {len(lines[0])}
        for _, *cells in lines[2:]:
            assert all(cell in shown.stdout for cell in cells)
    first, share = ("alarms", "better") if name == "chance" else ("pair", "held")
    head, _, *lines = map(cells_of, tables[0].splitlines())
    written = {
        (row[first], row["events"]): f"{float(row[share]):.1%}"
        for row in reversed(rows)
        if row[share]
    }
    assert head[0] == f"{first} by events"
    for label, *cells in lines:
        assert cells == [written[label, events] for events in head[1:]]


@pytest.mark.parametrize("limit", ["LEAST", "_QUICK_LEAST_ENOUGH"])
def test_a_broken_limit_of_intervals_is_an_error(run, monkeypatch, limit):
    monkeypatch.setattr(intervals, limit, 1.5)
    assert run("intervals", "--quick").exit_code == 1


def test_a_broken_limit_of_chance_is_an_error(run, monkeypatch):
    monkeypatch.setattr(chance, "SERIES", 4)
    monkeypatch.setattr(chance, "HIGHEST", -1.0)
    result = run("chance")
    assert result.exit_code == 1
    assert " !" in result.stdout

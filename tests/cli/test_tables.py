"""Tables that fit: names are shortened, then columns go below, and numbers are never cut."""

import io
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from rich.text import Text

from closecall.cli.names import short_names
from closecall.cli.tables import Column, Grid, Page, name_column

FORESTS = [f"isolation_forest_window_{size}_seed_1_final_v2" for size in (100, 200)]
LETTERS = [f"{'x' * 30}_{middle}__{'y' * 30}" for middle in ("one", "two")]
WIDTHS = [30, 40, 50, 60, 80, 100, 120, 200]


@pytest.fixture
def printed(run, tmp_path, monkeypatch):
    """Print four detectors with long names, on eight series or on all as one."""
    label = np.zeros((8, 200), dtype=np.int8)
    label[:, 50:60] = label[:, 120:125] = 1
    noise = np.random.default_rng(0).random((4, 8, 200))
    scores = [label + noise[0] / 2, noise[1], noise[2], label + noise[3]]
    names = FORESTS + LETTERS
    columns = {name: own.ravel() for name, own in zip(names, scores, strict=True)}
    series = np.repeat(np.arange(8), 200)
    table = pa.table({"series": series, "label": label.ravel()} | columns)
    pq.write_table(table, tmp_path / "long.parquet")
    chosen = ["--truth", "label", *(part for name in names for part in ("--score", name))]

    def call(width, command, *options):
        monkeypatch.setenv("COLUMNS", str(width))
        by = ("--by", "series") if command == "batch" else ()
        result = run(command, "long.parquet", *by, *chosen, *options)
        assert result.exit_code == 0, result.stderr
        return [line.rstrip() for line in result.stdout.splitlines()]

    return call


def named(lines):
    """Give the names of each table with a column of detectors."""
    tables = []
    for place, line in enumerate(lines):
        if match := re.match(r"( *#  )?detector(?=  )(?! +detector)", line):
            start = match.end() - len("detector")
            body = "\n".join(lines[place + 1 :]).split("\n\n")[0].splitlines()
            tables.append(
                [row[start:].split("  ")[0] for row in body if row[start : start + 1] != " "]
            )
    return tables


@pytest.mark.parametrize("command", ["batch", "compare"])
@pytest.mark.parametrize("width", WIDTHS)
def test_one_name_for_each_detector_and_no_number_cut(printed, width, command):
    lines = printed(width, command, "--intervals")
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    first, *others = named(lines)
    assert len(set(first)) == 4
    assert others
    for names in others:
        assert sorted(names) == sorted(first)
    every = " ".join(" ".join(lines).split())
    for name in first:  # where pairs are told as well
        assert every.count(name) > len(others) + 1


@pytest.mark.parametrize(("width", "room"), [(80, 16), (110, 26), (200, 66)])
def test_names_take_the_room_there_is(printed, width, room):
    (first, *_) = named(printed(width, "batch"))
    expected = short_names(FORESTS + LETTERS, room)
    assert sorted(first) == sorted(expected.values())


def shown(width, names, *layouts):
    console = Console(file=io.StringIO(), width=width)
    page = Page(names, console)
    page.add(*(layout(page) for layout in layouts))
    page.print()
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def table_of(names, headings):
    def keys(short):
        return [name_column("detector", names, short)]

    groups = [[Column(heading, [Text("0.12 (1 to 2)")] * len(names))] for heading in headings]
    return lambda page: page.split(keys, groups)


def test_columns_without_room_come_below():
    assert shown(30, ["a"], table_of(["a"], ["one", "two"])) == [
        "detector            one",
        "a         0.12 (1 to 2)",
        "",
        "detector            two",
        "a         0.12 (1 to 2)",
    ]


def test_a_single_column_without_room_is_stacked():
    assert shown(20, ["a"], table_of(["a"], ["one two"])) == [
        "               one",
        "detector       two",
        "              0.12",
        "a         (1 to 2)",
    ]


def test_the_last_layout_is_taken_if_none_fits():
    def wide(_):
        return [lambda short: Grid([Column("x" * 50, [Text(short["a"])])])]

    assert shown(30, ["a"], wide, lambda _: [lambda short: Text(f"of {short['a']}")]) == ["of a"]
    assert shown(60, ["a"], wide, lambda _: []) == ["x" * 50, "a".rjust(50)]

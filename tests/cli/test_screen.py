"""Tables that fit: names fold, columns go below, and numbers are never cut."""

import io
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from closecall.cli.screen import names, plain_name, print_table, score_cell, texts

LONG = [f"isolation_forest_window_{size}_seed_1_final_v2" for size in (100, 200)]


def printed(width, columns, **options):
    console = Console(file=io.StringIO(), width=width)
    print_table(console, columns, **options)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_columns_without_room_come_below():
    columns = [names("detector", ["a"]), texts("one", ["0.12 (1 to 2)"])]
    assert printed(30, [*columns, texts("two", ["3.45 (2 to 4)"])]) == [
        "detector            one",
        "a         0.12 (1 to 2)",
        "",
        "detector            two",
        "a         3.45 (2 to 4)",
    ]


def test_what_is_joined_stays_together():
    columns = [texts("#", [1]), texts("score", [0.5]), texts("F1", [0.5])]
    columns.append(texts("chance", [0.25], joined=True))
    assert printed(20, columns) == ["#  score", "1    0.5", "", "#   F1  chance", "1  0.5    0.25"]


def test_long_names_fold_and_stay_whole():
    lines = printed(30, [names("detector", LONG), texts("F1", [0.25, 0.75])])
    assert lines[1].endswith("0.25")
    assert lines[3].endswith("0.75")
    assert "".join(line[:24].strip() for line in lines[1:3]) == LONG[0]


@pytest.mark.parametrize(
    ("score", "shown", "style"),
    [
        (0.9, "0.90", "green"),
        (0.896, "0.90", "green"),  # as it is printed
        (0.894, "0.89", "yellow"),
        (0.6, "0.60", "yellow"),
        (0.594, "0.59", "red"),
        (None, "-", "dim"),
    ],
)
def test_scores_are_marked_as_good_or_poor(score, shown, style):
    cell = score_cell(score)
    assert (cell.plain, cell.style) == (shown, style)


@pytest.mark.parametrize(
    ("name", "most", "shown"),
    [
        ("short", 10, "short"),
        ("isolation_forest", 9, "iso...est"),
        ("a\tb", None, r"a\tb"),
        ("\x1b[31m", None, r"\x1b[31m"),
        ("\ud800", None, r"\ud800"),
    ],
)
def test_plain_names(name, most, shown):
    assert plain_name(name, most) == shown


@pytest.fixture
def call(run, tmp_path, monkeypatch):
    """Print detectors with long names, on eight series or on all as one."""
    label = np.zeros((8, 200), dtype=np.int8)
    label[:, 50:60] = label[:, 120:125] = 1
    noise = np.random.default_rng(0).random((2, 8, 200))
    scores = {LONG[0]: (label + noise[0] / 2).ravel(), LONG[1]: noise[1].ravel()}
    series = {"series": np.repeat(np.arange(8), 200), "label": label.ravel()}
    pq.write_table(pa.table(series | scores), tmp_path / "long.parquet")
    chosen = ["--truth", "label", *(part for name in LONG for part in ("--score", name))]

    def printed(width, command, *options):
        monkeypatch.setenv("COLUMNS", str(width))
        by = ("--by", "series") if command == "batch" else ()
        result = run(command, "long.parquet", *by, *chosen, *options)
        assert result.exit_code == 0, result.stderr
        return [line.rstrip() for line in result.stdout.splitlines()]

    return printed


@pytest.mark.parametrize("command", ["batch", "compare"])
def test_no_number_is_cut_at_any_width(call, command):
    *wide, last = call(1000, command, "--intervals")
    numbers = r"[<>+-]?\d\.\d\d\b"
    for width in (60, 80, 120, 200):
        *lines, signature = call(width, command, "--intervals")
        assert max(map(len, lines)) <= width
        assert signature == last
        assert "\u2026" not in "".join(lines)
        found, known = (set(re.findall(numbers, "\n".join(text))) for text in (lines, wide))
        assert found == known


@pytest.mark.parametrize("width", [80, 100, 200])
def test_every_number_of_a_batch_has_its_heading(call, width):
    asked = ("affiliation", "classical", "event_wise", "affiliation_average_precision")
    lines = call(width, "batch", *(part for name in asked for part in ("--metric", name)))
    shown = [line for line in lines if line.startswith("#")]
    headings = [heading for line in shown for heading in re.split(" {2,}", line)]
    others = [f"{kind} {score}" for kind in asked[1:3] for score in ("precision", "recall", "f1")]
    assert sorted(headings) == sorted(
        [
            "caught",
            "in alarm",
            "false",
            "F1",
            "prec.",
            "recall",
            "avg. prec.",
            *["chance"] * 3,
            "best",
            "series",
        ]
        + [other.replace("_", " ") for other in others]
        + ["#", "detector"] * len(shown)
    )

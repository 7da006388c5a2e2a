"""Names that come from data are drawn letter by letter."""

import sys

import numpy as np
import pytest

import closecall as cc
from closecall.plot import plot_batch, plot_comparison, plot_events, plot_ranks
from closecall.plot.drawing import matplotlib_text
from closecall.statistics import compute_ranks
from tests.conftest import run_program
from tests.plot.test_events import written

HOSTILE = (
    "price_$a_vs_$b",
    "$\\frac{1$",
    "$$",
    "$",
    "a\\$b$",
    "$x^2$ and $y_1$",
    "_hidden",
    "%s {0} {name}",
    "tab\tand\x1bescape",
)
TRUTH = cc.Events([(10, 20), (60, 65)])
SPAN = (0, 100)


def drawn(axes):
    """Texts of the figure, as a reader sees them."""
    return [text.replace("\N{ZERO WIDTH SPACE}", "") for text in written(np.ravel(axes)[0])]


def seen(name):
    return name.replace("\t", "\\t").replace("\x1b", "\\x1b")


def test_lanes():
    values, labels = np.arange(100.0), TRUTH.to_labels(np.arange(100))
    texts = drawn(plot_events(labels, dict.fromkeys(HOSTILE, labels), values=values))
    assert {seen(name) for name in HOSTILE} <= set(texts)


@pytest.mark.parametrize("names", [HOSTILE[:3], HOSTILE[3:6], HOSTILE[6:]])
def test_the_note_under_the_axis(names):
    starts = np.arange(0, 40, 2)
    truth = cc.Events.from_arrays(starts, starts + 1)
    texts = drawn(plot_events(truth, dict.fromkeys(names, truth), span=(0, 1000)))
    (note,) = [text for text in texts if text.startswith("no room")]
    assert all(f"of 20 ({seen(name)})" in note for name in names)


def test_legends():
    result = cc.affiliation(TRUTH, TRUTH, span=SPAN)
    texts = [
        text.replace("   ", "  ") for text in drawn(plot_comparison(dict.fromkeys(HOSTILE, result)))
    ]
    assert {f"{seen(name)}  (2 of 2 caught, F1 1.00)" for name in HOSTILE} <= set(texts)


def test_ticks_and_colour_bars():
    table = {series: dict.fromkeys(HOSTILE, 0.5) for series in HOSTILE}
    texts = drawn(plot_batch(table, value=HOSTILE[1]))
    assert [texts.count(seen(name)) for name in HOSTILE] == [2, 3, *[2] * (len(HOSTILE) - 2)]


@pytest.mark.parametrize("kind", ["diagram", "matrix"])
def test_names_of_ranks(kind):
    values = np.random.default_rng(1).random((1 + len(HOSTILE), 9))
    ranks = compute_ranks(dict(zip((*HOSTILE, " "), values, strict=True)))
    texts = " ".join(drawn(plot_ranks(ranks, kind=kind)))
    assert all(seen(name) in texts for name in HOSTILE if len(name) < 8)


def test_text_that_needs_nothing_is_as_it_was():
    assert matplotlib_text("iForest (200 trees), 99%") == "iForest (200 trees), 99%"
    assert matplotlib_text("two\nlines") == "two\nlines"


def test_without_matplotlib_every_message_names_the_extra():
    script = """
import sys; sys.modules["matplotlib"] = None
import closecall as cc, closecall.plot as plot
result = cc.affiliation([0, 1], [0, 1])
curve = cc.affiliation_curve([0, 1, 0], [1, 2, 1])
for name, call in {
    "result": lambda: result.plot(),
    "curve": lambda: curve.plot(),
    "events": lambda: plot.plot_events([0, 1], [0, 1]),
    "distances": lambda: plot.plot_distances(result),
    "survival": lambda: plot.plot_survival(result),
    "comparison": lambda: plot.plot_comparison({"a": result}),
    "single": lambda: plot.plot_single_prediction(),
    "batch": lambda: plot.plot_batch([("a", "b", 1)]),
}.items():
    try: call()
    except ImportError as error: print(name, type(error).__name__, repr(str(error)))
"""
    done = run_program([sys.executable, "-c", script], check=True)
    message = (
        "This needs matplotlib, which is not installed.\n\n"
        "Hint: Run `pip install 'closecall[plot]'`."
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    assert all(line.endswith(f"MissingExtraError {message!r}") for line in lines)

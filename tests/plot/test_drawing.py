"""Names that come from data are drawn letter by letter."""

import io
import subprocess
import sys

import numpy as np
import pytest

import closecall as cc
from closecall.plot import plot_batch, plot_comparison, plot_events
from closecall.plot.drawing import plain
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
    """Texts of the saved figure, as a reader sees them."""
    first = np.ravel(axes)[0]
    first.figure.savefig(io.BytesIO(), format="png")
    return [text.replace("\N{ZERO WIDTH SPACE}", "") for text in written(first)]


def seen(name):
    return name.replace("\t", "\\t").replace("\x1b", "\\x1b")


@pytest.mark.parametrize("name", HOSTILE)
def test_lanes(name):
    values = np.arange(100.0)
    labels = TRUTH.to_labels(np.arange(100))
    texts = drawn(plot_events(labels, {name: labels, "other": labels}, values=values))
    assert any(seen(name) in text for text in texts)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_note_under_the_axis(name):
    starts = np.arange(0, 40, 2)
    truth = cc.Events.from_arrays(starts, starts + 1)
    texts = drawn(plot_events(truth, {name: truth, "other": truth}, span=(0, 1000)))
    assert f"of 20 ({seen(name)})" in next(text for text in texts if text.startswith("no room"))


@pytest.mark.parametrize("name", HOSTILE)
def test_legends(name):
    result = cc.affiliation(TRUTH, TRUTH, span=SPAN)
    texts = drawn(plot_comparison({name: result, "other": result}))
    assert f"{seen(name)}  (2 of 2 caught, F1 1.00)" in [
        text.replace("   ", "  ") for text in texts
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_ticks_and_colour_bars(name):
    texts = drawn(plot_batch({name: {name: 0.5, "other": 0.4}}, value=name))
    assert texts.count(seen(name)) == 3


def test_text_that_needs_nothing_is_as_it_was():
    assert plain("iForest (200 trees), 99%") == "iForest (200 trees), 99%"
    assert plain("two\nlines") == "two\nlines"


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
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    message = (
        "This needs matplotlib, which is not installed.\n\n"
        "Hint: run `pip install 'closecall[plot]'`."
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    assert all(line.endswith(f"MissingExtraError {message!r}") for line in lines)

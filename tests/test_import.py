"""Importing the package loads nothing, and using it nothing heavy or optional too early."""

import sys

import pytest

from tests.conftest import run_program

LATE = (
    "plotly",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "narwhals",
    "click",
    "rich",
    "sklearn",
    "dask",
    "distributed",
    "duckdb",
    "scipy",
)


STEPS = {
    "import": "import closecall as cc",
    "events": """
import numpy
cc.Events.from_labels([0, 1, 1], times=numpy.arange(3.0)).to_labels([0, 1, 2])
cc.Events([(numpy.datetime64('2024-01-01'), numpy.datetime64('2024-01-02'))])""",
    "a small score": "print(cc.affiliation([0, 1], [0, 1]), file=sys.stderr)",
    "pictures": "cc.plot",
    "a large curve": """
scores = numpy.random.default_rng(0).random(50_000)
cc.affiliation_curve(scores > 0.9, scores)""",
    "a picture": "cc.plot.plot_events",
}


@pytest.fixture(scope="module")
def loaded():
    """The names of all top-level modules after each step, in a process that takes one by one."""
    say = "print(*{name.split('.')[0] for name in sys.modules})"
    script = "\n".join(["import sys", *(f"{code}\n{say}" for code in STEPS.values())])
    run = run_program([sys.executable, "-c", script], check=True)
    return dict(zip(STEPS, map(set, map(str.split, run.stdout.splitlines())), strict=True))


@pytest.mark.parametrize("step", ["import", "events", "a small score", "pictures"])
def test_nothing_heavy_is_loaded_before_it_is_used(loaded, step):
    assert "closecall" in loaded[step]
    assert loaded[step].isdisjoint(LATE)


def test_names_are_loaded_when_they_are_first_used(loaded):
    assert "numpy" not in loaded["import"]
    assert "numpy" in loaded["events"]


def test_a_large_curve_loads_the_compiler_and_no_dataframe(loaded):
    """Numba itself imports scipy where it is installed, without its parts."""
    assert loaded["a large curve"] & set(LATE) == {"numba", "scipy"}


def test_pictures_are_an_attribute_that_loads_matplotlib_when_used(loaded):
    assert "matplotlib" in loaded["a picture"]


def test_names_are_functions_also_where_a_package_has_the_same_name():
    import closecall
    import closecall.affiliation.curve
    import closecall.report.explorer

    assert callable(closecall.affiliation)
    assert callable(closecall.report)
    assert set(closecall.__all__) <= set(dir(closecall))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        closecall.nothing  # noqa: B018 - the error is what is tested

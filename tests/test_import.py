"""Importing the package loads numpy and nothing else that is heavy or optional."""

import subprocess
import sys

import pytest

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
)


def loaded_after(code):
    """Run code in a new process and give the names of all top-level modules it loaded."""
    script = f"import sys\n{code}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run(  # noqa: S603 - this interpreter, on a script written here
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return set(run.stdout.split())


@pytest.fixture(scope="module")
def after_import():
    return loaded_after("import closecall")


@pytest.mark.parametrize("package", LATE)
def test_import_leaves_it_out(after_import, package):
    assert package not in after_import


def test_import_did_happen(after_import):
    assert "closecall" in after_import


def test_events_from_lists_and_arrays_load_nothing_more():
    code = (
        "import numpy, closecall\n"
        "closecall.Events.from_labels([0, 1, 1], times=numpy.arange(3.0)).to_labels([0, 1, 2])\n"
        "closecall.Events([(numpy.datetime64('2024-01-01'), numpy.datetime64('2024-01-02'))])"
    )
    assert loaded_after(code).isdisjoint(LATE)


def test_a_small_score_loads_no_compiler():
    code = "import closecall\nprint(closecall.affiliation([0, 1], [0, 1]), file=sys.stderr)"
    assert loaded_after(code).isdisjoint(LATE)


def test_a_large_curve_loads_the_compiler_and_no_dataframe():
    code = (
        "import closecall, numpy\n"
        "scores = numpy.random.default_rng(0).random(50_000)\n"
        "closecall.affiliation_curve(scores > 0.9, scores)"
    )
    loaded = loaded_after(code)
    assert "numba" in loaded
    assert loaded.isdisjoint(set(LATE) - {"numba"})


def test_names_are_functions_also_where_a_package_has_the_same_name():
    import closecall
    import closecall.affiliation.curve
    import closecall.report.explorer

    assert callable(closecall.affiliation)
    assert callable(closecall.report)
    assert set(closecall.__all__) <= set(dir(closecall))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        closecall.nothing  # noqa: B018 - the error is what is tested


def test_pictures_are_an_attribute_that_loads_matplotlib_when_used():
    assert "matplotlib" not in loaded_after("import closecall as cc\ncc.plot")
    assert "matplotlib" in loaded_after("import closecall as cc\ncc.plot.plot_events")

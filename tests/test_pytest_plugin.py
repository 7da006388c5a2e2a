"""The fixture `closecall_check`, in tests of their own."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

import pytest

from tests.conftest import REPOSITORY

pytest_plugins = ["pytester"]
TEST = """
import closecall as cc

def test_gate(closecall_check):
    result = cc.affiliation([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 0, 0, 0, {alarm}])
    closecall_check(result, {limit})
"""


@pytest.fixture
def outcome(pytester):
    def run(alarm, limit):
        pytester.makepyfile(TEST.format(alarm=alarm, limit=limit))
        found = entry_points(group="pytest11", name="closecall")
        plugin = () if found else ("-p", "closecall.pytest_plugin")
        return pytester.runpytest_subprocess(*plugin)

    return run


def test_a_limit_that_is_kept_passes(outcome):
    outcome(1, 'min={"caught": 1}').assert_outcomes(passed=1)


def test_a_broken_limit_fails_and_shows_the_table(outcome):
    found = outcome(1, 'max={"missed": 0}, min={"caught": 1}')
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        ["closecall check: fail: 1 of 2 limits broken", "  fail: missed is 1, limit <= 0"]
    )
    found.stdout.no_fnmatch_line("*Traceback*")


def test_what_is_to_be_investigated_is_a_warning(outcome):
    found = outcome(1, 'min={"recall": 0.7}')
    found.assert_outcomes(passed=1, warnings=1)
    found.stdout.fnmatch_lines(["*UserWarning: closecall check: investigate: 1 of 1 limit*"])


def test_bad_input_is_an_error_of_its_own(outcome):
    found = outcome(1, 'min={"recal": 0.7}')
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*Expected the name of a number in the results, got 'recal'.*"])


def test_the_plugin_is_declared_and_imports_nothing_before_it_is_used():
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    declared = settings["project"]["entry-points"]["pytest11"]
    assert declared == {"closecall": "closecall.pytest_plugin"}
    code = (
        "import pytest, sys; before = set(sys.modules); import closecall.pytest_plugin; "
        "print(*sorted(name for name in set(sys.modules) - before if 'closecall' in name "
        "or name.split('.')[0] in ('numpy', 'numba', 'click', 'rich')))"
    )
    printed = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == ["closecall", "closecall.pytest_plugin"]

"""The fixture `closecall_check`, in tests of their own."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

from tests.conftest import REPOSITORY

pytest_plugins = ["pytester"]
TESTS = """
import closecall as cc
import pytest

@pytest.fixture
def result():
    return cc.affiliation([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 0, 0, 0, 1])

def test_kept(closecall_check, result):
    closecall_check(result, min={"caught": 1})

def test_broken(closecall_check, result):
    closecall_check(result, max={"missed": 0}, min={"caught": 1})

def test_in_doubt(closecall_check, result):
    closecall_check(result, min={"recall": 0.7})

def test_bad_input(closecall_check, result):
    closecall_check(result, min={"recal": 0.7})
"""


def test_limits_pass_fail_and_warn_and_bad_input_is_an_error_of_its_own(pytester):
    pytester.makepyfile(TESTS)
    found = entry_points(group="pytest11", name="closecall")
    plugin = () if found else ("-p", "closecall.pytest_plugin")
    outcome = pytester.runpytest_subprocess("-rA", *plugin)
    outcome.assert_outcomes(passed=2, failed=2, warnings=1)
    outcome.stdout.fnmatch_lines(
        [
            "closecall check: fail: 1 of 2 limits broken",
            "  fail: missed is 1, limit <= 0",
            "*Expected the name of a number in the results, got 'recal'.*",
            "*UserWarning: closecall check: investigate: 1 of 1 limit*",
        ]
    )
    outcome.stdout.fnmatch_lines_random(["PASSED *test_kept", "PASSED *test_in_doubt"])
    outcome.stdout.no_fnmatch_line("*Traceback*")


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

"""Run the command in this process, in a folder of its own."""

import re
from contextlib import nullcontext

import pytest
from click.testing import CliRunner

from closecall.cli.commands import closecall


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call the command with these arguments; a bug shows its traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    # Whether numba compiles here depends on the tests before; processes of their own test it.
    monkeypatch.setattr("closecall.cli.options.compile_notice", nullcontext)

    def call(*arguments, **options):
        return CliRunner().invoke(
            closecall, list(arguments), prog_name="closecall", catch_exceptions=False, **options
        )

    return call


def lines(result):
    """The lines that a command printed, which ended well."""
    assert result.exit_code == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()]


def complaint(result):
    """The lines on standard error, without how many series a batch sees."""
    return [line for line in result.stderr.splitlines() if not re.match(r"\d+ series\b", line)]


@pytest.fixture
def demo_file(run):
    run("demo", "--save", "demo.csv")
    return "demo.csv"


@pytest.fixture
def refuse(run):
    """Call the command, and return the lines of its complaint."""

    def call(*arguments, code=1, **options):
        result = run(*arguments, **options)
        assert result.exit_code == code
        assert result.stdout == ""
        return complaint(result)

    return call

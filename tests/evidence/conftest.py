"""Run a study in this process, in a folder of its own."""

import pytest
from click.testing import CliRunner
from evidence.__main__ import studies


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments):
        return CliRunner().invoke(studies, list(arguments), catch_exceptions=False)

    return call


@pytest.fixture
def refuse(run):
    """Call a study, and return the last line of its complaint."""

    def call(*arguments, code):
        result = run(*arguments)
        assert result.exit_code == code
        assert result.stdout == ""
        return result.stderr.splitlines()[-1]

    return call

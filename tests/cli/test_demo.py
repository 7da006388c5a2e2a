"""`closecall demo`: what it shows, and that what it tells people to run does run."""

import shlex
from textwrap import dedent

import pytest

STARTS = {
    "score": "6 of 7 caught (0.6 by chance), median delay 35 min, no false alarms\nprecision 0.99",
    "curve": "7 of 7 caught (0.6 by chance), median delay 20 min, 0.5 false alarms a week\n",
}


def next_steps(output):
    """Return the commands and the Python lines at the end of the demo."""
    commands, code = output.partition("\nNext:\n")[2].split("\nIn Python:\n")
    return [line.strip() for line in commands.splitlines() if line.strip()], dedent(code)


def test_every_next_command_runs(run):
    commands, _ = next_steps(run("demo").stdout)
    assert len(commands) == 4
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "closecall"
        result = run(*arguments)
        assert result.exit_code == 0, result.stderr
        if "demo.csv" in arguments and "--save" not in arguments:
            assert result.stdout.startswith(STARTS[arguments[0]])


def test_the_python_lines_run(run, capsys):
    _, code = next_steps(run("demo").stdout)
    exec(code, {})  # noqa: S102 - this is what the reader is told to run
    assert capsys.readouterr().out == (
        "Affiliation(precision=0.992, recall=0.854, f1=0.918, events=7)\n"
        "[    0    40    80 'NaT'    35     0    25]\n"
    )


@pytest.mark.parametrize("name", ["demo.csv", "demo.parquet"])
def test_saved_data_scores_like_the_demo(run, name):
    saved = run("demo", "--save", name)
    assert saved.stdout == ""
    assert f"Wrote 4032 rows to {name}." in saved.stderr
    commands = [line.split() for line in saved.stderr.splitlines()[-2:]]
    assert [command for _, command, *_ in commands] == ["score", "curve"]
    for _, command, *arguments in commands:
        assert run(command, *arguments).stdout.startswith(STARTS[command])

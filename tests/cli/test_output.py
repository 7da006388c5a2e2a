"""A bar while it takes long, and a line while kernels are compiled."""

import io

from closecall import compiled
from closecall.cli.output import compile_notice, show_progress


def test_a_bar_on_a_terminal_only(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        progress(3, 12)
    assert "Scoring predictions" in terminal.getvalue()
    assert "3/12" in terminal.getvalue()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with show_progress() as progress:
        assert progress is None


def test_compiling_is_told_once_and_only_inside(capsys):
    with compile_notice():
        compiled.on_compilation()
        compiled.on_compilation()
    assert compiled.on_compilation is None
    assert capsys.readouterr().err.count("Compiling closecall's kernels") == 1

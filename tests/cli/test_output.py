"""The layout of JSON and CSV, a bar while it takes long, and a line while kernels are compiled."""

import io

import pytest

from closecall import compiled
from closecall.cli.output import Output, compile_notice, show_progress


@pytest.mark.parametrize(
    ("output_format", "expected"),
    [
        ("json", '{\n  "f1": 0.5,\n  "events": [\n    null,\n    1.0\n  ]\n}\n'),
        ("csv", 'name,f1\n"a,b",0.5\nc,\n'),
    ],
)
def test_every_byte_that_programs_read(capsys, tmp_path, output_format, expected):
    content = {
        "table": None,
        "values": lambda: {"f1": 0.5, "events": [None, 1.0]},
        "rows": lambda: [{"name": "a,b", "f1": 0.5}, {"name": "c", "f1": None}],
    }
    Output(output_format).write(**content)
    assert capsys.readouterr().out == expected
    path = tmp_path / "result"
    Output(output_format, str(path)).write(**content)
    assert path.read_bytes().decode() == expected


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

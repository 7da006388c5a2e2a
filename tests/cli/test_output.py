"""The layout of JSON and CSV, a bar while it takes long, and a line while kernels are compiled."""

import io
import os
import re
import shutil
import threading
from itertools import product

import pytest

from closecall import compiled
from closecall.cli.output import Output, compile_notice, show_progress
from closecall.latex import escape
from closecall.tables import write_table
from tests.conftest import full_disk


@pytest.mark.parametrize(
    ("output_format", "expected"),
    [
        (
            "json",
            '{\n  "schema": "closecall/score/1",\n  "f1": 0.5,\n  "events": [\n    null\n  ]\n}\n',
        ),
        ("csv", 'name,f1\n"a,b",0.5\nc,\n'),
    ],
)
def test_every_byte_that_programs_read(capsys, tmp_path, output_format, expected):
    content = {
        "table": None,
        "values": lambda: {"f1": 0.5, "events": [None]},
        "rows": lambda: [{"name": "a,b", "f1": 0.5}, {"name": "c", "f1": None}],
    }
    Output(output_format, command="score").write(**content)
    assert capsys.readouterr().out == expected
    path = tmp_path / "result"
    Output(output_format, str(path), command="score").write(**content)
    assert path.read_bytes().decode() == expected


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("5", 20), ("100", 100), ("9999", 1000)])
def test_a_table_is_as_wide_as_can_be_read(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    with Output("table").console() as console:
        assert console.width == width


def test_a_bar_on_a_terminal_only(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        progress(3, 12)
    assert "Scoring" in terminal.getvalue()
    assert "3 of 12 predictions" in terminal.getvalue()
    program = io.StringIO()
    monkeypatch.setattr("sys.stderr", program)
    with show_progress() as progress:
        progress(3, 12)
    assert not program.getvalue()


def test_compiling_is_told_once_and_only_inside(capsys):
    with compile_notice():
        compiled.on_compilation()
        compiled.on_compilation()
    assert compiled.on_compilation is None
    assert capsys.readouterr().err.count("Compiling closecall's kernels") == 1


DATA = "truth,predicted,score\n0,0,0.1\n1,1,0.9\n1,0,0.4\n0,1,0.6\n0,0,0.2\n"
SIDES = ("--truth", "truth", "--predicted", "predicted")
WRITING = {
    "score": ("score", "data.csv", *SIDES, "-o"),
    "score, two files": ("score", "other.csv", "data.csv", *SIDES, "-o"),
    "score, standard input": ("score", "-", *SIDES, "-o"),
    "score, json": ("score", "data.csv", *SIDES, "--format", "json", "-o"),
    "score, ignore": ("score", "other.csv", *SIDES, "--ignore", "data.csv", "-o"),
    "curve": ("curve", "data.csv", "--truth", "truth", "--score", "score", "-o"),
    "curve, csv": ("curve", "data.csv", "--score", "score", "--format", "csv", "-o"),
    "curve, plot": ("curve", "data.csv", "--truth", "truth", "--score", "score", "--plot"),
    "compare": ("compare", "data.csv", "--truth", "truth", "--predicted", "predicted", "-o"),
    "audit": ("audit", "data.csv", *SIDES, "-o"),
    "report": ("report", "data.csv", *SIDES, "-o"),
    "report, rows": ("report", "other.csv", *SIDES, "--batch", "data.csv", "-o"),
    "report, a layout": ("report", "x", "--layout", "tsb-ad", "--scores", ".", "-o"),
    "batch": ("batch", "data.csv", *SIDES, "--overwrite", "--out"),
    "stream, state": ("stream", "data.csv", *SIDES, "--state"),
    "batch, resume": ("batch", "data.csv", *SIDES, "--resume"),
    "batch, a folder": ("batch", ".", *SIDES, "--overwrite", "--out"),
    "batch, a pattern": ("batch", "d*.csv", *SIDES, "--overwrite", "--out"),
    "batch, a layout": ("batch", "x", "--layout", "tsb-ad", "--scores", ".", "--out"),
}


@pytest.mark.parametrize(
    ("command", "link"),
    [
        *((command, None) for command in WRITING if "plot" not in command),
        *product(("score", "curve, plot", "report", "batch", "stream, state"), ("soft", "hard")),
    ],
)
def test_an_output_that_is_an_input_is_refused(run, tmp_path, monkeypatch, command, link):
    data, output = tmp_path / "data.csv", tmp_path / "data.csv"
    for path in (data, tmp_path / "other.csv"):
        path.write_text(DATA)
    if link is not None:
        output = tmp_path / ("link.svg" if "plot" in command else "link.csv")
        output.hardlink_to(data) if link == "hard" else output.symlink_to(data.name)
    with data.open() as file:
        before = os.dup(0)
        os.dup2(file.fileno(), 0)
        try:
            result = run(*WRITING[command], str(output), input=DATA)
        finally:
            os.dup2(before, 0)
            os.close(before)
    assert result.exit_code == 1
    assert re.match(
        r"Error: Expected `--\w+` to write to none of the files that are", result.stderr
    )
    assert data.read_text() == DATA
    assert data.samefile(output)
    assert output.is_symlink() == (link == "soft")


@pytest.mark.parametrize("other", ["new", "./new", "there/new", "link", "hard"])
def test_two_outputs_in_one_file_are_refused(run, tmp_path, other):
    """The second would replace the first."""
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "there").symlink_to(".")
    (tmp_path / "link").symlink_to("new")
    if other == "hard":
        (tmp_path / "new").touch()
        (tmp_path / "hard").hardlink_to(tmp_path / "new")
    line = ("check", "data.csv", *SIDES, "--min", "f1=0", "--junit", "new", "-o")
    result = run(*line, other)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: Expected `--output` to write to a file of its own, got")
    assert not (tmp_path / "new").exists() or not (tmp_path / "new").read_text()
    assert run(*line, "news").exit_code == 0


@pytest.mark.parametrize(
    ("place", "output"),
    [
        ("lake", "lake/rows.parquet"),
        ("lake", "lake/k=1/rows.csv"),
        ("lake/*/*.csv", "lake/k=1/rows.csv"),
        ("lake/**/*.csv", "lake/new.csv"),
        (".", "rows.csv"),
    ],
)
def test_an_output_that_would_be_read_the_next_time_is_refused(run, tmp_path, place, output):
    (tmp_path / "lake/k=1").mkdir(parents=True)
    (tmp_path / "lake/k=1/a.csv").write_text(DATA)
    result = run("batch", place, *SIDES, "--out", output)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Expected `--output` to write to none of the files")
    assert [path.name for path in tmp_path.rglob("*.*")] == ["a.csv"]


def test_the_events_of_a_batch_are_not_its_input(run, tmp_path):
    data = tmp_path / "data.events.parquet"
    write_table({"truth": [0, 1, 0], "predicted": [0, 1, 1]}, data)
    before = data.read_bytes()
    result = run("batch", data.name, *SIDES, "--out", "data.parquet", "--overwrite", "--per-event")
    assert result.exit_code == 1
    assert data.read_bytes() == before


EVERY = {
    "text": ("score", "data.csv", *SIDES, "-o", "out.txt"),
    "json": ("score", "data.csv", *SIDES, "--format", "json", "-o", "out.txt"),
    "csv": ("curve", "data.csv", "--score", "score", "--format", "csv", "-o", "out.txt"),
    "picture": ("curve", "data.csv", "--score", "score", "--plot", "out.svg"),
    "page": ("report", "data.csv", *SIDES, "-o", "out.html"),
    "data": ("demo", "--save", "out.csv"),
    "data in Parquet": ("demo", "--save", "out.parquet"),
    "rows": ("batch", "data.csv", *SIDES, "--overwrite", "--out", "out.csv"),
}


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_outputs_are_whole_or_not_there(run, tmp_path, command):
    """A disk that is full: what was there stays, and nothing is left beside it."""
    (tmp_path / "data.csv").write_text(DATA)
    output = tmp_path / command[-1]
    for content in (None, "old"):
        if content is not None:
            output.write_text(content)
        with full_disk(10):
            result = run(*command)
        assert result.exit_code == 1
        assert result.stderr.splitlines()[-1].startswith("Error: File too large: ")
        assert command[-1] in result.stderr
        if content is None:
            assert not output.exists()
        else:
            assert output.read_text() == content
        for folder in tmp_path.glob("*.partial"):
            shutil.rmtree(folder)
        assert {path.name for path in tmp_path.iterdir()} <= {"data.csv", command[-1]}


@pytest.mark.parametrize("command", [one for name, one in EVERY.items() if name != "rows"])
def test_pipes_and_devices_are_written_and_not_replaced(run, tmp_path, command):
    (tmp_path / "data.csv").write_text(DATA)
    pipe = tmp_path / command[-1]
    os.mkfifo(pipe)
    content = []
    reader = threading.Thread(target=lambda: content.append(pipe.read_bytes()))
    reader.start()
    assert run(*command).exit_code == 0
    reader.join()
    assert content[0]
    assert pipe.is_fifo()
    device = tmp_path / f"full{pipe.suffix}"
    device.symlink_to("/dev/full")
    result = run(*command[:-1], device.name)
    assert result.exit_code == 1
    assert f"No space left on device: {device.name}" in result.stderr
    assert device.is_symlink()


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_links_and_permissions_stay(run, tmp_path, command):
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "elsewhere").mkdir()
    target, output = tmp_path / "elsewhere" / command[-1], tmp_path / command[-1]
    output.symlink_to(target)
    assert run(*command).exit_code == 0
    assert output.is_symlink()
    umask = os.umask(0o022)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask
    target.chmod(0o640)
    assert run(*command).exit_code == 0
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_out_is_output(run, demo_file, tmp_path):
    of = [demo_file, "--truth", "label", "--time", "time"]
    commands = {
        "score": [*of, "--predicted", "forecast"],
        "curve": [*of, "--score", "forecast_score"],
        "compare": [*of, "--predicted", "forecast", "--predicted", "threshold"],
        "audit": [*of, "--predicted", "forecast", "--metric", "classical", "--budget", "2"],
        "report": [*of, "--score", "forecast_score", "--script", "cdn"],
        "metrics": [],
    }
    for name, options in commands.items():
        for option in ("--output", "--out"):
            result = run(name, *options, option, f"{name}{option}")
            assert result.exit_code == 0, result.stderr
        written = [(tmp_path / f"{name}{option}").read_bytes() for option in ("--output", "--out")]
        assert written[0] == written[1]
    twice = run("metrics", "--out", "a", "--output", "b")
    assert "--output is given 2 times" in twice.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("score", "--predicted", "forecast", "--predicted", "threshold"), "F1 & chance & caught"),
        (("score", "--predicted", "forecast", "--metric", "classical"), r"classical f1 & "),
        (
            ("score", "--predicted", "forecast", "--metric", "affiliation"),
            "\naffiliation f1 by chance & ",
        ),
        (("score", "--predicted", "forecast", "--metric", "classical"), "\ncaught by chance & "),
        (
            ("compare", "--predicted", "forecast", "--predicted", "threshold"),
            "F1 & chance & caught",
        ),
        (
            ("compare", "--predicted", "forecast", "--predicted", "threshold", "--intervals"),
            "with 95 \\% intervals",
        ),
        (("batch", "--predicted", "forecast", "--predicted", "threshold"), "over 1 series"),
        (("batch", "--predicted", "forecast", "--intervals"), "over 1 series"),
    ],
)
def test_latex(run, demo_file, arguments, expected):
    command, *chosen = arguments
    result = run(
        command, demo_file, "--truth", "label", "--time", "time", *chosen, "--format=latex"
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("\\begin{table}\n")
    *_, note, end = result.stdout.splitlines()
    assert end == "\\end{table}"
    told = run(command, demo_file, "--truth", "label", "--time", "time", *chosen).stdout
    signature = escape(told.splitlines()[-1].capitalize())
    assert note.replace("\\allowbreak{}", "") == f"\\par\\smallskip {signature}"
    assert expected in result.stdout

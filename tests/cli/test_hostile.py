"""Hostile names, streams, signals and files: nothing is obeyed, and nothing shows a traceback."""

import csv
import io
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from random import Random

import click
import numpy as np
import pytest
from benchmarks.fuzz_commands import EXAMPLES, attempts, hostile_line

from closecall.cli import print_error
from closecall.cli.commands import COMMANDS, closecall
from closecall.cli.output import Output, csv_text, tell
from closecall.tables import read_table, write_table
from closecall.tables.batch import evaluate

START = "from closecall.cli import main; main()"
ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b\u202e\x85\r\b"
SHOWN = r"\x1b]0;owned\x07\x1b[31m\x9b\u202e\x85\r\x08"
DATA = "t,label,alarm\n" + "".join(f"{n},{int(n in (3, 4))},{int(n == 4)}\n" for n in range(9))
ALARM = "--truth label --predicted alarm"
SCORE = "score data.csv --truth label --predicted alarm"


NAMED = "name\x1b[31m"
SIDES = ("named.csv", "--truth", "label", "--predicted", NAMED)
CSV_LINES = {
    "compare": ("compare", *SIDES, "--predicted", "label"),
    "batch": ("batch", *SIDES, "--by", "t"),
}


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("command", CSV_LINES)
def test_names_in_csv_are_escaped_on_a_terminal_and_whole_elsewhere(tmp_path, command, terminal):
    rows = [f"a,{int(n in (3, 4))},{int(n == 4)}\n" for n in range(9)]
    (tmp_path / "named.csv").write_text(f"t,label,{NAMED}\n{''.join(rows)}")
    line = [sys.executable, "-c", START, *CSV_LINES[command], "--format", "csv"]
    reader, writer = os.openpty() if terminal else os.pipe()
    with subprocess.Popen(line, cwd=tmp_path, stdout=writer) as process:  # noqa: S603 - our own
        os.close(writer)
        text = b""
        while chunk := _read(reader):
            text += chunk
    os.close(reader)
    assert process.returncode == 0
    assert (NAMED.encode() in text) is not terminal
    assert (rb"name\x1b[31m" in text) is terminal


def _read(handle):
    try:
        return os.read(handle, 1 << 16)
    except OSError:  # the other end of a terminal was closed
        return b""


def test_a_page_with_half_a_character_is_refused_in_a_line(tmp_path):
    line = r"cp data.csv $'f\xff.csv' && closecall report $'f\xff.csv' -o page.html " + ALARM
    result = shell(tmp_path, line)
    assert result.returncode == 1
    error = os.fsdecode(result.stderr)
    assert error.startswith("Error: Expected names and texts in UTF-8, got ")
    assert r"f\udcff.csv" in error
    assert len(error) < 200
    assert not (tmp_path / "page.html").exists()


def shell(tmp_path, line, **environment):
    """Run a line of bash, in which `closecall` is this one, beside a file of data."""
    (tmp_path / "data.csv").write_text(DATA)
    start = f'closecall() {{ "{sys.executable}" -c "{START}" "$@"; }}\n'
    return subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", os.fsencode(start + line)],  # noqa: S607
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=300,
    )


def test_the_fuzz_suite_knows_every_command():
    assert set(EXAMPLES) == set(COMMANDS)


def test_hostile_lines_reach_every_option():
    random = Random(0)  # noqa: S311 - no secret
    seen = Counter()
    for _ in range(6000):
        name, *arguments = hostile_line(random)
        seen.update((name, one.partition("=")[0]) for one in arguments if one.startswith("-"))
    for name in COMMANDS:
        command = closecall.get_command(click.Context(closecall), name)
        for option in command.params:
            if isinstance(option, click.Option):
                assert any(seen[name, flag] for flag in option.opts), (name, option.opts)


def test_a_short_run_of_the_fuzz_suite():
    # A longer one is `python -m benchmarks fuzz`.
    tried = list(islice(attempts(Random(16), processes=0), 40))  # noqa: S311 - no secret
    assert [attempt for attempt in tried if attempt.outcome == "failed"] == []
    assert {attempt.outcome for attempt in tried} == {"accepted", "refused"}


@pytest.mark.parametrize("how", ["error", "told", "table"])
def test_what_a_terminal_would_obey_is_shown(capsys, how):
    if how == "error":
        print_error(f"No column {ESCAPES}!\n\nHint: {ESCAPES}")
        written = capsys.readouterr().err
    elif how == "told":
        tell(f"Wrote {ESCAPES}")
        written = capsys.readouterr().err
        assert written == f"Wrote {SHOWN}\n"
    else:
        with Output("table").console() as console:
            console.print(f"a {ESCAPES}", markup=False)
        written = capsys.readouterr().out
    assert all(letter.isprintable() or letter == "\n" for letter in written)
    assert r"\x1b[31m\x9b\u202e" in written


def test_names_of_series_files_and_columns_in_every_place(run, tmp_path):
    name = "a\x1b[31m\u202e"
    rows = "".join(f"{name},{n},{int(n in (3, 4))},{n / 9}\n" for n in range(9))
    bad = "".join(f"bad{name},{n},2,{n / 9}\n" for n in range(9))
    (tmp_path / f"{name}.csv").write_text(f"series,t,label,{name}\n{rows}{bad}")
    options = ("--by", "series", "--truth", "label", "--score", name)
    for command in (
        ("batch", f"{name}.csv", *options),
        ("batch", f"{name}.csv", *options, "--strict"),
        ("batch", f"{name}.csv", *options, "--time", "nix"),
        ("report", f"{name}.csv", *options, "-o", f"{name}.html", "--script", "cdn"),
        ("curve", f"{name}.csv", "--truth", name),
        ("score", f"nix{name}.csv"),
    ):
        result = run(*command)
        text = result.stdout + result.stderr
        assert r"\x1b[31m\u202e" in text
        assert all(letter.isprintable() or letter == "\n" for letter in text), command


def test_thousands_of_columns_are_not_all_named(run, tmp_path):
    header = ",".join(f"c{number}" for number in range(5_000))
    (tmp_path / "wide.csv").write_text(f"{header}\n{'0,' * 4_999}0\n")
    result = run("score", "wide.csv", "--truth", "x")
    assert result.exit_code == 1
    assert "c19 and 4,980 more." in result.stderr
    assert len(result.stderr) < 1000


FORMULAS = ["=1+1", "+x", "-x", "@x", "\tx", "'=x", "-1.5", "+3e4", "plain", "it's", ""]
SAFE = ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "''=x", "-1.5", "+3e4", "plain", "it's", ""]


def test_cells_that_would_be_formulas(tmp_path):
    table = {'=a,"b"': FORMULAS, "value": np.linspace(-1, 1, len(FORMULAS))}
    write_table(table, tmp_path / "rows.csv")
    rows = [{name: column[row] for name, column in table.items()} for row in range(len(FORMULAS))]
    for text in ((tmp_path / "rows.csv").read_text(), csv_text(rows, table)):
        header, *lines = csv.reader(io.StringIO(text, newline=""))
        assert header == ['\'=a,"b"', "value"]
        assert [line[0] for line in lines] == SAFE
        assert float(lines[0][1]) == -1.0
    write_table(table, tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet").column(0).to_pylist() == FORMULAS


def test_a_batch_with_formulas_for_names_is_resumed(run, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    for number, name in enumerate(["=a", "'=a", "-b"]):
        columns = {"series": [name] * 9, "label": [0, 1, 1, 0, 0, 0, 1, 0, 0], "=s": np.arange(9.0)}
        write_table(columns, tmp_path / f"data/{number}.parquet")
    line = ("batch", "data", "--by", "series", "--truth", "label", "--score", "=s", "--out")
    assert run(*line, "whole.csv").exit_code == 0
    evaluated = []

    def interrupted(unit, options):
        if len(evaluated) == 2:
            raise KeyboardInterrupt
        evaluated.append(unit.key)
        return real(unit, options)

    real = evaluate.evaluate_unit
    monkeypatch.setattr("closecall.tables.units.SMALLEST", 1)
    monkeypatch.setattr("closecall.tables.units.LARGEST", 10)
    with monkeypatch.context() as patch:
        patch.setattr(evaluate, "evaluate_unit", interrupted)
        assert run(*line, "rows.csv").exit_code == 130
    assert not (tmp_path / "rows.csv").exists()
    result = run(*line, "rows.csv", "--resume")
    assert result.exit_code == 0, result.stderr
    whole = (tmp_path / "whole.csv").read_bytes()
    assert (tmp_path / "rows.csv").read_bytes() == whole
    rows = list(csv.DictReader(io.StringIO(whole.decode())))
    assert [row["series"] for row in rows] == ["''=a", "'-b", "'=a"]
    assert {row["detector"] for row in rows} == {"'=s"}


@pytest.mark.parametrize(
    ("line", "status", "lines", "complaint"),
    [
        (f"closecall {SCORE} >&-", 1, 0, "Error: Standard output is closed\n"),
        (f"closecall {SCORE} --format csv >&-", 1, 0, "Error: Standard output is closed\n"),
        (f"closecall {SCORE} -o rows.txt >&-", 0, 0, ""),
        ("closecall --help >&-", 1, 0, "Error: Standard output is closed\n"),
        (f"set -o pipefail; closecall {SCORE} 2>&- | grep -c signature", 0, 1, ""),
        ("closecall score nix.csv >&- 2>&-", 1, 0, ""),
        ("closecall score nix.csv 2>&-", 1, 0, ""),
        ("closecall score - <&-", 1, 0, "Error: Expected standard input to hold a table"),
        (f"closecall {SCORE} --format csv >/dev/full", 1, 0, "Error: No space left on device\n"),
        (f"closecall {SCORE} >/dev/full", 1, 0, "Error: No space left on device\n"),
        ("closecall metrics --format json | head -1", 0, 1, ""),
        ("closecall score $'caf\\xe9.csv'", 1, 0, "Error: Expected a file at caf\\udce9.csv, got"),
    ],
)
def test_closed_and_full_streams_and_bytes(tmp_path, line, status, lines, complaint):
    done = shell(tmp_path, line)
    told = done.stderr.decode().replace(
        "Compiling closecall's kernels; this takes some seconds and happens once.\n", ""
    )
    assert "Traceback" not in told
    assert done.returncode == status, told
    assert told.startswith(complaint)
    assert bool(told) == bool(complaint)
    assert done.stdout.count(b"\n") == lines


@pytest.mark.parametrize("command", ["score", "batch"])
def test_a_file_that_is_a_pipe(run, command):
    """As `<(cat data.csv)` of a shell is."""
    reading, writing = os.pipe()
    os.write(writing, DATA.encode())
    os.close(writing)
    result = run(command, f"/dev/fd/{reading}", *ALARM.split(), "--format", "csv")
    os.close(reading)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 2), result.stderr
    assert result.stderr == ("1 series, 1 detector.\n" if command == "batch" else "")


LOOPS = {
    f"{SCORE} --ignore . -o loop.csv": "",
    "score loop.csv": "Expected",
    f"batch *.csv --series one {ALARM}": "Expected to read loop.csv, got `Too many levels",
    f"{SCORE} --ignore caf\udce9": "Expected `--ignore` to name",
}


@pytest.mark.parametrize("line", LOOPS, ids=ascii)
def test_links_in_a_loop_and_bytes(refuse, tmp_path, line):
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    assert refuse(*line.split())[0].startswith(f"Error: {LOOPS[line]}")


@pytest.mark.parametrize("columns", ["0", "1", "-1", "1" * 30, "x"])
def test_any_width(run, tmp_path, monkeypatch, columns):
    (tmp_path / "data.csv").write_text(DATA)
    monkeypatch.setenv("COLUMNS", columns)
    result = run(*SCORE.split())
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_deeply_nested_json(refuse, tmp_path):
    for folder in ("labels", "data/a", "results/knn/a"):
        (tmp_path / "nab" / folder).mkdir(parents=True)
    (tmp_path / "nab/data/a/one.csv").write_text("timestamp,value\n2024-01-01 00:00:00,1\n")
    (tmp_path / "nab/results/knn/a/knn_one.csv").write_text("timestamp,anomaly_score\n")
    (tmp_path / "nab/labels/combined_windows.json").write_text("[" * 100_000)
    error, *_ = refuse("batch", "nab", "--layout", "nab")
    assert "combined_windows.json" in error
    assert "as JSON, got maximum recursion depth exceeded" in error


def test_an_event_that_stops_after_the_last_year_of_python(run, tmp_path):
    times = [f"9999-12-31T{hour}:00:00" for hour in (20, 21, 22, 23)]
    lines = ["t,label,alarm", *(f"{t},{n},{n}" for t, n in zip(times, (0, 1, 0, 1), strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    shown = run("score", str(tmp_path / "data.csv"), "--time", "t", *ALARM.split())
    assert "9999-12-31 23:00    1 h  on time" in shown.output

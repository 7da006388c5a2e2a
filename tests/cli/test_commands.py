"""The command as people start it: a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import closecall
from closecall.cli.commands import COMMANDS
from tests.conftest import run_program

START = "from closecall.cli import main; main()"
LABELS = "truth,predicted\n0,0\n1,1\n0,0\n"
SCORED = "1 of 1 caught (0.3 by chance), median delay 0, no false alarms\nprecision 1.00 "


def start(*arguments, before="", environment=None, stdin=None):
    return run_program(
        [sys.executable, "-c", f"{before}\n{START}", *arguments],
        input=stdin,
        env={**os.environ, "COLUMNS": "100", **(environment or {})},
    )


def test_version():
    assert start("--version").stdout == f"closecall {closecall.__version__}\n"


def test_help_names_the_commands_and_is_shown_without_any(run):
    result = run("--help")
    listed = dict(re.findall(r"^  (\w+) +(\S.*)$", result.stdout, flags=re.MULTILINE))
    assert COMMANDS.items() <= listed.items()
    for arguments in ((), ("-h",)):
        assert (run(*arguments).exit_code, run(*arguments).stdout) == (0, result.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_shows_examples(run, command):
    result = run(command, "-h")
    assert result.exit_code == 0
    assert f"Examples:\n    closecall {command}" in result.stdout


def test_help_loads_nothing_heavy():
    heavy = "{'numpy', 'numba', 'pyarrow', 'pandas', 'polars', 'rich', 'matplotlib'}"
    after = f"import atexit, sys; atexit.register(lambda: print({heavy} & sys.modules.keys()))"
    assert start("--help", before=after).stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("package", "arguments"),
    [("click", ("--help",)), ("rich", ("demo",)), ("pyarrow", ("score", "-"))],
)
def test_a_missing_package_is_two_lines(package, arguments):
    result = start(*arguments, before=f"import sys; sys.modules['{package}'] = None", stdin=LABELS)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"Error: This needs {package}, which is not installed.",
        "Hint: Run `pip install 'closecall[cli]'`.",
    ]


def test_another_missing_module_is_a_bug():
    result = start("demo", before="import sys; sys.modules['closecall.cli.demo'] = None")
    assert result.returncode == 1
    assert "Traceback" in result.stderr


def test_a_small_score_loads_neither_dataframes_nor_the_compiler(tmp_path):
    arrow = {f"pyarrow.{module}" for module in ("compute", "dataset", "parquet")}
    heavy = {"numba", "pandas", "polars", "narwhals", "closecall.metrics", *arrow}
    after = f"import atexit, sys; atexit.register(lambda: print({heavy} & sys.modules.keys()))"
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    minutes = [f"2024-01-01 00:0{k}:00" for k in range(3)]
    lines = zip(["time", *minutes], LABELS.splitlines(), strict=True)
    timed, options = "\n".join(map(",".join, lines)), ("-", "--time", "time")
    scored = start("score", *options, before=after, environment=environment, stdin=timed)
    assert scored.stdout.splitlines()[-1] == "set()"
    assert scored.stdout.startswith(
        "1 of 1 caught (0.3 by chance), median delay 0 s, no false alarms\n"
    )
    assert scored.stderr == ""
    assert "\x1b[" not in scored.stdout


def test_compiling_is_announced_once_and_only_if_it_happens(tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    # One kernel is left to be compiled, and what else is not in the cache of the tests.
    for path in Path(os.environ["NUMBA_CACHE_DIR"]).glob("*/*.nb[ic]"):
        if not path.name.startswith("_kernels.cut_at_borders-"):
            (tmp_path / path.parent.name).mkdir(exist_ok=True)
            (tmp_path / path.parent.name / path.name).symlink_to(path)
    loaded = {"before": "import numba", "environment": environment}  # so that it is used at once
    first, second = (start("score", "-", **loaded, stdin=LABELS) for _ in range(2))
    assert first.stderr == (
        "Compiling closecall's kernels; this takes some seconds and happens once.\n"
    )
    assert second.stderr == ""
    assert first.stdout == second.stdout
    assert first.stdout.startswith(SCORED)


def test_colour_where_it_is_asked_for(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = run("score", "-", input=LABELS)
    assert "precision \x1b[1;32m1.00\x1b[0m" in forced.stdout


def test_a_reader_that_leaves_early_gets_no_traceback():
    many = "".join(f"{n % 9 == 0:d},{n}\n" for n in range(2_000))  # four times what a pipe holds
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", START, "curve", "-", "--format", "csv", "--points", "all"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Unbuffered output loses what a closed pipe does not take, without an error.
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    process.stdin.write(f"truth,score\n{many}")
    process.stdin.close()
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert "Traceback" not in complaint
    assert "Error" not in complaint


def test_a_curve_without_matplotlib_says_what_to_install(tmp_path):
    before = (
        "import sys; sys.modules['matplotlib'] = None; from closecall.cli import main\n"
        "try: main()\nexcept SystemExit as end: print(end.code)\n"
        "sys.argv += ['--plot', 'curve.png']"
    )
    (tmp_path / "labels.csv").write_text(LABELS)
    arguments = (str(tmp_path / "labels.csv"), "--score", "predicted", "--format", "csv")
    done = start("curve", *arguments, before=before)
    header, *rows, status = done.stdout.splitlines()
    assert header.startswith("threshold,precision,recall,f1,caught,")
    assert [row.partition(",")[0] for row in rows] == ["1", "0"]
    assert (status, done.returncode) == ("0", 1)
    assert done.stderr.splitlines() == [
        "Error: This needs matplotlib, which is not installed.",
        "Hint: Run `pip install 'closecall[plot]'`.",
    ]


def test_nothing_in_the_current_folder_is_executed(tmp_path):
    """Neither modules nor settings that libraries would look for there: it is the data's folder.

    Nor is a display needed, whatever draws on one.
    """
    command = Path(sys.executable).with_name("closecall")
    if not command.exists():
        pytest.skip("the command is not installed beside Python")
    modules = [name.partition(".")[0] for name in sys.modules]
    for name in {*modules, "closecall", "sitecustomize", "usercustomize", "yaml", "pandas"}:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'hacked')!r}, 'a').write('x')")
    (tmp_path / "matplotlibrc").write_text("figure.facecolor: 123456\nsavefig.facecolor: 123456\n")
    (tmp_path / "data.csv").write_text("s,truth,score\n" + "a,0,0.1\na,1,0.9\nb,0,0.2\nb,1,0.7\n")
    columns = ("--truth", "truth", "--score", "score")
    # Without compiling, workers load the compiler all the same.
    odd = {"MPLBACKEND": "TkAgg", "DISPLAY": "", "NUMBA_DISABLE_JIT": "1"}
    for arguments in (
        ("batch", "data.csv", "--by", "s", *columns, "--workers", "2", "--out", "../rows.csv"),
        ("curve", "data.csv", *columns, "--plot", "curve.svg"),
        ("report", "data.csv", *columns, "-o", "page.html"),
    ):
        done = run_program([command, *arguments], cwd=tmp_path, env=os.environ | odd)
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "hacked").exists()
    assert "123456" not in (tmp_path / "curve.svg").read_text()


def test_a_signal_that_is_ignored_stays_so():
    """As under `nohup`; the others end the program in order."""
    program = (
        "import signal, sys\nfrom closecall.cli import main\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nsys.argv = ['closecall', '--version']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "told = signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)\n"
        "print(told[0] is signal.SIG_IGN, told[1].__name__)"
    )
    done = run_program([sys.executable, "-c", program], check=True)
    assert done.stdout.splitlines()[-1] == "True stop"


def test_the_cache_of_kernels_is_not_where_the_data_says(tmp_path):
    """It is unpickled, so a file beside the data must not name it."""
    pytest.importorskip("yaml")
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: evil\nchrome_trace: rows.csv\n")
    program = (
        "import sys\nfrom closecall.cli import main\nsys.argv = ['closecall', '--version']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "import numba; print(repr(numba.config.CACHE_DIR + numba.config.CHROME_TRACE))"
    )
    environment = {key: os.environ[key] for key in os.environ if not key.startswith("NUMBA_")}
    done = run_program([sys.executable, "-P", "-c", program], cwd=tmp_path, env=environment)
    assert done.stdout.splitlines()[-1] == "''", done.stderr

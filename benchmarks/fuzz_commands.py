"""Hostile command lines: valid ones of every command, in which one or two values are bad.

Commands and options are those that click knows. Allowed are the statuses 0, 1, 2 and 130, and where
it is not 0 one line that begins with "Error:", but for the verdicts of `check`; a traceback or a
numpy warning is a failure. Most run in this process, some as a process of their own, where streams
may be closed.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pyarrow as pa
from click.testing import CliRunner

from benchmarks.fuzz_calls import Attempt
from closecall.affiliation import affiliation
from closecall.cli.commands import COMMANDS, closecall
from closecall.plain import schema_name
from closecall.tables import evaluate_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random
    from types import FrameType

_ONE = ["data.csv", "--truth", "label"]
_TWO = ["--predicted", "alarm", "--predicted", "other"]
EXAMPLES: dict[str, list[list[str]]] = {
    "audit": [[*_ONE, *_TWO, "--budget", "5", "--metric", "affiliation", "--metric", "hausdorff"]],
    "batch": [
        ["many.csv", "--by", "series", "--truth", "label", "--score", "score"],
        ["many.csv", "--by", "series", "--truth", "label", "--predicted", "alarm", "--time", "t"],
        ["tsb", "--layout", "tsb-ad", "--scores", "npy"],
        ["timeeval", "--layout", "timeeval", "--scores", "run"],
        ["nab", "--layout", "nab"],
        ["many.csv", "--by", "series", *_ONE[1:], *_TWO, "--ranks", "--format", "json"],
    ],
    "check": [
        [*_ONE, "--predicted", "alarm", "--time", "date", "--min", "f1=0"],
        ["score.json", "--max", "missed=9", "--baseline", "score.json"],
        ["rows.csv", "--min", "affiliation_f1=0.1", "--detector", "score"],
    ],
    "compare": [
        [*_ONE, *_TWO],
        [*_ONE, "--predicted", "alarm", "--score", "score", "--time", "t"],
    ],
    "curve": [[*_ONE, "--score", "score"], [*_ONE, "--score", "score", "--time", "date"]],
    "demo": [[]],
    "metrics": [[]],
    "report": [
        [*_ONE, "--score", "score", "--script", "cdn", "-o", "page.html"],
        ["many.csv", "--by", "series", *_ONE[1:], "--score", "score", "--script", "cdn", "-o", "p"],
        ["rows.csv", "--script", "cdn", "-o", "p"],
        ["tsb", "--series", "filename", "--truth", "Label", "--score", "Data", "-o", "p"],
    ],
    "schema": [["score"]],
    "score": [
        [*_ONE, "--predicted", "alarm"],
        [*_ONE, "--predicted", "alarm", "--time", "date"],
        ["events.csv", "events.csv", "--span", "0", "40"],
        ["studio.json", "events.csv", "--span", "0", "40", "--by-column", "label"],
    ],
    "stream": [
        ["data.csv", *_ONE[1:], "--predicted", "alarm", "--time", "t", "--state", "s.json"],
        ["lines.jsonl", "--score", "score", "--threshold", "0.5"],
    ],
}
"""Command lines that work."""

BYTES = os.fsdecode(b"caf\xe9")  # a name that is no UTF-8
_ESCAPE = "\x1b]0;title\x07\x1b[31mred\u202e\x9b"
_NUMBERS = (
    *("0", "1", "2", "-1", "0.5", "-0.0", "1e-320", "1e308", "-1e400", "inf", "-inf", "nan"),
    *(str(10**30), str(-(10**30)), str(2**63), str(2**63 - 1), str(2**64), "9" * 5000, "1_0"),
    *("0x10", "\u0663", "1e", "", " ", "1,5", "half"),
)
_TIMES = (
    *("2024-01-01", "2024-01-01T05:00", "2024-01-01T05:00:00+01:00", "9999-12-31T23:59:59.999999"),
    *("0001-01-01", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2024-02-30"),
    *("2024-W01", "20240101", "2024-01-01T24:00"),
)
_LENGTHS = (
    "5min",
    "1e30w",
    "1e400d",
    "-5min",
    "0s",
    "1e-30ms",
    "5 parsecs",
    "2/1d",
    "2/0",
    "1e30/",
)
_BUDGETS = ("2/1e30d", "1e400/1d", "0/0", "-1/1d", "nan/1d", "5/8h", "3/100", "2/1e-30ms", "/")
_RULES = (
    *("best_f1", "best_f1_global", "cross_fit", "quantile:0.9", "quantile:2", "quantile:nan"),
    *("sigma:1e400", "mad:-1", "spot:0", "spot:1e-300", "alarms:2/7d", "alarms:1e30/1e30d"),
    *("alarms:", "quantile:", ":", "score=1e30", "score=", "=", "score=nan", "score=9" + "9" * 400),
)
_METRICS = (
    *("margin:margin=3", "margin:margin=1e30", f"margin:margin={10**30}", "margin:margin=1e30w"),
    *("vus_roc", "vus_roc:window=1e30", f"vus_roc:window={10**30}", "time_aware:theta=nan"),
    *("nab", "nab:profile=x", "range_based:alpha=-1", "pate", "point_adjust_k:k=1e30", "x:y=1"),
    *("margin:", "margin:=", "margin:margin=1,margin=2", "margin:margin=[]", "classical"),
)
_LIMITS = (
    *("f1=0.5", "f1=nan", "f1=1e400", "missed=-1", "false_alarms_per_day=0", "alarms_per_x=1"),
    *("nab=3", "margin_f1=0.5", "auc_roc=0.5", "f1", "=", "=1", "f1==1", "f1=9" + "9" * 5000),
    *(f"{_ESCAPE}=1", f"{BYTES}=1"),
)
_COLUMNS = (
    "label",
    "alarm",
    "score",
    "t",
    "date",
    "series",
    "label,alarm",
    "t,t",
    ",",
    "nix",
    "text",
)
_PATHS = (
    *("data.csv", "many.csv", "events.csv", "-", ".", "nowhere", "nowhere/x.csv", "loop.csv"),
    *("loop", "empty.csv", "wide.csv", "cut.csv.gz", "cut.parquet", "deep.json", "cut.npy", "rows"),
    *("score.json", "half.json", "rows.csv", "lines.jsonl", "alerts.json", "studio.json"),
    *("/dev/null", "/", "*.csv", "**", "[", "[!", "~", "tsb", "nab", "timeeval"),
    *("x" * 300, f"{BYTES}.csv", f"{_ESCAPE}.csv", "new.csv", "new.parquet", "new.png"),
)
_OUTPUTS = (*_PATHS, "/dev/full")  # which has no end, if it is read
_ENGINES = (
    "dask://",
    "tcp://",
    "dask://:",
    "dask://[",
    "dask://a:b",
    "tcp://127.0.0.1:999999",
    "://",
)
_TEXTS = (
    "=1+1",
    BYTES,
    _ESCAPE,
    "\u202e",
    "a\nb",
    "\n\nHint: no",
    "[bold]x[/bold]",
    "%s",
    "{0}",
    "'",
)
_POOLS = {
    "TIME": _TIMES,
    "START STOP": _TIMES,
    "DURATION": _LENGTHS,
    "COUNT/DURATION": _BUDGETS,
    "RULE": _RULES,
    "COLUMN=VALUE": _RULES,
    "NAME[:P=V,...]": _METRICS,
    "NAME=VALUE": _LIMITS,
    "COLUMN": _COLUMNS,
    "FILE": _OUTPUTS,
    "DIR": _PATHS,
    "DATA...": _PATHS,
    "[OUT]": _OUTPUTS,
    "FILE|COLUMN": (*_PATHS, *_COLUMNS),
    "ADDRESS": _ENGINES,
}
_SECONDS = 60  # for one command line
_PROCESSES = 0.03  # of all
_REDIRECTIONS = ("", "<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "| head -1")
_START = "from closecall.cli import main; main()"


def attempts(random: Random, processes: float = _PROCESSES) -> Iterator[Attempt]:
    """Yield hostile command lines and what came of them, without end, in a folder of their own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        while True:
            with contextlib.chdir(folder):
                write_files()
                arguments = hostile_line(random)
                if random.random() < processes:
                    attempt = _in_process_of_its_own(arguments, random)
                else:
                    attempt = _here(arguments)
            yield attempt


def hostile_line(random: Random) -> list[str]:
    """Return a command line that works but for one or two values."""
    name = random.choice([*EXAMPLES, "batch", "curve", "score", "compare"])
    example = list(random.choice(EXAMPLES[name]))
    command = closecall.get_command(click.Context(closecall), name)
    assert command is not None  # noqa: S101 - a test holds that examples are commands
    options = [one for one in command.params if isinstance(one, click.Option)]
    if random.random() < 0.2 and example and not example[0].startswith("-"):  # noqa: PLR2004
        example[0] = random.choice(_PATHS)
    for option in random.choices(options, k=random.choice((1, 1, 2))) if options else ():
        flag = random.choice(option.opts)
        if option.is_flag:
            example.append(flag)
        elif option.nargs > 1:
            example += [flag, *(hostile_value(option, random) for _ in range(option.nargs))]
        elif flag.startswith("--"):
            example.append(f"{flag}={hostile_value(option, random)}")
        else:
            example += [flag, hostile_value(option, random)]
    return [name, *example]


def hostile_value(option: click.Option, random: Random) -> str:
    """Return a value that is bad, or good but seldom seen, for an option of this kind."""
    kind: Any = option.type
    if isinstance(kind, click.Choice) and random.random() < 0.8:  # noqa: PLR2004
        return str(random.choice(list(kind.choices)))
    own = _POOLS.get(str(option.metavar), _NUMBERS)
    return random.choice(random.choice((own, own, own, _NUMBERS, _TEXTS)))


def _here(arguments: list[str]) -> Attempt:
    source = _shown(arguments)
    with warnings.catch_warnings(), _limited():
        warnings.simplefilter("error", RuntimeWarning)
        result = CliRunner().invoke(closecall, arguments, prog_name="closecall")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        places = traceback.extract_tb(result.exception.__traceback__)
        own = [
            f"{Path(one.filename).name}:{one.lineno}"
            for one in places
            if "closecall" in one.filename
        ]
        what = f"{type(result.exception).__name__}: {result.exception}"
        return Attempt(source, "failed", f"{what[:200]} ({' < '.join(own[:-5:-1])})")
    return _judged(source, result.exit_code, result.stdout, result.stderr)


def _in_process_of_its_own(arguments: list[str], random: Random) -> Attempt:
    redirection = random.choice(_REDIRECTIONS)
    columns = random.choice(("80", "0", "1", "-5", str(10**30), "x", ""))
    program = " ".join(map(shlex.quote, (sys.executable, "-c", _START, *arguments)))
    line = f"{program} {redirection}; exit ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "COLUMNS": columns}
    command: list[str | bytes] = ["bash", "-c", os.fsencode(line)]
    source = f"COLUMNS={columns} {_shown(arguments)} {redirection}"
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=3 * _SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return Attempt(source, "failed", "no end")
    output, complaint = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    silent = "2>&-" in redirection or "head" in redirection
    return _judged(source, done.returncode, output, complaint, silent=silent)


def _judged(
    source: str, status: int, output: str, complaint: str, *, silent: bool = False
) -> Attempt:
    """Say what came of a command line; `silent` if what is wrong may be told to nobody."""
    errors = sum(line.startswith("Error: ") for line in complaint.splitlines())
    if "Traceback" in output + complaint or "Exception ignored" in complaint:
        return Attempt(source, "failed", f"a traceback: {complaint.strip().splitlines()[-1]}")
    if "'check'" in source and status in (1, 3) and not errors and not complaint:
        return Attempt(source, "accepted")  # the status is the verdict
    if status not in (0, 1, 2, 130):
        return Attempt(source, "failed", f"status {status}: {complaint[-200:]}")
    if status and errors != 1 and not silent:
        return Attempt(
            source, "failed", f"status {status} with {errors} errors: {complaint[-200:]!r}"
        )
    if any(not (letter.isprintable() or letter == "\n") for letter in complaint):
        return Attempt(source, "failed", f"control characters: {complaint[-200:]!r}")
    return Attempt(source, "refused" if status else "accepted")


def _shown(arguments: list[str]) -> str:
    return f"closecall {' '.join(ascii(one) for one in arguments)}"


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise in what takes too long."""

    def stop(_: int, __: FrameType | None) -> None:
        message = f"more than {_SECONDS} s"
        raise TimeoutError(message)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def write_files() -> None:
    """Write good and bad files to the current folder, and remove what a command line left."""
    for path in Path().iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name, content in _files().items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    Path("loop.csv").symlink_to("loop.csv")
    Path("loop").mkdir()
    Path("loop/again").symlink_to("../loop")


def _files() -> dict[str, bytes]:
    if _FILES:
        return _FILES
    rows = [
        (number, int(number % 13 in (3, 4, 5)), int(number % 11 in (4, 5)), number % 7 / 7)
        for number in range(40)
    ]
    head = "t,date,label,alarm,other,score,text,series"
    lines = [
        f"{t},2024-01-01 {t // 24:02}:{t % 24:02}:00,{label},{alarm},{1 - alarm},{score},=x"
        for t, label, alarm, score in rows
    ]
    data = "\n".join([head, *(f"{line},a" for line in lines)]).encode()
    names = ("a", "=b", _ESCAPE, "c", "d", "e")
    many = "\n".join([head, *(f"{line},{name}" for name in names for line in lines)])
    packed = gzip.compress(data)
    labels = "".join(f"{t},{label}\n" for t, label, *_ in rows)
    dated = "".join(f"2024-01-01 00:{t:02}:00,{label}\n" for t, label, *_ in rows)
    scored = "".join(f"2024-01-01 00:{t:02}:00,{score}\n" for t, _, _, score in rows)
    array = np.lib.format.magic(1, 0) + b"v\x00{'descr': '<f8', 'fortran_order': False, 'shape': ("
    value = {"start": 3, "end": 5, "timeserieslabels": ["a"]}
    window = '["2024-01-01 00:03:00", "2024-01-01 00:05:00"]'
    result = affiliation([row[1] for row in rows], [row[2] for row in rows]).to_dict()
    score = json.dumps({"schema": schema_name("score"), **result}).encode()
    _FILES.update(
        {
            "data.csv": data,
            "many.csv": many.encode(),
            "events.csv": b"start,stop\n3,5\n9,12\n30,31\n",
            "score.json": score,
            "half.json": score[: len(score) // 2],
            "alerts.json": b'{"alerts": [{"startsAt": "2024-01-01T00:03:00Z", "labels": {}}]}',
            "studio.json": json.dumps([{"annotations": [{"result": [{"value": value}]}]}]).encode(),
            "lines.jsonl": "".join(
                json.dumps({"truth": label, "score": score}) + "\n" for _, label, _, score in rows
            ).encode(),
            "rows.csv": _batch_rows(rows),
            "empty.csv": b"",
            "wide.csv": (",".join(f"c{n}" for n in range(20_000)) + "\n").encode(),
            "cut.csv.gz": packed[: len(packed) // 2],
            "cut.parquet": b"PAR1" + b"\x15\x00" * 20,
            "cut.npy": array,
            "deep.json": b"[" * 100_000,
            f"{BYTES}.csv": data,
            f"{_ESCAPE}.csv": data,
            f"rows/series={BYTES}/one.csv": data,
            "tsb/one.csv": f"Data,Label\n{labels}".encode(),
            "npy/knn/one.npy": array,
            "timeeval/datasets.csv": b"collection_name,dataset_name,test_path\nc,d,d.csv\n",
            "timeeval/d.csv": f"timestamp,is_anomaly\n{labels}".encode(),
            "run/KNN/a/c/d/1/anomaly_scores.ts": "\n".join(str(row[3]) for row in rows).encode(),
            "nab/data/a/one.csv": f"timestamp,value\n{dated}".encode(),
            "nab/results/knn/a/knn_one.csv": f"timestamp,anomaly_score\n{scored}".encode(),
            "nab/labels/combined_windows.json": f'{{"a/one.csv": [{window}]}}'.encode(),
        }
    )
    return _FILES


def _batch_rows(rows: list[tuple[int, int, int, float]]) -> bytes:
    """Return what a batch writes."""
    labels = {"series": ["a"] * len(rows), "label": [row[1] for row in rows]}
    table = pa.table({**labels, "score": [row[3] for row in rows]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        evaluate_frame(table, by="series", truth="label", score="score").write(path)
        return path.read_bytes()


_FILES: dict[str, bytes] = {}
assert set(EXAMPLES) == set(COMMANDS), "every command has an example"  # noqa: S101

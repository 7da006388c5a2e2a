"""Hostile testing of readers: files with bytes flipped, cut out and put in."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import resource
import signal
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzz_calls import Attempt
from closecall.affiliation import affiliation
from closecall.affiliation.stream import AffiliationStream
from closecall.cli.commands import closecall
from closecall.datasets import read_ucr
from closecall.datasets.nab import read_window_file
from closecall.errors import ClosecallError
from closecall.plain import schema_name
from closecall.tables import evaluate_frame, read_events, read_table, sources
from closecall.tables.batch.options import BatchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MEMORY = 6 * 2**30  # bytes; what asks for more fails
_SECONDS = 60  # for one attempt
_TOGETHER = 100  # attempts in one child process, which may be killed by any of them
_ROWS = 60


def _csv() -> bytes:
    rows = (
        f"s{i // 20},2024-01-01T00:{i:02}:00,{i % 20 // 17},{i * 7 % 11 / 8}" for i in range(_ROWS)
    )
    return "\n".join(["series,time,truth,score", *rows, ""]).encode()


def _parquet(**options: Any) -> bytes:
    numbers = np.arange(_ROWS)
    table = pa.table(
        {
            "series": [f"s{i // 20}" for i in range(_ROWS)],
            "time": pa.array(numbers * 60, pa.timestamp("s")),
            "truth": (numbers % 20 // 17).astype(np.uint8),
            "score": numbers * 7 % 11 / 8,
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def _array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(_ROWS) * 7 % 11 / 8)
    return file.getvalue()


_EVENTS = b"start,stop\n2024-01-01T00:03,2024-01-01T00:05\n2024-01-01T00:20,2024-01-01T00:25\n"
_WINDOWS = {"a/x.csv": [["2024-01-01 00:03:00", "2024-01-01 00:05:00"]], "a/y.csv": []}
_COLUMNS: dict[str, Any] = {"by": "series", "truth": "truth", "score": "score", "time": "time"}
_AXIS = ("--truth", "truth", "--score", "score", "--time", "time")


_ALERTS = {"alerts": [{"startsAt": f"2024-01-01T0{i}:00:00Z", "labels": {}} for i in range(1)]}
_ANNOTATIONS = [
    {"time": 1_704_067_200_000 + i * 3_600_000, "text": "a", "tags": ["b"]} for i in range(3)
]
_RESULTS = [{"value": {"start": i, "end": i + 1, "timeserieslabels": ["a"]}} for i in range(3)]
_TASKS = [{"annotations": [{"result": _RESULTS}]}]
_RECORDS = [
    {"timestamp": f"2024-01-01T0{i}:00", "duration": "5min", "note": None} for i in range(3)
]
_SMAP = b"""\
chan_id,spacecraft,anomaly_sequences,class,num_values
P-2,SMAP,"[[5300, 6575]]",[point],8209
P-2,SMAP,"[[100, 109], [200, 201]]","[contextual, point]",8209
"""
_SMD = b"1-2:1,9\n4-6:1,2\n"
_UCR = "001_UCR_Anomaly_toy_2_3_4.txt"
_LINES = "".join(f'{{"t": {i}, "truth": {i % 20 // 17}, "alarm": 0}}\n' for i in range(_ROWS))


def _state() -> bytes:
    stream = AffiliationStream()
    stream.update([0, 1, 0, 0, 1], [0, 1, 1, 0, 0])
    return stream.to_json().encode()


def _score() -> bytes:
    numbers = affiliation([0, 1, 0, 0, 1], [0, 1, 1, 0, 0]).to_dict()
    return json.dumps({"schema": schema_name("score"), **numbers}).encode()


def _command(*arguments: str, good: tuple[int, ...] = (0,)) -> None:
    """Run a command here; one that ends with a message is refused."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as said,
    ):
        try:
            closecall.main([*arguments])
        except SystemExit as end:
            if end.code not in good:
                raise ClosecallError(said.getvalue()) from None


def _batch(path: str) -> None:
    evaluate_frame(path, **_COLUMNS)


def _copied_batch(path: str) -> None:
    whole, sources.WHOLE_BYTES = sources.WHOLE_BYTES, 0
    try:
        source = sources.open_source(path, BatchOptions.read(**_COLUMNS))
    finally:
        sources.WHOLE_BYTES = whole
    for unit in source.units():
        list(unit.groups())


def _array_scores(path: str) -> None:
    for folder in ("data", "scores/detector"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    rows = "\n".join(f"{i},{i % 20 // 17}" for i in range(_ROWS))
    Path("data/one.csv").write_text(f"value,Label\n{rows}\n", encoding="utf-8")
    Path("scores/detector/one.npy").write_bytes(Path(path).read_bytes())
    _command("batch", "data", "--layout", "tsb-ad", "--scores", "scores")


def _score_events(path: str) -> None:
    span = ("--span", "2024-01-01", "2024-01-02", "--timezone", "UTC")
    _command("score", path, path, *span, "--open", "until-end")


def _score_numbers(path: str) -> None:
    _command("score", path, path, "--span", "0", "9")


def _archive(path: str) -> None:
    Path("archive").mkdir(exist_ok=True)
    Path("archive", path).write_bytes(Path(path).read_bytes())
    read_ucr("archive")


def _read_events(path: str) -> None:
    for merge in (False, True):
        read_events(path, merge=merge, open_until=datetime(2025, 1, 1, tzinfo=UTC))


def _check(path: str) -> None:
    _command("check", path, "--min", "f1=0.9", "--baseline", path, good=(0, 1, 3))


def _resume_stream(path: str) -> None:
    Path("next.csv").write_text("truth,alarm\n1,0\n0,1\n0,0\n", encoding="utf-8")
    _command("stream", "next.csv", "--predicted", "alarm", "--state", path)


_TABLES: tuple[Callable[[str], object], ...] = (
    read_table,
    lambda path: read_table(path, encoding="latin-1"),
    _batch,
    lambda path: _command("curve", path, *_AXIS, "--points", "3"),
    lambda path: _command("score", path, "--truth", "truth", "--predicted", "truth"),
    lambda path: _command("report", path, "--by", "series", *_AXIS, "--script", "cdn", "-o", "p"),
    lambda path: _command("check", path, *_AXIS, "--min", "f1=0.9", good=(0, 1, 3)),
)
_TEXTS = (
    *_TABLES,
    _copied_batch,
    lambda path: _command("stream", path, *_AXIS, "--threshold", "0.5"),
)
_WIDE: tuple[Callable[[str], object], ...] = (
    lambda path: read_table(path, encoding="utf-16"),
    lambda path: evaluate_frame(path, **_COLUMNS, encoding="utf-16"),
    lambda path: _command("curve", path, *_AXIS, "--encoding", "utf-16"),
    read_table,
)
KINDS: dict[str, tuple[bytes, tuple[Callable[[str], object], ...]]] = {
    "x.csv": (_csv(), _TEXTS),
    "x.csv.gz": (gzip.compress(_csv(), mtime=0), _TEXTS),
    "utf-16.csv": (_csv().decode().encode("utf-16"), _WIDE),
    "x.parquet": (_parquet(row_group_size=25), _TABLES),
    "plain.parquet": (_parquet(compression="none", use_dictionary=False), _TABLES),
    "paged.parquet": (_parquet(data_page_version="2.0", write_page_index=True), _TABLES),
    "x.parquet.gz": (gzip.compress(_parquet(), mtime=0), _TABLES),
    "windows.json": (json.dumps(_WINDOWS).encode(), (lambda path: read_window_file(Path(path)),)),
    "scores.npy": (_array(), (_array_scores,)),
    "events.csv": (_EVENTS, (_score_events, read_table, _read_events)),
    "alerts.json": (json.dumps(_ALERTS).encode(), (_read_events, _score_events)),
    "annotations.json": (json.dumps(_ANNOTATIONS).encode(), (_read_events, _score_events)),
    "tasks.json": (json.dumps(_TASKS).encode(), (_read_events, _score_numbers)),
    "records.json": (json.dumps(_RECORDS).encode(), (_read_events, _score_events)),
    "labels.txt": (b"0\n1\n1\n0\n0\n1\n", (_read_events, _score_numbers)),
    "smap.csv": (_SMAP, (lambda path: read_events(path, series="P-2"), _read_events)),
    "smd.txt": (_SMD, (_read_events, _score_numbers)),
    _UCR: (b"0 1 0 9 9 0\n1.5e3", (_archive, _read_events, _score_numbers)),
    "score.json": (_score(), (_check,)),
    "state.json": (_state(), (_resume_stream,)),
    "x.jsonl": (
        _LINES.encode(),
        (lambda path: _command("stream", path, "--predicted", "alarm", "--time", "t"),),
    ),
}
_FRAGMENTS = (
    b"\0",
    b"\r",
    b"\n",
    b"\xff\xfe",
    b"\xe9",
    b",",
    b'"',
    b"PAR1",
    b"\x1f\x8b",
    b"x" * 200_000,
)


def mutated(content: bytes, random: Random) -> bytes:
    """Return the content with bytes flipped, cut out, put in or doubled; often near its end."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        end = max(1, len(changed))
        place = (
            random.randrange(end) if random.randrange(2) else max(0, end - random.randrange(1, 600))
        )
        length = random.choice((1, 1, 2, 4, 8, 64))
        match random.randrange(7):
            case 0:
                changed[place : place + 1] = bytes([random.randrange(256)])
            case 1:
                changed[place : place + 1] = random.choice((b"\0", b"\x7f", b"\x80", b"\xff"))
            case 2:
                del changed[place : place + length]
            case 3:
                changed[place:place] = random.randbytes(length)
            case 4:
                changed[place:place] = random.choice(_FRAGMENTS)
            case 5:
                changed[place:place] = changed[place : place + length]
            case _:
                del changed[end - 1 if random.randrange(5) else place :]
    return bytes(changed)


def attempt(seed: int) -> Attempt:
    """Mutate one file in the current folder, and read it in one way."""
    random = Random(seed)  # noqa: S311 - it only has to repeat
    name = random.choice(list(KINDS))
    content, readers = KINDS[name]
    Path(name).write_bytes(mutated(content, random))
    which = random.randrange(len(readers))
    source = f"seed {seed}: {name}, reader {which}"
    try:
        readers[which](name)
    except ClosecallError as error:
        told = str(error)
        if not told.strip() or "Traceback" in told:
            return Attempt(source, "failed", f"no message: {told[:200]!r}")
        return Attempt(source, "refused")
    except MemoryError:
        return Attempt(source, "refused")
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is not documented
        return Attempt(source, "failed", f"{type(error).__name__}: {str(error)[:200]}")
    return Attempt(source, "accepted")


def attempts(random: Random) -> Iterator[Attempt]:
    """Yield attempts without end; each runs in a child, so that one that aborts is told as well."""
    seed = random.randrange(2**40)
    while True:
        done = 0
        for line in _in_child(range(seed, seed + _TOGETHER)):
            done += 1
            yield Attempt(*line)
        seed += max(done, 1)


def _in_child(seeds: range) -> Iterator[list[str]]:
    """Yield what comes of each seed, up to the first that ends the process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _try_all(seeds, writing)
    os.close(writing)
    done = 0
    with os.fdopen(reading, encoding="utf-8") as lines:
        for line in lines:
            done += 1
            yield json.loads(line)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and done < len(seeds):
        name = signal.Signals(os.WTERMSIG(status)).name
        yield [f"seed {seeds[done]}", "failed", f"the process ended with {name}"]


def _try_all(seeds: range, writing: int) -> None:
    """Try the seeds in a folder of their own, and end the process."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with (
        tempfile.TemporaryDirectory() as folder,
        os.fdopen(writing, "w", encoding="utf-8") as lines,
    ):
        os.chdir(folder)
        for seed in seeds:
            signal.alarm(_SECONDS)
            print(json.dumps(attempt(seed)), file=lines, flush=True)
        os.chdir("/")
    os._exit(0)

"""Times that can be compared, the targets they are held to, and the table that shows both."""

from __future__ import annotations

import argparse
import ctypes
import json
import operator
import os
import subprocess
import sys
from dataclasses import dataclass
from math import inf, log
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of mallopt(3)
_SHORTEST_SAMPLE = 2e-3  # seconds; a shorter sample measures the clock and the scheduler
_PEAK = """
import json
from pathlib import Path
import closecall as cc
from benchmarks.{module} import {draw}
def peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])
truth, other = {draw}(10_000_000)
cc.{function}(truth[:1_000_000].copy(), other[:1_000_000].copy())
Path("/proc/self/clear_refs").write_text("5")
before = peak()
cc.{function}(truth, other)
print(json.dumps([peak() - before, truth.nbytes + other.nbytes]))
"""


def options(name: str, about: str | None, quick: str) -> argparse.ArgumentParser:
    """Return the parser of a benchmark's options; `quick` is what the quick run does without."""
    parser = argparse.ArgumentParser(f"python -m benchmarks {name}", description=about)
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def best_times(
    functions: Mapping[str, Callable[[], object]], *, rounds: int = 7
) -> dict[str, float]:
    """Time functions in turns, so that a slow moment of the machine hits them alike.

    Each function is called once before (which compiles what is compiled) and its best time per
    call is kept, in seconds.
    """
    calls = {name: _calls_per_sample(function) for name, function in functions.items()}
    best = dict.fromkeys(functions, inf)
    for _ in range(rounds):
        for name, function in functions.items():
            best[name] = min(best[name], _sample(function, calls[name]) / calls[name])
    return best


def best_time(function: Callable[[], object], *, rounds: int = 7) -> float:
    """Time one function: the best of several samples, in seconds per call, once warm."""
    return best_times({"": function}, rounds=rounds)[""]


def once(function: Callable[[], object]) -> tuple[float, Any]:
    """Time a single call of something slow; return its seconds and its result."""
    start = perf_counter()
    result = function()
    return perf_counter() - start, result


def _sample(function: Callable[[], object], calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        function()
    return perf_counter() - start


def _calls_per_sample(function: Callable[[], object]) -> int:
    function()
    calls = 1
    while _sample(function, calls) < _SHORTEST_SAMPLE:
        calls *= 2
    return calls


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit seconds to a power of the size and give the exponent: 1 is linear, 2 quadratic."""
    across, up = [log(size) for size in sizes], [log(second) for second in seconds]
    middle, level = sum(across) / len(across), sum(up) / len(up)
    slope = sum((x - middle) * (y - level) for x, y in zip(across, up, strict=True))
    return slope / sum((x - middle) ** 2 for x in across)


def new_process(code: str, settings: Mapping[str, str] | None = None) -> tuple[float, Any]:
    """Run code in a new interpreter; return its seconds and the JSON it prints."""
    command, environment = [sys.executable, "-c", code], {**os.environ, **(settings or {})}
    start = perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    seconds = perf_counter() - start
    return seconds, json.loads(done.stdout) if done.stdout else None


def run_command(command: Sequence[str], folder: str) -> float:
    """Run a command in a folder and return its seconds from start to exit."""
    start = perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return perf_counter() - start


def with_benchmarks() -> dict[str, str]:
    """Return the setting with which a new process finds this package, before others."""
    path = (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))
    return {"PYTHONPATH": os.pathsep.join(filter(None, path))}


def peak_memory(module: str, draw: str, function: str, target: Target | None = None) -> list[Row]:
    """Measure what a function needs beyond ten million samples, in a process of its own."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        print("Peak memory is not measured: this system has no /proc/self/clear_refs.")
        return []
    code = _PEAK.format(module=module, draw=draw, function=function)
    peak, inputs = (size / 1e9 for size in new_process(code, with_benchmarks())[1])
    label = "peak memory above the input, 10,000,000 samples"
    return [Row(label, None, peak, f"GB (the input: {inputs:.2f} GB)", target)]


def hold_memory() -> bool:
    """Keep freed memory in this process, if its C library is glibc.

    A new page can cost ten times more on one machine than on another (a virtual one that gives
    free memory back to its host), which would time the machine instead of what is compared.
    """
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        return False
    set_option = ctypes.CDLL(None).mallopt
    return bool(set_option(_M_MMAP_MAX, 0) and set_option(_M_TRIM_THRESHOLD, -1))


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on a number."""

    relation: str
    bound: float

    def held(self, value: float) -> bool:
        """Whether the value keeps to the bound; nan never does."""
        return bool(_RELATIONS[self.relation](value, self.bound))

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:,g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: what was measured, how long it took, and the number the target is on."""

    label: str
    seconds: float | None = None
    value: float | None = None
    meaning: str = ""
    target: Target | None = None

    @property
    def missed(self) -> bool:
        """Whether there is a target and the value does not keep to it."""
        return self.target is not None and (self.value is None or not self.target.held(self.value))

    def cells(self) -> tuple[str, ...]:
        """Return the row as text, column by column."""
        value = "" if self.value is None else f"{self.value:,.{_decimals(self.value)}f}"
        held = "" if self.target is None else "MISSED" if self.missed else "held"
        target = "" if self.target is None else str(self.target)
        time = "" if self.seconds is None else in_unit(self.seconds)
        return self.label, time, value, self.meaning, target, held


def beside(
    label: str, seconds: float, other: float, meaning: str, target: Target | None = None
) -> Row:
    """Return the measurement of something that takes so many times as long as another."""
    return Row(label, seconds, seconds / other, meaning, target)


def _decimals(value: float) -> int:
    return 0 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3  # noqa: PLR2004 - digits shown


def in_unit(seconds: float) -> str:
    """Write seconds with three digits in the unit that suits them."""
    scale, unit = next((u for u in _UNITS if seconds >= u[0]), _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print rows under a title, the columns aligned."""
    heads = ("", "time", "value", "of", "target", "")
    lines = [heads, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    print(f"\n{title}")
    for line in lines:
        cells = (
            cell.rjust(width) if column in {1, 2} else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  " + "  ".join(cells).rstrip())


def print_tables(sections: Mapping[str, Sequence[Row]]) -> int:
    """Print the rows of all sections; return the exit status of the run."""
    for title, rows in sections.items():
        print_table(title, rows)
    return verdict([row for rows in sections.values() for row in rows])


def verdict(rows: Sequence[Row]) -> int:
    """Print which targets were missed; return the exit status of the run."""
    judged = [row for row in rows if row.target is not None]
    missed = [row.label for row in judged if row.missed]
    print(f"\n{len(judged) - len(missed)} of {len(judged)} targets held.")
    for label in missed:
        print(f"MISSED: {label}", file=sys.stderr)
    return 1 if missed else 0

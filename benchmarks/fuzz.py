"""Hostile testing: bad values, files and moments, where only documented errors may come out."""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter
from itertools import cycle
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

from benchmarks import fuzz_calls, fuzz_cases, fuzz_commands, fuzz_files, fuzz_kills

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.fuzz_calls import Attempt

# Each yields attempts without end.
KINDS: dict[str, Callable[[Random], Iterator[Attempt]]] = {
    "calls": fuzz_calls.attempts,
    "commands": fuzz_commands.attempts,
    "files": fuzz_files.attempts,
    "cases": fuzz_cases.attempts,
    "kills": fuzz_kills.attempts,
}
_MEMORY = 6 * 2**30  # bytes; what asks for more fails


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append", help="all if not given")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    kinds = options.kind or list(KINDS)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    failures: dict[str, str] = {}
    with fuzz_calls.temporary_folder():
        random = Random(options.seed)  # noqa: S311 - the same calls again
        running = {kind: KINDS[kind](random) for kind in kinds}
        until = monotonic() + 60 * options.minutes
        for kind in cycle(kinds):
            if monotonic() > until:
                break
            attempt = next(running[kind])
            counts[kind][attempt.outcome] += 1
            if attempt.outcome == "failed" and attempt.detail not in failures:
                failures[attempt.detail] = attempt.source
                print(f"\n{attempt.source}\n    {attempt.detail}", flush=True)
    print(f"\n{'kind':<10}{'tried':>10}{'accepted':>10}{'refused':>10}{'failed':>10}")
    for kind, count in counts.items():
        figures = (count.total(), count["accepted"], count["refused"], count["failed"])
        print(f"{kind:<10}" + "".join(f"{figure:>10,}" for figure in figures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
